"""Risk in the population: how far estimates from a sample are from the truth, and how long they take.

The population is known, so the truth is counted: Adult, where its file is there, and made-up people whose
columns depend on each other. Every figure is estimated from the sample alone.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import polars as pl

import voronym as vr
from benchmarks.base import Benchmark, Case, Row

ADULT = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
FRACTIONS = (0.02, 0.05, 0.2, 0.5)
CORRECT, AMONG, UNIQUE = "correct matches", "population uniques in the sample", "population uniques"


class Population(Benchmark):
    """Samples of a known population, and the time for 100,000 records of 10 columns."""

    name = "population"
    title = "Risk in the population: estimates from a sample beside what is counted in the population"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "fraction": "sample",
        "method": "figure",
        "true": "true",
        "estimate": "estimate",
        "error": "error, %",
        "inside": "in the interval",
        "warned": "warned",
        "seconds": "seconds",
        "memory": "peak, MB",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the samples, then what is timed."""
        n = 20_000 if quick else 500_000
        for data in ("made up", *(["adult"] if vr.datasets.available() and not quick else [])):
            for fraction in FRACTIONS[1:3] if quick else FRACTIONS:
                yield {"data": data, "fraction": fraction, "n": n}
        for what in ("suda, size 4", "population_risk"):
            yield {"data": "timed", "method": what, "n": 5_000 if quick else 100_000}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Estimate from one sample, or time one function."""
        if case["data"] == "timed":
            return _timed(case["method"], case["n"])
        people = people_of(case["data"], case["n"])
        rng = np.random.default_rng(1)
        chosen = np.flatnonzero(rng.random(len(people)) < case["fraction"])
        sample, keys = people[chosen.tolist()], people.columns
        true = vr.population_risk(sample, keys=keys, population=people)
        start = perf_counter()
        found = vr.population_risk(sample, keys=keys, sampling_fraction=case["fraction"])
        seconds = perf_counter() - start
        known = true.known or {}
        alone = int((people.group_by(keys).len()["len"] == 1).sum())
        one = found.matches
        doubt = "".join(note for note in found.notes if "take the greater" in note)
        rows = [_row(f"{CORRECT}, individual risk", true.matches.expected, one.expected, one.interval, doubt)]
        both = known["population_uniques"]
        rows += [
            _row(f"{AMONG}, {fit.model}", both, fit.population_uniques, fit.interval, fit.warning)
            for fit in found.columns
        ]
        for model in found.uniques:
            chosen_by = " (rule)" if model.model == found.rule else ""
            name = f"{UNIQUE}, {model.model}{chosen_by}"
            rows.append(_row(name, alone, model.uniques, model.interval, model.warning))
        return {"figures": rows, "seconds": seconds}

    def rows(self, results: list[Row]) -> list[Row]:
        """Return a row for each figure."""
        out: list[Row] = []
        for result in results:
            figures = result.pop("figures", None)
            out += [result] if figures is None else [result | figure for figure in figures]
        return out


def _row(
    name: str, true: float, estimate: float | None, interval: tuple[float, float] | None, warning: str
) -> Row:
    error = None if estimate is None or not true else 100 * (estimate / true - 1)
    inside = None if interval is None else bool(interval[0] <= true <= interval[1])
    return {
        "method": name, "true": true, "estimate": estimate, "error": error, "inside": inside,
        "warned": bool(warning),
    }  # fmt: skip


def _timed(what: str, n: int) -> Row:
    people = wide(n)
    call: Any = {
        "suda, size 4": lambda some: vr.suda(some, keys=some.columns, size=4, sampling_fraction=0.05),
        "population_risk": lambda some: vr.population_risk(some, keys=some.columns, sampling_fraction=0.05),
    }[what]
    call(people[:500])  # compiled beforehand
    start = perf_counter()
    call(people)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"method": f"{what}, {n:,} x {people.width}", "seconds": seconds, "memory": peak}


def people_of(data: str, n: int) -> pl.DataFrame:
    """Return a whole population, its keys only."""
    if data == "adult":
        people = vr.datasets.adult()
        names = {name.replace("_", "-").lower(): name for name in people.columns}
        return people.select([names[key] for key in ADULT if key in names])
    rng = np.random.default_rng(0)
    age = rng.integers(15, 95, n) // 5
    grade = np.clip(age // 4 + rng.integers(-1, 2, n), 0, 5)
    return pl.DataFrame(
        {
            "age": age, "grade": grade, "job": grade * 4 + rng.integers(0, 8, n),
            "region": rng.integers(0, 50, n), "sex": rng.integers(0, 2, n),
            "home": (age > 5) * 2 + rng.integers(0, 3, n),
        }
    )  # fmt: skip


def wide(n: int) -> pl.DataFrame:
    """Return a table of ten columns with two to some sixty levels."""
    rng = np.random.default_rng(0)
    return pl.DataFrame({f"c{i}": np.minimum(rng.geometric(1 / (2 + 2 * i), n), 60) for i in range(10)})
