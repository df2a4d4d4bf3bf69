"""Count the people whom all releases together expose to an intruder who keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.history.ledger import LEFT_OUT, Entry
from voronym.history.people import Prints
from voronym.history.sets import alike, shared

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Standing:
    """The standing of a release's people, given all earlier releases.

    Parameters
    ----------
    people : int
        Number of people in the release.
    known : int
        Number of them who were in an earlier release.
    k : int
        The required smallest number.
    smallest : int
        The smallest number of people with the same group history.
    below : int
        Number of people for whom it is below k.
    recognised_smallest, recognised_below : int
        The same if histories do not end with a group: for an intruder who recognises the rows of a person in
        two releases by values that do not change.
    leavers_below : int
        Number of people of the previous release who left, with fewer than k leavers of one history: a missing
        row would be theirs.
    """

    people: int
    known: int
    k: int
    smallest: int
    below: int
    recognised_smallest: int
    recognised_below: int
    leavers_below: int = 0


def histories(entries: Sequence[Entry], people: Prints) -> Ints:
    """Return the groups of people in every entry, shape (n, entries); -1 for a person who is not in it.

    Absence is a part of the history, too: people who were absent, waited or were left out have no row in
    a release, so a row that is new in a later release is theirs.
    """
    columns = [entry.of(entry.groups, people) for entry in entries]
    rows = np.stack(columns, axis=1) if columns else np.empty((len(people), 0), np.int64)
    return np.maximum(rows, -1)


def begun(entries: Sequence[Entry], people: Prints) -> Ints:
    """Return the release with which each history began; 0 for people without a history."""
    out = np.zeros(len(people), np.int64)
    for entry in entries:
        result = np.where(entry.of(entry.groups, people) != -1, entry.of(entry.begun, people), -1)
        out = np.where(result > 0, result, out)
    return out


def presence(rows: Ints, changed: NDArray[np.bool_] | None = None) -> Ints:
    """Return a number for the set of releases that each person was in; 0 for people who were in none.

    Parameters
    ----------
    rows : array of int, shape (n, releases)
        The result of `histories`.
    changed : array of bool, shape (n, releases or more), optional
        Whether each person's values changed in each release; these people are kept apart, too.
    """
    inside = (rows >= 0).astype(np.int64)
    kind = alike(inside if changed is None else np.column_stack([inside, changed]))
    new = ~inside.any(axis=1)
    return np.where(new, 0, kind + 1)


def standing(
    entries: Sequence[Entry],
    people: Prints,
    groups: Ints,
    start: Ints,
    k: int,
    homes: Ints | None = None,
    changed: NDArray[np.bool_] | None = None,
) -> Standing:
    """Return the standing of people who are to be released in these groups.

    Two people share a history if they were in the same groups since these were formed, and in the same
    releases before. "In no release until now" is also a history.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    people : array, shape (n,)
        Fingerprints, each once.
    groups : array of int, shape (n,)
        Their groups, 0 or more.
    start : array of int, shape (n,)
        The number of the release with which the history of each begins; 0 for this one.
    k : int
        The required k.
    homes : array of int, shape (n,), optional
        The household of each: then k counts households.
    changed : array of bool, shape (n, entries + 1), optional
        Whether each person's values changed in each release; None if that does not count.
    """
    before = histories(entries, people)
    known = (before >= 0).any(axis=1)
    least = int(np.bincount(groups)[groups].min()) if len(groups) else 0
    if not entries or not len(groups):
        return Standing(len(people), 0, k, least, 0, least, 0)
    sizes, all_sizes = (shared_of(entries, people, groups, first, homes, changed) for first in (start, None))
    return Standing(
        len(people),
        int(known.sum()),
        k,
        int(sizes.min()),
        int((sizes < k).sum()),
        int(all_sizes.min()),
        int((all_sizes < k).sum()),
        int(leavers(entries, people, k).sum()),
    )


def shared_of(
    entries: Sequence[Entry],
    people: Prints,
    groups: Ints,
    start: Ints | None,
    homes: Ints | None = None,
    changed: NDArray[np.bool_] | None = None,
) -> Ints:
    """Return the number of people who share each person's history; histories never end if ``start`` is None.

    Parameters
    ----------
    entries, people, groups, start, homes, changed
        As for `standing`.
    """
    before = histories(entries, people)
    if start is None:
        first, last = None, alike(np.column_stack([before, presence(before, changed), groups]))
    else:
        numbers = np.array([entry.number for entry in entries], np.int64)
        first = np.where(start == 0, len(entries), np.searchsorted(numbers, start))
        last = alike(np.column_stack([presence(before, changed), groups]))
    return shared(np.column_stack([before, last]), first, homes)


def leavers(entries: Sequence[Entry], people: Prints, k: int, *, ever: bool = False) -> NDArray[np.bool_]:
    """Return which people of earlier releases left while fewer than k leavers share their history.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    people : array
        Fingerprints of the people of the release that comes now.
    k : int
        The required k.
    ever : bool
        Whether to count people who left before the last release, too, if members of their groups are in this
        one.

    Returns
    -------
    array of bool
        For everybody who was ever published, in the order of their fingerprints.
    """
    everybody = np.unique(np.concatenate([entry.people[entry.groups >= 0] for entry in entries]))
    rows = histories(entries, everybody)
    here = np.isin(everybody, people)
    kind = alike(np.column_stack([rows, here]))
    few = ~here & (np.bincount(kind)[kind] < k)
    if not ever:
        return few & (rows[:, -1] >= 0)
    near = np.zeros(len(everybody), bool)
    for column in rows.T:
        near |= (column >= 0) & np.isin(column, column[here & (column >= 0)])
    return few & near


def again(entries: Sequence[Entry]) -> list[tuple[Entry, Standing]]:
    """Return the standing of the people of every release when it was made."""
    out = []
    for at, entry in enumerate(entries):
        there = entry.groups >= 0
        start = np.where(entry.begun == entry.number, 0, entry.begun)
        result = standing(entries[:at], entry.people[there], entry.groups[there], start[there], entry.k)
        out.append((entry, result))
    return out


def between(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Standing:
    """Return the standing of people who are in releases of two ledgers with one key, given all releases."""
    mine = np.unique(np.concatenate([our.people[our.groups >= 0] for our in ours]))
    both = np.intersect1d(mine, np.concatenate([their.people[their.groups >= 0] for their in theirs]))
    rows = np.column_stack([histories(ours, both), histories(theirs, both)])
    sizes = np.full(len(both), len(both))
    last = np.where(rows[:, : len(ours)] >= 0, np.arange(len(ours)), -1).max(axis=1, initial=-1)
    for at in range(len(ours)):  # people whose last release it is, among all who were ever in it
        inside, ends = rows[:, at] >= 0, last == at
        if ends.any():
            sizes[ends] = shared(np.column_stack([rows, rows[:, at]])[inside])[ends[inside]]
    k = max(entry.k for entry in (*ours, *theirs))
    least, below = int(sizes.min(initial=len(mine))), int((sizes < k).sum())
    return Standing(len(mine), len(both), k, least, below, least, below)


def by_person(rows: Prints, groups: Ints) -> tuple[Prints, Ints]:
    """Return each person once, with the group of their records.

    A person with records in several groups counts in a group of their own for this set of groups,
    together with people in exactly the same set.
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


def left_before(entries: Sequence[Entry]) -> Prints:
    """Return the people that releases left out."""
    return np.concatenate([entry.people[entry.groups == LEFT_OUT] for entry in entries])
