"""Quantizers with cells of equal size: ours against k-means-constrained, from the same centroids, in one run.

k-means-constrained solves every assignment as a min-cost flow; it takes up to ten minutes a case. ``--quick``
takes a few thousand points.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable
from time import perf_counter, process_time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.base import Benchmark, Case, Row
from benchmarks.memory import peak_mebibytes
from voronym import datasets
from voronym.partition import Partition
from voronym.partitioners import microaggregate
from voronym.partitioners.loss import information_loss, standardize

ADULT = ["age", "education-num", "hours-per-week"]
OURS, THEIRS, COOLED = "pcl", "k-means-constrained", "pcl, cooled"
# data, n, cells; the last flag: with the baseline
GAUSSIAN = ((65_536, 16, True), (65_536, 64, True), (1_000_000, 100, False))
QUICK = ((2048, 16, True), (2048, 64, True), (20_000, 100, False))
# The 2011 paper: tables 1 and 2, k -> seconds it took for one start, distortion in percent
CENSUS = {5: (975, 7.96), 10: (533, 12.2), 25: (336, 18.2), 50: (82, 24.7), 75: (37, 29.0), 100: (16, 33.1)}


class Quantize(Benchmark):
    """PCL from MDAV's centroids, equal sizes; the baseline from the same centroids."""

    name = "quantize"
    title = "Equal cells: information loss in percent and seconds of one design, without the start"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "n": "n",
        "k": "k",
        "cells": "cells",
        "method": "method",
        "start": "loss of the start",
        "loss": "loss",
        "published": "published",
        "seconds": "s",
        "published_seconds": "s, published",
        "ratio": "times faster",
        "no_worse": "loss no higher",
        "same_seconds": "s to its loss",
        "same_ratio": "times faster",
        "exact": "sizes exact",
        "rounds": "rounds",
        "memory": "MiB",
    }

    def __init__(self) -> None:
        self.reached: dict[tuple[str, int, int], float] = {}

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the Gaussian clouds, Adult, and the Census designs."""
        baseline = importlib.util.find_spec("k_means_constrained") is not None
        for n, cells, compared in QUICK if quick else GAUSSIAN:
            if compared and baseline:  # first, as ours is also timed up to its loss
                yield {"data": "gaussian", "n": n, "k": n // cells, "method": THEIRS}
            yield {"data": "gaussian", "n": n, "k": n // cells, "method": OURS}
        if not datasets.available():
            return
        if not quick:
            if baseline:
                yield {"data": "adult", "n": 48_842, "k": 500, "method": THEIRS}
            yield {"data": "adult", "n": 48_842, "k": 500, "method": OURS}
        for k in (25, 100) if quick else CENSUS:
            for method in (OURS, COOLED):
                yield {"data": "census", "n": 1080, "k": k, "method": method}

    def measure_apart(self, case: Case) -> Row:
        """Measure a case; tell ours what loss the baseline reached."""
        key = (case["data"], case["n"], case["k"])
        known = {"target": self.reached[key]} if case["method"] == OURS and key in self.reached else {}
        row = super().measure_apart(case | known)
        if case["method"] == THEIRS:
            self.reached[key] = row["loss"]
        return row

    @staticmethod
    def measure(*, data: str, n: int, k: int, method: str, target: float | None = None) -> Row:
        """Design once, and once more up to the loss ``target``; a small call beforehand compiles."""
        run = {OURS: ours, THEIRS: theirs, COOLED: cooled}[method]
        run(datasets.gaussian(200, 2), microaggregate(datasets.gaussian(200, 2), 20, method="mdav"))
        X = points(data, n)
        start = microaggregate(X, k, method="mdav")
        wanted = start.sizes if method == COOLED else equal(n, start.n_cells)
        clock, cpu = perf_counter(), process_time()
        part, losses = run(X, start)
        row: dict[str, Any] = {
            "cells": part.n_cells,
            "seconds": perf_counter() - clock,
            "cpu": process_time() - cpu,
            "loss": information_loss(X, part),
            "start": information_loss(X, start),
            "exact": bool(np.array_equal(np.sort(part.sizes), np.sort(wanted))),
            "rounds": len(losses),
            "memory": peak_mebibytes(),
        }
        enough = [i + 1 for i, loss in enumerate(losses) if target is not None and loss <= target]
        if enough:
            clock = perf_counter()
            short, _ = ours(X, start, iterations=enough[0])
            row["same_seconds"] = perf_counter() - clock
            row["same_loss"] = information_loss(X, short)
        if data == "census":
            row["published_seconds"], row["published"] = CENSUS[k]
        return row

    def rows(self, results: list[Row]) -> list[Row]:
        """Put the ratio of both beside ours."""
        base = {(r["data"], r["n"], r["k"]): r for r in results if r["method"] == THEIRS}
        for row in results:
            other = base.get((row["data"], row["n"], row["k"]))
            if row["method"] == OURS and other is not None:
                row["ratio"] = other["seconds"] / row["seconds"]
                if "same_seconds" in row:
                    row["same_ratio"] = other["seconds"] / row["same_seconds"]
                row["no_worse"] = row["loss"] <= other["loss"] * (1 + 1e-6)
        return results


def points(data: str, n: int) -> NDArray[np.float64]:
    """Return the data of a case."""
    if data == "gaussian":
        return datasets.gaussian(n, 2)
    frame = getattr(datasets, data)()
    return standardize((frame.select(ADULT) if data == "adult" else frame).to_numpy())


def equal(n: int, cells: int) -> NDArray[np.int64]:
    """Return sizes that differ by one at most."""
    return np.full(cells, n // cells) + (np.arange(cells) < n % cells)


def ours(X: NDArray[np.float64], start: Partition, *, iterations: int = 300) -> tuple[Partition, list[float]]:
    """Run PCL from the centroids of a partition, with equal sizes; return the loss after each round, too."""
    from voronym.quantize.pcl import pcl

    sizes = equal(len(X), start.n_cells)
    made = pcl(X, sizes=sizes, init=start.centroids(X), iterations=iterations)
    total = float(X.var(axis=0).sum())
    return made.partition, [100 * distortion / total for distortion in made.distortions]


def cooled(X: NDArray[np.float64], start: Partition) -> tuple[Partition, list[float]]:
    """Run PCL from the same centroids several times, cooled, as it is by default for small tables."""
    from voronym.quantize.pcl import pcl

    sizes = equal(len(X), start.n_cells)
    made = pcl(X, sizes=sizes, init=start.centroids(X), restarts=8, cooling=50)
    total = float(X.var(axis=0).sum())
    return made.partition, [100 * distortion / total for distortion in made.distortions]


def theirs(X: NDArray[np.float64], start: Partition) -> tuple[Partition, list[float]]:
    """Run k-means-constrained likewise; it tells how many rounds it took, not what they lost."""
    from k_means_constrained import KMeansConstrained

    n, cells = len(X), start.n_cells
    least, most = n // cells, -(-n // cells)
    model = KMeansConstrained(cells, size_min=least, size_max=most, init=start.centroids(X), n_init=1)
    model.fit(X)
    return Partition(np.asarray(model.labels_, np.int64)), [math.nan] * int(model.n_iter_)
