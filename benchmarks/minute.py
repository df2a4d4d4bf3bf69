"""The first minute: what `auto` loses and proves by default, in an earlier checkout and in this one.

``VORONYM_BEFORE`` names a checkout of an earlier commit (``git worktree add PATH COMMIT``); without it this
checkout is measured alone. Both make the release of the same file in a process of their own under this
interpreter, one after the other, after a run that compiles. Seconds are those of the clock for the release
and for the gap that it shows; and processor seconds of both together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets

HERE = Path(__file__).parents[1]
PATIENTS = ("age", "sex", "zip", "nationality", "admitted", "weight")
ADULT = ("age", "workclass", "education-num", "marital-status", "race", "sex", "hours-per-week")
CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import polars as pl
import voronym as vr
table, k = pl.read_parquet(sys.argv[2]), int(sys.argv[3])
keys = table.columns
vr.anonymize(table.head(100), keys=keys, k=k).gap
begun, processor = time.perf_counter(), time.process_time()
release = vr.anonymize(table, keys=keys, k=k)
seconds = time.perf_counter() - begun
gap = release.gap
print(json.dumps({
    "loss": release.information_loss, "gap": gap, "seconds": seconds,
    "proof": time.perf_counter() - begun - seconds, "processor": time.process_time() - processor,
}))
"""


def table_of(data: str) -> Any:
    """Return a table of keys alone."""
    if data.startswith("patients"):
        return datasets.hospital(1000).select(PATIENTS[: int(data[-1])])
    if data == "adult":
        return datasets.adult().sample(3000, seed=1).select(ADULT)
    return getattr(datasets, data)()


def released(checkout: Path, file: Path, k: int) -> Row:
    """Make a release in a checkout, and say what it loses, proves and takes."""
    command = [sys.executable, "-c", CHILD, str(checkout / "src"), str(file), str(k)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=checkout)
    result: Row = json.loads(done.stdout.splitlines()[-1])
    return result


class Minute(Benchmark):
    """`auto` without a time limit on small tables."""

    name = "minute"
    title = "auto by default: published loss, percent, and the gap that is shown"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "k": "k",
        "before_loss": "before: loss",
        "before_gap": "gap, %",
        "before_seconds": "s",
        "before_proof": "proof, s",
        "before_processor": "processor s",
        "loss": "now: loss",
        "gap": "gap, %",
        "seconds": "s",
        "proof": "proof, s",
        "processor": "processor s",
        "less": "less loss, %",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return tables and k."""
        names = ["patients4", "patients6"]
        if not quick and datasets.available():
            names += ["adult", "census", "tarragona", "eia"]
        for data in names:
            for k in (5,) if quick else (3, 5, 10):
                yield {"data": data, "k": k}

    @staticmethod
    def measure(*, data: str, k: int) -> Row:
        """Make the release in both checkouts."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "table.parquet"
            table_of(data).write_parquet(file)
            row = released(HERE, file, k)
            if earlier := os.environ.get("VORONYM_BEFORE"):
                before = released(Path(earlier).resolve(), file, k)
                row |= {f"before_{name}": value for name, value in before.items()}
                row["less"] = 100.0 * (1.0 - row["loss"] / before["loss"]) if before["loss"] else 0.0
        return row
