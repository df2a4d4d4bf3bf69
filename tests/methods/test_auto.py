"""The default method: a time limit holds, and never loses more than none."""

from __future__ import annotations

import importlib
import time
from dataclasses import replace

import numpy as np
import pytest

import voronym as vr
from voronym.core import clock
from voronym.core.context import Context
from voronym.intruder import rerun_of
from voronym.methods.auto import solve
from voronym.problem import Problem
from voronym.space.published import PublishedPoints

auto_module = importlib.import_module("voronym.methods.auto")


@pytest.mark.usefixtures("processor_clock")
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_a_limit_never_loses_more_than_none(seed):
    problem = Problem.of(np.random.default_rng(seed).normal(size=(60, 3)), 3)
    free, _ = solve(problem, Context())
    limited, bound = solve(problem, Context(time_limit=10.0))  # it ends when the optimum is proven
    assert problem.cost(limited) <= problem.cost(free)
    assert bound is not None


@pytest.mark.usefixtures("processor_clock")
def test_the_local_search_is_only_cut_off():
    """In a space without coordinates the limited search begins as the one without a limit does."""
    people = vr.datasets.hospital(150, seed=1)
    losses = [
        vr.anonymize(
            people, keys=["age", "sex", "weight"], drop_undeclared=True, k=3, space="mixed", time_limit=limit
        ).group_loss
        for limit in (0.0, None, 1.5)
    ]
    assert losses[0] >= losses[1] >= losses[2]
    assert losses[0] > losses[2]


@pytest.mark.parametrize("space", ["euclidean", "mixed"])
def test_the_limit_holds(space, processor_clock):
    people = vr.datasets.hospital(1500, seed=2)
    begun = processor_clock()
    vr.anonymize(
        people, keys=["age", "sex", "weight"], drop_undeclared=True, k=5, space=space, time_limit=0.5
    )
    assert processor_clock() - begun < 3.0  # the time of MDAV and of publishing


def test_the_clock_stands_still_while_kernels_compile():
    from numba.core import event

    from voronym._kernels import _jit  # noqa: F401 - from here on Numba tells the clock

    messages = []
    clock.on_compiling(messages.append)
    begun = time.perf_counter()
    try:
        before = clock.now()
        with event.trigger_event("numba:compile"):
            time.sleep(0.2)
            inside, wall_inside = clock.now(), time.perf_counter() - begun
            with event.trigger_event("numba:compile"):
                time.sleep(0.1)
        after, wall = clock.now(), time.perf_counter() - begun
    finally:
        clock.on_compiling(None)
    assert 0.0 <= inside - before <= wall_inside - 0.2  # all else may take long on a busy machine
    assert inside <= after <= before + wall - 0.3
    assert messages == [True, False]
    time.sleep(0.05)
    assert clock.now() - after >= 0.05


def test_work_without_a_deadline_of_its_own_is_over_when_the_time_is(monkeypatch):
    hands = [0.0]  # the test moves them: on a busy machine any time may pass between two lines
    monkeypatch.setattr("voronym.core.scope.now", lambda: hands[0])
    ctx = Context(time_limit=0.05).unhurried()
    assert not ctx.timed
    assert not ctx.over
    hands[0] = 0.06
    assert ctx.over
    assert ctx.part(0.0, 0.5).over


@pytest.mark.parametrize(("k", "wanted"), [(3, [4.0, 8.0, 16.0]), (10, [4.0, 4.0, 4.0])])
def test_longer_chains_up_to_a_length_then_new_ones(monkeypatch, k, wanted):
    """The clock is ours: a chain takes a second for each thousand proposals, and there are 34 or 15."""
    problem = Problem.of(vr.datasets.gaussian(600, 2), k)
    start = vr.microaggregate(problem.X, k, method="mdav")
    clock, asked = [0.0], []

    def anneal(problem, part, ctx, sweeps):
        asked.append(sweeps / 1000.0)
        clock[0] += sweeps / 1000.0
        return part

    class Told:
        over = False

        @property
        def left(self):
            return (34.0 if k == 3 else 15.0) - clock[0]

        def unhurried(self):
            return self

    monkeypatch.setattr(auto_module, "LONGEST", 4000.0)
    monkeypatch.setattr(auto_module, "now", lambda: clock[0])
    monkeypatch.setattr(auto_module, "_anneal", anneal)
    assert auto_module._longer(problem, start, start, Told(), 1.0) == start
    assert asked == wanted


@pytest.mark.parametrize(("n", "wanted"), [(50, 20_000.0), (500, 2000.0), (3000, 2000.0)])
def test_small_tables_get_the_proposals_of_some_hundred_records(monkeypatch, n, wanted):
    asked = []

    def noting(problem, part, ctx, options):
        asked.append(options.sweeps)
        return part

    monkeypatch.setattr(auto_module, "SWEEPS", 2000.0)
    monkeypatch.setattr(auto_module, "LEAST", 500)
    refiner = auto_module.REFINERS["anneal"]
    monkeypatch.setattr(auto_module, "REFINERS", {"anneal": replace(refiner, function=noting)})
    auto_module.solve(Problem.of(vr.datasets.gaussian(n, 2), 3), Context())
    assert asked == [wanted]


@pytest.mark.parametrize(("k", "wanted"), [(4, 8000), (6, 3920), (7, 1440)])
def test_perturbations_grow_with_the_work_for_small_k_only(monkeypatch, k, wanted):
    anneal_module = importlib.import_module("voronym.refiners.anneal")
    asked = []
    monkeypatch.setattr(
        anneal_module, "exchange", lambda _, part, __, options: asked.append(options.iterations) or part
    )
    vr.microaggregate(vr.datasets.gaussian(1000, 2), k, method="anneal", sweeps=4000)
    assert asked == [wanted]


def test_a_short_descent_by_means_comes_before_what_groups_publish(monkeypatch):
    """Above `FEW` records: from MDAV downhill, a few percent at least, and only then by modes."""
    plain, costs = auto_module._anneal, []

    def watched(problem, start, ctx, *sweeps):
        result = plain(problem, start, ctx, *sweeps)
        means = not isinstance(problem.records, PublishedPoints)
        costs.append((means, problem.cost(result) / problem.cost(start)))
        return result

    monkeypatch.setattr(auto_module, "_anneal", watched)
    people = vr.datasets.hospital(auto_module.FEW + 60, seed=1).select("age", "weight", "sex")
    vr.anonymize(people, keys=["age", "weight", "sex"], k=4)
    assert [means for means, _ in costs] == [True, False]
    assert costs[0][1] < 0.97


@pytest.mark.parametrize(
    ("whole", "ways"),
    [
        (0, [("_anneal", None), ("_anneal", None)]),
        (auto_module.FEW + 1, [("_anneal", auto_module.GLANCE), ("_anneal", None)]),
        (auto_module.QUICK + 1, [("_pairs", None)]),
    ],
)
def test_a_sample_is_searched_like_the_table_it_stands_for(monkeypatch, whole, ways):
    """What an intruder makes of a sample is made as the release was."""
    people = vr.datasets.hospital(60, seed=3).select("age", "weight", "sex")
    release = vr.anonymize(people, keys=people.columns, k=3)
    used = []

    def watched(name):
        plain = getattr(auto_module, name)

        def call(*given):
            used.append((name, given[3] if len(given) > 3 else None))
            return plain(*given)

        monkeypatch.setattr(auto_module, name, call)

    watched("_anneal")
    watched("_pairs")
    rerun_of(release.recipe, whole)(release._evidence.table)
    assert used == ways
