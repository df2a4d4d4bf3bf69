"""Records in the plane: their first two principal axes, or places that follow from distances alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core import numerics
from voronym.dossier.parts import Cloud, GroupMap, Point, ShiftMap
from voronym.partition import Partition
from voronym.table.codec import Codec

MOST_POINTS = 2000
MOST_GROUPS = 150
MOST_OVERLAPPING = 80  # groups over more than two keys overlap in the plane
MOST_SHIFTED = 1600
MOST_BY_DISTANCE = 500
MOST_COLOURED = 10
MOST_TRACED = 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Axes:
    """Points on their principal axes, the share of variance on each, and the names of the axes."""

    points: Floats
    shares: Point
    names: tuple[str, str]
    origin: Floats
    directions: Floats

    def project(self, X: Floats) -> Floats:
        """Return further points on the same two axes, shape (m, 2)."""
        flat = X @ self.directions - self.origin @ self.directions
        return np.column_stack([flat, _scatter(len(X))]) if flat.shape[1] == 1 else flat

    def leads(self, codec: Codec, most: int = 3) -> tuple[tuple[str, ...], ...]:
        """Return for each axis the keys that weigh most on it."""
        out = []
        for axis in range(self.directions.shape[1]):
            weight = {
                b.name: float(np.square(self.directions[b.start : b.stop, axis]).sum()) for b in codec.blocks
            }
            ranked = sorted(weight, key=lambda name: -weight[name])
            out.append(tuple(name for name in ranked[:most] if weight[name] >= 0.1))
        return tuple(out)


def principal_axes(X: Floats, weights: Floats | None = None) -> Axes:
    """Project points onto the two directions of largest variance; ``weights`` are counts of each point.

    With one column, the second axis only spreads the points so that they do not overlap. The largest
    coefficient of a direction is positive, so that a figure does not flip between runs.

    Examples
    --------
    >>> flat = principal_axes(np.array([[0.0, 0.0], [3.0, 0.1], [6.0, 0.0]]))
    >>> flat.shares[0] > 0.99
    True
    """
    origin, products = numerics.scatter(X, weights)
    values, vectors = np.linalg.eigh(products / (len(X) if weights is None else weights.sum()))
    order = np.argsort(values)[::-1][:2]
    directions = vectors[:, order]
    signs = np.sign(directions[np.argmax(np.abs(directions), axis=0), np.arange(directions.shape[1])])
    directions = directions * np.where(signs == 0, 1.0, signs)
    total = float(values.sum())
    shares = [max(float(values[i]), 0.0) / total if total > 0 else 0.0 for i in order]
    flat = X @ directions - origin @ directions
    if flat.shape[1] == 1:
        points = np.column_stack([flat, _scatter(len(X))])
        return Axes(points, (shares[0], 0.0), ("the key", "spread out to be seen"), origin, directions)
    names = (f"first axis ({100 * shares[0]:.0f} %)", f"second axis ({100 * shares[1]:.0f} %)")
    return Axes(flat, (shares[0], shares[1]), names, origin, directions)


def by_distance(costs: Floats) -> tuple[Floats, tuple[str, str]]:
    """Place records in the plane by their distances alone (classical scaling), and name the axes.

    Parameters
    ----------
    costs : array, shape (n, n)
        Distances.

    References
    ----------
    Torgerson, W. S.: Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.

    Examples
    --------
    >>> places, _ = by_distance(np.array([[0.0, 3.0], [3.0, 0.0]]))
    >>> round(float(abs(places[0, 0] - places[1, 0])), 6)
    3.0
    """
    squared = np.square(costs)
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean())
    values, vectors = np.linalg.eigh(0.5 * (centred + centred.T))
    order = np.argsort(values)[::-1][:2]
    places = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    return np.asarray(places), ("by distances, first axis", "second")


def cloud(X: Floats, often: Ints) -> Cloud:
    """Return published keys in the plane: distinct places, each with the number of records there.

    Parameters
    ----------
    X : array, shape (m, d)
        The combinations of keys, one for each class.
    often : array of int, shape (m,)
        Records of each class.
    """
    flat = principal_axes(X, often.astype(np.float64))
    points, place = np.unique(np.round(flat.points, 9), axis=0, return_inverse=True)
    sizes = np.bincount(place.ravel(), often).astype(np.int64)
    keep = _draw(len(points), MOST_POINTS)
    return Cloud(pairs(points[keep]), tuple(sizes[keep].tolist()), len(points), flat.names, flat.shares)


def group_map(X: Floats, part: Partition, codec: Codec, *, exact: bool) -> GroupMap:
    """Return records and groups in the plane: whole groups at random, with a fixed seed, until it is full."""
    flat = principal_axes(X)
    groups = _sample_groups(part, MOST_GROUPS if len(codec.blocks) <= 2 else MOST_OVERLAPPING)
    place = np.full(part.n_cells, -1, dtype=np.int64)
    place[groups] = np.arange(len(groups))
    own = place[part.labels]
    shown = np.flatnonzero(own >= 0)
    shown = shown[_draw(len(shown), MOST_POINTS)]
    middle = part.centroids(flat.points)[groups]
    if X.shape[1] == 1:
        middle[:, 1] = 0.5
    return GroupMap(
        pairs(flat.points[shown]),
        tuple(own[shown].tolist()),
        pairs(middle),
        tuple(part.sizes[groups].tolist()),
        part.n,
        part.n_cells,
        flat.names,
        flat.shares,
        flat.leads(codec),
        X.shape[1],
        exact,
    )


def shift_map(
    n: int,
    *,
    before: Floats | None,
    after: Floats | None,
    codec: Codec | None,
    costs: object = None,
    part: Partition | None = None,
    moved: Ints | None = None,
) -> ShiftMap | None:
    """Return the records in the plane before and after masking.

    Parameters
    ----------
    n : int
        Records.
    before, after : arrays, shape (n, d), optional
        The keys as coordinates. Without them, places follow from ``costs``.
    costs : callable, optional
        A function of rows: it returns the distances between these records before and after, stacked.
    part : Partition, optional
        Clusters; some are in colour.
    moved : array of int, optional
        Records whose movement is drawn; by default a few at random.
    """
    flat = None if before is None or after is None else principal_axes(before)
    if flat is None and not callable(costs):
        return None
    groups = np.full(n, -1, np.int64) if part is None else _shown_groups(part)
    first = np.array([], np.int64) if moved is None else moved
    rows = _sample(n, first, groups, MOST_BY_DISTANCE if flat is None else MOST_SHIFTED)
    if flat is not None and before is not None and after is not None and codec is not None:
        old, new = flat.points[rows], flat.project(after[rows])
        if before.shape[1] == 1:  # the second axis only spreads points out: the same for both
            new[:, 1] = old[:, 1]
        axes, shares, leads, width = flat.names, flat.shares, flat.leads(codec), before.shape[1]
    else:
        places, axes = by_distance(costs(rows))  # type: ignore[operator]
        old, new = places[: len(rows)], places[len(rows) :]
        shares, leads, width = (0.0, 0.0), (), 0
    place = np.full(n, -1, np.int64)
    place[rows] = np.arange(len(rows))
    marked = _draw(len(rows), MOST_TRACED, seed=1) if moved is None else place[moved][place[moved] >= 0]
    return ShiftMap(
        pairs(old),
        pairs(new),
        tuple(groups[rows].tolist()),
        tuple(marked.tolist()),
        n,
        0 if part is None else part.n_cells,
        len(first),
        axes,
        shares,
        leads,
        width,
    )


def pairs(points: Floats) -> tuple[Point, ...]:
    """Return rows of an array as pairs of floats."""
    return tuple((float(a), float(b)) for a, b in points)


def _draw(n: int, most: int, seed: int = 0) -> Ints:
    """Return all of n places, or a random sample, ascending."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def _sample_groups(part: Partition, most: int) -> Ints:
    """Draw whole groups at random until there are ``most`` records or enough groups; return them in order."""
    order = np.random.default_rng(0).permutation(part.n_cells)
    fits = max(1, int(np.searchsorted(np.cumsum(part.sizes[order]), MOST_POINTS, side="right")))
    return np.sort(order[: min(fits, most)])


def _shown_groups(part: Partition) -> Ints:
    """Return the colour of each record's group: of the largest groups and some random ones; -1 for others."""
    if part.n_cells <= MOST_COLOURED:
        return np.asarray(part.labels)
    large = np.argsort(-part.sizes, kind="stable")[: MOST_COLOURED // 2]
    rest = np.setdiff1d(np.arange(part.n_cells), large)
    drawn: Sequence[int] = np.random.default_rng(0).permutation(rest)[: MOST_COLOURED - len(large)].tolist()
    place = np.full(part.n_cells, -1, np.int64)
    place[[*large, *drawn]] = np.arange(len(large) + len(drawn))
    return place[part.labels]


def _sample(n: int, first: Ints, groups: Ints, most: int) -> Ints:
    """Choose rows to draw: marked rows first, then coloured rows, then others at random."""
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    rank = np.where(groups[order] >= 0, 1, 2)
    rank[np.isin(order, first)] = 0
    return np.sort(order[np.argsort(rank, kind="stable")][:most])


def _scatter(n: int) -> Floats:
    return np.asarray((np.arange(n) * _GOLDEN) % 1.0, dtype=np.float64)
