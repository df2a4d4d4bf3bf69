"""Write a release to a file, count its key combinations in the written bytes, and only then publish it.

The file is made in a hidden folder next to its place, flushed to the disk, and read again by `check`, which
shares no code with the writers. It moves to its place if the count holds (see `voronym.core.atomic`). If
anything fails before, such as a count, a full disk or Ctrl-C, no new file is left and an existing file stays
unchanged.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.core.atomic import placed, seal
from voronym.core.locks import passing_folder
from voronym.core.place import digest_of
from voronym.errors import VoronymError, WriteError
from voronym.table.clean import tidy
from voronym.table.codebook import Labels, declared_labels
from voronym.table.dialect import Dialect
from voronym.table.formats import FORMATS, How, by_suffix, suffixes
from voronym.table.frame import form, listing
from voronym.table.packing import packing_of, suffix_of
from voronym.table.places import Place, place_of, shown
from voronym.table.places.base import sent
from voronym.table.source import Source

_FULL = 1 << 16  # bytes left on a disk that is full: less than any writer asks for at a time


@dataclass(frozen=True)
class WriteReceipt:
    """The written file, and the counts in it.

    Parameters
    ----------
    path : Path
        The file.
    rows : int
        Records in it, as re-read.
    k_counted : int
        Size of the smallest combination of keys, counted in the file.
    sha256 : str
        Checksum of the file.
    guarded_cells : int
        Text cells that got a leading apostrophe, so that no spreadsheet runs them as a formula.
    """

    path: Path
    rows: int
    k_counted: int
    sha256: str
    guarded_cells: int = 0


def write(
    frame: Any,
    path: str | os.PathLike[str],
    *,
    keys: Sequence[str],
    k: int,
    overwrite: bool = False,
    delimiter: str | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    labels: Labels | None = None,
    source: Source | None = None,
    style: Mapping[str, Any] | None = None,
    guard: bool = True,
    table_name: str | None = None,
    verify: Callable[[Path], None] | None = None,
) -> WriteReceipt:
    """Write a table in which every combination of keys occurs at least k times, and prove it on the file.

    Parameters
    ----------
    frame : pandas, Polars, PyArrow or narwhals frame
        The masked table.
    path : path
        The file to make, or the address of one, such as "s3://bucket/release.parquet". Its suffix decides:
        .csv .tsv .txt .parquet .feather .arrow .ipc .sav .dta. Or the address of a PostgreSQL database,
        or a DuckDB file that is there, which get one table more, in one transaction; or that of a Delta
        ("delta:release") or Iceberg table ("iceberg:CATALOGUE/NAMESPACE.TABLE")
    keys : names
        The key columns.
    k : int
        Smallest number of records for every combination.
    overwrite : bool
        Whether to replace an existing file; otherwise it is refused.
    delimiter : str, optional
        Delimiter of a text file; by default the source's, or a comma, or a tab for .tsv.
    format : str, optional
        "csv", "parquet", "arrow", "sav" or "dta", if the suffix does not show it.
    labels : Labels, optional
        Labels of variables and values, for .sav and .dta: `labels_of` the table that was read.
    source : Source, optional
        The file that the table came from: a text file is written in its dialect, see `source_of`.
    style : mapping, optional
        Changes of the dialect: ``encoding``, ``decimal``, ``thousands``, ``date_format``, ``newline``.
    guard : bool
        Whether to put an apostrophe before texts that a spreadsheet could run as formulas.
    table_name : str, optional
        Name of the table in a database, or of the sheet in a spreadsheet; "release" by default.
    verify : callable, optional
        Called with the path of the finished file before it gets its name; it raises to reject the
        file.

    Returns
    -------
    WriteReceipt

    Raises
    ------
    WriteError
        If the file cannot be written or a combination occurs fewer than k times in it. No file is left.

    Examples
    --------
    >>> import polars as pl, tempfile, os
    >>> table = pl.DataFrame({"age": [35, 35, 52, 52, 52], "ill": ["flu", "cold", "flu", "flu", "asthma"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     receipt = write(table, os.path.join(folder, "out.csv"), keys=["age"], k=2)
    >>> receipt.rows, receipt.k_counted
    (5, 2)
    """
    place = place_of(path)
    target = Path(path if place is None else shown(path))
    kind = "csv" if str(path) == "-" else _format(target, format)
    dialect = dialect_for(target, source, delimiter=delimiter, **(style or {}))
    try:
        table = tidy(frame)
    except VoronymError:
        raise
    except Exception as error:
        raise WriteError(f"the table has columns that cannot be written ({type(error).__name__})") from None
    table = _restored(table, source)
    keys = [keys] if isinstance(keys, str) else list(keys)
    lacking = [name for name in keys if name not in table.columns]
    if lacking or not keys:
        raise WriteError(
            f"no key to count: the table has no column {listing(lacking)}" if keys else "no key is named"
        )
    if str(path) != "-":
        check_target(target, format)
        if place is None:
            _refuse(target, overwrite)
        else:
            place[0].check(place[1], table_name or "release", overwrite=overwrite)
    if labels is not None:  # a number among the keys is a mean now: 99 is no longer "refused"
        means = [name for name in keys if form(table[name]) != "category"]
        kept = [name for name in table.columns if name not in means]
        part = labels.only(kept)
        free = labels.only([name for name in means if _clear_of(table[name], labels.missing.get(name, []))])
        codes = {name: codes for name in free.missing if (codes := declared_labels(name, free))}
        labels = replace(labels, values={**part.values, **codes}, missing={**part.missing, **free.missing})
    try:
        return _write(
            table,
            target,
            kind,
            keys,
            k,
            overwrite,
            place,
            How(
                suffix_of(target),
                labels=labels,
                dialect=dialect,
                source=source,
                guard=guard,
                columns=tuple(table.columns),
                table=table_name or "release",
            ),
            verify,
        )
    except OSError as error:
        reason = _reason(error, target)
        raise WriteError(f"could not write {target.name!r}: {reason}; nothing was left behind") from None


def system_reason(error: BaseException) -> str | None:
    """Return the system's words for why a file could not be written; None if it was not the system."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = re.search(r"os error (\d+)", str(error))  # how Polars passes them on
    return os.strerror(int(number.group(1))) if number else None


def _reason(error: BaseException, target: Path) -> str:
    """Return why a file could not be written, in the system's words if there are any."""
    reason = system_reason(error)
    if reason is not None:
        return reason
    with suppress(OSError):
        if shutil.disk_usage(target.parent).free < _FULL:
            return os.strerror(errno.ENOSPC)
    return type(error).__name__


def dialect_for(target: Path, source: Source | None, **style: Any) -> Dialect:
    """Return the dialect of the text file to write: the source's, with the requested changes."""
    suffix = suffix_of(target)
    dialect = Dialect() if source is None or source.dialect is None else source.dialect
    if suffix == ".tsv" or (dialect.delimiter == "\t" and source is not None and source.suffix == ".tsv"):
        dialect = replace(dialect, delimiter="\t" if suffix == ".tsv" else ",")
    return dialect.styled(**style)


def reading_back(target: Path, source: Source | None, name: str | None, **style: Any) -> dict[str, Any]:
    """Return the options of `read` for a file written this way."""
    kind = "parquet" if _passes(target) else by_suffix(suffix_of(target)) or "csv"
    if kind == "csv":
        missing = () if source is None else source.reading.missing
        return dialect_for(target, source, **style).reading(missing)
    if FORMATS[kind].database:
        quoted = (name or "release").replace('"', '""')
        return {"query": f'select * from "{quoted}"'}  # noqa: S608 - quoted
    return {}


def _passes(target: Path) -> bool:
    """Whether a release is Parquet on its way to a place that has no files."""
    place = place_of(target)
    return place is not None and not place[0].holds_files


def _format(target: Path, given: str | None) -> str:
    if _passes(target):
        return "parquet"
    if given is not None:
        known = [name for name in FORMATS if FORMATS[name].write is not None]
        if given not in known:
            raise WriteError(f"no format is called {given!r}; there are: {', '.join(known)}")
        return given
    suffix = suffix_of(target)
    name = by_suffix(suffix)
    if name is None or FORMATS[name].write is None:
        if not suffix:
            folder = "is a folder; name a file in it"
            what = f"{target.name!r} {folder if target.is_dir() else 'has no suffix that says its format'}"
        else:
            what = (
                f"{suffix} files can be read but not written" if name else f"{suffix} files cannot be written"
            )
        raise WriteError(f"{what}; use one of {suffixes(written=True)}")
    if packing_of(target) and name != "csv":
        raise WriteError(
            f"only text files are packed, such as release.csv{target.suffix}; leave {target.suffix} out"
        )
    return name


def _restored(table: nw.DataFrame[Any], source: Source | None) -> nw.DataFrame[Any]:
    """Restore codes declared missing, in a table from no text file."""
    if source is None or source.format == "csv" or not source.raw:
        return table
    back = []
    for name, raw in source.raw.items():
        if name in table.columns and raw.dtype == (held := table[name].to_native()).dtype:
            whole = held.zip_with(held.is_not_null(), raw.alias(held.name))
            back.append(nw.from_native(whole.alias(name), series_only=True))
    return table.with_columns(*back) if back else table


def check_target(target: Path, format: str | None = None) -> None:  # noqa: A002 - as in `write`
    """Refuse a format that cannot be written, and a database that would be replaced."""
    kind = _format(target, format)
    if FORMATS[kind].database and target.exists():
        raise WriteError(
            f"{target.name!r} is a database that exists already, and is never replaced; name a new file"
        )


@contextmanager
def to_stdout() -> Iterator[Path]:
    """Yield a temporary path; its complete file goes to standard output."""
    with passing_folder() as folder:
        path = folder / "release.csv"
        yield path
        sys.stdout.flush()
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.buffer.flush()


def _clear_of(column: nw.Series[Any], ranges: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no published number equals a code declared missing: then the codes stay valid."""
    values = column.drop_nulls()
    if not values.dtype.is_numeric():
        return False
    return not any(
        bool(((values >= item["lo"]) & (values <= item["hi"])).any())
        for item in ranges
        if not isinstance(item["lo"], str)
    )


LONGEST = 255
"""Largest number of bytes of a file name on all systems in use."""


def refuse_long(target: Path) -> None:
    """Refuse a name that is too long for a file."""
    if len(os.fsencode(target.name)) > LONGEST:
        raise WriteError(f"the name {target.name[:20] + '…'!r} is too long for a file; choose a shorter one")


def _refuse(target: Path, overwrite: bool) -> None:
    refuse_long(target)
    if target.is_dir():
        raise WriteError(f"{target.name!r} is a folder; name a file")
    if target.exists() and not target.is_file():
        raise WriteError(f"{target.name!r} is not a regular file; name another one")
    if not target.parent.is_dir():
        raise WriteError(f"the folder of {target.name!r} does not exist; make it first")
    if os.path.lexists(target) and not overwrite:
        raise WriteError(f"{target.name!r} exists already; choose another name, or allow overwriting")


def _write(
    table: nw.DataFrame[Any],
    target: Path,
    kind: str,
    keys: list[str],
    k: int,
    overwrite: bool,
    place: tuple[Place, str] | None,
    how: How,
    verify: Callable[[Path], None] | None,
) -> WriteReceipt:
    try:
        if place is not None:
            way = sent(*place, how.table, keys, k, overwrite=overwrite)
        else:
            way = to_stdout() if str(target) == "-" else placed(target, overwrite=overwrite)
        with way as temporary:
            guarded = FORMATS[kind].write(table, temporary, how)  # type: ignore[misc]
            _flush(temporary)
            digest = digest_of(temporary)
            seal(temporary, digest)  # the counted file is the one that gets the name
            rows, smallest = _count(temporary, kind, keys, how)
            if rows != len(table):
                raise WriteError(
                    f"{rows} of {len(table)} rows came back from the written file; nothing was left behind"
                )
            if smallest < k:
                raise WriteError(
                    f"the written file holds a combination of {listing(keys)} that occurs "
                    f"{smallest} times, fewer than k={k}; nothing was left behind"
                )
            if verify is not None:
                verify(temporary)
            return WriteReceipt(target, rows, smallest, digest, guarded)
    except (VoronymError, OSError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a panic of Polars is no Exception
        # the text of a foreign exception may quote a cell: only its type is passed on
        raise WriteError(
            f"could not write {target.name!r} as {kind}: {_reason(error, target)}; nothing was left behind"
        ) from None


def _count(path: Path, kind: str, keys: list[str], how: How) -> tuple[int, int]:
    """Count in the written file, with code that shares nothing with the writer."""
    return FORMATS[kind].count(path, keys, how)  # type: ignore[misc]


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
