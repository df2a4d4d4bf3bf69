"""Places on the globe in the methods that make groups: exact costs, and the direction of the mean."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import voronym as vr
from voronym._kernels import cells as kernels
from voronym._kernels import kernel
from voronym.core.context import Context
from voronym.problem import Problem
from voronym.refiners.work import Work
from voronym.space import Sphere


@kernel
def change(model, cells, p, out, new):
    return kernels.change(model, cells, p, out, new, np.inf)


@kernel
def shift(model, cells, i, q):
    p = cells.labels[i]
    kernels.move(cells, i, q)
    kernels.update(model, cells, p, i, -1)
    kernels.update(model, cells, q, -1, i)


def globe(n, seed, *, spread=None):
    rng = np.random.default_rng(seed)
    if spread is None:
        X = rng.standard_normal((n, 3))
        return X / np.sqrt(np.square(X).sum(axis=1))[:, None]
    return Sphere.from_degrees(
        52.5 + spread * rng.standard_normal(n), 179.99 + spread * rng.standard_normal(n)
    )


def by_definition(X, labels):
    """Sum squared lines to the directions of the means, group by group."""
    total = 0.0
    for group in range(labels.max() + 1):
        own = X[labels == group]
        middle = own.sum(axis=0)
        middle /= np.sqrt(middle @ middle)
        total += sum((x - middle) @ (x - middle) for x in own)
    return total


@pytest.mark.parametrize("spread", [None, 0.3, 1e-5])  # the world, a town over the date line, a house
def test_moves_cost_what_the_definition_says(spread):
    X = globe(40, 3, spread=spread)
    work = Work(Problem.of(X, 4, space=Sphere()), np.repeat(np.arange(10), 4), Context())
    rng = np.random.default_rng(5)
    for _ in range(30):
        labels = work.labels
        sizes = np.bincount(labels, minlength=10)
        i = int(rng.integers(40))
        p, q = int(labels[i]), int(rng.integers(10))
        if q == p or sizes[p] < 2 or sizes[q] >= 7:
            continue
        there = int(np.flatnonzero(labels == q)[0])
        swapped, shifted = labels.copy(), labels.copy()
        swapped[[i, there]], shifted[i] = [q, p], q
        before = by_definition(X, labels)
        state = (work.model, work.cells)
        output = change(*state, p, i, there) + change(*state, q, there, i)
        assert output == pytest.approx(by_definition(X, swapped) - before, rel=1e-5, abs=1e-9 * before)
        output = change(*state, p, i, -1) + change(*state, q, -1, i)
        assert output == pytest.approx(by_definition(X, shifted) - before, rel=1e-5, abs=1e-9 * before)
        shift(*state, i, q)
        assert work.costs.sum() == pytest.approx(by_definition(X, work.labels), rel=1e-6)


@pytest.mark.parametrize(
    "method",
    ["mdav", *(pytest.param(name, marks=pytest.mark.slow) for name in ("exchange", "anneal", "pairs"))],
)
def test_groups_cross_the_date_line_and_publish_places(method):
    X = globe(90, 7, spread=0.4)
    problem = Problem.of(X, 5, space=Sphere())
    part = vr.microaggregate(X, 5, method=method, space=Sphere())
    assert part.sizes.min() >= 5
    centroids = problem.centroids(part)
    np.testing.assert_allclose(np.square(centroids).sum(axis=1), 1.0)
    assert problem.cost(part) == pytest.approx(by_definition(X, part.labels), rel=1e-9)
    east = Sphere.to_degrees(X)[1] > 0
    assert any(0 < east[part.labels == group].sum() < size for group, size in enumerate(part.sizes))
    if method != "mdav":
        assert problem.cost(part) < problem.cost(vr.microaggregate(X, 5, method="mdav", space=Sphere()))


@pytest.mark.slow
def test_the_best_grouping_of_a_few_is_found():
    X = globe(8, 1)
    best = np.inf
    for chosen in itertools.combinations(range(1, 8), 3):
        labels = np.ones(8, np.int64)
        labels[[0, *chosen]] = 0
        best = min(best, by_definition(X, labels))
    result = vr.microaggregate(X, 4, method="anneal", space=Sphere())
    assert by_definition(X, result.labels) == pytest.approx(
        min(best, by_definition(X, np.zeros(8, np.int64)))
    )


def test_mdav_takes_who_is_farthest_from_the_direction():
    """By plain loops from the definition: farthest from the centroid, then farthest from that one."""
    X = globe(31, 9)
    left, groups = list(range(31)), []
    while len(left) >= 9:
        middle = Sphere().centroid(X[left])
        first = max(left, key=lambda i: np.square(X[i] - middle).sum())
        second = max(left, key=lambda i: np.square(X[i] - X[first]).sum())
        for centre in (first, second):
            near = sorted(left, key=lambda i: np.square(X[i] - X[centre]).sum())[:3]
            groups.append(sorted(near))
            left = [i for i in left if i not in near]
    part = vr.microaggregate(X, 3, method="mdav", space=Sphere())
    result = sorted(np.flatnonzero(part.labels == group).tolist() for group in range(part.n_cells))
    assert all(group in result for group in groups)


@pytest.mark.slow
def test_pairs_ends_by_the_cost_of_the_sphere_itself():
    """Groups that reach halfway around: squares about the mean are not what a group costs there."""
    gains = []
    for seed in range(6):
        X = globe(48, seed)
        by_squares, own = (
            vr.microaggregate(X, 8, method="pairs", space=space, seed=0) for space in (None, Sphere())
        )
        assert own.sizes.min() >= 8
        gains.append(by_definition(X, by_squares.labels) - by_definition(X, own.labels))
    assert min(gains) > -1e-9
    assert max(gains) > 1e-3, "nothing was gained by the cost of the sphere"
