"""Work folders in an object store, for workers without a shared disk.

A path in a store is a `upath.UPath`, which acts like a `Path`. This module handles the differences: naming a
file once, reading it in pieces, and local copies for libraries that need a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable
from uuid import uuid4

from voronym.errors import MissingExtraError, ReadError, VoronymError, WriteError, hint
from voronym.table.places.store import Store, store_of

if TYPE_CHECKING:
    from voronym.run.parts.job import Job

SMALL = 32 * 2**20
"""Bytes of a file that is fetched whole: fewer requests than reading it in pieces."""


@runtime_checkable
class Afar(Protocol):
    """A path in a store."""

    fs: Any
    path: str


class AwayError(ReadError):
    """The store of a work folder does not answer; what is in it may be resumed."""


@contextlib.contextmanager
def asked(path: object) -> Iterator[None]:
    """Word the errors of a store while it is asked for a path: each store has errors of its own."""
    try:
        yield
    except (VoronymError, FileNotFoundError):
        raise
    except Exception as error:
        if not isinstance(path, Afar):
            raise
        raise AwayError(
            f"the store of the work folder does not answer ({type(error).__name__}). Nothing was released"
        ) from None


def path_of(text: object) -> Path:
    """Return the path that a text names, on this machine or in a store."""
    address = Store().address(str(text))
    if address is None:
        return Path(str(text))
    store_of(address)  # says which library is missing
    try:
        from upath import UPath
    except ImportError:
        raise MissingExtraError(
            f"a work folder in a store needs universal-pathlib: pip install 'voronym[remote]' ({address})"
        ) from None
    return cast("Path", UPath(address, use_listings_cache=False))


def is_afar(path: object) -> bool:
    """Whether a path is in a store."""
    return isinstance(path, Afar)


def folder_in(place: Path, name: str, output: str = "") -> Path:
    """Return a folder in a store; its name cannot be guessed, and tells its run to `is_of`."""
    return place / f".{name}.work-{_mark(output)}-{secrets.token_hex(8)}"


def is_of(work: Path, output: str) -> bool:
    """Whether a run on this machine made a work folder, for the same output."""
    return f".work-{_mark(output)}-" in work.name


def listed(place: Path) -> list[Path]:
    """Return the entries of a folder; empty if a store has no such folder yet."""
    if not isinstance(place, Afar):
        return list(place.iterdir())
    with asked(place):
        return list(place.iterdir()) if place.exists() else []


def exists(path: Path) -> bool:
    """Whether a file of a work folder is there."""
    if not isinstance(path, Afar):
        return path.exists()
    try:
        with asked(path):  # the first byte: whether there is a folder of this name would be a second request
            path.fs.cat_file(path.path, start=0, end=1)
    except FileNotFoundError:
        return False
    return True


def size_of(path: Path) -> int:
    """Return the bytes of a file of a work folder."""
    if not isinstance(path, Afar):
        return path.stat().st_size
    with asked(path):
        return int(path.fs.size(path.path))


def content(path: Path) -> bytes:
    """Return the bytes in a file of a work folder."""
    if not isinstance(path, Afar):
        return path.read_bytes()
    with asked(path):
        # Without an end, some libraries ask for the size first.
        data = path.fs.cat_file(path.path, start=0, end=SMALL)
        return bytes(data if len(data) < SMALL else path.fs.cat_file(path.path))


def discard(path: Path) -> None:
    """Remove a file of a work folder."""
    if not isinstance(path, Afar):
        path.unlink()
        return
    with asked(path):
        path.fs.rm_file(path.path)


def _mark(output: str) -> str:
    """Return a short code for an output of this machine that reveals neither of them."""
    return hashlib.sha256(f"{socket.gethostname()}\0{output}".encode()).hexdigest()[:8]


def put(temporary: Path, path: Path, called: str = "a file") -> None:
    """Give a file its name in a store, unless that name is taken."""
    there = cast("Afar", path)
    if exists(path):
        return
    try:
        with contextlib.suppress(FileExistsError):
            there.fs.put_file(str(temporary), there.path, mode="create")
    except Exception as error:  # each store has errors of its own
        raise WriteError(
            f"the store of the work folder does not take {called} ({type(error).__name__}): see whether it "
            f"answers, or name another place with {hint('work')}. Nothing was released"
        ) from None


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield a local temporary path; its file becomes ``path`` in the store."""
    with tempfile.TemporaryDirectory(prefix="voronym-") as folder:
        temporary = Path(folder) / uuid4().hex
        temporary.touch(0o600)
        yield temporary
        put(temporary, path)


def readable(path: object) -> Any:
    """Return an argument for Arrow: a file name, or an open file in a store."""
    here = path_of(path) if isinstance(path, str) else path
    if not isinstance(here, Afar):
        return str(here)
    with asked(here):
        size = here.fs.size(here.path)
        if size <= SMALL:
            return io.BytesIO(here.fs.cat_file(here.path, start=0, end=size))
        return _Open(here.fs.open(here.path, "rb"), here)


class _Open:
    """A large file of a store that is read in pieces."""

    def __init__(self, file: Any, path: Afar) -> None:
        self._file, self._path = file, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        with asked(self._path):
            return bytes(self._file.read(size))


@contextlib.contextmanager
def here(path: Path) -> Iterator[Path]:
    """Yield a local path: of the file itself, or of a temporary copy."""
    if not isinstance(path, Afar):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="voronym-") as folder:
        fetch(path, Path(folder))
        yield Path(folder) / path.name


def fetch(path: Path, folder: Path) -> None:
    """Copy a file from its store into a folder of this machine."""
    there = cast("Afar", path)
    with asked(path):
        there.fs.get_file(there.path, str(folder / path.name))


def held(work: Path) -> int:
    """Return the bytes of rows in a work folder."""
    if isinstance(work, Afar):
        with contextlib.suppress(Exception):  # used only for the progress display
            listed = work.fs.ls(work.path, detail=True)
            return sum(item["size"] or 0 for item in listed if item["name"].endswith(".arrow"))
        return 0
    size = 0
    for path in work.glob("*.arrow"):
        with contextlib.suppress(OSError):
            size += path.stat().st_size
    return size


def remove(work: Path) -> None:
    """Remove a work folder from its store."""
    there = cast("Afar", work)
    with contextlib.suppress(Exception):  # gone, or out of reach
        there.fs.rm(there.path, recursive=True)


@contextlib.contextmanager
def passing(place: str | None) -> Iterator[Path]:
    """Yield a private work folder at a place that is removed at the end of the block."""
    there = None if place is None else path_of(place)
    if there is None or not is_afar(there):
        with tempfile.TemporaryDirectory(prefix="voronym-", dir=there) as folder:
            yield Path(folder)
        return
    work = folder_in(there, "passing")
    try:
        yield work
    finally:
        remove(work)


def sent(job: Job, files: Sequence[Path]) -> Job:
    """Return the job with files that its workers can reach, copied to the store if needed.

    Folders such as ``year=2024`` keep their names. Files that are already there are not sent again.
    """
    if not is_afar(job.work):
        return job
    places = []
    for number, file in enumerate(files):
        named = (piece for piece in file.absolute().parent.parts if "=" in piece)
        places.append(job.work.joinpath("input", f"{number:06d}", *named, file.name))
        put(file, places[-1], repr(file.name))
    return replace(job, files=tuple(map(str, places)))
