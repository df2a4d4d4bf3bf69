"""Two designs of the same points become one, the better of them in each place."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.context import Context
from voronym.quantize import _start, pcl
from voronym.quantize._mixing import mixed
from voronym.space import Euclidean, Manhattan


def loss(X, labels):
    return sum(((X[labels == q] - X[labels == q].mean(axis=0)) ** 2).sum() for q in np.unique(labels))


def parts(one, other):
    """Sets of points that cells of neither grouping leave, found by walking."""
    left, found = set(range(len(one))), []
    while left:
        now = {left.pop()}
        while True:
            more = {i for i in range(len(one)) for j in now if one[i] == one[j] or other[i] == other[j]}
            if more == now:
                break
            now = more
        left -= now
        found.append(sorted(now))
    return found


def best_choice(X, one, other):
    """The least loss of all choices, part by part, that leave as many cells of each size."""
    sizes = sorted(np.bincount(one))
    least = np.inf
    found = parts(one, other)
    for choice in product([False, True], repeat=len(found)):
        labels = np.array(one)
        for take, rows in zip(choice, found, strict=True):
            if take:
                here = np.array(rows)
                if sorted(np.unique(one[here], return_counts=True)[1]) != sorted(
                    np.unique(other[here], return_counts=True)[1]
                ):
                    break
                labels[here] = 100 + other[here]
        else:
            _, labels = np.unique(labels, return_inverse=True)
            assert sorted(np.bincount(labels)) == sizes
            least = min(least, loss(X, labels))
    return least


@st.composite
def groupings(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    n = sum(sizes)
    one = np.repeat(np.arange(len(sizes)), sizes)
    swaps = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=4))
    other = one.copy()
    for i, j in swaps:
        other[[i, j]] = other[[j, i]]
    names = np.array(draw(st.permutations(range(len(sizes)))))
    X = np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)), float)[:, None]
    return X, one, names[other]


@given(groupings())
def test_every_place_has_the_better_of_both(case):
    X, one, other = case
    found = mixed(X, one, other, int(one.max()) + 1, Euclidean())
    assert (np.bincount(found) == np.bincount(one)).all()
    assert loss(X, found) == pytest.approx(best_choice(X, one, other), abs=1e-9)


def test_parts_whose_cells_have_other_sizes_stay():
    X = np.array([0.0, 1.0, 10.0, 11.0, 12.0, 100.0, 101.0, 102.0, 103.0])[:, None]
    one = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])  # 3, 3, 3
    other = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])  # 2, 3, 4
    assert (mixed(X, one, other, 3, Euclidean()) == one).all()


def test_more_designs_gain_where_one_shake_of_all_cells_does_not():
    X = np.random.default_rng(1).random((120, 2))
    once = pcl(X, 60, init="mdav", restarts=1, cooling=0).distortion
    more = pcl(X, 60, init="mdav", restarts=12, cooling=0, seed=0).distortion
    assert more < 0.95 * once


@pytest.mark.parametrize("space", [Euclidean(), Manhattan()])
def test_a_mixed_design_is_a_design(space):
    X = np.random.default_rng(2).random((61, 2))
    found = pcl(X, 20, init="mdav", restarts=6, cooling=0, space=space, seed=3)
    assert sorted(found.sizes) == [3] * 19 + [4]
    labels = found.quantizer.assign(X)
    assert (labels == found.labels).mean() > 0.9  # but for ties, the rule gives the groups back
    assert found.distortion == pytest.approx(
        space.paired(X, found.quantizer.centroids, found.labels).mean(), rel=1e-9
    )


def test_a_shake_is_as_wide_as_centroids_are_apart():
    C = np.array([[0.0], [1e-3], [1.0], [2.0]])
    rule = vr.quantize.Quantizer(C, np.zeros(4))
    moved = [_start.shake(C, rule, 1.0, True, np.random.default_rng(i)).centroids - C for i in range(200)]
    spread = np.std(moved, axis=0)[:, 0]
    assert (spread[:2] < 2e-3).all()
    assert (spread[2:] > 0.3).all()
    assert _start.shake(C[:1], vr.quantize.Quantizer(C[:1], np.zeros(1)), 1.0, True, Context().rng)
