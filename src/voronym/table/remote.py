"""Tables at addresses, such as ``s3://bucket/people.parquet``: fetched whole, and put whole.

A table is fetched into a folder that only its owner can read, and removed after reading; the next run removes
what a killed one left. A release is made
and counted there, too, and put in one piece when all files beside it are whole; where one of them fails, what
was at the address before is put back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from voronym.core.atomic import accompany, sealed, together
from voronym.core.locks import passing_folder
from voronym.core.place import CHANGED
from voronym.errors import MissingExtraError, ReadError, WriteError

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,3}(?=[^/])")
_OWN = ("postgresql", "postgres", "http", "https")
"""Addresses that are read by other means, or not at all."""


def address_of(path: object) -> str | None:
    """Return the address of a path; None for a file of this machine.

    A `Path` has made one slash of two.

    Examples
    --------
    >>> from pathlib import Path
    >>> address_of(Path("s3://bucket/people.csv")), address_of("people.csv"), address_of("C:/people.csv")
    ('s3://bucket/people.csv', None, None)
    """
    text = str(path)
    start = _ADDRESS.match(text)
    if start is None or start[1] in _OWN:
        return None
    rest = text[start.end() :]
    return f"{start[1]}:///{rest}" if start[1] == "file" else f"{start[1]}://{rest}"


def store_of(address: str) -> tuple[Any, str]:
    """Return the store behind an address, and the place in it."""
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError(
            f"{_scheme(address)}:// needs fsspec: pip install 'voronym[remote]'"
        ) from None
    try:
        store, place = fsspec.core.url_to_fs(address)
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise MissingExtraError(f"{_scheme(address)}:// needs another library: {reason}") from None
    except ValueError:
        raise ReadError(f"no store is known for addresses that start with {_scheme(address)}://") from None
    return store, place


def _scheme(address: str) -> str:
    return address.split("://", 1)[0]


@contextmanager
def fetched(address: str) -> Iterator[Path]:
    """Yield the path of a local copy of an address, for the length of the block."""
    store, place = store_of(address)
    with passing_folder() as folder:
        path = folder / PurePosixPath(place).name
        try:
            store.get_file(place, str(path))
        except FileNotFoundError:
            raise ReadError(f"there is nothing at the address of {path.name!r}; check it") from None
        except Exception as error:  # each store has errors of its own
            raise ReadError(f"{path.name!r} could not be fetched ({type(error).__name__})") from None
        yield path


def check_address(address: str, *, overwrite: bool) -> None:
    """Refuse an address that is taken, or a store that does not answer, before the work."""
    store, place = store_of(address)
    name = PurePosixPath(place).name
    try:
        taken = store.exists(place)
    except Exception as error:
        raise WriteError(f"the store of {name!r} does not answer ({type(error).__name__})") from None
    if taken and not overwrite:
        raise WriteError(f"{name!r} exists already; choose another name, or allow overwriting")


@contextmanager
def put(address: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a temporary path whose file is uploaded when it and its companions are complete."""
    store, place = store_of(address)
    with passing_folder() as folder, together():
        path = folder / PurePosixPath(place).name
        yield path
        accompany(_Upload(store, place, path, overwrite, sealed(path)))


@dataclass
class _Upload:
    """A finished file on its way to a store."""

    store: Any
    place: str
    path: Path
    overwrite: bool
    digest: str | None
    content: bytes = b""
    earlier: bytes | None = None
    begun: bool = False

    def __post_init__(self) -> None:
        self.content = self.path.read_bytes()  # the folder is gone when a larger block ends
        if self.digest not in (None, hashlib.sha256(self.content).hexdigest()):
            raise WriteError(CHANGED.format(self.path.name))

    def before(self) -> None:
        """Put the file, in one piece."""
        check_address(self.store.unstrip_protocol(self.place), overwrite=self.overwrite)
        try:
            if self.store.exists(self.place):
                self.earlier = self.store.cat_file(self.place)
            self.begun = True
            self.store.pipe_file(self.place, self.content)
        except Exception as error:
            self.undo()
            raise WriteError(
                f"could not put {self.path.name!r} to its address ({type(error).__name__}); "
                "nothing was released"
            ) from None

    def after(self) -> None:
        """Leave it there."""

    def undo(self) -> None:
        """Restore the earlier file."""
        if not self.begun:
            return
        if self.earlier is not None:
            self.store.pipe_file(self.place, self.earlier)
        elif self.store.exists(self.place):
            self.store.rm_file(self.place)
