"""Data sets larger than memory: time, memory and bytes of `voronym.anonymize_files`, by number of rows.

``python -m benchmarks.scale --rows 1000000 --workers 2 --folder /tmp/scale`` makes a data set of four
numeric and two categorical keys and one confidential column, in Parquet, and releases it. What is printed is
one line of JSON: seconds and processor seconds, the peak of the memory of all processes together, bytes read,
spilled and written, k counted in the written files, loss. ``--loss`` compares the loss of leaves of 50,000
at a million records of ten columns with that of the search in memory, given the same processor seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

import voronym as vr

FILE = 2_000_000
KEYS = ["age", "income", "height", "distance", "sector", "region"]


def make(folder: Path, rows: int, *, seed: int = 0) -> None:
    """Write the data set, some million rows a file."""
    folder.mkdir(parents=True)
    sectors = [f"sector {i}" for i in range(8)]
    regions = [f"region {i:02d}" for i in range(20)]
    for number, start in enumerate(range(0, rows, FILE)):
        rng = np.random.default_rng([seed, number])
        n = min(FILE, rows - start)
        age = np.clip(rng.gamma(9.0, 5.0, n), 0, 100).round(1)
        region = np.minimum(rng.geometric(0.12, n) - 1, 19)
        frame = pl.DataFrame({
            "age": age,
            "income": np.round(np.exp(9.0 + 0.01 * age + 0.6 * rng.standard_normal(n)), 0),
            "height": (170 + 0.05 * (age - 40) + 9 * rng.standard_normal(n)).round(1),
            "distance": rng.exponential(12.0 + region, n).round(2),
            "sector": pl.Series(sectors).gather(rng.integers(0, 8, n)),
            "region": pl.Series(regions).gather(region),
            "illness": rng.choice(["none", "flu", "asthma", "diabetes"], n, p=[0.7, 0.15, 0.1, 0.05]),
        })  # fmt: skip
        frame.write_parquet(folder / f"people-{number:05d}.parquet", row_group_size=250_000)


class Memory:
    """Watches the memory of this process and all that it started."""

    def __init__(self) -> None:
        self.peak = self.driver = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        import psutil

        me = psutil.Process()
        while not self._end.wait(0.5):
            total = 0
            for one in [me, *me.children(recursive=True)]:
                try:
                    total += one.memory_full_info().pss
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total)
            self.driver = max(self.driver, me.memory_info().rss)


def run(
    rows: int, folder: Path, workers: int, engine: str, leaf: int | None, rounds: int | None
) -> dict[str, object]:
    """Release a data set, and measure."""
    data, out = folder / f"data-{rows}", folder / f"release-{rows}"
    if not data.exists():
        make(data, rows)
    shutil.rmtree(out, ignore_errors=True)
    before = os.times()
    started = time.perf_counter()
    with Memory() as memory:
        release = vr.anonymize_files(
            data, out, keys=KEYS, confidential=["illness"], k=5, workers=workers, engine=engine, memory="4GB",
            leaf=leaf, rounds=rounds,
        )  # fmt: skip
    seconds = time.perf_counter() - started
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    after = os.times()
    cpu = after.user + after.system - before.user - before.system + children.ru_utime + children.ru_stime
    return {
        "rows": rows, "engine": engine, "workers": workers, "seconds": round(seconds, 1),
        "microseconds_a_row": round(1e6 * seconds / rows, 2),
        "processor_microseconds_a_row": round(1e6 * cpu / rows, 2),
        "peak_memory_gb": round(memory.peak / 1e9, 2), "driver_gb": round(memory.driver / 1e9, 2),
        "k_counted": release.k, "groups": release.groups, "information_loss": release.information_loss,
        "group_loss": release.group_loss, "stages": {k: round(v, 1) for k, v in release.seconds.items()},
        "bytes": release.to_dict()["bytes"],
    }  # fmt: skip


def compare(rows: int, leaf: int, folder: Path, columns: int = 10) -> dict[str, object]:
    """Compare the loss of leaves with that of the same search in memory, by processor seconds."""
    X = np.random.default_rng(0).standard_normal((rows, columns)) @ np.diag(np.linspace(0.5, 2.0, columns))
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(columns)})
    data = folder / f"normal-{rows}"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, 250_000)):
        frame[start : start + 250_000].write_parquet(data / f"{number:03d}.parquet")
    out: dict[str, object] = {"rows": rows, "columns": columns, "leaf": leaf}
    began = time.process_time()
    release = vr.anonymize_files(
        data, folder / "normal-release", keys=frame.columns, k=5, workers=1, leaf=leaf, overwrite=True
    )
    out["processor_seconds"] = spent = time.process_time() - began
    out["loss"] = release.group_loss
    sweeps = 60.0
    for _ in range(3):  # as many visits as take the same processor seconds
        began = time.process_time()
        part = vr.microaggregate(vr.standardize(X), 5, method="pairs", sweeps=sweeps)
        took = time.process_time() - began
        out["memory_loss"], out["memory_seconds"], out["memory_sweeps"] = (
            vr.information_loss(vr.standardize(X), part), took, sweeps,
        )  # fmt: skip
        if abs(took / spent - 1.0) < 0.05:
            break
        sweeps *= spent / took
    out["more_percent"] = 100.0 * (out["loss"] / out["memory_loss"] - 1.0)  # type: ignore[operator]
    return out


def main() -> None:
    """Read the command line."""
    take = argparse.ArgumentParser(description=__doc__)
    take.add_argument("--rows", type=int, default=1_000_000)
    take.add_argument("--workers", type=int, default=2)
    take.add_argument("--engine", default="local")
    take.add_argument("--leaf", type=int)
    take.add_argument("--rounds", type=int)
    take.add_argument("--folder", type=Path, default=Path("scale-data"))
    take.add_argument("--loss", action="store_true", help="compare losses instead")
    given = take.parse_args()
    if given.loss:
        print(json.dumps(compare(given.rows, given.leaf or 50_000, given.folder)))
    else:
        print(
            json.dumps(run(given.rows, given.folder, given.workers, given.engine, given.leaf, given.rounds))
        )


if __name__ == "__main__":
    main()
