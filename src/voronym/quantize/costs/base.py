"""The input and the output of every cost solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points
from voronym.space import Euclidean, Space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Sizes = ArrayLike | tuple[ArrayLike, ArrayLike]
"""Exact sizes, shape (m,), or the pair ``(low, high)`` of bounds on them."""

MOST = 10**14
"""Larger sizes count as this one, so that sums do not overflow."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """Points assigned to cells, and the costs that explain the assignment.

    Point x belongs to a cell q that minimises ``d(x, centroid_q) + costs_q``. For exact sizes the costs
    are shifted so that the least is 0. For bounds ``low <= size <= high``, a cell strictly between its
    bounds has cost 0, a cell at its upper bound may have a positive cost, and a cell at its lower bound a
    negative one.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The cell of each point.
    costs : array, shape (m,)
        One additive cost per cell.
    sizes : array of int, shape (m,)
        Number of points in each cell.
    cost : float
        Sum of ``d(x, centroid of its cell)``: the cost of the assignment.
    gap : float
        ``cost`` less the dual value of ``costs``, 0 or more but for rounding: no assignment with the
        requested sizes costs less than ``cost - gap``. Exact solvers add possible rounding errors. If
        ``exact`` is false, the sizes may differ from the requested ones, and the gap may even be negative.
    exact : bool
        Whether the sizes are met exactly and the gap is rounding.
    iterations : int
        The steps of the solver; its documentation defines them.
    solver : str
        Its name.
    """

    labels: Integers
    costs: Floats
    sizes: Integers
    cost: float
    gap: float
    exact: bool
    iterations: int
    solver: str

    def __post_init__(self) -> None:
        for array in (self.labels, self.costs, self.sizes):
            array.flags.writeable = False

    def __repr__(self) -> str:
        how = "exact" if self.exact else "approximate"
        return (
            f"Assignment({len(self.labels)} points to {len(self.sizes)} cells of {self.sizes.min()}.."
            f"{self.sizes.max()}, cost {self.cost:.6g}, {how}, gap {self.gap:.2g}, by {self.solver})"
        )


class Bounds(NamedTuple):
    """The smallest and the largest size of each cell."""

    low: Integers
    high: Integers

    @property
    def exact(self) -> bool:
        """Whether every cell has a fixed size: both bounds are equal."""
        return bool((self.low == self.high).all())

    def merged(self, cells: Integers, most: int) -> Bounds:
        """Return the bounds of joined cells (those with equal numbers); none above ``most``."""
        low, high = (np.bincount(cells, side).astype(np.int64) for side in self)
        return Bounds(low, np.minimum(high, most))


class Given(NamedTuple):
    """The checked input of a cost solver."""

    X: Floats
    C: Floats
    sizes: Bounds
    space: Space
    start: Floats


def cost_solver(work: Callable[..., Assignment]) -> Callable[..., Assignment]:
    """Give a solver ``work(given, ctx, **options)`` its public form; see `transport`.

    The public form takes ``progress`` and makes the context; other rooms pass theirs as ``ctx``.
    """
    work = checked(work)

    @wraps(work)
    def solve(
        X: ArrayLike,
        centroids: ArrayLike,
        sizes: Sizes,
        *,
        space: Space | None = None,
        start: ArrayLike | None = None,
        progress: ProgressCallback | None = None,
        ctx: Context | None = None,
        **options: Any,
    ) -> Assignment:
        points = check_points(X)
        C = check_centroids(centroids, points.shape[1])
        bounds = check_sizes(sizes, len(points), len(C))
        given = Given(points, C, bounds, check_space(space), check_start(start, len(C)))
        if ctx is not None:
            return work(given, ctx, **options)
        ctx = Context(progress=progress).part(0.0, 1.0, stage="assigning")
        answer = work(given, ctx, **options)
        ctx.done()
        return answer

    common = list(signature(solve, follow_wrapped=False).parameters.values())
    own = [
        parameter
        for parameter in signature(work).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    solve.__signature__ = signature(work).replace(parameters=[*common[:5], *own, common[5]])  # type: ignore[attr-defined]
    return solve


def numbers(values: object, refusal: str) -> Floats:
    """Return values as a float64 array in C order; raise if they are not numeric."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(refusal) from None


def check_space(space: Space | None) -> Space:
    """Return the space, Euclidean by default."""
    if not isinstance(space, Space | None):
        raise InputError(f"space must be a Space, not {type(space).__name__}")
    return Euclidean() if space is None else space


