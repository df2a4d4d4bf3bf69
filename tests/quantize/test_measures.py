"""Weights, two measures and prices of moving against a linear programme of their own, and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from repeats import few
from voronym.errors import InputError
from voronym.quantize import Quantizer, design, design_measures, pcl
from voronym.space import Graph, Manhattan, Sphere


def by_programme(X, C, a, b, low, high, old=None, price=None):
    """Return the least objective for fixed centroids, all pairs, by HiGHS through scipy."""
    n, m = len(X), len(C)
    d = ((X[:, None] - C[None]) ** 2).sum(axis=2) * a[:, None]
    if old is not None:
        for i in range(n):
            for q in range(m):
                if old[i] >= 0 and old[i] != q:
                    d[i, q] += price
    once = np.kron(np.eye(n), np.ones((1, m)))
    filled = np.kron(b[None, :], np.eye(m))
    result = linprog(
        d.ravel(),
        A_ub=np.vstack([filled, -filled]),
        b_ub=np.concatenate([high, -low]) + 1e-12 * b.sum(),
        A_eq=once,
        b_eq=np.ones(n),
        bounds=(0, None),
    )
    assert result.status == 0, result.message
    return result.fun


@pytest.mark.parametrize("seed", few(range(200), 60))
def test_two_measures_agree_with_a_linear_programme(seed):
    """200 instances: the last assignment is the best for its centroids, which are those of its cells."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(6, 30)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, int(rng.integers(1, 4))))
    a, b = rng.uniform(0.1, 3.0, n), rng.uniform(0.1, 3.0, n)
    shares = rng.dirichlet(np.full(m, 5.0))
    moving = seed % 4 == 1
    old = rng.integers(-1, m, n) if moving else None
    asked = {"stay": old, "moving": 0.5} if moving else {}
    if seed % 4 == 2:
        low, high = 0.7 * b.sum() * shares, 1.4 * b.sum() * shares
        asked["bounds"] = (low, high)
    else:
        low = high = b.sum() * shares
        asked["probabilities"] = shares
    result = design_measures(X, weights=a, loads=b, **asked, seed=seed, tolerance=0.0, iterations=8)
    least = by_programme(X, result.centroids, a, b, low, high, old, 0.5)
    assert result.objective == pytest.approx(least, rel=1e-6, abs=1e-9)
    assert all(later <= before for before, later in zip(result.trace, result.trace[1:], strict=False))
    assert (result.loads >= low - 1e-6).all()
    assert (result.loads <= high + 1e-6).all()
    assert len(result.divided) <= m - 1
    off = np.abs(result.whole_loads - result.loads).max()
    assert off <= b[result.divided].sum() + 1e-6
    assert np.bincount(result.points, result.shares, n) == pytest.approx(np.ones(n))


def test_weights_are_repeated_points():
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((40, 2)), rng.integers(1, 4, 40)
    w[0] += (-w.sum()) % 4
    start = X[:4]
    weighted = design_measures(X, 4, weights=w, init=start, iterations=3, tolerance=0.0)
    again = pcl(np.repeat(X, w, axis=0), 4, init=start, speed=1.0, iterations=3, tolerance=0.0)
    assert weighted.objective == pytest.approx(again.distortion * w.sum(), rel=1e-9)


def test_near_by_heads_and_equal_by_area():
    """A crowded side and an empty one: cells of equal area are not those of equal heads."""
    x = np.arange(100.0)
    heads = np.where(x < 20, 9.0, 1.0)
    by_area = design_measures(x, 2, weights=heads, loads=np.ones(100), init=[[10.0], [60.0]])
    by_heads = design_measures(x, 2, weights=heads, init=[[10.0], [60.0]])
    assert by_area.loads == pytest.approx([50.0, 50.0])
    assert by_area.labels.tolist() == [0] * 50 + [1] * 50
    assert by_heads.loads == pytest.approx([130.0, 130.0])
    with pytest.raises(InputError, match="two measures"):
        by_area.quantizer()
    assert by_heads.quantizer().assign([0.0, 99.0]).tolist() == [0, 1]


