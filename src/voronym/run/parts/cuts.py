"""Cut records into leaves of neighbours, by a tree of oblique halvings of a sample.

Every worker uses the same tree. Cuts between categories come first, because they separate no neighbours. The
first further cut follows principal axes; later cuts follow random directions, so that records at an old
border are inside a leaf now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.route import route
from voronym.core.numerics import along

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIES = 8
"""Number of directions to try before a node counts as impossible to cut."""
ALIKE = 0.05
"""Variance of a categorical key, relative to 1, below which the key is not cut further."""
UNEVEN = 1.15
"""Largest ratio of a leaf to its share of records, for a cut between categories."""


@dataclass(frozen=True)
class Tree:
    """A tree of cuts.

    Parameters
    ----------
    directions : array, shape (nodes, d)
        Along which each inner node cuts.
    thresholds : array, shape (nodes,)
        Points up to it go below.
    below, above : arrays, shape (nodes,)
        The nodes that follow; ``-1 - i`` is box i.
    first : array, shape (boxes + 1,)
        The first leaf of each box. A box of many records that are all alike has several leaves, and records
        go to them in turn.
    """

    directions: Floats
    thresholds: Floats
    below: Ints
    above: Ints
    first: Ints

    @property
    def leaves(self) -> int:
        """Number of leaves; neighbouring leaves have neighbouring numbers."""
        return int(self.first[-1])

    def route(self, X: Floats, turn: int = 0) -> Ints:
        """Return the leaf of each point; ``turn`` is the number of the first leaf among all."""
        boxes = np.zeros(len(X), np.int64)
        if len(self.thresholds):
            route(np.ascontiguousarray(X), self.directions, self.thresholds, self.below, self.above, boxes)
        ways = np.diff(self.first)[boxes]
        return np.asarray(self.first[boxes] + (turn + np.arange(len(X))) % ways, np.int64)


def towards(points: Floats, kinds: Sequence[Ints], rng: np.random.Generator) -> tuple[Floats, bool]:
    """Return the position of points along a random direction, and whether it separates categories.

    Parameters
    ----------
    points : array, shape (n, d)
        Centres of groups, say.
    kinds : sequence of arrays
        The coordinates of each key that is categories; those in which points still differ come first.
    rng : Generator
        Draws the direction, along the spread: one in which all is flat would cut thin slices.
    """
    for which in rng.permutation(len(kinds)):
        here = points[:, kinds[which]]
        spread = here.var(axis=0)
        if spread.sum() > ALIKE:
            return along(here, rng.standard_normal(len(spread)) * spread), True
    return along(points, rng.standard_normal(points.shape[1]) * (points.var(axis=0) + 1e-300)), False


def grow(X: Floats, leaves: int, rng: np.random.Generator | None, kinds: Sequence[Ints] = ()) -> Tree:
    """Cut a sample into leaves of about equal numbers of records.

    Parameters
    ----------
    X : array, shape (n, d)
        The sample.
    leaves : int
        Number of leaves.
    rng : Generator, optional
        Draws the directions; without one, cuts go along principal axes.
    kinds : sequence of arrays
        The coordinates of each key that is categories, which are cut first.
    """
    directions: list[Floats] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    ways: list[int] = []

    def cut(rows: Ints, many: int) -> int:
        """Cut some records further and return their node; depth first, so neighbours are numbered in turn."""
        result = _cut(X[rows], many, rng, kinds) if many > 1 and len(rows) > 1 else None
        if result is None:
            ways.append(many)
            return -len(ways)
        direction, threshold, low = result
        node = len(thresholds)
        directions.append(direction)
        thresholds.append(threshold)
        children.append([0, 0])
        left = _shared(many, float(low.mean()))
        children[node] = [cut(rows[low], left), cut(rows[~low], many - left)]
        return node

    cut(np.arange(len(X)), leaves)
    shape = (len(thresholds), X.shape[1])
    links = np.array(children, np.int64).reshape(len(thresholds), 2)
    return Tree(
        np.array(directions, np.float64).reshape(shape),
        np.array(thresholds, np.float64),
        np.ascontiguousarray(links[:, 0]),
        np.ascontiguousarray(links[:, 1]),
        np.concatenate([[0], np.cumsum(ways)]).astype(np.int64),
    )


def _cut(
    points: Floats, many: int, rng: np.random.Generator | None, kinds: Sequence[Ints]
) -> tuple[Floats, float, NDArray[np.bool_]] | None:
    """Return a direction, a threshold near a quantile, and the points below it; None if all are equal."""
    share = (many // 2) / many
    for direction, most in _directions(points, rng, kinds):
        along = np.zeros(len(points))
        for j in range(points.shape[1]):  # the order of additions that the kernel has
            along += points[:, j] * direction[j]
        values = np.unique(along)
        if len(values) < 2:
            continue
        middle = np.quantile(along, share)
        at = min(max(int(np.searchsorted(values, middle, side="right")), 1), len(values) - 1)
        # Take the gap next to the quantile that divides more evenly.
        spots = [item for item in (at - 1, at) if 1 <= item <= len(values) - 1] or [at]
        sides = [along <= (values[spot - 1] + values[spot]) / 2 for spot in spots]
        best = int(np.argmin([abs(side.mean() - share) for side in sides]))
        threshold = float((values[spots[best] - 1] + values[spots[best]]) / 2)
        low = along <= threshold
        below = float(low.mean())
        if not 0.0 < below < 1.0:
            continue
        left = _shared(many, below)
        if max(below * many / left, (1.0 - below) * many / (many - left)) <= most:
            return direction, threshold, low
    return None


def _shared(many: int, below: float) -> int:
    """Return the number of leaves below a cut, by the actual counts, which ties may make uneven."""
    return min(max(round(many * below), 1), many - 1)


def _directions(
    points: Floats, rng: np.random.Generator | None, kinds: Sequence[Ints]
) -> Iterator[tuple[Floats, float]]:
    """Yield directions to try, each with the largest ratio of a leaf to its share."""
    spread = points.var(axis=0)
    draw = np.random.default_rng(len(points)) if rng is None else rng
    for which in draw.permutation(len(kinds)):
        columns = kinds[which]
        if spread[columns].sum() > ALIKE:
            direction = np.zeros(len(spread))
            direction[columns] = draw.standard_normal(len(columns)) * spread[columns]
            yield direction, UNEVEN
    for attempt in range(TRIES):
        yield _direction(points, attempt, rng), np.inf


def _direction(points: Floats, attempt: int, rng: np.random.Generator | None) -> Floats:
    """Return a direction with a large spread: the principal axis, or a random direction."""
    spread = points.std(axis=0)
    if attempt >= 2:  # a single column: categories may be alike in all directions but a few
        out = np.zeros(len(spread))
        out[np.argsort(-spread, kind="stable")[(attempt - 2) % len(spread)]] = 1.0
        return out
    if rng is None and attempt == 0:
        apart = points - points.mean(axis=0)
        products = np.einsum("ij,ik->jk", apart, apart, optimize=False)  # the same on any number of threads
        axis = np.linalg.eigh(products)[1][:, -1]
        out = np.asarray(axis * np.sign(axis[np.argmax(np.abs(axis))]), np.float64)
        return np.round(out, 9)
    draw = np.random.default_rng(attempt) if rng is None else rng
    # Along the spread: a direction in which the records are flat would cut thin slices.
    return np.asarray(draw.standard_normal(len(spread)) * np.square(spread + 1e-300), np.float64)
