"""Move a finished file or folder to its place, and move it back if another one fails."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from voronym.errors import WriteError

CHANGED = "{!r} changed after it was counted: somebody else wrote there. Nothing was released"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder in order of their names."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    every = hashlib.sha256()
    for part in sorted(path.iterdir()):
        every.update(f"{part.name} {digest_of(part)}\n".encode())
    return every.hexdigest()


def digests_of(folder: Path) -> dict[str, str]:
    """Return the digest of everything in a folder, by name."""
    return {path.name: digest_of(path) for path in folder.iterdir()}


@dataclass
class File:
    """A finished file that waits for its name."""

    temporary: Path
    target: Path
    overwrite: bool
    digest: str | None = None
    """Its digest when it was counted."""
    private: bool = False
    """Whether only its owner may read it."""
    before: Path | None = None
    """The earlier file under a temporary name."""
    moved: tuple[int, int] | None = None
    """The file by its number on the disk, once it has its name."""

    def move(self) -> None:
        """Move to the target; without ``overwrite``, never replace another file."""
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
        """Whether the file is unchanged since it was placed."""
        with contextlib.suppress(OSError):
            about = self.target.stat()  # some disks give a file another number when it moves
            return (about.st_dev, about.st_ino) == self.moved or digest_of(self.target) == self.digest
        return False

    def withdraw(self) -> None:
        """Restore the earlier state of the place, unless another process has changed it since."""
        if self.moved is None or not self.stands():
            return
        with contextlib.suppress(OSError):
            if self.before is not None:
                self.before.replace(self.target)
            else:
                self.target.unlink()


@dataclass
class Folder:
    """A finished folder that waits for its name."""

    temporary: Path
    target: Path
    overwrite: bool
    sealed: Mapping[str, str]
    spare: Path
    """The path of the earlier file until all files have moved."""
    there: bool = False
    moved: tuple[int, int] | None = None

    def move(self) -> None:
        """Move to the target, in one step if the target does not exist."""
        if digests_of(self.temporary) != dict(self.sealed):
            raise WriteError(CHANGED.format(self.target.name))
        umask = _umask()
        for path in self.temporary.rglob("*"):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
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
        """Whether the folder is unchanged since it was placed."""
        with contextlib.suppress(OSError):
            about = self.target.stat()
            return (about.st_dev, about.st_ino) == self.moved or digests_of(self.target) == dict(self.sealed)
        return False

    def withdraw(self) -> None:
        """Restore the earlier state of the place, unless another process has changed it since."""
        with contextlib.suppress(OSError):
            if self.moved is not None and self.stands():
                self.target.rename(self.temporary)
            if self.there and not os.path.lexists(self.target):
                self.spare.rename(self.target)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _move_once(temporary: Path, target: Path) -> None:
    """Give a file its name if that is free."""
    taken = f"{target.name!r} exists already; choose another name, or allow overwriting"
    try:
        os.link(temporary, target)  # fails if another process made the file meanwhile
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
