"""Record linkage: an intruder who holds the original keys claims the nearest released record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from voronym.core import later
from voronym.core.context import Context
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.core.rate import Rate, rate
from voronym.errors import InputError
from voronym.table.classes import Classes, classes_of_first, equivalence_classes, first_by_hash

cKDTree = later.called("scipy.spatial", "cKDTree")  # noqa: N816 - its own name

TARGETS = 20_000
_BLOCK = 256  # targets looked up between two questions whether to go on
_TREE = 8  # coordinates beyond which a k-d tree may look at nearly every point, one by one
_TRIED = 16  # targets looked up in both ways, to see which is faster
_AT_ONCE = 4_000_000  # distances held at a time
_ROWS = 131_072  # released points held at a time: with many categories, all of them fill the memory
_Search = Callable[[NDArray[np.float64]], list[NDArray[np.int64]]]
_TIE = 1e-9  # relative: distances this close are the same distance, computed in another order


@dataclass(frozen=True)
class Linkage(Plain):
    """Result of distance-based record linkage.

    Parameters
    ----------
    rate : Rate
        Expected share of originals linked to their own released record; with ``kind`` "upper bound" a
        bound on that share, for this attack.
    kind : {"measured", "upper bound"}
        Whether the true links were known.
    nearest : Rate or None
        Share of originals whose own record is among the nearest ones, before the guess among ties.
    bound : float or None
        Upper limit on the rate of any intruder who knows only keys: classes of equal records over originals.
        Proof: among the people of a class, each guess is right for one on average.
    """

    rate: Rate
    kind: str
    nearest: Rate | None
    bound: float | None = None

    def __str__(self) -> str:
        if self.kind != "upper bound":
            return str(self.rate)
        proven = (
            "" if self.bound is None else f"at most {percent(self.bound)} by keys, however they are matched; "
        )
        return f"{proven}{self.rate} by the nearest records, where the own one is always among them"


def record_linkage(
    original_X: ArrayLike,
    released_X: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    classes: Classes | None = None,
    matcher: Any = None,
    targets: int = TARGETS,
    confidence: float = 0.95,
    ctx: Context | None = None,
) -> Linkage:
    """Link original records to the nearest released ones, and measure how often that is right.

    The intruder takes the released records nearest to the original (Euclidean distance) and guesses one
    of them at random. With f equally near records, the credit is 1/f if the true one is among them, and 0
    otherwise; the mean credit is the expected share of correct links. In a k-anonymous release f >= k, so
    no credit exceeds 1/k.

    If the truth is unknown, as for rows in a random order, the credit is replaced by 1/f. The credit is
    1/f or 0, so the mean of 1/f is an upper limit on the rate of this attack.

    Parameters
    ----------
    original_X : array, shape (n, d)
        Original records in some encoding.
    released_X : array, shape (m, d)
        Released records in the same encoding.
    truth : array of int, shape (n,), optional
        Row of ``released_X`` that belongs to each original; -1 if there is none.
    classes : Classes, optional
        Classes of equal released records, if known.
    matcher : Matcher, optional
        Matches records that publish sets of values, see `voronym.evaluate.matching`; points are then compared
        among fitting records.
    targets : int
        Originals to attack at most; more are sampled without replacement.
    confidence : float
        Coverage of the interval (see `voronym.core.rate.share`).
    ctx : Context, optional
        Draws the targets, reports progress, and may stop the attack.

    Returns
    -------
    Linkage
        A k-d tree over the distinct released records: O(m log m) to build, memory O((n + m) d), never n x m.

    References
    ----------
    Pagliuca, D., Seri, G.: Some results of individual ranking method on the system of enterprise accounts
    annual survey. Esprit SDC Project, 1999. Domingo-Ferrer, J., Torra, V.: A quantitative comparison of
    disclosure control methods for microdata. In: Confidentiality, Disclosure and Data Access, 2001.

    Examples
    --------
    Two groups of two records; each record's own group is the nearest, and the guess is right half the time.

    >>> released = [[0.5], [0.5], [8.5], [8.5]]
    >>> result = record_linkage([[0.0], [1.0], [8.0], [9.0]], released, truth=[0, 1, 2, 3])
    >>> result.rate.value, result.nearest.value
    (0.5, 1.0)
    """
    X, Y = _points(original_X, "original"), _points(released_X, "released")
    if X.shape[1] != Y.shape[1]:
        raise InputError(
            f"original has {X.shape[1]} coordinates and released {Y.shape[1]}; encode both alike"
        )
    ctx = Context() if ctx is None else ctx
    if targets < 1:
        raise InputError(f"targets must be 1 or more, not {targets}")
    own = None if truth is None else _links(truth, len(X), len(Y))
    n = len(X)
    rows = np.arange(n)
    targets = targets if matcher is None else matcher.affordable(targets)
    if n > targets:
        rows = np.sort(ctx.rng.choice(n, targets, replace=False))
    mine = None if own is None else own[rows]
    if matcher is None:
        credit, near, classes = link(X[rows], Y, mine, ctx, classes)
    else:
        credit, near, classes = matcher.link(rows, mine, ctx)
    # The nearest records are whole classes, so no credit exceeds one over the smallest class.
    most = 1.0 / int(classes.sizes.min())
    if mine is None:
        result = rate(credit, population=n, confidence=confidence, ceiling=most)
        return Linkage(result, "upper bound", None, min(1.0, len(classes.sizes) / n))
    groups = np.where(mine < 0, len(classes.sizes) + np.arange(len(mine)), classes.labels[mine])
    return Linkage(
        rate(credit * near, population=n, confidence=confidence, ceiling=most, clusters=groups),
        "measured",
        rate(near, population=n, confidence=confidence, clusters=groups),
        min(1.0, len(classes.sizes) / n),
    )


def link(
    X: NDArray[np.float64],
    Y: NDArray[np.float64],
    own: NDArray[np.int64] | None,
    ctx: Context,
    classes: Classes | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], Classes]:
    """Find the released records nearest to each target, person by person.

    Parameters
    ----------
    X, Y : arrays, shape (t, d) and (m, d)
        Targets and released records in one encoding.
    own : array of int, shape (t,), optional
        The released row of each target, or -1.
    ctx : Context
        Time limit, progress and requests to stop.
    classes : Classes, optional
        Classes of equal released records, if known.

    Returns
    -------
    credit, near, classes
        One over the number of nearest records; whether the person's own record is among them (False if
        unknown); and the classes of equal released records.
    """
    groups = equal_points(Y) if classes is None else classes
    return *link_classes(X, lambda rows: Y[rows], groups, own, ctx), groups


def link_classes(
    X: NDArray[np.float64],
    points: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    groups: Classes,
    own: NDArray[np.int64] | None,
    ctx: Context,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Find the nearest records as `link` does, with a function that returns the points of some rows.

    Only a block of points is in memory at a time.
    """
    first = groups.first
    closest = [_Closest() for _ in X]
    for start in range(0, len(first), _ROWS):
        here = points(first[start : start + _ROWS])
        search, block = _search(here, X)
        part = ctx.part(start / len(first), min(1.0, (start + _ROWS) / len(first)))
        part.map(partial(_look, X, here, start, search, block, closest), range(0, len(X), block))
    credit, near = np.empty(len(X)), np.zeros(len(X), bool)
    for at, result in enumerate(closest):
        nearest = result.nearest()
        credit[at] = 1.0 / int(groups.sizes[nearest].sum())
        if own is not None:
            near[at] = own[at] >= 0 and groups.labels[own[at]] in nearest
    return credit, near


