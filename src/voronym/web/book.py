"""Monthly releases on the page: users upload their ledger, and download it with the release.

The page keeps no files, and an uploaded ledger is never changed. A run works on a copy, enters its release
there, and puts both into one download. So a downloaded release always comes with the ledger that lists it.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from voronym.history.ledger import Ledger
from voronym.request.rules import BEFORE

NEW = "releases.ledger"
NEEDS = (*BEFORE, "keep_groups", "strangers")
"""Choices that need a ledger."""
MONTHLY = (*NEEDS, "headroom", "dissolved")
"""Choices about earlier releases."""


@dataclass(frozen=True)
class Book:
    """The ledger of a table.

    Parameters
    ----------
    label : str
        Its name.
    path : str
        The uploaded file; "" for a new ledger.
    entries : list of dict
        The releases in it.
    """

    label: str = NEW
    path: str = ""
    entries: list[dict[str, Any]] = field(default_factory=list)


def entries_of(path: str) -> list[dict[str, Any]]:
    """Return the shown facts about the releases in a ledger."""
    with copied(path) as copy:
        return [
            {
                "number": entry.number,
                "made": entry.made[:10],
                "people": entry.released,
                "waiting": entry.waiting,
                "retired": entry.retired,
                "k": entry.k,
                "keys": [str(name) for name in entry.about.get("keys", ())],
            }
            for entry in Ledger(copy).entries
        ]


@contextmanager
def copied(path: str) -> Iterator[str]:
    """Yield the path of a temporary copy; for a new ledger, only the path."""
    with TemporaryDirectory() as folder:
        yield copy_to(Path(folder), path)


def copy_to(folder: Path, path: str) -> str:
    """Copy a ledger into a folder, and return its place."""
    target = folder / NEW
    if path:
        shutil.copyfile(path, target)
        target.chmod(0o600)
    return str(target)


def packed(folder: Path, release: str, label: str) -> None:
    """Pack a release (a file or a folder) and its ledger into one zip file."""
    made = folder / release
    with zipfile.ZipFile(folder / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(made.rglob("*")) if made.is_dir() else [made]:
            archive.write(file, file.relative_to(folder))
        if label:
            archive.write(folder / NEW, NEW if label == release else label)


def plain_book(book: Book | None) -> list[str] | None:
    """Return a ledger's place and name for a worker."""
    return None if book is None else [book.path, book.label]
