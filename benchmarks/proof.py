"""Loss reached in a minute and in five, and what is proven about it, beside the published figures.

A minute of annealing and five of ``auto`` for each of nine cases: an hour in all. ``--quick`` takes a tenth.
One case, and ``auto`` alone: ``--case '{"data": "census", "k": 10, "minute": 0, "five": 300}'``.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets
from voronym.certify import lower_bound
from voronym.core.context import Context
from voronym.methods.auto import solve
from voronym.partitioners import microaggregate
from voronym.partitioners.loss import information_loss, standardize
from voronym.problem import Problem
from voronym.refiners import refine

# The ICSM paper of 2015: one run from MDAV (its table 2), the best of 1600 restarts (its table 4)
PUBLISHED = {
    ("census", 3): (4.85, 4.75),
    ("census", 5): (7.78, 7.50),
    ("census", 10): (11.93, 11.74),
    ("tarragona", 3): (14.81, 14.54),
    ("tarragona", 5): (20.69, 20.25),
    ("tarragona", 10): (30.70, 30.34),
    ("eia", 3): (0.36, 0.35),
    ("eia", 5): (0.78, 0.74),
    ("eia", 10): (2.24, 1.95),
}
LARGE = "gaussian 100,000 x 10"


class Proof(Benchmark):
    """Annealing and auto on the reference data, with certificates; annealing on a large Gaussian table."""

    name = "proof"
    title = "Information loss, percent, and the proven gap"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "k": "k",
        "mdav": "MDAV",
        "icsm_published": "ICSM, published",
        "icsm": "ICSM, ours",
        "icsm_seconds": "s",
        "restarts_published": "1600 restarts, published",
        "anneal": "anneal",
        "anneal_seconds": "s",
        "auto": "auto",
        "auto_seconds": "s",
        "bound": "bound",
        "gap": "gap, %",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the nine cases and the large table."""
        if not datasets.available():
            raise SystemExit(
                "set VORONYM_DATA to the folder that holds the reference files, such as census.csv"
            )
        share = 0.1 if quick else 1.0
        for data, k in PUBLISHED:
            yield {"data": data, "k": k, "minute": 60 * share, "five": 300 * share}
        yield {"data": LARGE, "k": 10, "minute": 60 * share, "five": 0}

    @staticmethod
    def measure(*, data: str, k: int, minute: float, five: float) -> Row:
        """Run the methods on one table; a call beforehand compiles."""
        small = datasets.gaussian(200, 3)
        for method in ("icsm", "anneal"):
            microaggregate(small, 3, method=method)
        lower_bound(small[:60], 3, kind="columns", time_limit=5)
        if data == LARGE:
            X = datasets.gaussian(100_000, 10)
        else:
            X = standardize(getattr(datasets, data)().to_numpy())
        start = microaggregate(X, k, method="mdav")
        row: dict[str, Any] = {"mdav": information_loss(X, start)}
        if minute:
            clock = perf_counter()
            row["anneal"] = information_loss(X, refine(X, start, method="anneal", time_limit=minute))
            row["anneal_seconds"] = perf_counter() - clock
        if data == LARGE:
            return row
        row["icsm_published"], row["restarts_published"] = PUBLISHED[data, k]
        if minute:
            clock = perf_counter()
            row["icsm"] = information_loss(X, refine(X, start, method="icsm"))
            row["icsm_seconds"] = perf_counter() - clock
        clock = perf_counter()
        part, bound = solve(Problem.of(X, k), Context(time_limit=five))
        row["auto_seconds"] = perf_counter() - clock
        row["auto"] = information_loss(X, part)
        if bound is None:
            bound = lower_bound(X, k, kind="neighbours")
        return row | {"bound": bound.information_loss, "gap": bound.gap(part.sse(X)), "kind": bound.kind}
