"""Minimal sample uniques: the smallest sets of columns in which a record is unique.

A record that is unique in a set of columns is unique in every larger set. It is a *minimal* unique in S if it
is unique in S and in no proper subset of S. Sets are visited after all their subsets, in order of their
columns as bits. Two shortcuts save most of the work and do not change the result: a record that is unique in
a set is skipped in all larger sets, and a set without remaining records is not visited.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import uniques
from voronym.core.context import Context

Ints = NDArray[np.int64]


def minimal_uniques(codes: Ints, size: int, ctx: Context) -> Iterator[tuple[int, Ints]]:
    """Yield each set of at most ``size`` columns, as bits, with the records that are minimal uniques in it.

    Sets without any are left out. Exact. Time O(n) for each set of columns that is looked into, at most
    ``sum of C(d, s) for s = 1..size``; memory O(n size) and the minimal uniques below ``size``.

    Parameters
    ----------
    codes : (d, n) int64 array, C order
        The columns as numbers from 0 on.
    size : int
        Most columns of a set, from 1 to d.
    ctx : Context
        Asked at every set.

    Examples
    --------
    >>> table = np.array([[0, 0, 0, 1], [0, 1, 1, 1]])
    >>> [(bin(columns), rows.tolist()) for columns, rows in minimal_uniques(table, 2, Context())]
    [('0b1', [3]), ('0b10', [0])]
    """
    yield from _Search(codes, size, ctx).visit()


class _Search:
    """The tree of sets of columns; each child adds one column, lower than the lowest of its parent."""

    def __init__(self, codes: Ints, size: int, ctx: Context) -> None:
        self.codes, self.size, self.ctx = codes, size, ctx
        d, n = codes.shape
        self.levels = [int(column.max()) + 1 for column in codes]
        self.rows = np.empty((size + 1, n), np.int64)
        self.labels = np.empty((size + 1, n), np.int64)
        self.rows[0], self.labels[0] = np.arange(n), 0
        room = 1 << (2 * n - 1).bit_length()
        self.table, self.number = np.empty(room, np.int64), np.empty(room, np.int64)
        self.group, self.sizes, self.alone = (np.empty(n, np.int64) for _ in range(3))
        self.stamp = np.zeros(n, np.int64)
        self.found: dict[int, NDArray[np.int32]] = {}
        self.visits, self.d, self.n = 0, d, n

    def visit(self) -> Iterator[tuple[int, Ints]]:
        """Visit every set."""
        for column in range(self.d):
            self.ctx.tell(self._done(column), whole=True)
            yield from self._look(0, 0, column, self.n, 1)

    def _done(self, column: int) -> float:
        """Return the approximate share of sets whose highest column is below a given one."""
        return float((column / self.d) ** self.size)

    def _look(
        self, columns: int, depth: int, column: int, size: int, groups: int
    ) -> Iterator[tuple[int, Ints]]:
        """Add a column to the set at ``depth``, then visit the sets below it."""
        self.ctx.check()
        columns |= 1 << column
        slots = 1 << (2 * size - 1).bit_length()
        made = uniques.regroup(
            self.rows[depth], self.labels[depth], size, self.codes[column], self.levels[column], groups,
            slots, self.table, self.number, self.group, self.sizes,
        )  # fmt: skip
        single = uniques.part(
            self.rows[depth], self.group, size, self.sizes, self.alone, self.rows[depth + 1],
            self.labels[depth + 1],
        )  # fmt: skip
        rows = self._new(columns, self.alone[:single])
        if len(rows):
            if depth + 1 < self.size:
                self.found[columns] = rows.astype(np.int32)
            yield columns, rows
        if depth + 1 < self.size and single < size:
            for lower in range(column):
                yield from self._look(columns, depth + 1, lower, size - single, made)

    def _new(self, columns: int, alone: Ints) -> Ints:
        """Return the unique records that no proper subset makes unique."""
        if not len(alone):
            return alone
        self.visits += 1
        part = (columns - 1) & columns
        while part:
            known = self.found.get(part)
            if known is not None:
                self.stamp[known] = self.visits
            part = (part - 1) & columns
        return np.asarray(alone[self.stamp[alone] != self.visits])
