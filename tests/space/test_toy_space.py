"""A space in one file: Manhattan distances and medians. No other file knows of it.

It brings a cost model (how a group's cost changes when a record leaves or joins) and a scan (who is far, who
is near), and with these it runs through MDAV, V-MDAV, exchange, annealing, the enforcement of t-closeness,
a release and its report.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym._kernels import cells, implement, inner, scan
from voronym.keyspaces import KEY_SPACES, Coordinates, key_space
from voronym.space import Space
from voronym.space.records import Records


class Medians(NamedTuple):
    """The cost model: medians of the groups and what they cost."""

    points: np.ndarray
    centroids: np.ndarray
    spread: np.ndarray
    buffer: np.ndarray


@inner
def median(values, size):
    """Sort the first values in place, as kernels own no memory; return the upper median."""
    for t in range(1, size):
        value, at = values[t], t
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    return values[size // 2] if size > 0 else 0.0


@inner
def median_cost(model, state, p, out, new, a):
    """Return the median of a column of group p, without ``out`` and with ``new``, and the cost there."""
    size = 0
    for t in range(state.start[p], state.start[p] + state.sizes[p]):
        i = state.members[t]
        if i != out:
            model.buffer[size] = model.points[i, a]
            size += 1
    if new >= 0:
        model.buffer[size] = model.points[new, a]
        size += 1
    middle = median(model.buffer, size)
    total = 0.0
    for t in range(size):
        total += abs(model.buffer[t] - middle)
    return middle, total


@implement(cells.refresh, Medians)
def refresh(model, state, p):
    none = min(-1, p)
    model.spread[p] = 0.0
    for a in range(model.points.shape[1]):
        model.centroids[p, a], added = median_cost(model, state, p, none, none, a)
        model.spread[p] += added


@implement(cells.cost, Medians)
def cost(model, state, p):
    return model.spread[p]


@implement(cells.change, Medians)
def change(model, state, p, out, new, limit):
    total = 0.0
    for a in range(model.points.shape[1]):
        total += median_cost(model, state, p, out, new, a)[1]
    return total - model.spread[p]


class Street(NamedTuple):
    """The scan: distances along streets, and the median of what remains."""

    points: np.ndarray
    left: np.ndarray
    point: np.ndarray
    buffer: np.ndarray


@implement(scan.clear, Street)
def clear(toy):
    toy.left[:] = 0


@implement(scan.add, Street)
def add(toy, i, sign):
    toy.left[i] += int(sign)


@implement(scan.aim_at_centroid, Street)
def aim_at_centroid(toy, left):
    for a in range(len(toy.point)):
        size = 0
        for i in range(len(toy.left)):
            if toy.left[i] > 0:
                toy.buffer[size] = toy.points[i, a]
                size += 1
        toy.point[a] = median(toy.buffer, left)


@implement(scan.aim_at, Street)
def aim_at(toy, i):
    for a in range(len(toy.point)):
        toy.point[a] = toy.points[i, a]


@implement(scan.fill_costs, Street)
def fill_costs(toy, alive, left, out):
    for t in range(left):
        out[t] = 0.0
        for a in range(len(toy.point)):
            out[t] += abs(toy.points[alive[t], a] - toy.point[a])


class Blocks(Records):
    def model(self, room):
        n, d = self.X.shape
        return Medians(self.X, np.zeros((room, d)), np.zeros(room), np.zeros(n + 1))

    def scan(self):
        n, d = self.X.shape
        return Street(self.X, np.zeros(n, np.int64), np.zeros(d), np.zeros(n))


class City(Space):
    name = "city"

    def cost(self, X, Y):
        return np.abs(X[:, None] - Y[None]).sum(axis=2)

    def centroid(self, X):
        return np.sort(X, axis=0)[len(X) // 2]

    def records(self, X):
        return Blocks(self, np.ascontiguousarray(X, dtype=np.float64))


X = np.random.default_rng(3).integers(0, 40, (120, 2)).astype(float)


@pytest.mark.parametrize("method", ["mdav", "vmdav"])
def test_groups_are_made_in_it(method):
    part = vr.microaggregate(X, 4, method=method, space=City())
    assert part.sizes.min() >= 4
    assert City().records(X).cost(part) < 0.4 * City().records(X).total
    if method == "mdav":  # the first group lies around the record farthest from the median
        away = City().cost(X, City().centroid(X)[None])[:, 0]
        first = np.argmax(away)
        near = np.argsort(City().cost(X[[first]], X)[0], kind="stable")[:4]
        assert len(set(part.labels[near])) == 1


@pytest.mark.parametrize(
    ("method", "options"),
    [("exchange", {"iterations": 50}), pytest.param("anneal", {"sweeps": 150}, marks=pytest.mark.slow)],
)
def test_searches_lower_the_cost_in_it(method, options):
    records = City().records(X)
    start = vr.microaggregate(X, 4, method="mdav", space=City())
    better = vr.refine(X, start, method=method, space=City(), **options)
    assert records.cost(better) < 0.98 * records.cost(start)
    assert better.sizes.min() >= 4
    assert better.sizes.max() <= 7


@pytest.fixture
def city():
    @key_space("city")
    def keys(table, ctx, options):
        made = Coordinates(table)
        made.records = City().records(made.X)
        return made

    yield "city"
    KEY_SPACES.remove("city")


@pytest.mark.parametrize(
    "how", ["merge", *(pytest.param(how, marks=pytest.mark.slow) for how in ("swap", "confidential-first"))]
)
def test_a_release_and_its_report(city, how, tmp_path):
    rng = np.random.default_rng(5)
    table = pl.DataFrame({
        "age": rng.integers(20, 90, 150),
        "income": rng.integers(1, 90, 150) * 100,
        "ill": rng.choice(["no", "flu", "gout"], 150),
    })  # fmt: skip
    release = vr.anonymize(
        table, keys=["age", "income"], confidential=["ill"], k=4, method="exchange", space=city,
        models=["t-closeness=0.3"], enforce=how, options={"iterations": 20}, seed=1)  # fmt: skip
    assert len(release.table) == 150
    assert all(finding.holds for finding in release.findings)
    release.report(tmp_path / "report.html")
    assert "t-closeness" in (tmp_path / "report.html").read_text("utf-8")
