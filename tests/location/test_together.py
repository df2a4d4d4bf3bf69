"""Cells designed by devices and two servers: the oracle is a trusted party that sees everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.errors import GuaranteeError
from voronym_location.together import Cells, Lie, Plain, TwoServers, design
from voronym_location.together.sharing import BITS, PRIME

WIDTH = 8000


def devices(n: int, seed: int = 0) -> np.ndarray:
    """Return homes of a town with a dense middle, in metres from a public corner."""
    rng = np.random.default_rng(seed)
    near = rng.normal(WIDTH / 2, WIDTH / 10, (n // 2, 2))
    return np.clip(np.rint(np.concatenate([near, rng.uniform(0, WIDTH, (n - n // 2, 2))])), 0, WIDTH).astype(
        int
    )


def absent(n: int, share: float, seed: int = 5):
    """Return who is reached in each round, where a share of the devices drops out at random."""
    return lambda number: np.random.default_rng([seed, number]).random(n) >= share


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_the_cells_are_those_of_a_trusted_party_to_the_last_digit(share: float) -> None:
    homes = devices(1500)
    present = absent(1500, share) if share else None
    ours = design(homes, 20, TwoServers(), width=WIDTH, turns=4, present=present)
    trusted = design(homes, 20, Plain(), width=WIDTH, turns=4, present=present)
    for name in ("centres", "costs", "counts"):
        assert (getattr(ours, name) == getattr(trusted, name)).all()
    last = np.ones(1500, bool) if present is None else present(ours.rounds - 1)
    counted = np.bincount(ours.assign(homes)[last], minlength=len(ours.counts))  # by whoever sees all homes
    assert (counted == ours.counts).all()
    assert counted.min() >= 20


@given(st.integers(1, 30), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_sums_of_halves_are_the_sums(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cell, offset = rng.integers(0, m, n), rng.integers(0, 1 << BITS, (n, 2))
    here = rng.random(n) < 0.8
    for left, right in zip(
        TwoServers(seed=seed).total(cell, offset, m, here), Plain().total(cell, offset, m, here), strict=True
    ):
        assert (left == right).all()


@pytest.mark.parametrize(
    "lie",
    [
        Lie(3, votes=5), Lie(3, votes=0), Lie(3, votes=-1), Lie(3, shift=1 << BITS), Lie(3, shift=7),
        Lie(3, votes=2, masks=-2), Lie(3, shift=1 << (BITS + 2), masks=12345), Lie(3, masks=1),
    ],
)  # fmt: skip
def test_a_message_that_is_more_than_one_device_is_not_counted(lie: Lie) -> None:
    rng = np.random.default_rng(1)
    cell, offset = rng.integers(0, 6, 40), rng.integers(0, 1 << BITS, (40, 2))
    everybody = np.ones(40, bool)
    counts, sums, counted = TwoServers(lies=(lie,)).total(cell, offset, 6, everybody)
    assert not counted[3]
    assert counted.sum() == 39
    honest = Plain().total(cell, offset, 6, counted)
    assert (counts == honest[0]).all()
    assert (sums == honest[1]).all()


def test_what_a_server_sees_does_not_depend_on_the_home() -> None:
    """One device at two homes, many times: halves and what is opened have the same distribution."""
    seen: dict[int, list[np.ndarray]] = {0: [], 1: []}
    for home, cell, place in ((0, 0, 100), (1, 4, 4000)):
        for seed in range(600):
            servers = TwoServers(seed=seed + 10_000 * home)
            message = servers._message(np.array([cell]), np.array([[place, place]]), 5)
            first, second = servers._split(message)
            servers._honest(first, second, 5)
            seen[home].append(np.concatenate([first[0], second[0], servers.opened[0]]))
    for value in seen.values():
        parts = np.array(value) / PRIME
        assert np.abs(parts.mean(axis=0) - 0.5).max() < 0.06  # 5 deviations of 600 uniform draws
        assert np.abs(parts.var(axis=0) - 1 / 12).max() < 0.02


def test_too_few_devices_are_refused() -> None:
    homes = devices(40)
    nobody = lambda number: np.zeros(40, bool)  # noqa: E731, ARG005
    with pytest.raises(GuaranteeError, match="could be counted"):
        design(homes, 10, TwoServers(), width=WIDTH, turns=1, present=nobody)


@pytest.mark.slow
def test_thousands_of_devices_with_noise_dropouts_and_a_liar() -> None:
    homes = devices(6000, seed=2)
    noise = 4.0
    servers = TwoServers(noise=noise, lies=(Lie(17, votes=50),), seed=3)
    made = design(
        homes,
        100,
        servers,
        width=WIDTH,
        turns=8,
        steps=2,
        present=absent(6000, 0.03),
        margin=4 * noise * 2**0.5,
    )
    true = np.bincount(made.assign(homes), minlength=len(made.counts))
    assert true.min() >= 100
    exact = design(homes, 100, Plain(), width=WIDTH, turns=8, steps=2)
    assert error(made, homes) < 1.6 * error(exact, homes)


def error(made: Cells, homes: np.ndarray) -> float:
    """Return the rms distance between homes and the centres of their cells."""
    return float(np.sqrt(np.square(homes - made.centres[made.assign(homes)]).sum(axis=1).mean()))
