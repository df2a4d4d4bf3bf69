"""Files and folders that get their names together, when all of them are whole, or not at all.

A file is made in a hidden folder beside its place, on the same disk. When the block of `together` ends, all
files of the block are moved to their places; where one cannot be, those that were moved are taken back. The
folder is locked for as long as its process lives: whoever opens one in the same place later removes those
whose owner is dead, killed by force or by a power cut, and no other.

Two runs may want the same place. Names are given by one process at a time in each folder, so that of two
sets of files the last one is there, whole. A file whose digest was taken when it was counted (`seal`) gets
its name only if it has that digest still. The locks are the system's (`flock`): a dead process holds none.
"""

# promise: doc-atomic
from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from voronym.errors import InputError, WriteError

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without these locks: what a dead process left is left to people
    fcntl = None

PREFIX = ".voronym-"
PATIENCE = 10.0
"""Seconds to wait for another process that gives names in the same folder."""


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
    failed: BaseException | None = None
    try:
        yield
        if before is not None:
            before()
        stage.place()
    except BaseException as error:
        failed = error
        raise
    finally:
        _open.reset(token)
        stage.close(failed)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Have files that are placed within this block get their names there, whatever is open around it."""
    token = _open.set(None)
    try:
        yield
    finally:
        _open.reset(token)


@contextlib.contextmanager
def placed(target: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[Path]:
    """Give the path of a file to be made, which becomes ``target`` when it and all beside it are whole.

    Parameters
    ----------
    target : Path
        Its place. The folder is there.
    overwrite : bool
        Whether a file that is there may be replaced.
    private : bool
        Whether nobody but its owner may read it.
    """
    with together():
        stage = _stage()
        temporary = stage.make(target)
        yield temporary
        stage.waiting.append(_File(temporary, target, overwrite, stage.sealed.get(temporary), private))


def place_folder(made: Path, target: Path, *, overwrite: bool, sealed: Mapping[str, str]) -> None:
    """Have a folder that is whole become ``target`` with the files of the block that is open.

    Parameters
    ----------
    made : Path
        The folder, on the same disk. Who made it removes it where it does not get its name.
    target : Path
        Its place.
    overwrite : bool
        Whether what is there may be replaced.
    sealed : mapping
        The digest of each of its files, as they were counted: with others it gets no name.
    """
    stage = _stage()
    spare = stage.make(target).with_suffix(".before")
    stage.waiting.append(_Folder(made, target, overwrite, dict(sealed), spare))


def seal(temporary: Path, digest: str) -> None:
    """Have a file of the block that is open get its name only if it has this digest then."""
    stage = _open.get()
    if stage is not None:
        stage.sealed[temporary] = digest


def sealed(temporary: Path) -> str | None:
    """Return the digest that a file of the block that is open was sealed with, if it was."""
    return _stage().sealed.get(temporary)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder in the order of their names."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    every = hashlib.sha256()
    for part in sorted(path.iterdir()):
        every.update(f"{part.name} {digest_of(part)}\n".encode())
    return every.hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: digest_of(path) for path in folder.iterdir()}


def claim(target: Path) -> bool:
    """Have nobody else make a target until the block that is open ends; whether the disk has locks."""
    stage = _stage()
    handle = _claimed(target)
    if handle is not None:
        stage.claims.append((_lock_of(target), handle))
    return handle is not None


def at_the_end(ending: Callable[[BaseException | None], None]) -> None:
    """Have something done when the block that is open ends, with the error that it ended with, or None."""
    _stage().endings.append(ending)


def is_ours(folder: Path) -> bool:
    """Whether a folder is one that this user made, that is no link, and that nobody else may open."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(about.st_mode):
        return False
    return os.name != "posix" or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)


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
    _stage().companions.append(companion)


def _stage() -> _Stage:
    stage = _open.get()
    if stage is None:
        raise RuntimeError("nothing is being placed: call this within a block of `together`")
    return stage


