"""Run one job, from files to a release in files, on any engine; if it fails, leave nothing."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voronym.errors import GuaranteeError, InputError, WriteError, hint
from voronym.privacy import Finding
from voronym.request.recipe import Recipe
from voronym.request.rules import check_ledger
from voronym.run import checks
from voronym.run.parts import counting
from voronym.run.parts.afar import path_of
from voronym.run.parts.job import FILE, LEAF, needed
from voronym.run.parts.learn import Stratum, arrays_of, merge_counts, whole_counts
from voronym.run.parts.leaves import travels
from voronym.run.parts.losses import key_losses, limits_of
from voronym.run.parts.outcome import too_little
from voronym.run.parts.private import mask_merged, merges
from voronym.run.parts.source import Dataset, is_parquet, survey
from voronym.run.parts.stages import Stages
from voronym.run.parts.texts import layout_of
from voronym.run.parts.whole import needs_all
from voronym.run.parts.writing import kept_names
from voronym.table.doubts import refuse
from voronym.table.doubts.exposed import SHARE
from voronym.table.summaries import LevelCounts

LOST = "some records were lost on the way, or are there twice; nothing was released"
PART = 500_000
"""Approximate number of rows of a piece; a piece holds all rows of its people."""


def buckets_of(rows: int, leaf: int = LEAF) -> int:
    """Return the number of buckets for counting; a bucket holds no more rows than a leaf."""
    return max(1, -(-rows // min(FILE, max(leaf, LEAF))))


class Engine(Stages):
    """Leads a job through its stages."""

    # -- the way ------------------------------------------------------------------------------------------

    def dataset(self) -> Dataset:
        """Find the parts; convert text files and databases to Parquet in the work folder."""
        job = self.job
        self.expect(job.wanted)
        if not job.decided("dataset"):
            files, names = [path_of(file) for file in job.files], list(job.names)
            absent: list[str] = []
            result: list[Any] = []
            if not is_parquet(files[0]):
                result = self.perform("convert", len(files))
                columns = [item for item, _ in result]
                for name, entry in zip(names, columns, strict=True):
                    if set(entry) != set(columns[0]):
                        odd = sorted(set(entry) ^ set(columns[0]))
                        raise InputError(
                            f"{name!r} has other columns than {names[0]!r}: {', '.join(map(repr, odd[:5]))}; "
                            "all files need the same"
                        )
                files = [job.path("text", number, "parquet") for number in range(len(files))]
                absent = columns[0]
            job.decide("layout", layout_of(job.format, job.style, [how for _, how in result]))
            data = survey(files, names)
            if absent:  # identifiers are named, though they were never kept
                import polars as pl

                types = {name: data.types.get(name, pl.Null()) for name in absent}
                data = Dataset(data.parts, types, data.bytes)
            job.decide("dataset", data)
        return job.dataset

    def prepare(self) -> tuple[Dataset, Recipe]:
        """Find parts, kinds and doubts, before any grouping."""
        job, data = self.job, self.dataset()
        self.course.rows, self.course.bytes_read = data.rows, data.bytes
        if data.rows > job.leaf:
            self.runner.begin()
        answer = self.perform("look", 1)[0]
        self.course.notes += answer["notes"]
        if not job.decided("recipe"):
            job.decide("recipe", answer["recipe"])
        recipe = job.recipe
        if not job.decided("rounds"):
            job.decide("rounds", job.wanted if travels(recipe) and data.rows > job.leaf else 1)
        return data, recipe

    def run(self) -> tuple[Finding, ...]:
        """Run all stages; return the findings in the written files, which do not have their names yet."""
        data, recipe = self.prepare()
        self.check(data, recipe)
        self._room(data)
        job = self.job
        files, buckets = max(1, -(-data.rows // FILE)), buckets_of(data.rows, job.leaf)
        if job.format == "csv":  # takes more memory; a data set of one leaf is read back as one table
            files = buckets if data.rows > job.leaf else 1
        for name, value in (("files", files), ("buckets", buckets)):
            if not job.decided(name):
                job.decide(name, value)
        if data.rows <= job.leaf:
            self.course.answers["published"] = answers = self.perform("whole", 1)
            tasks = 1
        else:
            self.meet(data, recipe)
            self._columns(recipe)
            if merges(recipe, ledger=job.ledger is not None):
                self.course.answers["published"] = answers = [mask_merged(self)]
                tasks = job.pieces
            elif needs_all(recipe, ledger=job.ledger is not None):
                self.course.answers["published"] = answers = self.perform("mask", 1)
                tasks = job.pieces
                sent = sum(answer["rows"] for answer in self.perform("joined", tasks))
                if sent != answers[0]["rows"]:
                    raise WriteError(LOST)
            else:
                tasks = self._rounds(data)
                answers = self.course.answers["published"]
        if not job.decided("published"):
            job.decide("published", tasks)
            job.decide("shape", answers[0]["shape"])
        if data.rows > job.leaf:
            self._later(recipe, answers)
        return self._written(data, recipe)

    def _room(self, data: Dataset) -> None:
        """Refuse leaves that exceed the memory of a worker."""
        records, crew = min(self.job.leaf, data.rows), self.runner
        if crew.limited and crew.memory // crew.workers < needed(records):
            raise InputError(too_little(crew.memory // crew.workers, records))

    def check(self, data: Dataset, recipe: Recipe) -> None:
        """Refuse impossible requests before the work."""
        check_ledger(recipe, self.job.ledger)
        k = recipe.required_k
        if recipe.makes_groups and k > data.rows:
            raise GuaranteeError(f"k={k} cannot be reached with {data.rows} records: there are fewer in all")
        if data.rows <= self.job.leaf:
            return
        if recipe.makes_groups and self.job.leaf < 20 * k:
            raise InputError(
                f"a leaf of {self.job.leaf} records is too small for k={k}: take {20 * k} or more"
            )
        later = [step for step in recipe.column_steps if step.when == "after"]
        if self.job.ledger is not None and any(getattr(step, "publish", None) == "mean" for step in later):
            raise InputError(
                "over many parts a ledger knows the means of tails that are made before groups: leave out "
                "'after' in the step, or publish the limit"
            )
        if any(not isinstance(metric, (str, list, dict)) for metric in (recipe.metrics or {}).values()):
            raise InputError("a metric that is an object cannot be sent to workers: name it, or a file")

    # -- before groups ------------------------------------------------------------------------------------

    def meet(self, data: Dataset, recipe: Recipe) -> None:
        """Move all rows of a person into one piece."""
        schema = recipe.schema
        if schema.person is None:
            return
        if not self.job.decided("pieces"):
            self.job.decide("pieces", max(1, -(-data.rows // PART)))
        counts = sum(self.perform("meet", len(data.parts)))
        if int(np.sum(counts)) != data.rows:
            raise WriteError(LOST)

    def _columns(self, recipe: Recipe) -> None:
        """Do the steps that come before groups."""
        if any(step.when == "before" for step in recipe.column_steps):
            answer = self.perform("columns", 1)[0]
            self.course.effects += answer["effects"]
            self.course.notes += answer["notes"]
            if not self.job.decided("stepped"):
                self.job.decide("stepped", True)

    def _rounds(self, data: Dataset) -> int:
        """Learn, cut, shuffle and group; return the number of tasks that published rows."""
        job = self.job
        rows = sum(answer["rows"] for answer in self.perform("scan", job.pieces))
        self.perform("cut", 1)
        self._refuse_alike()
        counts = sum(self.perform("spread", job.pieces))
        tasks = job.pieces
        for turn in range(job.rounds):
            ranges = self._ranges(counts, tasks)
            if not job.decided(f"ranges-{turn}"):
                job.decide(f"ranges-{turn}", ranges)
            if turn == 0:
                rows -= self._leave(len(ranges))
            answers = self.perform(f"round@{turn}", len(ranges))
            self.forget(f"round@{turn}", tasks)
            tasks = len(ranges)
            if turn + 1 < job.rounds:
                counts = sum(answer["counts"] for answer in answers)
        self.course.answers["published"] = answers
        if sum(answer["rows"] for answer in answers) != rows or rows > data.rows:
            raise WriteError(LOST)
        self._refuse_lost()
        return tasks

    def _leave(self, leaves: int) -> int:
        """Leave out the records with the largest cost; return the number of rows left out."""
        job, recipe = self.job, self.job.recipe
        if not recipe.suppress:
            return 0
        if not job.decided("budget"):
            job.decide("budget", limits_of(self.perform("score", leaves), recipe.suppress))
        answers = self.perform("leave", leaves)
        left, everybody = (sum(answer[what] for answer in answers) for what in ("left", "of"))
        who = "records" if recipe.schema.person is None else "people"
        self.course.log.append(
            f"{left:,} of {everybody:,} {who} ({100 * left / everybody:.2g} %) were left out, those that "
            "cost most. All comparisons are with the remaining records."
        )
        if not job.decided("left"):
            counted: dict[Stratum, dict[str, LevelCounts]] = {}
            for answer in answers:
                merge_counts(counted, answer["counts"])
            self._decide_totals("kept", counted, sum(answer["rows"] for answer in answers))
            job.decide("left", True)
        return sum(answer["gone"] for answer in answers)

    def _decide_totals(
        self, name: str, counted: Mapping[Stratum, Mapping[str, LevelCounts]], rows: int
    ) -> None:
        """Write down the totals that models compare with: of the remaining data, or of the release."""
        judged = whole_counts(counted)
        strata = {stratum: arrays_of(counts, judged) for stratum, counts in counted.items()}
        self.job.decide(name, {"judged": judged, "strata": strata, "rows": rows})

    # -- after groups -------------------------------------------------------------------------------------

    def _later(self, recipe: Recipe, answers: Sequence[Mapping[str, Any]]) -> None:
        """Apply the steps after grouping, and count the values that models need over the whole release."""
        job = self.job
        counted: dict[Stratum, dict[str, LevelCounts]] = {}
        for answer in answers:
            merge_counts(counted, answer.get("counts") or {})
        if any(step.when == "after" for step in recipe.column_steps):
            answer = self.perform("later", 1)[0]
            self.course.effects += answer["effects"]
            self.course.notes += answer["notes"]
            counted = answer["counts"] or counted
        if counted and not job.decided("released"):
            self._decide_totals("released", counted, sum(answer["rows"] for answer in answers))

    def _refuse_lost(self) -> None:
        """Refuse keys that lost nearly everything in all leaves together, unless that is allowed."""
        recipe = self.job.recipe
        if recipe.steps or recipe.schema.units or recipe.space != "euclidean":
            return  # the search minimised another cost than that of rows in coordinates
        if sum(answer["groups"] or 0 for answer in self.course.answers["published"]) > 1:
            doubts = (checks.next_to_nothing(name, *both) for name, both in key_losses(self).items())
            refuse(
                [doubt for doubt in doubts if doubt is not None],
                checks.allowed(recipe, recipe.schema.keys),
            )

    def _refuse_alike(self) -> None:
        """Refuse text files in which distinct values of a judged column would look equal."""
        layout = self.job.layout
        if layout.text:
            for known in self.job.coding.judged.values():
                layout.refuse_alike(known.every)

    def _ranges(self, counts: Any, tasks: int) -> list[tuple[int, int, int]]:
        """Join neighbouring leaves with too few records; return first leaf, last leaf and number of files."""
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
        """Write the files, read them back and count."""
        job = self.job
        files, buckets = int(job.recall("files")), int(job.recall("buckets"))
        if not job.decided("order"):
            job.decide("order", secrets.randbits(128))
        written = self.perform("write", files)
        self.course.bytes_written = sum(answer["bytes"] for answer in written)
        self.course.guarded = sum(answer["guarded"] for answer in written)
        self.forget("published", int(job.recall("published")))
        self._exposed(recipe)
        findings: tuple[Finding, ...]
        if data.rows <= job.leaf or recipe.judged_whole:
            findings, self.course.sizes, columns, self.course.sealed = self.perform("measure", 1)[0]
            rows = sum(answer["rows"] for answer in written)
            shapes = [columns]
        else:
            sorted_ = self.perform("sort", files)
            self.course.answers["count"] = answers = self.perform("count", buckets)
            self.forget("sorted", files)
            findings = counting.findings(answers, recipe.required)
            self.course.sizes = counting.sizes(answers)
            for answer in sorted_:
                self.course.sealed |= answer["sealed"]
            rows = sum(answer["rows"] for answer in answers)
            shapes = [answer["columns"] for answer in sorted_ if answer["columns"] is not None]
        expected = sum(answer["rows"] for answer in self.course.answers["published"])
        kept = sorted(kept_names(job))
        if rows != expected or any(sorted(shape) != kept for shape in shapes):
            raise WriteError(
                f"the written files have {rows:,} of {expected:,} rows, or other columns than they should; "
                "nothing was released"
            )
        broken = [str(finding) for finding in findings if not finding.holds]
        if broken:
            raise GuaranteeError(
                f"counted in the written files, the promise is not kept: {'; '.join(broken)}. Nothing was "
                "released"
            )
        return findings

    def _exposed(self, recipe: Recipe) -> None:
        """Refuse a key with a value that only one person has, unless that is allowed."""
        answers = self.course.answers["published"]
        if "published" not in answers[0]:
            return
        for name, known in self.job.coding.levels.items():
            if recipe.schema[name].kind != "nominal" or name in recipe.allow_near_unique:
                continue
            shown = np.unique(np.concatenate([answer["published"][name] for answer in answers]))
            alone = int((known.counts[shown] == 1).sum())
            if alone > max(SHARE * len(shown), 1):
                raise InputError(
                    f"{alone} of the {len(shown)} values that key {name!r} would publish belong to one "
                    "person only: make it an identifier, group its values, or allow it: "
                    f"{hint('allow_near_unique', [name])}"
                )
