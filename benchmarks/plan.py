"""The plan against runs: measures runs, fits the model of `voronym.run.parts.cost`, says how far it is off.

``python -m benchmarks.plan`` makes data sets of four sizes, releases each with one, two and three workers,
and prints the constants of the model, fitted to these runs. Runs of other sizes, leaves and keys are held
back: their error is that of a plan one can believe. ``--kept FILE`` keeps the measured runs, or fits those
that are kept there again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import nnls

from benchmarks.scale import KEYS, make
from voronym.run.parts import cost
from voronym.run.parts.engine import buckets_of

FITTED = [(rows, workers, 12_500, 6) for rows in (50_000, 100_000, 200_000, 400_000) for workers in (1, 2, 3)]
FITTED += [(100_000, 1, 2_500, 6)]
HELD = [(75_000, 1, 12_500, 6), (150_000, 2, 12_500, 6), (300_000, 3, 12_500, 6), (300_000, 2, 25_000, 4),
        (100_000, 1, 5_000, 6)]  # fmt: skip
FILES = 8


def data(folder: Path, rows: int) -> Path:
    """Make a data set of several files."""
    place = folder / f"people-{rows}"
    if not place.exists():
        make(folder / "whole", rows)
        frame = pl.concat([pl.read_parquet(file) for file in sorted((folder / "whole").iterdir())])
        shutil.rmtree(folder / "whole")
        place.mkdir()
        for number, part in enumerate(frame.iter_slices(-(-rows // FILES))):
            part.write_parquet(place / f"part-{number}.parquet")
    return place


RUN = """
import json, sys, time, resource
import voronym as vr
from voronym.run.parts import cost
source, output, keys, workers, leaf = sys.argv[1:6]
asked = dict(keys=keys.split(","), confidential=["illness"], drop_undeclared=True, k=5, leaf=int(leaf),
             workers=int(workers), memory="8GB", engine="local", allow=None)
asked.pop("allow")
planned = vr.plan(source, **asked)
pace = cost.speed() / cost.REFERENCE
began = time.perf_counter()
made = vr.anonymize(source, output=output, **asked)
wall = time.perf_counter() - began
peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({"wall": wall, "stages": made.folder.seconds, "peak": peak * 1024, "pace": pace,
                  "grouping": planned.grouping, "planned": planned.seconds, "rounds": planned.rounds,
                  "spilled": made.folder.bytes_spilled, "planned_spilled": planned.bytes_spilled,
                  "planned_memory": planned.memory_per_worker, "speed": cost.speed()}))
"""


def measure(folder: Path, rows: int, workers: int, leaf: int, keys: int) -> dict[str, Any]:
    """Run once, in a process of its own; return what it took, and what the plan had said."""
    source = data(folder, rows)
    out = folder / "release"
    shutil.rmtree(out, ignore_errors=True)
    words = [str(source), str(out), ",".join(KEYS[:keys]), str(workers), str(leaf)]
    done = subprocess.run([sys.executable, "-c", RUN, *words], check=True, capture_output=True, text=True)
    return {"rows": rows, "workers": workers, "leaf": leaf, "keys": keys, **json.loads(done.stdout)}


def features(run: dict[str, Any]) -> list[cost.Tasks]:
    """Return the stages of a run."""
    rows, leaf = run["rows"], run["leaf"]
    return cost.stages_of(rows, leaf, run["rounds"], parts=FILES, buckets=buckets_of(rows, leaf))


def fit(runs: list[dict[str, Any]]) -> None:
    """Fit the constants to runs with one worker, then those of several workers to the others."""
    alone = [run for run in runs if run["workers"] == 1]
    cost.REFERENCE = float(np.median([run["speed"] for run in runs]))
    for run in runs:
        run["pace"] = run["speed"] / cost.REFERENCE
    seen: dict[str, list[tuple[list[float], float]]] = {}
    for run in alone:
        for stage in features(run):
            base, _, turn = stage.name.partition("@")
            last = turn and int(turn) + 1 == run["rounds"]
            name = base if not turn else "last" if last else f"round@{turn}"
            group = run["grouping"] * stage.tasks * stage.rows * 1e-6 if turn else 0.0
            row = [stage.tasks * run["pace"], 1e-6 * stage.tasks * stage.rows * run["pace"],
                   1e-6 * stage.tasks * stage.files * run["pace"], group]  # fmt: skip
            seen.setdefault(name, []).append((row, run["stages"][stage.name]))
    shares = {}
    for name, cases in seen.items():
        A, b = np.array([row for row, _ in cases]), np.array([value for _, value in cases])
        if name == "round@1":
            name = "middle"
        made, _ = nnls(A / b[:, None], np.ones(len(b)))
        shares[name] = made[3]
        if name != "middle":
            cost.COSTS["round" if name == "round@0" else name] = cost.Cost(*map(float, made[:3]))
    cost.FIRST = float(shares["round@0"])
    cost.OTHERS = float((shares["middle"] + shares["last"]) / 2)
    several = [run for run in runs if run["workers"] > 1]
    best = np.inf
    for start in np.linspace(0.0, 4.0, 41):
        for together in np.linspace(0.3, 1.0, 15):
            cost.START, cost.TOGETHER = float(start), float(together)
            off = float(np.mean([abs(np.log(foreseen(run) / run["wall"])) for run in several]))
            if off < best:
                best, chosen = off, (float(start), float(together))
    cost.START, cost.TOGETHER = chosen


def foreseen(run: dict[str, Any]) -> float:
    """Return what the model says of a run."""
    made = cost.foresee(features(run), run["workers"], run["grouping"], run["pace"], cores=os.cpu_count())
    return made.total


def main() -> None:
    """Measure, fit, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--seconds", type=float, default=220.0)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    runs: list[dict[str, Any]] = []
    if given.kept is not None and given.kept.exists():
        runs = json.loads(given.kept.read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            for case in [*FITTED, *HELD]:
                data(Path(folder), case[0])
            for case in sorted([*FITTED, *HELD], key=lambda case: (case not in HELD, case[0])):
                if time.monotonic() < end:
                    runs.append(measure(Path(folder), *case))
                    print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
        if given.kept is not None:
            given.kept.write_text(json.dumps(runs))
    cases = {case: run for run in runs for case in [(run["rows"], run["workers"], run["leaf"], run["keys"])]}
    fit([run for case, run in cases.items() if case in FITTED])
    print(f"REFERENCE = {cost.REFERENCE:.4g}; START = {cost.START:.3g}; TOGETHER = {cost.TOGETHER:.3g}; "
          f"FIRST, OTHERS = {cost.FIRST:.3g}, {cost.OTHERS:.3g}")  # fmt: skip
    for name, made in cost.COSTS.items():
        print(f'    "{name}": Cost({made.task:.3g}, {made.row:.3g}, {made.file:.3g}),')
    for what, which in (("fitted", FITTED), ("held back", HELD)):
        for case in which:
            if case in cases:
                run = cases[case]
                off = foreseen(run) / run["wall"] - 1
                print(f"{what:9} {case}: {run['wall']:6.1f} s, foreseen {foreseen(run):6.1f} s, {off:+.0%}; "
                      f"peak {run['peak'] / 1e6:.0f} of {run['planned_memory'] / 1e6:.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
