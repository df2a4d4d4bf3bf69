"""Table 1, and every equation against distances, sums and counts computed here independently.

The counts use no code of `records` and `space`: three columns, each with a distance of one line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl

from voronym.core.context import Context
from voronym.records import Clusters, Mixed, RecordsOptions, blend, clusters, flatten, make_fields, shuffle
from voronym.table import Schema
from voronym.table import Table as Data
from voronym_papers.base import at
from voronym_papers.items import Cell, Chart, Curve, Item, Table
from voronym_papers.marks import Mark

KEYS = ("zip", "age", "nationality")
EPSILON = {"zip": 20, "age": 8}
NATIONS = ("American", "Indian", "Japanese", "Russian")
APART: tuple[Callable[[Any, Any], float], ...] = (
    lambda a, b: abs(a - b),
    lambda a, b: abs(a - b),
    lambda a, b: float(a != b),
)
"""Distances of two zip codes, two ages, two nationalities."""

WAYS: dict[int, Literal["noise", "centroid", "element"]] = {6: "noise", 7: "centroid", 8: "element"}
"""The equations of the three methods to find a new value."""
Rows = list[list[Any]]


def records_1() -> pl.DataFrame:
    """Return table 1: five records of a medical institution."""
    return pl.DataFrame(
        {
            "zip": [13053, 13068, 13068, 13053, 14853],
            "age": [28, 29, 21, 23, 50],
            "nationality": ["Russian", "American", "Japanese", "American", "Indian"],
            "condition": ["Heart disease", "Heart disease", "Viral infection", "Viral infection", "Cancer"],
        }
    )


def drawn(n: int, seed: int) -> pl.DataFrame:
    """Draw records with the columns of table 1: three districts, and a tenth of outliers."""
    rng = np.random.default_rng(seed)
    district = rng.integers(0, 3, n)
    away = rng.random(n) < 0.1
    return pl.DataFrame(
        {
            "zip": 13050 + 40 * district + rng.integers(0, 15, n) + 900 * away * rng.integers(1, 9, n),
            "age": np.rint(30 + 15 * district + rng.normal(0, 2.5, n) + 25 * away).astype(int),
            "nationality": rng.choice(NATIONS, n, p=[0.6, 0.2, 0.1, 0.1]),
        }
    )


class Worked:
    """The method's clusters on a table with the columns of table 1, and its records as plain values."""

    def __init__(self, table: pl.DataFrame, m: int) -> None:
        schema = Schema.build(table, keys=list(KEYS), confidential=table.columns[3:])
        self.m = m
        self.space = Mixed.fit(make_fields(Data.of(table, schema), schema.keys, None)[0])
        self.values = [sorted(table[name].unique()) for name in KEYS]
        self.found: Clusters = clusters(self.space, RecordsOptions(m=m, epsilon=EPSILON))
        self.before = self.rows(self.space.codes)
        self.labels: list[int] = self.found.partition.labels.tolist()
        self.centres = self.rows(self.found.centroids)

    def rows(self, codes: Any) -> Rows:
        """Return records as values; levels are numbered in the order of the sorted values."""
        return [[self.values[k][code] for k, code in enumerate(row)] for row in codes.tolist()]

    def members(self, labels: list[int]) -> dict[int, list[int]]:
        """Return the rows of each cluster."""
        return {item: [i for i, label in enumerate(labels) if label == item] for item in sorted(set(labels))}

    def radius(self, cluster: int, k: int) -> float:
        """Return the largest distance of a member from the centroid in a column."""
        centre = self.centres[cluster][k]
        return max(APART[k](self.before[i][k], centre) for i in self.members(self.labels)[cluster])

    def away(self, row: list[Any], cluster: int) -> float:
        """Return the mapped distances of a record to a cluster's centroid, added up."""
        centre = self.centres[cluster]
        return sum(float(self.space.maps[k](APART[k](row[k], centre[k]))) for k in range(3))


