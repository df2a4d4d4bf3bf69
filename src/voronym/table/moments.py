"""Dates and times in people's formats: 2020-01-31, 31.1.2020, 01/31/2020 10:20, 2020-01-31T10:20:30Z.

The form is determined from all texts of a column, if there is only one way to read them: `03/04/2020` can be
two days, but next to `31/05/2020` only one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from voronym.table.numerals import all_match

_TIME = r"\d\d:\d\d(:\d\d(\.\d{1,9})?)?"
DATE = r"^\d{4}-\d\d-\d\d$"
MOMENT = rf"^\d{{4}}-\d\d-\d\d[T ]{_TIME}(Z|[+-]\d\d:?\d\d)?$"
YEAR_FIRST = rf"^(?<y>\d{{4}})[/.](?<m>\d{{1,2}})[/.](?<d>\d{{1,2}})(?<t>[T ]{_TIME})?$"
YEAR_LAST = rf"^(?<a>\d{{1,2}})[/.-](?<b>\d{{1,2}})[/.-](?<y>\d{{4}})(?<t>[T ]{_TIME})?$"
_WORDS = {
    "yyyy": "%Y", "yy": "%y", "dd": "%d", "hh": "%H", "mi": "%M", "ss": "%S", "mm": "%m",
    "d": "%-d", "m": "%-m",
}  # fmt: skip


@dataclass(frozen=True)
class Moment:
    """The format of the dates or times of a column.

    Parameters
    ----------
    pattern : str
        Pattern as in strftime: ``%d.%m.%Y``.
    declared : bool
        Whether the user declared the pattern, which then also reads the texts.

    Examples
    --------
    >>> import datetime as dt
    >>> form = find_moment(pl.Series(["31.12.2025", "01.02.2024"]))
    >>> form.pattern, form.write(pl.Series([dt.date(2025, 3, 4)])).to_list()
    ('%d.%m.%Y', ['04.03.2025'])
    """

    pattern: str
    declared: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is a program's usual form."""
        return self.pattern.startswith("%Y-%m-%d")

    @property
    def day(self) -> str:
        """The pattern without the time of day."""
        return re.split(r"[T ]?%H", self.pattern)[0]

    def says(self) -> str:
        """Return the pattern in letters."""
        out = self.pattern
        for word, sign in {"yyyy": "%Y", "yy": "%y", "dd": "%d", "mm": "%m", "hh:mm": "%H:%M"}.items():
            out = out.replace(sign, word)
        for sign, word in {"%-d": "d", "%-m": "m", "%S": "ss", "%:z": "+hh:mm", "%z": "+hhmm"}.items():
            out = out.replace(sign, word)
        return re.sub(r"%\.(\d)f", lambda m: "." + "f" * int(m.group(1)), out)

    def read(self, texts: pl.Series) -> pl.Series | None:
        """Return dates or times; None if one of the texts is neither."""
        return parse(texts, self.pattern) if self.declared else _times(texts)

    def write(self, times: pl.Series) -> pl.Series:
        """Return dates or times as texts of this form."""
        pattern = self.day if times.dtype == pl.Date else self.pattern
        return times.dt.strftime(pattern).alias(times.name)


DIGITS = Moment("%Y%m%d")
"""Days as whole numbers: 20251231, if the user declares them as days."""


def in_signs(pattern: str) -> str:
    """Convert a date pattern in letters, dd.mm.yyyy, to Python's form, %d.%m.%Y."""
    if "%" in pattern:
        return pattern
    hours = re.sub(r"(?i)(hh?):mm", r"\1:mi", pattern)
    return re.sub(r"(?i)yyyy|yy|dd|hh|mi|ss|mm|d|m", lambda m: _WORDS[m.group().lower()], hours)


def parse(plain: pl.Series, pattern: str) -> pl.Series | None:
    """Return texts parsed by one pattern; None if one of them does not fit."""
    timed = "%H" in pattern
    reading = pattern.replace("%-d", "%d").replace("%-m", "%m")
    try:
        result = (
            plain.str.to_datetime(reading, strict=False, exact=True, time_unit="us")
            if timed
            else plain.str.to_date(reading, strict=False, exact=True)
        )
    except pl.exceptions.PolarsError:
        return None
    return result if result.null_count() == plain.null_count() else None


