"""A function or a matrix of the user, checked before it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.space.metrics.base import Array, Geometry, check_levels, from_table, metric

BOTH_WAYS = 128
"""Up to this number of distinct values, a function is called for every pair in both orders; above it, for a
sample.
"""

_SAMPLE = 4096
_CLOSE = 1e-9  # relative: sums in another order may differ in the last digits


@checked
@metric("function")
@dataclass(frozen=True)
class Function:
    """A distance given as a function of two values.

    Its centroid is the value with the least sum of distances. The function is called once for every pair
    of distinct values. It is refused, by name, if it returns no finite number, a negative number, another
    number than 0 for a value and itself, or different numbers for the two orders. The orders are compared
    for all pairs of up to 128 distinct values, otherwise for 4096 pairs drawn with a fixed seed. The
    triangle inequality is not required: clusters compare all pairs.

    Parameters
    ----------
    function : callable
        ``(value, value) -> float``, at least 0.

    Examples
    --------
    >>> Function(lambda a, b: abs(len(a) - len(b))).geometry(["a", "bbb"], "word").table.tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """

    function: Callable[[Any, Any], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"a metric of your own is a function of two values, not {type(self.function).__name__}"
            )

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the distances between all values, or refuse the function."""
        values = list(values)
        check_levels(values, column, f"the metric {self.name!r}")
        n = len(values)
        table = np.zeros((n, n))
        for i in range(n):
            for j in range(i, n):
                table[i, j] = table[j, i] = self._call(values[i], values[j], column)
        if n <= BOTH_WAYS:
            pairs = [(i, j) for i in range(n) for j in range(i)]
        else:
            drawn = np.random.default_rng(0).integers(0, n, (_SAMPLE, 2))
            pairs = [(max(i, j), min(i, j)) for i, j in drawn.tolist() if i != j]
        other = table.copy()
        for i, j in pairs:  # the order that was not called above
            other[i, j] = self._call(values[i], values[j], column)
        _check(other, table, self.name, column, len(pairs))
        return from_table(table)

    def _call(self, a: Any, b: Any, column: str) -> float:
        try:
            return float(self.function(a, b))
        except Exception as error:  # its text may quote a value: only the type is passed on
            raise InputError(
                f"the metric {self.name!r} of column {column!r} failed on a pair of values: "
                f"{type(error).__name__}"
            ) from None


@metric("matrix")
@dataclass(frozen=True, eq=False)
class Matrix:
    """A distance given as a table of labels by labels.

    Its centroid is the label with the least sum of distances. A matrix is refused, by name, if it has
    negative, missing or infinite entries, a diagonal other than 0, or is not symmetric.

    Parameters
    ----------
    labels : sequence
        The values, in the order of the matrix.
    matrix : array, shape (labels, labels)
        Their distances.

    Examples
    --------
    >>> Matrix(["a", "b"], [[0, 3], [3, 0]]).geometry(["b", "a"], "grade").table.tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    """

    labels: Sequence[Any]
    matrix: ArrayLike
    name: str = "matrix"

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the part of the matrix that the column needs."""
        labels = [str(label) for label in self.labels]
        try:
            full = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the matrix of column {column!r} must hold numbers") from None
        if full.shape != (len(labels), len(labels)) or len(set(labels)) != len(labels):
            raise InputError(
                f"the matrix of column {column!r} needs a row and a column for each of {len(labels)} "
                f"different labels; it has shape {full.shape}"
            )
        _check(full, full.T, self.name, column, full.size)
        place = {label: i for i, label in enumerate(labels)}
        strange = sum(str(value) not in place for value in values)
        if strange:
            raise InputError(
                f"{strange} distinct values of column {column!r} are not among the labels of its matrix"
            )
        check_levels(values, column, "a matrix")
        at = np.array([place[str(value)] for value in values], dtype=np.int64)
        return from_table(full[np.ix_(at, at)] if len(at) else np.empty((0, 0)))


def _check(table: Array, other: Array, name: str, column: str, checked: int) -> None:
    """Refuse a function or matrix that is no distance, naming the metric and the column."""
    what = f"the metric {name!r} of column {column!r}"
    bad = int((~np.isfinite(table)).sum())
    if bad:
        raise InputError(
            f"{what} is NaN or infinite for {bad} pairs of values; a distance is a finite number"
        )
    negative = int((table < 0).sum())
    if negative:
        raise InputError(f"{what} is negative for {negative} pairs of values; a distance is 0 or more")
    if np.diagonal(table).any():
        count = int(np.count_nonzero(np.diagonal(table)))
        raise InputError(f"{what} is not 0 between a value and itself, for {count} of {len(table)} values")
    uneven = int((np.abs(table - other) > _CLOSE * np.maximum(np.abs(table), np.abs(other))).sum())
    if uneven:
        raise InputError(
            f"{what} is not symmetric: the two orders differ for {uneven} of {checked} pairs compared"
        )
