from __future__ import annotations

import importlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from certify import oracles
from certify.test_pricing import random_cut
from partitioners.points import records
from processor import After
from repeats import examples, few, rounds
from voronym import datasets
from voronym.certify import lower_bound
from voronym.certify.columns import columns
from voronym.certify.costs import Costs
from voronym.certify.cuts import Cut
from voronym.certify.exact import by_subsets, exact
from voronym.certify.master import Master
from voronym.certify.neighbours import neighbours
from voronym.core.context import Context, FinishEarly
from voronym.errors import Cancelled, Unfinished
from voronym.method import algorithms
from voronym.problem import Problem

module = importlib.import_module("voronym.certify.columns")


def start(X, k):
    return vr.microaggregate(X, k, method="mdav")


def tables(count):
    rng = np.random.default_rng(11)
    for number in range(count):
        n, d = int(rng.integers(8, 15)), int(rng.integers(2, 4))
        k = int(rng.integers(2, 5))
        X = rng.normal(size=(n, d)) if number % 3 else rng.integers(0, 3, (n, d)).astype(float)
        yield X, k


@pytest.mark.parametrize(("X", "k"), few(tables(12), 5))
def test_every_bound_is_below_the_optimum_and_that_below_every_method(X, k):
    best = by_subsets(X, k, Context())
    slack = 1e-4 * best.sse + 1e-12  # what the integer solver is not trusted with
    result = columns(Problem.of(X, k), start(X, k), Context(time_limit=20))
    assert result.optimal
    assert result.sse <= best.partition.sse(X) + 1e-25
    assert result.partition.sse(X) == pytest.approx(best.partition.sse(X), rel=1e-9, abs=1e-12)
    assert result.sse == pytest.approx(best.sse, abs=slack)
    assert neighbours(X, k, Context()).sse <= best.sse + 1e-12
    for name, method in algorithms().items():
        if not method.univariate:
            part = vr.microaggregate(X, k, method=name)
            assert best.sse <= part.sse(X) + 1e-25


@examples(5, 30)
@given(records(least=17, most=40, columns=4), st.integers(2, 4))
def test_no_bound_is_above_a_partition(X, k):
    """Ties, repeats, offsets, tiny numbers; random partitions and good ones."""
    rng = np.random.default_rng(len(X))
    bound = columns(Problem.of(X, k), start(X, k), Context(time_limit=0.3))
    assert bound.sse >= neighbours(X, k, Context()).sse * (1 - 1e-9) - 1e-299
    for _ in range(20):
        part = vr.Partition(oracles.random_partition(rng, len(X), k), k=k)
        assert bound.sse <= part.sse(X) + 1e-300
    assert bound.sse <= bound.partition.sse(X) + 1e-300
    assert bound.partition.sse(X) <= start(X, k).sse(X) * (1 + 1e-12) + 1e-300


