"""Changes of single columns, and of their correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.evaluate.pair import Codes, codes, numbers, scaled
from voronym.generalize.sets import ValueSets
from voronym.table.schema import Column

Floats = NDArray[np.float64]

BLOCK = 65_536
"""Number of rows whose products are summed at a time."""
QUANTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class ColumnChange(Plain):
    """Figures of a column before and after; None where a figure does not apply to its kind.

    Parameters
    ----------
    name, role, kind : str
        From the schema.
    missing_before, missing_after : float
        Share of missing values.
    mean_before, mean_after, sd_before, sd_after : float or None
        Numbers and times (in seconds since 1970). Infinite values are left out.
    variance_ratio : float or None
        Variance after over variance before.
    quantiles_before, quantiles_after : dict of int to float
        At 5, 25, 50, 75 and 95 percent.
    wasserstein : float or None
        Area between the two distribution functions, in standard deviations of the original.
    total_variation, hellinger : float or None
        Distance of the category shares, 0 to 1; missing counts as a category.
    categories_before, categories_after, categories_lost, categories_new : int or None
        Numbers of distinct categories, missing aside.
    categories_merged : int or None
        Categories that are published only within texts for several values, such as 08***; None without such
        texts.
    """

    name: str
    role: str
    kind: str
    missing_before: float
    missing_after: float
    mean_before: float | None = None
    mean_after: float | None = None
    sd_before: float | None = None
    sd_after: float | None = None
    variance_ratio: float | None = None
    quantiles_before: dict[int, float] = field(default_factory=dict)
    quantiles_after: dict[int, float] = field(default_factory=dict)
    wasserstein: float | None = None
    total_variation: float | None = None
    hellinger: float | None = None
    categories_before: int | None = None
    categories_after: int | None = None
    categories_lost: int | None = None
    categories_new: int | None = None
    categories_merged: int | None = None

    @property
    def distance(self) -> float | None:
        """The main figure: Wasserstein distance for numbers, total variation for categories."""
        return self.wasserstein if self.total_variation is None else self.total_variation


def compare_column(
    before: pl.Series,
    after: pl.Series,
    column: Column,
    sets: ValueSets | None = None,
    coded: Callable[[], Codes] | None = None,
) -> ColumnChange:
    """Compare one column of two tables; rows need not correspond.

    ``sets``: the sets of values that published texts stand for. ``coded``: a function that returns the
    codes of both columns.
    """
    base: dict[str, Any] = {
        "name": column.name,
        "role": column.role,
        "kind": column.kind,
        "missing_before": before.null_count() / len(before),
        "missing_after": after.null_count() / len(after),
    }
    if column.kind in ("numeric", "datetime", "location"):
        x, y = numbers(before), numbers(after)
        if x is not None and y is not None:
            return ColumnChange(**base, **_as_numbers(x[~np.isnan(x)], y[~np.isnan(y)]))
    if sets is not None:
        return ColumnChange(**base, **_as_sets(before.cast(pl.String), after, sets))
    return ColumnChange(**base, **_as_categories(codes(before, after) if coded is None else coded()))


def _as_numbers(x: Floats, y: Floats) -> dict[str, Any]:
    made: dict[str, Any] = {}
    (x, y), unit = scaled(x, y)
    sds = [float(values.std()) if len(values) else 0.0 for values in (x, y)]
    for when, values, sd in (("before", x, sds[0]), ("after", y, sds[1])):
        if len(values) == 0:
            continue
        made[f"mean_{when}"] = math.ldexp(math.fsum(values.tolist()) / len(values), unit)
        made[f"sd_{when}"] = math.ldexp(sd, unit)
        at = np.ldexp(np.quantile(values, np.array(QUANTILES) / 100.0), unit)
        made[f"quantiles_{when}"] = dict(zip(QUANTILES, at.tolist(), strict=True))
    if len(x) and len(y):
        sd = sds[0]
        if sd > 0.0:
            made["variance_ratio"] = (sds[1] / sd) ** 2
            made["wasserstein"] = wasserstein(x / sd, y / sd)
        elif np.array_equal(np.unique(x), np.unique(y)):
            made["wasserstein"] = 0.0
    return made


def wasserstein(x: Floats, y: Floats) -> float:
    """Return the area between two empirical distribution functions (SciPy's takes a second to import)."""
    x, y = np.sort(x), np.sort(y)
    both = np.sort(np.concatenate([x, y]))
    below_x = np.searchsorted(x, both[:-1], "right") / len(x)
    below_y = np.searchsorted(y, both[:-1], "right") / len(y)
    return float((np.abs(below_x - below_y) * np.diff(both)).sum())


def _as_categories(coded: Codes) -> dict[str, Any]:
    a, b, missing, n = coded
    in_a, in_b = np.bincount(a, minlength=n), np.bincount(b, minlength=n)
    p, q = in_a / len(a), in_b / len(b)
    real = np.arange(n) != (-1 if missing is None else missing)
    return {
        "total_variation": float(np.abs(p - q).sum() / 2.0),
        "hellinger": float(np.sqrt(np.square(np.sqrt(p) - np.sqrt(q)).sum() / 2.0)),
        "categories_before": int((real & (in_a > 0)).sum()),
        "categories_after": int((real & (in_b > 0)).sum()),
        "categories_lost": int((real & (in_a > 0) & (in_b == 0)).sum()),
        "categories_new": int((real & (in_a == 0) & (in_b > 0)).sum()),
    }


def _as_sets(before: pl.Series, after: pl.Series, sets: ValueSets) -> dict[str, Any]:
    """Compare shares of categories if texts stand for several values, each with equal weight.

    A category is lost if no published text may stand for it.
    """
    place = {value: at for at, value in enumerate(sets.values)}
    row = {text: at for at, text in enumerate(sets.texts)}
    own = np.array([len(place) if value is None else place[value] for value in before.to_list()])
    shown = np.array([-1 if text is None else row[text] for text in after.to_list()])
    n, m = len(place), len(sets.texts)
    often = np.bincount(shown[shown >= 0], minlength=m).astype(np.float64)
    member = np.where(sets.understood[:, None], sets.member, False).astype(np.float64)
    each = member.sum(axis=1)
    p = np.bincount(own, minlength=n + 1) / len(own)
    spread = (often / np.maximum(each, 1.0)) @ member
    unknown = float(often[each == 0].sum())
    q = np.append(spread, float((shown < 0).sum())) / len(shown)
    exact = (sets.member & (each == 1)[:, None]).any(axis=0)
    return {
        "total_variation": float((np.abs(p - q).sum() + unknown / len(shown)) / 2.0),
        "hellinger": float(np.sqrt((np.square(np.sqrt(p) - np.sqrt(q)).sum() + unknown / len(shown)) / 2.0)),
        "categories_before": int((p[:-1] > 0).sum()),
        "categories_after": int((often > 0).sum()),
        "categories_lost": int(((p[:-1] > 0) & (spread == 0)).sum()),
        "categories_new": int((each == 0).sum()),
        "categories_merged": int(((p[:-1] > 0) & (spread > 0) & ~exact).sum()),
    }


@dataclass(frozen=True)
class Correlation(Plain):
    """Pearson correlations of numbers, times and ranks, before and after.

    Parameters
    ----------
    names : tuple of str
        The columns.
    before, after : tuple of tuples of float or None
        The matrices; None if a column is constant or too few rows have both values.
    max_change, mean_change : float or None
        Largest and mean absolute difference over the pairs that both tables have.
    """

    names: tuple[str, ...]
    before: tuple[tuple[float | None, ...], ...]
    after: tuple[tuple[float | None, ...], ...]
    max_change: float | None
    mean_change: float | None


def correlation_change(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> Correlation | None:
    """Compare the correlations between columns of two tables; None with fewer than two columns."""
    names = tuple(name for name in before if name in after)
    if len(names) < 2:
        return None
    a = correlations([before[name] for name in names])
    b = correlations([after[name] for name in names])
    upper = np.triu_indices(len(names), 1)
    change = np.abs(a - b)[upper]
    change = change[~np.isnan(change)]
    return Correlation(
        names,
        _matrix(a),
        _matrix(b),
        float(change.max()) if len(change) else None,
        float(change.mean()) if len(change) else None,
    )


def correlations(columns: Sequence[Floats]) -> Floats:
    """Return Pearson correlations over the rows that have both values, shape (p, p).

    All pairs at once from sums over masks: no loop over pairs, O(n p^2) time, O(n) memory.
    """
    rows, p = len(columns[0]), len(columns)
    middle, width = np.zeros(p), np.zeros(p)
    for j, column in enumerate(columns):
        x = column[~np.isnan(column)]
        # A column whose spread is rounding noise is constant.
        if len(x) and (sd := x.std()) > 1e-12 * np.abs(x).max():
            middle[j], width[j] = x.mean(), 1.0 / sd
    both, total, squares, products = (np.zeros((p, p)) for _ in range(4))
    for start in range(0, rows, BLOCK):
        X = np.column_stack([column[start : start + BLOCK] for column in columns])
        M = (~np.isnan(X)).astype(np.float64)
        # Standardised first: the sums below then lose no digits.
        Z = np.nan_to_num((X - middle) * width, copy=False, nan=0.0)
        both += M.T @ M
        total += Z.T @ M
        squares += np.square(Z).T @ M
        products += Z.T @ Z
    n = np.maximum(both, 1.0)
    mean = total / n  # mean[i, j]: of column i over the rows that have j too
    variance = squares / n - np.square(mean)
    covariance = products / n - mean * mean.T
    scale = np.sqrt(np.clip(variance * variance.T, 0.0, None))
    out = np.full(scale.shape, np.nan)
    # A column that is constant over these rows has a variance of rounding noise, larger far from its mean.
    varies = variance > 1e-12 * np.maximum(1.0, np.square(mean))
    usable = varies & varies.T & (both >= 2)
    out[usable] = np.clip(covariance[usable] / scale[usable], -1.0, 1.0)
    return out


def _matrix(values: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(None if math.isnan(v) else v for v in row) for row in values.tolist())
