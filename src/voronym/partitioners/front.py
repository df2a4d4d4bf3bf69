"""The door to every partitioning method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym import registry
from voronym.errors import InputError
from voronym.masking import Mask
from voronym.partition import Partition
from voronym.progress import Progress, silent
from voronym.space import Euclidean, Space


class OneCellWarning(UserWarning):
    """There are fewer than 2k records, so all of them become one and the same published record."""


def microaggregate(
    X: ArrayLike,
    k: int,
    *,
    method: str = "auto",
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
    **options: object,
) -> Partition:
    """Partition records into cells of at least k, losing as little as possible.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|^2`` over all partitions whose cells have at least k
    records. It is NP-hard from two columns on; methods differ in how near they come and what they cost.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Records as numbers. Used as they are: no hidden scaling (see `voronym.standardize`).
    k : int
        Least number of records in a cell, 2 or more.
    method : str
        A name from `voronym.algorithms`; "auto" chooses by the number of records and columns.
    space : Space, optional
        The cost between records; Euclidean by default.
    seed : int, Generator or None
        For methods that draw at random. The same seed gives the same partition.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then; it may raise to stop the work.
    **options
        Options of the method, such as ``gamma`` for "vmdav".

    Returns
    -------
    Partition
        With ``min(sizes) >= k``, checked.

    Examples
    --------
    >>> import voronym as vr
    >>> part = vr.microaggregate([[1.0], [1.1], [5.0], [5.2], [5.1]], 2, method="mdav")
    >>> part.labels.tolist()
    [0, 0, 1, 1, 1]
    """
    points = check_points(X)
    k = check_k(k, len(points))
    note = one_cell_note(len(points), k)
    if note is not None:
        warnings.warn(note, stacklevel=2)
    return partition(points, k, method=method, space=space, seed=seed, progress=progress, **options)


def one_cell_note(n: int, k: int) -> OneCellWarning | None:
    """Return a warning where n records are too few for two cells of k."""
    if n >= 2 * k:
        return None
    return OneCellWarning(
        f"{n} records are fewer than 2k={2 * k}: they form a single cell, and every record is "
        "published with the same keys"
    )


def partition(
    points: NDArray[np.float64],
    k: int,
    *,
    method: str = "auto",
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
    **options: object,
) -> Partition:
    """Do the work of `microaggregate` on checked points, without a word where one cell is all there is.

    Warnings are the caller's to give: they are global to the process, and callers may be threads.
    """
    chosen = registry.get(method)
    if space is not None and not isinstance(space, Space):
        raise InputError(
            f"space must be a Space, such as voronym.space.Euclidean(), not {type(space).__name__}"
        )
    rng = check_seed(seed)
    if chosen.univariate and points.shape[1] != 1:
        raise InputError(f"method {method!r} takes one column, X has {points.shape[1]}; try 'mdav' or 'auto'")
    check_options(chosen, options)
    if len(points) < 2 * k:
        return Partition(np.zeros(len(points), np.int64), k=k)
    part = chosen.function(
        points,
        k,
        space=Euclidean() if space is None else space,
        rng=rng,
        progress=silent if progress is None else progress,
        **options,
    )
    return part if part.k == k else Partition(part.labels, k=k)


def check_points(X: ArrayLike) -> NDArray[np.float64]:
    """Return X as an (n, d) float64 array in C order, or say what is wrong with it."""
    try:
        points = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "X must be numeric, with as many values in every row; encode other columns first"
        ) from None
    if points.ndim == 1:
        points = np.ascontiguousarray(points[:, None])
    if points.ndim != 2:
        raise InputError(f"X must have rows and columns; got {points.ndim} dimensions")
    if points.size == 0:
        raise InputError(f"X is empty: {points.shape[0]} rows, {points.shape[1]} columns")
    bad = ~np.isfinite(points)
    if bad.any():
        where = np.flatnonzero(bad.any(axis=0)).tolist()
        raise InputError(
            f"X has {int(bad.sum())} missing or infinite values, in columns {where}; "
            "fill or drop them, or use voronym.anonymize, which has a rule for missing values"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(np.square(points - points[0]).sum()):
            raise InputError("the values in X are too large to square; standardize the columns first")
    return points


def check_k(k: object, n: int) -> int:
    """Return k as an int between 2 and n, or say why it cannot be."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise InputError(f"k must be a whole number, not {k!r}")
    k = int(k)
    if k < 2:
        raise InputError(f"k={k} hides nobody: k must be 2 or more")
    if k > n:
        raise InputError(f"k={k} is more than the {n} records there are: no cell can have that many")
    return k


def check_options(chosen: registry.Algorithm | Mask, options: Mapping[str, object]) -> None:
    """Refuse options that the method does not have."""
    unknown = sorted(set(options) - set(chosen.options))
    if unknown:
        known = ", ".join(chosen.options) or "none"
        said = ", ".join(map(repr, unknown))
        raise InputError(f"method {chosen.name!r} has no option {said}; it has: {known}")


def check_seed(seed: object) -> np.random.Generator:
    """Return a generator from a seed, or say what a seed is."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"a seed is a whole number, 0 or more, not {seed!r}")
    return np.random.default_rng(int(seed))
