"""Everybody of a release as the ledger will know them, waiting and left-out people included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.history.check import begun, by_person
from voronym.history.engine import Round
from voronym.history.ledger import LEFT_OUT, Entry
from voronym.history.people import Prints
from voronym.partition import Partition

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Made:
    """A release that was made.

    Parameters
    ----------
    part : Partition
        The groups of its rows.
    rows, left, late : array
        The person of each released row; people who are left out; people who wait.
    people : array
        The grouped people, in the order of the round.
    following : Round or None
        The groups, if they are based on old ones; otherwise None.
    """

    part: Partition
    rows: Prints
    left: Prints
    late: Prints
    people: Prints
    following: Round | None


@dataclass(frozen=True, eq=False)
class Roster:
    """Everybody of an entry, in the order of fingerprints.

    Parameters
    ----------
    people : array
        Fingerprints, ascending.
    groups, start, waited : array of int
        As in an entry: the group, the release that began the history, the number of releases waited.
    numbers : array of int
        The group of each row that is released.
    """

    people: Prints
    groups: Ints
    start: Ints
    waited: Ints
    numbers: Ints


def roster_of(made: Made, entries: Sequence[Entry], number: int) -> Roster:
    """Return all people of a release; new groups get numbers from ``number``."""
    following, late = made.following, made.late
    if following is None:
        numbers = number + made.part.labels
        people, groups = by_person(made.rows, numbers)
        start = begun(entries, people)
        waited = np.zeros(len(people), np.int64)
    else:
        order = np.argsort(made.people, kind="stable")
        people, groups = made.people[order], following.groups[order]
        inside = np.flatnonzero(following.published[order])
        numbers = groups[inside][np.searchsorted(people[inside], made.rows)]
        start = np.where(following.began[order], 0, begun(entries, people))
        waited = following.waited[order]
        late = late[:0]
    people = np.concatenate([people, made.left, late])
    order = np.argsort(people, kind="stable")
    groups = np.concatenate([groups, np.full(len(made.left), LEFT_OUT), np.full(len(late), -1)])
    start = np.concatenate([start, *(begun(entries, who) for who in (made.left, late))])
    waited = np.concatenate([waited, np.zeros(len(made.left), np.int64), _waited(entries, late) + 1])
    return Roster(people[order], groups[order], start[order], waited[order], numbers)


def _waited(entries: Sequence[Entry], people: Prints) -> Ints:
    """Return the number of releases for which people have waited."""
    last = entries[-1] if entries else None
    if last is None:
        return np.zeros(len(people), np.int64)
    return np.maximum(last.of(last.waited, people, 0), 0)
