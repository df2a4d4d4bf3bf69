"""Pricing by centres against every group of small tables, counted in plain Python."""

import math
import pickle
from collections import Counter
from dataclasses import replace
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest

import voronym as vr
from repeats import few, rounds
from voronym import datasets
from voronym.certify import prove
from voronym.certify.centres import TOLERANCE, CentrePricer, chosen
from voronym.certify.columns import columns
from voronym.certify.costs import Costs
from voronym.certify.cuts import Cut
from voronym.certify.front import priceable
from voronym.certify.neighbours import neighbours
from voronym.certify.relax import approach, relax
from voronym.certify.state import Enough, State
from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.partition import Partition
from voronym.problem import Problem


def table(seed, most=11):
    """Small tables with up to three columns of numbers and two of categories, many of them with ties."""
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(7, most)), seed % 4, seed // 4 % 3
    k = int(rng.integers(2, n // 2 + 1))
    X = rng.normal(size=(n, d)) if seed % 3 else rng.integers(0, 3, (n, d)).astype(float)
    if seed % 5 == 0 and d:
        X[0] += 50.0
    codes = rng.integers(0, 3, (c, n))
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    costs = Costs(D2, codes, rng.uniform(0.3, 3.0, c), X, 1.0).scaled(2.0 ** float(rng.integers(-3, 4)))
    return costs, k, rng


def cost(costs, group):
    """The cost of a group, by hand."""
    rows = list(group)
    total = costs.scale * sum(
        sum((float(costs.numbers[i, j]) - math.fsum(costs.numbers[rows, j]) / len(rows)) ** 2 for i in rows)
        for j in range(costs.numbers.shape[1])
    )
    for codes, weight in zip(costs.codes, costs.weights, strict=True):
        total += weight * (len(rows) - max(Counter(codes[rows].tolist()).values()))
    return total


def prices_of(costs, k, rng):
    """Prices of any sign that some groups exceed and others do not."""
    every = [cost(costs, group) for group in combinations(range(len(costs)), k)]
    return np.quantile(every, 0.2) / k * rng.uniform(0.5, 1.5, len(costs)) + rng.normal(0.0, 0.05, len(costs))


def test_no_group_with_a_record_costs_less_than_its_bound_says():
    for seed in rounds(40, 150):
        costs, k, rng = table(seed)
        prices = prices_of(costs, k, rng)
        priced = CentrePricer(costs, k)(prices, Context(), most=1000)
        least = np.zeros(len(costs))
        for group in combinations(range(len(costs)), k):
            members = list(group)
            least[members] = np.minimum(least[members], cost(costs, group) - prices[members].sum())
        assert priced.complete
        assert (priced.lower <= least + 1e-9).all()
        slack = 2 * TOLERANCE * k + 0.15 * abs(least.min())
        assert priced.lower.min() >= least.min() - slack
        for members, value in zip(priced.groups, priced.costs, strict=True):
            assert len(set(members.tolist())) == k
            assert value >= cost(costs, members) - prices[members].sum() - 1e-9
            assert value < 0.0
        if least.min() < -2 * TOLERANCE * k:
            assert priced.costs.min() <= 0.85 * least.min() + TOLERANCE * k


def test_repaired_prices_hold_for_groups_of_every_size():
    for seed in rounds(30, 90):
        costs, k, rng = table(seed)
        prices = prices_of(costs, k, rng)
        fallen = prices - CentrePricer(costs, k)(prices, Context()).falls(k)
        for size in range(k, min(2 * k, len(costs) + 1)):
            for group in combinations(range(len(costs)), size):
                assert fallen[list(group)].sum() <= cost(costs, group) + 1e-9


class Ending(Context):
    """A context that is over after some looks at it."""

    looks = 0

    @property
    def over(self):
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("looks", [0, 1, 2, 5])
def test_a_pricing_that_time_ends_proves_what_it_saw(looks):
    """Prices of unseen records fall to valid ones, whatever was seen of the others."""
    partly = 0
    for seed in rounds(20, 60):
        costs, k, rng = table(seed)
        part = Partition(np.minimum(np.arange(len(costs)) // k, len(costs) // k - 1), k=k)
        state = State(costs, k, part, Context())
        prices = np.maximum(prices_of(state.costs, k, rng), 0.0)
        ctx = Ending(threads=1)
        ctx.looks = looks
        priced = CentrePricer(state.costs, k)(prices, ctx)
        partly += 0 < priced.unseen.sum() < len(costs)
        state.bound = -math.inf
        state.keep(prices, priced)
        for size in range(k, min(2 * k, len(costs) + 1)):
            for group in combinations(range(len(costs)), size):
                assert state.center[list(group)].sum() <= cost(state.costs, group) + 1e-9
    assert partly or looks in (0, 5)


@pytest.mark.parametrize("looks", [0, 1, 2, 5])
def test_a_pricing_that_time_ends_is_valid_after_a_proof_with_penalties(looks):
    """Prices of a proof with penalties are no fallback for groups that nobody searched."""
    for seed in rounds(20, 60):
        costs, k, rng = table(seed)
        n = len(costs)
        state = State(costs, k, Partition(np.minimum(np.arange(n) // k, n // k - 1), k=k), Context())
        state.centres = CentrePricer(state.costs, k)
        state.master.cut([Cut((0, 1, 2), 2)])
        state.master.prices = np.maximum(prices_of(state.costs, k, rng), 0.0)
        state.master.penalties = np.zeros(1)
        state.center, state.fines, state.bound = np.full(n, 1e3), np.array([1e3]), -math.inf
        ctx = Ending(threads=1)
        ctx.looks = looks
        state.price(ctx, budget=1000)
        for size in range(k, min(2 * k, n + 1)):
            for group in combinations(range(n), size):
                assert state.center[list(group)].sum() <= cost(state.costs, group) + 1e-9


def hospital(n):
    X = np.random.default_rng(3).normal(size=(n, 2))
    codes = np.random.default_rng(4).integers(0, 4, (2, n))
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    return Costs(D2, codes, np.array([1.5, 1.0]), X, 1.0)


def test_threads_change_nothing():
    costs = hospital(200)
    prices = np.sort(costs.D2, axis=1)[:, 1:6].sum(axis=1) / 4 + 0.5
    pricer = CentrePricer(costs, 5)
    for call in (pricer, lambda lam, ctx: pricer.glance(lam, [np.arange(5), np.arange(7)], ctx)):
        first, four = (call(prices, Context(threads=count)) for count in (1, 4))
        assert first.nodes == four.nodes
        assert np.array_equal(first.costs, four.costs)
        assert np.array_equal(first.lower, four.lower)
        assert [group.tolist() for group in first.groups] == [group.tolist() for group in four.groups]


def test_a_glance_finds_groups_and_proves_nothing():
    costs = hospital(120)
    prices = np.sort(costs.D2, axis=1)[:, 1:6].sum(axis=1) / 4 + 0.5
    pricer = CentrePricer(costs, 5)
    priced = pricer.glance(prices, [np.arange(9)], Context())
    assert len(priced.groups) > 20
    assert priced.unseen.all()
    assert not priced.complete
    for group, value in zip(priced.groups, priced.costs, strict=True):
        assert value >= costs.group(group) - prices[group].sum() - 1e-9
    full = pricer(prices, Context(), most=1000)
    assert full.lower.min() <= priced.costs.min() + 1e-9
    assert (full.lower <= priced.cheapest + 1e-9).all()
    assert priced.hinted(5).max() == pytest.approx(-priced.cheapest.min() / 5)


def test_a_large_k_is_proven_by_centres():
    """Every partition that a search finds loses at least the bound, far above that of the neighbours."""
    X = datasets.gaussian(200, 2, seed=5)
    problem = Problem.of(X, 20)
    assert priceable(problem)
    assert not priceable(Problem.of(datasets.gaussian(60, 4), 20))
    bound = prove(problem, Context(time_limit=3.0))
    assert bound.kind == "columns"
    assert bound.sse > 1.3 * neighbours(X, 20, Context()).sse
    for method in ("mdav", "auto"):
        assert bound.sse <= vr.microaggregate(X, 20, method=method, seed=1).sse(X)


def test_a_search_without_threads_ends_in_time():
    """Many columns of categories take minutes; a single thread looks at the time between boxes."""
    rng = np.random.default_rng(2)
    n, k = 600, 10
    X, codes = rng.normal(size=(n, 1)), rng.integers(0, 6, (9, n))
    costs = Costs((X - X.T) ** 2, codes, np.full(9, 1.0), X, 1.0)
    begun = perf_counter()
    priced = CentrePricer(costs, k)(np.full(n, 4.0), Context(threads=1, time_limit=0.3))
    assert not priced.complete
    assert priced.unseen.any()
    assert perf_counter() - begun < 60.0  # without a look at the time it takes many minutes


def test_boxes_too_short_to_halve_end_a_search():
    """Far from 0, neighbouring numbers are all that a box has; and prices may be far above the distances."""
    rng = np.random.default_rng(7)
    for d in (1, 2, 3):
        X = 1e9 + rng.integers(0, 3, (10, d)) * 1e-7
        D2 = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
        for prices in (np.full(10, 1e-14), np.full(10, 1e4)):
            costs = Costs(D2, np.zeros((0, 10), np.int64), np.zeros(0), X, 1.0)
            priced = CentrePricer(costs, 3)(prices, Context())
            assert priced.nodes < 200_000
            fallen = prices - priced.falls(3)
            for group in combinations(range(10), 3):
                assert fallen[list(group)].sum() <= cost(costs, group) + 1e-9


def test_prices_of_copies_end_without_a_limit():
    """Where the bound is 0 and stays 0, nothing is proven again and again."""
    X = np.repeat(np.random.default_rng(1).normal(size=(6, 2)), 8, axis=0)
    part = Partition(np.arange(48) % 6, k=8)
    state = State(Costs.plain(X, Context()), 8, part, Context())
    centres = CountedPricer(state.costs, 8)
    approach(state, centres, 0.8 * state.upper, Context())
    assert centres.calls < 20


class CountedPricer(CentrePricer):
    """Counts its proofs, and fails after many."""

    calls = 0

    def __call__(self, *args, **named):
        self.calls += 1
        assert self.calls < 100
        return super().__call__(*args, **named)


def test_the_best_groups_of_each_first_record_are_chosen_once():
    sets = np.array([[0, 1], [1, 0], [0, 2], [0, 3], [1, 2]])
    groups, values = chosen(sets, np.array([-1.0, -1.0, -3.0, -2.0, -4.0]), np.array([9.0, 5.0, 1.0, 1.0]), 2)
    assert [group.tolist() for group in groups] == [[1, 2], [0, 2], [0, 3]]
    assert values.tolist() == [-4.0, -3.0, -2.0]


@pytest.mark.parametrize("d", [2, 3])
def test_approached_prices_are_close_and_valid(d):
    """The bound of `approach` is that of the slow search, within the gap at which it ends, and never more."""
    X = datasets.gaussian(90, d, seed=d)
    k = 8
    part = Partition(np.arange(90) % 11, k=k)
    state = State(Costs.plain(X, Context()), k, part, Context())
    state.centres = CentrePricer(state.costs, k)
    approach(state, state.centres, 0.8 * state.upper, Context())
    slow = prove(
        Problem.of(X, k), Context(time_limit=20.0), kind="columns", part=part, enough=Enough(0.0, 0.0)
    )
    assert state.bound <= slow.partition.sse(X) * state.scale
    assert state.bound >= 0.9 * slow.sse * state.scale


@pytest.mark.parametrize("seed", few(range(6), 3))
def test_bounds_by_centres_and_by_members_agree(seed):
    """Both solve the same relaxation: one from centres, the other from lists of members."""
    rng = np.random.default_rng(seed)
    n, k = 40, 3
    X, codes = rng.normal(size=(n, 1 + seed % 3)), rng.integers(0, 3, (seed % 2, n))
    plain = Costs.plain(X, Context())
    costs = replace(plain, codes=codes, weights=np.full(len(codes), 0.7))
    part = Partition(np.arange(n) // k % (n // k), k=k)
    bounds = []
    for centres in (False, True):
        copy = replace(costs, D2=costs.D2.copy())
        state = State(copy, k, part, Context())
        if centres:
            state.centres = CentrePricer(state.costs, k)
        relax(state, Context())
        bounds.append(state.bound)
    assert bounds[1] == pytest.approx(bounds[0], rel=0.01)
    assert bounds[1] <= bounds[0] * (1.0 + 1e-6)


def test_a_request_to_finish_before_cuts_keeps_the_proof(monkeypatch):
    """Tables for cuts are made late; a request to finish ends that, and what was proven stays."""

    def asked(*_):
        raise Unfinished

    rng = np.random.default_rng(4)
    X, part = rng.normal(size=(60, 2)), Partition(np.arange(60) % 7, k=8)
    monkeypatch.setattr("voronym.certify.prices.ModePricer", asked)
    bound = columns(Problem.of(X, 8), part, Context(time_limit=20.0))
    assert bound.sse > neighbours(X, 8, Context()).sse


def test_a_pickled_release_says_how_near_the_optimum_it_is():
    table = datasets.hospital(80).select("age", "sex", "weight")
    release = vr.anonymize(table, keys=table.columns, k=4)
    assert release.closeness is not None
    copy = pickle.loads(pickle.dumps(release))  # noqa: S301 - its own bytes
    assert copy.closeness == release.closeness.partition(";")[0]
