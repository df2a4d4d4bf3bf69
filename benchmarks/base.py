"""What a benchmark is: cases, each measured in a process of its own, and a table of rows."""

from __future__ import annotations

import json
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.console import Console
from rich.table import Table

Case = dict[str, Any]
Row = dict[str, Any]


class Benchmark(ABC):
    """A named set of cases and the columns to show for them.

    A subclass says which cases there are (`cases`) and what one of them measures (`measure`, which runs in a
    fresh process: peak memory is the case's own, and no case warms up another).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    columns: ClassVar[dict[str, str]]  # key of a row -> heading
    registry: ClassVar[dict[str, type[Benchmark]]] = {}

    def __init_subclass__(cls, *, alone: bool = False) -> None:
        """Register a benchmark; its module does nothing by itself unless it says ``alone=True``."""
        if cls.__module__ == "__main__" and not alone:
            raise SystemExit(f"this module does nothing by itself: run python -m benchmarks {cls.name}")
        Benchmark.registry[cls.name] = cls

    @abstractmethod
    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return what to measure; fewer and smaller cases where it should be quick."""

    @staticmethod
    @abstractmethod
    def measure(**case: Any) -> Row:
        """Measure one case; called in a process of its own."""

    def rows(self, results: list[Row]) -> list[Row]:
        """Make the rows of the table from the results of the cases."""
        return results

    def run(self, *, quick: bool, as_json: bool, only: str = "") -> list[Row]:
        """Measure every case, or those with a text in a value, and print the table, or JSON."""
        console = Console(stderr=as_json)
        results = []
        for case in self.cases(quick=quick):
            if not any(only in str(value) for value in case.values()):
                continue
            with console.status(", ".join(f"{key}={value}" for key, value in case.items())):
                results.append(case | self.measure_apart(case))
            # A long run that is interrupted leaves what it has found so far.
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
        rows = self.rows(results)
        if as_json:
            print(json.dumps({"benchmark": self.name, "rows": rows}, indent=1))
        else:
            Console(width=None if console.is_terminal else 140).print(self.table(rows))
        return rows

    def measure_apart(self, case: Case) -> Row:
        """Measure a case in a fresh process."""
        command = [sys.executable, "-m", "benchmarks", self.name, "--case", json.dumps(case)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result: Row = json.loads(done.stdout.splitlines()[-1])
        return result

    def table(self, rows: list[Row]) -> Table:
        """Return the rows as a table to print."""
        table = Table(title=self.title)
        for key, heading in self.columns.items():
            table.add_column(heading, justify="left" if key in ("method", "data") else "right")
        for row in rows:
            table.add_row(*(_show(row.get(key)) for key in self.columns))
        return table


def _show(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
