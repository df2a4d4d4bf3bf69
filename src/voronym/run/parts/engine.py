"""One job from files to a release in files, whoever does the tasks; or nothing."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voronym.core.clock import now
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError, WriteError
from voronym.privacy import Finding
from voronym.request.recipe import Recipe
from voronym.run import checks
from voronym.run.parts import counting, spill
from voronym.run.parts.grouping import SEARCHES, demanding
from voronym.run.parts.job import FILE, LEAF, Job, answer_path, needed
from voronym.run.parts.outcome import spoken, too_little
from voronym.run.parts.runners import Runner
from voronym.run.parts.source import Dataset, is_parquet, survey
from voronym.run.parts.texts import Layout, layout_of
from voronym.table.doubts import refuse
from voronym.table.doubts.exposed import SHARE

WEIGHTS = {"convert": 3.0, "look": 1.0, "whole": 20.0, "scan": 3.0, "cut": 1.0, "spread": 3.0, "round": 10.0,
           "write": 2.0, "sort": 1.0, "count": 1.0}  # fmt: skip
"""What a row costs in each stage, about, for the share that is done."""


def buckets_of(rows: int, leaf: int = LEAF) -> int:
    """Return into how many buckets rows are sorted to be counted: in one, no more of them than in a leaf."""
    return max(1, -(-rows // min(FILE, max(leaf, LEAF))))


@dataclass
class Course:
    """What happened on the way, for whoever asks."""

    seconds: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    bytes_spilled: int = 0
    guarded: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    answers: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Engine:
    """Leads a job through its stages."""

    def __init__(self, job: Job, runner: Runner, ctx: Context) -> None:
        self.job, self.runner, self.ctx = job, runner, ctx
        self.course = Course()
        self._done = 0.0
        self._all = 1.0
        self._loss: float | None = None
        self._looked, self._there = -2.0, 0

    # -- the way -------------------------------------------------------------------------------------------

    def dataset(self) -> Dataset:
        """Find the parts; text files, and databases, become Parquet in the work folder."""
        job = self.job
        self._all = sum(WEIGHTS.values()) + (job.rounds - 1) * WEIGHTS["round"]
        if not job.decided("dataset"):
            files, names = [Path(one) for one in job.files], list(job.names)
            absent: list[str] = []
            told: list[Any] = []
            if not is_parquet(files[0]):
                told = self._stage("convert", len(files))
                columns = [one for one, _ in told]
                for name, one in zip(names, columns, strict=True):
                    if set(one) != set(columns[0]):
                        odd = sorted(set(one) ^ set(columns[0]))
                        raise InputError(
                            f"{name!r} has other columns than {names[0]!r}: {', '.join(map(repr, odd[:5]))}; "
                            "all files need the same"
                        )
                files = [job.path("text", number, "parquet") for number in range(len(files))]
                absent = columns[0]
            job.decide("layout", layout_of(job.format, job.style, [how for _, how in told]))
            data = survey(files, names)
            if absent:  # identifiers are named, though they were never kept
                import polars as pl

                types = {name: data.types.get(name, pl.Null()) for name in absent}
                data = Dataset(data.parts, types, data.bytes)
            job.decide("dataset", data)
        return job.dataset

    def prepare(self) -> tuple[Dataset, Recipe]:
        """Find parts, kinds and doubts; nothing is grouped yet."""
        job, data = self.job, self.dataset()
        self.course.rows, self.course.bytes_read = data.rows, data.bytes
        found = self._stage("look", 1)[0]
        self.course.notes += found["notes"]
        if not job.decided("recipe"):
            job.decide("recipe", found["recipe"])
        return data, job.recipe

    def run(self) -> tuple[Finding, ...]:
        """Do all stages, and return what was found in the written files; they wait for their place."""
        data, recipe = self.prepare()
        self._check(data, recipe)
        self._room(data)
        files, buckets = max(1, -(-data.rows // FILE)), buckets_of(data.rows, self.job.leaf)
        if self.job.format == "csv":  # takes more memory; what fits one leaf is read back as one table
            files = buckets if data.rows > self.job.leaf else 1
        for name, value in (("files", files), ("buckets", buckets)):
            if not self.job.decided(name):
                self.job.decide(name, value)
        if data.rows <= self.job.leaf:
            self.course.answers["published"] = self._stage("whole", 1)
            tasks = 1
        else:
            tasks = self._rounds(data)
        if not self.job.decided("published"):
            self.job.decide("published", tasks)
        return self._written(data, recipe)

    def _room(self, data: Dataset) -> None:
        """Refuse leaves that a worker has no memory for."""
        records, crew = min(self.job.leaf, data.rows), self.runner
        if crew.limited and crew.memory // crew.workers < needed(records):
            raise InputError(too_little(crew.memory // crew.workers, records))

    def _check(self, data: Dataset, recipe: Recipe) -> None:
        """Refuse what data sets of many leaves cannot have."""
        k = recipe.required_k
        if recipe.makes_groups and k > data.rows:
            raise GuaranteeError(f"k={k} cannot be reached with {data.rows} records: there are fewer in all")
        if data.rows <= self.job.leaf:
            return
        if self.job.leaf < 20 * k:
            raise InputError(
                f"a leaf of {self.job.leaf} records is too small for k={k}: take {20 * k} or more"
            )
        wrong = None
        if not recipe.makes_groups:
            wrong = f"method {recipe.method!r} masks record by record"
        elif recipe.space != "euclidean":
            wrong = f"the space {recipe.space!r} compares all records"
        elif recipe.intruder == "method" or recipe.enforce == "blind":
            wrong = "groups against an intruder who knows the method are chosen over all records"
        elif recipe.steps:
            wrong = "steps look at all records"
        elif recipe.strata:
            wrong = "strata are grouped one by one"
        elif recipe.suppress:
            wrong = "who is left out is chosen over all records"
        elif recipe.importance or recipe.weights:
            wrong = "some keys, or records, count more than others"
        elif recipe.publish or recipe.hierarchies or recipe.widths or recipe.ends != "rounded":
            wrong = "groups publish ranges or medians"
        if wrong is not None:
            raise InputError(
                f"{wrong}, which is not done over several leaves of {self.job.leaf:,} records: raise --leaf "
                "above the number of rows, where the memory allows, or leave it out"
            )
        if recipe.method not in SEARCHES and self.job.rounds > 1:
            raise InputError(
                f"method {recipe.method!r} groups each leaf once: take --rounds 1, or the method 'auto' or "
                "'pairs', which goes on over the borders"
            )

    def _rounds(self, data: Dataset) -> int:
        """Learn, cut, shuffle and group; return how many tasks published rows."""
        job = self.job
        self._stage("scan", len(data.parts))
        self._stage("cut", 1)
        self._refuse_alike()
        counts = sum(self._stage("spread", len(data.parts)))
        tasks = len(data.parts)
        for turn in range(job.rounds):
            ranges = self._ranges(counts, tasks)
            if not job.decided(f"ranges-{turn}"):
                job.decide(f"ranges-{turn}", ranges)
            answers = self._stage(f"round@{turn}", len(ranges))
            self._forget(f"round@{turn}", tasks)
            tasks = len(ranges)
            if turn + 1 < job.rounds:
                counts = sum(answer["counts"] for answer in answers)
        self.course.answers["published"] = answers
        if sum(one["rows"] for one in answers) != data.rows:
            raise WriteError("some records were lost on the way, or are there twice; nothing was released")
        self._refuse_lost()
        return tasks

    def key_losses(self) -> dict[str, tuple[float, float]]:
        """Return two losses of each key over all leaves, in percent: of its variance, and of all there is."""
        answers, coding = self.course.answers["published"], self.job.recall("coding")
        lost, had = (np.sum([one[what] for one in answers], axis=0) for what in ("lost", "spreads"))
        most = had + sum(one["rows"] for one in answers) * np.square(coding.for_everybody())  # means are 0
        out = {}
        for name, here in coding.blocks():
            gone = float(lost[here].sum())
            out[name] = (
                100.0 * gone / max(float(had[here].sum()), 1e-300),
                100.0 * gone / max(float(most[here].sum()), 1e-300),
            )
        return out

    def _refuse_lost(self) -> None:
        """Refuse keys of which next to nothing is left in all leaves together, unless that is allowed."""
        recipe = self.job.recipe
        if sum(one["groups"] for one in self.course.answers["published"]) > 1:
            found = (checks.next_to_nothing(name, *both) for name, both in self.key_losses().items())
            refuse([one for one in found if one is not None], checks.allowed(recipe, recipe.schema.keys))

    def _refuse_alike(self) -> None:
        """Refuse text files in which the values of a column that a model looks at would look alike."""
        layout: Layout = self.job.recall("layout")
        if layout.text:
            for known in self.job.recall("coding").confidential.values():
                layout.refuse_alike(known.series)

    def _ranges(self, counts: Any, tasks: int) -> list[tuple[int, int, int]]:
        """Put neighbouring leaves together where one has too few records; return first, last, files."""
        least = max(2 * self.job.recipe.required_k, self.job.leaf // 4)
        out: list[tuple[int, int, int]] = []
        first = held = 0
        for leaf, many in enumerate(np.asarray(counts).tolist()):
            held += many
            if held >= least:
                out.append((first, leaf + 1, tasks))
                first, held = leaf + 1, 0
        if held or not out:
            start = out.pop()[0] if out else 0
            out.append((start, len(counts), tasks))
        return out

    def _written(self, data: Dataset, recipe: Recipe) -> tuple[Finding, ...]:
        """Write, read back and count."""
        job = self.job
        files, buckets = int(job.recall("files")), int(job.recall("buckets"))
        written = self._stage("write", files)
        self.course.bytes_written = sum(one["bytes"] for one in written)
        self.course.guarded = sum(one["guarded"] for one in written)
        self._forget("published", int(job.recall("published")))
        self._exposed(recipe)
        if data.rows <= job.leaf:
            found: tuple[Finding, ...]
            found, self.course.sizes, columns = self._stage("measure", 1)[0]
            rows = sum(size * count for size, count in self.course.sizes.items())
            shapes = [columns]
        else:
            sorted_ = self._stage("sort", files)
            self.course.answers["count"] = answers = self._stage("count", buckets)
            self._forget("sorted", files)
            models = demanding(recipe.required, recipe.schema.confidential)
            found = counting.findings(answers, models, recipe.required)
            self.course.sizes = counting.sizes(answers)
            rows = sum(one["rows"] for one in answers)
            shapes = [one["columns"] for one in sorted_ if one["columns"] is not None]
        kept = [name for name in data.types if recipe.schema[name].role != "identifier"]
        expected = sum(one["rows"] for one in self.course.answers["published"])
        if rows != expected or any(sorted(shape) != sorted(kept) for shape in shapes):
            raise WriteError(
                f"the written files have {rows:,} of {expected:,} rows, or other columns than they should; "
                "nothing was released"
            )
        broken = [str(one) for one in found if not one.holds]
        if broken:
            raise GuaranteeError(
                f"counted in the written files, the promise is not kept: {'; '.join(broken)}. Nothing was "
                "released"
            )
        return found

    def _exposed(self, recipe: Recipe) -> None:
        """Refuse a key that publishes what one person alone has, unless that is allowed."""
        answers = self.course.answers["published"]
        if "published" not in answers[0]:
            return
        for name, known in self.job.recall("coding").levels.items():
            if recipe.schema[name].kind != "nominal" or name in recipe.allow_near_unique:
                continue
            shown = np.unique(np.concatenate([one["published"][name] for one in answers]))
            alone = int((known.counts[shown] == 1).sum())
            if alone > max(SHARE * len(shown), 1):
                raise InputError(
                    f"{alone} of the {len(shown)} values that key {name!r} would publish are somebody's own: "
                    f"make it an identifier, group its values, or allow it: --allow-near-unique {name}"
                )

    # -- stages --------------------------------------------------------------------------------------------

    def _stage(self, name: str, tasks: int) -> list[Any]:
        """Do the tasks of a stage that are not done yet; return all answers, in the order of the tasks."""
        started, work = now(), self.job.work
        weight = WEIGHTS.get(name.split("@")[0], 1.0)
        answers: dict[int, Any] = {}
        left = []
        for number in range(tasks):
            path = answer_path(work, name, number)
            if path.exists():
                answers[number] = spill.recall(path)
            else:
                left.append(number)

        def wait() -> None:
            share = (self._done + weight * len(answers) / tasks) / self._all
            self.ctx.part(0.0, 1.0, stage=self._picture(name, len(answers), tasks)).tell(
                min(share, 0.99), self._loss, whole=True
            )

        wait()
        for number, answer in self.runner.run(str(work), name, left, wait):
            answers[number] = answer
            if isinstance(answer, dict) and "error" in answer:
                held = [one for one in answers.values() if one["spread"] > 0.0]
                self._loss = (
                    100.0 * sum(one["error"] for one in held) / max(sum(o["spread"] for o in held), 1e-300)
                )
            wait()
        self._done += weight
        self.course.seconds[name] = now() - started
        return [answers[number] for number in range(tasks)]

    def _picture(self, name: str, done: int, tasks: int) -> str:
        """Say what is going on, in a few words."""
        words = {"convert": "reading text", "look": "looking", "scan": "reading", "cut": "cutting",
                 "spread": "sharing out", "whole": "grouping", "write": "writing", "sort": "reading back",
                 "count": "counting", "measure": "measuring", "draw": "sampling", "bars": "drawing",
                 "bucket": "sorting", "tally": "counting", "levels": "reading",
                 "known": "reading"}  # fmt: skip
        base, _, turn = name.partition("@")
        said = words.get(base, f"grouping, round {int(turn or 0) + 1} of {self.job.rounds}")
        if tasks < 2:
            return said
        workers = f", {self.runner.alive} workers" if self.runner.alive > 1 else ""
        spilled = self.course.bytes_spilled + self._held()
        through = f", {spoken(spilled)} spilled" if spilled else ""
        return f"{said}: {done} of {tasks}{workers}{through}"

    def _held(self) -> int:
        """Return the bytes of rows in the work folder, looked at every other second."""
        if now() > self._looked + 2.0:
            self._looked, held = now(), 0
            for one in self.job.work.glob("*.arrow"):
                with contextlib.suppress(OSError):
                    held += one.stat().st_size
            self._there = held
        return self._there

    def _forget(self, name: str, tasks: int) -> None:
        """Remove files that all readers have read."""
        for path in self.job.paths(name, tasks):
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                path.unlink()
                self.course.bytes_spilled += size
                self._there = max(self._there - size, 0)
