"""Sums of squares by column, in blocks of rows: large tables are never copied whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROWS = 65_536


def spread(X: Array) -> Array:
    """Return the sum of squared distances to the mean in each column, shape (d,).

    Examples
    --------
    >>> spread(np.array([[0.0, 1.0], [2.0, 1.0]])).tolist()
    [2.0, 0.0]
    """
    return error(X, X.mean(axis=0)[None], np.zeros(len(X), np.int64))


def error(X: Array, Y: Array, rows: NDArray[np.int64] | None = None) -> Array:
    """Return the squared difference between rows of X and of Y, summed for each column, shape (d,).

    Parameters
    ----------
    X : array, shape (n, d)
        Points.
    Y : array, shape (m, d)
        Other points.
    rows : array of int, shape (n,), optional
        The row of Y that belongs to each row of X; by default they stand side by side.

    Examples
    --------
    >>> error(np.array([[1.0], [2.0], [5.0]]), np.array([[1.5], [5.0]]), np.array([0, 0, 1])).tolist()
    [0.5]
    """
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), _ROWS):
        block = slice(start, start + _ROWS)
        difference = X[block] - (Y[block] if rows is None else Y[rows[block]])
        total += np.einsum("ij,ij->j", difference, difference)
    return total


def apart(X: Array, Y: Array, rows: NDArray[np.int64]) -> Array:
    """Return the squared distance between each row of X and its row of Y, shape (n,).

    Examples
    --------
    >>> apart(np.array([[1.0], [2.0]]), np.array([[5.0], [1.5]]), np.array([1, 0])).tolist()
    [0.25, 9.0]
    """
    far = np.empty(len(X))
    for start in range(0, len(X), _ROWS):
        block = slice(start, start + _ROWS)
        difference = X[block] - Y[rows[block]]
        far[block] = np.einsum("ij,ij->i", difference, difference)
    return far


def scatter(X: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the mean of the rows, and the sum of outer products of deviations from it.

    Parameters
    ----------
    X : array, shape (n, d)
        Points.
    weights : array, shape (n,), optional
        Weight of each row; 1 by default.

    Examples
    --------
    >>> mean, products = scatter(np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> mean.tolist(), products.tolist()
    ([1.0, 1.0], [[2.0, 0.0], [0.0, 0.0]])
    """
    mean = X.mean(axis=0) if weights is None else weights @ X / weights.sum()
    total = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), _ROWS):
        block = slice(start, start + _ROWS)
        centred = X[block] - mean
        total += centred.T @ (centred if weights is None else centred * weights[block, None])
    return mean, total


def along(X: Array, direction: Array) -> Array:
    """Return the coordinate of each row of X along a direction, shape (n,).

    The result has the same bits for any number of threads. ``X @ direction`` has not: BLAS divides rows
    among its threads, which changes the rounding, and so the order of records with equal coordinates.

    Examples
    --------
    >>> along(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.5])).tolist()
    [2.0, 5.0]
    """
    return np.asarray(np.einsum("ij,j->i", X, direction, optimize=False))
