"""A k-d tree with randomly drawn cuts, whose leaves publish noisy counts and centres."""

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
    Population,
    Question,
    count_found,
    grouping,
    shrunk,
    whole_counts,
)
from voronym.dp.leaves import (
    CUTS,
    Turn,
    count_parts,
    describe,
    described,
    even,
    find_leaves,
)
from voronym.dp.noise import largest, noisy

STRUCTURE, COUNTS = 0.2, 0.15
"""Shares of the budget for cuts, and for the counts of leaves."""
WORTH_DRAWING = 40.0
"""A drawn cut is better than the middle of the box if records times ε of the cut exceed this."""


@dataclass(frozen=True)
class Box:
    """A node: its public box.

    Parameters
    ----------
    low, high : array of float
        Ends of the box in ordered columns; then, if used, in the distance from the public point.
    first, last : array of int
        Ends of the box in the domains of nominal columns; ``last`` is excluded.
    path : tuple of int
        The turns that lead to it: 0 to the lower part, 1 to the upper.
    """

    low: Floats
    high: Floats
    first: Ints
    last: Ints
    path: tuple[int, ...] = ()

    def widest(self, sizes: Ints, weights: Floats) -> int:
        """Return the column with the widest side of the box, relative to the public range; -1 for none."""
        widths = (
            np.concatenate([self.high - self.low, (self.last - self.first - 1) / np.maximum(sizes - 1, 1)])
            * weights
        )
        column = int(np.argmax(widths)) if len(widths) else -1
        if len(self.low) and column < len(self.low) and widths[len(self.low) - 1] == widths[column]:
            column = len(self.low) - 1  # the distance, if there is one, before columns of equal width
        return column if column >= 0 and widths[column] > 1e-6 else -1


def _size(n: int, d: int, epsilon: float) -> int:
    return min(n, math.ceil(30.0 * d / epsilon))


@grouping(
    "tree",
    sensitivity="cells are public once the cuts are drawn: one record leaves a cell and enters another, and "
    "nobody else moves",
    size=_size,
)
def tree(records: Population, k: int, budget: Budget) -> Cells:
    """Cut a k-d tree at privately drawn medians; each leaf publishes its noisy mean as often as its count.

    Nodes with enough records are cut by the exponential mechanism, the others at the middle of the box.
    Cells of fewer than k are joined to a neighbouring cell.
    """
    levels = max(int(math.log2(max(records.n / k, 1.0))), 0)
    share, spent = budget.share, {}
    drawn_levels = _drawn_levels(records.n, levels, budget)
    structure = STRUCTURE * share if drawn_levels else 0.0
    far = records.d >= 2 and levels <= records.d + records.e
    leaves, turns = _grown(records, far, levels, drawn_levels, structure, budget)
    if drawn_levels:
        spent["cuts"] = structure
    cell = np.arange(len(leaves))
    places = find_leaves(far=far, turns=turns, cell=cell)
    tally = np.array([records.n], np.float64)  # with one leaf everybody is in it, and n is public
    if len(leaves) > 1:
        spent["counts"] = COUNTS * share
        counted = records.add_up(count_found(cells=places, many=len(leaves)))
        drawn, _ = noisy(counted, 2, math.sqrt(2.0), spent["counts"], pure=budget.pure)
        tally = drawn.astype(np.float64)
    cells = _joined(leaves, tally, k)
    least = float(k)
    while len(cells) > 1 and len(cells) * k > records.n:  # noise made more of them than there is room for
        least *= 1.25
        cells = _joined(leaves, tally, math.ceil(least))
    cell = np.empty_like(cell)
    for number, joined in enumerate(cells):
        cell[list(joined.leaves)] = number
    tally = np.array([joined.count for joined in cells])
    places = find_leaves(far=far, turns=turns, cell=cell)
    counts = whole_counts(tally, records.n, k)
    boxes = [joined.box for joined in cells]
    ordered, nominal, more = publish(records, boxes, places, tally, share - sum(spent.values()), budget)
    facts = {"groups": len(cells), "levels": levels}
    return Cells(ordered, nominal, counts, records.place(places), spent | more, facts)


