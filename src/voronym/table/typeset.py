"""Write a table as delimited text, in the dialect of its source or another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

import polars as pl

from voronym.errors import WriteError, hint
from voronym.table.clean import to_polars
from voronym.table.dialect import Dialect
from voronym.table.frame import Frame
from voronym.table.moments import Moment
from voronym.table.numerals import NUMBER, Number
from voronym.table.packing import packed
from voronym.table.respell import plain_texts
from voronym.table.source import Source, attach_source, source_of
from voronym.table.spelling import Spelling

FORMULA = r"^[=+\-@\t\r]"  # how a cell starts that a spreadsheet may run
_GUARDED = r"^'([=+\-@\t\r])"
_ROWS = 200_000  # that are made into text at a time


def write_frame(
    table: Frame,
    path: Path,
    dialect: Dialect | None = None,
    source: Source | None = None,
    *,
    guard: bool = True,
) -> int:
    """Write a tidy frame as delimited text; return the number of cells guarded against spreadsheets.

    Parameters
    ----------
    table : narwhals DataFrame
        The table.
    path : Path
        The file; ``.gz`` or ``.zst`` at its end packs it.
    dialect : Dialect, optional
        The dialect; commas, UTF-8 and line feeds by default.
    source : Source, optional
        The text file that it came from: columns are spelled as they are there, and texts that it holds are
        written instead of the values they belong to.
    guard : bool
        Whether texts that a spreadsheet might run get an apostrophe.
    """
    frame, dialect = to_polars(table), Dialect() if dialect is None else dialect
    columns, changed = [], 0
    names = guarded(frame.columns) if guard else list(frame.columns)
    for column in frame.get_columns():
        cells, count = texts_of(column, dialect, source, guard=guard)
        changed += count
        columns.append(_quote(cells, _spelling(column, source), dialect.delimiter, alone=frame.width == 1))
    lines = pl.select(pl.concat_str(columns, separator=dialect.delimiter)).to_series()
    head = dialect.delimiter.join(_heading(name, dialect) for name in names) + dialect.newline
    with packed(path, "wb") as file:
        file.write(dialect.mark)
        if dialect.header:
            changed += sum(new != old for new, old in zip(names, frame.columns, strict=True))
            _encode(file, head, dialect)
        for start in range(0, len(lines), _ROWS):
            text = lines[start : start + _ROWS].str.join(dialect.newline).item()
            _encode(file, text + dialect.newline, dialect)
    return int(changed)


def _spelling(column: pl.Series, source: Source | None) -> Spelling:
    return Spelling() if source is None else source.spellings.get(column.name, Spelling())


def texts_of(
    column: pl.Series, dialect: Dialect, source: Source | None, *, guard: bool
) -> tuple[pl.Series, int]:
    """Return a column as the cells of a text file, without quotes, and the number of guarded ones."""
    spelling = _spelling(column, source)
    cells = _cells(column, spelling, dialect, source)
    if guard and column.dtype in (pl.String, pl.Categorical, pl.Enum):
        form = _restyled(spelling, dialect).form if spelling.ranges else None
        return _guard(cells, form if isinstance(form, Number) else None)
    return cells, 0


def _cells(column: pl.Series, spelling: Spelling, dialect: Dialect, source: Source | None) -> pl.Series:
    """Return a column as texts: the file's own if unchanged, else its values in the same spelling."""
    raw = None if source is None or source.format != "csv" else source.raw.get(column.name)
    wanted = _restyled(spelling, dialect)
    if raw is None or raw.dtype != pl.String:
        return wanted.write(column)
    if wanted == spelling:
        return raw
    if isinstance(spelling.form, Number) and isinstance(wanted.form, Number) and not wanted.form.thousands:
        signs = spelling.form  # 47.10 becomes 47,10 and keeps its digits
        bare = raw.str.replace_all(signs.thousands, "", literal=True) if signs.thousands else raw
        swapped = bare.str.replace(signs.decimal, wanted.form.decimal, literal=True)
        return swapped.zip_with(column.is_not_null(), raw)
    return wanted.write(column)


