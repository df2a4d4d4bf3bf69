"""Read a project file of ARX as an archive of texts, and trust nothing in it.

Entries are read one by one, by name. Bytes are counted while unpacking, up to a limit, because the sizes
stated in a zip may be wrong. Nothing is unpacked to a path from the archive. Java objects (``*.dat``) are
never opened. XML with a document type is refused, because only a document type can declare entities.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from voronym.errors import ReadError

MEGA = 1_000_000
XML_LIMIT = 4 * MEGA
TEXT_LIMIT = 64 * MEGA
DATA_LIMIT = 2_000 * MEGA
MOST_ENTRIES = 20_000
PIECE = 1 << 18


class Archive:
    """The entries of a project file.

    Parameters
    ----------
    path : Path
        The file, for messages.
    zipped : ZipFile
        The same file as an open archive.
    """

    def __init__(self, path: Path, zipped: zipfile.ZipFile) -> None:
        self.name, self._zipped = path.name, zipped
        entries = zipped.infolist()
        if len(entries) > MOST_ENTRIES:
            raise ReadError(f"{self.name!r} has {len(entries):,} entries; a project of ARX has a few")
        self.names = tuple(entry.filename for entry in entries)

    def __contains__(self, entry: str) -> bool:
        return entry in self.names

    def text(self, entry: str, limit: int = TEXT_LIMIT) -> str:
        """Return an entry as text: UTF-8, or the encoding of older versions on Windows."""
        raw = b"".join(self.pieces(entry, limit))
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return raw.decode("cp1252", errors="replace")

    def pieces(self, entry: str, limit: int) -> Iterator[bytes]:
        """Unpack an entry piece by piece, up to a limit."""
        many = 0
        try:
            with self._zipped.open(entry) as file:
                while piece := file.read(PIECE):
                    many += len(piece)
                    if many > limit:
                        raise ReadError(
                            f"{entry!r} in {self.name!r} unpacks to more than {limit // MEGA:,} MB: nothing "
                            "was taken from it"
                        )
                    yield piece
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError(f"{entry!r} in {self.name!r} is damaged, or packed with a password") from None

    def xml(self, entry: str) -> ElementTree.Element:
        """Return the root of an XML entry; refuse a document type, because it may declare entities."""
        text = self.text(entry, XML_LIMIT)
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ReadError(
                f"{entry!r} in {self.name!r} declares a document type, which ARX never does: it was not read"
            )
        try:
            return ElementTree.fromstring(text)  # noqa: S314 - no entities without a document type
        except (ElementTree.ParseError, ValueError):
            raise ReadError(f"{entry!r} in {self.name!r} is no XML as ARX writes it") from None


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a project file."""
    try:
        file: IO[bytes] = path.open("rb")
    except OSError as error:
        raise ReadError(f"cannot read {str(path)!r}: {error.strerror}") from None
    with file:
        try:
            zipped = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
            raise ReadError(
                f"{path.name!r} is neither an ARX project (a zip archive with XML) nor a text file"
            ) from None
        with zipped:
            yield Archive(path, zipped)
