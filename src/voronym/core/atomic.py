"""Give files and folders their names together, when all are complete, or not at all.

A file is made in a hidden folder next to its place, on the same disk. At the end of the block of `together`
all files move to their places; if one cannot, the others are moved back. The folder is locked while its
process lives. The next process in the same place removes only the folders of dead processes.

Two runs may want the same place. In each folder one process at a time gives names, so the last set of files
is there completely. A file that was counted (`seal`) gets its name only if its digest is unchanged. The locks
are those of the system (`flock`), so a dead process holds none.
"""

# promise: doc-atomic
from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

from voronym.core.locks import claimed, lock_of, private_folder, sweep, turn
from voronym.core.place import File, Folder
from voronym.errors import WriteError


@contextlib.contextmanager
def together(before: Callable[[], None] | None = None) -> Iterator[None]:
    """Give all files that are placed within this block their names at its end.

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
    """Give files that are placed within this block their names at its end, even inside another block."""
    token = _open.set(None)
    try:
        yield
    finally:
        _open.reset(token)


@contextlib.contextmanager
def placed(target: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path that becomes ``target`` once it and its companions are complete.

    Parameters
    ----------
    target : Path
        Its place. The folder is there.
    overwrite : bool
        Whether an existing file may be replaced.
    private : bool
        Whether nobody but its owner may read it.
    """
    with together():
        stage = _stage()
        temporary = stage.make(target)
        yield temporary
        stage.waiting.append(File(temporary, target, overwrite, stage.sealed.get(temporary), private))


def place_folder(made: Path, target: Path, *, overwrite: bool, sealed: Mapping[str, str]) -> None:
    """Make a finished folder become ``target`` together with the files of the open block.

    Parameters
    ----------
    made : Path
        The folder, on the same disk. Its maker removes it if it does not get its name.
    target : Path
        Its place.
    overwrite : bool
        Whether an existing folder may be replaced.
    sealed : mapping
        The digest of each of its files, as they were counted: with others it gets no name.
    """
    stage = _stage()
    spare = stage.make(target).with_suffix(".before")
    stage.waiting.append(Folder(made, target, overwrite, dict(sealed), spare))


def seal(temporary: Path, digest: str) -> None:
    """Give a file of the open block its name only if it still has this digest."""
    stage = _open.get()
    if stage is not None:
        stage.sealed[temporary] = digest


def sealed(temporary: Path) -> str | None:
    """Return the digest with which a file of the open block was sealed; None if it was not."""
    return _stage().sealed.get(temporary)


def claim(target: Path) -> bool:
    """Reserve a target until the open block ends; return whether the disk has locks."""
    stage = _stage()
    handle = claimed(target)
    if handle is not None:
        stage.claims.append((lock_of(target), handle))
    return handle is not None


def at_the_end(ending: Callable[[BaseException | None], None]) -> None:
    """Call a function when the open block ends, with the error that ended it or None."""
    _stage().endings.append(ending)


class Companion(Protocol):
    """An action that belongs to the files of a block, such as an entry in a ledger."""

    def before(self) -> None:
        """Prepare to finish: all files are complete, and none has its name yet."""
        ...

    def after(self) -> None:
        """Make the action final: all files have their names."""
        ...

    def undo(self) -> None:
        """Undo the action: a file could not be placed."""
        ...


def accompany(companion: Companion) -> None:
    """Complete an action together with the files of the open block."""
    _stage().companions.append(companion)


def _stage() -> _Stage:
    stage = _open.get()
    if stage is None:
        raise RuntimeError("nothing is being placed: call this within a block of `together`")
    return stage


class _Stage:
    """The files of a block, and their temporary folders."""

    def __init__(self) -> None:
        self.waiting: list[File | Folder] = []
        self.companions: list[Companion] = []
        self.sealed: dict[Path, str] = {}
        self.claims: list[tuple[Path, int]] = []
        self.endings: list[Callable[[BaseException | None], None]] = []
        self._folders: dict[Path, tuple[Path, int | None]] = {}
        self._made = 0

    def make(self, target: Path) -> Path:
        """Return a temporary path for a file that will become ``target``."""
        home = target.parent
        if home not in self._folders:
            sweep(home)
            self._folders[home] = private_folder(home)
        self._made += 1
        return self._folders[home][0] / f"{self._made}{''.join(target.suffixes[-2:])}"

    def place(self) -> None:
        """Give all files their names, or none; the first file comes last, because the others describe it."""
        ready: list[Companion] = []
        with turn({file.target.parent for file in self.waiting}):
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
    def _move(file: File | Folder) -> None:
        try:
            file.move()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise WriteError(
                f"could not write {file.target.name!r}: {reason}; nothing was left behind"
            ) from None

    def close(self, failed: BaseException | None) -> None:
        """Remove the temporary folders, with everything that was not placed."""
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
