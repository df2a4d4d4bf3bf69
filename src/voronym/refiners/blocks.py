"""A large partition cut into blocks of whole cells, so that work on each is independent of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cut(
    centroids: NDArray[np.float64], sizes: NDArray[np.int64], *, records: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Cut cells into blocks of neighbours, by halving along random directions.

    Parameters
    ----------
    centroids, sizes : arrays, shapes (m, d) and (m,)
        The cells.
    records : int
        The most records a block should have; a block of one cell may have more.
    rng : Generator
        Draws the directions: another cut has other borders, so that no pair of cells is kept apart for ever.

    Returns
    -------
    list of arrays
        The cells of each block; every cell is in exactly one.
    """
    waiting, done = [np.arange(len(sizes))], []
    while waiting:
        block = waiting.pop()
        if len(block) < 2 or sizes[block].sum() <= records:
            done.append(np.sort(block))
            continue
        points = centroids[block]
        # Along the spread: a direction in which the block is flat would cut it into thin slices.
        direction = rng.standard_normal(points.shape[1]) * np.square(points.std(axis=0) + 1e-300)
        order = np.argsort(points @ direction, kind="stable")
        waiting += [block[order[: len(block) // 2]], block[order[len(block) // 2 :]]]
    return done


def neighbours(X: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return, for each record, a representative of each of its nearest distinct points, shape (n, count).

    Equal records count once: else the neighbours of one in a crowd of equals would all be that crowd.
    """
    from scipy.spatial import cKDTree  # takes a while to load

    points, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    m = len(points)
    if m == 1:
        return np.zeros((len(X), 1), np.int64)
    count = min(count, m - 1)
    near = cKDTree(points).query(points, count + 1)[1]
    others = near != np.arange(m)[:, None]
    others[others.all(axis=1), -1] = False  # the point itself came beyond the last: drop that one
    return np.ascontiguousarray(first[near[others].reshape(m, count)][inverse])
