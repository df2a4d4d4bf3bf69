"""The folders of a run: the work folder, and the folder of the unfinished release.

The run creates both, readable for its owner only, with random names. A resumed run looks for its old folders,
and uses none that another user could have created or written to.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voronym.core.atomic import at_the_end, claim
from voronym.core.locks import is_ours
from voronym.errors import InputError, ReadError, WriteError, hint
from voronym.run.parts import afar, spill
from voronym.run.parts.runners import LostError
from voronym.run.parts.store import OtherVersionError

if TYPE_CHECKING:
    from voronym.run.parts.job import Job


@dataclass(frozen=True)
class Folders:
    """The work folder, the folder of the unfinished release, and the job to resume."""

    work: Path
    release: Path
    before: Job | None = None


def folders(place: Path, target: Path, *, resume: bool, output: str = "") -> Folders:
    """Return the folders of a run; they are removed at the end of `together`, unless kept for resuming.

    Until then no other run can write to the same target. Remains of a killed run are resumed or removed.

    Parameters
    ----------
    place : Path
        Parent of the work folder.
    target : Path
        Path of the release.
    resume : bool
        Whether to continue an earlier run, and to keep the folders after an interruption.
    output : str
        The address of a release that goes elsewhere in the end; by it a run in a store knows its own folders.
    """
    output = output or str(target)
    locked = claim(target)
    if not afar.is_afar(place) and _made(place):
        at_the_end(lambda _: _tidy(place))
    here = _left(place, target, output, resume=resume, locked=locked)
    if here is None:
        here = _private_pair(place, target, output)

    def end(failed: BaseException | None) -> None:
        if not _kept(failed, resume):
            _remove(here.work)
            shutil.rmtree(here.release, ignore_errors=True)  # it has another name now, or is to have none

    at_the_end(end)
    return here


def _kept(failed: BaseException | None, resume: bool) -> bool:
    """Whether finished work is left for a run that resumes it."""
    stopped = isinstance(failed, (KeyboardInterrupt, SystemExit, LostError, afar.AwayError, WriteError))
    return resume and (stopped or type(failed).__name__ in ("Cancelled", "Unfinished"))


def _tidy(place: Path) -> None:
    with contextlib.suppress(OSError):  # something is left there, to be resumed
        place.rmdir()


def _remove(work: Path) -> None:
    """Remove a work folder; delete the job file last, so that a later run can finish a killed removal."""
    if afar.is_afar(work):
        afar.remove(work)
        return
    with contextlib.suppress(OSError):
        for path in work.iterdir():
            if path.name != spill.JOB:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)


def check_ours(work: Path) -> None:
    """Refuse a work folder that was replaced by a link, or that others may write to.

    Only its owner and the superuser, such as a worker in a container, may use it. Access to a store
    follows the store's own rules.
    """
    if afar.is_afar(work):
        return
    with contextlib.suppress(OSError):
        about = work.lstat()
        private = stat.S_ISDIR(about.st_mode) and (os.name != "posix" or not about.st_mode & 0o077)
        if private and (os.name != "posix" or os.geteuid() in (0, about.st_uid)):
            return
    raise ReadError(NOT_OURS.format(work.name))


NOT_OURS = (
    "the work folder {!r} is not ours: somebody else made it, may write to it, or put a link there. Remove "
    "it, or leave out " + hint("resume")
)


def _made(place: Path) -> bool:
    """Create the parent of the work folder if it is missing; return whether it was created."""
    try:
        about = place.stat()
    except FileNotFoundError:
        _make(place)
        return True
    except OSError as error:
        raise WriteError(f"cannot write to the folder {str(place)!r}: {error.strerror}") from None
    if not stat.S_ISDIR(about.st_mode):
        raise InputError(f"the work folder {place.name!r} is a file; name another")
    return False


def check_place(place: Path) -> None:
    """Refuse a place for the work folder in which another user could replace it."""
    if os.name != "posix":
        return
    with contextlib.suppress(FileNotFoundError):
        link, about = place.lstat(), place.stat()
        owners = {link.st_uid, about.st_uid} - {os.geteuid(), 0}
        if owners or about.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            raise InputError(
                f"other users of this machine may change what is in {place.name!r}: name a folder "
                f"({hint('work')}) "
                "that is yours (chmod 700), or one where nobody removes the files of others (chmod +t)"
            )


def _left(place: Path, target: Path, output: str, *, resume: bool, locked: bool) -> Folders | None:
    """Return the folders of an earlier run to this target; remove them if they are not resumed."""
    name, away = re.compile(re.escape(f".{target.name}.work") + r"(-\w{8,})*"), afar.is_afar(place)
    there = [path for path in afar.listed(place) if name.fullmatch(path.name)]
    if away and not resume:  # of a run on another machine it is not known whether it is dead
        there = [path for path in there if afar.is_of(path, output)]
    known = {
        path: _job(path, target, resume=resume, locked=locked) for path in there if away or is_ours(path)
    }
    ours = sorted((path for path, job in known.items() if job is not None), key=_age)
    strange = [path for path in there if path not in known]
    out = None
    if resume and ours:
        job = known[ours[-1]]
        if job is not None and away:
            out = Folders(ours.pop(), _private(target.parent, f".{target.name}.new-"), job)
        elif job is not None and is_ours(job.release) and _is_waiting(job.release, target):
            out = Folders(ours.pop(), job.release, job)
    elif resume and strange:
        raise InputError(NOT_OURS.format(strange[0].name))
    if locked:  # no other process makes this target: these are leftovers of dead ones
        for path in ours:
            _remove(path)
        for path, job in known.items():
            if (
                job is None and not away
            ):  # of another target; or nothing was written down before it was killed
                _tidy(path)
            elif job is None and afar.is_of(path, output) and not _lives(path, target):
                _remove(path)
        for path in target.parent.iterdir():
            if _is_waiting(path, target) and _may_go(path) and (out is None or path != out.release):
                shutil.rmtree(path, ignore_errors=True)
    return out


def _age(work: Path) -> float:
    with afar.asked(work):
        return (work / spill.JOB if afar.is_afar(work) else work).stat().st_mtime


def _is_waiting(path: Path, target: Path) -> bool:
    """Whether a folder name is that of an unfinished release of the target."""
    name = re.compile(re.escape(f".{target.name}.new-") + r"\w{8,}")
    return path.parent == target.parent and name.fullmatch(path.name) is not None


def _may_go(path: Path) -> bool:
    """Whether a folder is this user's, even if it was about to be shown to others."""
    about = path.lstat()
    return stat.S_ISDIR(about.st_mode) and (os.name != "posix" or about.st_uid == os.geteuid())


