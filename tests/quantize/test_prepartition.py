"""Macrocells: exact multiples, whatever the threads, and what the borders cost."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.core.context import Context
from voronym.errors import Cancelled, InputError
from voronym.method import METHODS, algorithm
from voronym.problem import Problem
from voronym.quantize import prepartition as module
from voronym.quantize.costs.transport import transport


@given(st.integers(2, 20), st.integers(1, 50), st.integers(0, 19), st.integers(1, 50))
def test_sizes_are_multiples_and_one_has_the_rest(k, groups, rest, cells):
    rest, cells = rest % k, min(cells, groups)
    n = groups * k + rest
    sizes = module.multiples(n, k, cells)
    assert sizes.sum() == n
    assert sizes.min() >= k
    assert (sizes[1:] % k == 0).all()
    assert sizes[0] % k == rest
    assert np.ptp(sizes) <= 2 * k - 1


@pytest.mark.parametrize("inner", ["mdav", "vmdav", "exchange"])
def test_no_cell_crosses_a_macrocell_and_every_cell_has_k(inner):
    X = np.random.default_rng(0).standard_normal((617, 2))
    part = vr.microaggregate(X, 4, method="prepartition", size=100, inner=inner)
    assert part.sizes.min() >= 4
    macro = module.macrocells(X, module.multiples(617, 4, 6), Context(seed=0))
    assert np.bincount(macro).tolist() == module.multiples(617, 4, 6).tolist()
    pairs = {(int(a), int(b)) for a, b in zip(part.labels, macro, strict=True)}
    assert len(pairs) == part.n_cells


def test_macrocells_are_those_of_a_quantizer():
    # Convex cells: within the plane, macrocells are separated by lines, but for ties.
    X = np.random.default_rng(1).standard_normal((600, 2))
    sizes = np.full(4, 150)
    macro = module.macrocells(X, sizes, Context(seed=0))
    centroids = np.array([X[macro == q].mean(axis=0) for q in range(4)])
    again = transport(X, centroids, sizes)
    assert np.mean(again.labels == macro) > 0.85
    assert sum(np.square(X[macro == q] - centroids[q]).sum() for q in range(4)) < 0.6 * np.square(X).sum()


def test_the_result_does_not_depend_on_the_threads():
    X = np.random.default_rng(2).standard_normal((800, 3))
    first, many, other = (
        METHODS["prepartition"].partition(
            Problem.of(X, 5),
            Context(seed=5, threads=threads),
            module.PrepartitionOptions(inner="exchange", size=100, inner_options={"iterations": iterations}),
        )
        for threads, iterations in ((1, 50), (4, 50), (1, 0))
    )
    assert first == many
    assert first != other


def test_borders_cost_little():
    X = np.random.default_rng(3).standard_normal((3000, 2))
    whole = vr.microaggregate(X, 5, method="mdav").sse(X)
    parts = vr.microaggregate(X, 5, method="prepartition", size=500).sse(X)
    assert parts < 1.1 * whole


def test_few_records_are_one_macrocell():
    X = np.random.default_rng(4).standard_normal((90, 2))
    assert vr.microaggregate(X, 3, method="prepartition") == vr.microaggregate(X, 3, method="mdav")


def test_repeated_points_and_flat_columns():
    X = np.column_stack([np.repeat([0.0, 1.0, 2.0], 100), np.ones(300)])
    part = vr.microaggregate(X, 5, method="prepartition", size=50)
    assert part.sizes.min() >= 5
    assert part.sse(X) == pytest.approx(0, abs=1e-9)


def test_a_prepartition_within_another_cuts_each_macrocell_again():
    X = vr.datasets.gaussian(1203, 2)
    inside = {"inner": "prepartition", "inner_options": {"size": 100, "inner": "mdav"}}
    part = vr.microaggregate(X, 5, method="prepartition", size=600, **inside)
    assert part.sizes.min() >= 5
    assert part.sizes.max() <= 9
    outer = module.macrocells(X, module.multiples(1203, 5, 2), Context(seed=0))
    assert all(len(set(outer[part.labels == cell])) == 1 for cell in range(part.n_cells))
    plain = vr.microaggregate(X, 5, method="prepartition", size=600)
    assert part.sse(X) != plain.sse(X)
    assert part.sse(X) < 1.3 * plain.sse(X)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"inner": "magic"}, "no method is called"),
        (
            {"inner": "prepartition"},
            "within a prepartition makes smaller macrocells: its size must be below 2,000",
        ),
        ({"inner_options": {"gama": 1}}, "has no option 'gama'"),
        ({"inner_options": 5}, "inner_options must be options by name"),
        ({"inner_options": [("gamma", 1)]}, "inner_options must be options by name"),
        ({"inner_options": {5: 1}}, "inner_options must be options by name"),
        ({"inner": ["mdav"]}, "inner must be the name of a method"),
        ({"size": 9}, "size must be a whole number, 10 or more"),
        ({"threads": 1}, "has no option 'threads'"),
        ({"inner": "univariate", "size": 20}, "one column"),
    ],
)
def test_bad_options(options, says):
    with pytest.raises(InputError, match=says):
        vr.microaggregate(np.random.default_rng(0).random((50, 2)), 5, method="prepartition", **options)


@pytest.fixture
def toy():
    """A method that the test fills in."""
    register = algorithm("toy", guarantee="none", cost="none", reference="none")
    yield lambda function: register(function)
    METHODS.remove("toy")


def run(X, progress=None, **options):
    return vr.microaggregate(X, 5, method="prepartition", inner="toy", size=100, progress=progress, **options)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_progress_raises_ends_the_threads(toy, error):
    X = np.random.default_rng(0).random((500, 1))
    started, ended = threading.Event(), []

    @toy
    def endless(problem, ctx):
        started.set()
        try:
            while True:
                ctx.check()
                threading.Event().wait(0.005)
        except Cancelled as cancelled:
            ended.append(type(cancelled))
            raise

    def stop(step):
        if started.is_set():
            raise error

    with pytest.raises(error):
        run(X, stop)
    assert ended


def test_an_error_inside_is_told(toy):
    @toy
    def broken(problem, ctx):
        if problem.points.max() > 0.5:
            raise ZeroDivisionError
        return problem.one_group()

    with pytest.raises(ZeroDivisionError):
        run(np.random.default_rng(0).random((500, 1)))


def test_macrocells_share_the_time(toy):
    left = []

    @toy
    def lasting(problem, ctx):
        left.append(ctx.left)
        threading.Event().wait(0.02)
        return problem.one_group()

    ctx = Context(time_limit=60.0, threads=2)
    options = module.PrepartitionOptions(inner="toy", size=100)
    METHODS["prepartition"].partition(Problem.of(np.random.default_rng(0).random((1000, 1)), 5), ctx, options)
    assert len(left) == 10
    assert min(left) < 20.0
    assert max(left) > 30.0


def test_its_defaults_beat_mdav_in_the_plane_and_not_in_many_columns():
    """As the page about quantizers says."""
    for d, k, better in ((2, 20, True), (5, 5, False)):
        X = vr.datasets.gaussian(8000, d, seed=1)
        plain = vr.microaggregate(X, k, method="mdav").sse(X)
        assert (vr.microaggregate(X, k, method="prepartition").sse(X) < plain) == better
