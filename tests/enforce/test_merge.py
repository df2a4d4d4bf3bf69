from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym.privacy import MutualInformation, PSensitive, TCloseness
from voronym.privacy.cells import Levels
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Asked


def nominal(codes):
    codes = np.asarray(codes, np.int64)
    return Levels("c", codes, False, tuple(range(int(codes.max()) + 1)))


def test_the_nearest_cell_that_repairs_is_merged():
    """Cells at 0, 1, 2 and 10; the first lacks what its neighbour at 1 lacks too, and the one at 2 has."""
    X = np.repeat([[0.0], [1.0], [2.0], [10.0]], 2, axis=0)
    asked = Asked([PSensitive(2).judge(nominal([0, 0, 0, 1, 0, 1, 0, 1]))])
    part = merge(X, vr.Partition([0, 0, 1, 1, 2, 2, 3, 3], k=2), asked)
    assert part.labels.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    asked = Asked([PSensitive(2).judge(nominal([0, 0, 0, 0, 0, 1, 0, 1]))])
    part = merge(X, vr.Partition([0, 0, 1, 1, 2, 2, 3, 3], k=2), asked)
    assert len(set(part.labels[:6])) == 1
    assert part.n_cells == 2


def test_cells_that_hold_and_that_nobody_needs_stay():
    X = np.repeat(np.arange(10.0)[:, None], 2, axis=0)
    labels = np.repeat(np.arange(10), 2)
    asked = Asked([PSensitive(2).judge(nominal([0, 1] * 10))])
    assert merge(X, vr.Partition(labels, k=2), asked) == vr.Partition(labels)


def test_a_cell_of_all_is_the_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    asked = Asked([TCloseness(0.0).judge(nominal(rng.integers(0, 3, 60)))])
    assert merge(X, vr.microaggregate(X, 3, method="mdav"), asked).n_cells == 1


def test_a_judge_of_the_sum_is_obeyed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    judge = MutualInformation(0.1).judge(nominal((X[:, 0] > 0).astype(int) + (X[:, 1] > 1)))
    part = merge(X, vr.microaggregate(X, 3, method="mdav"), Asked([judge]))
    assert judge.values(part.labels, part.n_cells).sum() <= 0.1 + 1e-9
    assert part.n_cells > 1


def test_every_merge_joins_whole_cells():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 2))
    start = vr.microaggregate(X, 4, method="mdav")
    asked = Asked([TCloseness(0.25).judge(nominal((X[:, 0] * 2).astype(int) % 3))])
    part = merge(X, start, asked)
    assert asked.hold(part.labels)
    for cell in start.cells():
        assert len(set(part.labels[cell])) == 1


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_squares_grow_by_the_costs(seed):
    """What the bookkeeping says about centroids is what the records say."""
    from voronym.privacy.enforce.merge import Merging

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    start = vr.microaggregate(X, 4, method="mdav")
    cells = Merging(X, start.labels, Asked([PSensitive(2).judge(nominal(rng.integers(0, 2, 80)))]))
    before = start.sse(X)
    a, b = cells.sizes[0], cells.sizes[1]
    cost = a * b / (a + b) * np.square(cells.centroids[0] - cells.centroids[1]).sum()
    cells.join(0, 1)
    after = vr.Partition(cells.labels(start.labels))
    assert after.sse(X) - before == pytest.approx(cost)
    assert cells.centroids[0] == pytest.approx(
        X[after.labels == after.labels[start.labels == 0][0]].mean(axis=0)
    )
