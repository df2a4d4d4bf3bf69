"""Leaves of a tree with public cuts: the place of each record, and counts and sums per leaf.

Every figure here is whole and adds up over any parts of the records, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voronym.dp.cells import BoundedRecords, Floats, Ints, Question, question, steps_of, sums_of

CUTS = 128
"""Number of positions at which a box can be cut."""


@dataclass(frozen=True)
class Turn:
    """The cuts of all boxes of a level, as public numbers; they assign records to boxes of the next level.

    Parameters
    ----------
    column : array of int
        The column along which each box is cut, nominal columns after the ordered ones; -1 if it is not cut.
    begin, end : array of float
        Ends of the box in that column.
    at : array of int
        The last part of the box, of `CUTS` parts or by the value of a category, that is in the lower half.
    lower : array of int
        The number of the lower half, or of the box that is not cut, in the next level.
    """

    column: Ints
    begin: Floats
    end: Floats
    at: Ints
    lower: Ints

    def parts(self, records: BoundedRecords, node: Ints) -> Floats:
        """Return each record's position in its box, in units of parts; part j is the interval (j, j + 1]."""
        out = np.zeros(records.n)
        along = self.column[node]
        for column in np.unique(self.column[self.column >= 0]).tolist():
            rows = np.flatnonzero(along == column)
            begin, end = self.begin[node[rows]], self.end[node[rows]]
            if column < records.d:
                out[rows] = (records.ordered[rows, column] - begin) / (end - begin) * CUTS
            else:
                out[rows] = records.nominal[rows, column - records.d] - begin + 1.0
        return out

    def next(self, records: BoundedRecords, node: Ints) -> Ints:
        """Return the boxes of the next level."""
        upper = (self.column[node] >= 0) & (self.parts(records, node) > self.at[node] + 1)
        return np.asarray(self.lower[node] + upper, np.int64)


def _bins(parts: Floats, most: int) -> Ints:
    """Return the number of each record's part, clipped to the ends."""
    return np.clip(np.ceil(parts).astype(np.int64) - 1, 0, most - 1)


def with_distance(records: BoundedRecords) -> BoundedRecords:
    """Return the records for cutting, with their distance from the public point if cuts are few.

    With fewer cuts than columns, most columns are never cut. If columns are correlated, the distance from
    the corner of the box stands for all of them. It depends on each record alone and on public numbers.
    """
    own = records.importance[: records.d]
    far = np.sqrt((np.square(records.ordered) * (own / max(float(own.max()), 1e-12))).mean(axis=1))
    return replace(records, ordered=np.column_stack([records.ordered, far]))


def _walked(records: BoundedRecords, turns: Sequence[Turn], far: bool) -> tuple[BoundedRecords, Ints]:
    """Return the records for cutting, and the box of each after some levels of cuts.

    The result of earlier levels is stored with the records.
    """
    cut, done, node = records.kept.get("walk", (None, [], None))
    if cut is None or len(done) > len(turns) or any(a is not b for a, b in zip(done, turns, strict=False)):
        cut, done, node = with_distance(records) if far else records, [], np.zeros(records.n, np.int64)
    for turn in turns[len(done) :]:
        node = turn.next(cut, node)
    records.kept["walk"] = (cut, list(turns), node)
    return cut, node


@question
def count_parts(records: BoundedRecords, *, far: bool, turns: Sequence[Turn], wide: int) -> Ints:
    """Count the records in each part of the boxes that the last turn cuts, shape (boxes, wide)."""
    cut, node = _walked(records, turns[:-1], far)
    boxes = len(turns[-1].column)
    bins = _bins(turns[-1].parts(cut, node), wide)
    return np.bincount(node * wide + bins, minlength=boxes * wide).reshape(boxes, wide)


@question
def find_leaves(records: BoundedRecords, *, far: bool, turns: Sequence[Turn], cell: Ints) -> Ints:
    """Return the cell of each record, by its leaf."""
    return np.asarray(cell[_walked(records, turns, far)[1]], np.int64)


@question
def describe(
    records: BoundedRecords, *, leaves: Question, low: Floats, high: Floats, medians: list[int]
) -> Ints:
    """Return all counts and sums that cells publish in one array; `described` splits it again.

    For columns with means: the sum of steps from the middle of each cell's box, in units of half the box.
    For columns with medians: the number of records in each part of the box. For nominal columns: the
    counts of values.
    """
    of, cells = leaves.of(records), len(low)
    own = [column for column in range(records.d) if column not in medians]
    inside = (2.0 * records.ordered[:, own] - (low + high)[of][:, own]) / (high - low)[of][:, own]
    out = [sums_of(of, cells, steps_of(inside)).ravel()]
    for column in medians:
        ends = low[of, column], high[of, column]
        parts = (records.ordered[:, column] - ends[0]) / (ends[1] - ends[0]) * CUTS
        out.append(np.bincount(of * CUTS + _bins(parts, CUTS), minlength=cells * CUTS))
    for column, size in enumerate(records.sizes):
        out.append(np.bincount(of * size + records.nominal[:, column], minlength=cells * size))
    return np.concatenate(out)


def described(
    answer: Ints, cells: int, means: int, medians: int, sizes: Sequence[int]
) -> tuple[Ints, list[Ints], list[Ints]]:
    """Return, by cell, the sums of steps, the counts by part for medians, and counts of nominal values."""
    widths = [means, *[CUTS] * medians, *sizes]
    ends = np.cumsum([cells * width for width in widths])
    parts = [
        part.reshape(cells, width) for part, width in zip(np.split(answer, ends[:-1]), widths, strict=True)
    ]
    return parts[0], parts[1 : 1 + medians], parts[1 + medians :]


def even(counts: Ints) -> Ints:
    """Return how even each place between parts divides records: whole, at most 0."""
    below = np.cumsum(counts, axis=1)
    return np.asarray(-np.abs(2 * below[:, :-1] - below[:, -1:]), np.int64)
