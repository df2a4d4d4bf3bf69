"""MDAV from lists made ahead: the labels of the plain loops, whatever was guessed, on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from repeats import few
from voronym.core.context import Context
from voronym.partitioners import mdav, mdav_lists
from voronym.problem import Problem

KINDS = ["normal", "grid", "few", "far", "tails", "line", "heap"]


def table(kind, n, d, rng):
    return {
        "normal": lambda: rng.standard_normal((n, d)),
        "grid": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "few": lambda: rng.standard_normal((5, d))[rng.integers(0, 5, n)],
        "far": lambda: rng.standard_normal((n, d)) + 1e6,
        "tails": lambda: rng.standard_normal((n, d)) ** 7,
        "line": lambda: np.repeat(np.arange(n)[:, None], d, axis=1).astype(float),
        "heap": lambda: np.where(rng.random((n, 1)) < 0.9, 0.0, rng.standard_normal((n, d))),
    }[kind]()


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    n=st.integers(20, 700),
    d=st.integers(1, 14),
    k=st.integers(2, 12),
    ahead=st.sampled_from([2, 7, 128]),
    outer=st.sampled_from([3, 40, 4096]),
)
def test_the_labels_are_those_of_the_plain_loops(seed, kind, n, d, k, ahead, outer):
    records = Problem.of(table(kind, n, d, np.random.default_rng(seed)), min(k, n // 2)).records
    k = min(k, n // 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mdav_lists, "AHEAD", (ahead, ahead))  # few at a time: many turns
        patch.setattr(mdav_lists, "LEAST", outer)  # few to look through: what is far may not be among them
        result = mdav.partition_fast(records, k, Context(threads=1), ahead=True)
    assert (result == mdav.partition_plain(records, k, Context())).all()


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_the_last_three_cells(k, ahead):
    """Of 3k records a pair of cells is taken; of fewer, one cell and the rest."""
    for seed in range(10):
        X = vr.datasets.gaussian((2 * seed + 3) * k, 3, seed=seed)
        records = Problem.of(X, k).records
        result = mdav.partition_fast(records, k, Context(threads=1), ahead=ahead)
        assert (result == mdav.partition_plain(records, k, Context())).all()


@pytest.mark.parametrize(("n", "d", "k"), few([(3000, 8, 70), (6000, 10, 5), (4000, 20, 10)], 1))
def test_larger_tables_and_any_number_of_threads(n, d, k):
    records = Problem.of(vr.datasets.gaussian(n, d, seed=n), k).records
    plain = mdav.partition_plain(records, k, Context())
    for threads in (1, 2, 5):
        assert (mdav.partition_fast(records, k, Context(threads=threads), ahead=True) == plain).all()


def test_the_lists_are_used(monkeypatch):
    """Were no list ever to tell, labels would be right and slow: count who had to be asked about."""
    made = []
    refill = mdav_lists.Ahead.refill

    def counted(self, shell, ctx):
        refill(self, shell, ctx)
        made.append(self._used)

    monkeypatch.setattr(mdav_lists.Ahead, "refill", counted)
    X = vr.datasets.gaussian(8000, 10, seed=1)
    mdav.partition_fast(Problem.of(X, 10).records, 10, Context(), ahead=True)
    assert len(made) < 100  # for 400 pairs of cells
    assert made[-1] < 1.5 * 800
