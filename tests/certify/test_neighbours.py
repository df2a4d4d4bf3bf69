from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from certify import oracles
from partitioners.points import records
from repeats import rounds
from voronym import datasets
from voronym.certify.neighbours import BLOCK, neighbours
from voronym.core.context import Context


@given(records(), st.integers(2, 9))
def test_it_is_the_sum_over_the_nearest(X, k):
    k = min(k, len(X))
    result = neighbours(X, k, Context()).sse
    wanted = oracles.neighbour_bound(X, k)
    assert result <= wanted
    assert result >= wanted * (1 - 1e-12) - 1e-299


def test_it_is_below_every_partition():
    """Thousands of random partitions of random tables, ties and repeats among them."""
    rng = np.random.default_rng(0)
    for trial in rounds(120, 400):
        n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
        k = int(rng.integers(2, n // 2 + 1))
        X = rng.normal(size=(n, d)) if trial % 2 else rng.integers(0, 3, (n, d)) * 0.1
        bound = neighbours(X, k, Context())
        for _ in range(25):
            part = vr.Partition(oracles.random_partition(rng, n, k), k=k)
            assert bound.sse <= part.sse(X)
            assert bound.information_loss <= vr.information_loss(X, part)


@given(st.integers(2, 12), st.integers(0, 99))
def test_it_is_attained_by_cells_of_equidistant_records(k, seed):
    """Corners of simplices far from each other: there the bound is the optimum, up to rounding."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([np.eye(k) + shift for shift in 100.0 * rng.permutation(5)])
    sse = vr.Partition(np.repeat(np.arange(5), k), k=k).sse(X)
    assert sse * (1 - 1e-12) < neighbours(X, k, Context()).sse <= sse


def test_blocks_change_nothing(monkeypatch):
    X = np.random.default_rng(1).normal(size=(500, 3))
    messages = []
    whole = neighbours(X, 4, Context())
    monkeypatch.setattr("voronym.certify.neighbours.BLOCK", 64)
    assert neighbours(X, 4, Context(progress=lambda step: messages.append(step.done))).sse == whole.sse
    assert BLOCK > 64
    assert messages == sorted(messages)
    assert messages[-1] > 0.99  # who made the context tells the end


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("tarragona", [6.336, 9.855, 12.167, 13.927, 15.364, 19.218]),
        ("census", [2.198, 3.444, 4.323, 5.017, 5.602, 7.336]),
        ("eia", [0.1187, 0.2204, 0.3344, 0.4720, 0.6133, 1.2737]),
    ],
)
def test_reference_files(name, losses):
    X = vr.standardize(getattr(datasets, name)().to_numpy())
    results = [neighbours(X, k, Context()).information_loss for k in (2, 3, 4, 5, 6, 10)]
    assert results == pytest.approx(losses, abs=6e-4 if losses[0] > 1 else 6e-5)
