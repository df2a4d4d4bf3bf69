"""The loss of a table by masking."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core import numerics
from voronym.core.context import Context
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.errors import SchemaError
from voronym.evaluate.columns import ColumnChange, Correlation, compare_column, correlation_change
from voronym.evaluate.encode import encode, without_gaps
from voronym.evaluate.moved import KeyChange, pair_changes
from voronym.evaluate.pair import Floats, Pair, make_pair, numbers, row_map, scaled
from voronym.evaluate.pmse import PMSE, features, pmse
from voronym.evaluate.ways import Way, ways
from voronym.table.codec import Codec
from voronym.table.schema import Schema

PMSE_ROWS = 25_000
MAX_COLUMNS = 50


@dataclass(frozen=True)
class Utility(Plain):
    """Distance of a masked table from its original. Contains figures of the original: not for publication.

    Parameters
    ----------
    information_loss : float or None
        ``100 SSE / SST`` over the encoded keys, in percent: the lost share of the keys' variance. None if it
        is not known which rows correspond.
    loss_by_key : dict of str to float
        The same for each key (a location is one); empty if it is not known which rows correspond.
    columns : tuple of ColumnChange
        Each released column before and after.
    correlation : Correlation or None
        Change of the correlations.
    pmse : PMSE or None
        How well a model tells the two tables apart.
    notes : tuple of str
        Omitted figures, with reasons.
    ways : tuple of Way
        For each location, the distances that its places moved, in metres; empty if it is unknown which rows
        correspond.
    changes : tuple of KeyChange
        For each key, the number of unchanged records and the distances of the others; empty if it is unknown
        which rows correspond.
    """

    information_loss: float | None
    loss_by_key: dict[str, float] = field(default_factory=dict)
    columns: tuple[ColumnChange, ...] = ()
    correlation: Correlation | None = None
    pmse: PMSE | None = None
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    changes: tuple[KeyChange, ...] = ()

    def __getitem__(self, name: str) -> ColumnChange:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def __str__(self) -> str:
        lines = []
        lines += [str(change) for change in self.changes]
        if self.information_loss is not None:
            lines.append(f"information loss: {self.information_loss:.2f} % of the keys' variance")
        lines += [str(way) for way in self.ways]
        if self.correlation is not None and self.correlation.max_change is not None:
            c = self.correlation
            lines.append(f"correlations: changed by at most {c.max_change:.3f}, mean {c.mean_change:.3f}")
        if self.pmse is not None:
            lines.append(f"pMSE: {self.pmse.value:.3g}, {self.pmse.ratio:.2f} times that of two samples")
        width = max((len(c.name) for c in self.columns), default=0)
        lines += [f"  {column.name:<{width}}  {describe(column)}" for column in self.columns]
        return "\n".join(lines)


def describe(change: ColumnChange) -> str:
    """Return the change of one column as a line of text."""
    parts = []
    if change.variance_ratio is not None:
        means, sds = (change.mean_before, change.mean_after), (change.sd_before, change.sd_after)
        if change.kind == "datetime":  # seconds since 1970 mean nothing to a reader
            parts.append("mean " + " -> ".join(str(np.datetime64(round(m or 0.0), "s")) for m in means))
            parts.append("sd " + " -> ".join(f"{(sd or 0.0) / 86_400:.4g}" for sd in sds) + " days")
        else:
            parts.append("mean " + " -> ".join(f"{m:.6g}" for m in means))
            parts.append("sd " + " -> ".join(f"{sd:.4g}" for sd in sds))
        if change.wasserstein is not None:
            parts.append(f"Wasserstein {change.wasserstein:.3f} sd")
    elif change.total_variation is not None:
        parts.append(f"total variation {change.total_variation:.3f}")
        parts.append(f"{change.categories_lost} of {change.categories_before} categories lost")
        if change.categories_merged:
            parts.append(f"{change.categories_merged} published in sets only")
    if change.missing_before or change.missing_after:
        parts.append(f"missing {percent(change.missing_before)} -> {percent(change.missing_after)}")
    return ", ".join(parts) or "no change to measure"


def utility(
    original: Any,
    released: Any,
    schema: Schema,
    *,
    aligned: bool | ArrayLike | None = None,
    ctx: Context | None = None,
) -> Utility:
    """Compare a masked table with its original.

    Parameters
    ----------
    original, released : DataFrame
        pandas, Polars, PyArrow or narwhals. Identifiers and columns that were not released are left out.
    schema : Schema
        Roles and kinds of the original's columns.
    aligned : bool or array, optional
        True: row i of both is the same person. An array of one original row per released row, where the order
        is known. Otherwise the rows may be in any order, and the information loss is not known.
    ctx : Context, optional
        Draws the sample for the pMSE if a table has more than 25,000 rows, and may stop the work.

    Returns
    -------
    Utility
        Time O(n log n) per column, memory O(n) per column.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table.schema import Schema
    >>> before = pl.DataFrame({"age": [20, 30, 60, 70]})
    >>> after = pl.DataFrame({"age": [25, 25, 65, 65]})
    >>> found = utility(before, after, Schema.build(before, keys=["age"]), aligned=True)
    >>> round(found.information_loss, 2)  # SSE 100 over SST 1700
    5.88
    >>> found["age"].mean_after
    45.0
    """
    return compare(make_pair(original, released, schema), aligned, Context() if ctx is None else ctx)


def compare(
    pair: Pair,
    aligned: bool | ArrayLike | None,
    ctx: Context,
    points: tuple[Floats, Floats, Codec] | None = None,
) -> Utility:
    """Compare two comparable tables; ``points`` are the encoded keys, if there are any."""
    before, after = pair.original, pair.released
    notes = list(pair.notes)
    rows = row_map(aligned, len(before), len(after))
    loss: float | None = None
    by_key: dict[str, float] = {}
    if rows is not None:
        try:
            if points is None:
                X, Y, codec, note = encode(pair)
                notes += [] if note is None else [note]
            else:
                X, Y, codec = points
            loss, by_key = _loss(X, without_gaps(pair, X, Y, rows, codec), rows, codec)
        except SchemaError as error:
            notes.append(f"no information loss: {error}")
    changes = []
    for i, column in enumerate(pair.schema):
        ctx.tell(0.7 * i / len(pair.schema.columns), whole=True)
        name, once = column.name, partial(pair.codes, column.name)
        sets = None if name in pair.texts else pair.sets.get(name)
        changes.append(compare_column(before[name], after[name], column, sets, once))
    left, right, labels = _gather(pair, notes)
    correlation = correlation_change(left, right)
    ctx.tell(0.8, whole=True)
    score = _propensity(pair, left, right, labels, ctx.part(0.8, 1.0), notes)
    ctx.tell(1.0, whole=True)
    far = () if rows is None else ways(pair, rows)
    kept = () if rows is None else pair_changes(pair, rows)
    return Utility(loss, by_key, tuple(changes), correlation, score, tuple(notes), far, kept)


def _loss(X: Floats, Y: Floats, rows: NDArray[np.int64], codec: Codec) -> tuple[float, dict[str, float]]:
    error = numerics.error(Y, X, rows)
    total = numerics.spread(X if len(rows) == len(X) else X[rows])
    # With constant keys there is nothing to lose: no error is no loss, any other one is total.
    by_key = {b.name: _percent(error[b.start : b.stop], total[b.start : b.stop]) for b in codec.blocks}
    return _percent(error, total), by_key


def _percent(error: Floats, total: Floats) -> float:
    lost, there = float(error.sum()), float(total.sum())
    return 100.0 * lost / there if there > 0.0 else (0.0 if lost == 0.0 else 100.0)


def _gather(pair: Pair, notes: list[str]) -> tuple[dict[str, Floats], dict[str, Floats], list[str]]:
    """Return numeric columns by name (before and after) and categorical columns; keys first, fifty in all."""
    rank = {"key": 0, "confidential": 1, "other": 2}
    columns = sorted((c for c in pair.schema if c.kind != "text"), key=lambda c: rank.get(c.role, 3))
    if len(columns) > MAX_COLUMNS:
        notes.append(f"correlations and pMSE: the first {MAX_COLUMNS} of {len(columns)} columns, keys first")
    left: dict[str, Floats] = {}
    right: dict[str, Floats] = {}
    labels: list[str] = []
    for column in columns[:MAX_COLUMNS]:
        a, b = pair.original[column.name], pair.released[column.name]
        x = y = None
        if column.kind != "nominal":
            x, y = numbers(a, column.categories), numbers(b, column.categories)
        if x is None or y is None:
            labels.append(column.name)
        else:
            (left[column.name], right[column.name]), _ = scaled(x, y)
    return left, right, labels


def _propensity(
    pair: Pair,
    left: dict[str, Floats],
    right: dict[str, Floats],
    labels: list[str],
    ctx: Context,
    notes: list[str],
) -> PMSE | None:
    if not left and not labels:
        return None
    n, m = len(pair.original), len(pair.released)
    some = [
        np.sort(ctx.rng.choice(count, PMSE_ROWS, replace=False)) if count > PMSE_ROWS else np.arange(count)
        for count in (n, m)
    ]
    if max(n, m) > PMSE_ROWS:
        notes.append(f"pMSE: computed on a random sample of {PMSE_ROWS:,} rows of each longer table")
    nominal = []
    for name in labels:
        x, y, _, _ = pair.codes(name)
        nominal.append((x[some[0]], y[some[1]]))
    return pmse(*features([(left[k][some[0]], right[k][some[1]]) for k in left], nominal), ctx=ctx)
