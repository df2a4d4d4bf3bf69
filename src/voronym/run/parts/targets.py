"""The target of a release: a folder or an address, and whether it can be written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from voronym.errors import InputError, WriteError, hint
from voronym.release.write import refuse_ledger
from voronym.request.choices import PARTS
from voronym.request.request import Request
from voronym.request.wording import DECLARED
from voronym.table.formats import by_suffix
from voronym.table.packing import suffix_of
from voronym.table.places import Place


def check_output(target: Path, files: Sequence[Path], asked: Collection[str], *, overwrite: bool) -> None:
    """Refuse an impossible folder, before the work."""
    if str(target) == "-" or by_suffix(suffix_of(target)) is not None:
        folder = f"{target.stem.strip('-') or 'out'}/"
        causes = [name for name, choice in DECLARED.items() if name in asked and choice.purpose == PARTS]
        why = f", or leave out {', '.join(map(hint, causes))}, which is for many parts"
        raise InputError(
            f"a data set of many parts is written to a folder: name one, such as {folder}"
            f"{why if causes and len(files) == 1 else ''}"
        )
    if not target.absolute().parent.is_dir():
        raise WriteError(f"the folder of {str(target)!r} does not exist; make it first")
    if target.exists() and not overwrite:
        raise WriteError(f"{target.name!r} exists already; choose another name, or allow overwriting")
    place_ = target.resolve()
    if any(place_ == file.resolve() or place_ in file.resolve().parents for file in files):
        raise InputError("the output has the place of the source; the originals are never written over")


def check_address(place: Place, address: str, table: str, request: Request, *, overwrite: bool) -> None:
    """Refuse an address that cannot take the release, before the work."""
    if request.run.ledger is not None:
        refuse_ledger(place.shown(address))
    if request.run.resume:
        raise InputError("a run to an address cannot be resumed: name a folder of this machine, and copy it")
    place.check_many(address)
    place.check(address, table, overwrite=overwrite)
