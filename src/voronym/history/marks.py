"""Marks that show whether a person's value in a column changed, without holding a value.

A mark has 16 bits, made of the person's fingerprint and keyed hashes of the values in all their rows. Equal
values give equal marks; one change in 65,536 does, too. Equal values of two people have different marks, so
marks do not reveal how frequent a value is.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.history.ledger import Entry
from voronym.history.people import Prints, spelled

BEFORE = "\0before "
"""Prefix of a column's name for marks of the values before a step published their means."""
DRAWN = "\0drawn "
"""Prefix of a column's name for marks of the true values behind a random draw."""

Words = NDArray[np.uint64]
Marks = NDArray[np.uint16]


def hashed(values: Sequence[Any], key: bytes) -> Words:
    """Return a keyed hash of each value; equal numbers have the same hash, whatever their type."""
    known: dict[tuple[type, Any], int] = {}
    out = np.empty(len(values), np.uint64)
    for at, value in enumerate(values):
        what = (type(value), value)
        word = known.get(what)
        if word is None:
            digest = hmac.digest(key, b"value" + spelled(value).encode(), "sha256")
            word = known[what] = int.from_bytes(digest[:8], "little")
        out[at] = word
    return out


def marks_of(rows: Prints, people: Prints, values: Mapping[str, Words], keys: Collection[str] = ()) -> Marks:
    """Return the marks of people, shape (people, columns).

    Parameters
    ----------
    rows : array, shape (n,)
        The fingerprint of the person of each row.
    people : array
        Fingerprints, ascending; each is somebody's of the rows.
    values : mapping
        Hashes of the columns, row by row.
    keys : collection of str
        Columns that publish one value for all rows of a person: if these have the same in it, how many rows
        there are is no change.
    """
    at = np.searchsorted(people, rows)
    inside = at < len(people)
    inside[inside] = people[at[inside]] == rows[inside]
    own = np.frombuffer(np.ascontiguousarray(people).tobytes(), np.uint64).reshape(len(people), -1)
    out = np.empty((len(people), len(values)), np.uint16)
    for number, (name, column) in enumerate(values.items()):
        sums, words = np.zeros(len(people), np.uint64), _mixed(column[inside])
        np.add.at(sums, at[inside], words)  # in whatever order the rows come
        if name in keys:
            low, high = np.full(len(people), ~np.uint64(0)), np.zeros(len(people), np.uint64)
            np.minimum.at(low, at[inside], words)
            np.maximum.at(high, at[inside], words)
            sums = np.where(low == high, low, sums)
        out[:, number] = (_mixed(sums ^ own[:, 0]) >> np.uint64(48)).astype(np.uint16)
    return out


def _mixed(words: Words) -> Words:
    """Return words with their bits stirred (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = words + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def changes(
    entries: Sequence[Entry], people: Prints, names: Sequence[str], marks: Marks, keys: Sequence[str]
) -> NDArray[np.bool_]:
    """Return in which releases people had other values than in their previous one; keys are ignored.

    Parameters
    ----------
    entries : sequence of Entry
        The earlier releases.
    people : array, shape (n,)
        Fingerprints of people of the release that comes after them.
    names, marks
        The columns of that release, and the marks of these people.
    keys : sequence of str
        Its keys.

    Returns
    -------
    array of bool, shape (n, releases)
        The last column is the present release. False for people who were not in a release.
    """
    out = np.zeros((len(people), len(entries) + 1), bool)
    last: dict[str, tuple[NDArray[np.bool_], Marks]] = {}
    for number in range(len(entries) + 1):
        now = number == len(entries)
        if now:
            there, shown, hidden, held = np.ones(len(people), bool), list(names), set(keys), marks
        else:
            entry = entries[number]
            if entry.marks is None:
                continue
            inside, place = entry.find(people)
            there = inside & (entry.of(entry.groups, people) >= 0)
            shown, hidden = list(entry.about.get("marked", ())), set(entry.about["keys"])
            held = entry.marks[np.where(there, place, 0)] if len(entry.people) else entry.marks[:0]
        for column, name in enumerate(shown):
            if name in hidden or name.startswith((BEFORE, DRAWN)):
                continue
            seen, before = last.get(name, (np.zeros(len(people), bool), np.zeros(len(people), np.uint16)))
            if len(held):
                mine = held[:, column]
                out[:, number] |= there & seen & (before != mine)
                last[name] = (seen | there, np.where(there, mine, before))
    return out


def moved(
    entries: Sequence[Entry],
    people: Prints,
    names: Sequence[str],
    marks: Marks,
    columns: Sequence[str],
    *,
    first: bool = False,
) -> NDArray[np.bool_]:
    """Return the people whose values in some columns differ from an earlier release.

    Parameters
    ----------
    entries : sequence of Entry
        The releases before.
    people : array
        Fingerprints, ascending.
    names, marks
        The columns that are marked now, and their marks.
    columns : sequence of str
        The columns to compare.
    first : bool
        Compare with the first release of each person alone.
    """
    out, known = np.zeros(len(people), bool), np.zeros(len(people), bool)
    for entry in entries:
        inside, place = entry.find(people)
        there = inside & (entry.of(entry.groups, people) >= 0) & ~known
        known |= there & first
        if entry.marks is None or not there.any():
            continue
        held = list(entry.about.get("marked", ()))
        for name in columns:
            if name in held and name in names:
                before = entry.marks[place[there], held.index(name)]
                out[there] |= before != marks[there, list(names).index(name)]
    return out
