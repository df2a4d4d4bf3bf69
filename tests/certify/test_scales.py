"""Bounds stay true where a solver's absolute tolerances could hide the truth."""

from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from repeats import few
from voronym.core.context import FinishEarly


@pytest.mark.usefixtures("processor_clock")
@pytest.mark.parametrize("apart", few([1e3, 1e5, 1e4, 3e4], 2))
@pytest.mark.parametrize("kind", ["exact", "columns"])
def test_two_far_clusters(apart, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((18, 2))
    X[9:] += apart
    bad = vr.Partition(np.arange(18) % 9, k=2)
    options = {"partition": bad} if kind == "columns" else {}
    bound = vr.lower_bound(X, 2, kind=kind, time_limit=20, **options)
    for seed in range(3):
        part = vr.microaggregate(X, 2, method="anneal", seed=seed)
        assert bound.sse <= part.sse(X) * (1 + 1e-12)
    assert (
        bound.partition.sse(X)
        <= min(vr.microaggregate(X, 2, method=m).sse(X) for m in ("mdav", "anneal")) * 1.0001
    )


@pytest.mark.parametrize("seed", [6, 10, 11, 12])
def test_nearly_tied_splits(seed):
    rng = np.random.default_rng(seed)
    turn = np.arange(6) * np.pi / 3
    hexagon = np.c_[1.2 * np.cos(turn), 1.2 * np.sin(turn), np.zeros(6)] + 100.0
    hexagon += rng.standard_normal((6, 3)) * 10.0 ** rng.uniform(-8, -6.5)
    X = np.r_[rng.standard_normal((24, 3)), hexagon]
    start = vr.microaggregate(X[:24], 3, method="anneal")
    splits = [[0, 0, 0, 1, 1, 1], [1, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 1]]
    ways = [vr.Partition(np.r_[start.labels, np.array(split) + start.n_cells], k=3) for split in splits]
    worst = max(ways, key=lambda part: part.sse(X))
    bound = vr.lower_bound(X, 3, kind="columns", partition=worst, time_limit=10)
    assert bound.sse <= min(part.sse(X) for part in ways)


@pytest.mark.parametrize("scale", [1e-160, 1e-8, 1e8, 1e150])
def test_units_do_not_matter(scale):
    X = np.random.default_rng(0).standard_normal((10, 2)) * scale
    bound = vr.lower_bound(X, 2)
    part = vr.microaggregate(X, 2)
    assert bound.sse <= part.sse(X) * (1 + 1e-12)


def test_a_sum_of_squares_below_the_bound_is_said():
    bound = vr.lower_bound(np.arange(8.0), 2)
    with pytest.raises(vr.InputError, match="below the bound"):
        bound.gap(bound.sse / 2)


def stop_after(times, error):
    messages = []

    def stop(step):
        messages.append(step.bound)
        if len([bound for bound in messages if bound is not None]) == times:
            raise error

    return stop


def test_a_wish_to_finish_keeps_what_is_proven():
    X = vr.datasets.gaussian(150, 3, seed=1)
    part = vr.microaggregate(X, 3, method="mdav")
    bound = vr.lower_bound(
        X, 3, kind="columns", partition=part, time_limit=60, progress=stop_after(6, FinishEarly)
    )
    assert bound.kind == "columns"
    assert 0 < bound.sse <= bound.partition.sse(X)


def test_ctrl_c_passes_through():
    X = vr.datasets.gaussian(150, 3, seed=1)
    part = vr.microaggregate(X, 3, method="mdav")
    stop = stop_after(6, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        vr.lower_bound(X, 3, kind="columns", partition=part, time_limit=60, progress=stop)


@pytest.mark.usefixtures("processor_clock")
def test_small_limits_are_used_to_the_end():
    X = np.random.default_rng(3).standard_normal((60, 3)) ** 3
    bound = vr.lower_bound(X, 3, kind="columns", time_limit=15)
    assert bound.optimal
