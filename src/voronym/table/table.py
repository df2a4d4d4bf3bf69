"""A frame with its schema: texts are converted once, and columns factorised once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.codebook import Labels, attach, labels_of
from voronym.table.conform import check_kinds, conformed
from voronym.table.doubts.base import Doubt, about_columns, about_table
from voronym.table.frame import Form, Frame, Series, listing
from voronym.table.moments import Moment
from voronym.table.numerals import Number
from voronym.table.read import load
from voronym.table.schema import Schema
from voronym.table.source import Source, source_of
from voronym.table.spelling import Spelling
from voronym.table.totals import Totals
from voronym.table.units import Units
from voronym.table.values import Columns, Values


class Table(Columns):
    """The columns that a release may use, with roles and kinds, without identifiers.

    Made by `Table.of`. Answers about a column are cached, so no later code wraps a data frame, reads
    texts as numbers or searches distinct values again. A table is never changed; `rows`, `select` and
    `like` return new ones.

    Parameters
    ----------
    frame : narwhals DataFrame
        The columns, rows numbered 0, 1, 2, ..., texts that are meant as numbers turned into numbers.
    schema : Schema
        Role and kind of every column. It may name more columns than the frame has, such as identifiers.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": ["Ann", "Bob"], "zip": ["08001", "08002"], "ill": ["flu", None]})
    >>> schema = Schema.build(people, keys=["zip"], confidential=["ill"], identifiers=["name"])
    >>> table = Table.of(people, schema)
    >>> table.columns, table.n
    (('zip', 'ill'), 2)
    >>> table.codes("ill").tolist(), table.levels("ill")
    ([0, -1], ['flu'])
    """

    def __init__(
        self,
        frame: Frame,
        schema: Schema,
        labels: Labels | None = None,
        known: Mapping[str, Values] | None = None,
        source: Source | None = None,
        units: Units | None = None,
        totals: Totals | None = None,
    ) -> None:
        super().__init__(frame, known)
        self.schema = schema
        self.source = source
        """The file of the table: its dialect, and texts that values cannot restore."""
        self.units = units
        """People or households behind the rows, if rows are not people."""
        self.totals = totals
        """Totals over all parts, if the table is a part of a larger one; otherwise None."""
        self._early: tuple[Doubt, ...] = ()
        self.labels = labels
        """Labels of variables and values, if the table comes from a statistical file; otherwise None."""

    @classmethod
    def of(cls, data: Any, schema: Schema | None = None, *, only: Sequence[str] | None = None) -> Table:
        """Bring a frame to its schema: drop identifiers, and convert texts to declared numbers.

        Parameters
        ----------
        data : pandas, Polars, PyArrow or narwhals frame, path, or Table
            A `Table` of the same schema is returned as it is.
        schema : Schema
            May be left out for a `Table`.
        only : sequence of str, optional
            The columns to take, which must exist. By default all; then a column without a role is refused,
            and so is a role without its column.
        """
        if isinstance(data, Table) and schema in (None, data.schema):
            return data if only is None else data.select(only)
        if schema is None:
            raise SchemaError("a table needs a schema: name the keys; see Schema.build")
        return cls._made(data if isinstance(data, Columns) else Columns(load(data)), schema, only)

    @classmethod
    def build(cls, data: Any, **roles: Any) -> Table:
        """Build the schema of a frame and the table at once, with the arguments of `Schema.build`.

        Examples
        --------
        >>> import polars as pl
        >>> Table.build(pl.DataFrame({"age": [30, 40], "ill": ["flu", "flu"]}), keys=["age"], other=["ill"])
        Table(2 records, keys age)
        """
        columns = Columns(load(data))
        return cls._made(columns, Schema.build(columns, **roles), None)

    @classmethod
    def _made(cls, given: Columns, schema: Schema, only: Sequence[str] | None) -> Table:
        kept = _kept(given, schema, only)
        labels = labels_of(given.frame)
        if labels is not None:  # labels of identifiers may be names
            labels = labels.only(kept)
        source = source_of(given.frame)
        part = Columns(given.frame.select(kept), given._values)
        made, source = conformed(part, schema, None if source is None else source.only(kept))
        attach(made.frame.to_native(), labels)  # selecting columns made another frame
        table = cls(made.frame, schema, labels, made._values, source)
        if only is None:  # doubts about identifiers are found before they are dropped
            table.units = Units.of(given, schema)
            table._early = about_table(given, schema)
        return table

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that an intruder may know."""
        return self.schema.keys

    @property
    def confidential(self) -> tuple[str, ...]:
        """Columns that an intruder wants to learn."""
        return self.schema.confidential

    def form(self, name: str) -> Form:
        """Return the content type of a column."""
        return self[name].form

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return the level of each value of a column; -1 if missing."""
        return self[name].codes

    def levels(self, name: str) -> list[Any]:
        """Return the distinct observed values of a column, sorted."""
        return self[name].levels

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Return which values of a column are missing."""
        return self[name].missing

    def numbers(self, name: str) -> NDArray[Any]:
        """Return the observed values of a column as numbers."""
        return self[name].numbers

    def without(self, name: str, gone: NDArray[np.bool_]) -> Series:
        """Return a column that is missing in some rows."""
        if not gone.any():
            return self.frame[name]
        kept = nw.new_series("kept", (~gone).tolist(), nw.Boolean(), backend=self.frame.implementation)
        frame = self.frame.select(name).with_columns(kept)
        chosen = nw.col("kept") if name != "kept" else kept
        return frame.select(nw.when(chosen).then(nw.col(name)).alias(name))[name]

    @cached_property
    def classes(self) -> Classes:
        """The records that share all their keys."""
        return equivalence_classes(self.frame, self.keys)

    @property
    def persons(self) -> NDArray[np.int64] | None:
        """The person of each row, as numbers; None if every row is a person."""
        return None if self.units is None else self.units.person

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """The count of each class for k: rows, or the declared people or households."""
        classes = self.classes
        if self.units is None:
            return classes.sizes
        return self.units.heads(classes.labels, len(classes.sizes))

    def within(self, stratum: tuple[Any, ...]) -> Table:
        """Return the same table, judged within a stratum, which is given by its values."""
        if self.totals is None:
            return self
        totals = self.totals.within(stratum)
        return Table(self.frame, self.schema, self.labels, self._values, self.source, self.units, totals)

    def select(self, names: Sequence[str]) -> Table:
        """Return a table of some of the columns, with the known facts about them."""
        if tuple(names) == self.columns:
            return self
        lacking = [name for name in names if name not in self]
        if lacking:
            raise SchemaError(f"the table has no column {listing(lacking)}; it has: {listing(self.columns)}")
        chosen = self.frame.select(list(names))
        return Table(chosen, self.schema, self.labels, self._values, self.source, self.units, self.totals)

    def rows(self, order: NDArray[np.int64] | Sequence[int]) -> Table:
        """Return a table of the given rows, in the given order."""
        order = np.asarray(order, np.int64)
        units = None if self.units is None else self.units.rows(order)
        return self.like(nw.maybe_reset_index(self.frame[order]), units=units)

    def like(self, frame: Frame, source: Source | None = None, *, units: Units | None = None) -> Table:
        """Return a table of this schema from a frame with values of this table.

        Such a frame (decoded centroids, shuffled rows, masked columns) has the dtypes of this table,
        so it is not converted. Texts of the file belong to the old rows and are dropped, unless
        ``source`` has new ones. ``units`` are those of the new rows; by default this table's, if the
        number of rows is equal.
        """
        if source is None and self.source is not None:
            source = replace(self.source, raw={})
        if units is None and self.units is not None and len(frame) == self.n:
            units = self.units
        return Table(frame, self.schema, self.labels, source=source, units=units, totals=self.totals)

    def typed(self, schema: Schema | None) -> Table:
        """Return the table under a schema in which some columns are now texts of another kind."""
        if schema is None:
            return self
        same = [name for name in self.columns if name not in schema or schema[name] == self.schema[name]]
        labels = None if self.labels is None else self.labels.only(same)
        source = None if self.source is None else self.source.only(same)
        if source is not None and any(column.ranges for column in schema):
            source = replace(source, spellings={**source.spellings, **self._of_ranges(schema)})
        return Table(self.frame, schema, labels, source=source, units=self.units, totals=self.totals)

    def _of_ranges(self, schema: Schema) -> dict[str, Spelling]:
        """Return the spelling of ranges in the file, derived from its spelling of numbers or dates."""
        made = {}
        for column in schema:
            if not column.ranges or column.name not in self.schema or self.source is None:
                continue
            form = self.source.spellings.get(column.name, Spelling())
            if form.form is None and self.schema[column.name].kind in ("numeric", "location", "datetime"):
                plain = Moment("%Y-%m-%d") if self.schema[column.name].kind == "datetime" else Number()
                form = replace(form, form=plain)
            made[column.name] = replace(
                form, gap="", ranges=True
            )  # NA is a gap among numbers, not among texts
        return made

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """The points that a person should check, apart from hints: see `voronym.table.doubts`."""
        texts = (Doubt("texts", "", text, public=True) for text in check_kinds(self, self.schema))
        result = (*self._early, *texts, *about_columns(self, self.schema))
        return tuple(item for item in result if item.strength != "hint")

    def __repr__(self) -> str:
        return f"Table({self.n} records, keys {', '.join(self.keys)})"


def _kept(given: Columns, schema: Schema, only: Sequence[str] | None) -> list[str]:
    """Return the columns to keep; raise if some are missing or have no role."""
    if only is None:
        strange = [name for name in given.columns if name not in schema]
        if strange:
            raise SchemaError(f"the table has columns to which the schema gives no role: {listing(strange)}")
        only = [column.name for column in schema if column.role != "identifier"]
    lacking = [name for name in only if name not in given]
    if lacking:
        roles = sorted({schema[name].role for name in lacking if name in schema})
        called = f", which the schema calls a {' or '.join(roles)}" if roles else ""
        raise SchemaError(f"the table has no column {listing(lacking)}{called}")
    return [name for name in given.columns if name in set(only)]
