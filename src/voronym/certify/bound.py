"""A proven lower bound, and the rounding that keeps it true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.partition import Partition

UNIT = 2.0**-53
"""Largest relative error of one rounded operation."""

SLACK = 2048
"""Number of rounded operations by which every bound is lowered, in addition to those that grow with k and d:
see `shave`.
"""


def shave(value: float, *, operations: int = 0) -> float:
    """Return a non-negative sum, lowered by more than rounding can have raised it.

    Every quantity here is a sum of non-negative terms: squares of differences. A difference, a square, a
    product and each level of a sum have a relative error of at most 2^-53, and errors of non-negative
    terms do not amplify each other. So the result of t consecutive operations is at most ``(1 +
    2^-53)^t`` times the true one. ``operations`` is the number that grows with the data (columns, group
    size). 2048 more are subtracted for the rest: levels of sums, depth of a tree, square roots. Squares
    below the range of normal numbers are the exception; 1e-300 exceeds all of them together.
    """
    return max(0.0, value * (1.0 - (operations + SLACK) * UNIT) - 1e-300)


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the SSE of every partition into groups of k or more.

    Guarantee: true, never an estimate; rounding is accounted for.

    Parameters
    ----------
    sse : float
        The bound on the sum of squares.
    information_loss : float
        The same in percent: ``100 * sse / SST``.
    k, n : int
        Least size of a group; number of records.
    kind : str
        Kind of proof: "neighbours", "local", "columns" or "exact".
    optimal : bool
        Whether ``partition`` attains the bound: no partition is better, up to rounding, or up to some
        ten-thousandths if an integer programme ended the proof.
    seconds : float
        Time taken.
    partition : Partition, optional
        The best partition that the proof found.

    Examples
    --------
    >>> import voronym as vr
    >>> from voronym.certify import lower_bound
    >>> bound = lower_bound([0.0, 1.0, 5.0, 6.0], 2)
    >>> round(bound.sse, 6), bound.optimal
    (1.0, True)
    >>> round(bound.gap(1.5), 3)
    50.0
    """

    sse: float
    information_loss: float
    k: int
    n: int
    kind: str
    optimal: bool = False
    seconds: float = 0.0
    partition: Partition | None = None

    def gap(self, sse: float) -> float:
        """Return an upper limit on a partition's SSE above the bound, in percent: 100 (sse - bound) / bound.

        0 if both are 0; infinite if only the bound is 0.
        """
        if not sse >= 0.0:
            raise InputError("a sum of squares is not negative")
        if sse < self.sse * (1.0 - 1e-9):
            raise InputError(
                "this sum of squares is below the bound: it is of other records or of smaller groups"
            )
        if self.sse > 0.0:
            return max(0.0, 100.0 * (sse - self.sse) / self.sse)
        return 0.0 if sse == 0.0 else float("inf")

    def __str__(self) -> str:
        proof = "optimal" if self.optimal else f"proven by {self.kind}"
        return f"no partition loses less than {self.information_loss:.4f} % ({proof}, {self.seconds:.1f} s)"


def total_squares(X: NDArray[np.float64]) -> float:
    """Return SST, the sum of squared distances to the mean; exactly 0 if all records are equal."""
    if not np.ptp(X, axis=0).any():
        return 0.0
    return float(np.square(X - X.mean(axis=0)).sum())


def percent(X: NDArray[np.float64], sse: float) -> float:
    """Return a bound on the SSE as information loss in percent, rounded down."""
    total = total_squares(X)
    return shave(100.0 * sse / total) if total > 0.0 else 0.0
