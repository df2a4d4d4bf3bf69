"""Uploads: streamed to a private folder under limits; an upload's name is a label, never a path."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zipfile
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from voronym.errors import ReadError
from voronym.table.formats import FORMATS, by_suffix
from voronym.table.packing import packing_of, suffix_of

MEGA = 1 << 20
PIECE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of an upload: bytes as sent, bytes unpacked, columns."""

    sent: int = 512 * MEGA
    unpacked: int = 768 * MEGA
    columns: int = 2_000


def label_of(name: str) -> str:
    r"""Return the name of an upload: its last part, in safe characters.

    Examples
    --------
    >>> label_of("../../etc/passwd"), label_of("C:\\data\\Patients 2024.csv"), label_of("..")
    ('passwd', 'Patients 2024.csv', 'table')
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    plain = unicodedata.normalize("NFC", last)
    kept = re.sub(r"[^\w .()+-]", "_", plain, flags=re.UNICODE).strip(" .")
    stem, dot, suffixes = kept.partition(".")
    return f"{stem[:60]}{dot}{suffixes[-20:]}" if kept else "table"


def check_suffix(label: str) -> None:
    """Refuse a file whose suffix belongs to no format that the page reads."""
    path = Path(label)
    suffix = suffix_of(path)
    name = by_suffix(suffix)
    if name is None:
        known = " ".join(s for item in FORMATS.values() for s in item.suffixes)
        what = f"{suffix} files cannot be read" if suffix else f"{label!r} has no suffix that says its format"
        raise ReadError(f"{what}; known ones are {known}")


async def receive(pieces: AsyncIterator[bytes], target: Path, limit: int) -> int:
    """Write the pieces of an upload to a new file; if they exceed the limit, remove the file and refuse."""
    taken = 0
    try:
        with target.open("xb") as file:
            async for piece in pieces:
                taken += len(piece)
                if taken > limit:
                    raise ReadError(f"the file has more than {limit / MEGA:,.0f} MB: {LARGE}")
                file.write(piece)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    if not taken:
        target.unlink()
        raise ReadError(f"{target.name!r} is empty")
    return taken


LARGE = "use voronym anonymize, or voronym page FILE, which read it where it is"


def check_unpacked(path: Path, limit: int) -> None:
    """Refuse a packed file that unpacks to more than a limit, before it is held in memory."""
    how = packing_of(path)
    if how == ".gz":
        _count(gzip.open(path, "rb"), path, limit)  # noqa: SIM115 - closed there
    elif how == ".zst":
        try:
            import zstandard
        except ImportError:
            return  # the reader names the missing extra
        with path.open("rb") as file:
            _count(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), path, limit)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            _refuse(sum(item.file_size for item in archive.infolist()), path, limit)


def _count(file: Any, path: Path, limit: int) -> None:
    """Unpack piece by piece, and stop at the limit."""
    with file:
        unpacked = 0
        while unpacked <= limit:
            try:
                piece = file.read(PIECE)
            except (OSError, EOFError, zlib.error, ValueError):
                return  # damaged, which the reader says in its own words
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                return
            if not piece:
                return
            unpacked += len(piece)
    _refuse(unpacked, path, limit)


def _refuse(unpacked: int, path: Path, limit: int) -> None:
    if unpacked > limit:
        raise ReadError(f"{path.name!r} unpacks to more than {limit / MEGA:,.0f} MB: {LARGE}")


def check_lines(path: Path, limit: int) -> None:
    """Refuse a text file with too many cells in its first lines, before it is read."""
    if by_suffix(suffix_of(path)) != "csv":
        return
    try:
        with gzip.open(path, "rb") if packing_of(path) == ".gz" else path.open("rb") as file:
            lines = file.read(4 * PIECE).split(b"\n")[:50]
    except (OSError, EOFError, zlib.error):
        return  # damaged, which the reader says in its own words
    check_columns(1 + max(line.count(sign) for line in lines for sign in (b",", b";", b"\t", b"|")), limit)


def check_columns(count: int, limit: int) -> None:
    """Refuse a table that is too wide for a page."""
    if count > limit:
        raise ReadError(
            f"the table has {count:,} columns, and the page takes {limit:,}: leave some out, or use voronym "
            "anonymize"
        )
