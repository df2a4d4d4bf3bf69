"""Cells that are written differently from the original, although their values are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from voronym.table.source import source_of
from voronym.table.typeset import unguarded


def rewritten(
    original: nw.DataFrame[Any], released: nw.DataFrame[Any], names: Sequence[str]
) -> dict[str, int]:
    """Count the cells of kept columns whose texts do not occur in the original, if both are text files.

    47.10 and 47.1 are the same number but different codes. Texts are counted, so the order of rows does
    not matter. An apostrophe against spreadsheets is no change.

    Parameters
    ----------
    original, released : narwhals DataFrame
        Tables from `voronym.read`; the texts of other tables are unknown.
    names : names
        The columns that were to be kept.
    """
    out = {}
    for name in names:
        sides = []
        for frame in (original, released):
            source = source_of(frame)
            texts = None if source is None else source.texts(name, frame[name].to_native())
            sides.append(None if texts is None else unguarded(texts))
        before, after = sides
        if before is None or after is None:
            continue
        there, here = (_counts(side, how) for side, how in ((before, "there"), (after, "here")))
        both = here.join(there, on="text", how="left").with_columns(pl.col("there").fill_null(0))
        extra = (both["here"].cast(pl.Int64) - both["there"].cast(pl.Int64)).clip(lower_bound=0).sum()
        if extra:
            out[name] = int(extra)
    return out


def _counts(texts: pl.Series, name: str) -> pl.DataFrame:
    return texts.alias("text").value_counts(name=name)


def note_on(counts: dict[str, int], rows: int) -> str:
    """Return the counts in a sentence."""
    result = ", ".join(f"{name!r} in {count} of {rows} cells" for name, count in counts.items())
    return f"columns that are not keys are written differently than in the original: {result}"


def without_guards(released: nw.DataFrame[Any], original: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a table under the names of the original: without the apostrophes before names."""
    risky = pl.Series(released.columns, dtype=pl.String)
    bare = unguarded(risky).to_list()
    names = {
        old: new
        for old, new in zip(released.columns, bare, strict=True)
        if old != new and old not in original.columns and new in original.columns
    }
    return released.rename(names) if names else released
