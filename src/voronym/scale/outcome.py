"""What is told about a release in many files: figures, never a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from voronym.dossier.parts import Dossier
from voronym.errors import InputError
from voronym.privacy import Finding
from voronym.recipe import Recipe
from voronym.scale.job import needed


@dataclass(frozen=True)
class FilesRelease:
    """A release in a folder of files, counted there.

    Guarantee: it exists only when every required model holds in the written files, over all of them together,
    and the folder got its name after that.

    Parameters
    ----------
    path : Path
        The folder.
    recipe : Recipe
        How it was made; the same recipe and the same files make it again, up to the order of rows, on any
        engine with any number of workers.
    rows, groups, files : int
        Of the release. Groups that publish the same keys are one in the files.
    findings : tuple of Finding
        What the models found in the written files.
    information_loss, group_loss : float
        Percent of the keys' variance that is lost, as published, and by the groups alone.
    key_losses : mapping
        The same, as published, for each key.
    notes : tuple of str
        Warnings for the data holder.
    seconds : mapping
        Of each stage.
    bytes_read, bytes_spilled, bytes_written : int
        Of the data as they lie on the disk (they are read three times), of the work folder, of the release.
    guarded_cells : int
        Text cells that got a leading apostrophe, so that no spreadsheet runs them as a formula.
    sampled : mapping
        What was looked at in a sample only, in records.
    dossier : Dossier, optional
        All figures, where a report was asked for.
    """

    path: Path
    recipe: Recipe
    rows: int
    groups: int | None
    files: int
    findings: tuple[Finding, ...]
    information_loss: float | None
    group_loss: float | None
    key_losses: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_spilled: int = 0
    bytes_written: int = 0
    guarded_cells: int = 0
    sampled: Mapping[str, int] = field(default_factory=dict)
    dossier: Dossier | None = None

    @property
    def k(self) -> int:
        """Least number of rows that share a combination of keys, counted in the written files."""
        return next((int(one.value) for one in self.findings if one.model == "k-anonymity"), 1)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "path": str(self.path),
            "rows": self.rows,
            "groups": self.groups,
            "files": self.files,
            "k_counted": self.k,
            "findings": [one.to_dict() for one in self.findings],
            "information_loss": self.information_loss,
            "group_loss": self.group_loss,
            "key_losses": dict(self.key_losses),
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
            "bytes": {"read": self.bytes_read, "spilled": self.bytes_spilled, "written": self.bytes_written},
            "guarded_cells": self.guarded_cells,
            "sampled": dict(self.sampled),
            "recipe": self.recipe.to_dict(),
            **({} if self.dossier is None else {"dossier": self.dossier.to_dict()}),
        }

    def report(self, path: str | Path, *, audience: Literal["internal", "public"] = "internal") -> Path:
        """Write a page about the release: for the data holder, or for readers of the release.

        Raises
        ------
        InputError
            The figures were not asked for: `voronym.anonymize_files` needs ``report=True``.
        """
        from voronym.report import write_report  # a layer above: only when asked for

        if self.dossier is None:
            raise InputError("the figures of a report were not asked for: anonymize_files(..., report=True)")
        return write_report(self.dossier, path, audience=audience)

    def __repr__(self) -> str:
        loss = "" if self.information_loss is None else f", information loss {self.information_loss:.2f} %"
        return f"FilesRelease({self.rows} records in {self.files} files, k={self.k}{loss})"


def spoken(size: float) -> str:
    """Return a number of bytes in words."""
    for unit, word in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {word}"
    return f"{size / 1e3:.0f} kB"


def too_little(memory: float, records: int) -> str:
    """Say that a worker needs more memory than it has."""
    least = needed(records)
    why = f"with leaves of {records:,} records" if records else "before it has read a row"
    smaller = ", take fewer --workers or a smaller --leaf" if records else ""
    return (
        f"a worker needs about {spoken(least)} of memory {why}, and {spoken(memory)} are allowed: give "
        f"--memory {-(-least // 10**7) * 10}MB or more for each worker{smaller}"
    )
