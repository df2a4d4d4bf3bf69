"""Data sets larger than memory: time, memory and bytes of `voronym.anonymize`, by number of rows.

``python -m benchmarks.scale --rows 1000000 10000000 --workers 2 --folder /tmp/scale`` makes data sets of four
numeric and two categorical keys and one confidential column, in Parquet, and releases each in a process of
its own. A line of JSON for each says: seconds and processor seconds a row, the peak of the memory of all
processes together and of the driver alone, bytes read and written by all processes (as the system counts
them), k as DuckDB counts it in the written files, the loss, and what the plan had said before. A last line
compares cost a row and driver memory between sizes, and speed between numbers of workers. What is made is
removed at the end; ``--keep`` keeps the data. ``--loss`` compares the loss of leaves of 50,000 at a million
records of ten columns with that of the search in memory, given the same processor seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

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


class Watch:
    """Watches the memory, and counts the bytes, of this process and all that it started."""

    def __init__(self) -> None:
        self.peak = self.driver = 0
        self._used: dict[int, tuple[float, int, int]] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        import psutil

        me = psutil.Process()
        before = self._found(me)
        while not self._end.wait(0.2):
            total = 0
            for one in [me, *me.children(recursive=True)]:
                try:
                    total += one.memory_full_info().pss
                    self._used[one.pid] = self._found(one)
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total)
            self.driver = max(self.driver, me.memory_info().rss)
        after = self._found(me)
        self._used[me.pid] = (after[0] - before[0], after[1] - before[1], after[2] - before[2])

    @staticmethod
    def _found(process: Any) -> tuple[float, int, int]:
        times, bytes_ = process.cpu_times(), process.io_counters()
        return times.user + times.system, bytes_.read_chars, bytes_.write_chars

    @property
    def used(self) -> tuple[float, ...]:
        """Processor seconds, bytes read and bytes written, of all processes."""
        return tuple(sum(one) for one in zip(*self._used.values(), strict=True))


def counted(folder: Path) -> tuple[int, int]:
    """Return the least number of rows that share a combination of keys, and all rows, as DuckDB counts."""
    import duckdb

    spare = folder.parent / ".duckdb"
    limits = {"memory_limit": "2GB", "temp_directory": str(spare), "threads": 2}
    asked = f"""SELECT min(c), sum(c) FROM
        (SELECT count(*) AS c FROM '{folder}/*.parquet' GROUP BY {", ".join(KEYS)})"""  # noqa: S608 - our names
    with duckdb.connect(config=limits) as engine:
        k, rows = engine.execute(asked).fetchall()[0]
    shutil.rmtree(spare, ignore_errors=True)
    return int(k), int(rows)


def run(rows: int, workers: int, given: argparse.Namespace) -> dict[str, object]:
    """Release a data set, and measure."""
    data, out = given.folder / f"data-{rows}", given.folder / f"release-{rows}"
    if not data.exists():
        make(data, rows)
    shutil.rmtree(out, ignore_errors=True)
    asked = {
        "keys": KEYS, "confidential": ["illness"], "k": 5, "workers": workers, "engine": given.engine,
        "memory": given.memory, "leaf": given.leaf, "rounds": given.rounds,
    }  # fmt: skip
    plan = vr.plan(data, **asked)
    started = time.perf_counter()
    with Watch() as watch:
        release = vr.anonymize(data, output=out, **asked)
    seconds = time.perf_counter() - started
    cpu, read, written = watch.used
    k, there = counted(out)
    shutil.rmtree(out)
    return {
        "rows": rows, "engine": given.engine, "workers": workers, "seconds": round(seconds, 1),
        "processor_seconds": round(cpu, 1), "processor_microseconds_a_row": round(1e6 * cpu / rows, 2),
        "peak_memory_gb": round(watch.peak / 1e9, 3), "driver_gb": round(watch.driver / 1e9, 3),
        "gb_read_by_processes": round(read / 1e9, 2), "gb_written_by_processes": round(written / 1e9, 2),
        "gb": {name: round(size / 1e9, 3) for name, size in release.to_dict()["bytes"].items()},
        "k": release.k, "k_by_duckdb": k, "rows_by_duckdb": there, "groups": release.folder.groups,
        "information_loss": release.information_loss, "group_loss": release.group_loss,
        "planned_seconds": round(plan.seconds, 1), "planned_gb_spilled": round(plan.bytes_spilled / 1e9, 3),
        "stages": {name: round(one, 1) for name, one in release.folder.seconds.items()},
    }  # fmt: skip


def summary(runs: list[dict[str, object]]) -> dict[str, object]:
    """Compare the cost of a row and the driver's memory between sizes, and the speed between workers."""
    out: dict[str, object] = {}
    first: dict[str, object] = {}
    for one in runs:
        if first and one["rows"] != first["rows"] and one["workers"] == first["workers"]:
            times = float(one["processor_microseconds_a_row"]) / float(first["processor_microseconds_a_row"])  # type: ignore[arg-type]
            more = float(one["driver_gb"]) / float(first["driver_gb"])  # type: ignore[arg-type]
            pair = f"{one['rows']:,} against {first['rows']:,} rows"
            out[f"cost a row, {pair}"] = round(times, 3)
            out[f"driver memory, {pair}"] = round(more, 3)
        if first and one["rows"] == first["rows"]:
            pair = f"{one['workers']} against {first['workers']} workers, {one['rows']:,} rows"
            out[f"times as fast, {pair}"] = round(float(first["seconds"]) / float(one["seconds"]), 3)  # type: ignore[arg-type]
        first = one
    return out