def table_1(ctx: Context) -> Iterator[Item]:
    """Find the outlier, and push her back in each of the three ways."""
    at(ctx, "table 1", 0.0)
    worked = Worked(records_1(), m=1)
    alone = [i for i, label in enumerate(worked.labels) if worked.labels.count(label) == 1]
    yield Mark("Table 1", "records that stand out", 1, len(alone), ".0f")
    yield Mark("Table 1", "the one that does", 5, alone[0] + 1, ".0f")
    rows: list[tuple[Cell, ...]] = [("as it was", *map(str, worked.before[4]), None)]
    for way in (WAYS[7], WAYS[8]):
        made = blend(worked.space, worked.found, RecordsOptions(m=1, blend=way), Context(seed=0))
        rows.append((way, *map(str, worked.rows(made.codes)[4]), int(made.changed.sum())))
    yield Mark("Table 1", "of her values that change", None, float(str(rows[1][-1])), ".0f", alone=True)
    yield Table(
        "The fifth record of table 1, pushed back",
        ("way", *KEYS, "values changed"),
        tuple(rows),
        "With epsilon 20 for zip codes and 8 years. The cluster of the other four has the centroid "
        f"{', '.join(map(str, worked.centres[0]))}; its radius in nationality is 1, so hers stays (5).",
        "Table 1",
    )


def equations(tables: int, ctx: Context) -> Iterator[Item]:
    """Count, over several tables, the results that differ from an equation."""
    yield from _equation_1(ctx)
    counts: Counter[int] = Counter()
    tried: Counter[int] = Counter()
    for seed in range(tables):
        at(ctx, f"equations: table {seed + 1} of {tables}", seed / tables)
        worked = Worked(drawn(80, seed), m=3)
        for number, wrong, of in (*_clusters(worked), *_blended(worked, seed), *_stirred(worked, seed)):
            counts[number] += wrong
            tried[number] += of
    for number in range(2, 11):
        yield Mark(f"Equation {number}", "cases that contradict it", None, counts[number], ".0f", alone=True)
    yield Table(
        "The equations, counted",
        ("equation", "cases", "that contradict it"),
        tuple((number, tried[number], counts[number]) for number in range(2, 11)),
        f"Over {tables} tables of 80 records, columns as in table 1: pairs (2), columns of centroids (3), "
        "outliers (4), values (5 to 9), clusters (10). Counted by sums and distances written out beside the "
        "method, not by its own.",
        "Equations 1 to 10",
    )


def _equation_1(ctx: Context) -> Iterator[Item]:
    """Map distances between ages: their distribution approaches that of distances between normal numbers."""
    at(ctx, "equation 1", 0.0)
    curves, off = [], []
    for n in (20, 80, 320):
        ages = np.random.default_rng(1).gamma(4.0, 8.0, n)
        table = pl.DataFrame({"zip": np.arange(n), "age": ages, "nationality": ["Indian"] * n})
        space = Worked(table, m=1).space
        true = np.sort([abs(a - b) for a, b in combinations(ages, 2)])
        mapped = space.maps[1](true)
        shares = (np.arange(len(true)) + 0.5) / len(true)
        normal = np.array([math.erf(value / 2.0) for value in mapped])  # of |N - N'|, by its formula
        off.append(float(np.abs(normal - shares).max()))
        some = np.linspace(0, len(true) - 1, 60).astype(int)
        curves.append(
            Curve(f"mapped, n = {n}", tuple(zip(mapped[some].tolist(), shares[some].tolist(), strict=True)))
        )
        what = f"farthest from the Euclidean distribution, n = {n}"
        yield Mark("Equation 1", what, None, off[-1], ".4f", alone=True)
    line = np.linspace(0, 4, 50)
    yield Chart(
        "Mapped distances of skewed ages",
        (*curves, Curve("between normal numbers", tuple((float(x), math.erf(x / 2)) for x in line))),
        "distance",
        "share of pairs below",
        "The limit of equation 1 is reached up to the steps of the table: the maps match quantiles.",
        "Equations 1 to 10",
    )


Counted = tuple[int, int, int]
"""The equation, the number of counterexamples, and of cases."""


