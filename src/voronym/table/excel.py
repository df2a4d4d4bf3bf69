"""Spreadsheets (.xlsx): read by fastexcel, written by XlsxWriter, one sheet each."""

from __future__ import annotations

import datetime as dt
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import MissingExtraError, ReadError, WriteError, hint
from voronym.table.dialect import Reading
from voronym.table.frame import listing
from voronym.table.heading import refuse_data_as_header
from voronym.table.moments import find_moment, in_signs, parse
from voronym.table.source import Source, attach_source
from voronym.table.spelling import Hints, declared_missing
from voronym.table.statistical import whole

_ROWS = 1_048_575  # below the header
_LETTERS = 32_767  # in a cell
_FIRST = dt.date(1900, 3, 1)  # Excel's calendar has a day before that never was
_MIDNIGHT = r"^\d{4}-\d\d-\d\d 00:00:00$"
_NAME = r"[\[\]:*?/\\]"


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            "a spreadsheet needs fastexcel and XlsxWriter: pip install 'voronym[excel]'"
        ) from None


def read_file(path: Path, reading: Reading) -> pl.DataFrame:
    """Read a sheet of a spreadsheet: the named one, or the only one with cells."""
    library = _library("fastexcel")
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())  # its notes on columns are not for users
    try:
        book = library.read_excel(path)
        sheet = _sheet(path.name, book, reading.sheet)
        frame = _load(path.name, book, sheet, reading)
    except library.FastExcelError as error:
        raise ReadError(
            f"{path.name!r} could not be read as a spreadsheet ({type(error).__name__}); it may be damaged, "
            "locked by a password, or of another format"
        ) from None
    if reading.header is None:
        refuse_data_as_header(path.name, frame)
    frame, raw = declared_missing(frame, Hints(missing=reading.missing))
    attach_source(frame, Source("excel", reading, raw=raw, notes=(f"sheet {sheet!r}",)))
    return frame


def _sheet(name: str, book: Any, wanted: str | None) -> str:
    names: list[str] = list(book.sheet_names)
    if wanted is not None:
        if wanted in names:
            return wanted
        if wanted.isdigit() and 1 <= int(wanted) <= len(names):
            return names[int(wanted) - 1]
        raise ReadError(f"{name!r} has no sheet {wanted!r}; its sheets are: {listing(names)}")
    filled = [item for item in names if book.load_sheet(item, header_row=None, n_rows=1).height > 0]
    if len(filled) != 1:
        what = (
            "has no cells"
            if not filled
            else f"has several sheets: {listing(filled)}; say which with {hint('sheet')}"
        )
        raise ReadError(f"{name!r} {what}")
    return filled[0]


def _load(name: str, book: Any, sheet: str, reading: Reading) -> pl.DataFrame:
    skip, headed = reading.skip_rows, reading.header is not False
    top = book.load_sheet(sheet, header_row=None, n_rows=1, skip_rows=skip, dtypes="string").to_polars()
    if not top.height:
        raise ReadError(f"sheet {sheet!r} of {name!r} is empty")
    names = [f"column_{i}" for i in range(1, top.width + 1)]
    if headed:
        cells = [("" if entry is None else entry).strip() for entry in top.row(0)]
        names = [element or f"unnamed_{i}" for i, element in enumerate(cells, start=1)]
    repeated = [item for item, often in Counter(names).items() if often > 1]
    if repeated:
        # By their numbers: where the first line is no header, or the line breaks are gone, names are values.
        places = [str(i) for i, member in enumerate(names, start=1) if member in repeated]
        shown = ", ".join(places[:8]) + (" and more" if len(places) > 8 else "")
        raise ReadError(
            f"{name!r} has columns of the same name, numbers {shown}; rename them, or use {hint('no_header')}"
        )
    try:
        body: pl.DataFrame = book.load_sheet(
            sheet, header_row=None, skip_rows=skip + headed, column_names=names, schema_sample_rows=None
        ).to_polars()
    except Exception as error:  # a sheet of nothing but a header, for one
        raise ReadError(f"sheet {sheet!r} of {name!r} holds no table ({type(error).__name__})") from None
    if reading.skip_footer:
        body = body.head(max(body.height - reading.skip_footer, 0))
    return body.select(_column(column, reading.date_format) for column in body.get_columns())


