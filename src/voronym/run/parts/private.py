"""Differential privacy over many parts: counts and sums merge, and noise is drawn once.

Each piece holds its records within public bounds. A grouping asks questions; every piece answers with whole
numbers, whose sum does not depend on order or number of pieces. The leader draws the noise. No worker holds
more than one piece. Groups by rank (`order`) are the exception: they need all records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.dp import BoundedRecords
from voronym.dp.cells import Cells, Question, count_found, moved, moves
from voronym.dp.domain import Bounds, Domain, Range
from voronym.dp.noise import library
from voronym.dp.presence import filling, salted_order
from voronym.evaluate.moved import joined, key_changes
from voronym.generalize.rows import in_widths
from voronym.methods import differential as dp
from voronym.methods.figures import Private, PrivateFigures
from voronym.methods.private_facts import public_figures, sentences
from voronym.privacy import DifferentialPrivacy
from voronym.request.recipe import Recipe
from voronym.result import Masked
from voronym.run.memory import with_trees
from voronym.run.parts import spill
from voronym.run.parts.job import Job, stage
from voronym.run.parts.leaves import Shape, send
from voronym.run.parts.pieces import read_piece
from voronym.run.parts.stages import Stages
from voronym.table import summaries
from voronym.table.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def merges(recipe: Recipe, *, ledger: bool) -> bool:
    """Whether a private release can be made from figures that merge.

    Strata and weights (published with the keys), households (with rows in several pieces) and a ledger
    (with all people) need all records in one task.
    """
    apart = recipe.strata or recipe.weights is not None or recipe.schema.household is not None or ledger
    return recipe.private is not None and not apart


def _promise(job: Job) -> tuple[DifferentialPrivacy, dp.DifferentialOptions, Recipe]:
    """Return the promise and its terms, with the bounds and trees after the earlier steps."""
    recipe = with_trees(job.recipe)
    model, options = recipe.private, recipe.method_options
    assert model is not None  # noqa: S101 - for the type checker
    assert isinstance(options, dp.DifferentialOptions)  # noqa: S101
    return model, replace(options, bounds=recipe.bounds, hierarchies=recipe.hierarchies), recipe


# -- tasks of pieces --------------------------------------------------------------------------------------


@stage("bounded")
def bounded(job: Job, number: int) -> dict[str, Any]:
    """Clip the records of a piece to their public bounds; return its statistics."""
    model, options, _ = _promise(job)
    table = read_piece(job, number).table
    bounds = dp.public_bounds(table, model, options)
    records, outside = dp.encode(table, bounds)
    columns = {f"o{at}": records.ordered[:, at] for at in range(records.d)}
    columns |= {f"n{at}": records.nominal[:, at].astype(np.int32) for at in range(records.e)}
    spill.spill(job.path("bounded", number), pl.DataFrame(columns), np.zeros(table.n, np.int64), 1)
    over = 0
    if table.units is None or model.rows is None:
        dp.rows_of(table, model)
    else:
        over = dp.units_over(table, model.rows)
    learnt = summaries.summarize(table, job.schema, ()) if table.n else {}
    spill.keep(job.path("bounded", number, "json"), learnt)
    return {"rows": table.n, "outside": outside, "bounds": bounds, "over": over, "unit": dp.unit_of(table),
            "columns": list(table.columns)}  # fmt: skip


def _records(job: Job, number: int, left: Ints) -> BoundedRecords:
    """Return the records of a piece, without those left out."""
    known = job.recall("records")
    frames = spill.gather([job.path("bounded", number)], 0, 1)
    d, e = known["d"], len(known["sizes"])
    n = sum(map(len, frames))
    ordered, nominal = np.empty((n, d)), np.empty((n, e), np.int64)
    for frame in frames:  # one, or none where the piece has no rows
        for at in range(d):
            ordered[:, at] = frame[f"o{at}"].to_numpy()
        for at in range(e):
            nominal[:, at] = frame[f"n{at}"].to_numpy()
    if len(left):
        ordered, nominal = np.delete(ordered, left, axis=0), np.delete(nominal, left, axis=0)
    return BoundedRecords(ordered, nominal, known["sizes"], known["weights"], known["medians"])


@stage("answer")
def answer(job: Job, which: tuple[int, int]) -> Ints:
    """Answer a question about the records of a piece, in whole numbers that add up over pieces."""
    turn, number = which
    asked: Question
    asked, left = job.recall(f"asked-{turn}")
    return asked.of(_records(job, number, left[number]))


@stage("last")
def last(job: Job, which: tuple[int, int]) -> dict[str, Any]:
    """Return the last records of a piece in a salted order: candidates to leave out overall."""
    turn, number = which
    salt, many = job.recall(f"asked-{turn}")
    records = _records(job, number, np.empty(0, np.int64))
    rows = salted_order(records, salt)[max(records.n - many, 0) :]
    return {"rows": rows, "ordered": records.ordered[rows], "nominal": records.nominal[rows]}


@stage("private")
def publish(job: Job, number: int) -> dict[str, Any]:
    """Publish the rows of a piece by the cells of all, with their other columns."""
    _, _, recipe = _promise(job)
    made = job.recall("private")
    piece, left = read_piece(job, number), made["left"][number]
    if not piece.table.n:
        send(job, number, piece.table.frame.to_native(), pl.DataFrame())
        return {"rows": 0}
    if made["question"] is None:
        of = made["labels"][number]
    else:
        of = made["question"].of(_records(job, number, left))
    of = np.concatenate([of, made["filled"][number]])
    leave, enter = made["moves"][number]
    of = moved(of, leave, enter, np.random.default_rng())
    rows = np.delete(np.arange(piece.table.n), left)
    if len(of) > len(rows):
        rows = np.concatenate([rows, np.resize(dp.first_rows(piece.table), len(of) - len(rows))])
    table = piece.table if len(rows) == piece.table.n and not len(left) else piece.table.rows(rows)
    cells = Cells(made["ordered"], made["nominal"], made["counts"], of)
    masked = in_widths(table, Masked(dp.published(table, made["bounds"], cells, of)), recipe)
    frame: pl.DataFrame = masked.frame.to_native()
    units = [column[rows].alias(name) for name, column in piece.units.items()]
    send(job, number, frame.with_columns(units), pl.DataFrame())
    lost, spread = _lost(job, table, masked)
    return {
        "rows": len(frame),
        "lost": lost,
        "spread": spread,
        "notes": list(masked.notes),
        "changes": list(key_changes(table.frame, masked.frame, table.schema, np.arange(table.n))),
        "shape": Shape(masked.schema or job.schema, tuple(frame.columns)),
    }


def _lost(job: Job, table: Table, masked: Masked) -> tuple[float | None, float]:
    """Return the squared differences of published keys to the originals, and the originals' squares."""
    keys = list(table.schema.keys)
    if any(masked.frame[name].dtype != table.frame[name].dtype for name in keys):
        return None, 0.0  # ranges have no variance
    before, after = (
        job.coding.encode(job.coding.pack(Table(frame.select(keys), table.schema), {}))
        for frame in (table.frame, masked.frame)
    )
    return float(np.square(after - before).sum()), float(np.square(before).sum())


