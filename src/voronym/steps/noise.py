"""Noise on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voronym.core.options import number, option, yes_or_no
from voronym.errors import InputError
from voronym.steps import numbers
from voronym.steps.base import ColumnStep, Made, step
from voronym.table.table import Table


@step("noise", guarantee="normal noise of the given size on every value", main="size", random=True)
@dataclass(frozen=True)
class Noise(ColumnStep):
    """Add normal noise to numbers, column by column or with the columns' covariance.

    Notes
    -----
    Noise of a share s of the standard deviation makes variances 1 + s² times as large. With ``moments=true``
    the sum is shrunk towards the mean by ``1 / sqrt(1 + s²)``, so that means and variances are kept in
    expectation; with ``together=true`` the noise has the columns' covariance, so that correlations are kept,
    too.

    References
    ----------
    J. J. Kim: A method for limiting disclosure in microdata based on random noise and transformation, ASA
    Proceedings of the Section on Survey Research Methods (1986).
    """

    size: float | None = option(None, "share of the column's standard deviation", check=number(above=0.0))
    together: bool = option(False, "whether the noise has the columns' covariance", check=yes_or_no)
    moments: bool = option(False, "whether means and variances are kept, in expectation", check=yes_or_no)

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with noise."""
        for name in self.columns:
            numbers.check_line(table, name, self)
        read = {name: numbers.read(table, name) for name in self.columns}
        X = np.column_stack([values for values, _ in read.values()])
        gone = np.column_stack([absent for _, absent in read.values()])
        size = float(self.size)  # type: ignore[arg-type]
        drawn = rng.standard_normal(X.shape) * _spread(X, gone)
        if self.together and len(self.columns) > 1:
            drawn = rng.standard_normal(X.shape) @ _root(X, gone, self)
        made = X + size * drawn
        if self.moments:
            mean = np.array(
                [X[~gone[:, j], j].mean() if (~gone[:, j]).any() else 0.0 for j in range(X.shape[1])]
            )
            made = mean + (made - mean) / np.sqrt(1.0 + size**2)
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.columns):
            columns[name] = numbers.write(table, name, made[:, j], gone[:, j])
        return columns

    def says(self) -> str:
        """Describe the step."""
        how = ", with the columns' covariance" if self.together else ""
        return f"{', '.join(self.columns)}: noise of {self.size:g} standard deviations{how}"


def _spread(X: Any, gone: Any) -> Any:
    return np.array([X[~gone[:, j], j].std() if (~gone[:, j]).any() else 0.0 for j in range(X.shape[1])])


def _root(X: Any, gone: Any, step: Noise) -> Any:
    """Return A with A'A the covariance of the columns, over the rows without gaps."""
    whole = X[~gone.any(axis=1)]
    if len(whole) < 2:
        raise InputError(f"step '{step}': fewer than 2 rows have a value in all of these columns")
    values, vectors = np.linalg.eigh(np.cov(whole, rowvar=False, ddof=0))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
