"""Every registered attack keeps the contract, and the contract can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voronym.attacks import ATTACKS, Attack, Found
from voronym.testing import check_attack


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_keeps_the_contract(name):
    check_attack(ATTACKS[name], runs=5 if ATTACKS[name].cost == "instant" else 2)


def toy(result: Found, **changes) -> Attack:
    def function(scene, ctx):
        """Return what it was given."""
        return result

    made = Attack("toy", function, 0, "nothing", ("original",), "instant")
    return replace(made, **changes)


FINE = Found(0.2, 0.1, -0.1, 0.3, 10, "A sentence.")


def test_the_contract_accepts_a_fine_one():
    check_attack(toy(FINE))


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (toy(replace(FINE, success=1.2)), "shares"),
        (toy(replace(FINE, high=2.0)), "no interval"),
        (toy(replace(FINE, low=0.05)), "pure noise"),
        (toy(replace(FINE, people=0)), "nobody"),
        (toy(replace(FINE, says="secret-ill-1 is it.")), "shows a value"),
        (toy(replace(FINE, says="no sentence")), "must be a sentence"),
        (toy(FINE, cost="seconds"), "request to cancel"),
        (toy(FINE, level=9), "what the intruder knows"),
        (toy(FINE, knows=""), "what the intruder knows"),
    ],
)
def test_the_contract_refuses(attack, words):
    with pytest.raises(AssertionError, match=words):
        check_attack(attack)