def _column(column: pl.Series, date_format: str | None) -> pl.Series:
    """Return whole doubles as integers, and moments at midnight as dates, if all values are so.

    Texts stay texts, unless a date format is declared and fits all of them, or some cells are dates.
    """
    if isinstance(column.dtype, pl.Datetime):
        days = column.dt.date()
        return days if column.drop_nulls().dt.time().eq(dt.time(0)).all() else column.cast(pl.Datetime("us"))
    if column.dtype == pl.String:
        plain = column.str.strip_chars()
        plain = plain.set(plain == "", None)
        result = None if date_format is None else parse(plain, in_signs(date_format))
        read = _days(plain, date_format) if result is None or result.null_count() == len(result) else result
        return plain if read is None else read
    return whole(column)


def _days(texts: pl.Series, date_format: str | None) -> pl.Series | None:
    """Return a column in which some cells are dates and others texts as days; None for any other column.

    In such a sheet, dates also arrive as texts: 2020-12-31 00:00:00 next to 31.12.2020. A column of texts
    only stays unchanged.
    """
    cells = texts.str.contains(_MIDNIGHT).fill_null(False)
    others = texts.set(cells, None)
    if not cells.any() or others.null_count() == len(others):
        return None
    form = find_moment(others, date_format)
    read = None if form is None else form.read(others)
    if read is None or read.dtype != pl.Date:
        return None
    own = texts.set(~cells, None).str.to_date("%Y-%m-%d 00:00:00", strict=False)
    return own.zip_with(cells, read).alias(texts.name) if own.null_count() == (~cells).sum() else None


def write_file(frame: pl.DataFrame, path: Path, sheet: str) -> int:
    """Write a table as a spreadsheet with one sheet; return 0, because texts stay texts and need no guard."""
    library = _library("xlsxwriter")
    if len(frame) > _ROWS:
        raise WriteError(
            f"a spreadsheet has room for {_ROWS:,} records, and there are {len(frame):,}; write text"
        )
    if not sheet or len(sheet) > 31 or pl.Series([sheet]).str.contains(_NAME).item():
        raise WriteError("the name of a sheet has 1 to 31 characters and none of [ ] : * ? / \\")
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_numbers": False,
        "strings_to_urls": False,
        "nan_inf_to_errors": True,
    }
    columns = [_sheet_column(column) for column in frame.get_columns()]
    with library.Workbook(str(path), options) as book:
        book.set_properties({"created": dt.datetime(2000, 1, 1)})  # not when, nor by whom
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        formats = [{pl.Date: day, pl.Datetime: moment}.get(item.dtype.base_type()) for item in columns]
        page = book.add_worksheet(sheet)
        for place, name in enumerate(frame.columns):
            page.write_string(0, place, name)
        writers = [_writer(page, entry.dtype) for entry in columns]
        for number, row in enumerate(zip(*(element.to_list() for element in columns), strict=True), start=1):
            for place, value in enumerate(row):
                if value is not None:
                    writers[place](number, place, value, formats[place])
    return 0


def _writer(page: Any, dtype: Any) -> Any:
    if dtype == pl.String:
        return page.write_string
    if dtype == pl.Boolean:
        return page.write_boolean
    return page.write_datetime if dtype.is_temporal() else page.write_number


def _sheet_column(column: pl.Series) -> pl.Series:
    """Return a column of a type that a spreadsheet has, or as text."""
    dtype = column.dtype
    if isinstance(dtype, pl.Datetime):
        column = column.dt.replace_time_zone(None)
    if dtype in (pl.Date, pl.Datetime):
        first: Any = column.cast(pl.Date).min()
        return column if first is None or first >= _FIRST else column.cast(pl.String)
    if dtype == pl.Boolean:
        return column
    if dtype.is_numeric():
        largest: Any = column.cast(pl.Float64).abs().max() if len(column) else None
        if dtype.is_integer() and largest is not None and largest >= 2**53:
            raise WriteError(
                f"column {column.name!r} has integers too long for a spreadsheet; make them text"
            )
        return column.cast(pl.Float64) if not dtype.is_integer() else column
    if dtype.is_nested() or dtype == pl.Binary:
        raise WriteError(
            f"column {column.name!r} holds values that no spreadsheet takes; convert it to strings"
        )
    texts = column.dt.to_string("iso") if dtype == pl.Duration else column.cast(pl.String)
    if (texts.str.len_chars() > _LETTERS).any():
        raise WriteError(
            f"column {column.name!r} has texts too long for the cells of a spreadsheet; write text"
        )
    return texts
