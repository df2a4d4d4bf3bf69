"""A release on its way into a ledger: built on the old groups, checked, and entered with its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError, hint
from voronym.history.cells import Cells
from voronym.history.check import Standing, begun, histories, leavers, presence, shared_of, standing
from voronym.history.engine import Divide, Round, advance
from voronym.history.figures import check_drawn, check_means, check_raw, heavy, moved
from voronym.history.frozen import as_plain, put_back
from voronym.history.ledger import LEFT_OUT, Entry, Ledger, now
from voronym.history.marks import BEFORE, DRAWN, Marks, Words, changes, corrected, hashed, marks_of
from voronym.history.people import Prints, fingerprints, loose_fingerprints, naming_columns
from voronym.history.policy import Policy
from voronym.partition import Partition
from voronym.space.records import Records
from voronym.table.schema import Schema
from voronym.table.table import Table

Ints = NDArray[np.int64]
FEW = 0.05
"""Share of the people of a table, or of a ledger that has fewer, of whom more have to be known."""


class Booking:
    """What a ledger knows of the people of a table, and what it will know of their release.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    frame : narwhals DataFrame
        The table as it came, identifiers included.
    schema : Schema
        Of the table.
    declared : sequence of str
        The identifiers that somebody named.
    strangers : bool
        Whether it is right that nearly nobody of the table is known.
    """

    def __init__(
        self,
        ledger: Ledger,
        frame: nw.DataFrame[Any],
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
        """Those whom groups are made of, in the order of the records; rows, where these are people."""
        self.round: Round | None = None
        self.entry: Entry | None = None
        self.standing: Standing | None = None
        self.left: Prints = self.rows[:0]
        self.late: Prints = self.rows[:0]
        """People who wait, where groups are not kept."""
        self.cells = Cells(self.entries)
        self.values: dict[str, Words] = {}
        self.drawn: set[str] = set()
        self.redrawn: set[str] = set()
        """Columns for which the release draws at random what it publishes of each person."""
        self.truths: dict[str, Words] = {}
        """Keyed hashes of what rows have for which the release draws at random, by column."""
        self.weighed_by: str | None = None
        self.weights: NDArray[np.float64] | None = None
        self.corrected = 0
        self.publish_changed = False
        self._meet(loose_fingerprints(frame, self.named_by, ledger.key), strangers=strangers)

    # -- who is known ----------------------------------------------------------------------------------------

    def _meet(self, loose: Prints, *, strangers: bool) -> None:
        """Count who is known, by name and by other spellings of it; refuse a table of strangers."""
        people, first = np.unique(self.rows, return_index=True)
        self._loose: dict[bytes, bytes] = dict(zip(people.tolist(), loose[first].tolist(), strict=True))
        none = self.rows[:0]
        ever = np.unique(np.concatenate([none, *(entry.people for entry in self.entries)]))
        known = np.isin(people, ever)
        self.many, self.known = len(people), int(known.sum())
        absent = [
            entry.loose[~np.isin(entry.people, people)] for entry in self.entries if entry.loose is not None
        ]
        self.respelled = int(np.isin(loose[first][~known], np.concatenate([none, *absent])).sum())
        if not strangers and self.known < FEW * min(self.many, len(ever)):
            alike = (
                f"; {self.respelled:,} of them are known under another spelling (letter case, dashes, zeros "
                "in front, signs that are not seen), so spell them as before"
                if self.respelled
                else ""
            )
            raise InputError(
                f"{self.known:,} of {self.many:,} people are known to the ledger, which has {len(ever):,}: "
                f"check that {', '.join(self.named_by)} names people as it did{alike}; or, if these are "
                f"other people, say so ({hint('strangers')})"
            )

    @property
    def sentence(self) -> str:
        """Say how many people are known."""
        if not self.entries:
            return f"This is the first release in the ledger: none of its {self.many:,} people is known yet."
        return f"{self.known:,} of {self.many:,} people are known to the ledger."

    def begin(self, recipe: Any) -> None:
        """Take note of what is asked for."""
        self.keys = tuple(recipe.schema.keys)
        self.cells.k = max(recipe.required_k, 2)
        self.publish_changed = recipe.changed == "publish"
        self.weighed_by = recipe.weights
        self.drawn |= {name for step in recipe.column_steps if step.random for name in step.columns}
        again = {
            name
            for step in recipe.column_steps
            if step.random
            for name in step.columns  # groups that are kept publish what they did, whatever is drawn before
            if not (recipe.keep_groups and step.when == "before" and name in self.keys)
        }
        if not recipe.makes_groups and recipe.private is None:  # the method draws what the keys publish
            again |= set(self.keys)
        self.redrawn |= again

    def read_truths(self, frame: nw.DataFrame[Any]) -> None:
        """Take note of what everybody has in columns that are drawn at random, before any step."""
        for name in sorted(self.redrawn & set(frame.columns)):
            if DRAWN + name not in self.truths:
                self.truths[DRAWN + name] = hashed(frame[name].to_list(), self.ledger.key)

    def lasting(self, table: Table) -> list[str]:
        """Return the columns whose values would be the same again if nothing changed: none that is drawn."""
        return [name for name in table.columns if name in table.schema and name not in self.drawn]

    # -- what people have ------------------------------------------------------------------------------------

    def read_values(self, frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
        """Take note of what everybody has in some columns, to see what changes from release to release."""
        for name in names:
            if name == self.weighed_by:
                self.weights = frame[name].cast(nw.Float64()).to_numpy()
            words = hashed(frame[name].to_list(), self.ledger.key)
            tail = self.cells.tails.get(name)
            self.values[name] = words if tail is None else np.where(tail, np.uint64(0), words)

    def watch(self, step: Any, before: Table, after: Table) -> Table:
        """Look at a step: a figure over people that an earlier release has, too, is not computed again."""
        if step.averages:
            raw = {name: hashed(before.frame[name].to_list(), self.ledger.key) for name in step.columns}
            self.cells.raw |= {BEFORE + name: words for name, words in raw.items()}
        return self.cells.watch(step, before, after, self.rows)

    # -- leaving people out ----------------------------------------------------------------------------------

    def fates(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whose rows were published in an earlier release, and who was left out of one."""
        groups = [entry.of(entry.groups, self.rows) for entry in self.entries]
        seen = np.stack(groups) if groups else np.empty((0, len(self.rows)), np.int64)
        return np.any(seen >= 0, axis=0), np.any(seen == LEFT_OUT, axis=0)

    def leave(self, stays: Ints) -> None:
        """Keep some rows; remember the others as left out."""
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
        """Return the rows of people who have to wait: the difference of two releases would be theirs.

        They were not in the release before, and fewer than k of a group share their history. Nobody waits
        where that is no way out: then the release is refused.

        Parameters
        ----------
        part : Partition
            The groups of the rows.
        k : int
            What the release promises.
        share : float
            The largest share of the people who may wait.
        homes : array of int, optional
            The household of each row.
        """
        none = np.empty(0, np.int64)
        if not self.entries:
            return none
        people, groups = _people(self.rows, part.labels)
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
        """Return the households of people from those of the rows."""
        if homes is None:
            return None
        sort = np.argsort(self.rows, kind="stable")
        return np.asarray(homes[sort[np.searchsorted(self.rows[sort], people)]])

    def _marks(self, people: Prints) -> Marks:
        return marks_of(self.everyone, people, self.values | self.cells.raw | self.truths)

    def _changed(self, people: Prints) -> NDArray[np.bool_] | None:
        """Return in which releases people had other values than before, where that counts."""
        if self.publish_changed or not self.entries:
            return None
        order = np.argsort(people, kind="stable")
        out = np.empty((len(people), len(self.entries) + 1), bool)
        names = [*self.values, *self.cells.raw, *self.truths]
        out[order] = changes(self.entries, people[order], names, self._marks(people[order]), self.keys)
        return out

    def _heavy(self, people: Prints, groups: Ints, k: int) -> NDArray[np.bool_]:
        """Return whose weight is nearly all of that of some k people of their group."""
        out = np.zeros(len(people), bool)
        inside = groups >= 0
        if self.weights is not None and inside.any():
            rows = np.isin(self.everyone, people[inside])
            at = np.searchsorted(people[inside], self.everyone[rows])
            weights = np.bincount(at, self.weights[rows], minlength=int(inside.sum())).astype(np.float64)
            out[inside] = heavy(weights, groups[inside], k)
        return out

    keys: tuple[str, ...] = ()
    """The keys of the release."""

    # -- building on the old groups --------------------------------------------------------------------------

    def meet(self, first: Ints, facts: Mapping[str, Any]) -> Ints:
        """Say whom groups are made of; return in which releases they were, 0 for people who were in none.

        Parameters
        ----------
        first : array of int
            A row of each of them.
        facts : mapping
            How the release publishes (see `facts_of`): what groups have published is not published in
            another way.
        """
        self.people = self.rows[first]
        if len(np.unique(self.people)) < len(self.people):
            raise InputError(
                "groups are kept for people with one record each, and here some have several: say whose rows "
                f"they are ({hint('person', self.named_by[0])}), or leave out {hint('keep_groups')}"
            )
        self._check_facts(facts)
        return presence(histories(self.entries, self.people))

    def _check_facts(self, facts: Mapping[str, Any]) -> None:
        """Refuse to publish people of earlier releases otherwise than these did."""
        for entry in self.entries:
            if not (entry.of(entry.groups, self.people) >= 0).any():
                continue
            other = [
                name
                for name, value in facts.items()
                if entry.about.get(name, value if name != "keys" else None) != value
            ]
            if other:
                raise InputError(
                    f"groups that are kept publish what they published before, and {', '.join(other)} differ "
                    f"from release {entry.number}: what is computed again, without the people who left, "
                    "would tell what they had. Keep them as they were, or begin another history: leave out "
                    f"{hint('keep_groups')}, and release people who are in no earlier release"
                )

    def stood_in(self, table: Table, weights: str | None) -> Table:
        """Return a table in which what groups published stands for the keys of the people they published.

        So the keys of a person enter one published figure and no other, and nothing that comes later tells
        more about them, nor about people who left.
        """
        rows, numbers = self._published(self.rows)
        if not rows or not all(entry.about.get("plain", True) for entry in self.entries):
            return table
        names = list(next(iter(rows.values())))
        shown = {number: [row.get(name) for name in table.keys] for number, row in rows.items()}
        frame = put_back(table.frame.select(list(table.keys)), shown, numbers)
        made = {name: frame[name] for name in table.keys}
        if weights is not None and weights in names and weights in table.columns:
            values = table.frame[weights].cast(nw.Float64()).to_list()
            mine = [
                value if number not in rows else rows[number][weights]
                for value, number in zip(values, numbers.tolist(), strict=True)
            ]
            made[weights] = nw.new_series(weights, mine, nw.Float64(), backend=table.frame.implementation)
        return table.like(
            table.frame.with_columns(**{name: nw.maybe_reset_index(series) for name, series in made.items()}),
            table.source,
        )

    def _published(self, people: Prints) -> tuple[dict[int, dict[str, Any]], Ints]:
        """Return what was published last of people, by the number of their group, and this number of each."""
        numbers = np.full(len(people), -1, np.int64)
        rows: dict[int, dict[str, Any]] = {}
        for entry in self.entries:
            mine = entry.of(entry.groups, people)
            numbers = np.where(mine >= 0, mine, numbers)
            if "keys" in entry.published:
                held = zip(entry.published["groups"], entry.published["values"], strict=True)
                rows |= {number: dict(zip(entry.published["keys"], row, strict=True)) for number, row in held}
        wanted = set(numbers[numbers >= 0].tolist())
        if lacking := wanted - set(rows):
            raise InputError(
                f"the ledger does not know what {len(lacking):,} groups published, so they cannot publish it "
                f"again: leave out {hint('keep_groups')}, and release people who are in no earlier release"
            )
        return {number: rows[number] for number in wanted}, numbers

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
        """Return the groups of this release, built on those of the earlier ones.

        Parameters
        ----------
        records : Records
            The people.
        apart : array of int
            In which releases they were, as from `meet`.
        k, ctx, policy, divide
            As for `advance`.
        obey : callable, optional
            Makes the groups of a round obey what else is asked of them.
        """
        last, waited = self._last(policy)
        made = advance(
            records,
            last,
            k,
            ctx,
            policy=policy,
            waited=waited,
            number=self.ledger.next_group,
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

    def _last(self, policy: Policy) -> tuple[Ints, Ints]:
        """Return the group that each person is a member of, -1 for none, and how long they have waited.

        A member was in the group when it was last published. People who were absent then do not come back:
        the others have a history without them.
        """
        group = np.full(len(self.people), -1, np.int64)
        waited = np.zeros(len(self.people), np.int64)
        seen = np.zeros(len(self.people), np.int64)
        ended: dict[int, int] = {}
        for entry in self.entries:
            there, _ = entry.find(self.people)
            groups = entry.of(entry.groups, self.people)
            group, seen = np.where(groups >= 0, groups, group), np.where(groups >= 0, entry.number, seen)
            waited = np.where(there, entry.of(entry.waited, self.people), waited)
            ended |= dict.fromkeys(np.unique(entry.groups).tolist(), entry.number)
        away = (group >= 0) & (
            seen != np.array([ended.get(number, 0) for number in group.tolist()], np.int64)
        )
        alone = self.ledger.next_group + np.arange(len(group))  # a group of one, which is dissolved
        return np.where(away, alone if policy.dissolved == "retire" else -1, group), waited

    def stay(self, rows: Ints) -> None:
        """Keep some of the rows: the others belong to people who wait."""
        self.rows = self.rows[rows]

    def check_steps(self, steps: Sequence[str]) -> None:
        """Refuse other steps than those of the releases whose groups are kept."""
        earlier = [entry.about.get("steps", []) for entry in self.entries if entry.about.get("kept_groups")]
        if earlier and list(earlier[-1]) != list(steps):
            raise InputError(
                "groups that are kept publish what they published before, and the steps differ from those of "
                f"the release before ({'; '.join(earlier[-1]) or 'none'}): take the same steps, or leave out "
                f"{hint('keep_groups')}"
            )

    def frozen(self, keys: Sequence[str]) -> dict[int, list[Any]]:
        """Return what groups publish that have no new people, by their numbers.

        Groups that live publish what they did. Where what is published cannot stand for keys (ranges), new
        groups of people who were published before publish what the group of most of them did.
        """
        assert self.round is not None  # noqa: S101 - asked after `follow`
        made = self.round
        rows, numbers = self._published(self.people)
        plain = all(entry.about.get("plain", True) for entry in self.entries)
        settled = made.published & (numbers >= 0) & (~made.began if plain else True)
        out: dict[int, list[Any]] = {}
        pairs, many = np.unique(
            np.column_stack([made.groups[settled], numbers[settled]]), axis=0, return_counts=True
        )
        for at in np.lexsort((-pairs[:, 1], many)):  # that of most of them comes last
            out[int(pairs[at, 0])] = [rows[int(pairs[at, 1])].get(name) for name in keys]
        return out

    # -- checking --------------------------------------------------------------------------------------------

    def check(
        self,
        part: Partition,
        frame: nw.DataFrame[Any],
        *,
        k: int,
        about: Mapping[str, Any],
        homes: Ints | None = None,
        computed: bool = True,
    ) -> None:
        """Check the groups of a release against all earlier ones, and have the entry ready.

        Parameters
        ----------
        part : Partition
            The groups of the rows that are released, in the order of the table.
        frame : narwhals DataFrame
            Their keys, as they are published.
        k : int
            What the release promises.
        about : mapping
            Keys, columns, steps and method, and how the release publishes.
        homes : array of int, optional
            The household of each row that is released: then k counts households.
        computed : bool
            Whether groups publish figures of their people, such as means, and not true values alone.
        """
        following = self.round
        if following is None:
            numbers = self.ledger.next_group + part.labels
            people, groups = _people(self.rows, numbers)
            start = begun(self.entries, people)
            waited = np.zeros(len(people), np.int64)
            late = self.late
        else:
            order = np.argsort(self.people, kind="stable")
            people, groups = self.people[order], following.groups[order]
            inside = np.flatnonzero(following.published[order])
            numbers = groups[inside][np.searchsorted(people[inside], self.rows)]
            start = np.where(following.began[order], 0, begun(self.entries, people))
            waited = following.waited[order]
            late = self.rows[:0]
        people = np.concatenate([people, self.left, late])
        order = np.argsort(people, kind="stable")
        people = people[order]
        groups = np.concatenate([groups, np.full(len(self.left), LEFT_OUT), np.full(len(late), -1)])[order]
        start = np.concatenate([start, *(begun(self.entries, who) for who in (self.left, late))])[order]
        waits = [np.zeros(len(self.left), np.int64), self._waited(late) + 1]
        waited = np.concatenate([waited, *waits])[order]
        out = groups >= 0
        lived = self._homes(people[out], homes)
        marks = self._marks(people)
        changed = self._changed(people[out])
        self.standing = standing(self.entries, people[out], groups[out], start[out], k, lived, changed)
        if self.standing.below:
            bare = standing(self.entries, people[out], groups[out], start[out], k, lived)
            raise GuaranteeError(
                self.refusal(self.standing, bare, people[out], groups[out], start[out], lived)
            )
        names = [*self.values, *self.cells.raw, *self.truths]
        dominant = self._heavy(people, groups, k)
        if not self.publish_changed:
            check_drawn(self.entries, people[out], names, marks[out])
            check_raw(self.entries, people[out], names, marks[out], list(self.cells.raw))
        if computed and following is None and self.entries:
            changed = moved(self.entries, people[out], names, marks[out], (*self.keys, self.weighed_by or ""))
            check_means(self.entries, people[out], groups[out], k, changed, dominant[out])
            left = int(leavers(self.entries, people[out], k, ever=True).sum())
            if left:
                raise GuaranteeError(
                    f"{left:,} people of earlier releases are not in this one, as fewer than k={k} of their "
                    "groups, and what groups publish is computed from their people: the difference would "
                    f"tell what the others had. Nothing was released. {hint('keep_groups')} publishes what "
                    "groups "
                    "published before"
                )
        self.corrected = int(corrected(self.entries, people[out], names, marks[out], self.keys).sum())
        first = np.unique(numbers, return_index=True)[1]
        rows = as_plain(frame[first.tolist()])
        if rows is None and following is not None:
            raise InputError(
                "groups that are kept publish the same again, and values of the keys are of a kind that the "
                f"ledger cannot hold: make them numbers, texts or dates, or leave out {hint('keep_groups')}"
            )
        shown = {"keys": frame.columns, "groups": numbers[first].tolist(), "values": rows}
        facts = {
            **about,
            "named_by": self.named_by,
            "kept_groups": following is not None,
            "marked": names,
            "cells": [cell.about for cell in self.cells.now],
        }
        self.entry = Entry(
            0, now(), k, facts, people, groups, start, waited, published=shown if rows is not None else {},
            loose=np.array([self._loose[person] for person in people.tolist()], people.dtype),
            marks=marks,
            cells=np.column_stack([self.cells.members(people), dominant]),
        )  # fmt: skip

    def _waited(self, people: Prints) -> Ints:
        """Return for how many releases people have waited."""
        last = self.entries[-1] if self.entries else None
        if last is None:
            return np.zeros(len(people), np.int64)
        return np.maximum(last.of(last.waited, people, 0), 0)

    def refusal(
        self,
        standing: Standing,
        bare: Standing,
        people: Prints,
        groups: Ints,
        start: Ints,
        homes: Ints | None,
    ) -> str:
        """Return the sentence that says why nothing was released, and the ways out.

        Parameters
        ----------
        found, bare : Standing
            What was counted, and what would be if no value had changed.
        people, groups, start, homes
            As for `standing`.
        """
        if not bare.below:
            return (
                f"{standing.below:,} of {standing.people:,} people would be told apart because values beside "
                f"the keys are others than in an earlier release, or are not, for fewer than k={standing.k} "
                "people of a group: whoever knows whose values changed finds their rows. Nothing was "
                f"released. {hint('changed', 'publish')} releases them all the same"
            )
        came = len(np.unique(self.rows[np.isin(self.rows, _left_before(self.entries))]))
        out = (
            f". {came:,} of the people were left out of an earlier release: {hint('suppress')} leaves them "
            "out again"
            if came
            else ""
        )
        last = self.entries[-1]
        few = people[shared_of(self.entries, people, groups, start, homes) < standing.k]
        if not (last.of(last.groups, few) >= 0).any():
            share = (len(few) + len(self.late)) / self.many
            return (
                f"{len(few):,} of {standing.people:,} people were not in the release before, and would be "
                f"fewer than k={standing.k} of their groups: the difference of the releases would be theirs. "
                "Nothing was released. Let them wait for others "
                f"({hint('waiting', float(np.ceil(100 * share) / 100))}), or "
                f"build on the groups of the earlier releases ({hint('keep_groups')}){out}"
            )
        return (
            f"{bare.below:,} of {bare.people:,} people would be in groups that, together with those of "
            f"{len(self.entries)} earlier releases in the ledger, fewer than k={bare.k} people share (the "
            f"fewest: {bare.smallest}): whoever keeps the releases could tell them apart. Nothing was "
            f"released. Three ways out: (1) {hint('keep_groups')} builds this release on the groups of the "
            "earlier "
            f"ones; (2) release only the {self.many - self.known:,} people who were in none of them, with "
            f"{hint('strangers')}; (3) if an earlier release never left the house, forget it: voronym "
            "ledger forget "
            f"{self.ledger.path.name} --release NUMBER{out}"
        )

    def notes(self, *, chosen: bool = True) -> tuple[str, ...]:
        """Return what the data holder should know, the weightiest first.

        Parameters
        ----------
        chosen : bool
            Whether somebody chose what becomes of the people of groups that fall below k.
        """
        standing, following = self.standing, self.round
        out: list[str] = []
        if standing is not None and standing.recognised_below:
            out.append(
                f"{standing.recognised_below:,} of {standing.people:,} people stand in sets of fewer than "
                f"k={standing.k} (the fewest: {standing.recognised_smallest}) for an intruder who recognises "
                "the rows of a person in several releases, by values that do not change: people left, and "
                f"groups were formed of the others. With {hint('dissolved', 'retire')} such people are not "
                "published again"
            )
        if following is not None and not chosen and not any(e.about["kept_groups"] for e in self.entries):
            out.append(
                "groups that fall below k in later releases are dissolved, and their people join others: an "
                "intruder who recognises rows by values that do not change can follow them. Choose now: "
                f"{hint('dissolved', 'retire')} does not publish such people again, "
                f"{hint('dissolved', 'rejoin')} accepts it"
            )
        if self.respelled:
            out.append(
                f"{self.respelled:,} people are not known, but somebody who is missing now has the same "
                f"{', '.join(self.named_by)} in another spelling (letter case, dashes, zeros in front, signs "
                "that are not seen): if they are the same people, spell them as before"
            )
        waiting = following.waiting if following is not None else len(self.late)
        if waiting:
            out.append(
                f"{waiting:,} of {self.many:,} people wait and are not in the release: too few "
                "similar people were in the same releases"
            )
        out += self.cells.notes
        if self.corrected and following is not None:
            out.append(
                f"{self.corrected:,} people have other keys now than when they were first published, and the "
                "release still publishes what their group published then: groups that are kept do not change"
            )
        if standing is not None and standing.leavers_below:
            out.append(
                f"{standing.leavers_below:,} people of the release before are not in this one, as fewer than "
                f"k={standing.k} of their group: whoever compares the two sees which values are lacking"
            )
        return tuple(out)

    @property
    def figures(self) -> dict[str, Any]:
        """What may be said about the release and those before it, for the data holder; JSON-able."""
        standing, following = self.standing, self.round
        out: dict[str, Any] = {"earlier_releases": len(self.entries)}
        if standing is not None:
            out |= {
                "people": standing.people,
                "known": standing.known,
                "known_to_ledger": self.known,
                "in_table": self.many,
                "known_by_other_spelling": self.respelled,
                "smallest_history": standing.smallest,
                "recognised_smallest": standing.recognised_smallest,
                "recognised_below_k": standing.recognised_below,
                "leavers_below_k": standing.leavers_below,
                "corrected": self.corrected,
                "waiting": len(self.late),
            }
        if following is not None:
            out |= {
                "groups_kept": following.kept,
                "groups_formed": following.formed,
                "groups_dissolved": following.dissolved,
                "waiting": following.waiting,
            }
        return out

    # -- entering --------------------------------------------------------------------------------------------

    def companion(self, path: Path, sha256: str) -> Entering:
        """Return the entry of the release as what comes true together with its file."""
        assert self.entry is not None  # noqa: S101 - a release that was checked has one
        return Entering(self.ledger, self.entry, path, sha256, len(self.entries))


@dataclass
class Entering:
    """An entry that comes true when a file gets its name (see `voronym.core.atomic.accompany`)."""

    ledger: Ledger
    entry: Entry
    path: Path
    sha256: str
    expect: int
    number: int = 0

    def before(self) -> None:
        """Enter the release for the time being."""
        self.number = self.ledger.enter(self.entry, path=self.path, sha256=self.sha256, expect=self.expect)

    def after(self) -> None:
        """Make the entry final."""
        self.ledger.confirm(self.number)

    def undo(self) -> None:
        """Remove the entry."""
        self.ledger.withdraw(self.number)


def _people(rows: Prints, groups: Ints) -> tuple[Prints, Ints]:
    """Return each person once, with the group of their records.

    Records of a person in several groups count as one group of their own for every such set of groups:
    nobody is in all of these but who is in the very same ones.
    """
    order = np.lexsort((groups, rows))
    people, first, count = np.unique(rows[order], return_index=True, return_counts=True)
    ordered = groups[order]
    out = ordered[first].copy()
    several: dict[tuple[int, ...], int] = {}
    top = int(groups.max()) + 1
    for at in np.flatnonzero(count > 1).tolist():
        shared = tuple(np.unique(ordered[first[at] : first[at] + count[at]]).tolist())
        if len(shared) > 1:
            out[at] = top + several.setdefault(shared, len(several))
    return people, np.asarray(out, np.int64)


def _left_before(entries: Sequence[Entry]) -> Prints:
    """Return whom releases left out."""
    return np.concatenate([entry.people[entry.groups == LEFT_OUT] for entry in entries])
