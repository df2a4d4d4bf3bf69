"""Weighted totals, means and quantiles before and after, the first figures that users of a survey compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import NUMBERS
from voronym.table.table import Table

Floats = NDArray[np.float64]
QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class WeightedChange:
    """A column of numbers with weights, before and after.

    Parameters
    ----------
    column : str
        The column.
    total, mean : tuple of float
        Before and after.
    quantiles : tuple of tuple of float
        Quartiles, before and after.
    error : float
        Standard error of the mean before, by the weights alone: a change below it is one that another sample
        of the same size would bring, too.
    """

    column: str
    total: tuple[float, float]
    mean: tuple[float, float]
    quantiles: tuple[tuple[float, float], ...]
    error: float

    @property
    def moved(self) -> float:
        """Movement of the mean in standard errors."""
        return abs(self.mean[1] - self.mean[0]) / self.error if self.error > 0.0 else 0.0


def weighted_changes(
    before: Table, after: Table, weights: tuple[Floats, Floats]
) -> tuple[WeightedChange, ...]:
    """Compare the numeric columns of two tables with the same rows, each with its weights."""
    out = []
    for name in before.columns:
        if name not in after.columns or before.form(name) not in NUMBERS or after.form(name) not in NUMBERS:
            continue
        pair = [_column(table, name) for table in (before, after)]
        if any(not (~gone).any() for _, gone in pair):
            continue
        sums = [
            float((w[~gone] * values[~gone]).sum()) for w, (values, gone) in zip(weights, pair, strict=True)
        ]
        mass = [float(w[~gone].sum()) for w, (_, gone) in zip(weights, pair, strict=True)]
        means = [total / all_of for total, all_of in zip(sums, mass, strict=True)]
        cuts = [_quantiles(values[~gone], w[~gone]) for w, (values, gone) in zip(weights, pair, strict=True)]
        values, gone = pair[0]
        own = weights[0][~gone]
        error = float(np.sqrt((np.square(own) * np.square(values[~gone] - means[0])).sum()) / own.sum())
        out.append(
            WeightedChange(
                name, (sums[0], sums[1]), (means[0], means[1]), tuple(zip(*cuts, strict=True)), error
            )
        )
    return tuple(out)


def _column(table: Table, name: str) -> tuple[Floats, NDArray[np.bool_]]:
    gone = table.missing(name)
    values = np.zeros(table.n)
    values[~gone] = table.numbers(name)
    return values, gone


def _quantiles(values: Floats, weights: Floats) -> list[float]:
    """Return the least values with at least these shares of the weight at or below them."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    return [float(values[order][np.searchsorted(mass, item * mass[-1])]) for item in QUANTILES]
