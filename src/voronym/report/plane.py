"""Records in the plane: their first two principal axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

Floats = NDArray[np.float64]
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Plane:
    """Points on their principal axes, the share of the variance on each and what to call them."""

    points: Floats
    shares: tuple[float, float]
    axes: tuple[str, str]
    origin: Floats
    directions: Floats

    def project(self, X: Floats) -> Floats:
        """Return other points on the same axes, shape (m, 2)."""
        flat = (X - self.origin) @ self.directions
        return np.column_stack([flat, _scatter(len(X))]) if flat.shape[1] == 1 else flat


def principal_axes(X: Floats) -> Plane:
    """Project points onto the two directions along which they vary most.

    One column has a single axis; its points are spread over the second so that they can be told apart.
    Signs are fixed (the largest weight of a direction is positive), so a figure does not flip between runs.

    Examples
    --------
    >>> import numpy as np
    >>> flat = principal_axes(np.array([[0.0, 0.0], [3.0, 0.1], [6.0, 0.0]]))
    >>> flat.shares[0] > 0.99
    True
    """
    origin = X.mean(axis=0)
    centred = X - origin
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
    order = np.argsort(values)[::-1][:2]
    directions = vectors[:, order]
    signs = np.sign(directions[np.argmax(np.abs(directions), axis=0), np.arange(directions.shape[1])])
    directions = directions * np.where(signs == 0, 1.0, signs)
    total = float(values.sum())
    shares = [max(float(values[i]), 0.0) / total if total > 0 else 0.0 for i in order]
    flat = centred @ directions
    if flat.shape[1] == 1:
        points = np.column_stack([flat, _scatter(len(X))])
        return Plane(points, (shares[0], 0.0), ("the key", "spread out to be seen"), origin, directions)
    axes = (f"first axis ({100 * shares[0]:.0f} %)", f"second axis ({100 * shares[1]:.0f} %)")
    return Plane(flat, (shares[0], shares[1]), axes, origin, directions)


def heaviest(flat: Plane, blocks: Sequence[tuple[str, int, int]], axis: int, most: int = 3) -> list[str]:
    """Return the columns that weigh most on an axis; ``blocks`` are (name, start, stop) in X."""
    weight = {n: float(np.square(flat.directions[a:b, axis]).sum()) for n, a, b in blocks}
    ranked = sorted(weight, key=lambda name: -weight[name])
    return [name for name in ranked[:most] if weight[name] >= 0.1]


def sample_cells(labels: NDArray[np.int64], n_cells: int, most: int, seed: int = 0) -> NDArray[np.int64]:
    """Draw whole cells at random until about ``most`` records are in; return the cells, ascending."""
    sizes = np.bincount(labels, minlength=n_cells)
    if sizes.sum() <= most:
        return np.arange(n_cells)
    order = np.random.default_rng(seed).permutation(n_cells)
    fits = max(1, int(np.searchsorted(np.cumsum(sizes[order]), most, side="right")))
    return np.sort(order[:fits])


def cell_colours(middle: NDArray[np.float64], shown: NDArray[np.int64]) -> dict[int, int]:
    """Give neighbouring cells different tints: each takes one that its nearest coloured neighbours lack."""
    colours: dict[int, int] = {}
    for cell in shown:
        near = [int(c) for c in shown if int(c) in colours]
        if len(shown) > 1500 or not near:
            colours[int(cell)] = int(cell) % 8
            continue
        distance = np.square(middle[near] - middle[cell]).sum(axis=1)
        taken = [colours[near[i]] for i in np.argsort(distance, kind="stable")[:7]]
        colours[int(cell)] = next((c for c in range(8) if c not in taken), int(cell) % 8)
    return colours


def hull(points: Floats) -> Floats:
    """Return the corners of the convex hull of points, shape (c, 2); of points on a line, its two ends.

    Examples
    --------
    >>> import numpy as np
    >>> len(hull(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]])))
    3
    """
    distinct = np.unique(points, axis=0)
    if len(distinct) < 3:
        return distinct if len(distinct) == 2 else distinct[:0]
    try:
        return np.asarray(distinct[ConvexHull(distinct).vertices])
    except QhullError:
        return distinct[[0, -1]]  # sorted by np.unique, so these are the ends


def _scatter(n: int) -> Floats:
    return np.asarray((np.arange(n) * _GOLDEN) % 1.0, dtype=np.float64)
