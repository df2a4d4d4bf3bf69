"""Ranges as texts: "30–39", "80 or more", "*"; ranges of other tools are read, too."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping

import polars as pl

ANY = "*"
"""The published text of a group without anything in common."""
DASH = "–"
OR_LESS, OR_MORE = " or less", " or more"
_NUMBER = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_DAY = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?"
_OPEN, _SHUT = r"[\[\](]?\s*", r"\s*[\[\])]?"

Ends = tuple[float | None, float | None]


def written(low: str | None, high: str | None) -> str:
    """Format a range as text; None is an open end.

    Examples
    --------
    >>> written("30", "39"), written("30", "30"), written("80", None), written("-5", "-2")
    ('30–39', '30', '80 or more', '(-5)–(-2)')
    """
    if low is None or high is None:
        if low is not None:
            return f"{_safe(low)}{OR_MORE}"
        return ANY if high is None else f"{_safe(high)}{OR_LESS}"
    if low == high:
        return low
    return f"{_safe(low)}{DASH}{_safe(high)}"


def _safe(end: str) -> str:
    """Put a negative number in brackets: a spreadsheet may run a cell that begins with a minus."""
    return f"({end})" if end.startswith("-") else end


def ends(text: str, *, times: bool = False) -> Ends | None:
    """Return the two ends of a range of numbers, or of times in seconds since 1970; None if it is no range.

    An open end is None. Ranges of other tools are read, too: ``[30, 40[``, ``30-39``, ``>=80``.

    Examples
    --------
    >>> ends("30–39"), ends("[30, 40["), ends("80 or more"), ends("35"), ends("*"), ends("(-5)–3")
    ((30.0, 39.0), (30.0, 40.0), (80.0, None), (35.0, 35.0), (None, None), (-5.0, 3.0))
    >>> ends("Undergraduate") is None, ends("2020-01-01–2020-12-31", times=True)
    (True, (1577836800.0, 1609372800.0))
    """
    result, read = (_DAY, _seconds) if times else (_NUMBER, _float)
    bare = text.strip()
    if bare == ANY:
        return None, None
    for pattern, make in _FORMS:
        match = re.fullmatch(pattern.replace("ONE", f"({result})"), bare)
        if match:
            return make([read(part) for part in match.groups() if part is not None])
    return None


def ends_of_levels(text: str, rank: Mapping[str, int]) -> Ends | None:
    """Return the ranks of the two ends of a range of levels; None if it is no range.

    Examples
    --------
    >>> rank = {"low": 0, "mid": 1, "high": 2}
    >>> [ends_of_levels(text, rank) for text in ("low–mid", "mid or less", "mid or more")]
    [(0, 1), (None, 1), (1, None)]
    """
    for mark in (DASH, OR_LESS, OR_MORE):
        first, separator, last = text.partition(mark)
        if separator and first in rank and (last in rank or not last):
            return (None, rank[first]) if mark == OR_LESS else (rank[first], rank.get(last))
    return None


def bounds(text: str, *, times: bool = False) -> tuple[float | None, float | None, bool, bool] | None:
    """Return the ends of a range as `ends` does, and whether each end is excluded.

    Examples
    --------
    >>> bounds("[20, 40["), bounds("20–40"), bounds("<20")
    ((20.0, 40.0, False, True), (20.0, 40.0, False, False), (None, 20.0, False, True))
    """
    result = ends(text, times=times)
    if result is None:
        return None
    bare = text.strip()
    two = result[0] is not None and result[1] is not None
    number = re.compile(rf"\(\s*{_NUMBER}\s*\)")  # a negative end in brackets of its own
    opened = bare[:1] in "](" and not number.match(bare)
    shut = bare[-1:] in "[)" and not re.search(rf"\(\s*{_NUMBER}\s*\)$", bare)
    above = (two and opened) or bool(re.match(r">(?!=)", bare))
    below = (two and shut) or bool(re.match(r"<(?!=)", bare))
    return result[0], result[1], above, below


_FORMS: tuple[tuple[str, Callable[[list[float]], Ends]], ...] = (
    (r"\(?ONE\)?", lambda v: (v[0], v[0])),
    (rf"{_OPEN}ONE\)?\s*(?:–|-|,|;|to|\.\.)\s*\(?ONE{_SHUT}", lambda v: (v[0], v[1])),
    (r"\(?ONE\)? or less|(?:<|<=|≤)\s*ONE", lambda v: (None, v[0])),
    (r"\(?ONE\)? or more|(?:>|>=|≥)\s*ONE|ONE\s*\+", lambda v: (v[0], None)),
)


def _float(text: str) -> float:
    return float(text.replace("−", "-"))


def _seconds(text: str) -> float:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()


def middles(texts: pl.Series, *, times: bool = False) -> pl.Series | None:
    """Return the middle of each range as a number or a time; None if a text is no range.

    A range with one end becomes that end; "*" becomes missing.

    Examples
    --------
    >>> middles(pl.Series(["30–39", "80 or more", "*", None])).to_list()
    [34.5, 80.0, None, None]
    """
    distinct = texts.drop_nulls().unique()
    result = {text: ends(text, times=times) for text in distinct.to_list()}
    if any(entry is None for entry in result.values()) or not result:
        return None
    values = [_middle(*item) for item in result.values() if item is not None]
    made = texts.replace_strict(list(result), values, default=None, return_dtype=pl.Float64)
    if times:
        return (made * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    return made


def _middle(low: float | None, high: float | None) -> float | None:
    if low is None or high is None:
        return high if low is None else low
    return (low + high) / 2
