"""Numbers in people's formats: 1234.5, 1.234,5, 1 234,50 €, $1,234, 45 %.

The form is determined from all texts of a column. It reads them, and writes other numbers in the same form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, cast

import polars as pl

NUMBER = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?inf(inity)?$"
CODE = r"^[+-]?0[0-9]"  # as a number it would lose its zeros
WHOLE = r"^[+-]?[0-9]+$"
GROUPED = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"  # 1,234 may be either
GROUPS = {".": ",", ",": ".", " ": ",", "\xa0": ",", "\u202f": ",", "'": ".", "’": "."}
"""Possible thousands separators, and the decimal mark that goes with each."""

_UNIT = r"€|\$|£|¥|₹|zł|Kč|kr\.?|Fr\.?|%|‰|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|Euro?|kg|g|cm|mm|km|m"
_AFFIXES = re.compile(
    rf"^(?P<prefix>(?:{_UNIT})[ \xa0\u202f]?)?[+-]?[0-9.](?:.*[0-9.])?(?P<suffix>[ \xa0\u202f]?(?:{_UNIT}))?$"
)
_EXACT = 2.0**50  # beyond it, tenths and hundredths can no longer be distinguished reliably

Comma = Literal["always", "clear", "never"]


@dataclass(frozen=True)
class Number:
    """The format of the numbers of a column.

    Parameters
    ----------
    decimal : str
        The sign before the fraction.
    thousands : str
        Separator of groups of three digits; "" without one.
    prefix, suffix : str
        Around every number: "$" or " €".
    least, most : int or None
        Fewest and most digits after the decimal mark; None if they are not counted, as in 1e-7.
    whole : bool
        Whether all are whole numbers.

    Examples
    --------
    >>> form = find_number(pl.Series(["11.871,79 €", "950,00 €"]))
    >>> form.read(pl.Series(["11.871,79 €"])).to_list()
    [11871.79]
    >>> form.write(pl.Series([1234567.5])).to_list()
    ['1.234.567,50 €']
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    least: int | None = None
    most: int | None = None
    whole: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is the plain form of programs: a decimal point, no separators, prefix or suffix."""
        return (self.decimal, self.thousands, self.prefix, self.suffix) == (".", "", "", "")

    def says(self) -> str:
        """Return an example of the form."""
        body = "1234567" if self.whole else f"1234567{self.decimal}{'5' * max(self.most or 1, 1)}"[:18]
        grouped = body if not self.thousands else f"1{self.thousands}234{self.thousands}567{body[7:]}"
        return f"{self.prefix}{grouped}{self.suffix}"

    def bare(self, texts: pl.Series) -> pl.Series:
        """Return the texts in a program's form: 1234.5."""
        out = texts.str.strip_prefix(self.prefix).str.strip_suffix(self.suffix)
        if self.thousands:
            out = out.str.replace_all(self.thousands, "", literal=True)
        if self.decimal != ".":
            out = out.str.replace(self.decimal, ".", literal=True)
        return out.str.strip_prefix("+")

    def fits(self, texts: pl.Series) -> pl.Series:
        """Return which texts have this form."""
        body = texts.str.strip_prefix(self.prefix).str.strip_suffix(self.suffix)
        around = texts.str.starts_with(self.prefix) & texts.str.ends_with(self.suffix)
        result = body.str.contains(_pattern(self.decimal, self.thousands))
        if (self.decimal, self.thousands) == (".", ""):
            result |= body.str.contains(NUMBER)
        return around & result

    def read(self, texts: pl.Series) -> pl.Series | None:
        """Return the numbers; None if one of them is too long."""
        bare = self.bare(texts)
        if not self.whole:
            return bare.cast(pl.Float64, strict=False)
        numbers = bare.cast(pl.Int64, strict=False)
        return numbers if numbers.null_count() == texts.null_count() else None

    def write(self, numbers: pl.Series) -> pl.Series:
        """Return numbers as texts of this form; missing ones stay missing."""
        if numbers.dtype.is_integer():
            out = numbers.cast(pl.String)
            fraction = "0" * (self.least or 0)
            out = out + (self.decimal + fraction) if fraction else out
        elif numbers.dtype.is_float() and self.most is not None and self._exact(numbers):
            out = self._fixed(numbers.cast(pl.Float64))
        else:
            out = self._pointed(default_text(numbers))
        return self._around(out).alias(numbers.name)

    def dressed(self, texts: pl.Series) -> pl.Series:
        """Return a program's texts, such as 1234.50, in this form, with all their digits."""
        return self._around(self._pointed(texts)).alias(texts.name)

    def _pointed(self, texts: pl.Series) -> pl.Series:
        return texts.str.replace(".", self.decimal, literal=True) if self.decimal != "." else texts

    def _around(self, texts: pl.Series) -> pl.Series:
        """Insert the thousands separator and the text around every number."""
        out = _group(texts, self.thousands) if self.thousands else texts
        if self.prefix or self.suffix:
            out = pl.select(pl.lit(self.prefix) + out + pl.lit(self.suffix)).to_series()
        return out

    def _exact(self, numbers: pl.Series) -> bool:
        largest: Any = numbers.abs().max()
        return largest is None or bool(largest * 10.0 ** (self.most or 0) < _EXACT)

    def _fixed(self, numbers: pl.Series) -> pl.Series:
        most, least = self.most or 0, self.least or 0
        scaled = (numbers * 10.0**most).round().cast(pl.Int64)
        left = (scaled.abs() // 10**most).cast(pl.String)
        sign = pl.select(pl.when(scaled < 0).then(pl.lit("-")).otherwise(pl.lit(""))).to_series()
        if not most:
            return cast("pl.Series", sign + left)
        digits = (scaled.abs() % 10**most).cast(pl.String).str.zfill(most)
        tail = digits.str.slice(0, least) + digits.str.slice(least).str.strip_chars_end("0")
        dot = pl.select(pl.when(tail != "").then(pl.lit(self.decimal)).otherwise(pl.lit(""))).to_series()
        return cast("pl.Series", sign + left + dot + tail)


def _group(texts: pl.Series, sign: str) -> pl.Series:
    """Insert a separator between groups of three digits of the whole part."""
    whole = texts.str.extract(r"^([+-]?[0-9]+)", 1)
    rest = texts.str.extract(r"^[+-]?[0-9]+(.*)$", 1)
    minus = whole.str.extract(r"^([+-]?)", 1)
    digits = whole.str.strip_prefix("-").str.strip_prefix("+").str.reverse()
    digits = digits.str.replace_all(r"([0-9]{3})", "${1}" + sign).str.strip_suffix(sign).str.reverse()
    return minus + digits + rest


def default_text(column: pl.Series) -> pl.Series:
    """Return values of any plain type as Polars writes them into a text file."""
    lines = column.to_frame().write_csv(include_header=False, null_value="", quote_style="never")
    out = pl.Series(column.name, lines.split("\n")[:-1], dtype=pl.String)
    return out.set(column.is_null(), None) if column.null_count() else out


def find_number(
    plain: pl.Series,
    *,
    comma: Comma = "never",
    decimal: str | None = None,
    thousands: str | None = None,
    codes: bool = False,
) -> Number | None:
    """Return the format of numbers in a column; None if some texts are no numbers, or it is ambiguous.

    Parameters
    ----------
    plain : pl.Series
        Texts without outer spaces; null for a gap.
    comma : {"always", "clear", "never"}
        Whether 1,5 is a number; "clear": unless every comma might as well part thousands.
    decimal, thousands : str, optional
        The separators, if declared.
    codes : bool
        Whether 08001 is a number too.
    """
    first = plain.drop_nulls().head(1).to_list()
    match = _AFFIXES.match(first[0]) if first else None
    if match is None and not (first and re.match(NUMBER, first[0])):
        return None
    prefix, suffix = (match.group("prefix") or "", match.group("suffix") or "") if match else ("", "")
    body = plain
    if prefix or suffix:
        if not (plain.str.starts_with(prefix) & plain.str.ends_with(suffix)).all(ignore_nulls=True):
            return None
        body = plain.str.strip_prefix(prefix).str.strip_suffix(suffix)
    if not codes and body.str.contains(CODE).any():
        return None
    if decimal is not None or thousands:
        declared = (decimal or ("." if thousands != "." else ","), thousands or "")
        signs = declared if all_match(body, _pattern(*declared)) else None
    else:
        signs = _signs(body, "thousands" if prefix.strip() in ("$", "£") else comma)
    if signs is None:
        return None
    whole = not body.str.contains(rf"[eEnN]|{re.escape(signs[0])}").any()
    least, most = (None, None) if whole else _decimals(body, signs[0])
    return Number(signs[0], signs[1], prefix, suffix, least, most, whole)


def _signs(body: pl.Series, comma: Comma | Literal["thousands"]) -> tuple[str, str] | None:
    """Return the decimal mark and the thousands separator; None if there is more than one possibility."""
    if all_match(body, NUMBER):
        return ".", ""
    if comma in ("always", "clear") and all_match(body, _pattern(",", "")):
        parted = body.filter(body.str.contains(",", literal=True))
        if comma == "always" or not all_match(parted, GROUPED):
            return ",", ""
        return None
    for sign, decimal in GROUPS.items():
        if not body.str.contains(sign, literal=True).any() or not all_match(body, _pattern(decimal, sign)):
            continue
        if _telephones(body, decimal):
            return None
        sure = (
            rf"{re.escape(sign)}[0-9]{{3}}{re.escape(sign)}|{re.escape(sign)}[0-9]{{3}}{re.escape(decimal)}"
        )
        if sign not in ",." or body.str.contains(sure).any():
            return decimal, sign
        if sign == "," and comma in ("never", "thousands"):  # 1,234 between commas: thousands
            return decimal, sign
    return (",", "") if comma == "never" and all_match(body, _pattern(",", "")) else None


def _telephones(body: pl.Series, decimal: str) -> bool:
    """Whether texts in groups of three digits are telephone numbers: a plus before each, or one length.

    Amounts of nine digits and more that all have equally many are rarer than columns of 612 345 678.
    """
    if body.str.contains(decimal, literal=True).any():
        return False
    if body.str.starts_with("+").all(ignore_nulls=True):
        return True
    digits = body.str.count_matches("[0-9]").drop_nulls()
    return len(digits) >= 10 and digits.n_unique() == 1 and int(digits[0]) >= 9


def _pattern(decimal: str, thousands: str) -> str:
    group = rf"[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+|" if thousands else ""
    more = r"([eE][+-]?[0-9]+)?" if not thousands else ""
    return rf"^[+-]?({group}[0-9]+)({re.escape(decimal)}[0-9]+)?{more}$"


def _decimals(body: pl.Series, decimal: str) -> tuple[int | None, int | None]:
    if body.str.contains(r"[eEnN]").any():
        return None, None
    tails = body.str.extract(rf"{re.escape(decimal)}([0-9]*)$", 1).str.len_chars().fill_null(0)
    tails = tails.filter(body.is_not_null())
    least: Any = tails.min()
    most: Any = tails.max()
    return int(least), int(most)


def all_match(plain: pl.Series, pattern: str) -> bool:
    """Whether all texts match; the first ones settle most columns."""
    if not plain.head(64).str.contains(pattern).all(ignore_nulls=True):
        return False
    return bool(plain.str.contains(pattern).all(ignore_nulls=True))
