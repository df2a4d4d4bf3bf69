"""Files that get their names together, when all of them are whole, or not at all.

A file is made in a hidden folder beside its place, on the same disk. When the block of `together` ends, all
files of the block are moved to their places; where one cannot be, those that were moved are taken back. The
folder is locked for as long as its process lives: whoever opens one in the same place later removes those
whose owner is dead, killed by force or by a power cut, and no other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from voronym.errors import WriteError

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without these locks: what a dead process left is left to people
    fcntl = None

PREFIX = ".voronym-"


@contextlib.contextmanager
def together(before: Callable[[], None] | None = None) -> Iterator[None]:
    """Have all files that are placed within this block get their names at its end.

    Parameters
    ----------
    before : callable, optional
        Called when all files are whole, before the first one gets its name; it raises to have none.
    """
    if _open.get() is not None:  # a part of a larger whole
        yield
        return
    stage = _Stage()
    token = _open.set(stage)
    try:
        yield
        if before is not None:
            before()
        stage.place()
    finally:
        _open.reset(token)
        stage.close()


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Have files that are placed within this block get their names there, whatever is open around it."""
    token = _open.set(None)
    try:
        yield
    finally:
        _open.reset(token)


@contextlib.contextmanager
def placed(target: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give the path of a file to be made, which becomes ``target`` when it and all beside it are whole.

    Parameters
    ----------
    target : Path
        Its place. The folder is there.
    overwrite : bool
        Whether a file that is there may be replaced.
    """
    with together():
        stage = _open.get()
        assert stage is not None  # noqa: S101 - `together` has just opened one
        temporary = stage.make(target)
        yield temporary
        stage.waiting.append(_File(temporary, target, overwrite))


class Companion(Protocol):
    """What belongs to the files of a block without being one of them: an entry in a ledger."""

    def before(self) -> None:
        """Make it ready: all files are whole, and none has its name yet."""
        ...

    def after(self) -> None:
        """Make it final: all files have their names."""
        ...

    def undo(self) -> None:
        """Take it back: a file could not be placed."""
        ...


def accompany(companion: Companion) -> None:
    """Have something come true together with the files of the block that is open."""
    stage = _open.get()
    if stage is None:
        raise RuntimeError("nothing is being placed: call this within a block of `together`")
    stage.companions.append(companion)


def sweep(folder: Path) -> None:
    """Remove what dead processes left in a folder. What a living one still makes is locked."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for found in folder.glob(f"{PREFIX}*"):
            handle = _lock(found) if found.is_dir() and not found.is_symlink() else None
            if handle is not None:
                shutil.rmtree(found, ignore_errors=True)
                os.close(handle)


@dataclass
class _File:
    """A finished file on its way."""

    temporary: Path
    target: Path
    overwrite: bool
    before: Path | None = None
    """What was there, by another name."""
    moved: bool = False

    def move(self) -> None:
        """Take the place; without ``overwrite`` never that of another file."""
        umask = os.umask(0)
        os.umask(umask)
        self.temporary.chmod(0o666 & ~umask)
        if self.overwrite:
            self._keep()
            self.temporary.replace(self.target)
        else:
            _move_once(self.temporary, self.target)
        self.moved = True

    def _keep(self) -> None:
        if self.target.is_file():
            kept = self.temporary.with_name(f"{self.temporary.name}.before")
            with contextlib.suppress(OSError):  # a file system without links: then it cannot be taken back
                os.link(self.target, kept)
                self.before = kept

    def withdraw(self) -> None:
        """Leave the place as it was."""
        if not self.moved:
            return
        with contextlib.suppress(OSError):
            if self.before is not None:
                self.before.replace(self.target)
            else:
                self.target.unlink()


class _Stage:
    """The files of a block, and the folders they are made in."""

    def __init__(self) -> None:
        self.waiting: list[_File] = []
        self.companions: list[Companion] = []
        self._folders: dict[Path, tuple[Path, int | None]] = {}
        self._made = 0

    def make(self, target: Path) -> Path:
        """Return a path for a file that is to become ``target``."""
        home = target.parent
        if home not in self._folders:
            sweep(home)
            self._folders[home] = private_folder(home)
        self._made += 1
        return self._folders[home][0] / f"{self._made}{''.join(target.suffixes[-2:])}"

    def place(self) -> None:
        """Give all files their names, or none. The first one made comes last: the others tell about it."""
        ready: list[Companion] = []
        try:
            for companion in self.companions:
                companion.before()
                ready.append(companion)
            for file in reversed(self.waiting):
                try:
                    file.move()
                except OSError as error:
                    reason = error.strerror or type(error).__name__
                    raise WriteError(
                        f"could not write {file.target.name!r}: {reason}; nothing was left behind"
                    ) from None
            for companion in ready:
                companion.after()
        except BaseException:  # Ctrl-C, too
            for file in self.waiting:
                file.withdraw()
            for companion in ready:
                companion.undo()
            raise

    def close(self) -> None:
        """Remove the folders, and with them what was not placed."""
        for folder, handle in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)
            if handle is not None:
                os.close(handle)


_open: ContextVar[_Stage | None] = ContextVar("voronym_staging", default=None)


def private_folder(home: Path) -> tuple[Path, int | None]:
    """Make a hidden folder and lock it, before somebody else takes it for left over."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
        handle = _lock(made)
        if made.is_dir():
            return made, handle
        if handle is not None:
            os.close(handle)


def _lock(folder: Path) -> int | None:
    """Return a locked handle of a folder; None where somebody else has it, or there are no locks."""
    if fcntl is None:
        return None
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle


def _move_once(temporary: Path, target: Path) -> None:
    """Give a file its name where nobody else has it."""
    taken = f"{target.name!r} exists already; choose another name, or allow overwriting"
    try:
        os.link(temporary, target)  # fails when somebody made the file meanwhile
    except FileExistsError:
        raise WriteError(taken) from None
    except OSError:  # a file system without links: reserve the name, then move over the reservation
        try:
            with target.open("xb"):
                pass
        except FileExistsError:
            raise WriteError(taken) from None
        try:
            temporary.replace(target)
        except BaseException:
            target.unlink()
            raise
