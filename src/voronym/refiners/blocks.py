"""A large partition cut into blocks of whole cells, so that each can be worked on independently."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core.numerics import along


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
        order = np.argsort(along(points, direction), kind="stable")
        waiting += [block[order[: len(block) // 2]], block[order[len(block) // 2 :]]]
    return done
