"""Texts that are numbers, dates or true and false: how these are spelled, and how a gap is.

A column of text becomes numbers or dates only if all of its cells do, gaps aside, and only if there is one
way to read them. `03/04/2020` is two days; beside a `31/05/2020` it is one.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

MISSING = frozenset(
    [
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "#na",
        "<na>",
        "nan",
        "null",
        "(null)",
        "none",
        "nil",
        "missing",
        "?",
        ".",
        "-",
        "--",
        "...",
    ]
)  # in any case of letters, in a column that otherwise holds numbers, dates or true and false
NUMBER = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?inf(inity)?$"
CODE = r"^[+-]?0[0-9]"  # as a number it would lose its zeros
WHOLE = r"^[+-]?[0-9]+$"
COMMA = r"^[+-]?[0-9]+(,[0-9]+)?$"
THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"  # 1,234 may be either
TRUTH = r"(?i)^(true|false)$"
_TIME = r"\d\d:\d\d(:\d\d(\.\d{1,9})?)?"
DATE = r"^\d{4}-\d\d-\d\d$"
MOMENT = rf"^\d{{4}}-\d\d-\d\d[T ]{_TIME}(Z|[+-]\d\d:?\d\d)?$"
YEAR_FIRST = rf"^(?<y>\d{{4}})[/.](?<m>\d{{1,2}})[/.](?<d>\d{{1,2}})(?<t>[T ]{_TIME})?$"
YEAR_LAST = rf"^(?<a>\d{{1,2}})[/.-](?<b>\d{{1,2}})[/.-](?<y>\d{{4}})(?<t>[T ]{_TIME})?$"

Comma = Literal["always", "clear", "never"]


def gaps(column: pl.Series) -> pl.Series:
    """Return the texts without spaces around them, null where they are empty or spell a gap."""
    plain = column.str.strip_chars()
    return plain.set(plain.str.to_lowercase().is_in([*MISSING, ""]), None)


def typed(column: pl.Series, *, comma: Comma = "never", codes: bool = False) -> pl.Series | None:
    """Return the texts as integers, floats, booleans, dates or times; None if they are none of these.

    Parameters
    ----------
    column : pl.Series
        Of strings.
    comma : {"always", "clear", "never"}
        Whether 1,5 is a number; "clear": unless every comma might as well part thousands.
    codes : bool
        Whether 08001 is a number too.

    Examples
    --------
    >>> typed(pl.Series(["1", "?", "3"])).to_list()
    [1, None, 3]
    >>> typed(pl.Series(["1", "?", "x"]))
    >>> typed(pl.Series(["03/04/2020", "31/04/2020"]))
    >>> typed(pl.Series(["03/04/2020", "30/04/2020"])).dt.day().to_list()
    [3, 30]
    """
    plain = gaps(column)
    if plain.null_count() == len(plain):
        return None
    if _all(plain, TRUTH):
        return plain.str.to_lowercase() == "true"
    times = _times(plain)
    if times is not None:
        return times
    if not codes and plain.str.contains(CODE).any():
        return None
    if comma != "never" and _all(plain, COMMA):
        parted = plain.filter(plain.str.contains(",", literal=True))
        if comma == "always" or not _all(parted, THOUSANDS):
            plain = plain.str.replace(",", ".", literal=True)
    if _all(plain, WHOLE):
        whole = plain.str.strip_prefix("+").cast(pl.Int64, strict=False)
        return whole if whole.null_count() == plain.null_count() else None
    if _all(plain, NUMBER):
        return plain.str.strip_prefix("+").cast(pl.Float64)
    return None


def _all(plain: pl.Series, pattern: str) -> bool:
    return bool(plain.str.contains(pattern).all(ignore_nulls=True))


def _times(plain: pl.Series) -> pl.Series | None:
    if _all(plain, DATE):
        dates = plain.str.to_date("%Y-%m-%d", strict=False)
        return dates if dates.null_count() == plain.null_count() else None
    if _all(plain, MOMENT):
        return _moments(plain)
    if _all(plain, YEAR_FIRST):
        parts = plain.str.extract_groups(YEAR_FIRST).struct.unnest()
        return _from_parts(parts["y"], parts["m"], parts["d"], parts["t"])
    if _all(plain, YEAR_LAST):
        parts = plain.str.extract_groups(YEAR_LAST).struct.unnest()
        order = day_first(plain)
        if order is not None:
            month, day = (parts["b"], parts["a"]) if order else (parts["a"], parts["b"])
            return _from_parts(parts["y"], month, day, parts["t"])
    return None


def day_first(plain: pl.Series) -> bool | None:
    """Whether texts such as 31/01/2020 begin with the day; None where both ways are possible, or neither."""
    parts = plain.str.extract_groups(YEAR_LAST).struct.unnest()
    first, second = (bool((parts[name].cast(pl.Int64) > 12).any()) for name in ("a", "b"))
    return None if first == second else first


def _from_parts(year: pl.Series, month: pl.Series, day: pl.Series, time: pl.Series) -> pl.Series | None:
    iso = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2) + time.fill_null("")
    return _times(iso) if _all(iso, DATE) or _all(iso, MOMENT) else None


def _moments(plain: pl.Series) -> pl.Series | None:
    zoned = plain.str.contains(r"(Z|[+-]\d\d:?\d\d)$")
    if zoned.any() and not zoned.all(ignore_nulls=True):
        return None
    iso = (
        plain.str.replace(" ", "T", literal=True)
        .str.replace(r"Z$", "+0000")
        .str.replace(r"([+-]\d\d):(\d\d)$", "$1$2")
    )
    iso = iso.str.replace(r"T(\d\d:\d\d)([+-]|$)", "T$1:00$2")
    times = iso.str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%z" if zoned.any() else "%Y-%m-%dT%H:%M:%S%.f", strict=False
    )
    return times if times.null_count() == plain.null_count() else None
