"""Write a release to a file, count its key combinations again from the bytes, and only then publish it.

The file is made under a temporary name in the same folder, flushed to the disk, re-read by `check`, which
shares no code with the writers, and renamed into place when the count holds. Whatever happens before that, a
broken count, a full disk, Ctrl-C, leaves nothing behind and an existing file as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.errors import VoronymError, WriteError
from voronym.table import check
from voronym.table.clean import tidy, to_polars
from voronym.table.codebook import Labels
from voronym.table.frame import form, listing

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".sav": "sav",
    ".dta": "dta",
}
FORMULA = r"^[=+\-@\t\r]"  # how a cell starts that a spreadsheet may run


@dataclass(frozen=True)
class WriteReceipt:
    """What was written, and what was counted in it.

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


@dataclass(frozen=True)
class _How:
    """What a writer may need to know."""

    delimiter: str
    labels: Labels | None


_Writer = Callable[[nw.DataFrame[Any], Path, _How], int]


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
    verify: Callable[[Path], None] | None = None,
) -> WriteReceipt:
    """Write a table whose every combination of keys occurs k times or more, and prove it on the file.

    Parameters
    ----------
    frame : pandas, Polars, PyArrow or narwhals frame
        The masked table.
    path : path
        The file to make. Its suffix decides: .csv .tsv .txt .parquet .feather .arrow .ipc .sav .dta
    keys : names
        The key columns.
    k : int
        How often every combination has to occur.
    overwrite : bool
        Replace an existing file; otherwise it is refused.
    delimiter : str, optional
        Of a text file; a comma by default, a tab for .tsv.
    format : str, optional
        "csv", "parquet", "arrow", "sav" or "dta", where the suffix does not say it.
    labels : Labels, optional
        Of variables and values, for .sav and .dta: `labels_of` the table that was read.
    verify : callable, optional
        Called with the path of the finished file before it gets its name; it raises where the file must not.

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
    target = Path(path)
    kind = _format(target, format)
    delimiter = delimiter or ("\t" if target.suffix.lower() == ".tsv" else ",")
    if kind == "csv" and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
        raise WriteError(
            "the delimiter must be a single ASCII character, and neither a quote nor a line break"
        )
    try:
        table = tidy(frame)
    except VoronymError:
        raise
    except Exception as error:
        raise WriteError(f"the table has columns that cannot be written ({type(error).__name__})") from None
    keys = [keys] if isinstance(keys, str) else list(keys)
    lacking = [name for name in keys if name not in table.columns]
    if lacking or not keys:
        raise WriteError(
            f"no key to count: the table has no column {listing(lacking)}" if keys else "no key is named"
        )
    _refuse(target, overwrite)
    if labels is not None:  # a number among the keys is a mean now: 99 is no longer "refused"
        means = [name for name in keys if form(table[name]) != "category"]
        values = {name: book for name, book in labels.values.items() if name not in means}
        labels = Labels(labels.variables, values)
    try:
        return _write(table, target, kind, keys, k, overwrite, _How(delimiter, labels), verify)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WriteError(f"could not write {target.name!r}: {reason}; nothing was left behind") from None


def _format(target: Path, given: str | None) -> str:
    known = sorted(set(FORMATS.values()))
    if given is not None:
        if given not in known:
            raise WriteError(f"no format is called {given!r}; there are: {', '.join(known)}")
        return given
    try:
        return FORMATS[target.suffix.lower()]
    except KeyError:
        suffixes = " ".join(FORMATS)
        raise WriteError(
            f"{target.name!r} has no suffix that says its format; use one of {suffixes}"
        ) from None


def _refuse(target: Path, overwrite: bool) -> None:
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
    how: _How,
    verify: Callable[[Path], None] | None,
) -> WriteReceipt:
    handle, name = tempfile.mkstemp(prefix=".voronym-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        guarded = _WRITERS[kind](table, temporary, how)
        _flush(temporary)
        rows, smallest = _count(temporary, kind, _guarded_names(keys, kind), how.delimiter)
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
        receipt = WriteReceipt(target, rows, smallest, _sha256(temporary), guarded)
        _publish(temporary, target, overwrite)
        return receipt
    except (VoronymError, OSError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a panic of Polars is no Exception
        # the text of a foreign exception may quote a cell: only its type is passed on
        raise WriteError(
            f"could not write {target.name!r} as {kind}: {type(error).__name__}; nothing was left behind"
        ) from None
    finally:  # also on Ctrl-C; after publishing there is nothing left to remove
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def _write_csv(table: nw.DataFrame[Any], path: Path, how: _How) -> int:
    frame = to_polars(table)
    guarded = 0
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
            guarded += count
        columns.append(column)
    names = _guarded_names(frame.columns, "csv")
    guarded += sum(new != old for new, old in zip(names, frame.columns, strict=True))
    frame = pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
    # A lone missing cell would be an empty line, which readers skip: it is written as an empty quoted cell.
    frame.write_csv(path, separator=how.delimiter, null_value='""' if frame.width == 1 else None)
    return int(guarded)


def _guarded_names(names: Sequence[str], kind: str) -> list[str]:
    return ["'" + name if kind == "csv" and name[:1] in tuple("=+-@\t\r") else name for name in names]


def _plain(table: nw.DataFrame[Any]) -> Any:
    """Return a Polars frame with categories as strings: no dictionary, so none of its leftovers."""
    return to_polars(table).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _write_parquet(table: nw.DataFrame[Any], path: Path, _: _How) -> int:
    _plain(table).write_parquet(path)
    return 0


def _write_arrow(table: nw.DataFrame[Any], path: Path, _: _How) -> int:
    _plain(table).write_ipc(path, compression="zstd", compat_level=pl.CompatLevel.oldest())
    return 0


def _statistical(name: str) -> _Writer:
    def write_statistical(table: nw.DataFrame[Any], path: Path, how: _How) -> int:
        from voronym.table import statistical

        statistical.write_file(to_polars(table), path, name, how.labels)
        return 0

    return write_statistical


_WRITERS: dict[str, _Writer] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "sav": _statistical("sav"),
    "dta": _statistical("dta"),
}


def _count(path: Path, kind: str, keys: list[str], delimiter: str) -> tuple[int, int]:
    if kind == "csv":
        return check.count_delimited(path, keys, delimiter)
    if kind in ("parquet", "arrow"):
        return check.count_columnar(path, keys, kind)
    return check.count_statistical(path, keys, kind)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _publish(temporary: Path, target: Path, overwrite: bool) -> None:
    """Give the file its name and a new file's permissions; without ``overwrite`` never over another one."""
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    if overwrite:
        temporary.replace(target)
        return
    try:
        os.link(temporary, target)  # fails when somebody made the file meanwhile
    except FileExistsError:
        raise WriteError(
            f"{target.name!r} exists already; choose another name, or allow overwriting"
        ) from None
    except OSError:  # a file system without links: reserve the name, then move over the reservation
        with target.open("xb"):
            pass
        try:
            temporary.replace(target)
        except BaseException:
            target.unlink()
            raise
