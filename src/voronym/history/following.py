"""A table whose people keep their earlier groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import GuaranteeError, hint
from voronym.history.booking import Booking
from voronym.history.engine import Round
from voronym.history.frozen import put_back
from voronym.history.kept import frozen_rows, stood_in
from voronym.history.policy import RETIRED, Policy
from voronym.history.sets import alike
from voronym.method import METHODS
from voronym.methods.crowd import Crowd
from voronym.methods.demands import demands_of
from voronym.methods.grouped import Kept
from voronym.methods.mask import mask
from voronym.methods.strata import check_strata
from voronym.partition import Partition
from voronym.privacy import Judge, Model
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.result import Grouped
from voronym.table.classes import equivalence_classes
from voronym.table.frame import Frame
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
WAITING = ReleaseChoices.defaults()["waiting"]
ROUNDS = 40
"""Most rounds of joining groups that break a model, or sending them to wait."""


def follow(
    table: Table,
    booking: Booking,
    ctx: Context,
    *,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
) -> tuple[Table, Ints, Kept]:
    """Return the records to release now, and their groups, based on the groups of earlier releases.

    Parameters
    ----------
    table : Table
        The records, row by row as the booking knows their people.
    booking : Booking
        The ledger's knowledge of the people.
    ctx : Context
        Context of the grouping.
    choices, options, k, models
        As for `voronym.methods.grouped.mask_by_groups`.

    Returns
    -------
    table, rows, kept
        The table of published people; their rows in the given table; their groups.
    """
    if choices.strata:
        check_strata(table, choices.strata)
    table = stood_in(booking.entries, booking.rows, table, choices.weights)
    crowd = Crowd.of(table, ctx, choices)
    crowd.check(k)
    policy = Policy(
        headroom=choices.headroom, dissolved=choices.dissolved or "rejoin", waiting=choices.waiting
    )
    people = len(crowd.keys.records)
    first = np.arange(people) if crowd.of_row is None else first_rows(crowd.of_row, people)
    apart = booking.meet(first, facts_of(choices, table.schema))
    follower = _Follower(table, crowd, choices, options, k, models, apart)
    made = booking.follow(
        crowd.keys.records, apart, k, ctx, policy=policy, divide=follower.divide, obey=follower.obey
    )
    frozen = frozen_rows(booking.entries, booking.people, made, table.keys)
    sentence = (
        f"{made.kept:,} groups were kept from earlier releases and publish what they published then; "
        f"{made.formed:,} were formed, of new people alone or of people of {made.dissolved:,} groups that "
        "fell below k; for people from those groups, what their old group published replaces their keys"
    )
    if not booking.entries:
        sentence = f"{made.formed:,} groups were formed, to be kept in later releases"
    rows = crowd.rows_of(np.flatnonzero(made.published))
    kept = Kept(
        made.groups[made.published],
        lambda frame, numbers: put_back(frame, frozen, numbers),
        sentence,
        None if follower.frame is None else follower.frame[rows.tolist()],
        follower.schema,
    )
    booking.stay(rows)
    return (table if made.published.all() else table.rows(rows)), rows, kept


def facts_of(choices: ReleaseChoices, schema: Schema) -> dict[str, Any]:
    """Return the settings that must not change for kept groups, because they decide the published values."""
    method = METHODS[choices.method]
    return {
        "keys": list(schema.keys),
        "kinds": {name: schema[name].kind for name in schema.keys},
        "publish": {name: choices.way(name) for name in schema.keys},
        "hierarchies": sorted(set(choices.hierarchies or {}) & set(schema.keys)),
        "weights": choices.weights,
        "publish_weights": choices.publish_weights if choices.weights else None,
        "published values": "centres" if method.groups else " / ".join([method.name, *choices.blocks]),
    }


class _Follower:
    """Forms new groups, and makes all groups obey the demands."""

    def __init__(
        self,
        table: Table,
        crowd: Crowd,
        choices: ReleaseChoices,
        options: Options,
        k: int,
        models: Sequence[Model],
        apart: Ints,
    ) -> None:
        self.table, self.crowd, self.k, self.models = table, crowd, k, models
        self.method, self.options, self.choices = METHODS[choices.method], options, choices
        self.frame = None if self.method.groups else table.frame.select(list(table.keys))
        """The published values, row by row, if the method itself decides on them; otherwise None."""
        self.schema: Schema | None = None
        """The schema of these values, if the method changes kinds; otherwise None."""
        strata = (
            equivalence_classes(crowd.table.frame, choices.strata).labels
            if choices.strata
            else np.zeros(len(crowd.keys.records), np.int64)
        )
        self.stratum = alike(np.column_stack([strata, apart]))
        """Groups cross neither strata nor histories."""

    def divide(self, problem: Problem, people: Ints, ctx: Context) -> Ints:
        """Divide people into new groups within strata; too few people of a stratum wait."""
        labels = np.full(problem.n, -1, np.int64)
        groups = 0
        plain = problem if self.method.weighted else problem.unweighted()
        for stratum in np.unique(self.stratum[people]):
            mine = np.flatnonzero(self.stratum[people] == stratum)
            if len(mine) < problem.k:
                continue
            if self.frame is not None:
                own = self._published(people[mine], ctx)
            else:
                some = plain if len(mine) == problem.n else plain.subset(mine)
                own = np.array(self.method.partition(some, ctx, self.options).labels)
            labels[mine] = np.where(own >= 0, groups + own, -1)
            groups += int(own.max(initial=-1)) + 1
        return labels

    def _published(self, people: Ints, ctx: Context) -> Ints:
        """Group new people by the method, and store the values it publishes."""
        units = self.crowd.table.units
        homes = None if units is None else units.household
        if homes is not None and len(np.unique(homes[people])) < self.k + self.choices.headroom:
            return np.full(len(people), -1, np.int64)
        rows = self.crowd.rows_of(people)
        some = replace(self.choices, keep_groups=False, headroom=0, dissolved=None, waiting=WAITING)
        made = mask(
            self.table.rows(rows),
            ctx,
            choices=some,
            options=self.options,
            k=self.k + self.choices.headroom,
            models=self.models,
        )
        assert isinstance(made, Grouped)  # noqa: S101 - the method makes groups
        assert made.partition is not None  # noqa: S101
        assert self.frame is not None  # noqa: S101
        place = np.full(len(self.frame), -1, np.int64)
        place[rows] = np.arange(len(rows))
        self.schema = made.schema
        both = nw.concat(_alike(self.frame, made.frame.select(self.frame.columns)))
        self.frame = both[np.where(place >= 0, len(self.frame) + place, np.arange(len(place))).tolist()]
        if self.crowd.of_row is None:
            return np.array(made.partition.labels)
        own = np.searchsorted(people, self.crowd.of_row[rows])
        return np.array(made.partition.labels[first_rows(own, len(people))])

    def obey(self, made: Round) -> Round:
        """Return a round whose groups meet all demands: join failing new groups; failing kept groups wait."""
        for _ in range(ROUNDS):
            who = np.flatnonzero(made.published)
            if not len(who):
                return made
            part = Partition(made.groups[who])
            failing = self._failing(who, part)
            if not failing.any():
                return made
            made = self._mended(made, who, part, failing)
        raise GuaranteeError(
            "the groups that are kept, and those of new people, cannot keep "
            f"{', '.join(str(model) for model in self.models if model.required is not None)} together: ask "
            f"for less, or leave out {hint('keep_groups')}"
        )

    def _failing(self, who: Ints, part: Partition) -> NDArray[np.bool_]:
        """Return the groups that break a demand."""
        table = self.table.rows(self.crowd.rows_of(who))
        asked: list[Judge] = [
            judge
            for _, judges in (*self.crowd.only(who).demands(self.k), *demands_of(table, self.models))
            for judge in judges
        ]
        out = np.zeros(part.n_cells, bool)
        for judge in asked:
            out |= ~np.atleast_1d(judge.holds(judge.values(part.labels, part.n_cells)))
        return out

    def _mended(self, made: Round, who: Ints, part: Partition, failing: NDArray[np.bool_]) -> Round:
        """Join failing new groups with the nearest new group of their stratum; all other people wait."""
        groups, began = made.groups.copy(), made.began.copy()
        first = first_rows(part.labels, part.n_cells)
        new, stratum = made.began[who][first], self.stratum[who][first]
        points = self.crowd.keys.records.subset(who).coordinates
        centres = part.centroids(points)
        number = made.groups[who][first]
        taken = np.zeros(part.n_cells, bool)
        for cell in np.flatnonzero(failing).tolist():
            able = np.flatnonzero(new & (stratum == stratum[cell]) & (np.arange(part.n_cells) != cell))
            mine = who[part.labels == cell]
            if not new[cell] or not len(able):
                groups[mine], began[mine] = -1, False
            elif not taken[cell]:
                near = able[int(np.argmin(np.square(centres[able] - centres[cell]).sum(axis=1)))]
                if not taken[near]:
                    groups[mine] = number[near]
                    taken[[cell, near]] = True
        late = np.where(made.waited == RETIRED, RETIRED, np.maximum(made.waited, 1))
        waited = np.where(groups >= 0, 0, late)
        formed = len(np.unique(groups[(groups >= 0) & began]))
        kept = len(np.unique(groups[(groups >= 0) & ~began]))
        return replace(made, groups=groups, began=began, waited=waited, formed=formed, kept=kept)


def _alike(first: Frame, second: Frame) -> list[Frame]:
    """Return two frames with the same types; columns with ranges in one frame become texts in both."""
    texts = [name for name in first.columns if first[name].dtype != second[name].dtype]
    return [
        frame.with_columns(nw.col(texts).cast(nw.String())) if texts else frame for frame in (first, second)
    ]
