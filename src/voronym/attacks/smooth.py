"""Estimate numbers from one column, by means over neighbouring values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.attacks.scene import Floats, Ints

REACHES = (0, 1, 2, 4, 10, 30, 100)
"""Numbers of neighbouring values on either side to average over; the best is chosen."""


@dataclass(frozen=True, eq=False)
class Smoother:
    """Estimates from one column.

    ``left_out`` has, for each training record, the estimate of a model without this record. ``guesses``
    has the estimate for each training value, and ``place`` the training value of every row.
    """

    left_out: Floats
    guesses: Floats
    place: Ints

    @classmethod
    def fit(cls, column: tuple[Floats, bool], rows: Ints, truth: Floats) -> Smoother:
        """Learn from the rows with known keys.

        Parameters
        ----------
        column : array of shape (m,), bool
            The column as numbers, and whether their order means something.
        rows : array of int, shape (t,)
            The rows that are known.
        truth : array, shape (t, d)
            The numbers to estimate.
        """
        values, ordered = column
        levels, place = np.unique(values[rows], return_inverse=True)
        place = place.reshape(-1)
        count = np.bincount(place, minlength=len(levels))
        sums = np.column_stack([np.bincount(place, item, len(levels)) for item in truth.T]).astype(np.float64)
        mean = truth.mean(axis=0)
        best, reaches = np.full(truth.shape[1], np.inf), np.zeros(truth.shape[1], np.int64)
        left_out, guesses = np.tile(mean, (len(rows), 1)), np.tile(mean, (2 * len(levels) + 1, 1))
        for reach in REACHES if ordered else (0,):
            if reach > max(1, len(levels) // 2):
                break
            guess = _means(count, sums, place - reach, place + reach + 1, mean, truth)
            error = ((truth - guess) ** 2).sum(axis=0)
            better = error < best
            best, reaches = np.where(better, error, best), np.where(better, reach, reaches)
            left_out[:, better] = guess[:, better]
        at, inside = np.divmod(np.arange(len(guesses)), 2)  # before this level, or at it
        for reach in np.unique(reaches):
            chosen = reaches == reach
            first, last = at - reach, at + reach + inside  # between two values: equal numbers on either side
            guesses[:, chosen] = _means(count, sums[:, chosen], first, last, mean[chosen], None)
        spots = np.searchsorted(levels, values) + np.searchsorted(levels, values, "right")
        return cls(left_out, guesses, spots)


def _means(count: Ints, sums: Floats, first: Ints, last: Ints, mean: Floats, own: Floats | None) -> Floats:
    """Return means over ranges of levels, shrunk as if one more record had the overall mean."""
    counts = np.concatenate([[0.0], np.cumsum(count)])
    totals = np.vstack([np.zeros(sums.shape[1]), np.cumsum(sums, axis=0)])
    low, high = np.clip(first, 0, len(count)), np.clip(last, 0, len(count))
    n, total = counts[high] - counts[low], totals[high] - totals[low]
    if own is not None:
        n, total = n - 1, total - own
    few = 0.05
    return np.asarray((total + few * mean) / (n + few)[:, None])
