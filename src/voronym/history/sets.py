"""Count the people who share everything that was published about a person."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.validate import checked
from voronym.errors import InputError

Ints = NDArray[np.int64]

PAIRS = 2_000_000
"""Number of pairs of histories that are compared at a time."""


@checked
def shared(history: ArrayLike, begun: ArrayLike | None = None, homes: ArrayLike | None = None) -> Ints:
    """Return, for each person, the number of people who were in all of their groups.

    The intruder knows the releases a person is in and, from the keys, the group in each. The person's row
    in the last release is one of the rows of people who were in all these groups.

    Parameters
    ----------
    history : array of int, shape (n, releases)
        The group of each person of the last release in every release, from first to last; negative if the
        person was not in a release.
    begun : array of int, shape (n,), optional
        The first release that counts for each person; by default all do.
    homes : array of int, shape (n,), optional
        The household of each person: then households are counted, not people.

    Returns
    -------
    array of int, shape (n,)
        Including the person; 1 means that the person is singled out.

    Notes
    -----
    O(n R) for R releases where groups are kept; people of a group are compared pair by pair where their
    histories differ, once for each history.

    Examples
    --------
    >>> shared([[0, 5], [0, 5], [1, 5], [1, 6], [1, 6]]).tolist()
    [2, 2, 1, 2, 2]
    """
    rows = np.ascontiguousarray(_whole("history", history))
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"a history has people and releases; got shape {rows.shape}")
    n, releases = rows.shape
    if n == 0:
        return np.zeros(0, np.int64)
    if (rows[:, -1] < 0).any():
        raise InputError("everybody must have a group in the last release")
    first = np.zeros(n, np.int64) if begun is None else _whole("begun", begun)
    if first.shape != (n,) or (first >= releases).any():
        raise InputError("begun must be a release for everybody, the last one at most")
    kind = alike(np.column_stack([rows, first]))
    counts = np.bincount(kind)
    _, member = np.unique(kind, return_index=True)
    lived = None if homes is None else np.unique(np.column_stack([kind, _whole("homes", homes)]), axis=0)
    return _compare(rows[member], first[member], counts, lived)[kind]


@checked
def smallest_history(history: ArrayLike, begun: ArrayLike | None = None) -> int:
    """Return the smallest number of people with the same published history.

    Parameters
    ----------
    history, begun
        As in `shared`.

    Examples
    --------
    >>> smallest_history([[0, 5], [0, 5], [1, 5], [1, 6], [1, 6]])
    1
    """
    sizes = shared(history, begun)
    return int(sizes.min()) if len(sizes) else 0


def alike(rows: Ints) -> Ints:
    """Return a number for each distinct row, from 0; people with the same history have the same number.

    Examples
    --------
    >>> alike(np.array([[0, 5], [1, 5], [0, 5]])).tolist()
    [0, 1, 0]
    """
    kind = np.zeros(len(rows), np.int64)
    for column in rows.T[::-1]:  # the last release divides most
        codes = np.unique(column, return_inverse=True)[1].reshape(-1)
        kind = np.unique(kind * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1].reshape(-1)
    return kind


def _compare(rows: Ints, first: Ints, counts: Ints, lived: Ints | None) -> Ints:
    """Return how many people, or households, were with each kind in all of its groups.

    ``lived`` are the pairs of kind and household that occur, by kind.
    """
    order = np.argsort(rows[:, -1], kind="stable")
    rows, first, counts = rows[order], first[order], counts[order]
    spans = None if lived is None else np.searchsorted(lived[:, 0], np.arange(len(rows) + 1))
    begin = np.flatnonzero(np.diff(rows[:, -1], prepend=-1))
    sizes = np.diff(begin, append=len(rows))
    width = np.repeat(sizes, sizes)  # with how many kinds each is compared
    start = np.repeat(begin, sizes)
    ends = np.cumsum(width)
    result = np.zeros(len(rows), np.int64)
    at = 0
    while at < len(rows):
        stop = max(at + 1, int(np.searchsorted(ends, (ends[at - 1] if at else 0) + PAIRS, side="right")))
        mine = np.repeat(np.arange(at, stop), width[at:stop])
        begun = ends[mine] - width[mine] - (ends[at] - width[at])  # where the pairs of each begin
        other = start[mine] + np.arange(len(mine)) - begun
        alike = np.ones(len(mine), bool)
        for release in range(rows.shape[1] - 1):
            group = rows[mine, release]
            counted = (group >= 0) & (first[mine] <= release)
            alike &= ~counted | (rows[other, release] == group)
        if lived is None or spans is None:
            result[at:stop] = np.bincount(mine[alike] - at, counts[other[alike]], stop - at)
        else:
            result[at:stop] = _households(mine[alike] - at, order[other[alike]], lived, spans, stop - at)
        at = stop
    out = np.empty(len(rows), np.int64)
    out[order] = result
    return out


def _households(mine: Ints, other: Ints, lived: Ints, spans: Ints, many: int) -> Ints:
    """Count the households of each kind, for each of ``many`` kinds."""
    width = spans[other + 1] - spans[other]
    at = np.repeat(spans[other] - np.concatenate([[0], np.cumsum(width)[:-1]]), width) + np.arange(
        width.sum()
    )
    pairs = np.unique(np.column_stack([np.repeat(mine, width), lived[at, 1]]), axis=0)
    return np.bincount(pairs[:, 0], minlength=many).astype(np.int64)


def _whole(name: str, given: ArrayLike) -> Ints:
    """Return whole numbers; raise if a value is not whole."""
    result = np.asarray(given)
    if result.dtype.kind == "f" and not np.isfinite(result).all():
        raise InputError(f"{name} has numbers that are not finite")
    return result.astype(np.int64)
