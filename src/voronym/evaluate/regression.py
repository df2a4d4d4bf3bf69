"""Weighted regressions before and after: find coefficients that move by more than their standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import NUMBERS
from voronym.table.table import Table

Floats = NDArray[np.float64]
TARGETS = 12
"""Largest number of columns that are regressed on the keys."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression, before and after.

    Parameters
    ----------
    name : str
        The key; ``(constant)`` for the constant.
    before, after : float
        The coefficient.
    error : float
        Its standard error before.
    """

    name: str
    before: float
    after: float
    error: float

    @property
    def moved(self) -> float:
        """Movement in standard errors."""
        return abs(self.after - self.before) / self.error if self.error > 0.0 else 0.0


@dataclass(frozen=True)
class Regression:
    """A weighted linear regression of a column on the keys that are numbers, before and after.

    Parameters
    ----------
    target : str
        The column; of one with two categories, the share of the second.
    coefficients : tuple of Coefficient
        The constant first.
    """

    target: str
    coefficients: tuple[Coefficient, ...]

    @property
    def far(self) -> tuple[str, ...]:
        """The coefficients that moved by more than their standard error."""
        return tuple(coefficient.name for coefficient in self.coefficients if coefficient.moved > 1.0)


def weighted_fit(X: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of a weighted least squares fit with a constant, and their standard errors.

    The errors are those of survey sampling (the sandwich of Huber and White), and do not assume residuals
    of equal variance. A column that other columns determine gets the smallest possible coefficient, and a
    large error.

    Examples
    --------
    >>> beta, _ = weighted_fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), np.ones(3))
    >>> beta.round(6).tolist()
    [1.0, 2.0]
    """
    middle, scale = np.average(X, axis=0, weights=weights), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    Z = np.column_stack([np.ones(len(X)), (X - middle) / scale])
    bread = np.linalg.pinv((Z * weights[:, None]).T @ Z)
    beta = bread @ (Z.T @ (weights * y))
    scores = Z * (weights * (y - Z @ beta))[:, None]
    spread = bread @ (scores.T @ scores) @ bread
    back = np.zeros((len(beta), len(beta)))  # from standardised columns to the given ones
    back[0, 0], back[0, 1:] = 1.0, -middle / scale
    back[np.arange(1, len(beta)), np.arange(1, len(beta))] = 1.0 / scale
    return back @ beta, np.sqrt(np.maximum(np.diag(back @ spread @ back.T), 0.0))


def regressions(
    before: Table, after: Table, weights: tuple[Floats, Floats], without: str
) -> tuple[Regression, ...]:
    """Regress each numeric column that is no key, and each column of two categories, on the numeric keys.

    Parameters
    ----------
    before, after : Table
        The same rows: originals, and as published.
    weights : tuple of arrays
        Theirs.
    without : str
        The column of weights.
    """
    keys = [name for name in before.keys if all(item.form(name) in NUMBERS for item in (before, after))]
    if not keys:
        return ()
    out: list[Regression] = []
    for name in before.columns:
        if name in before.keys or name == without or name not in after.columns or len(out) == TARGETS:
            continue
        if before.form(name) not in NUMBERS and before.levels(name) != after.levels(name):
            continue
        old = _fit(before, keys, name, weights[0])
        new = _fit(after, keys, name, weights[1])
        if old is not None and new is not None:
            rows = zip(("(constant)", *keys), old[0], new[0], old[1], strict=True)
            out.append(Regression(name, tuple(Coefficient(entry, *map(float, row)) for entry, *row in rows)))
    return tuple(out)


def _target(table: Table, name: str) -> Floats | None:
    """Return a column as numbers, NaN if missing; None if it is neither numeric nor has two levels."""
    gone = table.missing(name)
    out = np.full(table.n, np.nan)
    if table.form(name) in NUMBERS:
        out[~gone] = table.numbers(name)
    elif len(table.levels(name)) == 2:
        out[~gone] = table.codes(name)[~gone]
    else:
        return None
    return out


def _fit(table: Table, keys: list[str], target: str, weights: Floats) -> tuple[Floats, Floats] | None:
    y = _target(table, target)
    if y is None:
        return None
    X = np.full((table.n, len(keys)), np.nan)
    for c, name in enumerate(keys):
        X[~table.missing(name), c] = table.numbers(name)
    whole = ~(np.isnan(X).any(axis=1) | np.isnan(y))
    if whole.sum() < len(keys) + 2 or np.ptp(y[whole]) == 0.0:
        return None
    return weighted_fit(X[whole], y[whole], weights[whole])
