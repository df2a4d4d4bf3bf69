"""Iceberg tables of a catalogue: ``iceberg:CATALOGUE/NAMESPACE.TABLE``.

PyIceberg knows catalogues by name, from its file or from the environment. A release becomes a table in one
transaction, which is committed when all its companions are complete.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voronym.errors import MissingExtraError, ReadError, WriteError
from voronym.table.places.base import MARK, Load, Place, Sink, counted, no_query, refuse_taken
from voronym.table.places.delta import batches, lay_down

_START = "iceberg:"


class IcebergTables(Place):
    """Tables of Apache Iceberg."""

    name = "Iceberg"

    def address(self, text: str) -> str | None:
        """Return the address without its prefix."""
        return text[len(_START) :] if text.startswith(_START) else None

    def shown(self, address: str) -> str:
        """Return the address as it is typed."""
        return f"{_START}{address}"

    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Return the rows of the current version."""
        frame = pl.from_arrow(_rows(address, query).read_all())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table, not a column
        return frame

    def lay_down(self, address: str, query: str | None, folder: Path) -> None:
        """Write the present version to Parquet."""
        lay_down(_rows(address, query), folder)

    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse an existing table, or a missing namespace."""
        del table
        catalogue, name = _catalogue(address, WriteError)
        space = name.rpartition(".")[0]
        if not catalogue.namespace_exists(space):
            raise WriteError(f"the catalogue has no namespace {space!r}; make it first")
        if not catalogue.table_exists(name):
            return
        mark = catalogue.load_table(name).properties.get("comment")
        refuse_taken(f"table {name!r}", mark, overwrite=overwrite)

    def sink(self, load: Load) -> Sink:
        """Return the sink of the table."""
        return _Transaction(load)


@dataclass
class _Transaction(Sink):
    """A release to add to a catalogue."""

    catalogue: Any = field(default=None, init=False)
    open: Any = field(default=None, init=False)
    there: Any = field(default=None, init=False)

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"table {self.load.address.partition('/')[2]!r}"

    def fill(self) -> None:
        """Write the rows in a transaction."""
        self.catalogue, name = _catalogue(self.load.address, WriteError)
        IcebergTables().check(self.load.address, "", overwrite=self.load.overwrite)
        rows = batches(self.load.files)
        if self.catalogue.table_exists(name):
            self.there = self.catalogue.load_table(name)
            self.open = self.there.transaction()
            self.open.delete("true")
            with self.open.update_schema(allow_incompatible_changes=True) as change:
                for column in self.there.schema().column_names:
                    change.delete_column(column)
            with self.open.update_schema() as change:
                change.union_by_name(rows.schema)
        else:
            self.open = self.catalogue.create_table_transaction(
                name, rows.schema, properties={"comment": MARK}
            )
        self.open.append(rows.read_all())

    def count(self) -> tuple[int, int]:
        """Count the rows that the transaction will commit."""
        from pyiceberg.table import DataScan

        scan = DataScan(self.open.table_metadata, self.open._table.io, selected_fields=self.load.keys)
        return counted(pl.from_arrow(scan.to_arrow()).lazy(), self.load.keys)  # type: ignore[union-attr]

    def after(self) -> None:
        """Commit the transaction."""
        self.open.commit_transaction()

    def undo(self) -> None:
        """Remove the files of a transaction that is not committed."""
        if self.open is None or self.there is not None:
            return  # files that no version names are no part of a table
        with contextlib.suppress(Exception):
            place = self.open.table_metadata.location
            if place.startswith("file://") or "://" not in place:
                import shutil

                shutil.rmtree(place.removeprefix("file://"), ignore_errors=True)


def _catalogue(address: str, failure: type[ReadError] | type[WriteError]) -> tuple[Any, str]:
    """Return the catalogue of an address, and the name of the table in it."""
    name, _, table = address.partition("/")
    if not name or "." not in table.strip("."):
        raise failure(
            f"an Iceberg table is named as iceberg:CATALOGUE/NAMESPACE.TABLE, not {_START}{address}"
        )
    try:
        from pyiceberg.catalog import load_catalog
    except ImportError:
        raise MissingExtraError("an Iceberg table needs PyIceberg: pip install 'voronym[iceberg]'") from None
    try:
        return load_catalog(name), table
    except Exception as error:  # each catalogue has errors of its own
        raise failure(
            f"the catalogue {name!r} does not answer ({type(error).__name__}): PyIceberg takes its "
            f"address from .pyiceberg.yaml or from PYICEBERG_CATALOG__{name.upper()}__URI"
        ) from None


def _rows(address: str, query: str | None) -> Any:
    no_query(query, "an Iceberg table")
    catalogue, name = _catalogue(address, ReadError)
    try:
        return catalogue.load_table(name).scan().to_arrow_batch_reader()
    except Exception as error:
        raise ReadError(f"the Iceberg table {name!r} could not be read ({type(error).__name__})") from None