# -- the leader -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Merged:
    """Records in many pieces, as a grouping sees them: it asks, and answers of pieces are added up.

    Parameters
    ----------
    lead : Stages
        Runs the tasks on pieces.
    rows : tuple of int
        BoundedRecords of each piece.
    d : int
        Number of ordered columns.
    sizes, weights, medians : tuple
        As of `voronym.dp.BoundedRecords`.
    left : tuple of array
        The records of each piece that are left out, because the number of rows is private.
    filled : int
        Public records that fill up.
    """

    lead: Stages
    rows: tuple[int, ...]
    d: int
    sizes: tuple[int, ...]
    weights: tuple[float, ...] = ()
    medians: tuple[int, ...] = ()
    left: tuple[Ints, ...] = ()
    filled: int = 0

    @property
    def n(self) -> int:
        """Number of records."""
        return sum(self.rows) - sum(map(len, self.left)) + self.filled

    @property
    def e(self) -> int:
        """Number of nominal columns."""
        return len(self.sizes)

    @property
    def importance(self) -> Floats:
        """The weight of each column in grouping."""
        return np.array(self.weights or (1.0,) * (self.d + self.e))

    def answers(self, asked: Question) -> list[Ints]:
        """Return the answer of each piece, and of the made-up records that fill up the total."""
        out = self._ask("answer", (asked, list(self.left)))
        return [*out, asked.of(filling(self, self.filled))] if self.filled else out

    def add_up(self, asked: Question) -> Ints:
        """Return the sum of all answers."""
        return np.asarray(sum(self.answers(asked)), np.int64)

    def place(self, asked: Question) -> Question:
        """Return the question: pieces find the cells of their records when they publish them."""
        return asked

    def together(self) -> BoundedRecords:
        """Return the records of all pieces in one table."""
        job = self.lead.job
        parts = [_records(job, number, gone) for number, gone in enumerate(self.left)]
        parts.append(filling(self, self.filled))
        ordered = np.concatenate([part.ordered for part in parts])
        nominal = np.concatenate([part.nominal for part in parts])
        return BoundedRecords(ordered, nominal, self.sizes, self.weights, self.medians)

    def resized(self, rows: int, salt: int) -> Merged:
        """Return the published number of records, see `voronym.dp.presence`."""
        many = self.n - rows
        if many <= 0:
            return replace(self, filled=-many)
        tails = self._ask("last", (salt, many))
        ordered, nominal = (np.concatenate([tail[what] for tail in tails]) for what in ("ordered", "nominal"))
        every = BoundedRecords(ordered, nominal)
        owner = np.repeat(np.arange(len(tails)), [len(tail["rows"]) for tail in tails])
        numbers = np.concatenate([tail["rows"] for tail in tails])
        gone = salted_order(every, salt)[every.n - many :]
        left = tuple(np.sort(numbers[gone[owner[gone] == piece]]) for piece in range(len(tails)))
        return replace(self, left=left)

    def _ask(self, name: str, asked: Any) -> list[Any]:
        """Run a task on all pieces; the question is stored under its digest.

        A resumed job draws and asks again, because nothing was published.
        """
        job = self.lead.job
        turn = int(hashlib.sha256(spill.packed(asked)).hexdigest()[:12], 16)
        if not job.decided(f"asked-{turn}"):
            job.decide(f"asked-{turn}", asked)
        return self.lead.perform(f"{name}@{turn}", len(self.rows))