def _job(work: Path, target: Path, *, resume: bool, locked: bool) -> Job | None:
    """Return the job of a work folder, if it is for this target."""
    try:
        job: Job = spill.recall(work / spill.JOB)
    except afar.AwayError:  # whose it is cannot be known
        raise
    except (OSError, ReadError) as error:
        if resume and isinstance(error, OtherVersionError):
            raise
        if locked and work.parent == target.parent:  # by its place and name it is of this target
            _remove(work)
        return None
    return job if getattr(job, "target", None) == target else None


def _lives(work: Path, target: Path) -> bool:
    """Whether another run to the same address is active, in a temporary folder of its own."""
    try:
        other: Path = spill.recall(work / spill.JOB).target
    except afar.AwayError:
        raise
    except (OSError, ReadError):
        return False
    return other != target and other.parent.exists()


def _private_pair(place: Path, target: Path, output: str) -> Folders:
    release = _private(target.parent, f".{target.name}.new-")
    if afar.is_afar(place):
        return Folders(afar.folder_in(place, target.name, output), release)
    try:
        return Folders(_private(place, f".{target.name}.work-"), release)
    except BaseException:
        _tidy(release)
        raise


def _private(home: Path, prefix: str) -> Path:
    """Make a private folder under a name that cannot be guessed."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=home))
    except OSError as error:
        raise WriteError(f"cannot write to the folder {str(home)!r}: {error.strerror}") from None


def _make(folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise WriteError(f"cannot write to the folder {str(folder.parent)!r}: {error.strerror}") from None
