"""Make stale or missing results again, in several processes; keep each one when it is done."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import Any

from voronym.errors import InputError
from voronym_papers.base import Outcome, Paper, reproduce
from voronym_papers.stored import check_folder, plain, put, wanted

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables for the number of threads of libraries; each process uses one thread."""


def renew(
    papers: Sequence[Paper],
    folder: Path,
    *,
    jobs: int = 1,
    modes: Sequence[bool] = (True, False),
    tell: Callable[[str], object] = str,
) -> list[str]:
    """Run every experiment whose kept result is stale or missing, the longest first; return the failures.

    Parameters
    ----------
    papers : sequence of Paper
        Papers whose results are made.
    folder : Path
        Folder of each paper's ``NAME.json``; written after every run, so that little is lost at an
        interruption.
    jobs : int
        Processes.
    modes : sequence of bool
        Full runs (True), quick runs (False), or both.
    tell : callable
        Called with a line after each run.
    """
    if jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")
    check_folder(folder)
    tasks = [
        (seconds, entry, name, full)
        for entry in papers
        for name, full, seconds in wanted(entry, folder)
        if full in modes
    ]
    tasks.sort(key=lambda task: -task[0])
    tell(f"{len(tasks)} runs are stale or lacking, some {sum(task[0] for task in tasks) / 60:.0f} minutes")
    failed: list[str] = []
    if not tasks:
        return failed
    os.environ.update(dict.fromkeys(THREADS, "1"))  # before the processes start
    begin = perf_counter()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(tasks)), spawn) as pool:
        waiting = {
            pool.submit(_work, entry.name, name, full): (entry, name, full) for _, entry, name, full in tasks
        }
        for number, future in enumerate(as_completed(waiting), start=1):
            entry, name, full = waiting[future]
            what = f"{entry.name}, {name}, {'full' if full else 'quick'}"
            try:
                run = future.result()
            except Exception as error:  # the other runs go on
                failed.append(f"{what}: {type(error).__name__}: {error}")
                tell(f"failed: {failed[-1]}")
                continue
            put(entry, name, full, run, folder)
            spent = perf_counter() - begin
            took = f"{run['seconds']:.0f} s, {len(run['marks'])} figures; {spent:.0f} s in all"
            tell(f"{number}/{len(tasks)} {what}: {took}")
    return failed


def _work(paper: str, experiment: str, full: bool) -> dict[str, Any]:
    """Run one experiment in a separate process; return its figures as plain values."""
    from voronym_papers import PAPERS, solvers  # noqa: F401 - importing registers

    outcomes: list[Outcome] = list(reproduce(paper, full=full, item=experiment, watch=True))
    return plain(PAPERS[paper], next(item for item in outcomes if item.experiment.name == experiment))
