"""A town over epochs: its figures, its page, and the command."""

from __future__ import annotations

import json
import re

import pytest

from location.checker import Checker
from voronym.cli import app
from voronym.core.context import Context
from voronym.errors import Cancelled, InputError
from voronym_location import Settings
from voronym_location.intruders import Intruder
from voronym_location.policies import POLICIES
from voronym_location.simulate import _lives, simulate
from voronym_location.simulation_page import render
from voronym_location.town import Town

SMALL = {"people": 200, "epochs": 6, "change": 0.05, "settings": Settings(k=5, budget=0.2)}


@pytest.fixture(scope="module")
def simulated():
    return simulate(**SMALL, budgets=[0.1, 0.3], seed=3)


def test_figures_are_those_of_an_independent_checker():
    import numpy as np

    settings, town = Settings(k=5, budget=0.2), Town.make(600, seed=3)
    for name in POLICIES:
        policy, seen, linked, checker = (
            POLICIES[name](settings), Intruder(linking=False), Intruder(linking=True), Checker(),
        )  # fmt: skip
        names, used = {}, 0
        for _, person in _lives(200, 6, 0.05, 3):
            output = policy.step(person, town.homes[person % 600], Context())
            handed = {}
            for row, first in enumerate(person.tolist()):
                if output.fresh[row] or first not in names:
                    used += 1
                    names[first] = used
                if output.place[row] >= 0:
                    handed[first] = (names[first], int(output.place[row]))
            counted = checker.observe({first: first for first in person.tolist()}, handed)
            ours = tuple(
                first.see(person, output.place, output.fresh, 5).smallest for first in (seen, linked)
            )  # fmt: skip
            assert ours == counted
            assert np.isfinite(output.metres[output.place >= 0]).all()


def test_cohorts_keep_k_and_others_do_not(simulated):
    assert all(row.pseudonym.smallest >= 5 and row.pseudonym.below == 0 for row in simulated.rows["cohort"])
    assert simulated.rows["afresh"][-1].pseudonym.below > 0.9
    assert simulated.rows["reuse"][-1].pseudonym.below > 0.2
    assert simulated.designs["PCL"] < simulated.designs["MDAV"]
    assert simulated.density[0][1] < simulated.density[-1][1]  # nearer where people live close together
    assert [point.budget for point in simulated.points] == [0.1, 0.3]


def test_the_page_shows_the_curves_and_nothing_from_outside(simulated):
    page = render(simulated)
    assert "Everybody who is served shares their history with at least 5" in page
    assert page.count('<svg class="fig"') == 10
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page)
    assert "<script" not in page


def test_wrong_towns_are_refused():
    with pytest.raises(InputError, match="fewer than k=10"):
        simulate(people=5)
    with pytest.raises(InputError, match="no policy is called 'best'"):
        simulate(**SMALL, policies=["best"])


def test_a_wish_ends_it_after_a_whole_epoch_and_cancelling_makes_nothing():
    ctx = Context(progress=lambda step: ctx.finish() if step.stage == "epoch 2" else None)
    result = simulate(**SMALL, policies=["cohort"], ctx=ctx)
    assert len(result.rows["cohort"]) == 2
    ctx2 = Context(progress=lambda step: ctx2.cancel() if step.stage == "epoch 2" else None)
    with pytest.raises(Cancelled):
        simulate(**SMALL, policies=["cohort"], ctx=ctx2)


def test_the_command_writes_a_page_and_figures(tmp_path):
    from typer.testing import CliRunner

    page = tmp_path / "town.html"
    town = ["-n", "60", "-k", "5", "--epochs", "3", "--budgets", "0.2"]
    words = ["location", "simulate", *town, "--json", "--report"]
    done = CliRunner().invoke(app, [*words, str(page)])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"]["cohort"][-1]["epoch"] == 3
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = CliRunner().invoke(app, [*words, str(page)])
    assert isinstance(again.exception, InputError)
    wrong = CliRunner().invoke(app, [*words[:-1], "--budgets", "much"])
    assert "shares from 0 to 1" in str(wrong.exception)


def test_a_policy_that_is_none_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr(Town, "make", lambda *_, **__: pytest.fail("the work was begun"))
    with pytest.raises(InputError, match="nope"):
        simulate(people=60, settings=Settings(k=5), policies=["nope"])
