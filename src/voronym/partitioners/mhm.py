"""MHM: the best cut of a path through the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.partition import Partition
from voronym.partitioners._order import chain_cells, cut, nearest_next, outermost
from voronym.partitioners._run import check_space, share
from voronym.progress import Progress
from voronym.registry import algorithm
from voronym.space import Space

REFERENCE = "Domingo-Ferrer et al.: Efficient multivariate data-oriented microaggregation, 2006"


@algorithm(
    "npn-mhm",
    guarantee="every cell has k to 2k-1 records; no cut of the same path loses less",
    cost="O(n) searches in a k-d tree and O(n k) steps, O(n²) distances at worst; memory O(n d)",
    reference=REFERENCE,
    max_size=lambda k: 2 * k - 1,
)
def npn_mhm(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
    progress: Progress,
) -> Partition:
    """Go from each record to the nearest one not yet visited, then cut that path at the best places.

    The path begins at the record farthest from the mean of all; ties go to the lowest index. Cells are runs
    of the path of k to 2k-1 records; the best of them form a shortest path, as in `univariate`.

    References
    ----------
    J. Domingo-Ferrer, A. Martínez-Ballesté, J. M. Mateo-Sanz and F. Sebé, "Efficient multivariate
    data-oriented microaggregation", The VLDB Journal 15 (2006), 355-369.

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]]
    >>> vr.microaggregate(X, 2, method="npn-mhm").labels.tolist()
    [0, 0, 1, 1, 1, 2, 2]
    """
    check_space(space, "npn-mhm")
    order = nearest_next(X, outermost(X), share(progress, 0.0, 0.5))
    return cut(X, order, [k], share(progress, 0.5, 1.0))[k]


@algorithm(
    "mdav-mhm",
    guarantee="every cell has k to 2k-1 records; never a larger loss than mdav",
    cost="that of mdav, then O(n k) steps; memory O(n d)",
    reference=REFERENCE,
    max_size=lambda k: 2 * k - 1,
)
def mdav_mhm(
    X: NDArray[np.float64], k: int, *, space: Space, rng: np.random.Generator, progress: Progress
) -> Partition:
    """Chain the cells of MDAV to a path, then cut that path at the best places.

    The path begins at the record farthest from the mean of all, in its cell. From a cell it goes on to the
    one with the nearest centroid not yet visited; inside a cell, entered at the record nearest to the one
    left last, always to the nearest record. The cells of MDAV are runs of this path, so the best cut loses no
    more than they do.

    References
    ----------
    J. Domingo-Ferrer, A. Martínez-Ballesté, J. M. Mateo-Sanz and F. Sebé, "Efficient multivariate
    data-oriented microaggregation", The VLDB Journal 15 (2006), 355-369.

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]]
    >>> vr.microaggregate(X, 2, method="mdav-mhm").labels.tolist()
    [0, 0, 1, 1, 1, 2, 2]
    """
    return _recut("mdav", X, k, space, rng, progress)


@algorithm(
    "md-mhm",
    guarantee="every cell has k to 2k-1 records; never a larger loss than md",
    cost="that of md, then O(n k) steps; memory O(n d)",
    reference=REFERENCE,
    max_size=lambda k: 2 * k - 1,
)
def md_mhm(
    X: NDArray[np.float64], k: int, *, space: Space, rng: np.random.Generator, progress: Progress
) -> Partition:
    """Chain the cells of MD to a path, then cut that path at the best places.

    As `mdav_mhm`, from the cells of `md`.

    References
    ----------
    J. Domingo-Ferrer, A. Martínez-Ballesté, J. M. Mateo-Sanz and F. Sebé, "Efficient multivariate
    data-oriented microaggregation", The VLDB Journal 15 (2006), 355-369.

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]]
    >>> vr.microaggregate(X, 2, method="md-mhm").labels.tolist()
    [0, 0, 1, 1, 1, 2, 2]
    """
    return _recut("md", X, k, space, rng, progress)


def _recut(
    base: str, X: NDArray[np.float64], k: int, space: Space, rng: np.random.Generator, progress: Progress
) -> Partition:
    """Return the best cut of the chained cells of another method."""
    check_space(space, f"{base}-mhm")
    part = registry.get(base).function(X, k, space=space, rng=rng, progress=share(progress, 0.0, 0.8))
    order = chain_cells(X, part, share(progress, 0.8, 0.9))
    again = cut(X, order, [k], share(progress, 0.9, 1.0))[k]
    return min((part, again), key=lambda p: p.sse(X))  # rounding may favour what was given
