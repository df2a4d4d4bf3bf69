"""Delimited text: any delimiter, types inferred from the whole file, codes such as "08001" left alone."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.errors import ReadError
from voronym.table import spelling
from voronym.table.clean import to_polars
from voronym.table.frame import listing

DELIMITERS = ",;\t|"
FORMULA = r"^[=+\-@\t\r]"  # how a cell starts that a spreadsheet may run
DECIMAL_COMMA: dict[str, spelling.Comma] = {";": "always", "\t": "clear", "|": "clear"}
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
    survey = _survey(path, text, delimiter)
    frame = None if survey.odd else _parse(text, delimiter)
    if frame is None or frame.shape != survey.shape:
        frame = _parse(_rewritten(text, delimiter, alone=len(survey.header) == 1), delimiter)
    if frame is None or frame.shape != survey.shape:
        raise ReadError(
            f"{path.name!r} could not be read as delimited text; write it again with every text cell quoted"
        )
    frame.columns = survey.header
    comma = DECIMAL_COMMA.get(delimiter, "never")
    return frame.select(_typed(column, comma) for column in frame.get_columns())


def _parse(text: str, delimiter: str) -> pl.DataFrame | None:
    """Return the cells below the header as text; None where Polars cannot."""
    try:
        return pl.read_csv(
            io.BytesIO(text.encode()), separator=delimiter, has_header=False, infer_schema=False
        )[1:]
    except pl.exceptions.PolarsError:
        return None


def _typed(column: pl.Series, comma: spelling.Comma) -> pl.Series:
    """Return the column in the narrowest type that takes all its values; an empty cell is missing."""
    found = spelling.typed(column, comma=comma)
    return (column.replace("", None) if found is None else found).alias(column.name)


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


def _rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    finally:
        csv.field_size_limit(limit)


@dataclass(frozen=True)
class _Survey:
    """Header, number of rows, and whether the text has to be written anew before Polars reads it."""

    header: list[str]
    rows: int
    odd: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.header)


def _survey(path: Path, text: str, delimiter: str) -> _Survey:
    """Read the file by Python's csv module; refuse quotes that do not pair up, and ragged rows."""
    rows = _rows(text, delimiter, strict=True)
    count, ragged, first = 0, 0, 0
    try:
        header = next((row for row in rows if row), [])
        header = [name.strip() or f"unnamed_{i}" for i, name in enumerate(header, start=1)]
        # Polars skips or refuses what the csv module reads: blank lines, quotes inside a cell, a lone \r.
        odd = text[:1] in "\r\n" or "\r" in text.replace("\r\n", "")
        quotes = '"' in text
        for row in rows:
            if not row:
                odd = True
                if len(header) > 1:
                    continue
                row = [""]  # the only cell is empty: a record with a gap, not a blank line
            count += 1
            if len(row) != len(header):
                ragged += 1
                first = first or count
            odd = odd or (quotes and any('"' in cell for cell in row))
    except csv.Error:
        raise ReadError(
            f"{path.name!r} has a quote that does not pair up, in row {count + 1} or after; double the "
            "quotes inside a cell, or write the file again with every text cell quoted"
        ) from None
    repeated = [name for name, often in Counter(header).items() if often > 1]
    if repeated:
        raise ReadError(f"{path.name!r} has columns of the same name: {listing(repeated)}; rename them")
    if ragged:
        raise ReadError(
            f"{ragged} of {count} rows of {path.name!r} have more or fewer cells than the {len(header)} "
            f"columns of its header, first row {first}; check the delimiter ({delimiter!r}) and the quotes"
        )
    return _Survey(header, count, odd)


def _rewritten(text: str, delimiter: str, *, alone: bool) -> str:
    """Return the text with every cell quoted and without blank lines: in one column, they are empty cells."""
    out = io.StringIO()
    rows = _rows(text, delimiter)
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(next(row for row in rows if row))
    writer.writerows(row or [""] for row in rows if row or alone)
    return out.getvalue()


def write_frame(table: nw.DataFrame[Any], path: Path, delimiter: str) -> int:
    """Write a tidy frame as delimited text, and return how many cells were guarded against spreadsheets."""
    frame = to_polars(table)
    changed = 0
    columns = []
    for column in frame.get_columns():
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        if column.dtype == pl.Duration:
            column = column.dt.to_string("iso")
        if column.dtype == pl.String:
            risky = column.str.contains(FORMULA).fill_null(False)
            count = int(risky.sum())
            if count:
                column = pl.select(pl.when(risky).then(pl.lit("'") + column).otherwise(column)).to_series()
            changed += count
        columns.append(column)
    names = guarded(frame.columns)
    changed += sum(new != old for new, old in zip(names, frame.columns, strict=True))
    frame = pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
    # A lone missing cell would be an empty line, which readers skip: it is written as an empty quoted cell.
    frame.write_csv(path, separator=delimiter, null_value='""' if frame.width == 1 else None)
    return int(changed)


def guarded(names: Sequence[str]) -> list[str]:
    """Return column names with an apostrophe before those that a spreadsheet may take for a formula."""
    return ["'" + name if name[:1] in tuple("=+-@\t\r") else name for name in names]
