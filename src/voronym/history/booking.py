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
from voronym.errors import GuaranteeError, InputError
from voronym.history.check import Standing, begun, standing
from voronym.history.engine import Divide, Round, advance
from voronym.history.frozen import as_plain
from voronym.history.ledger import LEFT_OUT, Entry, Ledger, now
from voronym.history.people import Prints, fingerprints, naming_columns
from voronym.history.policy import Policy
from voronym.partition import Partition
from voronym.space.records import Records
from voronym.table.schema import Schema

Ints = NDArray[np.int64]


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
    """

    def __init__(
        self, ledger: Ledger, frame: nw.DataFrame[Any], schema: Schema, declared: Sequence[str]
    ) -> None:
        self.ledger, self.entries = ledger, ledger.entries
        bound = self.entries[-1].about["named_by"] if self.entries else ()
        self.named_by = naming_columns(schema, frame, declared, bound)
        self.rows: Prints = fingerprints(frame, self.named_by, ledger.key)
        self.people: Prints = self.rows
        """Those whom groups are made of, in the order of the records; rows, where these are people."""
        self.round: Round | None = None
        self.entry: Entry | None = None
        self.standing: Standing | None = None
        self.left: Prints = self.rows[:0]

    # -- leaving people out ----------------------------------------------------------------------------------

    def fates(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whose rows were published in an earlier release, and who was left out of one."""
        found = [entry.of(entry.groups, self.rows) for entry in self.entries]
        seen = np.stack(found) if found else np.empty((0, len(self.rows)), np.int64)
        return np.any(seen >= 0, axis=0), np.any(seen == LEFT_OUT, axis=0)

    def leave(self, stays: Ints) -> None:
        """Leave out all rows but some; who is left out is remembered, too."""
        here = self.rows[stays]
        left = np.unique(np.delete(self.rows, stays))
        if several := int(np.isin(left, here).sum()):
            raise InputError(
                f"{several} people have several rows, and some of these would be left out: say whose rows "
                f"they are (--person {self.named_by[0]}), so that people are left out with all of theirs"
            )
        self.rows, self.left = here, left

    # -- building on the old groups --------------------------------------------------------------------------

    def follow(
        self,
        records: Records,
        first: Ints,
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
        first : array of int
            A row of each of them.
        k, ctx, policy, divide
            As for `advance`.
        obey : callable, optional
            Makes the groups of a round obey what else is asked of them.
        """
        self.people = self.rows[first]
        if len(np.unique(self.people)) < len(self.people):
            raise InputError(
                "groups are kept for people with one record each, and here some have several: say whose rows "
                f"they are (--person {self.named_by[0]}), or leave out --keep-groups"
            )
        last, waited = self._last(policy)
        made = advance(
            records, last, k, ctx, policy=policy, waited=waited, number=self.ledger.next_group, divide=divide
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

        A member was in the group when it was last published. Who was absent then does not come back to it:
        the others have a history without them.
        """
        group = np.full(len(self.people), -1, np.int64)
        waited = np.zeros(len(self.people), np.int64)
        seen = np.zeros(len(self.people), np.int64)
        ended: dict[int, int] = {}
        for entry in self.entries:
            there, _ = entry.find(self.people)
            found = entry.of(entry.groups, self.people)
            group, seen = np.where(found >= 0, found, group), np.where(found >= 0, entry.number, seen)
            waited = np.where(there, entry.of(entry.waited, self.people), waited)
            ended |= dict.fromkeys(np.unique(entry.groups).tolist(), entry.number)
        away = (group >= 0) & (seen != np.array([ended.get(one, 0) for one in group.tolist()], np.int64))
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
                "--keep-groups"
            )

    def frozen(self, keys: Sequence[str]) -> dict[int, list[Any]]:
        """Return what groups that live have published, by their numbers, where it was the same keys."""
        assert self.round is not None  # noqa: S101 - asked after `follow`
        living = set(self.round.groups[self.round.published & ~self.round.began].tolist())
        out: dict[int, list[Any]] = {}
        for entry in self.entries:
            if list(entry.published.get("keys", ())) == list(keys):
                rows = zip(entry.published["groups"], entry.published["values"], strict=True)
                out |= {number: values for number, values in rows if number in living}
            else:
                for number in np.unique(entry.groups).tolist():
                    out.pop(number, None)
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
            Keys, columns, steps and method.
        homes : array of int, optional
            The household of each row that is released: then k counts households.
        """
        following = self.round
        if following is None:
            numbers = self.ledger.next_group + part.labels
            people, groups = _people(self.rows, numbers)
            people = np.concatenate([people, self.left])
            order = np.argsort(people, kind="stable")
            people = people[order]
            groups = np.concatenate([groups, np.full(len(self.left), LEFT_OUT)])[order]
            start = begun(self.entries, people)
            waited = np.zeros(len(people), np.int64)
        else:
            order = np.argsort(self.people, kind="stable")
            people, groups = self.people[order], following.groups[order]
            inside = np.flatnonzero(following.published[order])
            numbers = groups[inside][np.searchsorted(people[inside], self.rows)]
            start = np.where(following.began[order], 0, begun(self.entries, people))
            waited = following.waited[order]
            people = np.concatenate([people, self.left])
            order = np.argsort(people, kind="stable")
            gone = np.zeros(len(self.left), np.int64)
            people, groups = people[order], np.concatenate([groups, gone + LEFT_OUT])[order]
            start = np.concatenate([start, begun(self.entries, self.left)])[order]
            waited = np.concatenate([waited, gone])[order]
        out = groups >= 0
        lived = None
        if homes is not None:
            sort = np.argsort(self.rows, kind="stable")
            lived = homes[sort[np.searchsorted(self.rows[sort], people[out])]]
        self.standing = standing(self.entries, people[out], groups[out], start[out], k, lived)
        if self.standing.below:
            came = np.isin(self.rows, _left_before(self.entries))
            raise GuaranteeError(self.refusal(self.standing, len(np.unique(self.rows[came]))))
        first = np.unique(numbers, return_index=True)[1]
        rows = as_plain(frame[first.tolist()])
        shown = {"keys": frame.columns, "groups": numbers[first].tolist(), "values": rows}
        facts = {**about, "named_by": self.named_by, "kept_groups": following is not None}
        self.entry = Entry(
            0, now(), k, facts, people, groups, start, waited, published=shown if rows is not None else {}
        )

    def refusal(self, found: Standing, came: int = 0) -> str:
        """Return the sentence that says why nothing was released, and the ways out.

        Parameters
        ----------
        found : Standing
            What was counted.
        came : int
            People in it whom an earlier release left out.
        """
        new = found.people - found.known
        out = (
            f". {came:,} of the people were left out of an earlier release: --suppress leaves them out again"
            if came
            else ""
        )
        return (
            f"{found.below:,} of {found.people:,} people would be in groups that, together with those of "
            f"{len(self.entries)} earlier releases in the ledger, fewer than k={found.k} people share (the "
            f"fewest: {found.smallest}): whoever keeps the releases could tell them apart. Nothing was "
            "released. Three ways out: (1) --keep-groups builds this release on the groups of the earlier "
            f"ones; (2) release only the {new:,} people who were in none of them; (3) if an earlier release "
            f"never left the house, forget it: voronym ledger forget {self.ledger.path.name} --release NUMBER"
            f"{out}"
        )

    def notes(self) -> tuple[str, ...]:
        """Return what the data holder should know."""
        found, following = self.standing, self.round
        out: list[str] = []
        if following is not None and following.waiting:
            out.append(
                f"{following.waiting:,} of {len(following.groups):,} people wait and are not in the release: "
                "no group of theirs is near enough yet"
            )
        if found is not None and found.recognised_below:
            out.append(
                f"an intruder who recognises the rows of a person in several releases, by values that do not "
                f"change, could follow {found.recognised_below:,} people into sets of fewer than k={found.k} "
                f"(the fewest: {found.recognised_smallest}): people leave, and groups are formed anew. "
                "With --dissolved retire such people are not published again"
            )
        return tuple(out)

    @property
    def figures(self) -> dict[str, Any]:
        """What may be said about the release and those before it, for the data holder; JSON-able."""
        found, following = self.standing, self.round
        out: dict[str, Any] = {"earlier_releases": len(self.entries)}
        if found is not None:
            out |= {
                "people": found.people,
                "known": found.known,
                "smallest_history": found.smallest,
                "recognised_smallest": found.recognised_smallest,
                "recognised_below_k": found.recognised_below,
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
        found = tuple(np.unique(ordered[first[at] : first[at] + count[at]]).tolist())
        if len(found) > 1:
            out[at] = top + several.setdefault(found, len(several))
    return people, np.asarray(out, np.int64)


def _left_before(entries: Sequence[Entry]) -> Prints:
    """Return whom releases left out."""
    return np.concatenate([one.people[one.groups == LEFT_OUT] for one in entries])
