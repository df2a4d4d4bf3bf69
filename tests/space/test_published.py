"""What groups publish as a cost: against plain Python, and against what a release publishes."""

from collections import Counter
from statistics import median

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import few
from voronym._kernels import cells, kernel
from voronym.core.context import Context
from voronym.keyspaces import Coordinates
from voronym.methods.auto import solve
from voronym.methods.objective import published_points
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.space.published import Shown
from voronym.table import Table


@kernel
def change(model, state, p, out, new, limit):
    return cells.change(model, state, p, out, new, limit)


@kernel
def update(model, state, p, out, new):
    cells.update(model, state, p, out, new)


def table_of(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "height": rng.normal(170.0, 10.0, n),
            "children": rng.integers(0, 4, n),
            "income": rng.lognormal(10.0, 1.0, n),
            "town": rng.choice(["Ulm", "Bonn", "Jena"], n, p=[0.6, 0.3, 0.1]).tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
        }
    )
    return Table.of(frame, vr.Schema.build(frame, keys=frame.columns))


def by_hand(shown: Shown, group):
    """What one group loses: means, rounded means, medians, modes."""
    total = 0.0
    for j in range(shown.numbers.shape[1]):
        values = [float(shown.numbers[i, j]) for i in group]
        centre = sum(values) / len(values)
        if j >= shown.medians:
            centre = median(values)
        elif j >= shown.rounded:
            centre = shown.origin[j] + round((centre - shown.origin[j]) / shown.step[j]) * shown.step[j]
        total += sum((value - centre) ** 2 for value in values)
    for c in range(shown.codes.shape[1]):
        most = max(Counter(int(shown.codes[i, c]) for i in group).values())
        total += shown.weights[c] * (len(group) - most)
    return total


@pytest.mark.parametrize("publish", [None, {"income": "median"}])
def test_every_change_is_that_of_costs_counted_anew(publish):
    table = table_of(40)
    points = published_points(table, Coordinates.of(table), ReleaseChoices(publish=publish))
    shown = points.shown
    assert shown.numbers.shape[1] - shown.medians == (publish is not None)
    assert shown.medians - shown.rounded == 1  # the number of children
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.repeat(np.arange(8), 5))
    state, model = cells.make(labels, 8, 9), points.model(8)
    cells.refresh_all(model, state, 0, 8)
    groups = [set(np.flatnonzero(labels == p).tolist()) for p in range(8)]
    for _ in range(300):
        p, q = rng.choice(8, 2, replace=False)
        out, new = int(rng.choice(sorted(groups[p]))), int(rng.choice(sorted(groups[q])))
        kind = rng.integers(3)
        leave, come = (out, new) if kind == 0 else (out, -1) if kind == 1 else (-1, new)
        after = (groups[p] - {leave}) | ({come} if come >= 0 else set())
        wanted = by_hand(shown, sorted(after)) - by_hand(shown, sorted(groups[p]))
        assert change(model, state, p, leave, come, np.inf) == pytest.approx(wanted, abs=1e-9)
        cells.move(state, out, q)
        cells.move(state, new, p)
        update(model, state, p, out, new)
        update(model, state, q, new, out)
        groups[p], groups[q] = (groups[p] - {out}) | {new}, (groups[q] - {new}) | {out}


def test_the_cost_is_what_a_release_loses():
    table = table_of(120, seed=2)
    keys = Coordinates.of(table)
    points = published_points(table, keys, ReleaseChoices())
    part = vr.microaggregate(keys.X, 4, method="mdav")
    lost = keys.loss(table.like(keys.publish(part).frame[part.labels]))
    assert 100.0 * points.cost(part) / keys.records.total == pytest.approx(lost, rel=1e-3)


def test_means_alone_are_left_as_they_were():
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=50), "b": np.arange(50.0)})
    table = Table.of(frame, vr.Schema.build(frame, keys=["a", "b"]))
    assert published_points(table, Coordinates.of(table), ReleaseChoices()) is None


@pytest.mark.parametrize("k", few([3, 5], 1))
def test_what_is_published_loses_no_more_than_by_means(k):
    patients = vr.datasets.hospital(300, seed=4).select("age", "sex", "zip", "nationality")
    table = Table.of(patients, vr.Schema.build(patients, keys=patients.columns))
    points = published_points(table, Coordinates.of(table), ReleaseChoices())
    problem, means = Problem(points, k), Problem(points.plain(), k)
    by_means, shown = ([solve(goal, Context(seed=seed))[0] for seed in range(3)] for goal in (means, problem))
    assert all(part.sizes.min() >= k for part in shown)
    # A search ends some percent above the best or below: three of them tell objectives apart.
    assert sum(map(problem.cost, shown)) < 0.985 * sum(map(problem.cost, by_means))
    assert sum(map(means.cost, by_means)) < sum(map(means.cost, shown))  # another objective, indeed
    released = vr.anonymize(patients, keys=patients.columns, k=k, seed=0)
    assert released.information_loss == pytest.approx(100.0 * problem.cost(shown[0]) / means.total, rel=2e-2)


def test_some_records_have_the_costs_of_these():
    table = table_of(60, seed=3)
    points = published_points(table, Coordinates.of(table), ReleaseChoices())
    rows = np.arange(10, 40)
    some = points.subset(rows)
    part = Partition(np.arange(30) // 5)
    groups = [rows[cell].tolist() for cell in part.cells()]
    assert some.cost(part) == pytest.approx(sum(by_hand(points.shown, group) for group in groups))
    unit = points.unit()
    whole = Partition(np.arange(60) // 5)
    factor = np.abs(points.points - points.points.mean(axis=0)).max()
    assert unit.cost(whole) * factor**2 == pytest.approx(points.cost(whole))
