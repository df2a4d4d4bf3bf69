"""A k-d tree whose cuts are drawn, and whose leaves publish noisy counts and centres."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from voronym.dp.budget import Budget
from voronym.dp.cells import (
    STEPS,
    Cells,
    Floats,
    Ints,
    Records,
    grouping,
    shrunk,
    steps_of,
    sums_of,
    whole_counts,
)
from voronym.dp.noise import largest, noisy

CUTS = 128
"""Places in a box at which it may be cut."""
STRUCTURE, COUNTS = 0.2, 0.15
"""Shares of the budget for cuts, and for the counts of leaves."""
ENOUGH = 40.0
"""Records of a node, times the ε of a cut, from where a drawn cut is better than the middle of the box."""


@dataclass(frozen=True)
class Box:
    """A node: its public box, and the records in it.

    Parameters
    ----------
    low, high : array of float
        Of the ordered columns; behind them, where it is used, of the distance from the public point.
    first, last : array of int
        Of the places in the domains of nominal columns, ``last`` not among them.
    rows : array of int
        The records. Never published.
    path : tuple of int
        The turns that lead to it: 0 to the lower part, 1 to the upper.
    """

    low: Floats
    high: Floats
    first: Ints
    last: Ints
    rows: Ints
    path: tuple[int, ...] = ()

    def widest(self, sizes: Ints, weights: Floats) -> int:
        """Return the column to cut, by the box alone: where it is widest of the public range; -1 for none."""
        widths = (
            np.concatenate([self.high - self.low, (self.last - self.first - 1) / np.maximum(sizes - 1, 1)])
            * weights
        )
        column = int(np.argmax(widths)) if len(widths) else -1
        if len(self.low) and column < len(self.low) and widths[len(self.low) - 1] == widths[column]:
            column = len(self.low) - 1  # the distance, where it is there, before columns as wide
        return column if column >= 0 and widths[column] > 1e-6 else -1


def _size(n: int, d: int, epsilon: float) -> int:
    return min(n, math.ceil(30.0 * d / epsilon))


@grouping(
    "tree",
    sensitivity="cells are public once the cuts are drawn: one record leaves a cell and enters another, and "
    "nobody else moves",
    size=_size,
)
def tree(records: Records, k: int, budget: Budget) -> Cells:
    """Cut a k-d tree at privately drawn medians; each leaf publishes its noisy mean, as often as it counts.

    Cuts by the exponential mechanism where a node has enough records for that, and at the middle of the box
    below; cells of fewer than k are joined to the cell beside them.
    """
    levels = max(int(math.log2(max(records.n / k, 1.0))), 0)
    share, spent = budget.share, {}
    drawn_levels = _drawn_levels(records.n, levels, budget)
    structure = STRUCTURE * share if drawn_levels else 0.0
    leaves = _grown(_cut_along(records, levels), levels, drawn_levels, structure, budget)
    if drawn_levels:
        spent["cuts"] = structure
    of = _labels(leaves, records.n)
    share_counts = COUNTS * share if len(leaves) > 1 else 0.0
    if share_counts:
        spent["counts"] = share_counts
    tally = _counted(of, len(leaves), share_counts, budget)
    cells = _joined(leaves, tally, k)
    least = float(k)
    while len(cells) > 1 and len(cells) * k > records.n:  # noise made more of them than there is room for
        least *= 1.25
        cells = _joined(leaves, tally, math.ceil(least))
    leaves, tally = [box for box, _ in cells], np.array([count for _, count in cells])
    of = _labels(leaves, records.n)
    counts = whole_counts(tally, records.n, k)
    ordered, nominal, more = publish(records, leaves, of, tally, share - sum(spent.values()), budget)
    return Cells(ordered, nominal, counts, of, spent | more, {"groups": len(leaves), "levels": levels})


def _cut_along(records: Records, levels: int) -> Records:
    """Return the records as they are cut: with their distance from the public point, where cuts are few.

    With fewer cuts than columns most columns are never cut. Where they go together, as sizes do, the distance
    from the corner of the box stands for all of them. A function of each record alone, by public numbers.
    """
    if records.d < 2 or levels > records.d + records.e:
        return records
    weights = records.importance
    own = weights[: records.d] / max(float(weights[: records.d].max()), 1e-12)
    far = np.sqrt((np.square(records.ordered) * own).mean(axis=1))
    longest = (*weights[: records.d], float(weights.max()), *weights[records.d :])
    return replace(records, ordered=np.column_stack([records.ordered, far]), weights=longest)


def _drawn_levels(n: int, levels: int, budget: Budget) -> int:
    """Return how many levels have drawn cuts: those with large enough nodes, by public numbers."""
    best = 0
    for many in range(1, levels + 1):
        part = STRUCTURE * budget.share / many
        epsilon = part if budget.pure else math.sqrt(8.0 * part)
        if n / 2 ** (many - 1) * epsilon >= ENOUGH:
            best = many
    return best


def _grown(records: Records, levels: int, drawn: int, structure: float, budget: Budget) -> list[Box]:
    sizes = np.array(records.sizes, np.int64)
    d, e = records.d, records.e
    root = Box(np.zeros(d), np.ones(d), np.zeros(e, np.int64), sizes.copy(), np.arange(records.n))
    boxes = [root]
    for level in range(levels):
        share = structure / drawn if level < drawn else 0.0
        made: list[Box] = []
        for box in boxes:
            made += _halves(records, box, sizes, share, budget.pure)
        boxes = made
    return boxes


def _halves(records: Records, box: Box, sizes: Ints, share: float, pure: bool) -> list[Box]:
    column, d = box.widest(sizes, records.importance), records.d
    if column < 0:
        return [box]
    places: Floats | Ints
    if column < d:
        low, high = box.low[column], box.high[column]
        places, bins, scores = _scored(records.ordered[box.rows, column], low, high)
    else:
        first, last = int(box.first[column - d]), int(box.last[column - d])
        bins = records.nominal[box.rows, column - d] - first
        places = np.arange(first + 1, last)
        below = np.cumsum(np.bincount(bins, minlength=last - first))[:-1]
        scores = -np.abs(2 * below - len(bins))
    if share > 0.0 and len(places) > 1:
        at = int(largest(scores[None, :], share, sensitivity=2, pure=pure)[0])
    else:
        at = (len(places) - 1) // 2
    under = bins <= at
    lower = replace(box, rows=box.rows[under], path=(*box.path, 0))
    upper = replace(box, rows=box.rows[~under], path=(*box.path, 1))
    names = ("low", "high") if column < d else ("first", "last")
    column = column if column < d else column - d
    end, begin = getattr(box, names[1]).copy(), getattr(box, names[0]).copy()
    end[column] = begin[column] = places[at]
    return [replace(lower, **{names[1]: end}), replace(upper, **{names[0]: begin})]


def _labels(leaves: list[Box], n: int) -> Ints:
    of = np.empty(n, np.int64)
    for number, leaf in enumerate(leaves):
        of[leaf.rows] = number
    return of


def _counted(of: Ints, cells: int, share: float, budget: Budget) -> Floats:
    """Return the noisy count of each cell; one record leaves a cell and enters another."""
    counts = np.bincount(of, minlength=cells)
    if cells > 1:  # else everybody is in it, and n is public
        counts, _ = noisy(counts, 2, math.sqrt(2.0), share, pure=budget.pure)
    return counts.astype(np.float64)


def _joined(leaves: list[Box], tally: Floats, k: int) -> list[tuple[Box, float]]:
    """Join cells with a noisy count below k to a cell beside them, from the bottom of the tree upwards.

    Post-processing: it looks at noisy counts and public boxes alone. All cells that are left have k, and
    there is room for as many of them among all records; or there is one.
    """
    cells = [(leaf, float(count)) for leaf, count in zip(leaves, tally, strict=True)]
    return _gathered(cells, 0, k)


def _gathered(cells: list[tuple[Box, float]], depth: int, k: float) -> list[tuple[Box, float]]:
    """Return the cells of a subtree, joined until each has k, or until there is one."""
    if len(cells) == 1:
        return cells
    turn = next(at for at, cell in enumerate(cells) if cell[0].path[depth] == 1)
    sides = [_gathered(cells[:turn], depth + 1, k), _gathered(cells[turn:], depth + 1, k)]
    for small, others in (sides, sides[::-1]):
        if others and len(small) == 1 and small[0][1] < k:
            near = min(range(len(others)), key=lambda at: _grows(others[at][0], small[0][0]))
            others[near] = _join(others[near], small.pop())
    return sides[0] + sides[1]


def _grows(box: Box, other: Box) -> float:
    """Return by how much a box grows if it takes in another one."""
    low, high = np.minimum(box.low, other.low), np.maximum(box.high, other.high)
    more = np.maximum(box.last, other.last) - np.minimum(box.first, other.first) - (box.last - box.first)
    return float(np.sum(high - low) - np.sum(box.high - box.low) + np.sum(more))


def _join(a: tuple[Box, float], b: tuple[Box, float]) -> tuple[Box, float]:
    """Return one cell for two: its box holds both."""
    both = Box(
        np.minimum(a[0].low, b[0].low),
        np.maximum(a[0].high, b[0].high),
        np.minimum(a[0].first, b[0].first),
        np.maximum(a[0].last, b[0].last),
        np.concatenate([a[0].rows, b[0].rows]),
        a[0].path,
    )
    return both, a[1] + b[1]


def publish(
    records: Records, leaves: list[Box], of: Ints, tally: Floats, share: float, budget: Budget
) -> tuple[Floats, Ints, dict[str, float]]:
    """Return noisy centres and modes of public boxes.

    One record leaves a box and enters another, or stays in it: of its sums in steps of half the box, both
    change by `STEPS` at most, or one by twice that.
    """
    d, e, cells = records.d, records.e, len(leaves)
    part, spent = share / max(d + e, 1), {}
    many = np.maximum(tally, 1.0)[:, None]
    ordered = np.empty((cells, d))
    own = [column for column in range(d) if column not in records.medians]
    if own:
        low = np.stack([leaf.low[own] for leaf in leaves])
        high = np.stack([leaf.high[own] for leaf in leaves])
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        inside = (records.ordered[:, own] - middle[of]) / half[of]
        drawn, variance = noisy(
            sums_of(of, cells, steps_of(inside)),
            2 * STEPS * len(own),
            2.0 * STEPS * math.sqrt(len(own)),
            len(own) * part,
            pure=budget.pure,
        )
        spent["sums"] = len(own) * part
        means = np.clip(drawn / (STEPS * many), -1.0, 1.0)
        noise = np.broadcast_to(variance / np.square(STEPS * many), means.shape)
        ordered[:, own] = middle + half * np.clip(shrunk(means, noise, many[:, 0]), -1.0, 1.0)
    for column in records.medians:
        spent[f"median {column + 1}"] = part
        ordered[:, column] = _medians(records, leaves, column, part, budget)
    nominal = np.empty((cells, e), np.int64)
    for column, size in enumerate(records.sizes):
        table = np.bincount(of * size + records.nominal[:, column], minlength=cells * size).reshape(
            cells, size
        )
        spent[f"mode {column + 1}"] = part
        nominal[:, column] = _modes(table, leaves, column, part, budget)
    return ordered, nominal, spent


def _medians(records: Records, leaves: list[Box], column: int, share: float, budget: Budget) -> Floats:
    """Return the median of a column in each box, drawn as a cut is: the score of a place changes as there."""
    out = np.empty(len(leaves))
    for number, leaf in enumerate(leaves):
        low, high = float(leaf.low[column]), float(leaf.high[column])
        places, _, scores = _scored(records.ordered[leaf.rows, column], low, high)
        out[number] = places[largest(scores[None, :], share, sensitivity=2, pure=budget.pure)[0]]
    return out


def _scored(values: Floats, low: float, high: float) -> tuple[Floats, Ints, Ints]:
    """Return places in a range, the part of it in which each value is, and how even each place divides them.

    The score is whole; one record changes it by 2 at most, and by 1 where it enters or leaves.
    """
    places = low + (high - low) * np.arange(1, CUTS) / CUTS
    bins = np.clip(np.ceil((values - low) / (high - low) * CUTS).astype(np.int64) - 1, 0, CUTS - 1)
    below = np.cumsum(np.bincount(bins, minlength=CUTS))[:-1]
    return places, bins, -np.abs(2 * below - len(bins))


def _modes(table: Ints, leaves: list[Box], column: int, share: float, budget: Budget) -> Ints:
    """Return the noisy mode of each box among the values that its box has."""
    out = np.empty(len(leaves), np.int64)
    for number, leaf in enumerate(leaves):
        first, last = int(leaf.first[column]), int(leaf.last[column])
        out[number] = first
        if last - first > 1:
            out[number] += largest(table[number, first:last][None, :], share, pure=budget.pure)[0]
    return out