@pytest.mark.usefixtures("processor_clock")
@pytest.mark.parametrize("k", [2, *(pytest.param(k, marks=pytest.mark.slow) for k in (3, 4))])
def test_stopped_at_any_step_it_proves_something_true(k):
    X = np.random.default_rng(k).normal(size=(60, 3))
    best = exact(X, k, Context(time_limit=30))
    assert best.optimal
    messages = []
    columns(Problem.of(X, k), start(X, k), Context(progress=messages.append))
    proven = [step.bound for step in messages]
    assert proven == sorted(proven)
    previous = 0.0
    for level in sorted(set(proven))[:: max(1, len(set(proven)) // 12)]:

        def stop(step, level=level):
            if step.bound >= level:
                raise FinishEarly

        bound = columns(Problem.of(X, k), start(X, k), Context(progress=stop))
        assert bound.sse <= best.partition.sse(X)
        assert bound.partition.sse(X) >= best.sse
        assert bound.information_loss >= level * (1 - 1e-9)
        previous = max(previous, bound.sse)
    assert previous > neighbours(X, k, Context()).sse


def test_the_bound_is_a_feasible_dual():
    """Prices of any sign, repaired by what pricing says, are within the cost of every group."""
    from voronym.certify.state import State

    rng = np.random.default_rng(2)
    for _ in range(20):
        n, k = int(rng.integers(8, 12)), int(rng.integers(2, 4))
        X = rng.normal(size=(n, 2))
        state = State(Costs.plain(X, Context()), k, start(X, k), Context())
        state.master.cut([random_cut(rng, n, k) for _ in range(3)])
        state.master.prices = rng.normal(0.5, 1.0, n)
        state.master.penalties = rng.random(3)
        prices, fines = state.master.prices, state.fined()
        state.bound = -math.inf
        state.price(Context(), budget=int(rng.integers(0, 50)))
        assert state.bound <= (state.center.sum() - fines.sum()) * (1 + 1e-12) + 1e-9
        assert (state.center <= prices).all()
        for group, cost in oracles.groups(X, k):
            met = [oracles.meets(cut, group) for cut in state.master.cuts]
            allowed = cost * state.scale + fines[met].sum()
            assert state.center[list(group)].sum() <= allowed + 1e-9
        assert state.bound <= by_subsets(X, k, Context()).partition.sse(X) * state.scale


def test_proofs_of_little_worth_change_how_long_it_takes_but_not_the_bound(monkeypatch):
    from voronym.certify import relax
    from voronym.certify.state import State

    rng, X, k = np.random.default_rng(3), datasets.gaussian(60, 2, seed=4), 4
    problem, results, cuts = Problem.of(X, k), [], [random_cut(rng, 60, k) for _ in range(10)]
    for worth in (0.0, 0.5):
        monkeypatch.setattr(relax, "WORTH", worth)
        state = State(Costs.of(problem, Context()), k, start(X, k), Context())
        relax.relax(state, Context())
        state.master.cut([*state.master.violated(100), *cuts])
        before = state.bound
        assert relax.relax(state, Context())
        assert state.bound > before * (1 + 1e-6)
        results.append(state.bound)
    assert results[1] == pytest.approx(results[0], rel=1e-5)
    state.master.penalties = np.zeros(len(state.master.cuts))
    state.master.penalties[0] = 1.0
    state.master.prices = 1.1 * state.center
    before = state.bound
    assert state.price(Context(), budget=10**6, worth=1e6).groups
    assert state.bound == before


def test_cuts_are_those_that_the_weights_break():
    """Four groups of a 5-cycle at one half: every partition has at most two of them."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    master = Master(Costs.plain(X, Context()).group, len(X))
    master.add([np.array(pair) for pair in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]])
    master.unbox()
    master.solve(Context())
    assert master.weights == pytest.approx(0.5)
    assert {cut.records: cut.least for cut in master.violated(10)} == {(0, 1, 2): 2, (3, 4, 5): 2}
    master.cut([Cut((0, 1, 2), 2)])
    assert master.meeting(0).tolist() == [0, 1, 2]
    assert master.rows(np.array([0, 2])).tolist() == [0, 2, 6]
    assert master.rows(np.array([0, 3])).tolist() == [0, 3]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_degenerate_tables(k):
    rng = np.random.default_rng(k)
    for X in (np.full((20, 2), 0.1), np.repeat(rng.normal(size=(4, 2)), 5, axis=0)):
        bound = columns(Problem.of(X, k), start(X, k), Context(time_limit=5))
        assert bound.sse == 0.0
        assert bound.optimal
        assert bound.information_loss == 0.0
    both = rng.normal(size=(2 * k, 2))
    assert columns(Problem.of(both, k), start(both, k), Context()).sse == pytest.approx(
        exact(both, k, Context()).sse, rel=1e-4
    )


def test_seeds_and_a_cell_of_2k_or_more_are_welcome():
    X = np.random.default_rng(4).normal(size=(24, 2))
    single = vr.Partition(np.zeros(24, np.int64), k=3)
    bound = columns(Problem.of(X, 3), single, Context(time_limit=10), seeds=[start(X, 3)])
    assert bound.partition.sse(X) <= start(X, 3).sse(X)
    assert bound.optimal


@pytest.mark.usefixtures("processor_clock")
def test_the_door():
    X = np.random.default_rng(4).normal(size=(30, 2))
    lower_bound(X[:20], 3, kind="columns", time_limit=None)  # compiled
    messages = []
    kinds = {kind: lower_bound(X, 3, kind=kind, time_limit=10, progress=messages.append) for kind in
             ("auto", "neighbours", "columns", "exact")}  # fmt: skip
    assert [bound.kind for bound in kinds.values()] == ["columns", "neighbours", "columns", "exact"]
    assert kinds["neighbours"].sse < kinds["columns"].sse
    assert kinds["exact"].optimal
    assert any(step.bound is not None for step in messages)
    given = start(X, 3)
    assert lower_bound(X, 3, kind="neighbours", partition=given).partition == given
    assert lower_bound(X, 3, time_limit=0, partition=given).sse >= kinds["neighbours"].sse * (1 - 1e-9)
    assert lower_bound(X[:, :1], 3).kind == "exact"
    assert lower_bound(X[:12], 3).kind == "exact"
    assert lower_bound(X[:4], 3).partition.n_cells == 1
    for wrong in ({"kind": "best"}, {"partition": vr.Partition([0, 0])}, {"time_limit": -1}):
        with pytest.raises(vr.InputError):
            lower_bound(X, 3, **wrong)
    with pytest.raises(vr.GuaranteeError):
        lower_bound(X, 3, partition=vr.Partition(np.arange(30) // 2))
    with pytest.raises(vr.InputError, match="local"):
        lower_bound(np.zeros((7000, 2)), 3, kind="columns")


@pytest.mark.usefixtures("processor_clock")
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k", "loss"),
    [("census", 3, 4.646), ("tarragona", 3, 13.85), pytest.param("eia", 3, 0.323, marks=pytest.mark.slow)],
)
def test_reference_files(name, k, loss):
    """The relaxation alone, stopped once it has what is known to be provable."""
    X = vr.standardize(getattr(datasets, name)().to_numpy())

    def enough(step):
        if step.bound is not None and step.bound >= loss:
            raise FinishEarly

    bound = columns(Problem.of(X, k), start(X, k), Context(time_limit=60, progress=enough))
    assert bound.information_loss >= loss * (1 - 1e-9)
    assert bound.information_loss <= vr.information_loss(X, bound.partition)


@pytest.mark.slow
@pytest.mark.usefixtures("processor_clock")
def test_regions_and_dives_find_better_partitions(monkeypatch):
    """In small regions and a small pool the same optimum is found."""
    X = np.random.default_rng(6).normal(size=(90, 3))
    best = exact(X, 3, Context(time_limit=30))
    assert best.optimal
    monkeypatch.setattr("voronym.certify.columns.REGION", 20)
    monkeypatch.setattr("voronym.certify.columns.POOL", 50)
    called = []

    def counted(name, work):
        return lambda *given, **options: called.append(name) or work(*given, **options)

    for name in ("relax", "dive", "regions"):
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    bound = columns(Problem.of(X, 3), start(X, 3), Context(time_limit=30))
    assert set(called) == {"relax", "dive", "regions"}
    assert bound.partition.sse(X) < 1.01 * best.partition.sse(X)
    assert bound.sse <= best.partition.sse(X)
    if bound.optimal:
        assert bound.partition.sse(X) == pytest.approx(best.partition.sse(X), rel=1e-6)


@pytest.mark.parametrize(
    ("room", "name", "wish"),
    [
        ("columns", "tighten", "finish"),
        ("integer", "choose", "cancel"),
        *(
            pytest.param(room, name, wish, marks=pytest.mark.slow)
            for room, name in (("columns", "dive"), ("columns", "regions"))
            for wish in ("finish", "cancel")
        ),
        pytest.param("columns", "tighten", "cancel", marks=pytest.mark.slow),
        pytest.param("integer", "choose", "finish", marks=pytest.mark.slow),
    ],
)
def test_stopped_in_any_part_of_the_work(room, name, wish, monkeypatch):
    X = np.random.default_rng(7).normal(size=(500, 6))
    ctx = Context(time_limit=300)  # never reached, however busy the machine is
    where = importlib.import_module(f"voronym.certify.{room}")
    work, asked = getattr(where, name), []

    def interrupted(*given, **options):
        if not asked:
            asked.append(After(0.05, getattr(ctx, wish)))
        return work(*given, **options)

    monkeypatch.setattr(where, name, interrupted)
    if wish == "cancel":
        with pytest.raises(Cancelled):
            columns(Problem.of(X, 3), start(X, 3), ctx)
    else:
        bound = columns(Problem.of(X, 3), start(X, 3), ctx)
        assert neighbours(X, 3, Context()).sse * (1 - 1e-9) <= bound.sse <= bound.partition.sse(X)
    assert asked[0].work() < (1.0 if wish == "cancel" else 2.0)


def test_before_the_distances_are_there_nothing_is_proven():
    ctx = Context()
    ctx.finish()
    X = np.random.default_rng(7).normal(size=(500, 6))
    with pytest.raises(Unfinished):
        columns(Problem.of(X, 3), start(X, 3), ctx)


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_the_time_limit_is_that_of_the_whole_call(limit, processor_clock):
    X = np.random.default_rng(0).standard_normal((4000, 6))
    part = start(X, 3)
    columns(Problem.of(X[:100], 3), start(X[:100], 3), Context(time_limit=0.1))  # compiled
    before = processor_clock()
    bound = lower_bound(X, 3, time_limit=limit, partition=part)
    assert processor_clock() - before < 1.1 * limit + 2.5
    assert 0.0 < bound.sse < part.sse(X)
    assert bound.kind == ("neighbours" if limit == 0.0 else "columns")


@pytest.mark.parametrize("modes", [False, True])
def test_a_pricing_that_time_ends_proves_what_it_saw(modes):
    """Prices of unseen records fall to valid ones: no group is cheaper than its records, whenever it ends."""
    from voronym.certify.state import State

    rng = np.random.default_rng(5)
    for _ in range(30):
        n, k = int(rng.integers(8, 12)), int(rng.integers(2, 4))
        X = rng.normal(size=(n, 2))
        codes = rng.integers(0, 3, (1, n)) if modes else np.zeros((0, n), np.int64)
        plain = Costs.plain(X, Context())
        costs = replace(plain, codes=codes, weights=np.full(len(codes), 0.7))
        state = State(costs, k, start(X, k), Context())
        prices = state.center * rng.uniform(0.5, 4.0, n)
        priced = state.quick(prices, Context(), limit=-1e-7)
        seen = int(rng.integers(0, n + 1))
        unseen = np.argsort(np.argsort(-prices, kind="stable")) >= seen
        lower = np.where(unseen, -9.0, priced.lower)  # of unseen ones nothing is known
        state.bound = -math.inf
        priced = replace(priced, lower=lower, unseen=unseen)
        state.prove(prices, priced.falls(k), np.empty(0), unseen)
        for group, _ in oracles.groups(X, k):
            members = np.array(group)
            assert state.center[members].sum() <= state.costs.group(members) + 1e-9


def test_guessed_prices_are_proven(monkeypatch):
    """What a short look misses, the full search after it finds: no group is cheaper than its records."""
    from voronym.certify.relax import guess
    from voronym.certify.state import State

    monkeypatch.setattr("voronym.certify.relax.LOOKS", ((1, 0.9, 1.0),))

    rng = np.random.default_rng(6)
    for _ in rounds(4, 10):
        X, k = rng.normal(size=(14, 2)), 3
        codes, weights = rng.integers(0, 3, (2, 14)), np.array([0.9, 0.4])
        state = State(
            replace(Costs.plain(X, Context()), codes=codes, weights=weights), k, start(X, k), Context()
        )
        guess(state, 2.0 * state.upper, Context())
        for group, _ in oracles.groups(X, k):
            members = np.array(group)
            assert state.center[members].sum() <= state.costs.group(members) + 1e-9
        assert state.bound > 0.0