def mask_merged(lead: Stages) -> dict[str, Any]:
    """Make a private release of all pieces; return its figures."""
    library()
    job = lead.job
    model, options, recipe = _promise(job)
    known = lead.perform("bounded", job.pieces)
    bounds: list[Bounds] = known[0]["bounds"]
    unit, rows = known[0]["unit"], model.rows or 1
    dp.refuse_over(sum(piece["over"] for piece in known), unit, rows)
    if not job.decided("summaries"):
        _learn(job, [piece["rows"] for piece in known])
    if not job.decided("private"):  # else it was drawn, and pieces may have published some of it
        asked = [name for name in known[0]["columns"] if recipe.publish and recipe.way(name) == "median"]
        medians = dp.median_places(bounds, options, asked)
        population = Merged(
            lead,
            tuple(piece["rows"] for piece in known),
            sum(isinstance(bound, Range) for bound in bounds),
            tuple(len(bound.values) for bound in bounds if isinstance(bound, Domain)),
            dp.column_weights(bounds, options),
            medians,
            tuple(np.empty(0, np.int64) for _ in known),
        )
        if not job.decided("records"):
            names = ("d", "sizes", "weights", "medians")
            job.decide("records", {name: getattr(population, name) for name in names})
        job.decide("private", _drawn(population, model, options, recipe, bounds))
    made = job.recall("private")
    answers = lead.perform("private", job.pieces)
    lead.forget("bounded", job.pieces)
    facts = public_figures(
        model,
        bounds,
        dp.grouping_of(options),
        made["size"],
        made["cells"],
        unit=unit,
        rows=rows,
        records=sum(piece["rows"] for piece in known),
        columns=known[0]["columns"],
    )
    outside = np.sum([piece["outside"] for piece in known], axis=0).tolist()
    texts = sentences(facts, model, bounds, outside, len(known[0]["columns"]))
    return _answer(answers, facts, texts)


