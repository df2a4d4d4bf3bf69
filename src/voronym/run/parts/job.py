"""A job: the description of the work in the work folder, and its stages.

A *stage* is a list of independent tasks; a *task* is a number in this list. A task writes its results and its
answer, a few counts, to the work folder. A task with an answer is not run again. So a runner only has to call
`perform` for every number of a stage, anywhere and in any order. A crash costs only unfinished tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from voronym.core.context import Context
from voronym.errors import VoronymError, hint, speaking
from voronym.request.recipe import Recipe
from voronym.request.request import Request
from voronym.run.parts import spill, store
from voronym.run.parts.afar import exists, is_afar, path_of
from voronym.run.parts.coding import Coding
from voronym.run.parts.source import Dataset
from voronym.run.parts.texts import Layout
from voronym.table.encoders.levels import KnownLevels
from voronym.table.schema import Schema
from voronym.table.totals import Totals

LEAF = 250_000
"""Approximate number of records of a leaf."""
ROUNDS = 3
"""Number of successive cuts into leaves."""
SAMPLE = 262_144
"""Largest number of records on which cuts are computed."""
LOOK = 100_000
"""Number of records examined before the work, for kinds of columns and for doubts."""
FILE = 1_000_000
"""Approximate number of rows of a file of the release."""

BASE = 350 * 2**20
"""Bytes of a worker before it has read a row."""
ROW = 800
"""Approximate bytes of a record of a leaf during grouping, with all copies."""


class ShortOfMemoryError(VoronymError):
    """A task needs more memory than a worker has; with fewer workers each has more."""


Stage = Callable[["Job", Any], Any]
STAGES: dict[str, Stage] = {}
_DECIDED: set[str] = set()
"""Decisions seen in stores: they stay as long as their folder, and a store takes its time to answer."""


@dataclass(frozen=True)
class Job:
    """The work to do.

    Parameters
    ----------
    work : Path
        The work folder, which every worker reaches by this name; also one in an object store.
    release : Path
        Folder of the unfinished release.
    target : Path, optional
        Path of the release.
    files : tuple of str
        The files, as they were found.
    names : tuple of str
        Names of the files in messages.
    request : Request
        The request.
    reading : mapping
        Reading options of text files.
    leaf, wanted : int
        Records of a leaf, and the number of cuts, if groups continue from one cut to the next.
    fixed : Recipe, optional
        A recipe that states columns and release, in place of the request.
    everything : bool
        Whether to keep columns of all roles, because the data are measured and not released.
    format : {"parquet", "csv"}
        Format of the release's files.
    style : mapping
        Form of text files, if it differs from the source.
    report : bool
        Whether figures for a report are found.
    stamps : tuple
        Size and time of each file; a resumed run must have the same ones.
    ledger : str, optional
        The ledger that knows the people of earlier releases.
    strangers : bool
        Accept a table of which the ledger knows nearly nobody.
    workers : int
        Number of parallel tasks, for dividing a time limit.
    """

    work: Path
    release: Path
    files: tuple[str, ...]
    names: tuple[str, ...]
    request: Request = field(default_factory=Request)
    reading: Mapping[str, Any] = field(default_factory=dict)
    leaf: int = LEAF
    wanted: int = ROUNDS
    fixed: Recipe | None = None
    everything: bool = False
    format: str = "parquet"
    style: Mapping[str, Any] = field(default_factory=dict)
    report: bool = False
    stamps: tuple[tuple[int, int], ...] = ()
    ledger: str | None = None
    strangers: bool = False
    workers: int = 1
    target: Path | None = None

    def path(self, stage: str, number: int, suffix: str = "arrow") -> Path:
        """Return the file of a task."""
        return self.work / f"{stage}-{number:06d}.{suffix}"

    def paths(self, stage: str, tasks: int) -> list[Path]:
        """Return the files of all tasks of a stage, in order."""
        return [self.path(stage, number) for number in range(tasks)]

    def recall(self, name: str) -> Any:
        """Return an intermediate decision: the data set, the recipe, the coding, the cuts."""
        return recalled(self.work / f"{name}.json")

    def decide(self, name: str, value: Any) -> None:
        """Write down a decision that all later tasks need."""
        spill.keep(self.work / f"{name}.json", value)

    def decided(self, name: str) -> bool:
        """Whether a decision is written down."""
        path = self.work / f"{name}.json"
        if not is_afar(path):
            return path.exists()
        if str(path) not in _DECIDED and exists(path):
            _DECIDED.add(str(path))
        return str(path) in _DECIDED

    @property
    def dataset(self) -> Dataset:
        """The parts of the data."""
        result: Dataset = self.recall("dataset")
        return result

    @property
    def recipe(self) -> Recipe:
        """The recipe, with its schema."""
        result: Recipe = self.recall("recipe")
        return result

    @property
    def schema(self) -> Schema:
        """The schema of the grouped table: steps may have changed it."""
        schema: Schema = self.recall("schema") if self.decided("schema") else self.recipe.schema
        return schema

    @property
    def released_schema(self) -> Schema:
        """The schema of the published table; columns of ranges are texts in it."""
        if self.decided("later"):
            schema: Schema = self.recall("later")[0]
            return schema
        shape = self.recall("shape")
        return self.schema if shape.schema is None else shape.schema

    @property
    def layout(self) -> Layout:
        """The layout of the release's files; for private columns it does not depend on the data."""
        layout: Layout = self.recall("layout")
        if not self.decided("recipe") or self.recipe.private is None or layout.source is None:
            return layout
        every = self.recipe.private.scope == "all"
        names = [column.name for column in self.recipe.schema if every or column.role == "key"]
        return replace(layout, source=layout.source.neutral(names))

    @property
    def pieces(self) -> int:
        """Number of pieces into which the data are divided."""
        return int(self.recall("pieces")) if self.decided("pieces") else len(self.dataset.parts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.dataset.rows

    @property
    def rounds(self) -> int:
        """Number of times that leaves are cut."""
        return int(self.recall("rounds")) if self.decided("rounds") else self.wanted

    @property
    def judged(self) -> tuple[str, ...]:
        """The columns that models compare with the whole data set."""
        judging = any(model.confidential for model in self.recipe.required)
        return self.recipe.schema.confidential if judging else ()

    @property
    def choices(self) -> Recipe:
        """The recipe, with the intermediate decisions."""
        recipe = self.recipe
        return replace(recipe, publish_weights=self.recall("weights")) if self.decided("weights") else recipe

    @property
    def coding(self) -> Coding:
        """The coding of rows, and of keys as numbers."""
        return _coding(*_stamp(self.work / "summaries.json"), tuple((self.recipe.importance or {}).items()))

    @property
    def totals(self) -> Totals:
        """The figures of the whole data set that leaves are judged by."""
        return self._totals("kept" if self.decided("kept") else "judged")

    @property
    def released_totals(self) -> Totals:
        """Totals over the whole release; written files are judged against them."""
        return self._totals("released" if self.decided("released") else "judged")

    def _totals(self, name: str) -> Totals:
        known: dict[str, Any] = {"judged": {}, "strata": {}, "rows": self.rows}
        known = self.recall(name) if self.decided(name) else known
        levels = {column: KnownLevels(column, summary) for column, summary in known["judged"].items()}
        codec = self.coding.codec if self.decided("summaries") else None
        return Totals(known["rows"], codec, levels, known["strata"] if self.recipe.strata else {})

    def context(self, *seed: int, device: str = "cpu") -> Context:
        """Return the context of a task: one thread, and random numbers that depend only on the task."""
        import numpy as np

        rng = np.random.default_rng([self.recipe.seed or 0, *seed])
        return Context(seed=rng, threads=1, device=device)


def needed(records: int) -> int:
    """Return the bytes that a worker needs to group this many records at a time."""
    return BASE + ROW * records


def recalled(path: Path) -> Any:
    """Return the stored content of a work file, read once per process."""
    return _recalled(*_stamp(path))


def _stamp(path: Path) -> tuple[str, int, int]:
    if is_afar(path):  # a folder with a name of its own, and in it nothing is written twice
        return str(path), 0, 0
    about = path.stat()
    return str(path), about.st_ino, about.st_mtime_ns


@lru_cache(maxsize=4)
def _coding(path: str, inode: int, time: int, importance: tuple[tuple[str, float], ...]) -> Coding:
    known = _recalled(path, inode, time)
    return Coding(known["schema"], known["summaries"], known["rows"], dict(importance))


@lru_cache(maxsize=24)
def _recalled(path: str, *stamp: int) -> Any:
    del stamp  # another job may have made a file of this name meanwhile
    return spill.recall(path_of(path))


def stage(name: str) -> Callable[[Stage], Stage]:
    """Register the function that does the tasks of a stage."""

    def register(function: Stage) -> Stage:
        STAGES[name] = function
        return function

    return register


def answer_path(work: Path, name: str, number: int) -> Path:
    """Return the file of a task's answer."""
    return work / f"{name}-{number:06d}.done"


def perform(work: str, name: str, number: int) -> Any:
    """Run one task on any machine and return its answer; reuse an existing answer."""
    import voronym.run.parts.measuring
    import voronym.run.parts.portrait
    import voronym.run.parts.private
    import voronym.run.parts.whole
    import voronym.run.parts.writing  # noqa: F401 - the stages, which register themselves
    from voronym.run.parts.folders import check_ours

    folder = path_of(work)
    check_ours(folder)
    path = answer_path(folder, name, number)
    if exists(path):
        return spill.recall(path)
    job: Job = recalled(folder / spill.JOB)
    try:
        with speaking("marks"):  # the leader words the error of its worker
            answer = STAGES[name.split("@")[0]](job, number) if "@" not in name else _turn(job, name, number)
    except MemoryError:
        raise ShortOfMemoryError(
            f"a task of the stage {name!r} needs more memory than a worker has: give {hint('memory')} "
            f"more, take fewer {hint('workers')} or a smaller {hint('leaf')}"
        ) from None
    spill.keep(path, answer)
    return answer


def _turn(job: Job, name: str, number: int) -> Any:
    """Run a task of a numbered stage, such as ``round@2``."""
    base, _, turn = name.partition("@")
    return STAGES[base](job, (int(turn), number))


def allow_stored() -> None:
    """Allow these classes in a work folder, and no others."""
    from voronym.core.figures import kinds
    from voronym.dossier.parts import Dossier
    from voronym.dp.cells import Cells, Question
    from voronym.dp.domain import Domain, Range
    from voronym.dp.leaves import Turn
    from voronym.evaluate.moved import KeyChange
    from voronym.history.ledger import Entry
    from voronym.privacy.base import Finding
    from voronym.request.choices import ColumnChoices, ReleaseChoices, RunChoices
    from voronym.result import Cost
    from voronym.run.parts.cuts import Tree
    from voronym.run.parts.learn import Cuts
    from voronym.run.parts.leaves import Shape
    from voronym.run.parts.source import Part
    from voronym.steps.effect import Effect
    from voronym.table.dialect import Dialect, Reading
    from voronym.table.exact import Moments
    from voronym.table.moments import Moment
    from voronym.table.numerals import Number
    from voronym.table.schema import Column
    from voronym.table.source import Source
    from voronym.table.spelling import Spelling
    from voronym.table.summaries import LevelCounts, NumberSummary, PlaceSummary

    store.stored(
        Job, Request, ColumnChoices, ReleaseChoices, RunChoices, Recipe, Schema, Column, Dataset, Part,
        Layout, Dialect, Reading, Source, Spelling, Number, Moment, Moments, LevelCounts, NumberSummary,
        PlaceSummary, Tree, Cuts, Shape, Finding, Effect, Cost, Entry, Cells, Question, Turn, Range,
        Domain, KeyChange, *store.classes_of(Dossier),
        *(part for kind in kinds() for part in store.classes_of(kind)),
    )  # fmt: skip