def check_centroids(centroids: ArrayLike, d: int) -> Floats:
    """Return centroids as an (m, d) float64 array in C order; raise if they are invalid."""
    C = numbers(centroids, "centroids must be numbers, as many in every row")
    if C.ndim == 1 and d == 1:
        C = np.ascontiguousarray(C[:, None])
    if C.ndim != 2 or C.shape[1] != d or len(C) == 0:
        raise InputError(
            f"centroids must have shape (cells, {d}), as the points do; got {np.shape(centroids)}"
        )
    bad = int((~np.isfinite(C)).any(axis=1).sum())
    if bad:
        raise InputError(f"{bad} of {len(C)} centroids have missing or infinite values")
    return C


def check_sizes(sizes: Any, n: int, m: int) -> Bounds:
    """Return lower and upper bounds of cell sizes that n points can meet; raise if they cannot.

    Examples
    --------
    >>> low, high = check_sizes([2, 3], 5, 2)
    >>> low.tolist(), high.tolist()
    ([2, 3], [2, 3])
    >>> check_sizes(([2, 2], [3, 3]), 7, 2)
    Traceback (most recent call last):
    ...
    voronym.errors.InputError: the upper bounds allow 6 points in all, there are 7: raise them
    """
    if isinstance(sizes, tuple) and len(sizes) == 2 and all(np.ndim(side) == 1 for side in sizes):
        low, high = _whole(sizes[0], m, "lower bounds"), _whole(sizes[1], m, "upper bounds")
        wrong = int((low > high).sum())
        if wrong:
            raise InputError(f"{wrong} of {m} cells have a lower bound above their upper bound")
        if low.sum() > n:
            raise InputError(f"the lower bounds ask for {low.sum()} points in all, there are {n}: lower them")
        if high.sum() < n:
            raise InputError(f"the upper bounds allow {high.sum()} points in all, there are {n}: raise them")
        return Bounds(low, np.minimum(high, n + 1))  # not n: a cell with all points is not at its bound
    exact = _whole(sizes, m, "sizes")
    if exact.sum() != n:
        raise InputError(f"the sizes sum to {exact.sum()}, there are {n} points: they must be equal")
    return Bounds(exact, exact)


def check_exact(bounds: Bounds, solver: str) -> Integers:
    """Return exact sizes, for a solver that takes no bounds on them."""
    if not bounds.exact:
        raise InputError(f"{solver} takes exact sizes; for bounds use transport")
    return bounds.low


def _whole(sizes: ArrayLike, m: int, what: str) -> Integers:
    given = numbers(sizes, f"{what} must be whole numbers, one per cell")
    if given.shape != (m,):
        raise InputError(f"{what} must be {m} whole numbers, one per cell; got shape {given.shape}")
    if not np.isfinite(given).all() or (given != np.rint(given)).any():
        raise InputError(f"{what} must be whole numbers")
    if (given < 0).any():
        raise InputError(f"{int((given < 0).sum())} of {m} {what} are negative")
    return np.minimum(given, MOST).astype(np.int64)


def check_start(start: ArrayLike | None, m: int) -> Floats:
    """Return the costs to start from, zeros by default."""
    if start is None:
        return np.zeros(m)
    costs = numbers(start, f"start must be {m} finite costs, one per cell")
    if costs.shape != (m,) or not np.isfinite(costs).all():
        raise InputError(f"start must be {m} finite costs, one per cell; got shape {costs.shape}")
    return costs


def check_cells(cells: object, n: int) -> int:
    """Return a number of cells between 1 and n; raise otherwise."""
    if isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < 1:
        raise InputError(f"cells must be a whole number, 1 or more, not {cells!r}")
    if cells > n:
        raise InputError(f"{cells} cells are more than the {n} points there are")
    return int(cells)


def equal_sizes(n: int, cells: int) -> Integers:
    """Return sizes that sum to n and differ by at most one, the larger first.

    Examples
    --------
    >>> equal_sizes(8, 3).tolist()
    [3, 3, 2]
    """
    sizes: Integers = np.full(cells, n // cells, np.int64)
    sizes[: n % cells] += 1
    return sizes


def round_sizes(probabilities: Sequence[float] | Floats, n: int) -> Integers:
    """Return whole sizes that sum to n, nearest to ``n * probabilities`` by largest remainders.

    Examples
    --------
    >>> round_sizes([0.5, 0.3, 0.2], 9).tolist()
    [4, 3, 2]
    """
    refusal = "probabilities must be a vector of finite numbers, one per cell"
    given = numbers(probabilities, refusal)
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        raise InputError(refusal)
    if (given < 0).any():
        raise InputError(f"{int((given < 0).sum())} of {len(given)} probabilities are negative")
    if abs(given.sum() - 1.0) > 1e-6:
        raise InputError(f"the probabilities sum to {given.sum():.8g}, not to 1: divide them by their sum")
    share = given / given.sum() * n
    sizes: Integers = np.floor(share + 1e-9).astype(np.int64)
    rest = n - int(sizes.sum())
    sizes[np.argsort(sizes - share, kind="stable")[:rest]] += 1
    return sizes