def _cut_weights(records: Population, far: bool) -> Floats:
    """Return the weights of columns for cutting boxes; the distance comes after the ordered columns."""
    weights = records.importance
    if not far:
        return weights
    return np.concatenate([weights[: records.d], [weights.max()], weights[records.d :]])


def _drawn_levels(n: int, levels: int, budget: Budget) -> int:
    """Return the number of levels with drawn cuts, for which nodes are large enough by public numbers."""
    best = 0
    for many in range(1, levels + 1):
        part = STRUCTURE * budget.share / many
        epsilon = part if budget.pure else math.sqrt(8.0 * part)
        if n / 2 ** (many - 1) * epsilon >= WORTH_DRAWING:
            best = many
    return best


def _grown(
    records: Population, far: bool, levels: int, drawn: int, structure: float, budget: Budget
) -> tuple[list[Box], list[Turn]]:
    """Return the leaves, in their order, and the turns that lead to them."""
    sizes = np.array(records.sizes, np.int64)
    d, e = records.d + far, records.e
    weights = _cut_weights(records, far)
    boxes = [Box(np.zeros(d), np.ones(d), np.zeros(e, np.int64), sizes.copy())]
    turns: list[Turn] = []
    for level in range(levels):
        share = structure / drawn if level < drawn else 0.0
        turn = _turn(boxes, sizes, weights)
        if share > 0.0:
            wide = max(CUTS, *records.sizes) if e else CUTS
            counts = records.add_up(count_parts(far=far, turns=[*turns, turn], wide=wide))
            turn = replace(turn, at=_drawn(turn, counts, d, share, budget.pure))
        boxes = [half for number, box in enumerate(boxes) for half in _halves(box, turn, number)]
        turns.append(turn)
    return boxes, turns


