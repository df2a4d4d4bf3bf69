"""Ranges of a release in the form of this program, however its file writes numbers and dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from voronym.table.dialect import DECIMAL_COMMA, Reading
from voronym.table.moments import DIGITS, Moment, in_signs
from voronym.table.numerals import Number
from voronym.table.respell import Form, all_ranges, found_form, plain_texts
from voronym.table.source import Source


def read_ranges(
    texts: pl.Series, *, times: bool, original: Source | None = None, released: Source | None = None
) -> pl.Series:
    """Return ranges in voronym's form; other texts stay unchanged.

    Ends are read as declared for the file of the release, or else as the original writes numbers or
    dates: 1.500–2.000 may be thousands. Tables that are no text files use decimal points and ISO dates.

    Parameters
    ----------
    texts : pl.Series
        The column of the release.
    times : bool
        Whether ranges are of dates or times.
    original, released : Source, optional
        The files of both tables, if known.
    """
    for form in _forms(texts, times, original, released):
        made = texts if form is None else plain_texts(texts, form)
        if all_ranges(made, times=times):
            return made
    return texts


def _forms(
    texts: pl.Series, times: bool, original: Source | None, released: Source | None
) -> Iterator[Form | None]:
    """Yield the number or date forms to try, the likeliest first; None is the form of programs."""
    text_file = released is not None and released.dialect is not None
    wanted: type[Form] = Moment if times else Number
    spelled = None if original is None else original.spellings.get(texts.name)
    own = spelled.form if spelled is not None and isinstance(spelled.form, wanted) else None
    if released is not None and (outcome := _declared_form(released.reading, times, own)) is not None:
        yield outcome
    if own is not None and text_file:
        yield own
    yield None
    if own is not None and not text_file:
        yield own
    comma = (
        DECIMAL_COMMA.get(released.dialect.delimiter, "never") if released and released.dialect else "clear"
    )
    result = found_form(texts, times=times, comma=comma)
    if result is not None:
        yield result
    if times:
        yield DIGITS


def _declared_form(reading: Reading, times: bool, own: Form | None) -> Form | None:
    """Return the declared form of the release."""
    if times:
        return None if reading.date_format is None else Moment(in_signs(reading.date_format))
    if reading.decimal is None and not reading.thousands:
        return None
    decimal = reading.decimal or ("." if reading.thousands != "." else ",")
    start = own if isinstance(own, Number) else Number()
    return replace(start, decimal=decimal, thousands=reading.thousands or "")
