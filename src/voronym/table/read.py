"""Read a table from a file or a query: the suffix decides how."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from voronym.errors import ReadError
from voronym.table import sql
from voronym.table.formats import FORMATS, How, by_suffix, suffixes
from voronym.table.frame import as_frame


def read(
    source: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    encoding: str | None = None,
) -> pl.DataFrame:
    r"""Read a table.

    Parameters
    ----------
    source : path or "postgresql://..." address
        Text (.csv .tsv .txt), columnar (.parquet .feather .arrow .ipc), statistical (.sav .zsav .dta
        .sas7bdat .xpt) or database (.duckdb .ddb .db .sqlite .sqlite3) file, or the address
        of a PostgreSQL server.
    delimiter : str, optional
        Of a text file; found out by default.
    query : str, optional
        The SQL query, for databases.
    format : str, optional
        A suffix without its dot, where the file's own does not say what it is.
    encoding : str, optional
        Of a text or statistical file; UTF-8 by default.

    Returns
    -------
    polars.DataFrame
        An empty cell of a text file is missing; types are inferred from all its rows, and codes
        with leading zeros stay strings.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;zip\n30;08001\n40;08002\n")
    ...     read(file).rows()
    [(30, '08001'), (40, '08002')]
    """
    if (
        isinstance(source, str)
        and source.split("://", 1)[0] in ("postgresql", "postgres")
        and "://" in source
    ):
        return sql.read_postgresql(source, query)
    path = Path(source)
    suffix = f".{format.lower().lstrip('.')}" if format else path.suffix.lower()
    name = by_suffix(suffix)
    if name is None:
        raise ReadError(f"{path.name!r} has no suffix that says its format; known ones are {suffixes()}")
    if query is not None and not FORMATS[name].database:
        raise ReadError(f"{path.name!r} is not a database, so it takes no query")
    if delimiter is None and suffix == ".tsv":
        delimiter = "\t"
    try:
        if path.stat().st_size == 0:
            raise ReadError(f"{path.name!r} is empty")
        if path.is_dir():
            raise IsADirectoryError
        return FORMATS[name].read(path, How(suffix, delimiter, query, encoding))
    except FileNotFoundError:
        raise ReadError(f"there is no file {path.name!r} in that folder; check the path") from None
    except IsADirectoryError:
        raise ReadError(f"{path.name!r} is a folder; name a file") from None
    except OSError as error:
        raise ReadError(
            f"{path.name!r} could not be read: {error.strerror or type(error).__name__}"
        ) from None


def load(data: Any) -> nw.DataFrame[Any]:
    """Return any table, a data frame or the path of a file, as a narwhals frame with numbered rows."""
    return as_frame(read(data) if isinstance(data, (str, os.PathLike)) else data)
