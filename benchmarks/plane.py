"""What noisy PCL gains on MDAV in the plane, beside our best search: how near it is to what can be gained."""

from __future__ import annotations

from collections.abc import Iterable
from time import process_time
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from voronym.papers.pcl.plane import NOISY, draw
from voronym.papers.pcl.published import FIGURE_15_TYPICAL, FIGURE_17_TYPICAL
from voronym.partitioners import microaggregate

TYPICAL = {"uniform": FIGURE_15_TYPICAL, "Gaussian": FIGURE_17_TYPICAL}
CLOUDS = {"uniform": "common", "Gaussian": "cell"}
"""Clouds as wide as the cell where points are sparse in one place and dense in another."""


class Plane(Benchmark):
    """Uniform and Gaussian points in small groups: means over draws, as the paper's one draw has no seed."""

    name = "plane"
    title = "change of the distortion against MDAV, %, mean and deviation over draws; seconds of a draw"
    columns: ClassVar[dict[str, str]] = {
        "points": "points",
        "n": "n",
        "k": "k",
        "draws": "draws",
        "published": "published, typical",
        "noisy": "noisy PCL",
        "deviation": "±",
        "search": "anneal",
        "search_deviation": "±",
        "cpu": "CPU, s",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return both laws at k = 2 and 3; small groups of 250 points where it shall be quick."""
        for points in TYPICAL:
            for k in (3,) if quick else (3, 2):
                yield {"points": points, "n": 250 if quick else 1000, "k": k, "draws": 2 if quick else 12}

    @staticmethod
    def measure(*, points: str, n: int, k: int, draws: int) -> Row:
        """Group each draw by MDAV, noisy PCL and `anneal`."""
        own = NOISY | {"covariance": CLOUDS[points]}
        gains = np.empty((draws, 2))
        before = process_time()
        for seed in range(draws):
            X = draw(points, n, [99, seed])
            start = microaggregate(X, k, method="mdav").sse(X)
            tries: list[tuple[str, dict[str, Any]]] = [("noisy-pcl", own), ("anneal", {})]
            for column, (method, options) in enumerate(tries):
                found = microaggregate(X, k, method=method, seed=0, **options).sse(X)
                gains[seed, column] = 100.0 * (found / start - 1.0)
        mean, deviation = gains.mean(axis=0), gains.std(axis=0, ddof=1)
        return {
            "published": TYPICAL[points],
            "noisy": float(mean[0]),
            "deviation": float(deviation[0]),
            "search": float(mean[1]),
            "search_deviation": float(deviation[1]),
            "cpu": (process_time() - before) / draws,
        }
