"""Packed files: gzip by Python itself, zstd by the package zstandard."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from voronym.errors import MissingExtraError, ReadError

PACKED = (".gz", ".zst")


def suffix_of(path: Path) -> str:
    """Return the suffix of the format: ".csv" for table.csv.gz."""
    inner = Path(path.stem) if path.suffix.lower() in PACKED else path
    return inner.suffix.lower()


def packing_of(path: Path) -> str:
    """Return the suffix of the compression, ".gz" or ".zst"; "" without one."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKED else ""


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("a .zst file needs zstandard: pip install 'voronym[zstd]'") from None
    return zstandard


@contextmanager
def packed(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes, compressed if its suffix says so.

    A gzip file has room for a name and a time; they stay empty.
    """
    how = packing_of(path)
    with path.open(mode) as file:
        if how == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out:
                yield out  # type: ignore[misc]
        elif how == ".zst":
            with _zstandard().ZstdCompressor(level=6).stream_writer(file, closefd=False) as out:
                yield out
        else:
            yield file


def unpacked(path: Path) -> bytes:
    """Return the content of a file, decompressed if its suffix says so."""
    raw = path.read_bytes()
    how = packing_of(path)
    if not how:
        return raw
    magic = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}[how]
    if not raw.startswith(magic):
        raise ReadError(f"{path.name!r} is not a {how} file, although its suffix says so")
    try:
        if how == ".gz":
            return gzip.decompress(raw)
        with _zstandard().ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True) as file:
            return bytes(file.read())
    except MissingExtraError:
        raise
    except Exception as error:  # the libraries have no common error for "damaged"
        raise ReadError(
            f"{path.name!r} is a damaged {how} file ({type(error).__name__}); copy or write it again"
        ) from None
