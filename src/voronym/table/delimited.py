"""Delimited text: any delimiter, types inferred from the whole file, codes such as "08001" kept as text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from voronym.errors import ReadError, hint
from voronym.table.dialect import DECIMAL_COMMA, DELIMITERS, Dialect, Reading, find_encoding
from voronym.table.frame import listing
from voronym.table.heading import refuse_data_as_header
from voronym.table.numerals import Number
from voronym.table.source import Source, attach_source
from voronym.table.spelling import (
    Hints,
    Quoted,
    Spelling,
    beside_small,
    by_threes,
    gaps,
    may_be_grouped,
    respell_grouped,
    spell,
)

_SAMPLE = 50
_SEPARATOR = re.compile(r"sep=([,;\t|])\r?\n")
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"SQLite format 3": "an SQLite database",
    b"$FL": "an SPSS file",
    b"%PDF": "a PDF document",
}


def read_bytes(raw: bytes, name: str, reading: Reading, suffix: str = "") -> pl.DataFrame:
    """Read a delimited text; refuse rows with different numbers of cells.

    Parameters
    ----------
    raw : bytes
        The content of the file.
    name : str
        Name of the file, for messages.
    reading : Reading
        The declared dialect.
    suffix : str
        Suffix of the file.
    """
    for magic, what in _MAGIC.items():
        if raw.startswith(magic):
            raise ReadError(f"{name!r} is {what}, not text as its suffix says")
    dialect, text = _open(raw, name, reading)
    survey = _survey(name, text, dialect, _quick(text, dialect))
    frame = None if survey.odd else _parse(text, dialect, quotes=survey.quotes)
    if frame is None or frame.shape != survey.shape:
        survey = _survey(name, text, dialect)
        frame = _parse(_rewritten(text, dialect, alone=len(survey.header) == 1), dialect, quotes=True)
    if frame is None or frame.shape != survey.shape:
        raise ReadError(
            f"{name!r} could not be read as delimited text; write it again with every text cell quoted"
        )
    frame.columns = survey.header
    quoting = _quoting(text, dialect, survey.header, reading) if survey.quotes else {}
    columns = frame.get_columns()
    del raw, text, frame
    table, source = _typed(columns, dialect, reading, quoting)
    if dialect.header and reading.header is None:
        refuse_data_as_header(name, table)
    attach_source(table, replace(source, suffix=suffix))
    return table


def _open(raw: bytes, name: str, reading: Reading) -> tuple[Dialect, str]:
    """Return the dialect of a file, and its text without byte order mark and skipped lines."""
    encoding, bom = find_encoding(raw, name, reading.encoding)
    dialect = Dialect(
        encoding=encoding, bom=bom, header=reading.header is not False, skip_rows=reading.skip_rows
    )
    try:
        text = raw[len(dialect.mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"{name!r} is not {encoding} text (line {line}); state its encoding, such as 'latin-1'"
        ) from None
    newline = _newline(text)
    if newline == "\r":  # lines of old Macintosh files
        text = text.replace("\r", "\n")
    for _ in range(reading.skip_rows):
        text = text.partition("\n")[2]
    if reading.skip_footer:
        text = _without_footer(text, reading.skip_footer)
    if not text.strip():
        behind = f" after {reading.skip_rows} skipped lines" if reading.skip_rows else ""
        raise ReadError(f"{name!r} is empty{behind}")
    delimiter = reading.delimiter
    if (match := _SEPARATOR.match(text)) is not None:  # a line for spreadsheets that some programs write
        text, delimiter = text[match.end() :], delimiter or match.group(1)
    delimiter = sniff(text) if delimiter is None else delimiter
    return replace(dialect, newline=newline, delimiter=delimiter), text


def _without_footer(text: str, lines: int) -> str:
    """Return a text without its last lines; trailing blank lines are not counted."""
    for _ in range(lines):
        text = text.rstrip("\r\n \t")
        head, sign, _ = text.rpartition("\n")
        text = head + sign
    return text


def _newline(text: str) -> str:
    """Return the most frequent line ending."""
    if "\r" not in text:
        return "\n"
    both = text.count("\r\n")
    if both:
        return "\r\n" if 2 * both >= text.count("\n") else "\n"
    return "\n" if "\n" in text else "\r"


def sniff(text: str) -> str:
    """Return the delimiter that splits the first lines into the same, largest number of cells."""
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


def _rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    finally:
        csv.field_size_limit(limit)


@dataclass(frozen=True)
class _Survey:
    """Header, number of rows, and whether the text has to be rewritten before Polars reads it."""

    header: list[str]
    rows: int
    odd: bool
    quotes: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.header)


def _survey(name: str, text: str, dialect: Dialect, quick: int = 0) -> _Survey:
    """Look at every row; refuse unpaired quotes and ragged rows."""
    count, ragged, first, odd = 0, 0, 0, False
    quotes = '"' in text
    rows = iter(()) if quick else _rows(text, dialect.delimiter, strict=True)
    try:
        top = text.split("\n", 1)[0].rstrip("\r").split(dialect.delimiter) if quick else None
        header = top if top is not None else next((row for row in rows if row), [])
        width = len(header)
        # Polars skips or refuses what the csv module reads: blank lines, quotes inside a cell, a lone \r.
        odd = not quick and (text[:1] in "\r\n" or "\r" in text.replace("\r\n", ""))
        count = quick or (0 if dialect.header else 1)
        for row in rows:
            if not row:
                odd = True
                if width > 1:
                    continue
                row = [""]  # the only cell is empty: a record with a gap, not a blank line
            count += 1
            if len(row) != width:
                ragged += 1
                first = first or count
            odd = odd or (quotes and any('"' in cell for cell in row))
        if quick and not dialect.header:
            count += 1
        odd = odd or (not dialect.header and any('"' in cell for cell in header))
    except csv.Error:
        raise ReadError(
            f"{name!r} has a quote that does not pair up, in row {count + 1} or after; double the "
            "quotes inside a cell, or write the file again with every text cell quoted"
        ) from None
    header = [item.strip() or f"unnamed_{i}" for i, item in enumerate(header, start=1)]
    if not dialect.header:
        header = [f"column_{i}" for i in range(1, width + 1)]
    repeated = [entry for entry, often in Counter(header).items() if often > 1]
    if repeated:
        # By their numbers: where the first line is no header, or the line breaks are gone, names are values.
        places = [str(i) for i, element in enumerate(header, start=1) if element in repeated]
        shown = ", ".join(places[:8]) + (" and more" if len(places) > 8 else "")
        raise ReadError(
            f"{name!r} has columns of the same name, numbers {shown}; rename them, or use {hint('no_header')}"
        )
    if ragged:
        raise ReadError(
            f"{ragged} of {count} rows of {name!r} have more or fewer cells than the {width} "
            f"columns of its header, first row {first}; {_what_to_try(ragged, first, count, dialect)}"
        )
    return _Survey(header, count, odd, quotes)


def _what_to_try(ragged: int, first: int, count: int, dialect: Dialect) -> str:
    """Return advice for rows with a wrong number of cells; at the end they are a footer."""
    if first == count - ragged + 1 and ragged < count / 2:
        lines = "the last line is no record" if ragged == 1 else f"the last {ragged} lines are no records"
        skip = "it" if ragged == 1 else "them"
        return f"if {lines}, skip {skip}: {hint('skip_footer', ragged)}"
    return (
        f"check the delimiter ({dialect.delimiter!r}), the quotes, and whether there are lines above the "
        f"header to skip ({hint('skip_rows')}) or below the records ({hint('skip_footer')})"
    )


def _quick(text: str, dialect: Dialect) -> int:
    """Return the number of rows below the first line if it is obvious; otherwise 0.

    Without quotes, lone carriage returns and blank lines a file has as many cells as delimiters and lines
    say; that no line has more of them than another, Polars finds out.
    """
    if '"' in text or text.count("\r") != text.count("\r\n"):
        return 0
    plain = text.replace("\r\n", "\n") if "\r" in text else text
    if plain[:1] == "\n" or "\n\n" in plain:
        return 0
    lines = plain.count("\n") + (not plain.endswith("\n"))
    width = plain.split("\n", 1)[0].count(dialect.delimiter)
    return lines - 1 if width and plain.count(dialect.delimiter) == width * lines else 0


def _parse(text: str, dialect: Dialect, *, quotes: bool) -> pl.DataFrame | None:
    """Return the cells below the header as text; None if Polars cannot read them."""
    try:
        frame = pl.read_csv(
            io.BytesIO(text.encode()),
            separator=dialect.delimiter,
            has_header=False,
            infer_schema=False,
            quote_char='"' if quotes else None,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame[1:] if dialect.header else frame


def _rewritten(text: str, dialect: Dialect, *, alone: bool) -> str:
    """Return the text with every cell quoted and without blank lines; in one column they are empty cells."""
    out = io.StringIO()
    rows = _rows(text, dialect.delimiter)
    writer = csv.writer(out, delimiter=dialect.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    if dialect.header:
        writer.writerow(next(row for row in rows if row))
    writer.writerows(row or [""] for row in rows if row or alone)
    return out.getvalue()


def _typed(
    waiting: list[pl.Series], dialect: Dialect, reading: Reading, quoting: dict[str, Quoted]
) -> tuple[pl.DataFrame, Source]:
    """Return the columns in the narrowest types for all their values, and how they are written."""
    comma = DECIMAL_COMMA.get(dialect.delimiter, "never")
    hints = Hints(comma, reading.decimal, reading.thousands, reading.date_format, reading.missing)
    result, raw, parted, mixed = {}, {}, [], []
    while waiting:  # one column after the other: its texts are let go where its values give them back
        cells = waiting.pop(0).fill_null("")
        result[cells.name] = spell(cells, hints)
        values, spelling = result[cells.name]
        if may_be_grouped(spelling) or not spelling.write(values).equals(cells):
            raw[cells.name] = cells
        if may_be_grouped(spelling) and by_threes(cells):
            parted.append(cells.name)
            mixed += [cells.name] if beside_small(cells) else []
    signs = {
        item.form.decimal
        for _, item in result.values()
        if isinstance(item.form, Number) and not item.form.whole
    }
    if "," in signs and dialect.delimiter != "," and reading.decimal is None:
        for name in raw:
            result[name] = respell_grouped(raw[name], result[name], hints)
    doubtful = _doubtful(parted if dialect.delimiter != "," else [], mixed, result, hints)
    raw = {name: cells for name, cells in raw.items() if not _spelled(result[name]).equals(cells)}
    spellings = {
        name: replace(spelling, quoted=quoting.get(name, "needed")) for name, (_, spelling) in result.items()
    }
    if quoting.get("", "needed") == "always":
        dialect = replace(dialect, quoted_header=True)
    return pl.DataFrame([values for values, _ in result.values()]), Source(
        "csv", reading, dialect, spellings, raw, _notes(result, raw), grouped=doubtful
    )


def _doubtful(
    parted: list[str], mixed: list[str], result: dict[str, tuple[pl.Series, Spelling]], hints: Hints
) -> tuple[str, ...]:
    """Return the columns in which points may separate thousands.

    These are columns with small numbers without a point, or all columns if no other column has decimal
    points.
    """
    if hints.decimal is not None:
        return ()
    forms = {name: item.form for name, (_, item) in result.items() if isinstance(item.form, Number)}
    fractions = [name for name, form in forms.items() if form.decimal == "." and not form.whole]
    asked = mixed if any(name not in parted for name in fractions) else [*parted, *mixed]
    return tuple(name for name in fractions if name in asked and hints.parted_by(name) is None)


def _spelled(column: tuple[pl.Series, Spelling]) -> pl.Series:
    values, spelling = column
    return spelling.write(values)


def _notes(result: dict[str, tuple[pl.Series, Spelling]], raw: dict[str, pl.Series]) -> tuple[str, ...]:
    spaced = []
    for name, column in raw.items():
        values, spelling = result[name]
        if spelling.form is None and not column.filter(values.is_not_null()).equals(values.drop_nulls()):
            spaced.append(name)
    return (f"spaces around values of {listing(spaced)} are ignored",) if spaced else ()


def _quoting(text: str, dialect: Dialect, header: list[str], reading: Reading) -> dict[str, Quoted]:
    """Return which cells of each column are quoted, from the first rows; the key "" is for the headings."""
    mark = re.escape(dialect.delimiter)
    cell = re.compile(rf'[ ]*("(?:[^"]|"")*"|[^{mark}\r\n]*)({mark}|\r\n|\n|\r|$)')
    needs = re.compile(rf'[{mark}"\r\n]')
    rows: list[list[str]] = [[]]
    for match in cell.finditer(text[: 1 << 18]):
        rows[-1].append(match.group(1))
        if match.group(2) != dialect.delimiter:
            if len(rows) > 500 or match.end() >= len(text):
                break
            rows.append([])
    rows = [row for row in rows if len(row) == len(header)]
    out: dict[str, Quoted] = {}
    if dialect.header and rows:
        out[""] = "always" if all(item[:1] == '"' for item in rows.pop(0)) else "needed"
    for i, name in enumerate(header):
        inner = [row[i].strip('"') for row in rows]
        codes = Hints(missing=reading.missing).codes(name)
        gap = gaps(pl.Series(inner, dtype=pl.String), codes).is_null().to_list()
        free = [
            row[i][:1] == '"'
            for row, text_, no in zip(rows, inner, gap, strict=True)
            if not no and not needs.search(text_)
        ]
        if free and all(free):
            bare = any(row[i][:1] != '"' for row, no in zip(rows, gap, strict=True) if no)
            out[name] = "present" if bare else "always"
    return out
