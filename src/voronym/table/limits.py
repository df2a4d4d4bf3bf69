"""Ends of a column that may be published: the value of several people, or a round number for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def shared_limit(
    values: NDArray[np.float64],
    start: float,
    least: int,
    *,
    whole: bool,
    persons: NDArray[np.int64] | None = None,
) -> float:
    """Return a limit at or below a value that does not identify a single person.

    It is the value itself if enough people have it; otherwise the roundest number with enough people
    between it and the value, and at most twice as many.

    Parameters
    ----------
    values : array, shape (n,)
        The column.
    start : float
        Somebody's value, at which the limit is wanted.
    least : int
        Smallest number of people behind a limit.
    whole : bool
        Whether values are whole numbers.
    persons : array of int, optional
        The person of each value; by default all differ.

    Examples
    --------
    >>> incomes = np.array([1210.0, 1280.0, 1340.0, 1390.0, 1460.0, 1530.0, 2980.0])
    >>> shared_limit(incomes, 2980.0, 2, whole=False), shared_limit(incomes, 2980.0, 3, whole=False)
    (1500.0, 1400.0)
    """
    persons = np.arange(len(values)) if persons is None else persons
    if len(np.unique(persons[values == start])) >= least:
        return start
    near = _of_people(values[values <= start], persons[values <= start])
    first = float(near[min(least, len(near)) - 1])
    last = float(near[2 * least - 1]) if len(near) >= 2 * least else -np.inf
    for width in _round_steps(float(np.ptp(values)), whole=whole):
        low = float(np.floor(first / width) * width)
        if low >= last and (len(near) >= 2 * least or first - low <= float(np.ptp(values))):
            return low
    return float(np.floor(first)) if whole else first


def _of_people(values: NDArray[np.float64], persons: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest value of each person, from the largest on."""
    order = np.argsort(-values, kind="stable")
    _, first = np.unique(persons[order], return_index=True)
    return np.asarray(values[order][np.sort(first)])


def _round_steps(span: float, *, whole: bool) -> Iterator[float]:
    """Yield round numbers from coarse to fine, as needed for a column of this span."""
    first = int(np.floor(np.log10(max(span, 1e-300))))
    for power in range(first, max(first - 9, 0) - 1 if whole else first - 9, -1):
        yield from (digit * 10.0**power for digit in (5.0, 2.0, 1.0))
