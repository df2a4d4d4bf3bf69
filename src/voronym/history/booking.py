"""A release that is about to enter a ledger: built on the old groups, checked, entered with its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError, hint
from voronym.history.cells import Cells
from voronym.history.check import (
    Standing,
    begun,
    by_person,
    histories,
    left_before,
    presence,
    shared_of,
    standing,
)
from voronym.history.engine import Divide, Round, advance
from voronym.history.frozen import as_plain
from voronym.history.kept import check_facts, last_groups
from voronym.history.known import recognise
from voronym.history.ledger import LEFT_OUT, Entering, Entry, Ledger, now
from voronym.history.marks import BEFORE, DRAWN, Marks, Words, changes, hashed, marks_of, moved
from voronym.history.means import check_drawn, check_leavers, check_means, check_raw, heavy_people, redrawn
from voronym.history.people import Prints, fingerprints, loose_fingerprints, naming_columns
from voronym.history.policy import Policy
from voronym.history.refusal import Refusal
from voronym.history.roster import Made, Roster, roster_of
from voronym.partition import Partition
from voronym.space.records import Records
from voronym.table.frame import Frame
from voronym.table.schema import Schema
from voronym.table.table import Table

Ints = NDArray[np.int64]


class Booking:
    """The ledger's knowledge of the people of a table, and the entry for their release.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    frame : narwhals DataFrame
        The table as it came, identifiers included.
    schema : Schema
        Schema of the table.
    declared : sequence of str
        The identifiers that somebody named.
    strangers : bool
        Accept a table of which the ledger knows nearly nobody.
    """

    def __init__(
        self,
        ledger: Ledger,
        frame: Frame,
        schema: Schema,
        declared: Sequence[str],
        *,
        strangers: bool = False,
    ) -> None:
        self.ledger, self.entries = ledger, ledger.entries
        bound = self.entries[-1].about["named_by"] if self.entries else ()
        self.named_by = naming_columns(schema, frame, declared, bound)
        self.rows: Prints = fingerprints(frame, self.named_by, ledger.key)
        self.everyone: Prints = self.rows
        """The person of every row of the table, those included that are not released."""
        self.people: Prints = self.rows
        """Fingerprints of the grouped people, in the order of the records."""
        self.round: Round | None = None
        self.entry: Entry | None = None
        self.standing: Standing | None = None
        self.left: Prints = self.rows[:0]
        self.late: Prints = self.rows[:0]
        """Fingerprints of people who wait, if groups are not kept."""
        self.cells = Cells(self.entries)
        self.values: dict[str, Words] = {}
        self.drawn: set[str] = set()
        self.redrawn: set[str] = set()
        self.truths: dict[str, Words] = {}
        """Keyed hashes of the true values in columns that are drawn at random, by column."""
        self.weighed_by: str | None = None
        self.weights: NDArray[np.float64] | None = None
        self.corrected = 0
        self.publish_changed = False
        loose = loose_fingerprints(frame, self.named_by, ledger.key)
        self._loose: dict[bytes, bytes] = dict(zip(self.rows.tolist(), loose.tolist(), strict=True))
        met = recognise(self.entries, self.rows, loose, self.named_by, strangers=strangers)
        self.many, self.known, self.respelled = met.people, met.known, met.respelled

    @property
    def sentence(self) -> str:
        """A sentence about the number of known people."""
        if not self.entries:
            return f"This is the first release in the ledger: none of its {self.many:,} people is known yet."
        return f"{self.known:,} of {self.many:,} people are known to the ledger."

    def begin(self, recipe: Any) -> None:
        """Record the requested choices."""
        self.keys = tuple(recipe.schema.keys)
        self.cells.k = max(recipe.required_k, 2)
        self.publish_changed = recipe.changed == "publish"
        self.weighed_by = recipe.weights
        self.drawn |= {name for step in recipe.column_steps if step.random for name in step.columns}
        self.redrawn |= redrawn(recipe)

    def read_truths(self, frame: Frame) -> None:
        """Store the true values of columns that are drawn at random, before any step."""
        for name in sorted(self.redrawn & set(frame.columns)):
            self.truths.setdefault(DRAWN + name, hashed(frame[name].to_list(), self.ledger.key))

    def lasting(self, table: Table) -> list[str]:
        """Return the columns that would be published with the same values again, without random ones."""
        return [name for name in table.columns if name in table.schema and name not in self.drawn]

    # -- values of people ------------------------------------------------------------------------------------

    def read_values(self, frame: Frame, names: Sequence[str]) -> None:
        """Record everybody's values in some columns, to detect changes between releases."""
        for name in names:
            if name == self.weighed_by:
                self.weights = frame[name].cast(nw.Float64()).to_numpy()
            words = hashed(frame[name].to_list(), self.ledger.key)
            tail = self.cells.tails.get(name)
            self.values[name] = words if tail is None else np.where(tail, np.uint64(0), words)

    def watch(self, step: Any, before: Table, after: Table) -> Table:
        """Register a step; reuse a figure over people if an earlier release has it."""
        if step.averages:
            raw = {name: hashed(before.frame[name].to_list(), self.ledger.key) for name in step.columns}
            self.cells.raw |= {BEFORE + name: words for name, words in raw.items()}
        return self.cells.watch(step, before, after, self.rows)

    # -- leaving people out ----------------------------------------------------------------------------------

    def fates(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the rows published in an earlier release, and the rows left out of one."""
        groups = [entry.of(entry.groups, self.rows) for entry in self.entries]
        seen = np.stack(groups) if groups else np.empty((0, len(self.rows)), np.int64)
        return np.any(seen >= 0, axis=0), np.any(seen == LEFT_OUT, axis=0)

    def leave(self, stays: Ints) -> None:
        """Keep some rows, and store the others as left out."""
        here = self.rows[stays]
        left = np.unique(np.delete(self.rows, stays))
        if several := int(np.isin(left, here).sum()):
            raise InputError(
                f"{several} people have several rows, and some of these would be left out: say whose rows "
                f"they are ({hint('person', self.named_by[0])}), so that people are left out with all of "
                "theirs"
            )
        self.rows, self.left = here, left

    def who_waits(self, part: Partition, *, k: int, share: float, homes: Ints | None = None) -> Ints:
        """Return the rows of people who must wait, because the difference of two releases would expose them.

        They were not in the previous release, and fewer than k members of their group share their
        history. If waiting does not help, nobody waits, and the release is refused.

        Parameters
        ----------
        part : Partition
            The groups of the rows.
        k : int
            The promised k.
        share : float
            The largest share of people who may wait.
        homes : array of int, optional
            The household of each row.
        """
        none = np.empty(0, np.int64)
        if not self.entries:
            return none
        people, groups = by_person(self.rows, part.labels)
        sizes = shared_of(
            self.entries,
            people,
            groups,
            begun(self.entries, people),
            self._homes(people, homes),
            self._changed(people),
        )
        few = people[sizes < k]
        last = self.entries[-1]
        many = len(few) + len(self.late)
        if not len(few) or (last.of(last.groups, few) >= 0).any() or many > int(share * self.many + 1e-9):
            return none
        return np.flatnonzero(np.isin(self.rows, few))

    def postpone(self, stays: Ints) -> None:
        """Let all rows but some wait for a later release."""
        self.late = np.unique(np.concatenate([self.late, np.delete(self.rows, stays)]))
        self.rows = self.rows[stays]

    def _homes(self, people: Prints, homes: Ints | None) -> Ints | None:
        """Return the household of each person, from the households of the rows."""
        if homes is None:
            return None
        sort = np.argsort(self.rows, kind="stable")
        return np.asarray(homes[sort[np.searchsorted(self.rows[sort], people)]])

    def _marks(self, people: Prints) -> Marks:
        return marks_of(self.everyone, people, self.values | self.cells.raw | self.truths, self.keys)

    def _changed(self, people: Prints) -> NDArray[np.bool_] | None:
        """Return the releases in which people had changed values; None if changes do not count."""
        if self.publish_changed or not self.entries:
            return None
        order = np.argsort(people, kind="stable")
        out = np.empty((len(people), len(self.entries) + 1), bool)
        names = [*self.values, *self.cells.raw, *self.truths]
        out[order] = changes(self.entries, people[order], names, self._marks(people[order]), self.keys)
        return out

    keys: tuple[str, ...] = ()
    """The keys of the release."""

    # -- building on the old groups --------------------------------------------------------------------------

    def meet(self, first: Ints, facts: Mapping[str, Any]) -> Ints:
        """Store the grouped people; return a number for the set of releases that each was in, 0 for none.

        Parameters
        ----------
        first : array of int
            A row of each of them.
        facts : mapping
            Settings of publishing (see `facts_of`); they must not change for kept groups.
        """
        self.people = self.rows[first]
        if len(np.unique(self.people)) < len(self.people):
            raise InputError(
                "groups are kept for people with one record each, and here some have several: say whose rows "
                f"they are ({hint('person', self.named_by[0])}), or leave out {hint('keep_groups')}"
            )
        check_facts(self.entries, self.people, facts)
        return presence(histories(self.entries, self.people))

    def follow(
        self,
        records: Records,
        apart: Ints,
        k: int,
        ctx: Context,
        *,
        policy: Policy,
        divide: Divide | None,
        obey: Callable[[Round], Round] | None = None,
    ) -> Round:
        """Return the groups of this release, based on the groups of earlier ones.

        Parameters
        ----------
        records : Records
            The people.
        apart : array of int
            A number for each person's earlier releases, from `meet`.
        k, ctx, policy, divide
            As for `advance`.
        obey : callable, optional
            Makes the groups of a round meet further demands.
        """
        number = self.ledger.next_group
        retire = policy.dissolved == "retire"
        last, waited = last_groups(self.entries, self.people, number, retire=retire)
        made = advance(
            records,
            last,
            k,
            ctx,
            policy=policy,
            waited=waited,
            number=number,
            divide=divide,
            apart=apart,
        )
        self.round = made if obey is None else obey(made)
        if not self.round.published.any():
            raise GuaranteeError(
                f"nobody can be published: there are {len(self.people)} people, and no group of k={k} of "
                "them may be formed that keeps all promises. Nothing was released"
            )
        return self.round

    def stay(self, rows: Ints) -> None:
        """Keep some of the rows; the others belong to people who wait."""
        self.rows = self.rows[rows]

    # -- checking --------------------------------------------------------------------------------------------

    def check(
        self,
        part: Partition,
        frame: Frame,
        *,
        k: int,
        about: Mapping[str, Any],
        homes: Ints | None = None,
        computed: bool = True,
    ) -> None:
        """Check the groups of a release against all earlier ones, and prepare the ledger entry.

        Parameters
        ----------
        part : Partition
            The groups of the rows that are released, in the order of the table.
        frame : narwhals DataFrame
            Their keys, as they are published.
        k : int
            The promised k.
        about : mapping
            Keys, columns, steps and method, and how the release publishes.
        homes : array of int, optional
            The household of each row that is released: then k counts households.
        computed : bool
            Whether groups publish figures of their people, such as means, and not true values alone.
        """
        made = Made(part, self.rows, self.left, self.late, self.people, self.round)
        roster = roster_of(made, self.entries, self.ledger.next_group)
        people, groups = roster.people, roster.groups
        self._check_standing(roster, k, homes)
        names, marks = [*self.values, *self.cells.raw, *self.truths], self._marks(people)
        dominant = heavy_people(self.weights, self.everyone, people, groups, k)
        out = groups >= 0
        if not self.publish_changed:
            check_drawn(self.entries, people[out], names, marks[out])
            check_raw(self.entries, people[out], names, marks[out], list(self.cells.raw))
        if computed and self.round is None and self.entries:
            changed = moved(self.entries, people[out], names, marks[out], (*self.keys, self.weighed_by or ""))
            promised = max(k, *(entry.k for entry in self.entries))  # to people of earlier releases
            check_means(self.entries, people[out], groups[out], promised, changed, dominant[out])
            check_leavers(self.entries, people[out], promised)
        self.corrected = int(moved(self.entries, people[out], names, marks[out], self.keys, first=True).sum())
        facts = {
            **about,
            "named_by": self.named_by,
            "kept_groups": self.round is not None,
            "marked": names,
            "cells": [cell.about for cell in self.cells.now],
        }
        self.entry = Entry(
            0, now(), k, facts, people, groups, roster.start, roster.waited,
            published=self._shown(frame, roster.numbers),
            loose=np.array([self._loose[person] for person in people.tolist()], people.dtype),
            marks=marks,
            cells=np.column_stack([self.cells.members(people), dominant]),
        )  # fmt: skip

    def _check_standing(self, roster: Roster, k: int, homes: Ints | None) -> None:
        """Refuse a release that, together with earlier ones, would single people out."""
        out = roster.groups >= 0
        people, groups, start = roster.people[out], roster.groups[out], roster.start[out]
        lived = self._homes(people, homes)
        self.standing = standing(self.entries, people, groups, start, k, lived, self._changed(people))
        if not self.standing.below:
            return
        few = people[shared_of(self.entries, people, groups, start, lived) < k]
        last = self.entries[-1]
        refusal = Refusal(
            self.standing,
            standing(self.entries, people, groups, start, k, lived),
            releases=len(self.entries),
            few=len(few),
            came_now=not (last.of(last.groups, few) >= 0).any(),
            late=len(self.late),
            many=self.many,
            unknown=self.many - self.known,
            left_before=len(np.unique(self.rows[np.isin(self.rows, left_before(self.entries))])),
            ledger=self.ledger.path.name,
        )
        raise GuaranteeError(str(refusal))

    def _shown(self, frame: Frame, numbers: Ints) -> dict[str, Any]:
        """Return the published values of groups as plain data; {} if the ledger cannot store them."""
        first = np.unique(numbers, return_index=True)[1]
        rows = as_plain(frame[first.tolist()])
        if rows is not None:
            return {"keys": frame.columns, "groups": numbers[first].tolist(), "values": rows}
        if self.round is None:
            return {}
        raise InputError(
            "groups that are kept publish the same again, and values of the keys are of a kind that the "
            f"ledger cannot hold: make them numbers, texts or dates, or leave out {hint('keep_groups')}"
        )

    def companion(self, path: Path, sha256: str) -> Entering:
        """Return the ledger entry that becomes valid together with the release's file."""
        assert self.entry is not None  # noqa: S101 - a release that was checked has one
        return Entering(self.ledger, self.entry, path, sha256, len(self.entries))