def find_moment(plain: pl.Series, pattern: str | None = None) -> Moment | None:
    """Return the format of dates or times in a column; None if it is not certain."""
    if pattern is not None:
        signs = in_signs(pattern)
        if parse(plain.head(64), signs) is not None and parse(plain, signs) is not None:
            return Moment(signs, declared=True)
    for shape in (DATE, MOMENT, YEAR_FIRST, YEAR_LAST):
        if all_match(plain, shape):
            return None if _times(plain) is None else Moment(_written(plain, shape))
    return None


def _written(plain: pl.Series, shape: str) -> str:
    """Return the pattern of texts that are dates of one shape."""
    if shape == DATE:
        return "%Y-%m-%d"
    if shape == MOMENT:
        return f"%Y-%m-%d{_clock(plain)}"
    first = plain.drop_nulls().head(1).to_list()[0]
    a, b = re.findall(r"[/.-]", first)[:2]
    bare = plain.str.extract(r"^([^T ]*)", 1)
    single = bare.str.contains(r"(^|[/.-])\d([/.-]|$)").any()
    day, month = ("%-d", "%-m") if single else ("%d", "%m")
    if shape == YEAR_FIRST:
        date = f"%Y{a}{month}{b}{day}"
    else:
        date = f"{day}{a}{month}{b}%Y" if day_first(plain) else f"{month}{a}{day}{b}%Y"
    return date + _clock(plain)


def _clock(plain: pl.Series) -> str:
    """Return the pattern of the time of day, by the most precise of the texts."""
    time = plain.str.extract(r"([T ]\d\d:\d\d.*)$", 1).drop_nulls()
    if not len(time):
        return ""
    first: str = time[0]
    seconds = time.str.contains(r"\d\d:\d\d:\d\d").any()
    digits = time.str.extract(r"\.(\d+)", 1).str.len_chars().max()
    out = first[0] + "%H:%M" + (":%S" if seconds else "")
    if digits:
        out += f"%.{3 if digits <= 3 else 6 if digits <= 6 else 9}f"  # type: ignore[operator]
    zone = re.search(r"(Z|[+-]\d\d:?\d\d)$", first)
    if zone:
        out += "Z" if zone.group() == "Z" else "%:z" if ":" in zone.group() else "%z"
    return out


def _times(plain: pl.Series) -> pl.Series | None:
    if all_match(plain, DATE):
        dates = plain.str.to_date("%Y-%m-%d", strict=False)
        return dates if dates.null_count() == plain.null_count() else None
    if all_match(plain, MOMENT):
        return _moments(plain)
    if all_match(plain, YEAR_FIRST):
        parts = plain.str.extract_groups(YEAR_FIRST).struct.unnest()
        return _from_parts(parts["y"], parts["m"], parts["d"], parts["t"])
    if all_match(plain, YEAR_LAST):
        parts = plain.str.extract_groups(YEAR_LAST).struct.unnest()
        order = day_first(plain)
        if order is not None:
            month, day = (parts["b"], parts["a"]) if order else (parts["a"], parts["b"])
            return _from_parts(parts["y"], month, day, parts["t"])
    return None


def day_first(plain: pl.Series) -> bool | None:
    """Whether texts such as 31/01/2020 begin with the day; None if both or neither is possible."""
    parts = plain.str.extract_groups(YEAR_LAST).struct.unnest()
    first, second = (bool((parts[name].cast(pl.Int64) > 12).any()) for name in ("a", "b"))
    return None if first == second else first


def _from_parts(year: pl.Series, month: pl.Series, day: pl.Series, time: pl.Series) -> pl.Series | None:
    iso = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2) + time.fill_null("")
    return _times(iso) if all_match(iso, DATE) or all_match(iso, MOMENT) else None


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
