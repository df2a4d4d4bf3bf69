"""Peak memory of this process; and a release of a large file with its report, as the command makes it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from benchmarks.base import Benchmark, Case, Row
from benchmarks.baseline import people


def peak_mebibytes() -> float:
    """Return the most memory this process has had.

    From /proc where there is one: getrusage counts the process that started this one, too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024


class Memory(Benchmark):
    """Seconds, memory and loss of `voronym anonymize FILE --report`, by size, beside MDAV."""

    name = "memory"
    title = "a CSV of 3 numbers and 2 categories as keys, k = 5, with report"
    columns: ClassVar[dict[str, str]] = {
        "method": "method",
        "rows": "rows",
        "seconds": "s",
        "processor": "processor s",
        "peak": "peak, MiB",
        "loss": "loss, %",
        "seconds_a_row": "processor s a row, against the size before",
        "less": "less loss than MDAV, %",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return sizes, each with MDAV and with the default."""
        for rows in (2_000, 20_000) if quick else (150_000, 1_000_000):
            for method in ("mdav", "auto"):
                yield {"method": method, "rows": rows}

    @staticmethod
    def measure(*, method: str, rows: int) -> Row:
        """Run the command in a process of its own, and ask the system what it took."""
        with tempfile.TemporaryDirectory() as name:
            table = people(rows)
            table.write_csv(Path(name) / "people.csv")
            keys = ",".join(table.columns[:5])
            words = ["anonymize", "people.csv", "-o", "release.csv", "--key", keys, "--confidential", "ill"]
            words += ["-k", "5", "--method", method, "--report", "report.html", "--json"]
            begun = time.perf_counter()
            command = [sys.executable, "-m", "voronym", *words]
            done = subprocess.run(command, cwd=name, check=True, stdout=subprocess.PIPE, text=True)
            seconds, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "seconds": seconds,
            "processor": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024),
            "loss": json.loads(done.stdout)["public"]["information_loss"],
        }

    def rows(self, results: list[Row]) -> list[Row]:
        """Put each size beside the one before, and the default beside MDAV."""
        before: dict[str, Row] = {}
        baseline: Row = {}
        for row in results:
            last = before.get(row["method"])
            if last is not None:
                row["seconds_a_row"] = (row["processor"] / row["rows"]) / (last["processor"] / last["rows"])
            before[row["method"]] = row
            if row["method"] == "mdav":
                baseline = row
            elif baseline.get("rows") == row["rows"]:
                row["less"] = 100.0 * (1.0 - row["loss"] / baseline["loss"])
        return results
