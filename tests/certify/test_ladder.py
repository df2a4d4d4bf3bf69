"""Prices for smaller groups are valid, and the bound that is built on them is below every partition."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from certify import oracles
from voronym.certify import columns as front
from voronym.certify.costs import Costs
from voronym.certify.exact import by_subsets
from voronym.certify.ladder import climb, spread
from voronym.certify.prices import Prices
from voronym.certify.pricing import nearest_table
from voronym.certify.state import State
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.problem import Problem


def tables():
    rng = np.random.default_rng(12)
    for number in range(24):
        n = int(rng.integers(8, 12))
        k, d = int(rng.integers(3, n // 2 + 1)), int(rng.integers(1, 5))
        kinds = rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float), rng.standard_t(1, (n, d))
        yield kinds[number % 3], k


def halves(n, k):
    return Partition((np.arange(n) >= k).astype(np.int64), k=k)


def pairs_of(D2, group):
    return math.fsum(D2[i, j] for i, j in combinations(group, 2))


@pytest.mark.slow
def test_the_table_never_says_more_than_the_pairs_of_any_group_sum_to():
    better = 0
    for X, k in tables():
        state = State(Costs.plain(X, Context()), k, halves(len(X), k), Context())
        before = state.sums.sum()
        climb(state, Context())
        better += state.sums.sum() > before * (1 + 1e-6)
        for size in range(2, state.sums.shape[1] + 1):
            for group in combinations(range(len(X)), size):
                text = state.sums[list(group), size - 1].sum()
                assert text <= 2.0 * pairs_of(state.D2, group) * (1 + 1e-12) + 1e-12
    assert better > 12


@pytest.mark.parametrize("kept", [slice(0, 2), pytest.param(slice(2, None), marks=pytest.mark.slow)])
def test_what_is_proven_after_a_climb_is_below_the_optimum(monkeypatch, kept):
    """The climb is forced: these tables are solved without it."""
    monkeypatch.setattr(front, "FIRST", 0.0)
    monkeypatch.setattr(front, "HARD", -1)
    for X, k in [*tables()][kept]:
        bound = front.columns(Problem.of(X, k), halves(len(X), k), Context(time_limit=20.0))
        best = by_subsets(X, k, Context()).partition.sse(X)
        assert bound.sse <= best * (1 + 1e-12)
        assert bound.sse >= 0.9 * best


def test_prices_that_are_valid_for_k_are_valid_for_larger_groups():
    """Without cuts, only groups of k are priced; the repaired prices hold for all sizes."""
    rng = np.random.default_rng(5)
    for X, k in tables():
        costs = Costs.plain(X, Context())
        prices = Prices(costs, k, nearest_table(costs.D2, min(2 * k - 1, len(X)), Context()))
        prices.bound = -math.inf
        prices.master.prices = rng.normal(0.5, 1.0, len(X))
        prices.price(Context(), budget=int(rng.integers(0, 40)))
        for group, cost in oracles.groups(X, k):
            assert prices.center[list(group)].sum() <= cost + 1e-9


def test_a_smaller_size_bounds_a_larger_one():
    """Valid prices for three records, carried over to five: by hand, for records with all distances 1."""
    near = np.zeros((6, 5))
    spread(near, 3, np.full(6, 1.0 / 3.0))  # three records cost 1, which is a third each
    assert near[:, 2] == pytest.approx(2.0)  # twice three pairs, over three records
    assert near[:, 4] == pytest.approx(4.0)  # twice ten pairs, over five


def test_a_climb_keeps_what_was_proven():
    X = np.random.default_rng(1).normal(size=(40, 3))
    part = Partition(np.arange(40) // 5, k=5)
    state = State(Costs.plain(X, Context()), 5, part, Context())
    state.floor = 0.999 * state.upper / state.scale
    climb(state, Context(time_limit=0.05))
    assert state.proven >= 0.999 * state.upper
    assert state.result().sse <= part.sse(X)
