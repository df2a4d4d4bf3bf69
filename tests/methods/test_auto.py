"""The default method: a time limit holds, and never loses more than none."""

from __future__ import annotations

import time

import numpy as np
import pytest

import voronym as vr
from voronym import clock
from voronym.context import Context
from voronym.methods.auto import solve
from voronym.problem import Problem


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_never_loses_more_than_none(seed):
    problem = Problem.of(np.random.default_rng(seed).normal(size=(60, 3)), 3)
    free, _ = solve(problem, Context())
    limited, bound = solve(problem, Context(time_limit=10.0))  # it ends when the optimum is proven
    assert problem.cost(limited) <= problem.cost(free)
    assert bound is not None


def test_the_local_search_is_only_cut_off():
    """In a space without coordinates the limited search begins as the one without a limit does."""
    people = vr.datasets.hospital(150, seed=1)
    losses = [
        vr.anonymize(
            people, keys=["age", "sex", "weight"], drop_undeclared=True, k=3, space="mixed", time_limit=limit
        ).group_loss
        for limit in (0.0, None, 3.0)
    ]
    assert losses[0] >= losses[1] >= losses[2]
    assert losses[0] > losses[2]


@pytest.mark.parametrize("space", ["euclidean", "mixed"])
def test_the_limit_holds(space):
    people = vr.datasets.hospital(1500, seed=2)
    begun = clock.now()
    vr.anonymize(
        people, keys=["age", "sex", "weight"], drop_undeclared=True, k=5, space=space, time_limit=0.5
    )
    assert clock.now() - begun < 3.0  # the time of MDAV and of publishing on a busy machine


def test_the_clock_stands_still_while_kernels_compile():
    from numba.core import event

    told = []
    clock.on_compiling(told.append)
    try:
        before = clock.now()
        with event.trigger_event("numba:compile"):
            time.sleep(0.2)
            inside = clock.now()
            with event.trigger_event("numba:compile"):
                time.sleep(0.1)
        after = clock.now()
    finally:
        clock.on_compiling(None)
    assert inside - before < 0.1
    assert after - before < 0.1
    assert told == [True, False]
    time.sleep(0.05)
    assert clock.now() - after >= 0.05


def test_work_without_a_deadline_of_its_own_is_over_when_the_time_is():
    ctx = Context(time_limit=0.05).unhurried()
    assert not ctx.timed
    assert not ctx.over
    time.sleep(0.06)
    assert ctx.over
    assert ctx.part(0.0, 0.5).over
