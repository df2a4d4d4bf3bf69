"""Reconstruction: an intruder who knows everybody else's record runs the method again.

They know the whole table but one cell, the program, the recipe and the public report. They try each possible
value of the cell, and keep the values that give the same release. If a method has no random draws, often only
the true value fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from voronym.attacks.base import Found, Inapplicable, attack
from voronym.attacks.interval import judge
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.attacks.worlds import fingerprint
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.core.sentence import Sentence
from voronym.errors import VoronymError
from voronym.evaluate.pair import plain
from voronym.table.frame import as_frame
from voronym.table.table import Table

PEOPLE = 12
"""Number of people per column whose cells are reconstructed, in addition to the people at its ends."""
VALUES = 12
"""Number of values tried in a cell: the true one, and random others of the column."""
MOST_RECORDS, BRIEF_RECORDS = 5_000, 150
"""Largest number of records of a rerun; BRIEF_RECORDS applies if time is short."""
_BRIEF_CELLS = 5  # people, and values, where time is short


@attack(
    "reconstruction",
    level=6,
    knows="all cells of the table but one, the program, the recipe and the public report",
    needs=("original", "rerun"),
    cost="reruns",
    reference="Dinur, Nissim, PODS 2003; Dwork, Smith, Steinke, Ullman, Annual Review of Statistics 2017",
    instead="by how often each value occurs",
)
def reconstruction(scene: Scene, ctx: Context) -> Found:
    """Put other values into a cell, make the release again, and keep the values with the same release.

    Success is the probability of the true value among the fitting values, weighted by their frequency in
    the table. The control uses all values of the column. An unmasked column needs no run: the intruder
    removes all other people's values, and the person's value is left.
    """
    table = scene.table
    if table is None or scene.rerun is None:
        raise Inapplicable(scene.lacks("rerun") or "")
    whole, table = table.n, _sample(scene, table, ctx)
    tool = _Tool(scene, table)
    kept = [name for name in scene.confidential if name in scene.untouched]
    names = [name for name in (*scene.keys, *scene.confidential) if name in tool.columns and name not in kept]
    cells = [cell for name in names for cell in _cells(scene, tool, name, ctx)]
    if not cells:
        raise Inapplicable("every column has one value for everybody, so there is nothing to reconstruct")
    done = _in_time(tool, cells, scene.brief, ctx)
    drawn = [item for item in done if item.cell.drawn]
    worst = min(done, key=lambda fit: (fit.many, fit.cell.row))
    alone = sum(entry.many <= 1.0 for entry in drawn)

    def says(success: float, control: float) -> str:
        del success, control
        many = float(np.mean([item.many for item in drawn]))
        others = float(np.mean([entry.cell.domain for entry in drawn]))
        sampled = (
            ""
            if table.n == whole
            else Sentence(
                " (releases of {some} of the {all} records, drawn by lot)",
                some=f"{table.n:,}",
                all=f"{whole:,}",
            )
        )
        left = (
            ""
            if not kept
            else Sentence(
                ". Published as they are, and so left with 1: {columns}", columns=", ".join(map(repr, kept))
            )
        )
        return Sentence(
            "An intruder who knows all other cells and runs the method again is left with {many} of {others} "
            "values of a key on average, with {worst} for the worst person ({column}); in {alone} of {cells} "
            "cells only the true one fits{sampled}{left}.",
            many=f"{many:.1f}",
            others=f"{others:.1f}",
            worst=f"{worst.many:.0f}",
            column=repr(worst.cell.name),
            alone=str(alone),
            cells=str(len(drawn)),
            sampled=sampled,
            left=left,
        )

    return judge(
        [element.credit for element in drawn],
        np.array([member.cell.control for member in drawn]),
        says,
        clusters=np.array([fit.cell.row for fit in drawn]),
        confidence=scene.confidence,
        details={
            "columns": {name: _of_column(own) for name in names if (own := _of(done, name))},
            "kept": kept,
            "worst": worst.many,
            "worst_column": worst.cell.name,
            "mean": float(np.mean([fit.many for fit in drawn])),
            "values": float(np.mean([fit.cell.domain for fit in drawn])),
            "only_the_true_value": alone / len(drawn),
            "cells": len(drawn),
            "reruns": sum(len(fit.cell.others) for fit in done),
            "records": table.n,
        },
    )


def _sample(scene: Scene, table: Table, ctx: Context) -> Table:
    """Return a random sample of whole people that is small enough for many releases."""
    most = MOST_RECORDS if scene.brief is None else BRIEF_RECORDS
    if table.n <= most:
        return table
    units = table.units
    unit = np.arange(table.n)
    if units is not None:
        unit = units.household if units.household is not None else np.asarray(units.person)
    drawn = ctx.rng.permutation(int(unit.max()) + 1)
    upto = np.cumsum(np.bincount(unit)[drawn])
    return table.rows(
        np.flatnonzero(np.isin(unit, drawn[: max(1, int(np.searchsorted(upto, most, "right")))]))
    )


def _in_time(tool: _Tool, cells: list[Cell], seconds: float | None, ctx: Context) -> list[Fits]:
    """Try the cells until the time is over, beginning with one cell of each column."""
    if seconds is None:
        return ctx.map(tool.fits, cells)
    turns: dict[str, int] = {}
    place = []
    for cell in cells:
        place.append(turns.get(cell.name, 0))
        turns[cell.name] = place[-1] + 1
    begun, some = now(), len(turns)  # of each column
    done: list[Fits] = []
    ordered = [cells[at] for at in np.argsort(place, kind="stable")]
    while len(done) < len(cells) and (not done or now() - begun < seconds):
        part = ctx.part(len(done) / len(cells), (len(done) + some) / len(cells))
        done += part.map(tool.fits, ordered[len(done) : len(done) + some])
        some = ctx.threads
    return done


def _of(done: list[Fits], name: str) -> list[Fits]:
    return [fit for fit in done if fit.cell.name == name]


def _of_column(fitss: list[Fits]) -> dict[str, float]:
    drawn = [item for item in fitss if item.cell.drawn]
    return {
        "worst": min(entry.many for entry in fitss),
        "mean": float(np.mean([element.many for element in drawn])) if drawn else float(fitss[0].many),
        "values": float(fitss[0].cell.domain),
        "only_the_true_value": float(np.mean([member.many <= 1.0 for member in drawn])) if drawn else 0.0,
    }


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell, its value, the other values to try, and the frequency of each."""

    name: str
    row: int
    value: Any
    others: tuple[Any, ...]
    weight: float
    tried: Floats
    rest: float
    """Total frequency of all other values of the column."""
    domain: int
    drawn: bool
    """Whether the person was drawn at random, and not taken because of an extreme value."""

    @property
    def control(self) -> float:
        """The chance of the true value by how often values occur."""
        return self.weight / (self.weight + self.rest)