def test_a_price_keeps_people_where_they_are():
    """The dearer it is to move, the fewer do; within [k, 2k - 1] nobody is divided."""
    rng = np.random.default_rng(0)
    X, k = rng.standard_normal((120, 2)), 10
    first = pcl(X, 8)
    later = X + 0.5 * rng.standard_normal(X.shape)
    moves = []
    for price in (0.0, 0.3, 3.0, 1e6):
        result = design_measures(
            later, 8, bounds=(k, 2 * k - 1), stay=first.labels, moving=price, init=first.quantizer
        )
        sizes = np.bincount(result.labels, minlength=8)
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
        assert len(result.divided) == 0
        assert (result.labels[np.setdiff1d(np.arange(120), result.moved)]
                == first.labels[np.setdiff1d(np.arange(120), result.moved)]).all()  # fmt: skip
        moves.append(len(result.moved))
    assert moves[0] > moves[1] > moves[2] >= moves[3] == 0


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
def test_warm_starts_are_never_worse_than_the_start(seed, before, after):
    """From a quantizer with any other number of cells: no worse than its first assignment."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2))
    old = design(X, before, seed=seed)
    result = pcl(X, after, init=old)
    assert result.quantizer.n_cells == after
    assert result.distortion <= result.distortions[0] * (1 + 1e-12)
    if before == after:
        assert result.distortion <= old.distortion(X) * (1 + 1e-9)


@pytest.mark.slow
def test_a_large_design_starts_with_samples():
    """The first assignment of all points is already as good as where a random start ends."""
    X = np.random.default_rng(0).standard_normal((100_000, 2))
    result = pcl(X, 10)
    plain = pcl(X, 10, init="random", seed=1, tolerance=1e-4)
    assert result.distortions[0] <= 1.005 * plain.distortion
    assert result.sizes.tolist() == [10_000] * 10


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "give the number of cells"),
        ({"cells": 2, "probabilities": [0.5, 0.5], "bounds": ([1, 1], [2, 2])}, "not both"),
        ({"cells": 2, "bounds": (9, 10)}, "the minima ask for 18"),
        ({"cells": 2, "weights": [1.0]}, "weights must be one for each of the 4 points"),
        ({"cells": 2, "stay": [0, 1, 2, 0]}, "1 of 4 old cells are not among the 2"),
        ({"cells": 2, "stay": [0, 1, 1, 0], "moving": -1.0}, "moving is 0 or more"),
        ({"cells": 2, "init": "mdav"}, "init is 'random'"),
        ({"cells": 2, "space": Manhattan()}, "no centroid of points with weights"),
    ],
)
def test_what_cannot_be_asked(asked, sentence):
    with pytest.raises(InputError, match=sentence):
        design_measures([0.0, 1.0, 2.0, 3.0], **asked)


# -- the vertices of a graph -------------------------------------------------------------------------------


def town(seed, n=12):
    """Return edges and lengths of a connected graph."""
    rng = np.random.default_rng(seed)
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
    edges += [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(n)]
    return edges, rng.uniform(0.5, 4.0, len(edges)).tolist()


def floyd(edges, lengths, n):
    """Return all shortest paths by the oldest algorithm."""
    d = [[0.0 if i == j else np.inf for j in range(n)] for i in range(n)]
    for (i, j), length in zip(edges, lengths, strict=True):
        d[i][j] = d[j][i] = min(d[i][j], length)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return np.array(d)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(10))
def test_paths_and_centroids_by_brute_force(seed, power):
    edges, lengths = town(seed)
    road, d = Graph(edges, lengths, power), floyd(edges, lengths, 12) ** power
    everywhere = np.arange(12.0)[:, None]
    assert road.cost(everywhere, everywhere) == pytest.approx(d, rel=1e-12)
    rng = np.random.default_rng(seed)
    cell, weights = rng.integers(0, 12, 7), rng.uniform(0.0, 2.0, 7)
    totals = [sum(d[v, x] for x in cell) for v in range(12)]
    assert totals[int(road.centroid(cell[:, None].astype(float))[0])] == pytest.approx(min(totals))
    totals = [sum(w * d[v, x] for x, w in zip(cell, weights, strict=True)) for v in range(12)]
    chosen = int(road.weighted_centroid(cell[:, None].astype(float), weights)[0])
    assert totals[chosen] == pytest.approx(min(totals))


@pytest.mark.parametrize("seed", range(5))
def test_a_design_on_roads_is_near_the_best_of_all(seed):
    """Two cells of three on a graph of six: all pairs of centroids and all divisions are tried."""
    from itertools import combinations

    edges, lengths = town(seed, 6)
    d = floyd(edges, lengths, 6)
    best = min(
        min(d[v, list(half)].sum() for v in range(6))
        + min(d[v, [x for x in range(6) if x not in half]].sum() for v in range(6))
        for half in combinations(range(6), 3)
    )
    X = np.arange(6.0)[:, None]
    road = Graph(edges, lengths)
    result = pcl(X, 2, space=road, init="random", restarts=20)
    assert result.distortion * 6 == pytest.approx(best)
    again = design_measures(X, 2, weights=np.ones(6), init=result.quantizer, space=road)
    assert again.objective == pytest.approx(best)


def test_a_quantizer_on_roads_is_saved(tmp_path):
    road = Graph(*town(0))
    rule = Quantizer([[1.0], [7.0]], [0.0, 0.5], road)
    rule.save(tmp_path / "roads.json")
    assert Quantizer.load(tmp_path / "roads.json") == rule


@pytest.mark.parametrize(
    ("edges", "lengths", "sentence"),
    [
        ([], None, "edges are pairs"),
        ([(0, 1), (2, 3)], None, "2 of 4 vertices cannot be reached"),
        ([(0, 1)], [-1.0], "lengths are numbers above 0"),
        ([(0, 1)], [1.0, 2.0], "one for each of the 1 edges"),
        ([(0, -1)], None, "numbered from 0 on"),
        ([(0, 6000)], None, "6001 vertices"),
    ],
)
def test_what_is_no_graph(edges, lengths, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph(edges, lengths)


def test_what_is_no_vertex():
    road = Graph([(0, 1)])
    with pytest.raises(InputError, match="1 of 2 points are no vertices"):
        road.centroid(np.array([[0.0], [2.0]]))
    with pytest.raises(InputError, match="whole numbers in one column"):
        road.centroid(np.array([[0.5]]))


def test_weighted_places_on_the_globe():
    places = Sphere.from_degrees([0.0, 0.0], [0.0, 90.0])
    middle = Sphere().weighted_centroid(places, np.array([1.0, 1.0]))
    assert Sphere.to_degrees(middle)[1] == pytest.approx(45.0)
    assert Sphere.to_degrees(Sphere().weighted_centroid(places, np.array([3.0, 0.0])))[1] == pytest.approx(
        0.0
    )
