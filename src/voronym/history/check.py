"""What all releases together tell an intruder who keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.history.ledger import LEFT_OUT, Entry
from voronym.history.people import Prints
from voronym.history.sets import shared

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Standing:
    """How the people of a release stand, with all earlier ones known.

    Parameters
    ----------
    people : int
        How many are in the release.
    known : int
        How many of them were in an earlier one.
    k : int
        The least number that is asked for.
    smallest : int
        The least number of people who share all groups of one of them since their group was formed.
    below : int
        For how many people that is less than k.
    recognised_smallest, recognised_below : int
        The same if histories do not end with a group: for an intruder who recognises the rows of a person in
        two releases by values that do not change.
    """

    people: int
    known: int
    k: int
    smallest: int
    below: int
    recognised_smallest: int
    recognised_below: int


def histories(entries: Sequence[Entry], people: Prints) -> Ints:
    """Return the groups of people in every entry, shape (n, entries); -1 where they were not in it.

    Who was left out is in a group with all others who were: an intruder who knows the keys knows them, and
    finds in a later release what was not in this one.
    """
    columns = [entry.of(entry.groups, people) for entry in entries]
    rows = np.stack(columns, axis=1) if columns else np.empty((len(people), 0), np.int64)
    return np.where(rows == LEFT_OUT, np.iinfo(np.int64).max, rows)


def begun(entries: Sequence[Entry], people: Prints) -> Ints:
    """Return the number of the release with which the history of people began; 0 for who has none."""
    out = np.zeros(len(people), np.int64)
    for entry in entries:
        said = np.where(entry.of(entry.groups, people) != -1, entry.of(entry.begun, people), -1)
        out = np.where(said > 0, said, out)
    return out


def standing(
    entries: Sequence[Entry],
    people: Prints,
    groups: Ints,
    start: Ints,
    k: int,
    homes: Ints | None = None,
) -> Standing:
    """Say how people stand who are to be released in these groups.

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
        What is asked for.
    homes : array of int, shape (n,), optional
        The household of each: then k counts households.
    """
    rows = np.column_stack([histories(entries, people), groups])
    numbers = np.array([entry.number for entry in entries], np.int64)
    first = np.where(start == 0, len(entries), np.searchsorted(numbers, start))
    known = (rows[:, :-1] >= 0).any(axis=1)
    sizes, all_sizes = shared(rows, first, homes)[known], shared(rows, None, homes)[known]
    least = int(np.bincount(groups)[groups].min()) if len(groups) else 0
    return Standing(
        len(people),
        int(known.sum()),
        k,
        int(sizes.min(initial=least)),
        int((sizes < k).sum()),
        int(all_sizes.min(initial=least)),
        int((all_sizes < k).sum()),
    )


def again(entries: Sequence[Entry]) -> list[tuple[Entry, Standing]]:
    """Say how the people of every release stood when it was made, all earlier ones known."""
    out = []
    for at, entry in enumerate(entries):
        there = entry.groups >= 0
        start = np.where(entry.begun == entry.number, 0, entry.begun)
        found = standing(entries[:at], entry.people[there], entry.groups[there], start[there], entry.k)
        out.append((entry, found))
    return out


def between(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Standing:
    """Say how the people stand who are in releases of two ledgers with one key, with all releases known."""
    mine = np.unique(np.concatenate([one.people[one.groups >= 0] for one in ours]))
    both = np.intersect1d(mine, np.concatenate([one.people[one.groups >= 0] for one in theirs]))
    rows = np.column_stack([histories(ours, both), histories(theirs, both)])
    sizes = np.full(len(both), len(both))
    last = np.where(rows[:, : len(ours)] >= 0, np.arange(len(ours)), -1).max(axis=1, initial=-1)
    for at in range(len(ours)):  # who was last in it, among all who were in it
        inside, ends = rows[:, at] >= 0, last == at
        if ends.any():
            sizes[ends] = shared(np.column_stack([rows, rows[:, at]])[inside])[ends[inside]]
    k = max(entry.k for entry in (*ours, *theirs))
    least, below = int(sizes.min(initial=len(mine))), int((sizes < k).sum())
    return Standing(len(mine), len(both), k, least, below, least, below)
