from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym.core.context import Context
from voronym.privacy import MutualInformation, PSensitive, TCloseness
from voronym.privacy.enforce.merge import Means, Members, Merging, merge
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.level import Levels
from voronym.problem import Problem
from voronym.space import Euclidean, Manhattan
from voronym.space.records import Records


def nominal(codes):
    codes = np.asarray(codes, np.int64)
    return Levels("c", codes, False, tuple(range(int(codes.max()) + 1)))


def test_the_nearest_cell_that_repairs_is_merged():
    """Cells at 0, 1, 2 and 10; the first lacks what its neighbour at 1 lacks too, and the one at 2 has."""
    X = np.repeat([[0.0], [1.0], [2.0], [10.0]], 2, axis=0)
    asked = Requirements([PSensitive(2).judge(nominal([0, 0, 0, 1, 0, 1, 0, 1]))])
    part = merge(Problem.of(X, 2), vr.Partition([0, 0, 1, 1, 2, 2, 3, 3], k=2), asked, Context())
    assert part.labels.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    asked = Requirements([PSensitive(2).judge(nominal([0, 0, 0, 0, 0, 1, 0, 1]))])
    part = merge(Problem.of(X, 2), vr.Partition([0, 0, 1, 1, 2, 2, 3, 3], k=2), asked, Context())
    assert len(set(part.labels[:6])) == 1
    assert part.n_cells == 2


def test_cells_that_hold_and_that_nobody_needs_stay():
    X = np.repeat(np.arange(10.0)[:, None], 2, axis=0)
    labels = np.repeat(np.arange(10), 2)
    asked = Requirements([PSensitive(2).judge(nominal([0, 1] * 10))])
    assert merge(Problem.of(X, 2), vr.Partition(labels, k=2), asked, Context()) == vr.Partition(labels)


def test_a_cell_of_all_is_the_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    asked = Requirements([TCloseness(0.0).judge(nominal(rng.integers(0, 3, 60)))])
    assert merge(Problem.of(X, 2), vr.microaggregate(X, 3, method="mdav"), asked, Context()).n_cells == 1


def test_a_judge_of_the_sum_is_obeyed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    judge = MutualInformation(0.1).judge(nominal((X[:, 0] > 0).astype(int) + (X[:, 1] > 1)))
    part = merge(Problem.of(X, 2), vr.microaggregate(X, 3, method="mdav"), Requirements([judge]), Context())
    assert judge.values(part.labels, part.n_cells).sum() <= 0.1 + 1e-9
    assert part.n_cells > 1


def test_merged_groups_of_any_size_have_their_mean_and_cost():
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(30, 2)), np.repeat([0, 1, 2, 3], [3, 15, 4, 8])
    means = Means(Problem.of(X, 3).records, vr.Partition(labels))

    def cost(*groups):
        rows = X[np.isin(labels, groups)]
        return np.square(rows - rows.mean(axis=0)).sum()

    assert means.cost(0, np.array([1]))[0] == pytest.approx(cost(0, 1) - cost(0) - cost(1))
    means.join(0, 1)
    means.join(0, 2)
    assert means.centroids[0] == pytest.approx(X[labels < 3].mean(axis=0))
    assert means.cost(0, np.array([3]))[0] == pytest.approx(cost(0, 1, 2, 3) - cost(0, 1, 2) - cost(3))


def test_every_merge_joins_whole_cells():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 2))
    start = vr.microaggregate(X, 4, method="mdav")
    asked = Requirements([TCloseness(0.25).judge(nominal((X[:, 0] * 2).astype(int) % 3))])
    part = merge(Problem.of(X, 2), start, asked, Context())
    assert asked.hold(part.labels)
    for cell in start.cells():
        assert len(set(part.labels[cell])) == 1


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_squares_grow_by_the_costs(seed):
    """What the bookkeeping says about centroids is what the records say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    start = vr.microaggregate(X, 4, method="mdav")
    asked = Requirements([PSensitive(2).judge(nominal(rng.integers(0, 2, 80)))])
    cells = Merging(Euclidean().records(X), start.labels, asked)
    before = start.sse(X)
    cost = float(cells.unions.cost(0, np.array([1]))[0])
    cells.join(0, 1)
    after = vr.Partition(cells.labels(start.labels))
    assert after.sse(X) - before == pytest.approx(cost)
    assert cells.unions.centroids[0] == pytest.approx(
        X[after.labels == after.labels[start.labels == 0][0]].mean(axis=0)
    )


def test_in_any_space_a_merge_adds_no_more_than_was_said():
    """Members in a space without coordinates: books are kept, and costs are bounds from above."""
    X = np.random.default_rng(0).integers(0, 30, (60, 2)).astype(float)
    records, start = Records(Manhattan(), X), vr.microaggregate(X, 4, method="mdav")
    unions = Members(records, start)
    text = float(unions.cost(0, np.array([1]))[0])
    before = float(unions.own.sum())
    assert before == pytest.approx(records.cost(start))
    unions.join(0, 1)
    merged = vr.Partition(np.where(start.labels == 1, 0, start.labels))
    assert unions.own[0] + unions.own[2:].sum() == pytest.approx(records.cost(merged))
    assert records.cost(merged) - before <= text + 1e-9
    unions.look(np.array([0, 2, 3]))
    assert unions.near(0, 1).tolist() == [0]
