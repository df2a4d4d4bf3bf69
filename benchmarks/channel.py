"""Seconds and proven gap of the privacy-distortion solvers, on the paper's normal law and on random ones."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter, process_time
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from benchmarks.memory import peak_mebibytes
from voronym.channel import privacy_distortion


class Channels(Benchmark):
    """Each solver on the same problem; the tolerance asked for is 1e-6 of the cost."""

    name = "channel"
    title = "D + λ R, ρ = 0.95 on a grid over [-3, 3], or a random law; gap as a share of the cost"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "letters": "letters",
        "multiplier": "λ",
        "method": "method",
        "cost": "cost",
        "gap": "proven gap",
        "iterations": "steps",
        "cpu": "CPU, s",
        "seconds": "s",
        "memory": "peak, MiB",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the three multipliers of the paper on its grid, then finer grids, then a random law."""
        for multiplier in (0.72, 1.22, 1.72):
            for method in ("interior", "mirror", "steepest"):
                yield {"data": "normal", "letters": 31, "multiplier": multiplier, "method": method}
        for letters in (51,) if quick else (51, 100, 200, 400):
            for method in ("interior",) if quick or letters == 400 else ("interior", "mirror"):
                yield {"data": "normal", "letters": letters, "multiplier": 1.22, "method": method}
        for letters in (50,) if quick else (200, 400):
            yield {"data": "random", "letters": letters, "multiplier": 0.2, "method": "interior"}

    @staticmethod
    def measure(*, data: str, letters: int, multiplier: float, method: str) -> Row:
        """Solve once."""
        p, d = normal(letters) if data == "normal" else random(letters)
        clock, cpu = perf_counter(), process_time()
        channel = privacy_distortion(p, d, multiplier=multiplier, method=method)
        return {
            "cost": channel.cost,
            "gap": channel.gap / channel.cost,
            "distortion": channel.distortion,
            "risk": channel.risk,
            "iterations": channel.iterations,
            "cpu": process_time() - cpu,
            "seconds": perf_counter() - clock,
            "memory": peak_mebibytes(),
        }


def normal(points: int, rho: float = 0.95) -> tuple[Any, Any]:
    """Return the joint law of the paper on a grid, and squared differences."""
    x = np.linspace(-3.0, 3.0, points)
    W, X = np.meshgrid(x, x, indexing="ij")
    p = np.exp(-(W**2 - 2 * rho * W * X + X**2) / (2 * (1 - rho**2)))
    return p / p.sum(), np.square(x[:, None] - x)


def random(letters: int) -> tuple[Any, Any]:
    """Return a random joint law and distances of random points in the plane."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(letters * letters, 0.2)).reshape(letters, letters)
    points = rng.random((letters, 2))
    return p, np.square(points[:, None] - points).sum(axis=2)
