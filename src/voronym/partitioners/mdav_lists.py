"""MDAV on all cores: lists of near and far records, made ahead; see `voronym._kernels.mdav_lists`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import mdav as shells
from voronym._kernels import mdav_lists as kernels
from voronym._kernels import mdav_near as near
from voronym._kernels import search
from voronym._kernels import tree as trees
from voronym._kernels.scan import Remaining
from voronym.core.context import Context

Ints = NDArray[np.int64]

NEAR, FAR = 3, 16
"""Length of a list of nearest records, as a multiple of k; length of a list of farthest records."""
AHEAD = (128, 2048)
"""Fewest and most records for which lists are made at a time."""
OUTER, LEAST, RENEWED = 0.3, 4096, 0.8
"""Share of the remaining records searched for the farthest, their least number, and when to renew it."""
STEP = 512
"""Number of records of the pool that are examined together."""
ROWS = 65_536
"""Number of lists kept, with some spare."""
CHUNK = 128
"""Number of records whose lists one thread makes at a time."""
REACH, LEAST_RANK = 4, 3
"""Number of records to search, as a multiple of k, and the least rank in a sample that estimates their
distance.
"""
ROOM = 16
"""Room for results, as a multiple of k."""


class Ahead:
    """Lists for the records that will be queried soon.

    Parameters
    ----------
    X : array, shape (n, d)
        The records.
    tree : Tree
        The records that remain.
    work : Remaining
        The state of the walk.
    k : int
        Size of a cell.
    """

    def __init__(self, X: NDArray[np.float64], tree: trees.Tree, work: Remaining, k: int) -> None:
        self.X, self.tree, self.work, self.k = X, tree, work, k
        n = len(work.labels)
        self._rows = min(2 * (n // k), ROWS) + 2 * max(AHEAD)
        self.lists = kernels.make(n, self._rows, NEAR * k, FAR)
        self._used = self._stamp = 0
        self.single = np.empty((*tree.points[:, :-1].shape,), np.float32)
        near.copy_leaves(tree, 0, len(tree.living), self.single)
        self._wide = max(NEAR * k, FAR, 64, int(2 * REACH * k))
        self._pool, self._pooled = self._outer(n), n

    def refill(self, shell: shells.Shell, ctx: Context) -> None:
        """Make the lists that the next part of the walk needs, for certain or probably."""
        left = int(self.work.state[0])
        want = min(max(left // 256, AHEAD[0]), AHEAD[1])
        if left < RENEWED * self._pooled:
            self._pool, self._pooled = self._outer(left), left
        room = np.empty(want, np.int64)
        if self._used + 2 * want > self._rows:  # begin again: most of the old ones are of records that left
            self.lists.row[:] = -1
            self._used = 0
        asked = int(self.work.state[kernels.ASKED])  # the next one; the mean moves, so it may be anywhere
        first = room[: kernels.upcoming(shell, self.work, want - 1, room)]
        first = np.append(asked, first[first != asked])
        self._make(first, True, ctx)
        self._stamp += 1
        result = kernels.forecast(first, self.work, self.lists, self.k, self._stamp, room)
        self._make(np.unique(room[:result]), False, ctx)

    def _make(self, ids: Ints, far: bool, ctx: Context) -> None:
        """Make the lists of records without one, or with an exhausted one."""
        room = np.empty(len(ids), np.int64)
        lacking = room[: kernels.lacking(ids, self.work, self.lists, self.k, room)]
        if not len(lacking):
            return
        first, self._used = self._used, self._used + len(lacking)
        sampled = np.empty((self.X.shape[1], len(self.tree.living)), np.float32)
        size = near.sample(self.tree, self.single, sampled)
        sampled = np.ascontiguousarray(sampled[:, :size])
        rank = max(LEAST_RANK, int(np.ceil(REACH * self.k * size / int(self.work.state[0]))))

        def some(start: int) -> None:
            ids = lacking[start : start + CHUNK]
            rows = slice(first + start, first + start + len(ids))
            distances, members = np.empty(self._wide), np.empty(self._wide, np.int64)
            near.near_lists(
                self.X, trees.own_room(self.tree), self.single, sampled, rank, self.k,
                near.make_query(len(ids), self.X.shape[1], ROOM * self.k + 256), ids, distances, members,
                self.lists.near[rows],
            )  # fmt: skip
            if far:
                kernels.far_lists(
                    self.X, self._pool, self.work.labels, ids, distances, np.empty(STEP, np.float32),
                    self.lists.far[rows],
                )  # fmt: skip
            else:
                self.lists.far[rows] = -1

        ctx.quiet().map(some, range(0, len(lacking), CHUNK))
        self.lists.row[lacking] = np.arange(first, self._used)

    def _outer(self, left: int) -> kernels.Pool:
        """Return the outer part of the remaining records."""
        squares, index = np.empty(left), np.empty(left, np.int64)
        self.tree.query[:] = self.tree.center
        search.all_distances(self.tree, squares, index)
        size = min(left, max(LEAST, int(OUTER * left)))
        if size < left:
            outer = np.argpartition(squares, left - size)[left - size :]
            squares, index = squares[outer], index[outer]
        order = np.argsort(-squares)
        squares, index = squares[order], index[order]
        about = (self.X[index] - self.tree.center).T
        points = np.ascontiguousarray(about, np.float32)
        return kernels.Pool(points, index, np.sqrt(squares), self.tree.center.copy(), size == left)
