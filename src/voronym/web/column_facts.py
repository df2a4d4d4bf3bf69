"""The page's first view of a column: its values and their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from voronym.evaluate.risk import risk
from voronym.table.classes import equivalence_classes
from voronym.table.frame import as_frame
from voronym.table.units import Units

EXAMPLES, WIDE = 4, 40
"""Examples that are shown, and the characters of a cell that are."""
BARS = 12
"""Bars of the small histogram of a column."""


def column_facts(column: pl.Series) -> dict[str, Any]:
    """Return counts and examples of a column."""
    try:
        distinct, often = column.n_unique(), column.drop_nulls().value_counts(sort=True).head(EXAMPLES)
        examples = [shown_text(value) for value in often[column.name].to_list()] if column.name else []
    except Exception:  # a column that Polars cannot count has no examples
        distinct, examples = None, []
    missing = int(column.null_count())
    return {
        "distinct": None if distinct is None else distinct - bool(missing),
        "missing": missing,
        "examples": examples,
        "bars": _bars(column),
    }


def _bars(column: pl.Series) -> list[int]:
    """Return the counts of a small histogram: by value, or by the most frequent categories."""
    try:
        if column.dtype.is_numeric() or column.dtype.is_temporal():
            values = column.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
            values = values[np.isfinite(values)]
            return np.histogram(values, BARS)[0].tolist() if len(values) else []
        return column.drop_nulls().value_counts(sort=True)["count"].head(BARS).to_list()
    except Exception:  # a column that Polars cannot count has no histogram
        return []


def shown_text(value: object) -> str:
    """Return a cell as shown, cut if it is long."""
    result = "–" if value is None else str(value)
    return result if len(result) <= WIDE else result[: WIDE - 1] + "…"


def stand_alone(frame: pl.DataFrame, keys: list[str], units: Units | None) -> tuple[int, int]:
    """Return the number of unique units by some keys, and the number of units."""
    if units is None:
        result = risk(frame, keys)
        return result.unique, result.records
    classes = equivalence_classes(as_frame(frame), keys)
    codes = next(item for item in (units.household, units.person) if item is not None)
    bare = units.heads(classes.labels, len(classes.sizes))[classes.labels] == 1
    return len(np.unique(codes[bare])), len(np.unique(codes))
