"""Facts about a file beyond the values of its table: its form, and texts that values cannot restore.

47.10 and 47.1 are one number but two texts. An unmasked column must be written unchanged, so the reader keeps
the texts of columns that cannot be restored from their values. Masked columns never keep them: the spelling
of a key could distinguish records of a group.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.table.dialect import Dialect, Reading
from voronym.table.frame import Frame, Series
from voronym.table.numerals import Number
from voronym.table.rebuild import rebuild
from voronym.table.spelling import Spelling


@dataclass(frozen=True)
class Source:
    """The file of a table.

    Parameters
    ----------
    format : str
        Its format, as in `voronym.table.formats`.
    suffix : str
        Suffix of the file.
    reading : Reading
        The declared reading options.
    dialect : Dialect, optional
        Dialect of a text file; otherwise None.
    spellings : mapping
        The spelling of each column of a text file.
    raw : mapping
        Columns as in the file, row by row, if values and spelling cannot restore them.
    notes : tuple of str
        Remarks from reading for the user, without values.
    grouped : tuple of str
        Columns with decimal points that may separate thousands: 7.989 next to 308.
    file : str
        Its name, without its folder.
    """

    format: str
    reading: Reading = field(default_factory=Reading)
    dialect: Dialect | None = None
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    raw: Mapping[str, pl.Series] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    suffix: str = ""
    grouped: tuple[str, ...] = ()
    file: str = ""

    def only(self, columns: Collection[str]) -> Source:
        """Return the facts about some of the columns."""
        return replace(
            self,
            spellings={name: item for name, item in self.spellings.items() if name in columns},
            raw={name: entry for name, entry in self.raw.items() if name in columns},
            grouped=tuple(name for name in self.grouped if name in columns),
        )

    def texts(self, name: str, values: pl.Series) -> pl.Series | None:
        """Return a column as in the text file; None if it came from no text file.

        Parameters
        ----------
        name : str
            The column.
        values : pl.Series
            Its values as read, in the rows of the file.
        """
        if self.dialect is None or name not in self.spellings:
            return None
        return self.raw[name] if name in self.raw else self.spellings[name].write(values)

    def released(
        self,
        before: Frame,
        after: Frame,
        keys: Collection[str],
        order: NDArray[np.int64],
    ) -> Source:
        """Return the part that may go into a release: texts of unchanged columns that are not keys.

        Parameters
        ----------
        before, after : narwhals DataFrame
            The table and the masked table, in the same order of rows.
        keys : names
            Masked columns. Their texts are dropped, even for unchanged values.
        order : array
            The row of both that each released row is.
        """
        raw: dict[str, pl.Series] = {}
        for name, column in self.raw.items():
            if name in keys and name in after.columns and self.dialect is None:
                code = _one_code(column, before[name], after[name])
                raw |= {} if code is None else {name: code}
            if name in keys or name not in after.columns:
                continue
            same = before[name].to_native().equals(after[name].to_native(), null_equal=True)
            if same:
                picked = nw.from_native(column.gather(order), series_only=True)
                raw[name] = rebuild(picked).to_native()
        return replace(self, raw=raw)

    def neutral(self, names: Collection[str]) -> Source:
        """Return a source that writes some columns in a form that no single value can change.

        A single record can change the number of decimals, the thousands separator, or the form of
        days and quotes, so these are not kept. Features of all cells are kept: the decimal mark, and
        the text around every number.
        """
        made = {}
        for name, spelling in self.spellings.items():
            form = spelling.form if name in names else None
            number = Number(form.decimal, "", form.prefix, form.suffix) if isinstance(form, Number) else None
            made[name] = Spelling(number, ranges=spelling.ranges) if name in names else spelling
        raw = {name: texts for name, texts in self.raw.items() if name not in names}
        return replace(self, spellings=made, raw=raw)

    def says(self) -> str:
        """Describe the form of the file in a line."""
        if self.dialect is None:
            return ", ".join(self.notes)
        parts = [self.dialect.says()]
        forms: dict[str, list[str]] = {}
        for name, spelling in self.spellings.items():
            if spelling.form is not None and not spelling.form.plain:
                forms.setdefault(spelling.form.says(), []).append(name)
        parts += [f"{', '.join(names)} as {item}" for item, names in forms.items()]
        return "; ".join([*parts, *self.notes])


def _one_code(raw: pl.Series, before: Series, after: Series) -> pl.Series | None:
    """Return the common code of a key's gaps, for every row; None if gaps differ or new gaps appeared.

    It is the same in every row, so it distinguishes no records.
    """
    gone, now = (item.is_null().to_numpy() for item in (before, after))
    codes = raw.filter(pl.Series(gone)).unique()
    if len(codes) != 1 or codes.null_count() or (now & ~gone).any():
        return None
    return pl.Series(raw.name, [codes[0]] * len(after), dtype=raw.dtype)


def read_again(frame: pl.DataFrame, names: Sequence[str], keys: Collection[str]) -> pl.DataFrame:
    """Return a release read from its file, under its own column names, which may be guarded there.

    Keys that differ in the file count as different. The texts of other columns are dropped: readers take
    1 and 1.0 as one value, so it counts as one.
    """
    new = dict(zip(frame.columns, names, strict=True))
    source, out = source_of(frame), frame.rename(new)
    if source is not None:
        spellings = {new[name]: item for name, item in source.spellings.items()}
        raw = {new[name]: entry for name, entry in source.raw.items()}
        attach_source(out, replace(source, spellings=spellings, raw=raw).only(keys))
    return out


_SOURCES: dict[int, Source] = {}


def attach_source(frame: Any, source: Source | None) -> None:
    """Store the file of a table while the table exists."""
    if source is not None:
        native = nw.to_native(frame, pass_through=True)
        _SOURCES[id(native)] = source
        weakref.finalize(native, _SOURCES.pop, id(native), None)


def source_of(frame: Any) -> Source | None:
    """Return the file of a table; None for a table without a file.

    A frame derived from a read one, by a filter or a join, has no file.
    """
    return _SOURCES.get(id(nw.to_native(frame, pass_through=True)))
