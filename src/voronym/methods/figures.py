"""What methods measure that publish values of the table, or noise: see `voronym.core.figures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voronym.core.figures import F, Figures
from voronym.core.jsonable import ABSENT, KEY, plain


@dataclass(frozen=True)
class Recoding:
    """One level of its hierarchy for each key, and what it costs."""

    levels: Mapping[str, int]
    loss: float
    """The certainty penalty, in percent."""
    suppressed: int
    """Records whose keys are not told."""
    chosen: bool


@dataclass(frozen=True)
class Uniform:
    """How the best levels for all records were found."""

    recodings: int
    looked_at: int
    heights: Mapping[str, int]
    """The highest level of each key, which tells nothing."""
    frontier: tuple[Recoding, ...]
    """The best recoding for every number of suppressed records."""


@dataclass(frozen=True)
class LatticeFigures(Figures):
    """What the method lattice measured."""

    lattice: Uniform


@dataclass(frozen=True)
class Suppressed:
    """Values that were made missing."""

    suppressed: Mapping[str, int]
    """How many, by key."""
    records: int
    """Records that lost one at least."""
    cost: float
    least: float
    """What any choice costs at least."""
    gap: float
    """How far the cost is above the least, in percent; infinite where nothing is known."""
    wildcard: int | None = field(default=None, metadata={KEY: "if gaps matched everything", ABSENT: True})


@dataclass(frozen=True)
class SuppressionFigures(Figures):
    """What the method local-suppression measured."""

    local_suppression: Suppressed = field(metadata={KEY: "local suppression"})


@dataclass(frozen=True)
class PublicBounds:
    """Bounds of a column that were said beforehand, and where they come from."""

    column: str
    bounds: str
    origin: str


@dataclass(frozen=True)
class Private:
    """What everybody may know about a differentially private release: no more of the data than its noise."""

    epsilon: float
    delta: float
    rho: float
    scope: str
    """The columns that are private: "keys" or "all"."""
    relation: str
    """Which tables are neighbours: "replace" or "add-remove"."""
    unit: str
    rows: int
    """The most rows of a unit."""
    grouping: str
    sensitivity: str
    size: int
    """Of a group, about."""
    noise: str
    choice: str
    """The mechanism by which categories are chosen."""
    spent: Mapping[str, float]
    """What went of ε, or of ρ where δ is not 0."""
    cells: Mapping[str, Any]
    bounds: tuple[PublicBounds, ...]
    odds: float
    """The factor by which anybody's odds move at most."""
    caught: float
    """People whom a test finds at most that errs on 1 % of others, as a share."""
    not_private: tuple[str, ...]


@dataclass(frozen=True)
class PrivateFigures(Figures):
    """What the method dp publishes about itself."""

    private: Private = field(metadata={KEY: "differential privacy"})


@dataclass(frozen=True)
class BlockFigures:
    """What became of some keys that were masked by a method of their own."""

    columns: tuple[str, ...]
    method: str
    groups: int | None
    loss: float | None
    gaps: int
    """Values that were made missing."""


@dataclass(frozen=True)
class BlocksFigures(Figures):
    """What the methods of all blocks measured."""

    parts: tuple[BlockFigures, ...]
    within: Sequence[Figures] = ()
    """What the method of each block measured."""

    def of(self, kind: type[F]) -> F | None:
        """Return the figures of a kind among those of all blocks."""
        own = [made for figures in self.within if (made := figures.of(kind)) is not None]
        return own[-1] if own else super().of(kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all blocks, and of each method that had some."""
        out = {name: value for figures in self.within for name, value in figures.to_dict().items()}
        return out | Figures(mean_weights=self.mean_weights).to_dict() | {"parts": plain(self.parts)}
