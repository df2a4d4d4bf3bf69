"""The tree of boxes against all distances at once."""

from __future__ import annotations

import numpy as np
import pytest

from voronym._kernels import boxes


def problem(seed):
    rng = np.random.default_rng(seed)
    n, m, d = 50 + 90 * seed, 1 + 5 * seed, 1 + seed % 4
    X = rng.standard_normal((n, d)) if seed % 2 else rng.integers(0, 5, (n, d)).astype(float)
    C = rng.standard_normal((m, d)) * 2
    c = rng.exponential(0.5, m)
    tree = boxes.grow(X, rng.integers(1, 4, n), 4)
    values = np.square(tree.points[:, None] - C[None]).sum(axis=2) + c
    return X, C, c, tree, values


def scratch(tree, m, many=1):
    return boxes.scratch(m, many, len(tree.start))


def arcs_for(size):
    return boxes.Arcs(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_holds_the_points(seed):
    X, _, _, tree, _ = problem(seed)
    assert (tree.points == X[tree.order]).all()
    assert sorted(tree.order.tolist()) == list(range(len(X)))
    for node in range(1, len(tree.start)):
        inside = tree.points[tree.start[node] : tree.stop[node]]
        assert (np.abs(inside - tree.middle[node]) <= tree.half[node] + 1e-15).all()


@pytest.mark.parametrize("margin", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(8))
def test_scan(seed, margin):
    _, C, c, tree, values = problem(seed)
    n, m = values.shape
    labels, second, gaps = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    counts = np.zeros(m, np.int64)
    cells = boxes.Cells(C, c, margin, 1, 0.0)
    boxes.scan(tree, 1, cells, scratch(tree, m), labels, second, gaps, counts)
    other, runner_up, margins, sizes = (
        np.empty_like(labels),
        second.copy(),
        gaps.copy(),
        np.zeros_like(counts),
    )
    D = np.square(tree.points[:, None] - C[None]).sum(axis=2)
    boxes.scan_matrix(D, tree.mass, cells, scratch(tree, m), other, runner_up, margins, sizes)
    assert values[np.arange(n), other] == pytest.approx(values[np.arange(n), labels], abs=1e-12)
    assert (sizes == np.bincount(other, tree.mass, m)).all()
    assert values[np.arange(n), labels] == pytest.approx(values.min(axis=1), abs=1e-12)
    assert (counts == np.bincount(labels, tree.mass, m)).all()
    if m > 1:
        expected = np.sort(values, axis=1)
        gap = expected[:, 1] - expected[:, 0]
        near = gap <= margin
        assert (np.isfinite(gaps) == near)[np.abs(gap - margin) > 1e-9].all()
        both = near & np.isfinite(gaps)
        assert gaps[both] == pytest.approx(gap[both], abs=1e-10)
        assert (second[~np.isfinite(gaps)] == -1).all()


@pytest.mark.parametrize(("margin", "many"), [(0.0, 1), (0.7, 1), (0.0, 3), (0.0, 7), (0.0, 10**6)])
@pytest.mark.parametrize("seed", range(8))
def test_arcs(seed, margin, many):
    _, C, c, tree, values = problem(seed)
    n, m = values.shape
    many = min(many, m)
    labels, keep = np.empty(n, np.int64), np.full(n, -1, np.int64)
    cells, room = boxes.Cells(C, c, margin, many, 0.0), arcs_for(n * m)
    used = boxes.arcs(tree, 1, cells, scratch(tree, m, many), keep, labels, room)
    assert boxes.arcs(tree, 1, cells, scratch(tree, m, many), keep, labels, arcs_for(0)) == used
    unit, cell, value = room
    assert value[:used] == pytest.approx(values[unit[:used], cell[:used]], abs=1e-12)
    rows = [np.sort(value[:used][unit[:used] == i]) for i in range(n)]
    for i, row in enumerate(rows):
        best = np.sort(values[i])
        expected = best[:many] if many > 1 else best[best <= best[0] + margin]
        if many > 1 or len(expected) > 1:
            assert row == pytest.approx(expected, abs=1e-9)
        else:
            assert len(row) == 0
    # the same from a matrix
    other = np.empty(n, np.int64)
    D = values - c
    result = boxes.arcs_of_matrix(D, 0, cells, boxes.scratch(m, many), keep, other, arcs_for(n * m))
    assert result == used
    assert values[np.arange(n), other] == pytest.approx(values[np.arange(n), labels], abs=1e-12)


def test_labels_are_kept_on_ties():
    X = np.zeros((6, 1))
    tree = boxes.grow(X, np.ones(6, np.int64), 8)
    C, c = np.array([[1.0], [-1.0]]), np.zeros(2)
    keep, labels = np.array([0, 1, 0, 1, 1, -1]), np.empty(6, np.int64)
    boxes.arcs(tree, 1, boxes.Cells(C, c, 0.0, 2, 1e-12), scratch(tree, 2, 2), keep, labels, arcs_for(12))
    assert labels.tolist() == [0, 1, 0, 1, 1, 0]
