"""Values that are permuted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.core import later
from voronym.errors import InputError
from voronym.steps import numbers, picked
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.table.table import Table

special = later.module("scipy.special")


@step("shuffle", guarantee="the column has the same values, in other rows", random=True)
@dataclass(frozen=True)
class Shuffle(ColumnStep):
    """Permute the values of a column: at random, or so that its relation to other columns stays.

    Notes
    -----
    With ``about``, ranks become normal scores. The scores of the column are redrawn from their regression
    on the others, and the values are assigned in the order of the drawn scores. So the column keeps its
    values and its rank correlations with the others; a record's own value matters only through the
    regression.

    References
    ----------
    K. Muralidhar, R. Sarathy: Data shuffling: a new masking approach for numerical data, Management Science
    52(5) (2006).
    """

    about: tuple[str, ...] = list_option("columns whose relation to the values is kept")

    def asks(self) -> tuple[str, ...]:
        """Return the columns that it reads."""
        return self.about

    def check(self) -> None:
        """Refuse a column as its own companion."""
        if set(self.about) & set(self.columns):
            raise InputError(f"step '{self}': a column cannot be shuffled about itself")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns shuffled."""
        made = {}
        for name in self.columns:
            rows = np.flatnonzero(~table.missing(name))
            if not self.about:
                dealt = rng.permutation(rows)
            else:
                if table.schema[name].kind != "ordinal":
                    numbers.check_line(table, name, self)
                codes = table.codes(name)[rows]
                drawn = _drawn(_scores(codes), _regressors(table, self.about, rows), rng)
                dealt = np.empty_like(rows)
                dealt[np.argsort(drawn)] = rows[np.lexsort((rng.random(len(rows)), codes))]
            places = np.arange(table.n)
            places[rows] = dealt
            made[name] = picked.of_rows(table, name, places)
        return made

    def says(self) -> str:
        """Describe the step."""
        along = f", along with {', '.join(self.about)}" if self.about else ""
        return f"{', '.join(self.columns)}: values permuted{along}"


def _scores(codes: np.ndarray) -> np.ndarray:
    """Return the normal scores of ranks; equal values share one."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2.0  # the mean rank of each value
    return np.asarray(special.ndtri(middle[inverse] / (len(codes) + 1.0)))


def _regressors(table: Table, names: tuple[str, ...], rows: np.ndarray) -> np.ndarray:
    """Return scores of ordered columns, and an indicator column for each value of the others."""
    out = [np.ones(len(rows))]
    for name in names:
        codes = table.codes(name)[rows]
        if table.schema[name].kind in ("numeric", "datetime", "ordinal"):
            out.append(_scores(codes))
        else:
            out += [(codes == code).astype(np.float64) for code in np.unique(codes)[1:50]]
    return np.column_stack(out)


def _drawn(y: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    fitted = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return np.asarray(fitted + rng.standard_normal(len(y)) * float(np.std(y - fitted)))
