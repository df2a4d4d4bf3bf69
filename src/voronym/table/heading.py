"""A first line that is a record: its person would become the heading of the release."""

from __future__ import annotations

import re

import polars as pl

from voronym.errors import ReadError, hint
from voronym.table.spelling import Hints, spell

_SHARE = 0.5  # of the headings of texts that are found among the texts below: then they are texts, too


def refuse_data_as_header(name: str, table: pl.DataFrame) -> None:
    """Refuse a table whose headings look like the values below them.

    Also refuse a table whose first line names hardly any column, because the true names would become a
    record.

    A word above numbers or dates is a heading. Without such a column, the first line is a record if it
    has numbers or dates above numbers or dates, or words that occur below.
    """
    if not len(table):
        return
    bare = sum(re.fullmatch(r"unnamed_\d+", item) is not None for item in table.columns)
    if bare > max(1, table.width // 2):
        raise ReadError(
            f"the first line of {name!r} names {table.width - bare} of {table.width} columns: if it is a "
            f"title above the table, say {hint('skip_rows', 1)}; or {hint('header')} if these are "
            "the names"
        )
    like, unlike, known, words = 0, 0, 0, 0
    for column in table.get_columns():
        heading = column.name
        if column.dtype == pl.String:
            words += 1
            known += bool((column == heading).any())
            continue
        if column.dtype in (pl.Boolean, pl.Null):
            continue
        value, _ = spell(pl.Series([heading]), Hints(comma="always"))
        same = value.dtype.is_numeric() == column.dtype.is_numeric() and value.dtype != pl.String
        like, unlike = like + same, unlike + (not same)
    if unlike == 0 and (like or (known and known >= _SHARE * words)):
        raise ReadError(
            f"the first line of {name!r} looks like data, not like names of columns; say "
            f"{hint('no_header')} if it is a record, or {hint('header')} if these are the names"
        )