def compare(rows: int, leaf: int, folder: Path, columns: int = 10) -> dict[str, object]:
    """Compare the loss of leaves with that of the same search in memory, by processor seconds."""
    X = np.random.default_rng(0).standard_normal((rows, columns)) @ np.diag(np.linspace(0.5, 2.0, columns))
    Z = vr.standardize(X)
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(columns)})
    data = folder / f"normal-{rows}"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, 250_000)):
        frame[start : start + 250_000].write_parquet(data / f"{number:03d}.parquet")
    vr.microaggregate(Z[:2000], 5, method="pairs", sweeps=5.0)  # compiled before the clock starts
    began = time.process_time()
    release = vr.anonymize(
        data, output=folder / "normal-release", keys=frame.columns, k=5, workers=1, leaf=leaf, overwrite=True
    )
    spent = time.process_time() - began
    shutil.rmtree(folder / "normal-release")
    shutil.rmtree(data)
    sweeps, tried = 100.0, []
    for _ in range(5):  # as many visits as take the same processor seconds, to be found
        began = time.process_time()
        part = vr.microaggregate(Z, 5, method="pairs", sweeps=sweeps)
        tried.append((sweeps, time.process_time() - began, vr.information_loss(Z, part)))
        if abs(tried[-1][1] / spent - 1.0) < 0.05:
            break
        slope = tried[-1][1] / sweeps
        if len(tried) > 1 and abs(tried[-1][0] - tried[-2][0]) > 1.0:
            slope = (tried[-1][1] - tried[-2][1]) / (tried[-1][0] - tried[-2][0])
        sweeps = max(sweeps + (spent - tried[-1][1]) / max(slope, 1e-9), 10.0)
    sweeps, took, loss = min(tried, key=lambda one: abs(one[1] - spent))
    return {
        "rows": rows, "columns": columns, "leaf": leaf, "loss": release.group_loss,
        "processor_seconds": round(spent, 1), "memory_loss": loss, "memory_seconds": round(took, 1),
        "memory_sweeps": round(sweeps, 1), "more_percent": 100.0 * (release.group_loss / loss - 1.0),
    }  # fmt: skip


def main() -> None:
    """Read the command line."""
    take = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    take.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    take.add_argument("--workers", type=int, nargs="+", default=[2], help="several: each size with each")
    take.add_argument("--engine", default="local")
    take.add_argument("--memory", default="4GB")
    take.add_argument("--leaf", type=int)
    take.add_argument("--rounds", type=int)
    take.add_argument("--folder", type=Path, default=Path("scale-data"))
    take.add_argument("--keep", action="store_true", help="keep the data for another time")
    take.add_argument("--loss", action="store_true", help="compare losses instead")
    take.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)  # one run, in this process
    given = take.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.loss:
        print(json.dumps(compare(given.rows[0], given.leaf or 50_000, given.folder)))
        return
    if given.alone:
        print(json.dumps(run(given.rows[0], given.workers[0], given)))
        return
    plain: list[str] = []
    for name in ("engine", "memory", "leaf", "rounds", "folder"):
        if getattr(given, name) is not None:
            plain += [f"--{name}", str(getattr(given, name))]
    runs = []
    for rows in given.rows:
        for workers in given.workers:
            words = ["-m", "benchmarks.scale", "--alone", "--rows", str(rows), "--workers", str(workers)]
            said = subprocess.run([sys.executable, *words, *plain], check=True, stdout=subprocess.PIPE)
            print(said.stdout.decode().strip(), flush=True)
            runs.append(json.loads(said.stdout))
        if not given.keep:
            shutil.rmtree(given.folder / f"data-{rows}")
    if len(runs) > 1:
        print(json.dumps(summary(runs)))


if __name__ == "__main__":
    main()
