"""Distributions of a column before and after, as counts that a figure and a table can share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.evaluate.pair import numbers, plain
from voronym.table.frame import Series

Numbers = NDArray[np.float64]
MOST_BARS = 12
MISSING = "(missing)"


@dataclass(frozen=True)
class Distribution:
    """Counts of one column: bins with ``edges``, or categories with ``names``.

    ``before`` is None if the original may not be shown. Missing values are counted separately for bins,
    and as a category for names.
    """

    column: str
    kind: str
    after: list[int]
    before: list[int] | None = None
    edges: list[float] | None = None
    names: list[str] | None = None
    dates: bool = False
    missing_after: int = 0
    missing_before: int | None = None
    clipped: bool = False
    """Whether the first and the last bin also hold values beyond them."""


def tally(series: Series) -> dict[str | None, int]:
    """Count each value of a column as text; null and NaN are counted under None."""
    values = plain(series)
    if values.dtype == pl.Object:
        return dict(Counter(None if value is None else str(value) for value in values.to_list()))
    names, counts = values.cast(pl.String).alias("value").value_counts(name="rows").get_columns()
    return dict(zip(names.to_list(), counts.to_list(), strict=True))


def distribution(
    column: str,
    after: Series,
    before: Series | None = None,
    *,
    kind: str = "numeric",
    order: Sequence[str] | None = None,
) -> Distribution:
    """Count a column's values in bins or categories that before and after share.

    Parameters
    ----------
    column : str
        Its name.
    after, before : Series
        The released column, and the original one if it may be shown.
    kind : str
        Kind of the column in the schema; "nominal" and "ordinal" are counted by category.
    order : sequence of str, optional
        Levels of an ordinal column, low to high.

    Examples
    --------
    >>> import polars as pl
    >>> age = nw.from_native(pl.Series("age", [31, 31, 33]), series_only=True)
    >>> found = distribution("age", age)
    >>> found.edges, found.after
    ([30.5, 31.5, 32.5, 33.5], [2, 0, 1])
    """
    new = None if kind in {"nominal", "ordinal"} else numbers(plain(after))
    if new is None:
        old_names = None if before is None else tally(before)
        return categories(column, kind, tally(after), old_names, order)
    old = None if before is None else numbers(plain(before))
    dates = after.dtype in (nw.Date, nw.Datetime)
    known = new[np.isfinite(new)]
    both = known if old is None else np.concatenate([known, old[np.isfinite(old)]])
    edges, clipped = bin_edges(both, dates=dates)
    return Distribution(
        column,
        kind,
        after=counts_in(new, edges),
        before=None if old is None else counts_in(old, edges),
        edges=edges,
        dates=dates,
        missing_after=int((~np.isfinite(new)).sum()),
        missing_before=None if old is None else int((~np.isfinite(old)).sum()),
        clipped=clipped,
    )


def bin_edges(values: Numbers, *, dates: bool = False, bins: int = 22) -> tuple[list[float], bool]:
    """Return round, ascending bin edges, and whether some values lie outside them.

    Whole numbers over a short range get one bin each. With a long tail the edges cover 99 % of the
    values, and the outer bins also hold the values outside.
    """
    if not len(values):
        return [0.0, 1.0], False
    low, high = float(values.min()), float(values.max())
    inner_low, inner_high = (float(q) for q in np.percentile(values, [0.5, 99.5]))
    clipped = high - low > 2.5 * (inner_high - inner_low) > 0
    if clipped:
        low, high = inner_low, inner_high
    whole = not dates and bool(np.all(values == np.round(values))) and abs(high) < 1e15
    if whole and high - low <= 2 * bins:
        return [float(e) - 0.5 for e in range(math.floor(low), math.ceil(high) + 2)], clipped
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high), 1e-300):
        half = 43200.0 if dates else abs(low) * 0.05 or 0.5
        return [low - half, low + half], clipped
    if dates:
        step = _date_step(span / bins)
    else:
        step = max(1.0, nice_step(span, bins)) if whole else nice_step(span, bins)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [i * step for i in range(first, last + 1)], clipped


def nice_step(span: float, count: int = 5) -> float:
    """Return 1, 2 or 5 times a power of ten, so that ``span`` has about ``count`` steps of this size."""
    raw = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    for factor in (1.0, 2.0, 5.0):
        if raw <= factor * power * (1 + 1e-9):
            return factor * power
    return 10.0 * power


def time_step(wanted: float) -> float:
    """Return a round length of time, in seconds and at most a day, that is at least ``wanted``.

    Examples
    --------
    >>> time_step(7.0), time_step(100.0), time_step(4000.0)
    (10.0, 120.0, 7200.0)
    """
    if wanted <= 1.0:
        return nice_step(max(wanted, 1e-6), 1)
    minute, hour = 60.0, 3600.0
    rounds = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute]
    rounds += [30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour]
    return next((step for step in rounds if wanted <= step), 86400.0)


def _date_step(wanted: float) -> float:
    """Return a round length of time in seconds, at least ``wanted``: parts of a day, days, weeks or years."""
    day, week = 86400.0, 604800.0
    if wanted <= day:
        return time_step(wanted)
    for step in (2 * day, week, 2 * week, 4 * week, 13 * week, 26 * week):
        if wanted <= step:
            return step
    return 365.25 * day * max(1.0, nice_step(wanted / (365.25 * day), 1))


def counts_in(values: Numbers, edges: Sequence[float]) -> list[int]:
    """Count values in bins; the outer bins include values beyond them, infinite and NaN count nowhere."""
    known = np.clip(values[np.isfinite(values)], edges[0], edges[-1])
    place = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, len(edges) - 2)
    return [int(c) for c in np.bincount(place, minlength=len(edges) - 1)]


def categories(
    column: str,
    kind: str,
    new: Mapping[str | None, int],
    old: Mapping[str | None, int] | None,
    order: Sequence[str] | None,
) -> Distribution:
    """Return the distribution of categories from counts after and before, missing values under None."""
    weight = {name: new.get(name, 0) + (old or {}).get(name, 0) for name in {*new, *(old or {})}}
    missing = weight.pop(None, None)
    ranked = sorted((str(name) for name in weight), key=lambda name: (-weight[name], name))
    room = MOST_BARS if len(ranked) <= MOST_BARS else MOST_BARS - 1
    shown, rest = ranked[:room], ranked[room:]
    if order:
        place = {str(level): i for i, level in enumerate(order)}
        shown.sort(key=lambda name: place.get(name, len(place)))
    names: list[str] = list(shown)

    def row(tally: Mapping[str | None, int]) -> list[int]:
        out = [tally.get(name, 0) for name in shown]
        if rest:
            out.append(sum(tally.get(name, 0) for name in rest))
        return out if missing is None else [*out, tally.get(None, 0)]

    if rest:
        names.append(f"({len(rest)} others)")
    if missing is not None:
        names.append(MISSING)
    return Distribution(column, kind, after=row(new), before=None if old is None else row(old), names=names)
