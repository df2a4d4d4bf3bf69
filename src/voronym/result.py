"""The result of every method: a masked table, and facts about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.figures import NOTHING, Figures
from voronym.partition import Partition
from voronym.space.records import Records
from voronym.table.schema import Schema


@dataclass(frozen=True)
class Masked:
    """A masked table, row by row as the original, and facts about it.

    Parameters
    ----------
    frame : narwhals DataFrame
        The masked table: the rows of the original in its order, without identifiers.
    figures : Figures
        The figures of the method, in its own class, without any record.
    notes : tuple of str
        Warnings for the data holder; they may compare with the originals.
    log : tuple of str
        Sentences about the work, for the report.
    evidence : object
        Data for the drawings of the internal report; kept in memory only.
    public_notes : tuple of str
        The notes that readers of the release may see.
    schema : Schema, optional
        The published schema, if kinds changed: ranges are texts.
    rows : array of int, optional
        The original row of each masked row, if their numbers differ because the number of rows is private.
        Additional rows are matched with any original.
    """

    frame: nw.DataFrame[Any]
    figures: Figures = NOTHING
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    evidence: Any = None
    public_notes: tuple[str, ...] = ()
    schema: Schema | None = None
    rows: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        """Refuse figures without a type, such as a plug-in may give."""
        if not isinstance(self.figures, Figures):
            raise TypeError(
                "the figures of a method must be a frozen dataclass derived from "
                "voronym.core.figures.Figures, not "
                f"{type(self.figures).__name__}"
            )


@dataclass(frozen=True)
class Cost:
    """The cost of a guarantee: the percent lost once it holds, with all those before it.

    Parameters
    ----------
    guarantee : str
        Such as "k-anonymity=5" or "t-closeness=0.2".
    loss : float
        Information loss of the groups, in percent, found with this guarantee and those before it. Not proven
        to be the least.
    method : str
        The way in which groups were made to obey it; "none" if they already did.
    """

    guarantee: str
    loss: float
    method: str = "none"


@dataclass(frozen=True)
class Stratum:
    """A part of the records that groups do not cross, and its result.

    Parameters
    ----------
    label : str
        Its published values.
    records, groups, smallest : int
        Number of records and groups, and the size of the smallest group.
    loss : float
        Information loss of its groups, in percent of the cost of a single group of its records.
    """

    label: str
    records: int
    groups: int
    smallest: int
    loss: float


@dataclass(frozen=True)
class Grouped(Masked):
    """A table whose keys are the centres of groups.

    Parameters
    ----------
    records : Records
        The records in the space in which groups were made.
    partition : Partition
        The groups.
    centroids : array
        Their published values, in the coordinates of the space.
    group_loss : float
        Information loss of the groups in percent, before centres were rounded to values that can occur.
    bound : Bound, optional
        The proven bound on the loss, if there is one.
    costs : tuple of Cost
        The cost of each guarantee, in the order given; k-anonymity first.
    published_as : mapping
        The way to publish each key, if not by the codec.
    strata : tuple of Stratum
        The parts that groups do not cross, if there are any.
    """

    records: Records | None = None
    partition: Partition | None = None
    centroids: NDArray[np.float64] | None = None
    group_loss: float | None = None
    bound: Any = None
    costs: tuple[Cost, ...] = ()
    published_as: Mapping[str, str] = field(default_factory=dict)
    strata: tuple[Stratum, ...] = ()


@dataclass(frozen=True)
class Folder:
    """The folder of a release in many files, with its losses, times and numbers of bytes.

    Parameters
    ----------
    path : Path
        The folder.
    rows, groups, files : int
        Numbers of the release. Groups that publish the same keys are one class in the files.
    key_losses : mapping
        Percent of each key's variance that is lost, as published.
    seconds : mapping
        Seconds of each stage.
    bytes_read, bytes_spilled, bytes_written : int
        Bytes of the data on disk, of the work folder, of the release.
    guarded_cells : int
        Text cells that got a leading apostrophe, so that no spreadsheet runs them as a formula.
    sampled : mapping
        Figures that come from a sample, with its number of records.
    """

    path: Path
    rows: int
    groups: int | None
    files: int
    key_losses: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_spilled: int = 0
    bytes_written: int = 0
    guarded_cells: int = 0
    sampled: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "path": str(self.path),
            "rows": self.rows,
            "groups": self.groups,
            "files": self.files,
            "key_losses": dict(self.key_losses),
            "seconds": dict(self.seconds),
            "bytes": {"read": self.bytes_read, "spilled": self.bytes_spilled, "written": self.bytes_written},
            "guarded_cells": self.guarded_cells,
            "sampled": dict(self.sampled),
        }
