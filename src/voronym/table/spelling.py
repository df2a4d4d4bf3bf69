"""The spelling of numbers, dates, truth values and gaps in texts.

A column of text becomes numbers or dates only if all cells except gaps can be read so, in only one way; see
`numerals` and `moments`. The spelling is kept for writing the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from voronym.table.dialect import sign_by_column
from voronym.table.moments import DATE, MOMENT, YEAR_FIRST, YEAR_LAST, Moment, day_first, find_moment
from voronym.table.numerals import CODE, NUMBER, Comma, Number, all_match, default_text, find_number
from voronym.table.respell import respelled

__all__ = [
    "CODE", "DATE", "MISSING", "MOMENT", "NUMBER", "YEAR_FIRST", "YEAR_LAST", "Comma", "Hints", "Spelling",
    "day_first", "declared_missing", "form_of", "gaps", "may_be_grouped", "respell_grouped", "spell", "typed",
]  # fmt: skip

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
        "k.a.",
        "k. a.",
        "keine angabe",
        "non renseigné",
        "ns/nc",
        "s/d",
        "?",
        ".",
        "-",
        "--",
        "...",
    ]
)  # in any case of letters, in a column that otherwise holds numbers, dates or true and false
TRUTH = r"(?i)^(true|false)$"
SEVERAL = 8
"""Number of values with a point that suggest thousands, if other columns have decimal points."""
_BY_THREES = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"
_GROUPED_BY_POINT = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$|^[+-]?[0-9]{1,3}$"

Quoted = Literal["needed", "present", "always"]


@dataclass(frozen=True)
class Truth:
    """The words for true and false in a column."""

    yes: str = "true"
    no: str = "false"
    plain = True

    def says(self) -> str:
        """Return both words."""
        return f"{self.yes}/{self.no}"

    def read(self, texts: pl.Series) -> pl.Series:
        """Return booleans."""
        return texts.str.to_lowercase() == "true"

    def write(self, values: pl.Series) -> pl.Series:
        """Return booleans as texts."""
        result = pl.when(values).then(pl.lit(self.yes)).when(values.not_()).then(pl.lit(self.no))
        return pl.select(result.alias(values.name)).to_series()


@dataclass(frozen=True)
class Hints:
    """Facts about a file that help to read its columns.

    Parameters
    ----------
    comma : {"always", "clear", "never"}
        Whether 1,5 is a number: always, if it is clear, or only if nothing else fits.
    decimal, thousands, date_format : str, optional
        Declared forms of numbers and dates; "income=." is about the thousands of one column.
    missing : sequence of str
        Texts that mean that there is no value, in every column: "-999". "age=99" is about one column.
    """

    comma: Comma = "never"
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    missing: Sequence[str] = ()

    def parted_by(self, name: str) -> str | None:
        """Return the declared thousands separator of a column, if any."""
        names, sign = ((), None) if self.thousands is None else sign_by_column(self.thousands)
        return sign if not names or name in names else None

    def codes(self, name: str) -> list[str]:
        """Return the missing codes of a column."""
        out = []
        for code in self.missing:
            column, result, own = code.rpartition("=")
            if not result or column == name:
                out.append((own if result else code).strip())
        return out


@dataclass(frozen=True)
class Spelling:
    """The spelling of a column in a text file.

    Parameters
    ----------
    form : Number, Moment, Truth or None
        Form of its values; None for texts.
    gap : str
        Spelling of a missing value.
    quoted : {"needed", "present", "always"}
        Quoted cells: only if needed, all that are not missing, or all.
    ranges : bool
        Whether the column has ranges, whose ends are written in the form.
    """

    form: Number | Moment | Truth | None = None
    gap: str = ""
    quoted: Quoted = "needed"
    ranges: bool = False

    def write(self, column: pl.Series) -> pl.Series:
        """Return the values in the file's form, without quotes and without nulls."""
        dtype = column.dtype
        fits = {
            Number: dtype.is_numeric(),
            Moment: dtype in (pl.Date, pl.Datetime),
            Truth: dtype == pl.Boolean,
        }
        if self.form is not None and fits[type(self.form)]:
            out = self.form.write(column)
        elif self.ranges and dtype == pl.String and isinstance(self.form, (Number, Moment)):
            out = respelled(column, self.form)
        elif dtype in (pl.Categorical, pl.Enum):
            out = column.cast(pl.String)
        elif dtype == pl.Duration:
            out = column.dt.to_string("iso")
        else:
            out = column if dtype == pl.String else default_text(column)
        return out.fill_null(self.gap).alias(column.name)


def gaps(column: pl.Series, codes: Sequence[str] = ()) -> pl.Series:
    """Return the texts without surrounding spaces, null if they are empty or mean "missing"."""
    plain = column.str.strip_chars()
    return plain.set(plain.str.to_lowercase().is_in([*MISSING, ""]) | _coded(plain, codes), None)


def _coded(plain: pl.Series, codes: Sequence[str]) -> pl.Series:
    """Return which texts are a declared code, as text or as number: -999, -999.0 and -999,0."""
    result = plain.is_in(list(codes))
    with_comma = plain.str.contains(r",(?:\d{1,2}|\d{4,})$")  # three digits may be thousands
    points = plain.str.replace(",", ".", literal=True).zip_with(with_comma, plain)
    for code in codes:
        try:
            number = float(code)
        except ValueError:
            continue
        result |= points.cast(pl.Float64, strict=False).eq(number).fill_null(False)
    return result


