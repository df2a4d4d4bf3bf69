"""Parse a published cell: a number, a range, a date, a masked code, or a missing value.

Notations of other tools are understood: ``*`` is suppressed, ``08***`` shows two digits of a code, ``[20,
40[`` is a range without its upper end, ``90+`` is open above.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import narwhals as nw

__all__ = ["Cell", "Held", "cells_of", "read_cell"]

Sort = Literal["gone", "number", "date", "code", "text"]

_SIGN = r"[-+−]?"
_NUMBER = rf"{_SIGN}(?:\d+(?:[.,]\d+)?|[.,]\d+)"
_ISO = r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)?"
_DOTTED = r"\d{1,2}[./]\d{1,2}[./]\d{4}(?: \d{1,2}:\d\d(?::\d\d)?)?"
_SLASHED = r"\d{4}/\d{1,2}/\d{1,2}"
_MONTH = r"\d{4}-\d{1,2}"
_DAY = rf"(?:{_ISO}|{_DOTTED}|{_SLASHED})"
DAY_ANYWHERE = re.compile(rf"(?<!\d)(?:{_ISO}|{_DOTTED}|{_SLASHED})(?!\d)")
"""A date with its day, anywhere in a text."""
_GONE = re.compile(r"[*?.x•–-]*|n/?a|nan|null|none|missing|suppressed|\(missing\)", re.IGNORECASE)
_BETWEEN = r"\s*(?:–|—|-|\bto\b|\bbis\b|\bà\b|\.\.+)\s*"
_BRACKETED = r"\s*(?:–|—|-|,|;|:|\.\.+)\s*"
_TAILS = {
    "above": (r"(?:or|and)\s+(?:more|older|over|above)", r"\+", r"und\s+(?:mehr|älter)", r"et\s+plus",
              r"y\s+más"),
    "below": (r"(?:or|and)\s+(?:less|younger|under|below)", r"und\s+(?:weniger|jünger)", r"et\s+moins",
              r"y\s+menos"),
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The content of a cell.

    Parameters
    ----------
    sort : {"gone", "number", "date", "code", "text"}
        Whether it is suppressed or missing, a number or range of numbers, a date or range of dates, a code
        with masked characters, or any other text.
    low, high : float or date, optional
        The ends of a number or a date; equal for a single one. None is an open end.
    excludes : bool
        Whether the upper end is not part of the range: ``[20, 40[``.
    fine : {"year", "month", "day"}
        The precision of a date.
    text : str
        The text in the table; for a code, its unmasked part.
    """

    sort: Sort
    low: Any = None
    high: Any = None
    excludes: bool = False
    fine: Literal["year", "month", "day"] = "day"
    text: str = ""

    @property
    def single(self) -> bool:
        """Whether it is a single value, no range."""
        return self.low is not None and self.low == self.high

    @property
    def top(self) -> float:
        """The largest whole number in the cell; infinity if it is open above."""
        if self.high is None:
            return math.inf
        value = float(self.high)
        return math.ceil(value) - 1.0 if self.excludes and value == math.ceil(value) else value

    @property
    def bottom(self) -> float:
        """The smallest number in the cell; minus infinity if it is open below."""
        return -math.inf if self.low is None else float(self.low)


@dataclass(frozen=True)
class Held:
    """A distinct cell of a column, and its number of rows."""

    cell: Cell
    rows: int


def cells_of(series: nw.Series[Any]) -> list[Held]:
    """Return the distinct cells of a column with their counts; missing cells have the sort ``gone``."""
    counts: dict[Any, int] = {}
    for value in series.to_list():
        key = None if value is None or (isinstance(value, float) and math.isnan(value)) else value
        counts[key] = counts.get(key, 0) + 1
    return [Held(read_cell(value), rows) for value, rows in counts.items()]


