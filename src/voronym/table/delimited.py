"""Delimited text: any delimiter, types inferred from the whole file, codes such as "08001" left alone."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from voronym.errors import ReadError
from voronym.table.frame import listing

DELIMITERS = ",;\t|"
NOT_AVAILABLE = (
    "NA",
    "N/A",
    "NaN",
    "nan",
    "null",
    "NULL",
    "None",
)  # missing, in a column of numbers or dates
_SAMPLE = 50
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\x1f\x8b": "a gzip archive",
    b"SQLite format 3": "an SQLite database",
    b"$FL": "an SPSS file",
    b"%PDF": "a PDF document",
}
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_file(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> pl.DataFrame:
    """Read a delimited text file; every row must have as many cells as the header."""
    text = _decode(path, encoding)
    if not text.strip():
        raise ReadError(f"{path.name!r} is empty")
    if delimiter is None:
        delimiter = sniff(text)
    elif len(delimiter.encode()) != 1 or delimiter in '"\r\n':
        raise ReadError(
            "the delimiter must be a single ASCII character, and neither a quote nor a line break"
        )
    header, rows, blank = _survey(path, text, delimiter)
    if blank:
        text = _without_blank_lines(text, delimiter)
    try:
        frame = pl.read_csv(
            io.BytesIO(text.encode()),
            separator=delimiter,
            has_header=False,
            infer_schema=False,
        )[1:]
    except pl.exceptions.PolarsError as error:
        raise ReadError(
            f"{path.name!r} could not be read as delimited text ({type(error).__name__})"
        ) from None
    if frame.shape != (rows, len(header)):
        raise ReadError(
            f"{path.name!r} has quotes that do not pair up; write it again with every text cell quoted"
        )
    frame.columns = header
    return frame.select(_typed(column, decimal_comma=delimiter == ";") for column in frame.get_columns())


def sniff(text: str) -> str:
    """Return the delimiter that splits the first lines into the same number of cells, the more the better."""
    best, cells = ",", 1
    for delimiter in DELIMITERS:
        rows = [row for row, _ in zip(_rows(text, delimiter), range(_SAMPLE), strict=False) if row]
        widths = {len(row) for row in rows}
        if len(widths) == 1 and (width := widths.pop()) > cells:
            best, cells = delimiter, width
    if cells == 1:  # ragged, or one column: the delimiter of the header is the best guess
        head = text.split("\n", 1)[0]
        best = max(DELIMITERS, key=head.count) if any(mark in head for mark in DELIMITERS) else ","
    return best


def _decode(path: Path, encoding: str | None) -> str:
    raw = path.read_bytes()
    for magic, what in _MAGIC.items():
        if raw.startswith(magic):
            raise ReadError(f"{path.name!r} is {what}, not text as its suffix says")
    if encoding is None:
        encoding = next((name for bom, name in _BOMS.items() if raw.startswith(bom)), "utf-8")
        if encoding == "utf-8" and b"\0" in raw[:4096]:
            raise ReadError(
                f"{path.name!r} is not text: it holds zero bytes; check its format or its encoding"
            )
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise ReadError(f"no encoding is called {encoding!r}; try 'utf-8', 'latin-1' or 'cp1252'") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"{path.name!r} is not {encoding} text (line {line}); state its encoding, such as 'latin-1'"
        ) from None
    if "\r" in text and "\n" not in text:  # lines of old Macintosh files
        text = text.replace("\r", "\n")
    return text


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    finally:
        csv.field_size_limit(limit)


def _survey(path: Path, text: str, delimiter: str) -> tuple[list[str], int, bool]:
    """Return header, number of rows and whether there are blank lines; refuse a ragged file."""
    rows = iter(_rows(text, delimiter))
    header = next((row for row in rows if row), [])
    blank = text[:1] in "\r\n"
    header = [name.strip() or f"unnamed_{i}" for i, name in enumerate(header, start=1)]
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise ReadError(f"{path.name!r} has columns of the same name: {listing(repeated)}; rename them")
    count, ragged, first = 0, 0, 0
    for row in rows:
        if not row:
            blank = True
            continue
        count += 1
        if len(row) != len(header):
            ragged += 1
            first = first or count
    if ragged:
        raise ReadError(
            f"{ragged} of {count} rows of {path.name!r} have more or fewer cells than the {len(header)} "
            f"columns of its header, first row {first}; check the delimiter ({delimiter!r}) and the quotes"
        )
    return header, count, blank


def _without_blank_lines(text: str, delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        row for row in _rows(text, delimiter) if row
    )
    return out.getvalue()


def _typed(column: pl.Series, *, decimal_comma: bool) -> pl.Series:
    """Return the column in the narrowest type that takes all its values; an empty cell is missing."""
    name = column.name
    text = column.replace("", None)
    plain = text.str.strip_chars()
    plain = plain.set(plain.is_in(NOT_AVAILABLE), None)
    present = len(plain) - plain.null_count()
    if present == 0:
        return text.alias(name)
    if plain.str.contains(r"^[+-]?0[0-9]").any():  # a code: as a number it would lose its zeros
        return text.alias(name)
    if decimal_comma and plain.str.contains(r"^[+-]?[0-9]+(,[0-9]+)?$").all(ignore_nulls=True):
        plain = plain.str.replace(",", ".", literal=True)
    if plain.str.contains(r"^[+-]?[0-9]+$").all(ignore_nulls=True):
        whole = plain.str.strip_prefix("+").cast(pl.Int64, strict=False)
        return whole.alias(name) if len(whole) - whole.null_count() == present else text.alias(name)
    number = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?inf(inity)?$"
    if plain.str.contains(number).all(ignore_nulls=True):
        return plain.str.strip_prefix("+").cast(pl.Float64).alias(name)
    if plain.str.contains(r"(?i)^(true|false)$").all(ignore_nulls=True):
        return (plain.str.to_lowercase() == "true").alias(name)
    if plain.str.contains(r"^\d{4}-\d\d-\d\d$").all(ignore_nulls=True):
        return _dates(plain, text).alias(name)
    if plain.str.contains(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$").all(
        ignore_nulls=True
    ):
        return _datetimes(plain, text).alias(name)
    return text.alias(name)


def _dates(plain: pl.Series, text: pl.Series) -> pl.Series:
    dates = plain.str.to_date("%Y-%m-%d", strict=False)
    return dates if dates.null_count() == plain.null_count() else text


def _datetimes(plain: pl.Series, text: pl.Series) -> pl.Series:
    zoned = plain.str.contains(r"(Z|[+-]\d\d:?\d\d)$")
    if zoned.any() and not zoned.all(ignore_nulls=True):
        return text
    iso = (
        plain.str.replace(" ", "T", literal=True)
        .str.replace(r"Z$", "+0000")
        .str.replace(r"([+-]\d\d):(\d\d)$", "$1$2")
    )
    iso = iso.str.replace(r"T(\d\d:\d\d)([+-]|$)", "T$1:00$2")
    times = iso.str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%z" if zoned.any() else "%Y-%m-%dT%H:%M:%S%.f", strict=False
    )
    return times if times.null_count() == plain.null_count() else text
