"""Texts that mean "missing": a question mark, a blank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from voronym.errors import hint
from voronym.table import spelling
from voronym.table.doubts.base import DOUBTS, Doubt, Seen
from voronym.table.doubts.sentinels import declared
from voronym.table.frame import listing


@DOUBTS.register("gaps")
def spelled_gaps(seen: Seen) -> Iterator[Doubt]:
    """Warn of categories that mean "missing", because they would be published like any other."""
    values = seen.values
    if seen.role != "key" or seen.column.kind != "nominal" or values.form not in ("string", "category"):
        return
    levels = pl.Series(values.levels, dtype=pl.String)
    none = levels.str.strip_chars().str.to_lowercase() == "none"  # a school, a complaint: an answer
    gap = spelling.gaps(levels).is_null().to_numpy() & ~none.fill_null(False).to_numpy()
    if not gap.any() or gap.all():
        return
    often = np.bincount(values.codes[values.codes >= 0], minlength=len(levels))
    marks = [str(level).strip() for level in levels.filter(gap)]
    codes = declared(seen.name, [mark for mark in dict.fromkeys(marks) if mark])
    how = f", or declare them ({hint('missing', codes)})" if codes else ""
    named = listing([mark or "blank" for mark in dict.fromkeys(marks)], 3)
    text = (
        f"key {seen.name!r} has {int(often[gap].sum())} values that may mean 'missing' ({named}); they are a "
        f"category of their own. Empty those cells{how}"
    )
    yield Doubt("gaps", seen.name, text, "hint")
