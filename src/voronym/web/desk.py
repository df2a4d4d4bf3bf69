"""The desk: open tables with their choices and runs. One run works, up to three wait."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from voronym.errors import InputError
from voronym.request.choices import PARTS
from voronym.request.wording import DECLARED
from voronym.table.formats import FORMATS, by_suffix
from voronym.table.packing import suffix_of
from voronym.web.attempts import Run, Sketch, Waiting
from voronym.web.book import Book, plain_book
from voronym.web.intake import Limits
from voronym.web.journal import Journal
from voronym.web.process import Process, Refused
from voronym.web.settings import Settings

WAITING, TABLES = 3, 4
PATIENCE = 0.7
"""Seconds to wait for a cancelled task to end."""


class Table:
    """A table on the desk, with its own worker."""

    def __init__(self, desk: Desk, path: Path, label: str, folder: Path, limits: Limits | None) -> None:
        self.id = secrets.token_urlsafe(9)
        self.desk, self.path, self.label, self.folder, self.limits = desk, path, label, folder, limits
        self.reading: dict[str, Any] = {}
        self.about: dict[str, Any] = {}
        self.journal = Journal(Settings())
        self.runs: list[Run] = []
        self.sketch: Sketch | None = None
        self.tickets: dict[str, Run] = {}
        self.judging = False
        """Whether it is a release to be judged, and not a table to be released."""
        self.original: Path | None = None
        self.judged: dict[str, Any] = {}
        self.book: Book | None = None
        """The ledger of earlier releases."""
        self.taken: list[Run] = []
        """Runs with a ledger whose releases were downloaded."""
        self.notes: dict[str, list[str]] = {}
        """Notes on imported projects: the settings taken over, and the settings left out."""
        self.given = folder / "given"
        """Where files lie that choices name: a policy, a population, a table that a policy needs."""
        self.given.mkdir(mode=0o700, exist_ok=True)
        self._process: Process | None = None
        self._gone = False
        self._lock = asyncio.Lock()

    @property
    def settings(self) -> Settings:
        """The present choices."""
        return self.journal.settings

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [column["name"] for column in self.about["columns"]]

    @property
    def files(self) -> list[str]:
        """Names of the files that were given for choices."""
        return sorted(file.name for file in self.given.iterdir())

    @property
    def suffix(self) -> str:
        """Suffix of the release: the table's, or ".csv" if that format cannot be written."""
        name = by_suffix(suffix_of(self.path))
        written = name is not None and FORMATS[name].write is not None and not FORMATS[name].database
        return suffix_of(self.path) if written else ".csv"

    def over_parts(self, chosen: Settings) -> bool:
        """Whether a release is made over many parts: then it is a folder."""
        scaled = any(DECLARED[name].purpose == PARTS for name in chosen.choices)
        return scaled or bool(self.about.get("parts"))

    def command(self, chosen: Settings, reading: Mapping[str, Any], book: Book | None) -> str:
        """Return the command line for the present choices."""
        name = "release" if self.over_parts(chosen) else f"release{self.suffix}"
        return chosen.command(self.label, reading, name, None if book is None else book.label)

    async def open(self, reading: dict[str, Any]) -> None:
        """Read the table, or read it again with other options; all choices are reset."""
        if any(not run.over for run in self.runs):
            raise InputError(
                "a run of this table is at work or waits, and uses the table as it was read before: wait "
                "for it, or cancel it, first"
            )
        async with self._lock:
            await self._stop_sketch()
            about = await self._read(await self._worker(), reading)
            self.reading, self.about = about["reading"], about
            self.journal = Journal(Settings.of_plain(about["settings"]))

    async def _read(self, process: Process, reading: dict[str, Any]) -> dict[str, Any]:
        limits = (
            None
            if self.limits is None
            else {"unpacked": self.limits.unpacked, "columns": self.limits.columns}
        )
        where: dict[str, Any] = {"path": str(self.path), "given": str(self.given)}
        about: dict[str, Any] = await process.ask("open", **where, reading=reading, limits=limits)
        return about

    async def _worker(self) -> Process:
        if self._process is None or not self._process.alive:
            if self._process is not None:
                await self._process.end()
            process = await self.desk.worker()
            if self._gone:  # forgotten meanwhile: nothing else would end this worker
                await process.end()
                raise Refused("the table was forgotten", "Forgotten")
            self._process = process
        return self._process

    async def worker(self) -> Process:
        """Return the worker that holds the table; if it ended, start another one and read the table again."""
        async with self._lock:
            for last in (False, True):  # the spare one may have been ended, too
                try:
                    if self._process is None or not self._process.alive:
                        await self._read(await self._worker(), self.reading)
                    break
                except Refused as error:
                    if last or error.kind != "Gone":
                        raise
            assert self._process is not None  # noqa: S101 - made just now
            return self._process

    async def ask(self, do: str, **given: Any) -> Any:
        """Ask the worker a short question; if the worker has ended, try once more with a new one."""
        try:
            return await (await self.worker()).ask(do, **given)
        except Refused as error:
            if error.kind != "Gone":
                raise
        return await (await self.worker()).ask(do, **given)

    async def draw(self, *, everything: bool = False) -> Sketch:
        """Return the preview for the current settings; start it if needed, and stop an older one."""
        drawn = self.sketch
        if drawn is None or drawn.settings != self.settings or (everything and not drawn.everything):
            await self._stop_sketch()
            drawn = self.sketch = Sketch(self.settings, everything=everything)
            drawn.work = asyncio.create_task(self._draw(drawn))
        return drawn

    async def _draw(self, sketch: Sketch) -> None:
        try:
            process = await self.worker()
            given = {
                "settings": sketch.settings.plain(),
                "ledger": plain_book(self.book),
                "everything": sketch.everything,
            }
            await process.ask("preview", sketch.hear, sketch.task, **given)
        except Refused as error:
            sketch.error = "" if error.kind == "Cancelled" else str(error)
        sketch.over = True
        sketch.ring()
        if effect := sketch.shown.get("effect"):
            self.journal.tried(sketch.settings, {**effect, "about": not sketch.shown["whole"]})

    async def _stop_sketch(self) -> None:
        sketch, self.sketch = self.sketch, None
        if sketch is not None and not sketch.over and sketch.task and self._process is not None:
            await self._process.wish(sketch.task[0], "cancel")

    async def remember(self, book: Book | None) -> None:
        """Use another ledger, or none (None), and draw the preview again."""
        await self._stop_sketch()
        self.book = book

    async def pause_sketch(self) -> None:
        """Give up an unfinished picture: a run needs the processor."""
        if self.sketch is not None and not self.sketch.over:
            await self._stop_sketch()

    async def run(self, run: Run) -> None:
        """Send a run to its worker, and wait until it is done, cancelled or failed."""
        await self.pause_sketch()
        run.state, run.started = "running", monotonic()
        run.progress = {"stage": "starting", "done": 0.0, "loss": None, "bound": None}
        try:
            process = await self.worker()
            if run.wished == "cancel":
                raise Refused("cancelled: nothing was made", "Cancelled")
            run.folder.mkdir(mode=0o700)
            place = {"folder": str(run.folder), "suffix": self.suffix, "ledger": plain_book(run.book)}
            given: dict[str, Any] = {"settings": run.settings.plain(), **place}
            run.shown = await process.ask("run", run.hear, run.task, **given)
            run.state = "done"
        except Refused as error:
            run.error, run.kind = str(error), error.kind
            cancelled = run.wished == "cancel" or error.kind == "Cancelled"
            run.state = "cancelled" if cancelled else "failed"
            shutil.rmtree(run.folder, ignore_errors=True)
        finally:
            run.seconds = monotonic() - run.started

    async def wish(self, run: Run, what: str) -> None:
        """Finish or cancel a run; if a cancelled run does not end, end its worker."""
        if run.over:
            return
        if run.state == "waiting":  # there is no best so far to finish with
            if what == "cancel":
                run.state, run.wished = "cancelled", what
            return
        run.wished = what
        if run.task and self._process is not None:
            await self._process.wish(run.task[0], what)
        if what == "cancel":
            ends = monotonic() + PATIENCE
            while not run.over and monotonic() < ends:
                await asyncio.sleep(0.02)
            if not run.over and self._process is not None:
                await self._process.end()

    @property
    def compiling(self) -> bool:
        """Whether its worker compiles kernels, which happens once per machine."""
        return self._process is not None and self._process.compiling

    @property
    def pid(self) -> int | None:
        """Process id of its worker; None without a worker."""
        return None if self._process is None or not self._process.alive else self._process.pid

    def give_up(self) -> Process | None:
        """Release the worker."""
        process, self._process = self._process, None
        return process

    async def forget(self) -> None:
        """End the worker and remove all files."""
        self._gone = True
        for run in self.runs:
            run.wished = run.wished or "cancel"
            run.state = run.state if run.over or run.state == "running" else "cancelled"
        if self._process is not None:
            await self._process.end()
        if self.sketch is not None and self.sketch.work is not None:
            await asyncio.gather(self.sketch.work, return_exceptions=True)
        shutil.rmtree(self.folder, ignore_errors=True)


