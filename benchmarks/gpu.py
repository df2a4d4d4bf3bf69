"""MDAV and the search by pairs on a GPU: seconds from a NumPy array to labels, loss against MDAV.

Run as ``python benchmarks/gpu.py`` it needs NumPy and CuPy alone: the room for the GPU imports nothing else.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

K = 10
CASES = [
    ("normal", 100_000, 10, "mdav", None),
    ("normal", 1_000_000, 10, "mdav", None),
    ("normal", 1_000_000, 50, "mdav", None),
    ("normal", 10_000_000, 10, "mdav", None),
    ("normal", 1_000_000, 10, "pairs", 5.0),
    ("normal", 1_000_000, 10, "pairs", 15.0),
    ("normal", 1_000_000, 3, "pairs", 5.0),
    ("normal", 1_000_000, 50, "pairs", 10.0),
    ("normal", 10_000_000, 10, "pairs", 30.0),
    ("lognormal", 100_000, 10, "pairs", 2.0),
    ("t3", 100_000, 10, "pairs", 2.0),
    ("clusters", 100_000, 10, "pairs", 2.0),
]
"""Kind of table, records, columns, what runs, and the seconds it may take."""


def data(kind: str, n: int, d: int, seed: int = 1) -> np.ndarray:
    """Return a table of numbers."""
    rng = np.random.default_rng(seed)
    if kind == "t3":
        return rng.standard_t(3, (n, d))
    if kind == "clusters":
        return rng.normal(0, 5, (50, d))[rng.integers(0, 50, n)] + rng.standard_normal((n, d))
    X = rng.standard_normal((n, d))
    return np.exp(X) if kind == "lognormal" else X


def loss(X: np.ndarray, labels: np.ndarray) -> tuple[float, int, int]:
    """Return the loss in percent, and the least and the greatest size, from the labels alone."""
    sizes = np.bincount(labels)
    lost = there = 0.0
    for x in X.T:
        mean = np.bincount(labels, x) / sizes
        lost += float(np.square(x - mean[labels]).sum())
        there += float(np.square(x - x.mean()).sum())
    return 100.0 * lost / there, int(sizes.min()), int(sizes.max())


def measure(*, kind: str, n: int, d: int, work: str, limit: float | None) -> dict[str, Any]:
    """Run once on a small table, which compiles, and once on the whole."""
    from voronym._cuda import device, mdav, pairs
    from voronym.core.context import Context

    X = data(kind, n, d)
    mdav.partition(X[:4000].copy(), K, Context())
    start = perf_counter()
    labels = mdav.partition(X, K, Context())
    seconds, base = perf_counter() - start, loss(X, labels)
    found = base
    if work == "pairs":
        pairs.improve(X[:4000].copy(), K, Context(time_limit=0.2))
        start = perf_counter()
        labels = pairs.improve(X, K, Context(time_limit=limit))
        seconds, found = perf_counter() - start, loss(X, labels)
    return {
        "kind": kind, "n": n, "d": d, "work": work, "limit": limit, "seconds": seconds, "loss": found[0],
        "below": 100.0 * (1.0 - found[0] / base[0]), "sizes": f"{found[1]}..{found[2]}",
        "sound": found[1] >= K and found[2] < 2 * K, "gpu": device.name(),
    }  # fmt: skip


def _cases(*, quick: bool) -> Iterable[dict[str, Any]]:
    names = ("kind", "n", "d", "work", "limit")
    for case in CASES:
        one = dict(zip(names, case, strict=True))
        yield one | {"n": 20_000} if quick else one


if __name__ == "__main__":
    package = types.ModuleType("voronym")  # without its other rooms, which need more libraries
    package.__path__ = [str(Path(__file__).parent.parent / "src" / "voronym")]
    sys.modules["voronym"] = package
    for case in _cases(quick="--quick" in sys.argv):
        row = measure(**case)
        print(
            {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()},
            flush=True,
        )
else:
    from benchmarks.base import Benchmark

    class Gpu(Benchmark):
        """What one GPU does with tables of millions of records."""

        name = "gpu"
        title = "On a GPU, k=10: seconds from a NumPy array to labels, loss against MDAV's"
        columns: ClassVar[dict[str, str]] = {
            "gpu": "GPU", "kind": "table", "n": "n", "d": "d", "work": "work", "limit": "limit, s",
            "seconds": "seconds", "loss": "loss, %", "below": "below MDAV, %", "sizes": "sizes",
            "sound": "sound",
        }  # fmt: skip

        def cases(self, *, quick: bool) -> Iterable[dict[str, Any]]:
            """Return the cases."""
            return _cases(quick=quick)

        @staticmethod
        def measure(**case: Any) -> dict[str, Any]:
            """Measure one."""
            return measure(**case)
