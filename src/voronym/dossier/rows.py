"""Example rows for the data holder: one group with all members, and people before and after."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.partition import Partition
from voronym.table.frame import Frame
from voronym.table.table import Table
from voronym.table.units import distinct

Ints = NDArray[np.int64]
MOST_MEMBERS = 12
MOST_ROWS = 5
MOST_COLUMNS = 10
_LONG = 24
Row = tuple[str, ...]


@dataclass(frozen=True)
class Unfolded:
    """A group: its people's original keys, the published keys, and the columns they keep.

    Parameters
    ----------
    keys, confidential : tuple of str
        Columns, no more than some.
    originals, kept : tuple of rows
        For each person, in the same order: original keys, and confidential values.
    published : row
        The keys that all of them are published with.
    size : int
        People in the group; no more than some are in ``originals``.
    rows : int
        Number of rows of the group; more than the people if somebody has several rows.
    people : tuple of int
        The person of each row shown: 1, 2 and so on.
    shared : tuple of str
        Confidential columns in which all people of the group have a value in common.
    """

    keys: tuple[str, ...]
    confidential: tuple[str, ...]
    originals: tuple[Row, ...]
    kept: tuple[Row, ...]
    published: Row
    size: int
    rows: int
    people: tuple[int, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Samples:
    """The same people before and after, in the columns that both tables share."""

    columns: tuple[str, ...]
    before: tuple[Row, ...]
    after: tuple[Row, ...]


def unfolded(original: Frame, released: Table, order: Ints, moved: NDArray[np.float64]) -> Unfolded:
    """Return a typical group with its members: of usual size, moved about as far as the median group.

    Parameters
    ----------
    original : DataFrame
        The original records.
    released : Table
        The release; its row r came from original row ``order[r]``.
    moved : array, shape (n,)
        Distance of each released record from its original.
    """
    labels, persons = released.classes.labels, released.persons
    many = np.bincount(labels)
    sizes = many if persons is None else distinct(labels, persons, len(many))
    means = np.bincount(labels, moved) / many
    usual = np.flatnonzero(sizes == int(np.median(sizes)))
    if not len(usual):
        usual = np.arange(len(sizes))
    chosen = usual[np.argmin(np.abs(means[usual] - np.median(means[usual])))]
    members = np.flatnonzero(labels == chosen)
    members = members[np.argsort(order[members])]  # rows of a release are in no order
    whose = np.arange(len(members)) if persons is None else Partition(persons[members]).labels
    keys, kept = released.keys[:MOST_COLUMNS], released.confidential[:3]
    shared = tuple(name for name in kept if _in_common(released.codes(name)[members], whose))
    together = np.argsort(whose, kind="stable")[:MOST_MEMBERS]
    members, whose = members[together], whose[together]
    return Unfolded(
        tuple(keys),
        tuple(kept),
        written(original, keys, order[members]),
        written(released.frame, kept, members),
        written(released.frame, keys, members[:1])[0],
        int(sizes[chosen]),
        int(many[chosen]),
        tuple((whose + 1).tolist()),
        shared,
    )


def _in_common(codes: Ints, whose: Ints) -> bool:
    """Whether some value occurs among the rows of every person."""
    held = [set(codes[whose == person].tolist()) for person in np.unique(whose)]
    return bool(set.intersection(*held))


def samples(original: Frame, released: Table, order: Ints, *, seed: int = 0) -> Samples:
    """Take a few people at random, by a fixed seed."""
    n = len(order)
    chosen = np.sort(np.random.default_rng(seed).permutation(n)[:MOST_ROWS])
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    rows = place[chosen]
    columns = [name for name in released.columns if name in original.columns][:MOST_COLUMNS]
    return Samples(tuple(columns), written(original, columns, chosen), written(released.frame, columns, rows))


def written(frame: Frame, columns: Sequence[str], rows: Ints) -> tuple[Row, ...]:
    """Return some rows as texts."""
    if not len(columns):
        return tuple(() for _ in rows)
    lists = [frame[name][rows.tolist()].to_list() for name in columns]
    return tuple(tuple(map(_text, row)) for row in zip(*lists, strict=True))


def _text(value: object) -> str:
    if value is None or value != value:  # a missing number is not itself
        return "–"
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time(0):
        return value.date().isoformat()
    text = str(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
