"""A first line that is data: then the first person's record is the heading, and is published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from voronym.errors import hint
from voronym.table import spelling
from voronym.table.doubts.base import TABLE_DOUBTS, Doubt
from voronym.table.source import source_of
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.schema import Schema

_DATES = (spelling.DATE, spelling.MOMENT, spelling.YEAR_FIRST, spelling.YEAR_LAST)
_MAJORITY, _SEVERAL = 0.5, 2
_MANY = 200
"""Largest number of columns to examine."""


def fits_below(name: str, column: Values) -> bool:
    """Whether a heading could be a value of its column: a number in its range, a date, a word."""
    text = re.sub(r"_duplicated_\d+$", "", name).strip()
    if column.form in ("integer", "float"):
        if not re.match(spelling.NUMBER, text) or not len(column.numbers):
            return False
        low, high = float(column.numbers.min()), float(column.numbers.max())
        margin = high - low
        return low - margin <= float(text) <= high + margin
    if column.form in ("date", "datetime"):
        return any(re.match(_python(pattern), text) for pattern in _DATES)
    if column.form in ("string", "category"):
        levels = column.levels
        return len(levels) < len(column) and text in {str(level).strip() for level in levels}
    return False


def first_line_is_data(table: Columns) -> int:
    """Return the number of columns whose heading looks like a value; 0 if that may be chance."""
    names = table.columns[:_MANY]
    if not any(re.match(r"[\d+.-]", name) for name in names):  # the cheap question first
        return 0
    fitting = sum(fits_below(name, table[name]) for name in names)
    return fitting if fitting >= _SEVERAL and fitting > _MAJORITY * len(names) else 0


@TABLE_DOUBTS.register("header")
def heading(table: Columns, schema: Schema) -> Iterator[Doubt]:  # noqa: ARG001 - roles do not matter
    """Refuse a table whose headings are really its first record."""
    source = source_of(table.frame)
    if source is not None and source.dialect is not None:  # the reader of the text has checked this already
        return
    fitting = first_line_is_data(table)
    if fitting:
        text = (
            f"the headings of {fitting} of {len(table.columns)} columns look like values of these columns: "
            "the first line seems to be a record, not a heading, and would be published. Say "
            f"{hint('no_header')}, or "
            "give the columns names"
        )
        yield Doubt("header", "", text, "refuse")


def _python(pattern: str) -> str:
    return pattern.replace("(?<", "(?P<")
