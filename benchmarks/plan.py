"""The plan against runs: measures runs, fits the model of `voronym.run.parts.cost`, says how far it is off.

``python -m benchmarks.plan`` makes data sets of four sizes, releases each with one, two and three workers,
and prints the constants of the model, fitted to these runs. Each size is left out in turn, and runs of other
sizes, leaves and keys are held back: their error is that of a plan one can believe. ``--held`` measures these
alone, and compares them with the constants as they stand. ``--kept FILE`` keeps the measured runs, and
measures those that are not there.

A run is disturbed if other processes took more than a tenth of the machine while it lasted. That is counted
beside the run, whatever its time. A disturbed run is repeated, twice at most, the least disturbed one is
kept, and its line says so. Runs with one worker are fitted to processor seconds, which depend less on others,
and those are compared for every run; the time of several workers is fitted to undisturbed runs alone.
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

LEAF = 12_500
FITTED = [(rows, workers, LEAF, 6) for rows in (50_000, 100_000, 200_000, 400_000) for workers in (1, 2, 3)]
FITTED += [(100_000, 1, 2_500, 6), (200_000, 1, LEAF, 4)]
HELD = [(75_000, 1, 12_500, 6), (150_000, 2, 12_500, 6), (300_000, 3, 12_500, 6), (300_000, 2, 25_000, 4),
        (100_000, 1, 5_000, 6), (150_000, 1, 12_500, 6), (300_000, 1, 12_500, 6), (600_000, 1, 25_000, 6),
        (600_000, 2, 25_000, 6), (75_000, 2, 12_500, 6), (250_000, 2, 50_000, 5)]  # fmt: skip
DISTURBED = 0.1
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


ASKED = """
import json, sys, threading, time
import psutil
import voronym as vr
from voronym.run.parts import cost
source, output, keys, workers, leaf = sys.argv[1:6]
asked = dict(keys=keys.split(","), confidential=["illness"], drop_undeclared=True, k=5, leaf=int(leaf),
             workers=int(workers), memory="8GB", engine="local")
"""
PLAN = (
    ASKED
    + """
made = vr.plan(source, **asked)
print(json.dumps({"grouping": made.grouping, "planned": made.seconds, "rounds": made.rounds,
                  "planned_spilled": made.bytes_spilled, "planned_memory": made.memory_per_worker,
                  "speed": cost.speed()}))
"""
)
RUN = (
    ASKED
    + """
peak, spent, over, me = [0], {}, threading.Event(), psutil.Process()
def look():
    for process in [me, *me.children(recursive=True)]:
        try:
            peak[0] = max(peak[0], process.memory_info().rss)
            spent[process.pid] = sum(process.cpu_times()[:2])
        except psutil.Error:
            pass
def watch():
    while not over.wait(0.1):
        look()
def busy():
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq + times.steal
look()
before, all_before = sum(spent.values()), busy()
threading.Thread(target=watch, daemon=True).start()
if asked["workers"] == 1:  # one process does it all, and its processor does not count what others do
    from voronym.run.parts import stages
    stages.now = time.process_time
began = time.perf_counter()
made = vr.anonymize(source, output=output, **asked)
wall = time.perf_counter() - began
look()
own = sum(spent.values()) - before
print(json.dumps({"wall": wall, "stages": made.folder.seconds, "peak": peak[0], "processor": own,
                  "others": max(0.0, busy() - all_before - own) / (wall * psutil.cpu_count()),
                  "spilled": made.folder.bytes_spilled}))
