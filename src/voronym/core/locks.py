"""Locks on folders and names; the system releases them when a process dies (`flock`)."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from voronym.errors import InputError, WriteError

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without these locks: people must remove leftovers of dead processes
    fcntl = None

PREFIX = ".voronym-"
PASSING = "voronym-passing-"
PATIENCE = 10.0
"""Seconds to wait for another process that gives names in the same folder."""


def is_ours(folder: Path) -> bool:
    """Whether this user owns a folder, it is no link, and nobody else may open it."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(about.st_mode):
        return False
    return os.name != "posix" or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)


def sweep(folder: Path, prefix: str = PREFIX) -> None:
    """Remove the folders that dead processes left; folders of living processes are locked."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{prefix}*"):
            handle = _lock(path) if path.is_dir() and not path.is_symlink() else None
            if handle is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(handle)


def private_folder(home: Path, prefix: str = PREFIX) -> tuple[Path, int | None]:
    """Make a hidden folder and lock it, before another process removes it as a leftover."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
        handle = _lock(made)
        if made.is_dir():
            return made, handle
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def passing_folder(home: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Yield a temporary folder that only its owner can read, and remove it afterwards.

    Remains of killed processes are removed first. The folder is made in ``home``, or in the system's
    folder for temporary files.
    """
    place, prefix = (Path(tempfile.gettempdir()), PASSING) if home is None else (Path(home), PREFIX)
    sweep(place, prefix)
    made, handle = private_folder(place, prefix)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _lock(folder: Path) -> int | None:
    """Return a locked handle of a folder; None if another process holds it, or without locks."""
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
def turn(folders: set[Path]) -> Iterator[None]:
    """Lock some folders, so that no other process gives names there; no effect on disks without locks."""
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
                    f"another run is renaming its files in {folder.name!r}, and does not finish: nothing "
                    "was written. Run it again when that one has ended"
                ) from None
            time.sleep(0.01)
        else:
            return


def lock_of(target: Path) -> Path:
    """Return the path of the lock file next to a target."""
    return target.absolute().parent.resolve() / f".{target.name}.lock"


def claimed(target: Path) -> int | None:
    """Lock the name of a free target and return the handle; None if the disk has no locks."""
    if fcntl is None:
        return None
    path = lock_of(target)
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
            os.close(handle)  # the former owner has ended and removed it: lock the present file
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
    "{!r} next to the output belongs to another user, who could have put anything there: have it removed, "
    "or name another output"
)
