"""Work that needs all records in one task, with only the needed columns.

A data set that fits one leaf is released like a table in memory. For larger data, some features must see all
records: a ledger, kept groups, uniform coding, noise designed for the whole table, an intruder who knows the
method. They get the keys, confidential columns and units of all parts in one task. Their published values go
back to the parts, which hold the other columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym._cuda.device import choose
from voronym.method import METHODS
from voronym.release import Release
from voronym.request.public_steps import stepped_bounds
from voronym.request.recipe import Recipe
from voronym.result import Grouped
from voronym.run.memory import make_release
from voronym.run.parts import spill
from voronym.run.parts.books import booking_of
from voronym.run.parts.coding import HOME, PERSON, closed
from voronym.run.parts.job import Job, stage
from voronym.run.parts.learn import judged_counts
from voronym.run.parts.leaves import Shape, send
from voronym.run.parts.pieces import Piece, identifying, joined, read_piece, rows_of
from voronym.table.table import Table
from voronym.table.units import Units

Ints = NDArray[np.int64]
ROW = "voronym: row"
"""The position of a row in its piece."""


def needs_all(recipe: Recipe, *, ledger: bool) -> bool:
    """Whether a recipe needs all records in one task."""
    method = METHODS[recipe.method]
    blind = (recipe.intruder == "method" or recipe.enforce == "blind") and bool(recipe.models)
    together = recipe.schema.pseudonyms and recipe.schema.household is not None
    whole = together or recipe.judged_whole
    return not method.groups or blind or whole or ledger or recipe.keep_groups


def _context(job: Job) -> Any:
    ctx = job.context(device=choose(job.recipe.device))
    ctx.rng = np.random.default_rng(job.recipe.seed)
    return ctx if job.recipe.time_limit is None else ctx.limited(job.recipe.time_limit)


def _answer(release: Release, rows: int) -> dict[str, Any]:
    """Return the figures of a release that was made in one task."""
    evidence = release._evidence
    masked = None if evidence is None else evidence.masked
    part = masked.partition if isinstance(masked, Grouped) else None
    return {
        "notes": list(release.warnings),
        "public_notes": list(release.public_warnings),
        "log": list(release.log),
        "effects": list(release.effects),
        "changes": list(release.changes),
        "figures": release.figures,
        "costs": list(release.costs),
        "group_loss": release.group_loss,
        "information_loss": release.information_loss,
        "groups": None if part is None else part.n_cells,
        "rows": rows,
        "shape": Shape(release.schema, tuple(release._held.columns)),
        "entry": None if release.booking is None else release.booking.entry,
        "seen": 0 if release.booking is None else len(release.booking.entries),
    }


@stage("whole")
def whole(job: Job, number: int) -> dict[str, Any]:
    """Make the release of a data set that fits one leaf, as for a table in memory."""
    del number
    recipe = job.recipe
    frame = joined(job, job.dataset.parts)
    table = Table.of(frame, recipe.schema)
    release = make_release(table, recipe, _context(job), booking_of(job, frame))
    if job.report:
        job.decide("dossier", release.dossier())
    if release.checklist is not None:
        job.decide("checklist", release.checklist)
    made: pl.DataFrame = nw.from_native(release.table, eager_only=True).to_polars()
    send(job, 0, made.with_columns(_unit_columns(release)), pl.DataFrame())
    return _answer(release, len(made))


def _unit_columns(release: Release) -> list[pl.Series]:
    """Return the units of the released rows as columns of the work folder."""
    units = release._held.units
    if units is None:
        return []
    names = {"person": PERSON, "household": HOME}
    return [pl.Series(names[what], codes.astype(np.uint64)) for what, codes in units.known.items()]


@stage("mask")
def mask_all(job: Job, number: int) -> dict[str, Any]:
    """Mask the keys of all records in one task; store the published keys by piece."""
    del number
    recipe, schema = job.recipe, job.schema
    pieces = [read_piece(job, piece) for piece in range(job.pieces)]
    needed = _needed(recipe, schema.confidential)
    names = [name for name in pieces[0].table.columns if name in needed]
    frame = pl.concat([piece.table.frame.to_native().select(names) for piece in pieces])
    many = [piece.table.n for piece in pieces]
    table = Table(nw.from_native(frame, eager_only=True), schema, units=_units(pieces))
    # Earlier steps are done; later ones follow. Doubts were reported when the data were examined.
    bare = _without_steps(recipe, schema)
    people = None
    if job.ledger is not None:
        identified = [rows_of(job, piece)[0].select(identifying(job)) for piece in range(job.pieces)]
        people = booking_of(job, pl.concat(identified))
        if people is not None:
            people.begin(recipe)
            if drawn := sorted(people.redrawn):
                given = [read_piece(job, piece, stepped=False).table for piece in range(job.pieces)]
                people.read_truths(nw.concat([part.frame.select(drawn) for part in given]))
            if job.decided("cells"):
                people.cells.resume(job.recall("cells"))
            # Columns that masking does not need stay in the parts.
            for name in people.lasting(pieces[0].table):
                if name not in names:
                    every = [piece.table.frame.select(name) for piece in pieces]
                    people.read_values(nw.concat(every), [name])
    release = make_release(table, bare, _context(job), people)
    if people is not None and people.entry is not None:  # which the steps belong to that are done elsewhere
        people.entry = replace(people.entry, about={**people.entry.about, "steps": list(recipe.steps)})
    evidence = release._evidence
    assert evidence is not None  # noqa: S101 - it was made here
    back = np.argsort(evidence.order, kind="stable")  # the released row of each original one that stayed
    made: pl.DataFrame = nw.from_native(release.table, eager_only=True).to_polars()[back]
    stayed = _stayed(release, len(frame))
    owner = np.repeat(np.arange(len(many)), many)[stayed]
    place = np.concatenate([np.arange(rows) for rows in many])[stayed]
    shown = made.with_columns(pl.Series(ROW, place))
    spill.spill(job.path("masked", 0), shown, owner, len(many))
    counts = judged_counts(table.rows(stayed).like(nw.from_native(made, eager_only=True)), job)
    return {**_answer(release, len(made)), "counts": counts}


def _stayed(release: Release, rows: int) -> Ints:
    """Return the original rows that are in the release, in their order."""
    evidence = release._evidence
    assert evidence is not None  # noqa: S101 - it was made here
    return np.arange(rows) if evidence.rows is None else evidence.rows


def _needed(recipe: Recipe, confidential: tuple[str, ...]) -> set[str]:
    """Return the columns that masking needs."""
    named = {name for model in recipe.required for name in (model.weights, model.column)}
    if recipe.private is not None and recipe.private.scope == "all":
        named |= set(recipe.schema.other)
    return {*recipe.schema.keys, *confidential, *(name for name in (recipe.weights, *named) if name)}


def _without_steps(recipe: Recipe, schema: Any) -> Recipe:
    """Return the recipe of the remaining work: earlier steps are done, and changed the schema.

    A policy judges all columns, in the files of the release.
    """
    bounds = recipe.bounds if recipe.private is None else stepped_bounds(recipe)
    return replace(recipe, steps=(), schema=schema, bounds=bounds, policy=None, facts=None)


def _units(pieces: list[Piece]) -> Units | None:
    names = {"person": PERSON, "household": HOME}
    known: Mapping[str, Ints] = {
        what: closed(pl.concat([piece.units[name] for piece in pieces]))
        for what, name in names.items()
        if name in pieces[0].units
    }
    return Units(**known) if known else None


@stage("joined")
def join(job: Job, number: int) -> dict[str, Any]:
    """Join the published keys of a piece with its other columns, and send the rows to files."""
    piece = read_piece(job, number)
    frames = spill.gather([job.path("masked", 0)], number, number + 1)
    if not frames:
        send(job, number, piece.table.frame.to_native().head(0), pl.DataFrame())
        return {"rows": 0}
    shown = frames[0]
    rows = shown[ROW].to_numpy()
    rest: pl.DataFrame = piece.table.frame.to_native()[rows]
    new = shown.drop(ROW)
    other = [name for name in rest.columns if name not in new.columns]
    made = pl.concat([new, rest.select(other)], how="horizontal")
    units = [column[rows].alias(name) for name, column in piece.units.items()]
    send(job, number, made.with_columns(units), pl.DataFrame())
    return {"rows": len(made)}
