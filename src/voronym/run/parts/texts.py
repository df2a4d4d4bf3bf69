"""The form of the files of a release, written and read back: Parquet, or text in the source's dialect.

In text files, keys are counted by their cells, with a reader that shares no code with the writer. Cells of
confidential columns are converted back to values by their known texts.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.errors import InputError, VoronymError, WriteError, hint
from voronym.table.dialect import Dialect
from voronym.table.numerals import Number
from voronym.table.source import Source
from voronym.table.spelling import Hints, Spelling, spell
from voronym.table.typeset import guarded, texts_of, write_frame

FORMATS = ("parquet", "csv")
ROWS = 20_000
"""Number of lines that are read back at a time."""
EXACT = 2.0**50
ALIKE = (
    "column {name!r} has values that differ and look alike in text files, such as '1' and '1.0', or an empty "
    "text and a missing one, so a model would not hold for their readers: make them alike in the data, "
    "or take " + hint("format", "parquet") + ". Nothing was released"
)


@dataclass(frozen=True)
class Layout:
    """The form of the files of a release.

    Parameters
    ----------
    format : {"parquet", "csv"}
        Format of all files.
    dialect : Dialect
        Dialect of text files.
    source : Source, optional
        Spelling of the columns in the text files that were read.
    guard : bool
        Whether texts that a spreadsheet might run get an apostrophe.
    """

    format: str = "parquet"
    dialect: Dialect = field(default_factory=Dialect)
    source: Source | None = None
    guard: bool = True

    @property
    def text(self) -> bool:
        """Whether files are text."""
        return self.format == "csv"

    def write(self, frame: pl.DataFrame, path: Path) -> int:
        """Write a file; return the number of guarded cells."""
        if not self.text:
            frame.write_parquet(path)
            return 0
        table = nw.from_native(frame, eager_only=True)
        try:
            return write_frame(table, path, self.dialect, self.source, guard=self.guard)
        except (VoronymError, OSError):
            raise
        except Exception as error:  # its own words may quote a cell
            raise WriteError(
                f"the release has columns that text files cannot hold ({type(error).__name__}): take "
                f"{hint('format', 'parquet')}. Nothing was released"
            ) from None

    def read(
        self, path: Path, kept: Sequence[str], wanted: Sequence[str]
    ) -> tuple[pl.DataFrame, Sequence[str]]:
        """Read some columns back, text cells as texts; return them and the file's columns."""
        if not self.text:
            names = list(pl.read_parquet_schema(path))
            there = [name for name in wanted if name in names]
            return pl.read_parquet(path, columns=there, hive_partitioning=False, glob=False), names
        return pl.concat(self._pieces(path, kept, wanted)), kept

    def _pieces(self, path: Path, kept: Sequence[str], wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
        limit = csv.field_size_limit(2**31 - 1)
        try:
            with path.open(encoding=self.dialect.codec, newline="") as file:
                rows = csv.reader(file, delimiter=self.dialect.delimiter, strict=True)
                names = list(kept)
                if self.dialect.header and next(rows) != (guarded(names) if self.guard else names):
                    raise WriteError("a written file has other columns than it should; nothing was released")
                at = [names.index(name) for name in wanted]
                while lines := list(islice(rows, ROWS)):
                    if any(len(line) != len(names) for line in lines):
                        raise WriteError("a written file has ragged rows; nothing was released")
                    columns = {names[i]: [line[i] for line in lines] for i in at}
                    yield pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        except (csv.Error, UnicodeError, StopIteration) as error:
            raise WriteError(
                f"a written file cannot be read back ({type(error).__name__}); nothing was released"
            ) from None
        finally:
            csv.field_size_limit(limit)

    def reading(self) -> dict[str, Any]:
        """Return the options of `voronym.read` for a text file of the release."""
        return self.dialect.reading(() if self.source is None else self.source.reading.missing)

    def texts(self, values: pl.Series) -> pl.Series:
        """Return values as in text files."""
        return texts_of(values, self.dialect, self.source, guard=self.guard)[0]

    def values(self, cells: pl.Series, levels: pl.Series) -> pl.Series:
        """Return the values behind cells of a column that has these levels."""
        spelled = self.texts(levels)
        places = cells.replace_strict(spelled, list(range(len(levels))), default=None, return_dtype=pl.UInt32)
        if places.null_count():
            raise WriteError(
                f"column {cells.name!r} has other values in the written files than it should; nothing was "
                "released"
            )
        return levels.gather(places).alias(cells.name)

    def refuse_alike(self, levels: pl.Series) -> None:
        """Refuse a column with levels, missing included, that read as fewer levels in text."""
        spelled = self.texts(levels)
        hints = Hints(missing=() if self.source is None else self.source.reading.missing)
        if spelled.n_unique() < len(levels) or spell(spelled, hints)[0].n_unique() < len(levels):
            raise InputError(ALIKE.format(name=levels.name))


def check_format(given: str | None, style: Mapping[str, Any], *, text: bool) -> str:
    """Return the format of a release: the requested one, or the source's; refuse options it lacks."""
    name = ("csv" if text else "parquet") if given is None else given
    if name not in FORMATS:
        raise InputError(f"the files of a release can be {' or '.join(FORMATS)}, not {name!r}")
    options = {
        option: value
        for option, value in style.items()
        if value is not None and (option, value) != ("guard", True)
    }
    if name == "parquet" and options:
        raise InputError(
            f"{', '.join(options)}: this is about text files, and the release is Parquet. Take "
            f"{hint('format', 'csv')}, or "
            "leave it out"
        )
    Dialect().styled(**{option: value for option, value in style.items() if option != "guard"})
    return name


Written = tuple[Source, dict[str, float]]
"""The form of a text file, and the largest number of each column."""


def written(source: Source | None, frame: pl.DataFrame, kept: set[str]) -> Written | None:
    """Return the form of a text file that was read, without any of its texts."""
    if source is None:
        return None
    numbers = [column for column in frame.get_columns() if column.name in kept and column.dtype.is_float()]
    largest = {column.name: float(column.abs().max() or 0.0) for column in numbers}  # type: ignore[arg-type]
    return replace(source.only(kept), raw={}, notes=()), largest


def layout_of(name: str, style: Mapping[str, Any], sources: Sequence[Written | None]) -> Layout:
    """Return how a release is written, by the request and the files of the source."""
    if name != "csv":
        return Layout(name)
    style = dict(style)
    guard = bool(style.pop("guard", True))
    files = [file for file in sources if file is not None]
    if not files:
        return Layout(name, Dialect().styled(**style), None, guard)
    dialects = [source.dialect or Dialect() for source, _ in files]
    dialect = dialects[0]
    if any((other.encoding, other.bom) != (dialect.encoding, dialect.bom) for other in dialects):
        dialect = replace(dialect, encoding="utf-8", bom=False)
    first = files[0][0]
    spellings = {
        column: _merged(
            [source.spellings[column] for source, _ in files if column in source.spellings],
            max(largest.get(column, 0.0) for _, largest in files),
        )
        for column in first.spellings
    }
    return Layout(name, dialect.styled(**style), replace(first, spellings=spellings), guard)


def _merged(spellings: Sequence[Spelling], largest: float) -> Spelling:
    """Return one spelling for a column of many files: the common one, or one that can read them all."""
    gaps = {spelling.gap for spelling in spellings if spelling.gap}
    quoted = {spelling.quoted for spelling in spellings}
    forms = [spelling.form for spelling in spellings]
    numbers = [item for item in forms if isinstance(item, Number)]
    form = forms[0] if all(item == forms[0] for item in forms) else None
    if form is None and len(numbers) == len(forms):
        form = _number(numbers)
    if isinstance(form, Number) and form.most is not None and largest * 10.0**form.most >= EXACT:
        form = replace(form, least=None, most=None)  # in every file alike
    return Spelling(
        form, gaps.pop() if len(gaps) == 1 else "", quoted.pop() if len(quoted) == 1 else "needed"
    )


def _number(forms: Sequence[Number]) -> Number:
    parts = [form for form in forms if not form.whole]
    signs = {form.decimal for form in parts}
    decimal = signs.pop() if len(signs) == 1 else "."
    apart = {form.thousands for form in forms if form.thousands}
    thousands = apart.pop() if len(apart) == 1 else ""
    around = {(form.prefix, form.suffix) for form in forms}
    prefix, suffix = around.pop() if len(around) == 1 else ("", "")
    counted = all(form.most is not None and form.least is not None for form in parts)
    return Number(
        decimal, "" if thousands == decimal else thousands, prefix, suffix,
        (0 if len(parts) < len(forms) else min(form.least or 0 for form in parts)) if counted else None,
        max((form.most or 0 for form in parts), default=0) if counted else None,
        whole=not parts,
    )  # fmt: skip
