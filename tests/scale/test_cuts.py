"""Cuts into leaves."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.scale.cuts import grow


@pytest.mark.parametrize("rng", [None, np.random.default_rng(1)])
def test_leaves_are_even_and_all_points_have_one(rng: np.random.Generator | None) -> None:
    X = np.random.default_rng(0).standard_normal((5000, 4)) * [3, 1, 1, 0.1]
    tree = grow(X, 7, rng)
    sizes = np.bincount(tree.route(X), minlength=tree.leaves)
    assert tree.leaves == 7
    assert sizes.min() > 0.8 * 5000 / 7
    assert sizes.max() < 1.2 * 5000 / 7


def test_leaves_are_neighbourhoods() -> None:
    X = np.random.default_rng(0).standard_normal((4000, 2))
    leaf = grow(X, 8, None).route(X)
    within = sum(np.square(X[leaf == i] - X[leaf == i].mean(axis=0)).sum() for i in range(8))
    assert within < 0.35 * np.square(X - X.mean(axis=0)).sum()


def test_equal_records_are_shared_out_in_turn() -> None:
    X = np.zeros((1000, 3))
    X[:100] = 1.0
    tree = grow(X, 10, None)
    sizes = np.bincount(tree.route(X), minlength=tree.leaves)
    assert tree.leaves == 10
    assert sizes.max() <= 112
    assert len(set(tree.route(X)[:100]) & set(tree.route(X)[100:])) == 0


def test_ties_follow_the_sample_exactly() -> None:
    X = np.random.default_rng(0).integers(0, 3, (900, 2)).astype(float)
    tree = grow(X, 4, None)
    assert np.array_equal(tree.route(X)[:50], tree.route(X[:50]))
