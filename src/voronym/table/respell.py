"""Ranges in the form of a file: 20,5–30 with decimal commas, 01.05.2020–31.05.2020 with such dates.

In memory ranges are as `spans` writes them. They are put into the form of a file when it is written, and out
of it when it is read back.
"""

from __future__ import annotations

import datetime as dt
import re

import polars as pl

from voronym.generalize.spans import ends
from voronym.table.moments import Moment, find_moment, parse
from voronym.table.numerals import Comma, Number, find_number

Form = Number | Moment
_OWN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_OWN_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?")
_CLOCK = r"(?:[T ](\d\d:\d\d(?::\d\d)?))?"
_BETWEEN = re.compile(r"–|;|, | - |\bto\b|\.\.| or less| or more|[<>≤≥=()\[\]*]")


def respelled(texts: pl.Series, form: Form) -> pl.Series:
    """Return ranges with their ends in the file's form of numbers or dates.

    All digits are kept, so different ranges stay different.

    Examples
    --------
    >>> respelled(pl.Series(["1500.5–2000", "(-5.5)–3", "80 or more"]), Number(",", ".")).to_list()
    ['1.500,5–2.000', '(-5,5)–3', '80 or more']
    >>> respelled(pl.Series(["2020-01-01–2020-12-31"]), Moment("%d.%m.%Y")).to_list()
    ['01.01.2020–31.12.2020']
    """
    if form.plain:
        return texts
    own = _OWN_NUMBER if isinstance(form, Number) else _OWN_DAY
    distinct = texts.drop_nulls().unique().to_list()
    result = list(dict.fromkeys(match[0] for text in distinct for match in own.finditer(text)))
    made = (
        form.dressed(pl.Series(result, dtype=pl.String)).to_list()
        if isinstance(form, Number)
        else [_moment(item, form) for item in result]
    )
    return _replaced(texts, distinct, own, dict(zip(result, made, strict=True)))


def _moment(text: str, form: Moment) -> str:
    """Return a day in the file's form, with its time of day to the minute or the second."""
    match = _OWN_DAY.fullmatch(text)
    assert match is not None  # noqa: S101 - found by the same expression
    day, clock, seconds = match.groups()
    pattern = form.day
    if not "1970" <= day[:4] <= "2069":  # two digits would be read as a year of these
        pattern = pattern.replace("%y", "%Y")
    made = str(pl.Series([dt.date.fromisoformat(day)]).dt.strftime(pattern).item())
    if clock is None:
        return made
    sign = "T" if "T%H" in form.pattern else " "
    return made + sign + clock + (seconds if seconds and (seconds != ":00" or "%S" in form.pattern) else "")


def plain_texts(texts: pl.Series, form: Form) -> pl.Series:
    """Return ranges of a file's form in ours; texts that do not fit stay.

    Examples
    --------
    >>> plain_texts(pl.Series(["1.500,5–2.000", "[20,5; 30,5[", "old"]), Number(",", ".")).to_list()
    ['1500.5–2000', '[20.5; 30.5[', 'old']
    >>> plain_texts(pl.Series(["01.01.2020 or less"]), Moment("%d.%m.%Y")).to_list()
    ['2020-01-01 or less']
    """
    if form.plain:
        return texts
    distinct = texts.drop_nulls().unique().to_list()
    if isinstance(form, Number):
        group = rf"\d{{1,3}}(?:{re.escape(form.thousands)}\d{{3}})+|" if form.thousands else ""
        # Where all numbers are whole, 21,000 has no fraction: the comma parts something else.
        fraction = "" if form.whole else rf"(?:{re.escape(form.decimal)}\d+)?(?:[eE][-+]?\d+)?"
        body = rf"([-+−]?(?:{group}\d+){fraction})"
        before, after = (re.escape(entry.strip()) for entry in (form.prefix, form.suffix))
        unit = (rf"(?:{before}\s*)?" if before else "", rf"(?:\s*{after})?" if after else "")
        own = re.compile(unit[0] + body + unit[1])
        bare = Number(form.decimal, form.thousands)
        result = {match[0]: match[1] for text in distinct for match in own.finditer(text)}
        read = bare.bare(pl.Series(list(result.values()), dtype=pl.String)).to_list()
        return _replaced(texts, distinct, own, dict(zip(result, read, strict=True)))
    own = re.compile(f"({_day_of(form.day)}){_CLOCK}")
    matches = {match[0]: match.groups() for text in distinct for match in own.finditer(text)}
    days = [_iso(day, form.day) for day, _ in matches.values()]
    made = [
        None if day is None else day if clock is None else f"{day}T{clock}"
        for day, (_, clock) in zip(days, matches.values(), strict=True)
    ]
    known = {text: item for text, item in zip(matches, made, strict=True) if item is not None}
    return _replaced(texts, distinct, own, known)


def _day_of(pattern: str) -> str:
    """Return an expression for days of a pattern; month names are letters."""
    signs = {"%Y": r"\d{4}", "%y": r"(?:\d{4}|\d\d)", "%d": r"\d\d", "%m": r"\d\d", "%j": r"\d{3}",
             "%-d": r"\d{1,2}", "%-m": r"\d{1,2}", "%e": r"[ \d]\d"}  # fmt: skip
    parts = re.split(r"(%-?[A-Za-z])", pattern)
    return "".join(signs.get(part, r"[^\W\d]+\.?" if part[:1] == "%" else re.escape(part)) for part in parts)


def _iso(day: str, pattern: str) -> str | None:
    for item in (pattern, pattern.replace("%y", "%Y")):
        result = parse(pl.Series([day]), item)
        if result is not None:
            return str(result.item().isoformat())
    return None


def _replaced(
    texts: pl.Series, distinct: list[str], own: re.Pattern[str], known: dict[str, str]
) -> pl.Series:
    """Return texts with the matches of an expression rewritten, if known how."""
    made = [own.sub(lambda match: known.get(match[0], match[0]), text) for text in distinct]
    out = texts.replace_strict(distinct, made, default=None, return_dtype=pl.String)
    return out.alias(texts.name)


def found_form(texts: pl.Series, *, times: bool, comma: Comma) -> Form | None:
    """Return the form of the ends of all ranges; None if it is ambiguous.

    Examples
    --------
    >>> found_form(pl.Series(["20,5–30", "30,5 or more", "*"]), times=False, comma="always").says()
    '1234567,5'
    """
    pieces = [part.strip() for text in texts.drop_nulls().unique().to_list() for part in _BETWEEN.split(text)]
    ends_ = pl.Series([piece for piece in pieces if piece], dtype=pl.String)
    if not len(ends_):
        return None
    return find_moment(ends_) if times else find_number(ends_, comma=comma)


def all_ranges(texts: pl.Series, *, times: bool) -> bool:
    """Whether all texts are ranges in voronym's form, or in the same form from other tools."""
    return all(ends(item, times=times) is not None for item in texts.drop_nulls().unique().to_list())