def _restyled(spelling: Spelling, dialect: Dialect) -> Spelling:
    """Return the spelling with the requested separators."""
    form = spelling.form
    if form is None and (dialect.decimal or dialect.thousands):
        form = Number()  # of a table from no text file; texts and dates pass it by
    if isinstance(form, Number):
        decimal = form.decimal if dialect.decimal is None else dialect.decimal
        thousands = form.thousands if dialect.thousands is None else dialect.thousands
        if thousands == decimal:
            thousands = "" if dialect.thousands is None else thousands
            decimal = decimal if dialect.decimal is not None else {".": ",", ",": "."}.get(decimal, ".")
        return replace(spelling, form=replace(form, decimal=decimal, thousands=thousands))
    if dialect.date_format is not None and (form is None or isinstance(form, Moment)):
        return replace(spelling, form=Moment(dialect.date_format))
    return spelling


def with_plain_ranges(frame: pl.DataFrame, dialect: Dialect, source: Source | None) -> pl.DataFrame:
    """Return a release read from its text file, with its ranges as in memory."""
    made = []
    for column in frame.get_columns():
        spelling = _restyled(_spelling(column, source), dialect)
        if spelling.ranges and column.dtype == pl.String and isinstance(spelling.form, (Number, Moment)):
            made.append(plain_texts(column, spelling.form))
    if not made:
        return frame
    out = frame.with_columns(made)
    attach_source(out, source_of(frame))
    return out


def _guard(cells: pl.Series, form: Number | None = None) -> tuple[pl.Series, int]:
    """Put an apostrophe before possible formulas; -5,5 in a column with decimal commas is a number."""
    risky = cells.str.contains(FORMULA) & ~cells.str.contains(NUMBER)
    if form is not None:
        risky &= ~form.fits(cells)
    count = int(risky.sum())
    if count:
        cells = pl.select(
            pl.when(risky).then(pl.lit("'") + cells).otherwise(cells).alias(cells.name)
        ).to_series()
    return cells, count


def guarded(names: Sequence[str]) -> list[str]:
    """Return column names with an apostrophe before those that a spreadsheet may take for formulas."""
    return ["'" + name if name[:1] in tuple("=+-@\t\r") else name for name in names]


def unguarded(texts: pl.Series) -> pl.Series:
    """Return texts without their guarding apostrophes."""
    return texts.str.replace(_GUARDED, "${1}")


def _quote(cells: pl.Series, spelling: Spelling, delimiter: str, *, alone: bool) -> pl.Series:
    """Put quotes around the cells that need them or had them."""
    if spelling.quoted == "always":
        needed = pl.Series([True]).new_from_index(0, len(cells))
    else:
        needed = cells.str.contains_any([delimiter, '"', "\r", "\n"])
        if spelling.quoted == "present":
            needed |= cells != spelling.gap
        if alone:  # an empty line would be skipped by most readers
            needed |= cells == ""
    if not needed.any():
        return cells
    quoted = pl.lit('"') + cells.str.replace_all('"', '""', literal=True) + pl.lit('"')
    return pl.select(pl.when(needed).then(quoted).otherwise(cells).alias(cells.name)).to_series()


def _heading(name: str, dialect: Dialect) -> str:
    if not dialect.quoted_header and not any(sign in name for sign in (dialect.delimiter, '"', "\r", "\n")):
        return name
    return '"' + name.replace('"', '""') + '"'


def _encode(file: IO[bytes], text: str, dialect: Dialect) -> None:
    try:
        file.write(text.encode(dialect.encoding))
    except UnicodeEncodeError as error:
        if error.reason == "surrogates not allowed":
            raise
        raise WriteError(
            f"the table has characters that {dialect.encoding} cannot write; choose another encoding, such "
            f"as utf-8 ({hint('out_encoding')})"
        ) from None