@dataclass(frozen=True, eq=False)
class Fits:
    """The other values that fit a cell."""

    cell: Cell
    fit: Ints

    @property
    def share(self) -> float:
        """Share of the tried other values that fit."""
        return float(len(self.fit) / len(self.cell.others))

    @property
    def many(self) -> float:
        """Estimated number of the column's values that fit, including the true one."""
        return 1.0 + self.share * (self.cell.domain - 1)

    @property
    def credit(self) -> float:
        """The probability of the true value among the fitting values."""
        fitting = float(self.cell.tried[self.fit].sum() / self.cell.tried.sum()) * self.cell.rest
        return self.cell.weight / (self.cell.weight + fitting)


def _cells(scene: Scene, tool: _Tool, name: str, ctx: Context) -> list[Cell]:
    """Draw people, and other values of a column for each; include the people at its ends."""
    column = tool.frame[name]
    counted = column.drop_nulls().value_counts(sort=True, name="count").sort(name)
    values, often = counted[name].to_list(), counted["count"].to_numpy().astype(np.float64)
    if len(values) < 2:
        return []
    there = np.flatnonzero(column.is_not_null().to_numpy())
    if scene.own is not None and len(scene.own) == len(column):  # otherwise a sample, all of it published
        there = there[scene.own[there] >= 0]
    many, tries = (PEOPLE, VALUES) if scene.brief is None else (_BRIEF_CELLS, _BRIEF_CELLS)
    drawn = ctx.rng.permutation(there)[:many]
    ends = [] if scene.schema[name].kind == "nominal" else [column.arg_min(), column.arg_max()]
    place = {value: at for at, value in enumerate(values)}
    out = []
    for row in [*drawn.tolist(), *(end for end in ends if end in there and end not in drawn)]:
        own = place[column[row]]
        other = np.delete(np.arange(len(values)), own)
        some = np.sort(ctx.rng.permutation(other)[: tries - 1])
        out.append(
            Cell(
                name, int(row), values[own], tuple(values[at] for at in some), float(often[own]),
                often[some], float(often[other].sum()), len(values), row in drawn,
            )
        )  # fmt: skip
    return out


class _Tool:
    """The release as a function of one cell's value."""

    def __init__(self, scene: Scene, table: Table) -> None:
        self.frame = pl.DataFrame([plain(table.frame[name]) for name in table.columns])
        self.columns = tuple(self.frame.columns)
        self.table = Table.of(self.frame, table.schema, only=self.columns)
        self.table.units = table.units
        self._remake: Callable[[Table], tuple[Any, str]]
        rerun = scene.rerun
        assert rerun is not None  # noqa: S101 - looked at before
        self._remake = scene.remake or (lambda there: (rerun(there), ""))
        self.seen = self._published(self.table)
        if self._published(self.table) != self.seen:
            raise Inapplicable("the method is random, so running it again does not show which values fit")

    def _published(self, table: Table) -> object:
        """Return a reader's view of the release of a table: unordered rows, and public figures."""
        try:
            frame, figures = self._remake(table)
        except VoronymError:
            return None
        return fingerprint(as_frame(frame)), figures

    def fits(self, cell: Cell) -> Fits:
        """Put other values into a cell, and return those with the same release."""
        column = self.frame[cell.name]
        fit = []
        for at, value in enumerate(cell.others):
            moved = self.frame.with_columns(_put(column, cell.row, value))
            if self._published(self.table.like(as_frame(moved), units=self.table.units)) == self.seen:
                fit.append(at)
        return Fits(cell, np.array(fit, np.int64))


def _put(column: pl.Series, row: int, value: Any) -> pl.Series:
    """Return the column with another value in one row."""
    other = pl.Series(column.name, [value], dtype=column.dtype)
    return pl.concat([column[:row], other, column[row + 1 :]])
