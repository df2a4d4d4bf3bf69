"""Mahalanobis space: squared distance under a matrix, and the mean."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError
from voronym.partition import group_means
from voronym.space.base import Space, square_distances


class Mahalanobis(Space):
    """The squared distance ``(x - y)ᵀ M (x - y)`` under a positive definite M. Its centroid is the mean.

    It is the squared Euclidean distance after the linear map ``x -> Lᵀ x`` with ``M = L Lᵀ``. So the same
    proofs hold: the mean is the exact minimiser for every M, and the cells of a quantizer are convex.

    Parameters
    ----------
    matrix : array, shape (d, d)
        M, symmetric and positive definite: the inverse of a covariance, or weights on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> space = Mahalanobis([[4.0, 0.0], [0.0, 1.0]])
    >>> space.cost(np.array([[1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 3.0]])).tolist()
    [[4.0, 9.0]]
    """

    name = "mahalanobis"
    quadratic: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    def __init__(self, matrix: ArrayLike) -> None:
        given = _numbers("the matrix", matrix)
        if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
            raise InputError(f"the matrix must be square, one row for each column; got shape {given.shape}")
        if not np.isfinite(given).all():
            raise InputError("the matrix has missing or infinite values")
        if not np.allclose(given, given.T, rtol=1e-9, atol=0.0):
            raise InputError("the matrix must be symmetric")
        given = (given + given.T) / 2
        try:
            factor = np.linalg.cholesky(given)
        except np.linalg.LinAlgError:
            raise InputError(
                "the matrix must be positive definite; drop columns that others determine"
            ) from None
        given.flags.writeable = factor.flags.writeable = False
        self.matrix: NDArray[np.float64] = np.asarray(given, np.float64)
        self._factor: NDArray[np.float64] = np.asarray(factor, np.float64)

    @classmethod
    def from_data(cls, X: ArrayLike) -> Mahalanobis:
        """Return the space of the inverse covariance of the rows: correlated columns count once.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).standard_normal((9, 2))
        >>> space = Mahalanobis.from_data(X)
        >>> round(float(space.cost(X, X.mean(axis=0, keepdims=True)).mean()), 9)  # d, whatever the data
        2.0
        """
        points = _numbers("X", X)
        if points.ndim != 2 or len(points) <= points.shape[1] or not np.isfinite(points).all():
            raise InputError(
                f"a covariance needs finite numbers and more rows than columns; got shape {points.shape}"
            )
        covariance = np.atleast_2d(np.cov(points.T, bias=True))
        deviations = np.sqrt(np.diag(covariance))
        constant = np.flatnonzero(deviations == 0).tolist()
        if constant:
            raise InputError(f"columns {constant} are constant, so the covariance has no inverse; drop them")
        # By correlations: whether the matrix is singular must not depend on the columns' units.
        correlation = covariance / np.outer(deviations, deviations)
        if np.linalg.eigvalsh(correlation)[0] < 1e-10:
            raise InputError("some columns determine another, so the covariance has no inverse; drop them")
        inverse = np.linalg.inv(correlation) / np.outer(deviations, deviations)
        return cls((inverse + inverse.T) / 2)

    def cost(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the squared distances, shape (len(X), len(Y))."""
        return square_distances(self.coordinates(X), self.coordinates(Y))

    def centroid(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the rows."""
        return np.asarray(X.mean(axis=0))

    def weighted_centroid(self, X: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted mean of the rows."""
        return np.asarray(weights @ X / weights.sum())

    def centroids(self, X: NDArray[np.float64], labels: NDArray[np.int64], cells: int) -> NDArray[np.float64]:
        """Return the mean of each cell."""
        return group_means(X, labels, cells)

    def parameters(self) -> dict[str, object]:
        """Return the data that rebuild the space, as JSON types."""
        return {"matrix": self.matrix.tolist()}

    def coordinates(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points after the linear map to Euclidean distances."""
        # Not by matrix product: its last bits depend on the number of rows, and equal points must stay equal.
        d = len(self.matrix)
        if X.shape[1] != d:
            raise InputError(f"the matrix is for {d} columns, there are {X.shape[1]}")
        out = np.zeros((len(X), d))
        for j in range(d):
            for i in range(j + 1):
                if self._factor[j, i] != 0.0:
                    out[:, i] += X[:, j] * self._factor[j, i]
        return out

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.name, self.matrix.shape))

    def __repr__(self) -> str:
        return f"Mahalanobis(matrix of {len(self.matrix)} columns)"


def _numbers(what: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as numbers in a new array; numeric texts are refused."""
    try:
        if np.asarray(values).dtype.kind in "US":
            raise TypeError
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be finite numbers, in rows of equal length") from None
