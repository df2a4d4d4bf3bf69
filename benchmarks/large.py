"""Large tables: how far below MDAV's loss the pair search ends in a given time, and how long MDAV takes.

Each case runs in a process of its own, and so does MDAV, the yardstick: memory is the case's own. Losses and
sizes are computed from the labels, here, without the library. ``--only 1m`` runs the rows with "1m" in their
name; ``--quick`` takes a tenth of the records and of the time.
"""

from __future__ import annotations

import hashlib
import resource
from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets
from voronym.core.context import Context
from voronym.method import METHODS
from voronym.partitioners import microaggregate, standardize
from voronym.problem import Problem
from voronym.refiners.pairs import PairsOptions

SEED = 1
ROWS = {
    # name: table, records, columns, k, seconds (None: MDAV alone), wanted percent below MDAV (0: any)
    "gauss 100k x 10": ("gauss", 100_000, 10, 10, 60, 18.0),
    "gauss 1m x 10": ("gauss", 1_000_000, 10, 10, 300, 15.0),
    "gauss 1m x 10, a minute": ("gauss", 1_000_000, 10, 10, 60, 0.0),
    "gauss 1m x 10, ten seconds": ("gauss", 1_000_000, 10, 10, 10, None),
    "gauss 1m x 3": ("gauss", 1_000_000, 3, 10, 60, 18.0),
    "gauss 10m x 3": ("gauss", 10_000_000, 3, 10, 300, 0.0),
    "lognormal 100k x 10": ("lognormal", 100_000, 10, 10, 60, 14.0),
    "t3 100k x 10": ("t3", 100_000, 10, 10, 60, 14.0),
    "50 clusters 100k x 10": ("clusters", 100_000, 10, 10, 60, 14.0),
    "adult, k=5": ("adult", 48_842, 3, 5, 60, 30.0),
    "adult, k=50": ("adult", 48_842, 3, 50, 60, 30.0),
}


def table(kind: str, n: int, d: int) -> NDArray[np.float64]:
    """Return one of the tables."""
    rng = np.random.default_rng(SEED)
    if kind == "adult":
        return standardize(datasets.adult().select("age", "education-num", "hours-per-week").to_numpy())[:n]
    if kind == "clusters":
        middles = rng.normal(0.0, 5.0, (50, d))
        return middles[rng.integers(0, 50, n)] + rng.standard_normal((n, d))
    if kind == "t3":
        return rng.standard_t(3, (n, d))
    normal = rng.standard_normal((n, d))
    return np.exp(normal) if kind == "lognormal" else normal


def sum_of_squares(X: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[float, int, int]:
    """Return the sum of squares of a partition, its least and its largest group, by definition."""
    sizes, total = np.bincount(labels), 0.0
    for column in X.T:
        means = np.bincount(labels, weights=column) / sizes
        total += float(np.square(column - means[labels]).sum())
    return total, int(sizes.min()), int(sizes.max())


class Large(Benchmark):
    """The pair search against MDAV, with time, memory and sizes."""

    name = "large"
    title = "Large tables: percent below the loss of MDAV"
    columns: ClassVar[dict[str, str]] = {
        "data": "table",
        "k": "k",
        "limit": "limit, s",
        "seconds": "s",
        "memory": "GB",
        "below": "below MDAV, %",
        "wanted": "wanted",
        "sizes": "sizes",
        "repeats": "same on 1 and 2 threads",
        "mdav_seconds": "MDAV, s",
        "mdav_labels": "its labels",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return every row, for MDAV and for the search."""
        share = 0.1 if quick else 1.0
        for data, (kind, n, d, k, limit, _) in ROWS.items():
            if kind == "adult" and not datasets.available():
                continue
            common = {"data": data, "kind": kind, "n": int(n * share), "d": d, "k": k}
            yield common | {"method": "mdav", "limit": None}
            yield common | {"method": "pairs", "limit": limit * share}

    @staticmethod
    def measure(*, data: str, kind: str, n: int, d: int, k: int, method: str, limit: float | None) -> Row:  # noqa: ARG004
        """Run one method on one table; a call beforehand compiles."""
        microaggregate(datasets.gaussian(30_000, d), k, method="mdav")
        microaggregate(datasets.gaussian(2_000, d), k, method="pairs")
        X = table(kind, n, d)
        clock = perf_counter()
        labels = microaggregate(X, k, method=method, time_limit=limit).labels
        row: dict[str, Any] = {"seconds": perf_counter() - clock}
        row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        row["loss"], least, largest = sum_of_squares(X, labels)
        if least < k or largest > 2 * k - 1:
            raise AssertionError(f"groups of {least} to {largest} records, k={k}")
        row["sizes"] = f"{least}..{largest}"
        row["labels"] = hashlib.sha256(labels.astype(np.int32).tobytes()).hexdigest()[:8]
        if method == "pairs":
            few, some = Problem.of(X[:40_000], k), PairsOptions(sweeps=5)
            one, two = (METHODS[method].partition(few, Context(seed=3, threads=t), some) for t in (1, 2))
            row["repeats"] = bool((one.labels == two.labels).all())
        return row

    def rows(self, results: list[Row]) -> list[Row]:
        """Join the search with its yardstick."""
        yard = {row["data"]: row for row in results if row["method"] == "mdav"}
        joined = []
        for row in results:
            if row["method"] == "pairs":
                other = yard[row["data"]]
                below = 100.0 * (1.0 - row["loss"] / other["loss"])
                more = {"mdav_seconds": other["seconds"], "mdav_labels": other["labels"]}
                joined.append(row | {"below": below, "wanted": ROWS[row["data"]][-1]} | more)
        return joined
