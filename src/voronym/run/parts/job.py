"""A job: what is to be done, as every worker reads it from the work folder, and the stages that it has.

A *stage* is a list of tasks that do not need each other; a *task* is the number of one. What a task makes
goes into the work folder, and so does its answer, a few counts: whoever finds the answer there need not do
the task again. So a runner is one that calls `perform` for every number of a stage, anywhere and in any
order, and a crash costs the tasks that were under way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from voronym.core.context import Context
from voronym.errors import VoronymError
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.run.parts import spill
from voronym.run.parts.source import Dataset

LEAF = 250_000
"""Records of a leaf, about."""
ROUNDS = 3
"""Cuts, one after the other."""
SAMPLE = 262_144
"""Records on which cuts are made, at most."""
LOOK = 100_000
"""Records that are looked at before the work, for kinds of columns and for doubts."""
FILE = 1_000_000
"""Rows of a file of the release, about."""

BASE = 350 * 2**20
"""Bytes that a worker takes before it has read a row."""
ROW = 800
"""Bytes that a record of a leaf takes while it is grouped, about, with all copies."""

Stage = Callable[["Job", Any], Any]
STAGES: dict[str, Stage] = {}


@dataclass(frozen=True)
class Job:
    """What is to be done.

    Parameters
    ----------
    work : Path
        The work folder, which every worker reaches by this name.
    release : Path
        Where the files of the release are made, before they get their place.
    files : tuple of str
        The files, as they were found.
    names : tuple of str
        What messages call them.
    request : Request
        What is asked for.
    reading : mapping
        How text files are read.
    leaf, rounds : int
        Records of a leaf, and how often leaves are cut.
    fixed : Recipe, optional
        A recipe that states columns and release, in place of the request.
    everything : bool
        Whether all columns are kept, whatever their role: where data are measured, and not released.
    format : {"parquet", "csv"}
        Of the files of the release.
    style : mapping
        How text files are to be written, where it is not as they were read.
    report : bool
        Whether figures for a report are found.
    stamps : tuple
        Size and time of each file: what is resumed must be about the same ones.
    """

    work: Path
    release: Path
    files: tuple[str, ...]
    names: tuple[str, ...]
    request: Request = field(default_factory=Request)
    reading: Mapping[str, Any] = field(default_factory=dict)
    leaf: int = LEAF
    rounds: int = ROUNDS
    fixed: Recipe | None = None
    everything: bool = False
    format: str = "parquet"
    style: Mapping[str, Any] = field(default_factory=dict)
    report: bool = False
    stamps: tuple[tuple[int, int], ...] = ()

    def path(self, stage: str, number: int, suffix: str = "arrow") -> Path:
        """Return the file that a task makes."""
        return self.work / f"{stage}-{number:06d}.{suffix}"

    def paths(self, stage: str, tasks: int) -> list[Path]:
        """Return the files that all tasks of a stage make, in their order."""
        return [self.path(stage, number) for number in range(tasks)]

    def recall(self, name: str) -> Any:
        """Return what was decided on the way: the data set, the recipe, the coding, the cuts."""
        return recalled(self.work / f"{name}.pickle")

    def decide(self, name: str, value: Any) -> None:
        """Write down what all later tasks need."""
        spill.keep(self.work / f"{name}.pickle", value)

    def decided(self, name: str) -> bool:
        """Whether it is written down."""
        return (self.work / f"{name}.pickle").exists()

    @property
    def dataset(self) -> Dataset:
        """The parts of the data."""
        found: Dataset = self.recall("dataset")
        return found

    @property
    def recipe(self) -> Recipe:
        """The recipe, schema included."""
        found: Recipe = self.recall("recipe")
        return found

    def context(self, *seed: int) -> Context:
        """Return the context of a task: one thread, and random numbers that depend on the task alone."""
        import numpy as np

        return Context(seed=np.random.default_rng([self.recipe.seed or 0, *seed]), threads=1)


def needed(records: int) -> int:
    """Return the bytes that a worker needs which groups that many records at a time."""
    return BASE + ROW * records


def recalled(path: Path) -> Any:
    """Return what a file of ours holds, read once in each process."""
    found = path.stat()
    return _recalled(str(path), found.st_ino, found.st_mtime_ns)


@lru_cache(maxsize=16)
def _recalled(path: str, *stamp: int) -> Any:
    del stamp  # another job may have made a file of this name meanwhile
    return spill.recall(Path(path))


def stage(name: str) -> Callable[[Stage], Stage]:
    """Register the function that does the tasks of a stage."""

    def register(function: Stage) -> Stage:
        STAGES[name] = function
        return function

    return register


def answer_path(work: Path, name: str, number: int) -> Path:
    """Return where the answer of a task is kept."""
    return work / f"{name}-{number:06d}.done"


def perform(work: str, name: str, number: int) -> Any:
    """Do one task, wherever this is, and return its answer; at once, where it was done before."""
    import voronym.run.parts.measuring
    import voronym.run.parts.portrait
    import voronym.run.parts.writing  # noqa: F401 - the stages, which register themselves

    folder = Path(work)
    path = answer_path(folder, name, number)
    if path.exists():
        return spill.recall(path)
    job: Job = recalled(folder / "job.pickle")
    try:
        answer = STAGES[name.split("@")[0]](job, number) if "@" not in name else _turn(job, name, number)
    except MemoryError:
        raise VoronymError(
            f"a task of the stage {name!r} needs more memory than a worker has: give --memory more, take "
            "fewer --workers or a smaller --leaf"
        ) from None
    spill.keep(path, answer)
    return answer


def _turn(job: Job, name: str, number: int) -> Any:
    """Do a task of a stage that there are several of, such as ``round@2``."""
    base, _, turn = name.partition("@")
    return STAGES[base](job, (int(turn), number))
