"""The stages of a job: open tasks, progress, and results."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from voronym.core.clock import now
from voronym.core.context import Context
from voronym.run.parts import spill
from voronym.run.parts.afar import asked, discard, held, is_afar, size_of
from voronym.run.parts.job import Job, answer_path
from voronym.run.parts.outcome import spoken
from voronym.run.parts.runners import RUNNERS, Runner
from voronym.run.parts.watching import Watch
from voronym.steps.effect import Effect

WEIGHTS = {"convert": 3.0, "look": 1.0, "whole": 20.0, "scan": 3.0, "cut": 1.0, "spread": 3.0, "round": 10.0,
           "write": 2.0, "sort": 1.0, "count": 1.0}  # fmt: skip
"""Approximate cost of a row in each stage, for the share done."""
SELDOM = ("convert", "whole")
"""Stages that most runs skip: converting texts, and releasing a data set of one leaf."""


@dataclass
class Course:
    """The history of a run."""

    seconds: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    bytes_spilled: int = 0
    guarded: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    answers: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    sealed: dict[str, str] = field(default_factory=dict)
    """Files of the release, with their digests when they were counted."""


class Stages:
    """A job, its workers, and its history."""

    def __init__(self, job: Job, runner: Runner, ctx: Context, watch: Watch | None = None) -> None:
        self.job, self.runner, self.ctx = job, runner, ctx
        self.watch = Watch() if watch is None else watch
        self.course = Course()
        self._done = 0.0
        self._all = 1.0
        self._loss: float | None = None
        self._looked, self._there = -2.0, 0

    def expect(self, rounds: int) -> None:
        """Set the number of rounds, for the share of work done."""
        seldom = sum(WEIGHTS[name] for name in SELDOM)
        self._all = sum(WEIGHTS.values()) - seldom + (rounds - 1) * WEIGHTS["round"]

    def perform(self, name: str, tasks: int) -> list[Any]:
        """Run the open tasks of a stage; return all answers, in the order of the tasks."""
        started, work = now(), self.job.work
        weight = WEIGHTS.get(name.split("@")[0], 1.0)
        if name == "convert":
            self._all += weight
        elif name == "whole":
            self._all = self._done + weight + WEIGHTS["write"]
        answers: dict[int, Any] = {}
        left = []
        with asked(work):
            done = {path.name for path in work.glob(f"{name}-*.done")}
        for number in range(tasks):
            path = answer_path(work, name, number)
            if path.name in done:
                answers[number] = spill.recall(path)
            else:
                left.append(number)

        self.watch.begin(name, tasks, len(answers))

        def wait() -> None:
            spilled = self.course.bytes_spilled + self._held()
            self.watch.step(name, len(answers), self.runner.alive, spilled, self.course.rows)
            share = (self._done + weight * len(answers) / tasks) / self._all
            self.ctx.part(0.0, 1.0, stage=self._picture(name, len(answers), tasks)).tell(
                min(share, 0.99), self._loss, whole=True
            )

        wait()
        for number, answer in self._crew(name, tasks).run(str(work), name, left, wait):
            answers[number] = answer
            if isinstance(answer, dict) and "error" in answer:
                held = [part for part in answers.values() if part["spread"] > 0.0]
                self._loss = (
                    100.0
                    * sum(part["error"] for part in held)
                    / max(sum(part["spread"] for part in held), 1e-300)
                )
            wait()
        self._done += weight
        self.course.seconds[name] = now() - started
        self.watch.end(name, self.course.seconds[name])
        return [answers[number] for number in range(tasks)]

    def _crew(self, name: str, tasks: int) -> Runner:
        """Return the runner of a stage: this process for single tasks that read files of its machine."""
        files = name == "look" or self.job.ledger is not None
        if not (files and tasks == 1 and is_afar(self.job.work)):
            return self.runner
        return RUNNERS["local"](workers=1, memory=self.runner.memory)

    def _picture(self, name: str, done: int, tasks: int) -> str:
        """Describe the present work in a few words."""
        words = {"convert": "reading text", "look": "looking", "scan": "reading", "cut": "cutting",
                 "spread": "sharing out", "whole": "grouping", "write": "writing", "sort": "reading back",
                 "count": "counting", "measure": "measuring", "draw": "sampling", "bars": "drawing",
                 "bucket": "sorting", "tally": "counting", "levels": "reading", "known": "reading",
                 "meet": "bringing people together", "columns": "changing columns", "mask": "masking",
                 "joined": "sharing out", "score": "choosing", "leave": "leaving out",
                 "later": "changing columns", "bounded": "reading", "answer": "adding up",
                 "last": "counting", "private": "masking"}  # fmt: skip
        base, _, turn = name.partition("@")
        result = words.get(base, f"grouping, round {int(turn or 0) + 1} of {self.job.rounds}")
        if tasks < 2:
            return result
        workers = f", {self.runner.alive} workers" if self.runner.alive > 1 else ""
        spilled = self.course.bytes_spilled + self._held()
        through = f", {spoken(spilled)} spilled" if spilled else ""
        return f"{result}: {done} of {tasks}{workers}{through}"

    def _held(self) -> int:
        """Return the bytes of rows in the work folder, measured every other second."""
        if now() > self._looked + 2.0:
            self._looked, self._there = now(), held(self.job.work)
        return self._there

    def forget(self, name: str, tasks: int) -> None:
        """Remove files that all readers have read."""
        for path in self.job.paths(name, tasks):
            with contextlib.suppress(OSError):
                size = size_of(path)
                discard(path)
                self.course.bytes_spilled += size
                self._there = max(self._there - size, 0)