def _coded_as(form: Number, plain: pl.Series, codes: Sequence[str]) -> pl.Series:
    """Return which texts are a declared code, in a column of numbers of a known form: -9 is not -9.000.

    Texts of another form are compared as texts.
    """
    fits = form.fits(plain)
    read = _coded(form.bare(plain), codes).zip_with(fits.fill_null(False), _coded(plain, codes))
    return (plain.is_in(list(codes)) | read).fill_null(False)


def spell(column: pl.Series, hints: Hints) -> tuple[pl.Series, Spelling]:
    """Return a column of texts in the narrowest type for all its values, and its spelling.

    Examples
    --------
    >>> values, spelling = spell(pl.Series("paid", ["1.234,50", "NA", "17,00"]), Hints())
    >>> values.to_list(), spelling.gap, spelling.form.says()
    ([1234.5, None, 17.0], 'NA', '1.234.567,55')
    """
    codes = hints.codes(column.name)
    plain = gaps(column, codes)
    form = _form(plain, hints)
    if codes and isinstance(form, Number):
        texts = gaps(column)
        plain = texts.set(_coded_as(form, texts, codes), None)
        form = _form(plain, hints)
    values = None if form is None else form.read(plain)
    if values is None or form is None:
        texts = column.str.strip_chars()
        texts = texts.set((texts == "") | _coded(texts, codes), None)
        return texts.alias(column.name), Spelling(None, _gap(column, texts))
    return values.alias(column.name), Spelling(form, _gap(column, values))


def may_be_grouped(spelling: Spelling) -> bool:
    """Whether the points of a column may separate thousands: 1.234."""
    form = spelling.form
    return isinstance(form, Number) and form.plain and (form.least, form.most) in ((3, 3), (0, 3))


def by_threes(column: pl.Series) -> bool:
    """Whether every point of a column precedes exactly three last digits, like a thousands separator."""
    parted = column.filter(column.str.contains(".", literal=True))
    return len(parted) > 1 and all_match(parted.str.strip_chars(), _BY_THREES)


def beside_small(column: pl.Series) -> bool:
    """Whether numbers without a point are all below 1,000, next to several with one: 950 and 1.634.

    One in ten decimals ends in a zero and so has fewer than three digits. Several numbers with three
    decimals or none therefore suggest thousands, whatever other columns have.
    """
    texts = column.str.strip_chars()
    whole = texts.filter(texts.str.contains(r"^[+-]?[0-9]+$"))
    parted = texts.str.contains(".", literal=True).sum()
    return len(whole) > 0 and parted >= SEVERAL and all_match(whole, r"^[+-]?[0-9]{1,3}$")


def respell_grouped(
    column: pl.Series, spellings: tuple[pl.Series, Spelling], hints: Hints
) -> tuple[pl.Series, Spelling]:
    """Read 1.234 as thousands, in a file whose other columns have decimal commas."""
    codes = hints.codes(column.name)
    plain = gaps(column)
    plain = plain.set(plain.is_in(codes), None)  # -9.000 may be the only one with a point, and no code then
    whole = (
        isinstance(spellings[1].form, Number) and spellings[1].form.whole and plain.str.contains(r"\.").any()
    )
    if not (may_be_grouped(spellings[1]) or whole) or not all_match(plain, _GROUPED_BY_POINT):
        return spellings
    return spell(column, replace(hints, decimal=",", thousands="."))


def _form(plain: pl.Series, hints: Hints, *, codes: bool = False) -> Number | Moment | Truth | None:
    if plain.null_count() == len(plain):
        return None
    if all_match(plain, TRUTH):
        words = plain.drop_nulls().unique().to_list()
        often = plain.value_counts(sort=True)[plain.name].drop_nulls().to_list()
        yes = next((word for word in often if word.lower() == "true"), None)
        no = next((word for word in often if word.lower() == "false"), None)
        like = str.upper if words[0].isupper() else str.title if words[0].istitle() else str.lower
        return Truth(yes or like("true"), no or like("false"))
    return find_moment(plain, hints.date_format) or find_number(
        plain, comma=hints.comma, decimal=hints.decimal, thousands=hints.parted_by(plain.name), codes=codes
    )


def _gap(column: pl.Series, values: pl.Series) -> str:
    """Return the commonest spelling of the missing values of a column."""
    if not values.null_count():
        return ""
    spelled = column.filter(values.is_null()).value_counts(sort=True)
    return str(spelled[column.name][0] or "")


def declared_missing(frame: pl.DataFrame, hints: Hints) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Remove the declared codes from a typed table; return them by column."""
    raw, columns = {}, []
    for column in frame.get_columns():
        result = _coded(column.cast(pl.String), hints.codes(column.name)) if hints.missing else None
        if result is not None and result.any() and not column.dtype.is_nested():
            raw[column.name] = column
            column = pl.select(pl.when(~result).then(column).alias(column.name)).to_series()
        columns.append(column)
    return (pl.DataFrame(columns), raw) if raw else (frame, {})


def form_of(column: pl.Series) -> Number | Moment | Truth | None:
    """Return the spelling of a column of texts that is declared as numbers or dates."""
    return _form(gaps(column), Hints("clear"), codes=True)


def typed(column: pl.Series, *, comma: Comma = "clear", codes: bool = False) -> pl.Series | None:
    """Return the texts as integers, floats, booleans, dates or times; None if they fit none of these.

    Parameters
    ----------
    column : pl.Series
        A column of strings.
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
    form: Any = _form(plain, Hints(comma), codes=codes)
    result: pl.Series | None = None if form is None else form.read(plain)
    return result