def sweep(folder: Path) -> None:
    """Remove what dead processes left in a folder. What a living one still makes is locked."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{PREFIX}*"):
            handle = _lock(path) if path.is_dir() and not path.is_symlink() else None
            if handle is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(handle)


@dataclass
class _File:
    """A finished file on its way."""

    temporary: Path
    target: Path
    overwrite: bool
    digest: str | None = None
    """What it was when it was counted."""
    private: bool = False
    """Whether nobody but its owner may read it."""
    before: Path | None = None
    """What was there, by another name."""
    moved: tuple[int, int] | None = None
    """The file by its number on the disk, once it has its name."""

    def move(self) -> None:
        """Take the place; without ``overwrite`` never that of another file."""
        now = digest_of(self.temporary)
        if self.digest not in (None, now):
            raise WriteError(CHANGED.format(self.target.name))
        self.digest = now
        self.temporary.chmod(0o600 if self.private else 0o666 & ~_umask())
        about = self.temporary.stat()
        if self.overwrite:
            self._keep()
            self.temporary.replace(self.target)
        else:
            _move_once(self.temporary, self.target)
        self.moved = about.st_dev, about.st_ino

    def _keep(self) -> None:
        if self.target.is_file():
            kept = self.temporary.with_name(f"{self.temporary.name}.before")
            with contextlib.suppress(OSError):  # a file system without links: then it cannot be taken back
                os.link(self.target, kept)
                self.before = kept

    def stands(self) -> bool:
        """Whether the place still has what was put there."""
        with contextlib.suppress(OSError):
            about = self.target.stat()  # some disks number a file anew when it moves
            return (about.st_dev, about.st_ino) == self.moved or digest_of(self.target) == self.digest
        return False

    def withdraw(self) -> None:
        """Leave the place as it was, unless somebody else has taken it since."""
        if self.moved is None or not self.stands():
            return
        with contextlib.suppress(OSError):
            if self.before is not None:
                self.before.replace(self.target)
            else:
                self.target.unlink()


CHANGED = "{!r} is not what was counted any more: somebody else wrote there. Nothing was released"


@dataclass
class _Folder:
    """A finished folder on its way."""

    temporary: Path
    target: Path
    overwrite: bool
    sealed: Mapping[str, str]
    spare: Path
    """Where what is in its place waits until all is well."""
    there: bool = False
    moved: tuple[int, int] | None = None

    def move(self) -> None:
        """Take the place, in one step where nothing is there."""
        if _digests(self.temporary) != dict(self.sealed):
            raise WriteError(CHANGED.format(self.target.name))
        umask = _umask()
        for path in self.temporary.iterdir():
            path.chmod(0o666 & ~umask)
        self.temporary.chmod(0o777 & ~umask)
        about = self.temporary.stat()
        if os.path.lexists(self.target):
            if not self.overwrite:
                raise WriteError(
                    f"{self.target.name!r} exists already; choose another name, or allow overwriting"
                )
            self.target.rename(self.spare)
            self.there = True
        self.temporary.rename(self.target)
        self.moved = about.st_dev, about.st_ino

    def stands(self) -> bool:
        """Whether the place still has what was put there."""
        with contextlib.suppress(OSError):
            about = self.target.stat()
            return (about.st_dev, about.st_ino) == self.moved or _digests(self.target) == dict(self.sealed)
        return False

    def withdraw(self) -> None:
        """Leave the place as it was, unless somebody else has taken it since."""
        with contextlib.suppress(OSError):
            if self.moved is not None and self.stands():
                self.target.rename(self.temporary)
            if self.there and not os.path.lexists(self.target):
                self.spare.rename(self.target)


class _Stage:
    """The files of a block, and the folders they are made in."""

    def __init__(self) -> None:
        self.waiting: list[_File | _Folder] = []
        self.companions: list[Companion] = []
        self.sealed: dict[Path, str] = {}
        self.claims: list[tuple[Path, int]] = []
        self.endings: list[Callable[[BaseException | None], None]] = []
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
        with _turn({file.target.parent for file in self.waiting}):
            try:
                for companion in self.companions:
                    companion.before()
                    ready.append(companion)
                for file in reversed(self.waiting):
                    self._move(file)
                taken = [file.target.name for file in self.waiting if not file.stands()]
                if taken:  # on a disk without locks
                    raise WriteError(
                        f"another run wrote {taken[0]!r} at the same time: nothing of this one was left "
                        "behind. Run it again"
                    )
                for companion in ready:
                    companion.after()
            except BaseException:  # Ctrl-C, too
                for file in self.waiting:
                    file.withdraw()
                for companion in ready:
                    companion.undo()
                raise

    @staticmethod
    def _move(file: _File | _Folder) -> None:
        try:
            file.move()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise WriteError(
                f"could not write {file.target.name!r}: {reason}; nothing was left behind"
            ) from None

    def close(self, failed: BaseException | None) -> None:
        """Remove the folders, and with them what was not placed."""
        for ending in reversed(self.endings):
            ending(failed)
        for folder, handle in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)
            if handle is not None:
                os.close(handle)
        for lock, handle in self.claims:
            lock.unlink(missing_ok=True)  # before it is let go: who waits for it sees that it is gone
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


@contextlib.contextmanager
def _turn(folders: set[Path]) -> Iterator[None]:
    """Be the only one who gives names in some folders, as far as their disks have locks."""
    handles: list[int] = []
    try:
        for folder in sorted({folder.resolve() for folder in folders}) if fcntl is not None else ():
            with contextlib.suppress(OSError):
                handles.append(os.open(folder, os.O_RDONLY))
                _wait_for(handles[-1], folder)
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _wait_for(handle: int, folder: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise WriteError(
                    f"another run is giving files their names in {folder.name!r}, and does not end: nothing "
                    "was written. Run it again when that one has ended"
                ) from None
            time.sleep(0.01)
        else:
            return


def _lock_of(target: Path) -> Path:
    return target.absolute().parent.resolve() / f".{target.name}.lock"


def _claimed(target: Path) -> int | None:
    """Lock the name of a target, which is free; None where the disk has no locks."""
    if fcntl is None:
        return None
    path = _lock_of(target)
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EACCES, errno.EPERM, errno.EISDIR) and os.path.lexists(
                path
            ):
                raise InputError(FOREIGN.format(path.name)) from None
            raise WriteError(f"cannot write to the folder {str(path.parent)!r}: {error.strerror}") from None
        try:
            about = os.fstat(handle)
            if about.st_uid != os.geteuid() or not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
                raise InputError(FOREIGN.format(path.name))
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.lstat().st_ino == about.st_ino:
                return handle
            os.close(handle)  # who had it has ended and removed it: lock the file that is there now
        except FileNotFoundError:
            os.close(handle)
        except BlockingIOError:
            os.close(handle)
            raise InputError(
                f"another run is at work on {target.name!r}: wait for it, or name another output"
            ) from None
        except OSError:  # a disk without locks
            os.close(handle)
            path.unlink(missing_ok=True)
            return None
        except BaseException:
            os.close(handle)
            raise


FOREIGN = (
    "{!r} beside the output was made by somebody else, who could have put anything there: have it removed, "
    "or name another output"
)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


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
