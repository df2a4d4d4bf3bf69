from __future__ import annotations

import numpy as np
import pytest

from certify import oracles
from voronym.certify.costs import Costs
from voronym.certify.cuts import Cut, Fined
from voronym.certify.exact import distances
from voronym.certify.pricing import ModePricer, Pricer, nearest_table
from voronym.core.context import Context


def pricer_of(D2, k):
    return Pricer(D2, k, nearest_table(D2, min(2 * k - 1, len(D2)), Context()))


def cases(count):
    rng = np.random.default_rng(3)
    for number in range(count):
        n = int(rng.integers(4, 10))
        k, d = int(rng.integers(2, n // 2 + 1)), int(rng.integers(1, 4))
        X = rng.normal(size=(n, d)) if number % 2 else rng.integers(0, 3, (n, d)).astype(float)
        prices = rng.normal(0.3, 1.0, n) if number % 3 else np.full(n, 0.5)
        cuts = [random_cut(rng, n, k) for _ in range(number % 6)]
        penalties = np.floor(rng.random(len(cuts)) * 2**20) / 2**20
        yield X, k, prices, Fined(cuts, penalties), rng


def random_cut(rng, n, k):
    """Up to 2p - 1 records, and p."""
    least = int(rng.integers(2, max(k, 2) + 1))
    size = min(n, int(rng.integers(least, 2 * least)))
    return Cut(tuple(sorted(rng.permutation(n)[:size].tolist())), least)


def fines_of(cuts, group):
    """The penalties of a group, counted once more."""
    return sum(fine for cut, fine in zip(cuts.cuts, cuts.penalties, strict=True) if oracles.meets(cut, group))


def reduced_costs(X, k, prices, cuts):
    """The reduced cost of every group, by enumeration."""
    for group, cost in oracles.groups(X, k):
        yield group, cost - prices[list(group)].sum() + fines_of(cuts, group)


def test_every_group_below_the_limit_is_found():
    for X, k, prices, cuts, rng in cases(150):
        limit = float(rng.choice([0.0, 0.5]))
        wanted = {group: c for group, c in reduced_costs(X, k, prices, cuts) if c < limit - 1e-9}
        result = pricer_of(distances(X, Context()), k)(prices, Context(), limit=limit, most=1000, cuts=cuts)
        got = {tuple(g.tolist()): c for g, c in zip(result.groups, result.costs, strict=True)}
        assert len(got) == len(result.groups)
        assert result.complete
        assert result.all_found
        for group, cost in wanted.items():
            assert got[group] == pytest.approx(cost, abs=1e-9)
        assert all(cost < limit for cost in got.values())


def test_lower_bounds_are_the_least_of_each_anchor_and_stay_true_when_stopped():
    for X, k, prices, cuts, rng in cases(60):
        rank = np.argsort(np.argsort(-prices, kind="stable"), kind="stable")
        least = np.zeros(len(X))
        for group, cost in reduced_costs(X, k, prices, cuts):
            anchor = min(group, key=lambda i: rank[i])
            least[anchor] = min(least[anchor], cost)
        pricer = pricer_of(distances(X, Context()), k)
        assert pricer(prices, Context(), cuts=cuts).lower == pytest.approx(least, abs=1e-9)
        short = pricer(prices, Context(), cuts=cuts, budget=int(rng.integers(0, 6)))
        assert (short.lower <= least + 1e-9).all()
        late = pricer(prices, Context(time_limit=0.0), cuts=cuts)
        assert not late.complete or not len(least[least < -1e-9])
        assert (late.lower <= least + 1e-9).all()


def test_threads_change_nothing():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 3))
    D2 = distances(X, Context())
    prices = np.sort(D2, axis=1)[:, 1:4].sum(axis=1) / 5
    first, four = (pricer_of(D2, 3)(prices, Context(threads=t), most=3, budget=50) for t in (1, 4))
    assert first.nodes == four.nodes
    assert np.array_equal(first.costs, four.costs)
    assert np.array_equal(first.lower, four.lower)
    assert [g.tolist() for g in first.groups] == [g.tolist() for g in four.groups]


def test_the_best_of_several_come_first():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 2))
    D2 = distances(X, Context())
    prices = np.sort(D2, axis=1)[:, 1:3].sum(axis=1) / 3
    every = pricer_of(D2, 2)(prices, Context(), most=1000)
    few = pricer_of(D2, 2)(prices, Context(), most=2)
    assert not few.all_found
    assert few.lower == pytest.approx(every.lower)
    assert set(np.round(few.costs, 12)) <= set(np.round(every.costs, 12))
    assert np.isclose(few.costs.min(), every.costs.min())


def test_no_price_no_group():
    result = pricer_of(distances(np.zeros((6, 1)), Context()), 2)(np.full(6, -1.0), Context())
    assert result.groups == []
    assert (result.lower == 0.0).all()


def larger_groups(X, k, prices, cuts):
    """The larger groups that are found at prices that groups of k allow, after a check of all of them."""
    D2 = distances(X, Context())
    pricer = ModePricer(Costs.plain(X, Context()), k, nearest_table(D2, min(2 * k - 1, len(X)), Context()))
    result = pricer(prices, Context(), limit=1e-9, most=1000, cuts=cuts, larger=True)
    innocent, fallen = 0, prices - result.falls(k)
    stated = {tuple(group.tolist()): value for group, value in zip(result.groups, result.costs, strict=True)}
    for group, cost in reduced_costs(X, k, prices, cuts):
        if len(group) > k:
            assert stated.get(group, cost) == pytest.approx(cost, abs=1e-6)
            assert cost + prices[list(group)].sum() - fallen[list(group)].sum() >= -1e-9  # of every size
            suspect = cuts.suspects(prices, k, len(group), flat=True)[list(group)].any()
            innocent += not suspect
            assert cost >= -1e-9 or (suspect and group in stated)
    return stated, innocent


def test_larger_groups_without_suspects_cost_no_less_than_their_prices():
    innocent = 0
    for X, k, signed, cuts, _ in cases(150):
        prices = np.abs(signed)
        full = [
            (cost + fines_of(cuts, group)) / prices[list(group)].sum()
            for group, cost in oracles.groups(X, k)
            if len(group) == k
        ]
        innocent += larger_groups(X, k, prices * min(full), cuts)[1]
    assert innocent > 100


def test_the_cheapest_of_all_larger_sizes_decides_how_far_prices_fall():
    """Equal records: a group of m costs nothing but its penalty, so the more records the cheaper it is."""
    X, k = np.zeros((7, 1)), 4
    for penalty in (1.0, 2.0):
        cuts = Fined([Cut((0, 1, 2, 3, 4, 5, 6), 4)], np.array([penalty]))
        larger_groups(X, k, np.full(7, penalty / 4.0), cuts)


@pytest.mark.parametrize("penalty", [0.5, 1.5])
def test_larger_groups_are_found_that_a_penalty_makes_cheap(penalty):
    """Equal distances: all groups of three cost as much as their prices; if they pay, larger ones save it."""
    X, k = np.eye(5), 3
    cuts = Fined([Cut((0, 1, 2, 3, 4), 3)], np.array([penalty]))
    got, _ = larger_groups(X, k, np.full(5, (2.0 + penalty) / 3.0), cuts)
    assert bool(got) == (penalty > 1.0)
