"""Information loss, and its scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.validate import checked
from voronym.partition import Partition
from voronym.problem import check_points


@checked
def standardize(X: ArrayLike) -> NDArray[np.float64]:
    """Return the columns with mean 0 and (population) variance 1; constant columns become 0.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Finite numbers.

    Returns
    -------
    array, shape (n, d)

    Examples
    --------
    >>> import voronym as vr
    >>> vr.standardize([[1.0, 5.0], [3.0, 5.0]]).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    points = check_points(X)
    centred = points - points.mean(axis=0)
    centred[:, np.ptp(points, axis=0) == 0.0] = 0.0
    # Divide by the largest magnitude first: squares of very large or very small values leave the range.
    largest = np.abs(centred).max(axis=0)
    centred /= np.where(largest > 0.0, largest, 1.0)
    centred -= centred.mean(axis=0)
    spread = np.sqrt(np.square(centred).mean(axis=0))
    return np.ascontiguousarray(centred / np.where(spread > 0.0, spread, 1.0) + 0.0)


@checked
def information_loss(X: ArrayLike, part: Partition) -> float:
    """Return the information lost by publishing cell means, in percent: ``100 * SSE / SST``.

    SSE is the sum of squared distances of the records to the mean of their cell, SST that to the mean of all.
    If all records are equal, the loss is 0.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The records, on the scale the loss should be measured on: `standardize` them for published figures.
    part : Partition
        Their cells.

    Examples
    --------
    >>> import voronym as vr
    >>> round(vr.information_loss([0.0, 2.0, 8.0, 10.0], vr.Partition([0, 0, 1, 1])), 2)
    5.88
    """
    points = check_points(X)
    total = float(np.square(points - points.mean(axis=0)).sum())
    if total == 0.0 or not np.ptp(points, axis=0).any():
        return 0.0
    return 100.0 * part.sse(points) / total
