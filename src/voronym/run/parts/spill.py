"""Files in the work folder: rows by destination, one batch each, so that a reader reads only its own.

A file is complete or absent: it is written under another name and then linked, so if two workers run the same
task, the first one counts. Only the owner may read it. Without a shared disk, the folder is in an object
store (`afar`), which also names a file only once.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import WriteError, hint
from voronym.run.parts import afar, store
from voronym.run.parts.source import arrow
from voronym.table.write import system_reason

Ints = NDArray[np.int64]

JOB = "job.json"
"""The file of a work folder that names its owner: written first, removed last."""


UNFINISHED = re.compile(r"\..+\.[0-9a-f]{32}")
"""The name of a file that is being written."""


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` when complete, unless that exists already."""
    away = afar.is_afar(path)
    try:
        with afar.written(path) if away else _linked(path) as temporary:
            yield temporary
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = system_reason(error)
        if reason is None and not isinstance(error, OSError):
            raise
        place = "the folder for temporary files" if away else "the work folder"
        raise WriteError(
            f"{place} cannot take more: {reason or type(error).__name__}; free some space, or name another "
            f"folder with {hint('work')}. Nothing was released"
        ) from None


@contextlib.contextmanager
def _linked(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        temporary.touch(0o600)
        yield temporary
        _named(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Remove the unfinished files that killed workers left in a folder of this machine."""
    for path in folder.iterdir():
        if UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _named(temporary: Path, path: Path) -> None:
    """Give a file its name, unless that name is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if not path.exists():  # a disk without links
            temporary.replace(path)


def spill(path: Path, frame: pl.DataFrame, to: Ints, destinations: int) -> Ints:
    """Write rows by destination, in their order; return the number of rows for each."""
    pa = arrow()
    order = np.argsort(to, kind="stable")
    counts = np.bincount(to, minlength=destinations).astype(np.int64)
    table = frame[order].to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks()
    held = np.flatnonzero(counts)
    about = {b"to": json.dumps(held.tolist()).encode(), b"rows": json.dumps(counts[held].tolist()).encode()}
    kind = table.schema.with_metadata(about)
    with (
        whole(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, kind) as writer,
    ):
        at = 0
        for many in counts[held].tolist():
            writer.write_table(table.slice(at, many).combine_chunks(), max_chunksize=many)
            at += many
    return counts


def gather(paths: Sequence[Path], first: int, last: int) -> list[pl.DataFrame]:
    """Read the rows for destinations ``first`` to ``last - 1``; one frame per file and destination."""
    pa = arrow()
    out: list[pl.DataFrame] = []
    for path in paths:
        with _opened(path) as file, pa.ipc.open_file(file) as reader:
            held = json.loads(reader.schema.metadata[b"to"])
            for batch, to in enumerate(held):
                if first <= to < last:
                    out.append(pl.from_arrow(reader.get_batch(batch)))  # type: ignore[arg-type]
    return out


def _opened(path: Path) -> Any:
    pa = arrow()
    source = afar.readable(path)
    return pa.OSFile(source, "rb") if isinstance(source, str) else pa.PythonFile(source, "r")


@functools.cache
def _ready() -> None:
    """Register the classes that the work folder may hold, once they can be imported."""
    from voronym.run.parts.job import allow_stored

    allow_stored()


def packed(value: Any) -> bytes:
    """Return an object as bytes that name its type and contain no code."""
    _ready()
    return store.dump(value)


def unpacked(data: bytes) -> Any:
    """Return the object that `packed` took."""
    _ready()
    return store.load(data)


def keep(path: Path, value: Any) -> None:
    """Write an object of voronym."""
    with whole(path) as temporary:
        temporary.write_bytes(packed(value))


def recall(path: Path) -> Any:
    """Read an object that `keep` wrote."""
    return unpacked(afar.content(path))
