"""What t-closeness costs on Adult, by the way it is enforced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import process_time
from typing import Any, ClassVar

from benchmarks.base import Benchmark, Case, Row
from benchmarks.loss import ADULT
from voronym import datasets
from voronym.core.context import Context
from voronym.partitioners import microaggregate
from voronym.partitioners.loss import information_loss, standardize
from voronym.privacy import TCloseness
from voronym.privacy.enforce import WAYS, enforce
from voronym.problem import Problem
from voronym.table.table import Table

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3)


class Enforce(Benchmark):
    """Adult: three keys, one confidential column; MDAV first, then each way of enforcing."""

    name = "enforce"
    title = "t-closeness on Adult: information loss, percent, and seconds of processor time"
    columns: ClassVar[dict[str, str]] = {
        "column": "confidential",
        "k": "k",
        "t": "t",
        "k_only": "k only, %",
        **{method: f"{method}, %" for method in WAYS},
        **{f"{method}_seconds": f"{method}, s" for method in WAYS},
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return all columns, k and thresholds; the loosest threshold alone where it should be quick."""
        if not datasets.available():
            raise SystemExit("set VORONYM_DATA to the folder that holds adult.csv")
        for column in ("income", "occupation"):
            for k in (50,) if quick else (5, 50):
                for t in THRESHOLDS[-1:] if quick else THRESHOLDS:
                    yield {"column": column, "k": k, "t": t}

    @staticmethod
    def measure(*, column: str, k: int, t: float) -> Row:
        """Enforce in every way; a call on few records beforehand compiles."""
        frame = datasets.adult()
        compile_kernels(frame.head(400), column)
        X = standardize(frame.select(ADULT).to_numpy())
        judges = TCloseness(t).judges(table(frame, column))
        part = microaggregate(X, k, method="mdav")
        row: dict[str, Any] = {"k_only": information_loss(X, part)}
        for method in WAYS:
            start = process_time()
            done = enforce(problem(X, k, judges), part, Context(), way=method)
            row[f"{method}_seconds"] = process_time() - start
            row[method] = information_loss(X, done.partition)
            row[f"{method}_cells"] = done.partition.n_cells
        return row


def compile_kernels(frame: Any, column: str) -> None:
    """Run every method once on a small table."""
    X = standardize(frame.select(ADULT).to_numpy())
    judges = TCloseness(0.2).judges(table(frame, column))
    part = microaggregate(X, 5, method="mdav")
    for method in WAYS:
        enforce(problem(X, 5, judges), part, Context(), way=method)


def table(frame: Any, column: str) -> Table:
    """Return Adult with a single confidential column."""
    return Table.build(frame, keys=ADULT, confidential=[column], drop_undeclared=True)


def problem(X: Any, k: int, judges: Sequence[Any]) -> Problem:
    """Return the problem of dividing records into groups that the judges accept."""
    return Problem(Problem.of(X, k).records, k, judges)