class _Closest:
    """The nearest points of a target in the blocks seen so far, with their distances."""

    def __init__(self) -> None:
        self._places: list[NDArray[np.int64]] = []
        self._distances: list[NDArray[np.float64]] = []
        self._reach = np.inf

    def add(self, places: NDArray[np.int64], distances: NDArray[np.float64]) -> None:
        """Take the nearest points of a block."""
        least = float(distances.min())
        if least <= self._reach:
            self._places.append(places)
            self._distances.append(distances)
            self._reach = min(self._reach, least * (1.0 + _TIE))

    def nearest(self) -> NDArray[np.int64]:
        """Return the nearest points of all blocks."""
        distances = np.concatenate(self._distances)
        return np.asarray(np.concatenate(self._places)[distances <= self._reach], np.int64)


def _look(
    X: NDArray[np.float64],
    points: NDArray[np.float64],
    before: int,
    search: _Search,
    block: int,
    closest: list[_Closest],
    start: int,
) -> None:
    """Search a block of points for some targets; ``before`` is the number of points in earlier blocks."""
    for at, some in enumerate(search(X[start : start + block]), start):
        closest[at].add(before + some, np.sqrt(((points[some] - X[at]) ** 2).sum(axis=1)))


def _search(points: NDArray[np.float64], X: NDArray[np.float64]) -> tuple[_Search, int]:
    """Return the faster search for all nearest points, and the number of targets per call.

    Both searches give the same result. With many coordinates the table decides which is faster: for
    categories, a tree needs few coordinates.
    """
    at_once = max(1, _AT_ONCE // len(points))
    every = partial(_nearest_of_all, points)
    wide = points.shape[1] > _TREE
    if wide and len(X) <= at_once:
        return every, at_once
    tree = partial(_nearest, cKDTree(points))
    some = X[:: max(1, len(X) // _TRIED)][: min(_TRIED, max(1, at_once // 4))]
    return (every, at_once) if wide and _seconds(every, some) < _seconds(tree, some) else (tree, _BLOCK)


def _seconds(search: _Search, X: NDArray[np.float64]) -> float:
    """Return the seconds that a search takes."""
    begun = time.perf_counter()
    search(X)
    return time.perf_counter() - begun


def nearest_released(
    original_X: ArrayLike, released_X: ArrayLike, ctx: Context, classes: Classes | None = None
) -> NDArray[np.int64]:
    """Return the nearest released row of each original; the first one in a tie."""
    X, Y = _points(original_X, "original"), _points(released_X, "released")
    classes = equal_points(Y) if classes is None else classes
    tree = cKDTree(Y[classes.first])
    blocks = ctx.map(lambda start: tree.query(X[start : start + _BLOCK])[1], range(0, len(X), _BLOCK))
    return np.asarray(classes.first[np.concatenate(blocks)], dtype=np.int64)


def equal_points(Y: NDArray[np.float64]) -> Classes:
    """Return the classes of equal released records."""
    hashes = np.zeros(len(Y), np.uint64)
    for values in Y.T:
        hashes ^= (values + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(32)
    first = first_by_hash(hashes)
    if all(np.array_equal(values, values[first]) for values in Y.T):
        return classes_of_first(first)
    names = [f"x{j}" for j in range(Y.shape[1])]
    return equivalence_classes(nw.from_native(pl.from_numpy(Y, schema=names), eager_only=True), names)


def _nearest(tree: Any, X: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return all the nearest points of the tree for each row of X."""
    if tree.n == 1:
        return [np.zeros(1, np.int64)] * len(X)
    distance, index = tree.query(X, k=2)
    result = [np.array([i], np.int64) for i in index[:, 0]]
    reach = distance[:, 0] * (1.0 + _TIE)
    tied = np.flatnonzero(distance[:, 1] <= reach)  # rare: only these pay for a second, wider search
    for row, ball in zip(tied, tree.query_ball_point(X[tied], reach[tied]), strict=True):
        result[row] = np.asarray(ball, np.int64)
    return result


def _nearest_of_all(Y: NDArray[np.float64], X: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return all nearest points for each row of X by exhaustive search.

    Matrix products find the candidates, up to rounding errors; only these are compared exactly.
    """
    squares = np.einsum("ij,ij->i", Y, Y)
    rough = squares - 2.0 * (X @ Y.T)
    slack = 1e-8 * (squares.max() + np.einsum("ij,ij->i", X, X))
    result = []
    for x, distances, more in zip(X, rough, slack, strict=True):
        some = np.flatnonzero(distances <= distances.min() + more)
        exact = np.sqrt(((Y[some] - x) ** 2).sum(axis=1))
        result.append(some[exact <= exact.min() * (1.0 + _TIE)])
    return result


def _points(X: ArrayLike, what: str) -> NDArray[np.float64]:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.size == 0:
        raise InputError(f"{what} must be a table of records by coordinates, not of shape {points.shape}")
    if not np.isfinite(points).all():
        raise InputError(f"{what} has NaN or infinite coordinates; encode missing values first")
    return points


def _links(truth: ArrayLike | Sequence[int], n: int, m: int) -> NDArray[np.int64]:
    links = np.asarray(truth)
    if links.shape != (n,) or not np.issubdtype(links.dtype, np.integer):
        raise InputError(f"truth must hold one released row for each of the {n} originals (-1 for none)")
    if links.min() < -1 or links.max() >= m:
        raise InputError(f"truth must hold rows 0 to {m - 1} of the released table, or -1")
    return links.astype(np.int64)
