"""Macrocells: exact multiples, whatever the threads, and what the borders cost."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.progress import silent
from voronym.quantize import hierarchy as module
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
    part = vr.microaggregate(X, 4, method="hierarchy", size=100, inner=inner)
    assert part.sizes.min() >= 4
    macro = module.macrocells(X, module.multiples(617, 4, 6), np.random.default_rng(0), silent)
    assert np.bincount(macro).tolist() == module.multiples(617, 4, 6).tolist()
    pairs = {(int(a), int(b)) for a, b in zip(part.labels, macro, strict=True)}
    assert len(pairs) == part.n_cells


def test_macrocells_are_those_of_a_quantizer():
    # Convex cells: within the plane, macrocells are separated by lines, but for ties.
    X = np.random.default_rng(1).standard_normal((600, 2))
    sizes = np.full(4, 150)
    macro = module.macrocells(X, sizes, np.random.default_rng(0), silent)
    centroids = np.array([X[macro == q].mean(axis=0) for q in range(4)])
    again = transport(X, centroids, sizes)
    assert np.mean(again.labels == macro) > 0.85
    assert sum(np.square(X[macro == q] - centroids[q]).sum() for q in range(4)) < 0.6 * np.square(X).sum()


def test_the_result_does_not_depend_on_the_threads():
    X = np.random.default_rng(2).standard_normal((800, 3))
    options = {"method": "hierarchy", "size": 100, "inner": "exchange", "seed": 5}
    one = vr.microaggregate(X, 5, threads=1, inner_options={"iterations": 50}, **options)
    many = vr.microaggregate(X, 5, threads=4, inner_options={"iterations": 50}, **options)
    assert one == many
    assert one != vr.microaggregate(X, 5, threads=1, inner_options={"iterations": 0}, **options)


def test_borders_cost_little():
    X = np.random.default_rng(3).standard_normal((3000, 2))
    whole = vr.microaggregate(X, 5, method="mdav").sse(X)
    parts = vr.microaggregate(X, 5, method="hierarchy", size=500).sse(X)
    assert parts < 1.1 * whole


def test_few_records_are_one_macrocell():
    X = np.random.default_rng(4).standard_normal((90, 2))
    assert vr.microaggregate(X, 3, method="hierarchy") == vr.microaggregate(X, 3, method="mdav")


def test_repeated_points_and_flat_columns():
    X = np.column_stack([np.repeat([0.0, 1.0, 2.0], 100), np.ones(300)])
    part = vr.microaggregate(X, 5, method="hierarchy", size=50)
    assert part.sizes.min() >= 5
    assert part.sse(X) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"inner": "magic"}, "no method is called"),
        ({"inner": "hierarchy"}, "another method than itself"),
        ({"inner_options": {"gama": 1}}, "has no option 'gama'"),
        ({"inner_options": 5}, "inner_options must be options by name"),
        ({"inner_options": [("gamma", 1)]}, "inner_options must be options by name"),
        ({"inner_options": {5: 1}}, "inner_options must be options by name"),
        ({"inner": ["mdav"]}, "inner must be the name of a method"),
        ({"size": 9}, "size must be a whole number, 10 or more"),
        ({"threads": 0}, "threads must be a whole number, 1 or more"),
        ({"inner": "univariate", "size": 20}, "one column"),
    ],
)
def test_bad_options(options, says):
    with pytest.raises(InputError, match=says):
        vr.microaggregate(np.random.default_rng(0).random((50, 2)), 5, method="hierarchy", **options)


def test_what_progress_raises_ends_the_threads(monkeypatch):
    started, ended = threading.Semaphore(0), []

    def endless(X, k, *, method, seed, progress, **options):
        started.release()
        try:
            while True:
                progress(None)
                threading.Event().wait(0.005)
        except BaseException as error:
            ended.append(type(error))
            raise

    monkeypatch.setattr(module, "partition", endless)
    rows = [np.arange(5), np.arange(5, 10), np.arange(10, 15)]

    def stop(step):
        started.acquire()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        module._in_threads(np.zeros((15, 1)), 5, rows, [None] * 3, "mdav", {}, 2, stop)
    assert set(ended) == {module._EndedError}


def test_an_error_inside_is_told(monkeypatch):
    def broken(X, k, **options):
        if X[0, 0] > 0:
            raise ZeroDivisionError
        return Partition(np.zeros(len(X), int))

    monkeypatch.setattr(module, "partition", broken)
    rows = [np.arange(5), np.arange(5, 10)]
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.raises(ZeroDivisionError):
        module._in_threads(X, 5, rows, [None] * 2, "mdav", {}, 1, silent)
