"""Seconds and peak memory on Gaussian records, fast path against plain loops."""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from benchmarks.memory import peak_mebibytes
from voronym import datasets
from voronym.core.context import Context
from voronym.problem import Problem

# method, records, columns, with the plain loops too
CASES = [
    ("mdav", 100_000, 3, True),
    ("mdav", 1_000_000, 3, False),
    ("mdav", 100_000, 10, True),
    ("mdav", 1_000_000, 10, False),
    ("vmdav", 20_000, 3, True),
    ("vmdav", 200_000, 3, False),
    ("md", 2_500, 3, True),
    ("md", 25_000, 3, False),
    ("univariate", 100_000, 1, False),
    ("univariate", 1_000_000, 1, False),
]


class Speed(Benchmark):
    """Time, memory and growth; the plain loops run in the same run where they finish in a minute or so."""

    name = "speed"
    title = "k = 10, Gaussian records; kernels compiled beforehand"
    columns: ClassVar[dict[str, str]] = {
        "method": "method",
        "n": "n",
        "d": "d",
        "seconds": "fast, s",
        "plain": "plain, s",
        "ratio": "ratio",
        "same": "same cells",
        "memory": "peak, MiB",
        "added": "on top of data, MiB",
        "data_memory": "data, MiB",
        "exponent": "growth exponent",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the fast path of every case, and the plain loops of those that have them."""
        for method, n, d, plain in CASES:
            size = n // 10 if quick else n
            for path in ("fast", "plain") if plain else ("fast",):
                yield {"method": method, "n": size, "d": d, "k": 10, "path": path}

    @staticmethod
    def measure(*, method: str, n: int, d: int, k: int, path: str) -> Row:
        """Compile on a few records, then time: the best of three where that is short."""
        partition = _function(method, path)
        partition(datasets.gaussian(20 * k, d, seed=1), k)
        X = datasets.gaussian(n, d)
        before = peak_mebibytes()
        seconds = math.inf
        for _ in range(3):
            start = perf_counter()
            labels = partition(X, k)
            seconds = min(seconds, perf_counter() - start)
            if seconds > 2.0:
                break
        return {
            "seconds": seconds,
            "memory": peak_mebibytes(),
            "added": peak_mebibytes() - before,
            "data_memory": X.nbytes / 2**20,
            "cells": hashlib.sha256(labels.tobytes()).hexdigest(),
        }

    def rows(self, results: list[Row]) -> list[Row]:
        """Put plain beside fast, and each size beside the one before."""
        plain = {(r["method"], r["n"], r["d"]): r for r in results if r["path"] == "plain"}
        earlier: dict[tuple[str, int], Row] = {}
        rows = []
        for result in results:
            if result["path"] == "plain":
                continue
            row = {
                key: result[key]
                for key in ("method", "n", "d", "k", "seconds", "memory", "added", "data_memory")
            }
            if slow := plain.get((row["method"], row["n"], row["d"])):
                row["plain"] = slow["seconds"]
                row["ratio"] = slow["seconds"] / row["seconds"]
                row["same"] = slow["cells"] == result["cells"]
            if last := earlier.get((row["method"], row["d"])):
                row["exponent"] = math.log(row["seconds"] / last["seconds"]) / math.log(row["n"] / last["n"])
            earlier[row["method"], row["d"]] = row
            rows.append(row)
        return rows


def _function(method: str, path: str) -> Any:
    """Return ``(X, k) -> labels`` for a path of a method."""
    if method == "univariate":
        front = importlib.import_module("voronym.partitioners.front")
        return lambda X, k: front.microaggregate(X, k, method="univariate").labels
    module = importlib.import_module(f"voronym.partitioners.{method}")
    function = getattr(module, f"partition_{path}")
    more = (0.2,) if method == "vmdav" else ()
    return lambda X, k: np.asarray(function(Problem.of(X, k).records, k, *more, Context()))
