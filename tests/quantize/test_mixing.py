"""Two designs of the same points become one, the better of them in each place."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

import voronym as vr
from voronym.core.context import Context
from voronym.quantize import _start, pcl
from voronym.quantize._mixing import mixed
from voronym.quantize.pcl import HOME, WALK
from voronym.quantize.settings import Settings
from voronym.space import Euclidean, Manhattan

pcl_module = import_module("voronym.quantize.pcl")  # its name in the package is the function


def loss(X, labels):
    return sum(((X[labels == q] - X[labels == q].mean(axis=0)) ** 2).sum() for q in np.unique(labels))


def parts(first, second):
    """Sets of points that cells of neither grouping leave, found by walking."""
    left, result = set(range(len(first))), []
    while left:
        now = {left.pop()}
        while True:
            more = {
                i for i in range(len(first)) for j in now if first[i] == first[j] or second[i] == second[j]
            }
            if more == now:
                break
            now = more
        left -= now
        result.append(sorted(now))
    return result


def best_choice(X, first, second):
    """The least loss of all choices, part by part, that leave as many cells of each size."""
    sizes = sorted(np.bincount(first))
    least = np.inf
    result = parts(first, second)
    for choice in product([False, True], repeat=len(result)):
        labels = np.array(first)
        for take, rows in zip(choice, result, strict=True):
            if take:
                here = np.array(rows)
                if sorted(np.unique(first[here], return_counts=True)[1]) != sorted(
                    np.unique(second[here], return_counts=True)[1]
                ):
                    break
                labels[here] = 100 + second[here]
        else:
            _, labels = np.unique(labels, return_inverse=True)
            assert sorted(np.bincount(labels)) == sizes
            least = min(least, loss(X, labels))
    return least


@st.composite
def groupings(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    n = sum(sizes)
    first = np.repeat(np.arange(len(sizes)), sizes)
    swaps = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=4))
    other = first.copy()
    for i, j in swaps:
        other[[i, j]] = other[[j, i]]
    names = np.array(draw(st.permutations(range(len(sizes)))))
    X = np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)), float)[:, None]
    return X, first, names[other]


@given(groupings())
def test_every_place_has_the_better_of_both(case):
    X, first, other = case
    result = mixed(X, first, other, int(first.max()) + 1, Euclidean())
    assert (np.bincount(result) == np.bincount(first)).all()
    assert loss(X, result) == pytest.approx(best_choice(X, first, other), abs=1e-9)


def test_parts_whose_cells_have_other_sizes_stay():
    X = np.array([0.0, 1.0, 10.0, 11.0, 12.0, 100.0, 101.0, 102.0, 103.0])[:, None]
    first = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])  # 3, 3, 3
    other = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])  # 2, 3, 4
    assert (mixed(X, first, other, 3, Euclidean()) == first).all()
    loose = mixed(X, first, other, 3, Euclidean(), slack=1e9, rng=np.random.default_rng(0))
    assert (loose == first).all()  # however much worse a place may be, no cell becomes smaller


def test_with_slack_a_part_may_cost_a_little_more():
    X = np.array([0.0, 1.0, 2.0, 3.5, 100.0, 101.0, 900.0, 901.0])[:, None]
    first = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    other = np.array([0, 1, 0, 1, 2, 3, 2, 3])  # a little worse, and far worse
    assert (mixed(X, first, other, 4, Euclidean()) == first).all()
    rng = np.random.default_rng(0)
    results = [mixed(X, first, other, 4, Euclidean(), slack=5.0, rng=rng) for _ in range(50)]
    assert {tuple(each[:4]) for each in results} == {(0, 0, 1, 1), (0, 1, 0, 1)}
    assert {tuple(each[4:]) for each in results} == {(2, 2, 3, 3)}


def best_pairs(X):
    """The least loss of points in pairs, by an integer programme."""
    pairs = np.array(list(combinations(range(len(X)), 2)))
    cost = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(axis=1) / 2
    member = (pairs[None] == np.arange(len(X))[:, None, None]).any(axis=2)
    return milp(cost, constraints=LinearConstraint(member, 1, 1), integrality=np.ones(len(pairs))).fun


@pytest.mark.slow
def test_many_designs_come_near_the_best_pairs():
    for seed in range(2):
        X = np.random.default_rng([5, seed]).random((60, 2))
        result = pcl(X, 30, restarts=61, cooling=0).distortion * 60
        assert 1.0 - 1e-9 <= result / best_pairs(X) < 1.05


def test_a_walk_leaves_the_best_and_comes_home_with_what_it_found():
    def design(cost):
        return SimpleNamespace(distortion=cost)

    asked = []

    def join(single, other, slack=0.0):
        asked.append(slack)
        return (
            design(other.distortion - 0.5) if slack else min(single, other, key=lambda each: each.distortion)
        )

    settings = Settings(restarts=WALK + 1)
    best = here = design(10.0)
    for turn in range(1, WALK):
        best, here = pcl_module._onward(best, here, design(11.0 + turn), turn, settings, join)
        assert best.distortion == 10.0
        assert (here is best) == (turn == WALK - 1), turn  # at home after the last one only
    slacks = asked[::2]
    assert slacks == sorted(slacks, reverse=True)
    assert slacks[0] > 0.0
    assert slacks[-HOME:] == [0.0] * HOME
    assert asked[1::2] == [0.0] * len(slacks)  # the best takes nothing that is worse
    best, _ = pcl_module._onward(best, here, design(9.0), WALK, settings, join)
    assert best.distortion == 8.5
    few = Settings(restarts=WALK)
    assert pcl_module._onward(design(3.0), design(4.0), design(2.0), 1, few, join)[1].distortion == 2.0


def test_more_designs_gain_where_one_shake_of_all_cells_does_not():
    X = np.random.default_rng(1).random((120, 2))
    once = pcl(X, 60, init="mdav", restarts=1, cooling=0).distortion
    more = pcl(X, 60, init="mdav", restarts=12, cooling=0, seed=0).distortion
    assert more < 0.95 * once


@pytest.mark.parametrize("space", [Euclidean(), Manhattan()])
def test_a_mixed_design_is_a_design(space):
    X = np.random.default_rng(2).random((61, 2))
    result = pcl(X, 20, init="mdav", restarts=6, cooling=0, space=space, seed=3)
    assert sorted(result.sizes) == [3] * 19 + [4]
    labels = result.quantizer.assign(X)
    assert (labels == result.labels).mean() > 0.9  # but for ties, the rule gives the groups back
    assert result.distortion == pytest.approx(
        space.paired(X, result.quantizer.centroids, result.labels).mean(), rel=1e-9
    )


def test_a_shake_is_as_wide_as_centroids_are_apart():
    C = np.array([[0.0], [1e-3], [1.0], [2.0]])
    rule = vr.quantize.Quantizer(C, np.zeros(4))
    moved = [_start.shake(C, rule, 1.0, True, np.random.default_rng(i)).centroids - C for i in range(200)]
    spread = np.std(moved, axis=0)[:, 0]
    assert (spread[:2] < 2e-3).all()
    assert (spread[2:] > 0.3).all()
    assert _start.shake(C[:1], vr.quantize.Quantizer(C[:1], np.zeros(1)), 1.0, True, Context().rng)
