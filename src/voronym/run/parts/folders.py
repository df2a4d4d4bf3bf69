"""The folders of a run: where the work is done, and where the release waits for its name."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from voronym.errors import InputError, WriteError
from voronym.run.parts.runners import LostError


@contextlib.contextmanager
def folders(work: Path, output: Path, *, resume: bool) -> Iterator[Path]:
    """Give the folder in which the release is made; both go at the end, unless they are to be resumed.

    The work folder is locked for as long as this process lives. What one that was killed left there is
    resumed, or removed.
    """
    release = output.parent / f".{output.name}.new"
    handle = _claimed(work, resume)
    try:
        if not resume:
            shutil.rmtree(release, ignore_errors=True)
        _make(release)
        yield release
    except BaseException as error:
        stopped = isinstance(error, (KeyboardInterrupt, SystemExit, LostError, WriteError))
        stopped |= type(error).__name__ in ("Cancelled", "Unfinished")
        if not (resume and stopped):
            shutil.rmtree(release, ignore_errors=True)
            shutil.rmtree(work, ignore_errors=True)
        raise
    else:
        shutil.rmtree(work, ignore_errors=True)
    finally:
        if handle is not None:
            os.close(handle)


def _make(folder: Path, mode: int = 0o700) -> None:
    """Make a folder that nobody else looks into, or say why it cannot be made."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"cannot write to the folder {str(folder.parent)!r}: {error.strerror}") from None


def _claimed(work: Path, resume: bool) -> int | None:
    from voronym.core.atomic import fcntl

    _make(work.parent, mode=0o777)
    if work.exists() and not work.is_dir():
        raise InputError(f"the work folder {work.name!r} is a file; name another")
    _make(work)
    handle = None
    if fcntl is not None:
        handle = os.open(work, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise InputError(
                f"another run is at work in {str(work)!r}: wait for it, or name another --work folder"
            ) from None
    if not resume:
        strange = [one.name for one in work.iterdir() if not one.name.lstrip(".").startswith(OURS)]
        if strange:
            raise InputError(
                f"the work folder {str(work)!r} has {len(strange)} files that are not ours: name an empty one"
            )
        for one in work.iterdir():
            one.unlink()
    return handle


OURS = (
    "job.", "dataset.", "recipe.", "files.", "buckets.", "published", "coding.", "trees.", "ranges-",
    "round@", "scan-", "spread-", "cut-", "look-", "whole-", "write-", "sort", "count-", "measure-",
    "convert-", "text-", "layout.", "draw", "bars",
    "bucket-", "tally-", "edges.", "schema.", "models.", "dossier.",
)  # fmt: skip
"""How files in a work folder begin: a folder with others is not ours to empty."""


def place(release: Path, output: Path, *, overwrite: bool) -> None:
    """Give the folder of the release its name, in one step; what was there goes, where that is allowed."""
    umask = os.umask(0)
    os.umask(umask)
    for one in release.iterdir():
        one.chmod(0o666 & ~umask)
    release.chmod(0o777 & ~umask)
    before = output.parent / f".{output.name}.before"
    there = output.exists()
    if there:
        if not overwrite:
            raise WriteError(f"{output.name!r} exists already; choose another name, or allow overwriting")
        _remove(before)  # left by a run that was killed between the two moves, and done again since
        output.rename(before)
    try:
        release.rename(output)
    except OSError as error:
        if there:
            before.rename(output)
        raise WriteError(
            f"could not write {output.name!r}: {error.strerror}; nothing was left behind"
        ) from None
    _remove(before)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
