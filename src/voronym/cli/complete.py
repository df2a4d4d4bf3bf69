"""Proposals for the shell: methods, models, and the columns of the named table."""

from __future__ import annotations

import csv
from pathlib import Path

import typer

_LONGEST_HEADING = 65_536


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Propose columns of the table, after those already typed with commas."""
    source = ctx.params.get("source")
    before, _, last = incomplete.rpartition(",")
    start = f"{before}," if before else ""
    used = before.split(",")
    return [
        start + name
        for name in (heading(Path(str(source))) if source else ())
        if name.lower().startswith(last.lower()) and name not in used
    ]


def heading(path: Path) -> list[str]:
    """Return the first line of a text file as column names; an empty list if the file is not text.

    Examples
    --------
    >>> heading(Path("there is no such file"))
    []
    """
    try:
        with path.open(encoding="utf-8-sig", errors="strict", newline="") as file:
            first = file.readline(_LONGEST_HEADING)
        return [name.strip() for name in next(csv.reader([first], csv.Sniffer().sniff(first, ",;\t|")))]
    except (OSError, ValueError, csv.Error, StopIteration):
        return []


def methods(incomplete: str) -> list[str]:
    """Propose methods."""
    import voronym._public  # noqa: F401 - importing registers, also where `import voronym` waits
    from voronym.method import METHODS

    before, _, last = incomplete.rpartition(",")
    start = f"{before}," if before else ""
    return [start + name for name in METHODS if name.startswith(last)]


def models(incomplete: str) -> list[str]:
    """Propose privacy models, each with the character before its value."""
    import voronym._public  # noqa: F401 - importing registers, also where `import voronym` waits
    from voronym.privacy.base import MODELS

    return [f"{name}=" for name in MODELS if name.startswith(incomplete)]
