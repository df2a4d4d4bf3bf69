"""Delta tables: ``delta:people``, ``delta:s3://bucket/people``, or a folder that holds one.

Only rows of the current version are read. A release becomes a table with one version. On this machine the
whole folder gets its name at once; in a store, one commit makes all rows visible.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from voronym.core.atomic import at_the_end, place_folder
from voronym.core.locks import private_folder
from voronym.core.place import digests_of
from voronym.errors import MissingExtraError, ReadError, WriteError
from voronym.table.places.base import MARK, ROWS, Load, Place, Sink, counted, mended, no_query, refuse_taken
from voronym.table.places.store import settings_of

_START = "delta:"


def library() -> Any:
    """Return the library, or raise with how to install it."""
    try:
        import deltalake
    except ImportError:
        raise MissingExtraError("a Delta table needs deltalake: pip install 'voronym[delta]'") from None
    return deltalake


class DeltaTables(Place):
    """Tables of Delta Lake."""

    name = "Delta"

    def address(self, text: str) -> str | None:
        """Return the address; a folder with a Delta log is one, too."""
        if text.startswith(_START):
            return mended(text, _START)
        with contextlib.suppress(OSError):
            return text if (Path(text) / "_delta_log").is_dir() else None
        return None

    def shown(self, address: str) -> str:
        """Return the address as it is typed."""
        return f"{_START}{address}"

    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Return the rows of the current version."""
        frame = pl.from_arrow(_dataset(address, query).to_table())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table, not a column
        return frame

    def lay_down(self, address: str, query: str | None, folder: Path) -> None:
        """Write the present version to Parquet."""
        lay_down(_dataset(address, query), folder)

    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse a place that holds anything but a release."""
        del table
        there = _table(address, WriteError)
        if there is None and _is_local(address):
            path = Path(address)
            if not path.absolute().parent.is_dir():
                raise WriteError(f"the folder of {path.name!r} does not exist; make it first")
            if os.path.lexists(path):
                raise WriteError(f"{path.name!r} exists, and is no Delta table; choose another name")
        if there is None:
            return
        refuse_taken(repr(Path(address).name), there.metadata().description, overwrite=overwrite)

    def send(self, load: Load) -> None:
        """Make a table in a hidden folder, to be renamed or, in a store, committed at the end."""
        if not _is_local(load.address):
            super().send(load)
            return
        self.check(load.address, load.table, overwrite=load.overwrite)
        target = Path(load.address).absolute()
        made, handle = private_folder(target.parent)

        def end(_: BaseException | None) -> None:
            shutil.rmtree(made, ignore_errors=True)
            if handle is not None:
                os.close(handle)

        at_the_end(end)
        sink = _Commit(load, str(made / "table"))
        sink.before()
        place_folder(made / "table", target, overwrite=load.overwrite, sealed=digests_of(made / "table"))

    def sink(self, load: Load) -> Sink:
        """Return the sink that commits a release to a store."""
        return _Commit(load, load.address)


@dataclass
class _Commit(Sink):
    """A release that becomes a version of a Delta table."""

    where: str
    version: int | None = field(default=None, init=False)

    @property
    def called(self) -> str:
        """Its name in messages."""
        return repr(Path(self.load.address).name)

    def fill(self) -> None:
        """Write the rows, and commit them."""
        there = _table(self.where, WriteError)
        self.version = None if there is None else int(there.version())
        library().write_deltalake(
            self.where,
            batches(self.load.files),
            mode="error" if there is None else "overwrite",
            schema_mode=None if there is None else "overwrite",
            description=MARK,
            storage_options=settings_of(self.where),
        )

    def count(self) -> tuple[int, int]:
        """Count the rows and the smallest combination in the written version."""
        rows = _dataset(self.where, None).to_table(columns=list(self.load.keys))
        return counted(pl.from_arrow(rows).lazy(), self.load.keys)  # type: ignore[union-attr]

    def undo(self) -> None:
        """Undo the version."""
        there = _table(self.where, WriteError) if self.begun else None
        if there is None:
            return
        if self.version is not None:
            there.restore(self.version)
        elif _is_local(self.where):
            shutil.rmtree(self.where, ignore_errors=True)
        else:
            from voronym.table.places.store import store_of

            store, place = store_of(self.where)
            store.rm(place, recursive=True)


def _is_local(address: str) -> bool:
    return "://" not in address


def _table(address: str, failure: type[ReadError] | type[WriteError]) -> Any:
    """Return the table at an address; None if there is none."""
    lib = library()
    try:
        known = settings_of(address)
        if not lib.DeltaTable.is_deltatable(address, storage_options=known):
            return None
        return lib.DeltaTable(address, storage_options=known)
    except Exception as error:  # each store has errors of its own
        name = Path(address).name
        raise failure(f"the Delta table {name!r} could not be opened ({type(error).__name__})") from None


def _dataset(address: str, query: str | None) -> Any:
    no_query(query, "a Delta table")
    there = _table(address, ReadError)
    if there is None:
        raise ReadError(f"there is no Delta table {Path(address).name!r}; check the address")
    try:
        return there.to_pyarrow_dataset()
    except ImportError:
        raise MissingExtraError("a Delta table needs PyArrow: pip install 'voronym[delta]'") from None
    except Exception as error:
        raise ReadError(
            f"the Delta table {Path(address).name!r} has a form that cannot be read here "
            f"({type(error).__name__}): write its present version to Parquet with the program that "
            f"maintains the table"
        ) from None


def batches(files: Any) -> Any:
    """Return the rows of Parquet files, a few at a time."""
    import pyarrow
    import pyarrow.dataset

    data = pyarrow.dataset.dataset([str(file) for file in files], format="parquet")
    schema = data.schema.remove_metadata()
    plain = pyarrow.schema([pyarrow.field(item.name, _lake_type(item.type)) for item in schema])
    rows = data.scanner(batch_size=ROWS, use_threads=False, fragment_readahead=1).to_batches()
    return pyarrow.RecordBatchReader.from_batches(
        plain,
        (
            pyarrow.Table.from_batches([rows_]).cast(plain).combine_chunks().to_batches()[0]
            for rows_ in rows
            if len(rows_)
        ),
    )


def _lake_type(kind: Any) -> Any:
    """Return a type that lake tables support: full texts, times in microseconds."""
    import pyarrow
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _lake_type(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind):
        return pyarrow.string()
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", kind.tz)
    if types.is_unsigned_integer(kind):
        return pyarrow.int64()
    return kind


def lay_down(data: Any, folder: Path) -> None:
    """Write an Arrow data set, or a reader of batches, to a Parquet file, a few rows at a time."""
    import pyarrow
    import pyarrow.parquet

    rows = (
        data
        if isinstance(data, pyarrow.RecordBatchReader)
        else data.scanner(batch_size=ROWS, use_threads=False, fragment_readahead=1).to_reader()
    )
    with pyarrow.parquet.ParquetWriter(folder / "table.parquet", rows.schema) as file:
        for batch in rows:
            if len(batch):
                file.write_batch(batch, row_group_size=ROWS)
