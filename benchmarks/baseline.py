"""The plain run of this checkout against another one, alternating: ``python -m benchmarks.baseline PATH``.

PATH is a checkout of an earlier commit (``git worktree add PATH COMMIT``). Both run in processes of their own
under this interpreter, first once each for caches and compiled kernels, then in turn. Processor seconds are
those of a run alone, with the workers that it started, without imports and data. ``--rows`` may be repeated;
from a million records on the table lies in files and goes over two workers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
FILES = 1_000_000
"""Records from which on a table lies in files."""
CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); from benchmarks.baseline import child; child(sys.argv[2:])"
)


def people(rows: int) -> Any:
    """Make up a table of people: three numbers, two categories and an illness."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    age = rng.integers(18, 95, rows)
    return pl.DataFrame({
        "age": age,
        "income": np.round(np.exp(rng.normal(10.0, 0.5, rows)) + 100.0 * age, 0),
        "height": np.round(rng.normal(170.0, 10.0, rows), 1),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)],
        "town": np.array(["a", "b", "c", "d", "e"])[rng.integers(0, 5, rows)],
        "ill": np.array(["no", "flu", "cold", "gout"])[rng.integers(0, 4, rows)],
    })  # fmt: skip


def data(rows: int, folder: Path) -> Path:
    """Write a made-up table of people, in one file or in eight."""
    frame = people(rows)
    target = folder / f"data-{rows}"
    target.mkdir(exist_ok=True)
    many = 8 if rows >= FILES else 1
    for part in range(many):
        frame[part::many].write_parquet(target / f"{part}.parquet")
    return target


def child(words: list[str]) -> None:
    """Make a release in this process, and print what it took."""
    source, scratch, rows = Path(words[0]), Path(words[1]), int(words[2])
    import polars as pl

    import voronym as vr

    asked: dict[str, Any] = {
        "keys": ["age", "income", "height", "sex", "town"],
        "confidential": ["ill"],
        "k": 5,
    }
    frame = None if rows >= FILES else pl.read_parquet(source / "0.parquet")
    if frame is not None:  # what is imported late is no part of the run
        vr.anonymize(frame.head(200), **asked)
    before, begun = _spent(), time.perf_counter()
    if frame is not None:
        loss = vr.anonymize(frame, **asked).information_loss
    elif hasattr(vr, "anonymize_files"):  # before there was one door
        loss = vr.anonymize_files(source, scratch, workers=2, overwrite=True, **asked).information_loss
    else:
        loss = vr.anonymize(source, output=scratch, workers=2, overwrite=True, **asked).information_loss
    print(json.dumps({"wall": time.perf_counter() - begun, "cpu": _spent() - before, "loss": loss}))


def _spent() -> float:
    """Return the processor seconds of this process, and of those that it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def measured(checkout: Path, rows: int, source: Path, folder: Path) -> dict[str, float]:
    """Return what a run of a checkout takes."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    made = subprocess.run(
        [sys.executable, "-c", CHILD, str(HERE), str(source), str(folder / "release"), str(rows)],
        capture_output=True, text=True, env=environment, check=True, cwd=folder,
    )  # fmt: skip
    figures: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Measure both checkouts in turn, and print medians and their ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline", description=__doc__)
    parser.add_argument("checkout", type=Path, help="the earlier checkout")
    parser.add_argument("--rows", type=int, action="append", help="records; 1,000 and 100,000 by default")
    parser.add_argument("--times", type=int, default=3, help="runs of each")
    options = parser.parse_args()
    sides = {"earlier": options.checkout.resolve(), "now": HERE}
    print("rows | earlier CPU s | now CPU s | ratio | earlier wall s | now wall s | ratio | loss %")
    for rows in options.rows or [1_000, 100_000]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = data(rows, folder)
            if rows < FILES:
                for checkout in sides.values():
                    measured(checkout, rows, source, folder)
            runs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
            for _ in range(options.times):
                for side, checkout in sides.items():
                    runs[side].append(measured(checkout, rows, source, folder))
        cpu, wall = (
            [statistics.median(run[what] for run in runs[side]) for side in sides] for what in ("cpu", "wall")
        )
        loss = " / ".join(f"{runs[side][-1]['loss']:.3f}" for side in sides)
        pairs = " | ".join(f"{old:.2f} | {new:.2f} | {new / old:.2f}" for old, new in (cpu, wall))
        print(f"{rows:,} | {pairs} | {loss}", flush=True)


if __name__ == "__main__":
    main()