async def _itself(process: Process) -> Process:
    return process


class Desk:
    """All tables, the spare worker, and the queue of runs."""

    def __init__(self, folder: Path, limits: Limits, memory: int) -> None:
        self.folder, self.limits, self.memory = folder, limits, memory
        self.tables: dict[str, Table] = {}
        self.waiting: Waiting | None = None
        """A recipe that waits for its table."""
        self.note = ""
        self.gathering: dict[str, Path] = {}
        """Folders of tables whose files are still being sent."""
        self._spare: asyncio.Task[Process] | None = None
        self._queue: deque[tuple[Table, Run]] = deque()
        self._busy: tuple[Table, Run] | None = None
        self._loop: asyncio.Task[None] | None = None

    def prepare(self) -> None:
        """Start a worker for the next table in advance, because a start takes one or two seconds."""
        if self._spare is None:
            self._spare = asyncio.create_task(Process.start(self.memory))

    async def worker(self) -> Process:
        """Return a fresh worker."""
        self.prepare()
        assert self._spare is not None  # noqa: S101 - made just now
        taken, self._spare = self._spare, None
        process = await taken
        if not process.alive:
            await process.end()
            process = await Process.start(self.memory)
        return process

    def place(self) -> Path:
        """Make a folder for one table; refuse if the desk holds its maximum of tables."""
        if len(self.tables) >= TABLES:
            raise InputError(f"{TABLES} tables are open, the most that fit: forget one of them first")
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    async def add(
        self,
        path: Path,
        label: str,
        folder: Path,
        limits: Limits | None,
        reading: Mapping[str, Any] | None = None,
        *,
        judging: bool = False,
        waiting: Waiting | None = None,
    ) -> Table:
        """Put a table on the desk; if it cannot be read, remove all traces."""
        table = Table(self, path, label, folder, limits)
        table.judging = judging
        before = self.waiting
        if waiting is None and not judging:
            waiting, self.waiting = self.waiting, None
        try:
            await table.open({**(waiting.reading if waiting is not None else {}), **(reading or {})})
            if waiting is not None:
                waiting.into(table.given, table.journal)
                table.notes = dict(waiting.notes)
        except BaseException as error:
            self.waiting = before
            await self._take_back(table, error)
            await table.forget()
            raise
        self.tables[table.id] = table
        self.prepare()
        return table

    async def _take_back(self, table: Table, error: BaseException) -> None:
        """Keep the worker of an unreadable table for the next table: it holds no data."""
        process = table.give_up()
        if process is None:
            return
        if isinstance(error, Refused) and process.alive and self._spare is None:
            self._spare = asyncio.create_task(_itself(process))
        else:
            await process.end()

    async def forget(self, table: Table) -> None:
        """Remove a table from the desk."""
        self.tables.pop(table.id, None)
        self._queue = deque(pair for pair in self._queue if pair[0] is not table)
        await table.forget()

    @property
    def ahead(self) -> int:
        """Number of runs that work or wait."""
        return len(self._queue) + (self._busy is not None)

    def enqueue(self, table: Table) -> Run:
        """Add a run of a table to the queue, with its present settings."""
        self._queue = deque(pair for pair in self._queue if not pair[1].over)
        if self._busy is not None and len(self._queue) >= WAITING:
            raise InputError(
                f"one run is at work and {WAITING} wait, the most that may wait: cancel one first"
            )
        number = len(table.runs) + 1
        run = Run(number, table.settings, table.folder / f"run-{number}", reading=dict(table.reading))
        run.book = table.book
        table.runs.append(run)
        self._queue.append((table, run))
        if self._loop is None or self._loop.done():
            self._loop = asyncio.create_task(self._work())
        return run

    async def _work(self) -> None:
        while self._queue:
            table, run = self._busy = self._queue.popleft()
            try:
                if not run.over:
                    await table.run(run)
            except Exception as error:  # nothing that a run does ends the queue
                run.state, run.error = "failed", f"this is a defect of voronym: {type(error).__name__}"
            finally:
                self._busy = None

    async def clear(self) -> None:
        """Forget all tables."""
        self._queue.clear()
        for table in list(self.tables.values()):
            await self.forget(table)
        self.waiting = None

    async def close(self) -> None:
        """Stop everything."""
        await self.clear()
        if self._loop is not None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.gather(self._loop, return_exceptions=True), 5)
        if self._spare is not None:
            await (await self._spare).end()
        shutil.rmtree(self.folder, ignore_errors=True)
