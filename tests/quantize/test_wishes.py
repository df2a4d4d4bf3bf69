"""Designs and assignments heed their context: deadlines, wishes to finish, and cancelling."""

from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from processor import After, spent
from voronym.core.context import Context, FinishEarly
from voronym.errors import Cancelled, Unfinished
from voronym.quantize import _start, pcl
from voronym.quantize.costs import SOLVERS, transport
from voronym.quantize.costs.base import Bounds, equal_sizes
from voronym.quantize.pcl import alternate
from voronym.quantize.settings import Settings
from voronym.space import Euclidean, Manhattan

WISHES = [("cancel", Cancelled), ("finish", Unfinished)]


def instance(n, m, d=2):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    return X, X[rng.choice(n, m, replace=False)], equal_sizes(n, m)


@pytest.mark.parametrize(("wish", "error"), WISHES)
@pytest.mark.parametrize("space", [Euclidean(), Manhattan()])
def test_an_assignment_is_whole_or_not_at_all(wish, error, space):
    X, C, sizes = instance(30_000, 3000)
    transport(X[:100], C[:10], equal_sizes(100, 10), space=space)  # compiled
    ctx = Context()
    since = After(0.1, getattr(ctx, wish))
    with pytest.raises(error):
        transport(X, C, sizes, space=space, ctx=ctx)
    assert since.work() < 1.5


@pytest.mark.parametrize("costs", sorted(SOLVERS))
def test_a_design_finishes_with_the_best_so_far(costs):
    X, C, sizes = instance(20_000, 40)
    messages = []

    def enough(step):
        messages.append(step)
        if step.done > 0.3 + 0.7 * 0.005:  # two assignments are made
            raise FinishEarly

    result = pcl(X, sizes=sizes, init=C, costs=costs, tolerance=0.0, progress=enough)
    assert len(result.distortions) < 50
    assert not result.converged
    assert {step.stage for step in messages} == {"designing"}
    assert messages[-1].done == 1.0
    if costs == "transport":
        assert (result.sizes == sizes).all()
        labels = transport(X, result.quantizer.centroids, sizes).labels
        assert (labels == result.labels).mean() > 0.999


def test_before_the_first_assignment_there_is_nothing_to_finish_with():
    X, C, sizes = instance(20_000, 40)
    ctx = Context()
    ctx.finish()
    with pytest.raises(Unfinished):
        alternate(X, Bounds(sizes, sizes), C, Euclidean(), Settings(), ctx)


def test_a_design_ends_at_its_deadline(processor_clock):
    X, C, sizes = instance(10_000, 100)
    pcl(X, sizes=sizes, init=C, restarts=2)  # compiled: the same loops, with the same arguments
    before = processor_clock()
    result = pcl(X, sizes=sizes, init=C, tolerance=0.0, restarts=50, time_limit=1.0)
    assert processor_clock() - before < 2.1
    assert (result.sizes == sizes).all()


def test_a_design_is_cancelled_within_a_second():
    X, C, sizes = instance(100_000, 2000)
    pcl(X[:2000], 40, restarts=2)  # compiled: numba does not stop for wishes
    ctx = Context()
    since = After(1.0, ctx.cancel)
    with pytest.raises(Cancelled):
        alternate(X, Bounds(sizes, sizes), C, Euclidean(), Settings(tolerance=0.0, restarts=99), ctx)
    assert since.work() < 1.0


def test_a_start_without_costs_is_the_centroids_of_the_groups():
    X, _, sizes = instance(600, 20)
    part = vr.microaggregate(X, 30, method="mdav")
    start = _start.start(X, Bounds(sizes, sizes), part, Manhattan(), Context())
    expected = [np.median(X[members], axis=0) for members in part.cells()]
    assert np.array_equal(start.centroids, expected)
    assert not start.costs.any()


def test_an_allocation_by_programme_is_interrupted():
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((20_000, 2)), rng.standard_normal((60, 2))
    asked = []

    def stop(step):
        asked.append(spent())
        if len(asked) > 3:
            raise FinishEarly

    with pytest.raises(Unfinished):
        vr.quantize.allocate(X, C, capacities=400.0, weights=rng.uniform(0.5, 1.5, len(X)), progress=stop)
    assert spent() - asked[3] < 1.0