def _clusters(worked: Worked) -> Iterator[Counted]:
    """Check equations 2, 3 and 4."""
    cells = worked.members(worked.labels)
    pairs = [(i, j) for rows in cells.values() for i, j in combinations(rows, 2)]
    far = [
        (i, j)
        for i, j in pairs
        for k, name in enumerate(KEYS)
        if APART[k](worked.before[i][k], worked.before[j][k]) > EPSILON.get(name, math.inf)
    ]
    yield 2, len(far), len(pairs)
    worse = 0
    for entry, rows in cells.items():
        for k in range(3):
            sums = {
                value: sum(APART[k](worked.before[i][k], value) for i in rows) for value in worked.values[k]
            }
            worse += sums[worked.centres[entry][k]] > min(sums.values()) + 1e-9
    yield 3, worse, 3 * len(cells)
    made = blend(worked.space, worked.found, RecordsOptions(m=worked.m, blend="centroid"))
    target = made.partition.labels.tolist()
    large = [item for item, rows in cells.items() if len(rows) > worked.m]
    wrong = moved = 0
    for rows in cells.values():
        for i in rows if len(rows) <= worked.m else ():
            cost = {host: worked.away(worked.before[i], host) for host in large}
            host = worked.labels[next(j for j in range(len(target)) if target[j] == target[i] and
                                      worked.labels[j] in large)]  # fmt: skip
            wrong += cost[host] > min(cost.values()) + 1e-9
            moved += 1
    yield 4, wrong, moved


def _blended(worked: Worked, seed: int) -> Iterator[Counted]:
    """Check equations 5 to 8: which values change, and their new values."""
    wrong: Counter[int] = Counter()
    tried: Counter[int] = Counter()
    cells = worked.members(worked.labels)
    for number, way in WAYS.items():
        options = RecordsOptions(m=worked.m, blend=way, bound=5.0)
        made = blend(worked.space, worked.found, options, Context(seed=seed))
        after, target = worked.rows(made.codes), made.partition.labels.tolist()
        for i, row in enumerate(after):
            small = len(cells[worked.labels[i]]) <= worked.m
            host = next(
                worked.labels[j] for j in range(len(target))
                if target[j] == target[i] and len(cells[worked.labels[j]]) > worked.m
            )  # fmt: skip
            for k, value in enumerate(row):
                centre = worked.centres[host][k]
                old, radius = worked.before[i][k], worked.radius(host, k)
                outside = small and APART[k](old, centre) > radius
                tried[5] += 1
                wrong[5] += value != old and not outside
                if outside:
                    tried[number] += 1
                    wrong[number] += not {
                        6: APART[k](value, centre) <= radius,
                        7: value == centre,
                        8: value in {worked.before[j][k] for j in cells[host]},
                    }[number]
    for number in (5, 6, 7, 8):
        yield number, wrong[number], tried[number]


def _stirred(worked: Worked, seed: int) -> Iterator[Counted]:
    """Check equations 9 and 10: every member has the centroid's age; distances to the centroid stay equal."""
    flat = worked.rows(flatten(worked.space.codes, worked.found, [1]))
    yield (
        9,
        sum(row[1] != worked.centres[item][1] for row, item in zip(flat, worked.labels, strict=True)),
        len(flat),
    )
    options = RecordsOptions(m=worked.m, bound=0.1)
    made = shuffle(worked.space, worked.space.codes, worked.found, [0, 1, 2], options, Context(seed=seed))
    after = worked.rows(made.codes)
    wrong = 0
    for entry, rows in worked.members(worked.labels).items():
        same = all(
            Counter(after[i][k] for i in rows) == Counter(worked.before[i][k] for i in rows) for k in range(3)
        )
        before, now = ([worked.away(table[i], entry) for i in rows] for table in (worked.before, after))
        wrong += not same or kl(before, now) > options.bound + 1e-9
    yield 10, wrong, len(set(worked.labels))


def kl(before: list[float], after: list[float]) -> float:
    """Return the divergence of two lists of distances, in nats, over bins of about equal counts of the first.

    The number of bins is the square root of the number of distances, 2 to 16. A border is halfway between
    two distances, and equal distances share a bin.
    """
    ordered = sorted(before)
    bins = min(max(round(math.sqrt(len(ordered))), 2), 16)
    tiny = 1e-9 * max(ordered[-1], 1e-300)
    borders = set()
    for number in range(1, bins):
        lower = ordered[number * len(ordered) // bins - 1]
        above = [value for value in ordered if value > lower + tiny]
        if above:
            below = max(value for value in ordered if value < min(above) - tiny)
            borders.add((below + min(above)) / 2)
    cuts = sorted(borders)
    counts = [Counter(sum(value > cut for cut in cuts) for value in values) for values in (before, after)]
    n = len(before)
    return sum(
        count / n * math.log(count / counts[1][place]) if counts[1][place] else math.inf
        for place, count in counts[0].items()
    )
