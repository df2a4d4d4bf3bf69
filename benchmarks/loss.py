"""Information loss and seconds of every registered method on the reference data."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets
from voronym.method import METHODS, algorithms
from voronym.partitioners import microaggregate
from voronym.partitioners.loss import information_loss, standardize

DATA = ("census", "tarragona", "eia", "adult")
ADULT = ["age", "education-num", "hours-per-week"]
KS = (3, 5, 10)


class Loss(Benchmark):
    """Every method x data set x k; the univariate method on the first column alone."""

    name = "loss"
    title = "Information loss, percent: 100 SSE / SST on standardised columns"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "method": "method",
        "n": "n",
        "d": "d",
        **{f"loss_{k}": f"k={k}, %" for k in KS},
        **{f"seconds_{k}": f"k={k}, s" for k in KS},
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return all pairs of data set and method; without Adult where it should be quick."""
        if not datasets.available():
            raise SystemExit(
                "set VORONYM_DATA to the folder that holds the reference files, such as census.csv"
            )
        for data in DATA[: 3 if quick else 4]:
            for method in algorithms():
                yield {"data": data, "method": method}

    @staticmethod
    def measure(*, data: str, method: str) -> Row:
        """Run a method for each k; a call beforehand compiles."""
        frame = getattr(datasets, data)()
        X = standardize((frame.select(ADULT) if data == "adult" else frame).to_numpy())
        if METHODS[method].univariate:
            X = np.ascontiguousarray(X[:, :1])
        microaggregate(X, KS[-1], method=method)
        row: dict[str, Any] = {"n": len(X), "d": X.shape[1]}
        for k in KS:
            start = perf_counter()
            part = microaggregate(X, k, method=method)
            row[f"seconds_{k}"] = perf_counter() - start
            row[f"loss_{k}"] = information_loss(X, part)
        return row