def _drawn(
    population: Merged,
    model: DifferentialPrivacy,
    options: dp.DifferentialOptions,
    recipe: Recipe,
    bounds: list[Bounds],
) -> dict[str, Any]:
    """Draw the cells of a release, and assign the records of each piece to cells."""
    shown = dp.shown_records(population, model, dp.budget_of(model, model.rows or 1))
    sized, k = shown.records, recipe.required_k
    assert isinstance(sized, Merged)  # noqa: S101 - as it was before
    cells, size = dp.cells_in(shown, dp.grouping_of(options), k if k > 1 else None)
    many = len(cells.counts)
    labels: list[Ints] = []
    if isinstance(cells.of, Question):
        counted = replace(sized, filled=0).answers(count_found(cells=cells.of, many=many))
        fill = cells.of.of(filling(sized, sized.filled))
    else:
        ends = np.cumsum([rows - len(gone) for rows, gone in zip(sized.rows, sized.left, strict=True)])
        *labels, fill = np.split(cells.of, ends)
        counted = [np.bincount(of, minlength=many) for of in labels]
    # Additional rows go to pieces with rows, and count for the units of these.
    there = np.array([rows > 0 for rows in sized.rows])
    shares = np.zeros(len(there), np.int64)
    shares[there] = [len(part) for part in np.array_split(fill, int(there.sum()))]
    filled = np.split(fill, np.cumsum(shares)[:-1])
    have = np.stack(counted) + np.stack([np.bincount(part, minlength=many) for part in filled])
    return {
        "ordered": cells.ordered,
        "nominal": cells.nominal,
        "counts": cells.counts,
        "cells": replace(cells, of=np.empty(0, np.int64)),
        "question": cells.of if isinstance(cells.of, Question) else None,
        "labels": labels,
        "left": list(sized.left),
        "filled": filled,
        "moves": moves(have, cells.counts, np.random.default_rng()),
        "size": size,
        "bounds": bounds,
    }


def _learn(job: Job, rows: Sequence[int]) -> None:
    """Merge the statistics of the keys of all pieces: losses are relative to their variances."""
    merged: dict[str, Any] = {}
    for piece in range(job.pieces):
        name = job.dataset.parts[min(piece, len(job.dataset.parts) - 1)].name
        known = spill.recall(job.path("bounded", piece, "json"))
        merged = summaries.merge(merged, known, name, job.schema) if rows[piece] else merged
    job.decide("summaries", {"schema": job.schema, "summaries": merged, "rows": sum(rows)})


def _answer(
    answers: Sequence[Mapping[str, Any]], facts: Private, texts: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the figures of the release of all pieces."""
    answers = [answer for answer in answers if answer["rows"]]
    lost, spread = [answer["lost"] for answer in answers], sum(answer["spread"] for answer in answers)
    loss = None if None in lost or not spread else 100.0 * sum(lost) / spread
    again = [note for answer in answers for note in answer["notes"]]
    return {
        "notes": [*texts["notes"], *dict.fromkeys(again)],
        "public_notes": [*texts["public_notes"], *dict.fromkeys(again)],
        "log": list(texts["log"]),
        "effects": [],
        "changes": list(joined([answer["changes"] for answer in answers])),
        "figures": PrivateFigures(facts),
        "costs": [],
        "group_loss": None,
        "information_loss": loss,
        "groups": None,
        "rows": sum(answer["rows"] for answer in answers),
        "shape": answers[0]["shape"],
        "counts": {},
    }