"""
)


def measure(folder: Path, rows: int, workers: int, leaf: int, keys: int) -> dict[str, Any]:
    """Run once, in a process of its own; return what it took, and what the plan had said."""
    source = data(folder, rows)
    out = folder / "release"
    shutil.rmtree(out, ignore_errors=True)
    words = [str(source), str(out), ",".join(KEYS[:keys]), str(workers), str(leaf)]
    out_of: dict[str, Any] = {"rows": rows, "workers": workers, "leaf": leaf, "keys": keys}
    for code in (PLAN, RUN):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], check=True, capture_output=True, text=True
        )
        out_of |= json.loads(done.stdout)
    return out_of


def least_disturbed(folder: Path, case: tuple[int, int, int, int], end: float) -> dict[str, Any]:
    """Run until nobody disturbs, three times at most."""
    best = measure(folder, *case)
    for _ in range(2):
        if best["others"] <= DISTURBED or time.monotonic() > end:
            break
        best = min(best, measure(folder, *case), key=lambda run: run["others"])
    return best


def features(run: dict[str, Any]) -> list[cost.Tasks]:
    """Return the stages of a run."""
    rows, leaf = run["rows"], run["leaf"]
    return cost.stages_of(rows, leaf, run["rounds"], parts=FILES, buckets=buckets_of(rows, leaf))


def fit(runs: list[dict[str, Any]]) -> None:
    """Fit the constants to runs with one worker, then those of several workers to the others."""
    alone = [run for run in runs if run["workers"] == 1]
    cost.REFERENCE = float(np.median([run["speed"] for run in runs]))
    cost.BEGIN = float(np.median([run["processor"] - sum(run["stages"].values()) for run in alone]))
    seen: dict[str, list[tuple[list[float], float]]] = {}
    for run in alone:
        run["pace"] = run["speed"] / cost.REFERENCE
        for stage in features(run):
            base, _, turn = stage.name.partition("@")
            last = turn and int(turn) + 1 == run["rounds"]
            name = base if not turn else "last" if last else f"round@{turn}"
            group = run["grouping"] * stage.tasks * stage.rows * 1e-6 if turn else 0.0
            # What a round takes is what the probe takes.
            row_cost = 0.0 if turn and not last else 1e-6 * stage.tasks * stage.rows * run["pace"]
            row = [stage.tasks * run["pace"], row_cost,
                   1e-6 * stage.tasks * stage.files * run["pace"], group]  # fmt: skip
            seen.setdefault(name, []).append((row, run["stages"][stage.name]))
    shares = {}
    for name, cases in sorted(seen.items(), key=lambda item: item[0] == "last"):
        A, b = np.array([row for row, _ in cases]), np.array([value for _, value in cases])
        if name == "round@1":
            name = "middle"
        if name == "last":  # it groups as much as the one before, and publishes
            b = np.maximum(b - shares["middle"] * A[:, 3], 0.05 * b)
            A[:, 3] = 0.0
        made, _ = nnls(A / b[:, None], np.ones(len(b)))
        shares[name] = made[3]
        if name != "middle":
            cost.COSTS["round" if name == "round@0" else name] = cost.Cost(*map(float, made[:3]))
    cost.FIRST = float(shares["round@0"])
    cost.OTHERS = float(shares["middle"])
    several = [run for run in runs if run["workers"] > 1 and run["others"] <= DISTURBED]
    if not several:
        return
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
    run["pace"] = run["speed"] / cost.REFERENCE
    made = cost.foresee(features(run), run["workers"], run["grouping"], run["pace"], cores=os.cpu_count())
    return made.total


def processor(run: dict[str, Any]) -> float:
    """Return the processor seconds that the model says of a run: those of all its tasks, and of starting."""
    stages = features(run)
    pace, rounds = run["speed"] / cost.REFERENCE, run["rounds"]
    tasks = sum(stage.tasks * cost.seconds_of(stage, rounds, run["grouping"], pace) for stage in stages)
    return tasks + cost.BEGIN * pace + (run["workers"] > 1) * 3 * cost.START * pace


def tell(what: str, run: dict[str, Any], expected: float) -> None:
    """Print how far a run is from what was said of it."""
    case = run["rows"], run["workers"], run["leaf"], run["keys"]
    off, spent = expected / run["wall"] - 1, processor(run) / run["processor"] - 1
    print(f"{what:9} {case}: {run['wall']:6.1f} s, foreseen {expected:6.1f} s, {off:+.0%}; processor "
          f"{run['processor']:6.1f} s, {spent:+.0%}; peak {run['peak'] / 1e6:.0f} of "
          f"{run['planned_memory'] / 1e6:.0f} MB; others {run['others']:.0%}"
          f"{', disturbed' if run['others'] > DISTURBED else ''}")  # fmt: skip


def main() -> None:
    """Measure, fit, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--seconds", type=float, default=220.0)
    parser.add_argument("--held", action="store_true")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    runs: list[dict[str, Any]] = []
    if given.kept is not None and given.kept.exists():
        runs = json.loads(given.kept.read_text())
    known = {(run["rows"], run["workers"], run["leaf"], run["keys"]) for run in runs}
    wanted = (
        []
        if given.seconds <= 0
        else [case for case in (HELD if given.held else [*FITTED, *HELD]) if case not in known]
    )
    with tempfile.TemporaryDirectory() as folder:
        for case in wanted:
            data(Path(folder), case[0])
        for case in wanted:
            if time.monotonic() < end:
                runs.append(least_disturbed(Path(folder), case, end))
                print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
    if given.kept is not None:
        given.kept.write_text(json.dumps(runs))
    cases = {case: run for run in runs for case in [(run["rows"], run["workers"], run["leaf"], run["keys"])]}
    for case in HELD:
        if case in cases:
            tell("as it is", cases[case], cases[case]["planned"])
    if given.held:
        return
    fit([run for case, run in cases.items() if case in FITTED])
    print(f"REFERENCE = {cost.REFERENCE:.4g}; BEGIN = {cost.BEGIN:.3g}; START = {cost.START:.3g}; "
          f"TOGETHER = {cost.TOGETHER:.3g}; FIRST, OTHERS = {cost.FIRST:.3g}, {cost.OTHERS:.3g}")  # fmt: skip
    for name, made in cost.COSTS.items():
        print(f'    "{name}": Cost({made.task:.3g}, {made.row:.3g}, {made.file:.3g}),')
    usual = {case for case in cases if case in FITTED and case[2] == LEAF}  # the others tell what files cost
    for rows in sorted({case[0] for case in usual}):  # as if this size had not been measured
        fit([run for case, run in cases.items() if case in FITTED and (case not in usual or case[0] != rows)])
        for case, run in cases.items():
            if case in usual and case[0] == rows:
                tell("left out", run, foreseen(run))
    fit([run for case, run in cases.items() if case in FITTED])
    for what, which in (("fitted", FITTED), ("held back", HELD)):
        for case in which:
            if case in cases:
                tell(what, cases[case], foreseen(cases[case]))


if __name__ == "__main__":
    main()