def _turn(boxes: list[Box], sizes: Ints, weights: Floats) -> Turn:
    """Return how boxes are cut by public numbers alone: along the widest side, in the middle."""
    column = np.array([box.widest(sizes, weights) for box in boxes], np.int64)
    begin, end = np.zeros(len(boxes)), np.ones(len(boxes))
    for number, (box, along) in enumerate(zip(boxes, column.tolist(), strict=True)):
        if along >= 0:
            begin[number] = np.concatenate([box.low, box.first])[along]
            end[number] = np.concatenate([box.high, box.last])[along]
    many = np.where(column < len(boxes[0].low), CUTS, end - begin).astype(np.int64)
    lower = np.concatenate([[0], np.cumsum(1 + (column[:-1] >= 0))])
    return Turn(column, begin, end, (many - 2) // 2, lower)


def _drawn(turn: Turn, counts: Ints, d: int, share: float, pure: bool) -> Ints:
    """Return the last part of the lower half of each box, drawn so that both halves have similar counts.

    The score of a position is a whole number. Replacing a record changes it by at most 2; adding or
    removing one by at most 1.
    """
    at = turn.at.copy()
    for number, column in enumerate(turn.column.tolist()):
        many = CUTS if column < d else int(turn.end[number] - turn.begin[number])
        if column >= 0 and many > 2:
            scores = even(counts[number : number + 1, :many])
            at[number] = largest(scores, share, sensitivity=2, pure=pure)[0]
    return at


def _halves(box: Box, turn: Turn, number: int) -> list[Box]:
    column, d = int(turn.column[number]), len(box.low)
    if column < 0:
        return [box]
    at = int(turn.at[number])
    names = ("low", "high") if column < d else ("first", "last")
    begin, end = getattr(box, names[0]).copy(), getattr(box, names[1]).copy()
    if column < d:
        place = turn.begin[number] + (turn.end[number] - turn.begin[number]) * (at + 1) / CUTS
    else:
        column, place = column - d, int(turn.begin[number]) + at + 1
    end[column] = begin[column] = place
    lower = replace(box, path=(*box.path, 0), **{names[1]: end})
    return [lower, replace(box, path=(*box.path, 1), **{names[0]: begin})]


@dataclass(frozen=True)
class Joined:
    """A cell: its leaves, the box around them, and their noisy count."""

    box: Box
    count: float
    leaves: tuple[int, ...]


def _joined(leaves: list[Box], tally: Floats, k: int) -> list[Joined]:
    """Join cells with a noisy count below k to a neighbouring cell, from the bottom of the tree up.

    Post-processing: it uses noisy counts and public boxes only. All remaining cells have k, and all
    records suffice for them; or a single cell remains.
    """
    pairs = enumerate(zip(leaves, tally, strict=True))
    return _gathered([Joined(leaf, float(count), (number,)) for number, (leaf, count) in pairs], 0, k)


def _gathered(cells: list[Joined], depth: int, k: float) -> list[Joined]:
    """Return the cells of a subtree, joined until each has k or only one remains."""
    if len(cells) == 1:
        return cells
    turn = next(at for at, cell in enumerate(cells) if cell.box.path[depth] == 1)
    sides = [_gathered(cells[:turn], depth + 1, k), _gathered(cells[turn:], depth + 1, k)]
    for small, others in (sides, sides[::-1]):
        if others and len(small) == 1 and small[0].count < k:
            near = min(range(len(others)), key=lambda at: _grows(others[at].box, small[0].box))
            others[near] = _join(others[near], small.pop())
    return sides[0] + sides[1]


def _grows(box: Box, other: Box) -> float:
    """Return the growth of a box if it includes another one."""
    low, high = np.minimum(box.low, other.low), np.maximum(box.high, other.high)
    more = np.maximum(box.last, other.last) - np.minimum(box.first, other.first) - (box.last - box.first)
    return float(np.sum(high - low) - np.sum(box.high - box.low) + np.sum(more))


def _join(a: Joined, b: Joined) -> Joined:
    """Return the union of two cells, with a box that holds both."""
    box = Box(
        np.minimum(a.box.low, b.box.low),
        np.maximum(a.box.high, b.box.high),
        np.minimum(a.box.first, b.box.first),
        np.maximum(a.box.last, b.box.last),
        a.box.path,
    )
    return Joined(box, a.count + b.count, (*a.leaves, *b.leaves))


def publish(
    records: Population, boxes: list[Box], leaves: Question, tally: Floats, share: float, budget: Budget
) -> tuple[Floats, Ints, dict[str, float]]:
    """Return noisy centres and modes of public boxes.

    A replaced record leaves one box and enters another, or stays in its box. In steps of half the box,
    two sums change by at most `STEPS`, or one sum by twice that.
    """
    d, e, cells = records.d, records.e, len(boxes)
    part, spent = share / max(d + e, 1), {}
    many = np.maximum(tally, 1.0)[:, None]
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    ordered, nominal = np.empty((cells, d)), np.empty((cells, e), np.int64)
    medians = list(records.medians)
    own = [column for column in range(d) if column not in medians]
    answer = records.add_up(describe(leaves=leaves, low=low[:, :d], high=high[:, :d], medians=medians))
    steps, places, tables = described(answer, cells, len(own), len(medians), records.sizes)
    if own:
        middle, half = (low + high)[:, own] / 2.0, (high - low)[:, own] / 2.0
        drawn, variance = noisy(
            steps,
            2 * STEPS * len(own),
            2.0 * STEPS * math.sqrt(len(own)),
            len(own) * part,
            pure=budget.pure,
        )
        spent["sums"] = len(own) * part
        means = np.clip(drawn / (STEPS * many), -1.0, 1.0)
        noise = np.broadcast_to(variance / np.square(STEPS * many), means.shape)
        ordered[:, own] = middle + half * np.clip(shrunk(means, noise, many[:, 0]), -1.0, 1.0)
    for column, counts in zip(medians, places, strict=True):
        spent[f"median {column + 1}"] = part
        at = largest(even(counts), part, sensitivity=2, pure=budget.pure)  # drawn as a cut is
        ordered[:, column] = low[:, column] + (high - low)[:, column] * (at + 1) / CUTS
    for column, table in enumerate(tables):
        spent[f"mode {column + 1}"] = part
        nominal[:, column] = _modes(table, boxes, column, part, budget)
    return ordered, nominal, spent


def _modes(table: Ints, boxes: list[Box], column: int, share: float, budget: Budget) -> Ints:
    """Return the noisy mode of each box among the values that its box has."""
    out = np.empty(len(boxes), np.int64)
    for number, leaf in enumerate(boxes):
        first, last = int(leaf.first[column]), int(leaf.last[column])
        out[number] = first
        if last - first > 1:
            out[number] += largest(table[number, first:last][None, :], share, pure=budget.pure)[0]
    return out
