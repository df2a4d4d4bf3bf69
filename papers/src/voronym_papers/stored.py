"""Kept results: one small JSON file per paper, with versions, seconds and the code's fingerprint.

``{"paper": …, "runs": {experiment: {"full": run, "quick": run}}}``. A run has its marks, its seconds and the
versions it was made with; a full one also its tables and charts, so that the page can draw them. ``made`` has
the version, the commit and the fingerprint of the code: a run without it, or with another one, is stale.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voronym.errors import WriteError
from voronym_papers.base import Outcome, Paper
from voronym_papers.fingerprint import current, made, version_of
from voronym_papers.items import Item, dump, load
from voronym_papers.marks import Mark

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("voronym", "numpy", "scipy", "numba")
UNKNOWN = {True: 600.0, False: 20.0}
"""Assumed seconds of a run that was never kept, so that it starts early."""


@dataclass(frozen=True)
class Kept:
    """A kept run of an experiment."""

    marks: tuple[Mark, ...]
    items: tuple[Item, ...]
    seconds: float
    versions: dict[str, str]
    made: dict[str, str] = field(default_factory=dict)
    stale: bool = True
    """Whether it was made by older or unknown code."""


def results(entry: Paper, folder: Path = FOLDER) -> dict[tuple[str, bool], Kept]:
    """Return the kept runs, by experiment and whether they were full; none without a file."""
    runs = _read(folder / f"{entry.name}.json").get("runs", {})
    return {
        (name, mode == "full"): Kept(
            tuple(Mark.from_dict(mark) for mark in run["marks"]),
            tuple(load(item) for item in run.get("items", ())),
            run["seconds"],
            run["versions"],
            run.get("made", {}),
            not current(run.get("made", {}), entry.code),
        )
        for name, modes in runs.items()
        for mode, run in modes.items()
    }


def stale(entry: Paper, folder: Path = FOLDER) -> list[str]:
    """Return the names of kept runs made by older code, such as "census, full"."""
    kept = results(entry, folder)
    return [f"{name}, {'full' if full else 'quick'}" for (name, full), run in kept.items() if run.stale]


def wanted(entry: Paper, folder: Path = FOLDER) -> list[tuple[str, bool, float]]:
    """Return the stale or missing runs: experiment, whether full, and the seconds of the last run."""
    kept = results(entry, folder)
    return [
        (name, full, kept[name, full].seconds if (name, full) in kept else UNKNOWN[full])
        for name, experiment in entry.experiments.items()
        for full in ((True,) if experiment.literal else (True, False))
        if (name, full) not in kept or kept[name, full].stale
    ]


def check_folder(folder: Path) -> None:
    """Make the folder for results; raise now, before hours of work, if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder} cannot be the folder for results: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK):
        raise WriteError(f"{folder} cannot be written to")


def keep(entry: Paper, outcome: Outcome, folder: Path) -> Path:
    """Write the result of an experiment into the paper's file, replacing its last such run."""
    return put(entry, outcome.experiment.name, outcome.full, plain(entry, outcome), folder)


def plain(entry: Paper, outcome: Outcome) -> dict[str, Any]:
    """Return the result of an experiment as plain values, with its origin."""
    run: dict[str, Any] = {
        "seconds": round(outcome.seconds, 1),
        "versions": _versions(),
        "made": made(entry.code, outcome.called),
        "marks": [mark.to_dict() for mark in outcome.marks],
    }
    if outcome.full:
        run["items"] = [item for item in map(dump, outcome.items) if item is not None]
    return run


def put(entry: Paper, experiment: str, full: bool, run: dict[str, Any], folder: Path) -> Path:
    """Write a run, as plain values, into the paper's file, replacing its last such run."""
    from voronym.core.atomic import at_once, placed

    path = folder / f"{entry.name}.json"
    kept = _read(path) or {"paper": entry.name, "runs": {}}
    kept["runs"].setdefault(experiment, {})["full" if full else "quick"] = run
    kept["runs"] = {name: kept["runs"][name] for name in entry.experiments if name in kept["runs"]}
    check_folder(folder)
    with at_once(), placed(path, overwrite=True) as place:  # the next one, after an hour, may fail
        place.write_text(_text(kept), encoding="utf-8")
    return path


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _text(kept: dict[str, Any]) -> str:
    """Write one line for each mark, row or curve, so that a diff of two runs is readable."""

    def lines(value: Any, depth: int) -> str:
        if depth == 0 or not value or not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        pad = " " * (8 - depth)
        if isinstance(value, dict):
            inner = [f"{json.dumps(name)}: {lines(item, depth - 1)}" for name, item in value.items()]
            return "{\n" + ",\n".join(pad + element for element in inner) + f"\n{pad[1:]}}}"
        return "[\n" + ",\n".join(pad + lines(entry, 0) for entry in value) + f"\n{pad[1:]}]"

    return lines(kept, 7) + "\n"


def _versions() -> dict[str, str]:
    result = {"python": platform.python_version()} | {name: version_of(name) for name in PACKAGES}
    return result | {"machine": f"{platform.machine()}, {os.cpu_count()} processors"}
