"""Prices raised around each record stay below the cost of every group, wherever the work is stopped."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from certify import oracles
from partitioners.points import records
from repeats import examples
from voronym.certify import local as module
from voronym.certify.local import listed, local
from voronym.certify.neighbours import neighbours
from voronym.core.context import Context


def few(monkeypatch, *, length=4, leaf=3, budget=5):
    """Short lists, small boxes and few nodes: most groups have somebody outside the list."""
    monkeypatch.setattr(module, "LIST", length)
    monkeypatch.setattr(module, "LEAF", leaf)
    monkeypatch.setattr(module, "BUDGET", budget)


def prices_after(X, k):
    """The table after all rounds, by the steps of `local`."""
    table = listed(X, k, Context())
    for m in [*range(2, k), k, k]:
        module._rise(table, m, Context())
    return table


@pytest.mark.parametrize("length", [4, 12])
def test_no_group_costs_less_than_its_prices(monkeypatch, length):
    rng = np.random.default_rng(4)
    for number in range(18):
        n = int(rng.integers(8, 13))
        k, d = int(rng.integers(2, min(5, n // 2) + 1)), int(rng.integers(1, 4))
        few(monkeypatch, length=length, budget=int(rng.integers(1, 60)))
        kinds = rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float), rng.standard_t(1, (n, d))
        table = prices_after(kinds[number % 3], k)
        points = table.leaves.X
        for size in range(2, k + 1):
            for group in combinations(range(n), size):
                cost = oracles.cell_sse(points, group)
                assert table.near[list(group), size - 1].sum() / (2 * size) <= cost * (1 + 1e-9) + 1e-9


@examples(8, 50)
@given(records(least=17, most=60, columns=4), st.integers(2, 8))
def test_never_above_a_partition(X, k):
    """Ties, repeats, offsets, tiny numbers."""
    bound = local(X, k, Context())
    assert bound.sse <= vr.microaggregate(X, k, method="mdav").sse(X) * (1 + 1e-9) + 1e-300
    labels = oracles.random_partition(np.random.default_rng(len(X)), len(X), k)
    assert bound.sse <= vr.Partition(labels, k=k).sse(X) * (1 + 1e-9) + 1e-300


def test_the_lists_are_those_of_all_distances():
    X = np.random.default_rng(3).normal(size=(300, 3))
    table = listed(X, 5, Context(threads=2))
    points = table.leaves.X
    D2 = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(D2, np.inf)
    wanted = np.sort(D2, axis=1)
    assert table.radius == pytest.approx(wanted[:, table.lists.shape[1] - 1])
    assert table.near[:, 4] == pytest.approx(wanted[:, :4].sum(axis=1))
    assert np.take_along_axis(D2, table.lists.astype(np.int64), 1) == pytest.approx(wanted[:, :128])


def test_better_than_the_nearest_and_the_same_on_all_threads():
    X = np.random.default_rng(6).normal(size=(800, 4))
    first, second = (local(X, 6, Context(threads=t)) for t in (1, 2))
    assert first.sse == second.sse
    assert first.sse > 1.1 * neighbours(X, 6, Context()).sse


def test_without_time_it_is_the_bound_by_the_nearest():
    X = np.random.default_rng(6).normal(size=(800, 4))
    assert local(X, 6, Context(time_limit=0.0)).sse == pytest.approx(neighbours(X, 6, Context()).sse)