def read_cell(value: Any) -> Cell:
    """Return the content of a cell.

    Examples
    --------
    >>> read_cell("[20, 40[").top, read_cell("90+").bottom, read_cell("*").sort, read_cell("08***").text
    (39.0, 90.0, 'gone', '08')
    >>> cell = read_cell("2019-01-01–2019-12-31")
    >>> cell.sort, cell.low.isoformat(), cell.high.isoformat()
    ('date', '2019-01-01', '2019-12-31')
    """
    if value is None:
        return Cell("gone")
    if isinstance(value, bool):
        return Cell("text", text=str(value))
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            return Cell("gone")
        return Cell("number", value, value, text=f"{value:g}" if isinstance(value, float) else str(value))
    if isinstance(value, dt.datetime):
        return Cell("date", value.date(), value.date(), text=value.isoformat())
    if isinstance(value, dt.date):
        return Cell("date", value, value, text=value.isoformat())
    return _read_text(str(value))


@lru_cache(maxsize=65_536)
def _read_text(text: str) -> Cell:
    bare = text.strip().removeprefix("'")  # an apostrophe guards a cell from spreadsheets
    if _GONE.fullmatch(bare):
        return Cell("gone", text=bare)
    return _dates(bare) or _numbers(bare) or _code(bare) or Cell("text", text=bare)


def _code(text: str) -> Cell | None:
    """Read a code with masked last characters, such as 08***, 08xxx or K3•; None for other texts."""
    match = re.fullmatch(r"([0-9A-Za-z-]+?)[*•]+|(\d+)[xX]+", text)
    return None if match is None else Cell("code", text=match[1] or match[2])


def _numbers(text: str) -> Cell | None:
    return _range(text, _NUMBER, _float, "number")


def _dates(text: str) -> Cell | None:
    cell = _range(text, _DAY, _date, "date")
    if cell is not None:
        return cell
    result = re.fullmatch(rf"({_MONTH})", text) or re.fullmatch(r"(\d{1,2})[./](\d{4})", text)
    if result is None:
        return None
    year, month = (
        map(int, result[1].split("-")) if result.lastindex == 1 else (int(result[2]), int(result[1]))
    )
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    first = dt.date(year, month, 1)
    last = dt.date(year + month // 12, month % 12 + 1, 1) - dt.timedelta(days=1)
    return Cell("date", first, last, fine="month", text=text)


def _range(text: str, single: str, read: Any, sort: Sort) -> Cell | None:
    """Read a single value, a range, or a range with one open end; None for other texts."""
    bare = rf"(\({single}\)|{single})"

    def ends(*parts: str) -> list[Any]:
        return [read(part.strip("()")) for part in parts]

    try:
        if re.fullmatch(bare, text):
            (value,) = ends(text)
            return Cell(sort, value, value, text=text)
        match = re.fullmatch(rf"[\[\](]\s*{bare}{_BRACKETED}{bare}\s*([\[\])])", text)
        match = match or re.fullmatch(rf"{bare}{_BETWEEN}{bare}()", text)
        if match:
            low, high = ends(match[1], match[2])
            if low <= high:
                return Cell(sort, low, high, excludes=match[3] in ("[", ")") and low < high, text=text)
        above, below = ("|".join(_TAILS[side]) for side in ("above", "below"))
        if match := re.fullmatch(rf"{bare}\s*(?:{above})|(>=|≥|>|ab|über|over)\s*{bare}", text):
            (value,) = ends(match[1] or match[3])
            strict = match[2] in (">", "über", "over") and sort == "number"
            return Cell(sort, value + 1 if strict else value, None, text=text)
        if match := re.fullmatch(rf"{bare}\s*(?:{below})|(<=|≤|<|bis|unter|under)\s*{bare}", text):
            (value,) = ends(match[1] or match[3])
            return Cell(sort, None, value, excludes=match[2] in ("<", "unter", "under"), text=text)
    except ValueError:
        return None
    return None


def _float(text: str) -> float:
    value = float(text.replace("−", "-").replace(",", "."))
    return int(value) if value.is_integer() else value


def _date(text: str) -> dt.date:
    day = re.split("[T ]", text)[0]
    if re.match(r"\d{4}", day):
        year, month, number = map(int, re.split("[-/]", day))
    else:
        first, second, year = map(int, re.split("[./]", day))
        number, month = (first, second) if second <= 12 else (second, first)
    return dt.date(year, month, number)
