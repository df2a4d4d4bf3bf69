"""Attempts on a table: runs, previews, and choices that wait for their table."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from voronym.web.book import Book
from voronym.web.journal import Journal
from voronym.web.settings import Settings

AWHILE = 1.0
"""Longest wait for news of a picture, in seconds."""
OVER = ("done", "failed", "cancelled")


@dataclass
class Run:
    """An attempt to make a release."""

    number: int
    settings: Settings
    folder: Path
    state: str = "waiting"
    progress: dict[str, Any] = field(default_factory=lambda: {"stage": "waiting", "done": 0.0})
    loss: float | None = None
    bound: float | None = None
    reports: int = 0
    started: float = 0.0
    seconds: float = 0.0
    error: str = ""
    kind: str = ""
    shown: dict[str, Any] = field(default_factory=dict)
    task: list[int] = field(default_factory=list)
    wished: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    """The options with which the table was read for this run."""
    book: Book | None = None
    """The ledger that it was made with."""

    @property
    def packed(self) -> bool:
        """Whether its download holds more than one file: many parts, or a ledger."""
        return (self.folder / "release.zip").is_file()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in OVER

    def hear(self, result: dict[str, Any]) -> None:
        """Store a progress report; keep the last loss and bound if it has none."""
        progress = result.get("progress")
        if progress is not None:
            self.progress, self.reports = progress, self.reports + 1
            self.loss = progress["loss"] if progress["loss"] is not None else self.loss
            self.bound = progress["bound"] if progress["bound"] is not None else self.bound


@dataclass
class Sketch:
    """The preview of a release with the current choices: figures so far, and the loss at other k."""

    settings: Settings
    points: dict[int, dict[str, Any]] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    """Figures, rows and ladder at the chosen k; results of the whole table replace those of the sample."""
    sample: dict[str, int] = field(default_factory=dict)
    between: list[float] = field(default_factory=list)
    """The expected range of the whole table's loss, if a sample was tried."""
    plan: list[list[str]] = field(default_factory=list)
    """The work and cost of a run over many parts, a line each."""
    over: bool = False
    error: str = ""
    task: list[int] = field(default_factory=list)
    work: asyncio.Task[None] | None = None
    everything: bool = False
    """Whether a large table is previewed as a whole instead of a sample."""
    done: float = 0.0
    started: float = field(default_factory=monotonic)
    news: int = 0
    """Number of reports received."""
    _bell: asyncio.Event = field(default_factory=asyncio.Event)

    def ring(self) -> None:
        """Wake all requests that wait for news."""
        self.news += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def after(self, seen: str) -> None:
        """Wait a short time for news that the browser has not seen."""
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(AWHILE):
                while not self.over and (not self.shown or seen == self.mark):
                    await self._bell.wait()

    @property
    def mark(self) -> str:
        """A mark of the visible state, for `after`."""
        return f"{self.started}-{self.news}"

    def hear(self, result: dict[str, Any]) -> None:
        """Store a point or further figures of the preview; they replace earlier values."""
        if "point" in result:
            self.points[result["point"]["k"]] = result["point"]
        self.shown = {**self.shown, **result.get("shown", {})}
        self.done = result.get("progress", {}).get("done", self.done)
        self.sample = result.get("sample", self.sample)
        self.plan = result.get("plan", self.plan)
        self.between = result.get("between", self.between)
        self.ring()


@dataclass(frozen=True)
class Waiting:
    """Choices of a recipe that wait for their table, with the files that they name.

    Parameters
    ----------
    settings : Settings
        The choices.
    reading : mapping
        Reading options of the table.
    files : mapping
        Names and texts of the files.
    notes : mapping
        Settings ``taken`` from a project of another program, and settings ``left`` out.
    """

    settings: Settings
    reading: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, list[str]] = field(default_factory=dict)

    def into(self, given: Path, journal: Journal) -> None:
        """Make the choices for a table, and store the files in its folder."""
        for name, text in self.files.items():
            (given / name).write_text(text, encoding="utf-8")
        words = "taken from a project of ARX" if self.notes else "taken from a recipe"
        journal.keep(self.settings, words=words)
