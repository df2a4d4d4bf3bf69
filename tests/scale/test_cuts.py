"""Cuts into leaves."""

from __future__ import annotations

import numpy as np
import pytest

from voronym._kernels import active
from voronym.core.context import Context
from voronym.refiners.pair_cells import Heat
from voronym.run.parts.cuts import grow
from voronym.run.parts.leaf import Leaf


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


def mixed(n: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers and a key of eight categories with a coordinate for each, and the categories."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 8, n)
    return np.column_stack([rng.standard_normal((n, 2)), np.eye(8)[kind] / np.sqrt(7 / 8)]), kind


@pytest.mark.parametrize("rng", [None, np.random.default_rng(1)])
def test_categories_are_cut_before_anything_else(rng: np.random.Generator | None) -> None:
    X, kind = mixed()
    leaf = grow(X, 4, rng, [np.arange(2, 10)]).route(X)
    assert all(len(set(leaf[kind == item])) == 1 for item in range(8))
    sizes = np.bincount(leaf, minlength=4)
    assert sizes.min() > 0.4 * len(X) / 4
    plain = grow(X, 4, rng).route(X)
    assert any(len(set(plain[kind == item])) > 1 for item in range(8))


def test_a_rare_category_is_not_cut_off_alone() -> None:
    rng = np.random.default_rng(0)
    rare = rng.random(8000) < 0.01
    X = np.column_stack([rng.standard_normal((8000, 2)), (rare - 0.01) / np.sqrt(0.0099)])
    sizes = np.bincount(grow(X, 4, np.random.default_rng(2), [np.array([2])]).route(X))
    assert sizes.min() > 0.8 * 2000


def test_blocks_have_one_category_and_only_columns_that_differ() -> None:
    X, kind = mixed()
    order = np.lexsort((X[:, 0], kind))
    labels = np.empty(len(X), np.int64)
    labels[order] = np.arange(len(X)) // 5
    cells = Leaf(X, np.minimum(labels, len(X) // 5 - 1), 5, Context(seed=0), [np.arange(2, 10)])
    blocks = cells._cut(np.random.default_rng(0))
    assert np.array_equal(np.sort(np.concatenate(blocks)), np.arange(len(cells)))
    widths = [cells._load(block, 4, 1).points.shape[1] for block in blocks]
    assert np.mean(widths) < 5.5  # two numbers, and a few of eight categories


def test_columns_in_which_all_agree_change_nothing() -> None:
    X = np.random.default_rng(3).standard_normal((400, 3))
    labels = np.random.default_rng(6).permutation(400) // 5
    wide = np.column_stack([np.full(400, 2.5), X, np.full(400, -1.0)])
    results = []
    for points in (X, wide):
        cells = Leaf(points, labels, 5, Context(seed=4))
        cells.visit(8, Heat(40.0, 0.3, 0.05), Context(seed=5))
        results.append(cells)
    assert np.array_equal(results[0].labels, results[1].labels)
    assert not np.array_equal(results[0].labels, labels)
    assert results[0].costs == pytest.approx(results[1].costs)


def test_columns_that_vary_and_their_copy() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 9)).astype(float)
    for _ in range(20):
        rows = rng.choice(40, 4, replace=False).astype(np.int32)
        out = np.zeros(9, np.bool_)
        active.vary(X, rows, out)
        assert np.array_equal(out, (X[rows] != X[rows[0]]).any(axis=0))
        columns = np.flatnonzero(out)
        copy = np.empty((4, len(columns)))
        active.pick(X, rows, columns, copy)
        assert np.array_equal(copy, X[np.ix_(rows, columns)])
