"""The cost of each stage of a run, by a model fitted to measured runs (`python -m benchmarks.plan`).

The tasks of a stage are independent. A task costs a fixed time, a time per row, and a time per file that it
opens in the work folder. The time of grouping is measured on the data; all other times are scaled by the
sorting speed of this machine. Stages with one task, and the time before and after all stages, are serial.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voronym.run.parts.job import FILE, LOOK, SAMPLE
from voronym.run.parts.source import PART

REFERENCE = 0.05473
"""Processor seconds that `speed` took on the machine of the measured runs."""
BEGIN = 1.34
"""Seconds before the first stage and after the last: loading the program, finding files, giving names."""
START = 3.0
"""Seconds until worker processes of this machine are ready; they restart before writing and counting."""
TOGETHER = 1.0
"""Extra time per further worker on one machine, as a share of the first, because workers share memory."""


@dataclass(frozen=True)
class Cost:
    """The cost of a task: seconds, microseconds per row, microseconds per file."""

    task: float
    row: float
    file: float = 0.0


COSTS: dict[str, Cost] = {
    "convert": Cost(0.05, 4.0),  # these three are guesses, not fitted
    "whole": Cost(0.2, 4.0),
    "measure": Cost(0.1, 2.0),
    "look": Cost(0.122, 0.64),
    "scan": Cost(0.0135, 1.16),
    "cut": Cost(0.146, 4.75),
    "spread": Cost(0.0722, 0.849),
    "round": Cost(0.00825, 0.0),
    "last": Cost(0.0577, 0.0),
    "write": Cost(0.023, 0.624, 226.0),  # the last: of an earlier, undisturbed fit
    "sort": Cost(0.0081, 0.172),
    "count": Cost(0.00431, 0.165),
}
FIRST, OTHERS = 0.56, 0.206
"""Share of the grouping time in the first round, and in each later round."""


@dataclass(frozen=True)
class Tasks:
    """A stage: its number of tasks, and the rows and files of each."""

    name: str
    tasks: int
    rows: float
    files: int = 0

    @property
    def serial(self) -> bool:
        """Whether only one worker is busy in this stage."""
        return self.tasks == 1


def stages_of(
    rows: int, leaf: int, rounds: int, *, parts: int | None = None, text: int = 0, buckets: int = 1
) -> list[Tasks]:
    """Return the stages of a run.

    Parameters
    ----------
    rows, leaf, rounds : int
        Number of rows, rows per leaf, and number of cuts into leaves.
    parts : int, optional
        Number of parts of the files; by default estimated from the rows.
    text : int
        Text files, which become Parquet first.
    buckets : int
        Number of buckets for counting written rows.
    """
    parts = max(1, -(-rows // PART)) if parts is None else parts
    first = [Tasks("convert", text, rows / text)] if text else []
    first.append(Tasks("look", 1, min(rows, LOOK)))
    if rows <= leaf:
        return [*first, Tasks("whole", 1, rows), Tasks("write", 1, rows), Tasks("measure", 1, rows)]
    leaves, files = -(-rows // leaf), max(1, -(-rows // FILE))
    out = [*first, Tasks("scan", parts, rows / parts), Tasks("cut", 1, min(rows, SAMPLE)),
           Tasks("spread", parts, rows / parts)]  # fmt: skip
    out += [
        Tasks(f"round@{turn}", leaves, rows / leaves, parts if turn == 0 else leaves)
        for turn in range(rounds)
    ]
    return [*out, Tasks("write", files, rows / files, leaves), Tasks("sort", files, rows / files),
            Tasks("count", buckets, rows / buckets, files)]  # fmt: skip


def seconds_of(stage: Tasks, rounds: int, grouping: float, pace: float) -> float:
    """Return the estimated seconds of one task of a stage.

    Parameters
    ----------
    stage : Tasks
        The stage.
    rounds : int
        Number of rounds.
    grouping : float
        Microseconds a row that the probe took for all rounds together, on this machine.
    pace : float
        Factor by which this machine is slower than that of the measured runs.
    """
    base, _, turn = stage.name.partition("@")
    cost = COSTS["last" if turn and int(turn) + 1 == rounds else base]
    made = pace * (cost.task + 1e-6 * (cost.row * stage.rows + cost.file * stage.files))
    if turn:
        share = 1.0 if rounds == 1 else FIRST if turn == "0" else OTHERS
        made += 1e-6 * grouping * share * stage.rows
    return made + (1e-6 * grouping * stage.rows if base == "whole" else 0.0)


@dataclass(frozen=True)
class Foreseen:
    """The estimated seconds of each stage, and of the serial part."""

    seconds: dict[str, float]
    serial: float

    @property
    def total(self) -> float:
        """Seconds of the whole run."""
        return sum(self.seconds.values())


def foresee(
    stages: Sequence[Tasks], workers: int, grouping: float, pace: float = 1.0, *, cores: int | None = None
) -> Foreseen:
    """Estimate the time of a run.

    Parameters
    ----------
    stages : sequence of Tasks
        The result of `stages_of`.
    workers : int
        Number of parallel tasks.
    grouping, pace : float
        As in `seconds_of`.
    cores : int, optional
        Number of cores of the machine that all workers share; None if each has its own machine.
    """
    rounds = sum(1 for stage in stages if "@" in stage.name)
    at_once = workers if cores is None else min(workers, cores)
    out = {"begin": BEGIN * pace}
    serial, running = out["begin"], False
    for stage in stages:
        each = seconds_of(stage, rounds, grouping, pace)
        width = min(at_once, stage.tasks)
        slower = 1.0 if cores is None else width / (1.0 + TOGETHER * (width - 1))
        out[stage.name] = span([each * slower] * stage.tasks, width)
        if workers > 1 and stage.tasks > 1 and (not running or stage.name in ("write", "count")):
            out[stage.name] += START * pace
            running = True
        serial += out[stage.name] if stage.serial else 0.0
    return Foreseen(out, serial)


def span(seconds: Sequence[float], workers: int) -> float:
    """Return the time at which the last task ends, if each free worker takes the next task.

    Examples
    --------
    >>> span([2.0, 1.0, 1.0], 2), span([1.0] * 5, 2)
    (2.0, 3.0)
    """
    free = [0.0] * max(1, workers)
    for task in seconds:
        heapq.heapreplace(free, free[0] + task)
    return max(free)


def speed() -> float:
    """Return the processor seconds that this machine takes to sort a million numbers: the best of three."""
    numbers = np.random.default_rng(0).random(1_000_000)
    best = np.inf
    for _ in range(3):
        began = time.process_time()
        np.sort(numbers)
        best = min(best, time.process_time() - began)
    return float(best)
