"""What noisy PCL gains on MDAV in the plane, beside our best search: how near it is to what can be gained."""

from __future__ import annotations

from collections.abc import Iterable
from time import process_time
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from voronym.certify import lower_bound
from voronym.papers.pcl.plane import NOISY, draw
from voronym.papers.pcl.published import FIGURE_15_TYPICAL, FIGURE_17_TYPICAL
from voronym.partitioners import microaggregate

TYPICAL = {"uniform": FIGURE_15_TYPICAL, "Gaussian": FIGURE_17_TYPICAL}
DESIGNS = {2: 250, 3: 100}
"""Exact designs after the clouds, by k: pairs can be arranged in the most ways."""
PROOF = 5.0
"""Seconds for the bound of a draw."""


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
        "proven": "no groups below",
        "cpu": "CPU, s",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return both laws at k = 2 and 3; small groups of 250 points where it shall be quick."""
        for points in TYPICAL:
            for k in (3,) if quick else (3, 2):
                yield {"points": points, "n": 250 if quick else 1000, "k": k, "draws": 2 if quick else 12}

    @staticmethod
    def measure(*, points: str, n: int, k: int, draws: int) -> Row:
        """Group each draw by MDAV, noisy PCL and `anneal`, and prove what no groups can gain."""
        # Clouds as wide as the cell where points are sparse in one place and dense in another. Two have
        # hardly a covariance: pairs that lie far apart once get wider and wider clouds.
        by = "cell" if points == "Gaussian" and k > 2 else "common"
        own = NOISY | {"covariance": by, "iterations": 40, "designs": DESIGNS[k]}
        gains = np.empty((draws, 3))
        before = process_time()
        for seed in range(draws):
            X = draw(points, n, [99, seed])
            start = microaggregate(X, k, method="mdav").sse(X)
            tries: list[tuple[str, dict[str, Any]]] = [("noisy-pcl", own), ("anneal", {})]
            for column, (method, options) in enumerate(tries):
                found = microaggregate(X, k, method=method, seed=0, **options).sse(X)
                gains[seed, column] = 100.0 * (found / start - 1.0)
            gains[seed, 2] = 100.0 * (lower_bound(X, k, time_limit=PROOF).sse / start - 1.0)
        mean, deviation = gains.mean(axis=0), gains.std(axis=0, ddof=1)
        return {
            "published": TYPICAL[points],
            "noisy": float(mean[0]),
            "deviation": float(deviation[0]),
            "search": float(mean[1]),
            "search_deviation": float(deviation[1]),
            "proven": float(mean[2]),
            "cpu": (process_time() - before) / draws,
        }
