"""The interface of a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError

Array = NDArray[np.float64]


class Space(ABC):
    """A cost between records, together with the centroid that minimises its sum over a cell.

    A new space derives from this class and has a name, `cost` and `centroid`. The rest has defaults that are
    right for any space; a space overrides them if it offers more. Methods check what a space offers, never
    its name.
    """

    quadratic: ClassVar[bool] = False
    """Whether the cost is a quadratic form of the difference. Then the mean is the centroid, and the border
    between two cells of a quantizer is a straight line. A centroid may overshoot the mean by less than its
    distance to it without raising the cost of its cell.
    """

    linear: ClassVar[bool] = False
    """Whether every point on the line between two points is a point of the space."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the space in files, tables and messages."""

    @abstractmethod
    def cost(self, X: Array, Y: Array) -> Array:
        """Return the costs between the rows of X and of Y, shape (len(X), len(Y))."""

    @abstractmethod
    def centroid(self, X: Array) -> Array:
        """Return the point, shape (d,), that minimises the summed cost to the rows of X."""

    def coordinates(self, X: Array) -> Array | None:  # noqa: ARG002 - for spaces that have them
        """Return points whose squared distances are the costs between the rows of X; None without such.

        Trees and kernels for squared distances use these coordinates.
        """
        return None

    def centroids(self, X: Array, labels: NDArray[np.int64], cells: int) -> Array:
        """Return the centroid of each cell, shape (cells, d); NaN for a cell without rows."""
        out = np.full((cells, X.shape[1]), np.nan)
        for cell, rows in members(labels, cells):
            out[cell] = self.centroid(X[rows])
        return out

    def weighted_centroid(self, X: Array, weights: Array) -> Array:  # noqa: ARG002 - for spaces that have it
        """Return the point that minimises the cost to the rows of X, each counted by its weight.

        Spaces without weighted centroids refuse: repeat rows instead.
        """
        raise InputError(
            f"the space {self.name!r} has no centroid of points with weights; repeat the points instead"
        )

    def paired(self, X: Array, Y: Array, labels: NDArray[np.int64]) -> Array:
        """Return the cost between each row of X and the row of Y with its label, shape (len(X),)."""
        out = np.empty(len(X))
        for cell, rows in members(labels, len(Y)):
            out[rows] = self.cost(X[rows], Y[cell : cell + 1])[:, 0]
        return out

    def parameters(self) -> dict[str, object]:
        """Return the data that rebuild the space, in addition to its name, as JSON types."""
        return {}


def members(labels: NDArray[np.int64], cells: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Return each non-empty cell with its rows, ascending."""
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(cells + 1))
    return [(q, order[edges[q] : edges[q + 1]]) for q in range(cells) if edges[q] < edges[q + 1]]


def square_distances(X: Array, Y: Array) -> Array:
    """Return squared distances, shape (len(X), len(Y)), by summed squares of differences.

    Not by the expansion with inner products: that loses digits, and equal points would not be at 0.
    """
    out, apart = np.zeros((len(X), len(Y))), np.empty((len(X), len(Y)))
    columns = np.ascontiguousarray(Y.T)  # read once for each row of X
    for j, column in enumerate(columns):
        np.subtract(X[:, j, None], column, out=apart)
        np.square(apart, out=apart)
        out += apart
    return out
