"""Texts that say "missing": a question mark, a blank."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import numpy as np
import polars as pl

from voronym.table import spelling
from voronym.table.doubts.base import DOUBTS, Doubt, Seen


@DOUBTS.register("gaps")
def spelled_gaps(seen: Seen) -> Iterator[Doubt]:
    """Hint at categories that spell a missing value: they are published like any other."""
    values = seen.values
    if seen.role != "key" or seen.column.kind != "nominal" or values.form not in ("string", "category"):
        return
    levels = pl.Series(values.levels, dtype=pl.String)
    gap = spelling.gaps(levels).is_null().to_numpy()
    if not gap.any() or gap.all():
        return
    often = np.bincount(values.codes[values.codes >= 0], minlength=len(levels))
    marks = [str(level).strip() for level in levels.filter(gap)]
    declared = ",".join(mark for mark in dict.fromkeys(marks) if mark)
    how = f", or declare them (--missing {shlex.quote(declared)})" if declared else ""
    text = (
        f"key {seen.name!r} has {int(often[gap].sum())} values that spell a gap, such as '?' or a blank; "
        f"they are a category of their own. Empty those cells{how}"
    )
    yield Doubt("gaps", seen.name, text, "hint")
