"""Figures of methods that publish values of the table, or noise: see `voronym.core.figures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voronym.core.figures import F, Figures
from voronym.core.jsonable import ABSENT, KEY, plain


@dataclass(frozen=True)
class Recoding:
    """One level of its ladder for each key, and the cost."""

    levels: Mapping[str, int]
    loss: float
    """The certainty penalty, in percent."""
    suppressed: int
    """Number of records whose keys are blanked."""
    chosen: bool


@dataclass(frozen=True)
class Uniform:
    """The search for the best levels of uniform coding: its size and result."""

    recodings: int
    looked_at: int
    heights: Mapping[str, int]
    """The highest level of each key, which hides everything."""
    frontier: tuple[Recoding, ...]
    """The best recoding for every number of suppressed records."""


@dataclass(frozen=True)
class LatticeFigures(Figures):
    """The figures of the method lattice."""

    lattice: Uniform


@dataclass(frozen=True)
class Suppressed:
    """The blanked values of local suppression."""

    suppressed: Mapping[str, int]
    """Number of blanked values, by key."""
    records: int
    """Number of records with a blanked value."""
    cost: float
    least: float
    """Lower bound on the cost of any choice."""
    gap: float
    """How far the cost is above the lower bound, in percent; infinite without a bound."""
    wildcard: int | None = field(default=None, metadata={KEY: "if gaps matched everything", ABSENT: True})


@dataclass(frozen=True)
class SuppressionFigures(Figures):
    """The figures of the method local-suppression."""

    local_suppression: Suppressed = field(metadata={KEY: "local suppression"})


@dataclass(frozen=True)
class PublicBounds:
    """Bounds of a column that were given beforehand, and their source."""

    column: str
    bounds: str
    origin: str


@dataclass(frozen=True)
class Private:
    """The public facts about a differentially private release; the data affect them only by its noise."""

    epsilon: float
    delta: float
    rho: float
    scope: str
    """The columns that are private: "keys" or "all"."""
    relation: str
    """The relation of neighbouring tables: "replace" or "add-remove"."""
    unit: str
    rows: int
    """The most rows of a unit."""
    grouping: str
    sensitivity: str
    size: int
    """Approximate size of a group."""
    noise: str
    choice: str
    """The mechanism that chooses categories."""
    spent: Mapping[str, float]
    """The spent part of ε, or of ρ if δ is not 0."""
    cells: Mapping[str, Any]
    bounds: tuple[PublicBounds, ...]
    odds: float
    """The largest factor by which the odds about a person change."""
    caught: float
    """Largest share of people that a test can find with 1 % false alarms."""
    not_private: tuple[str, ...]


@dataclass(frozen=True)
class PrivateFigures(Figures):
    """The figures that the method dp publishes about itself."""

    private: Private = field(metadata={KEY: "differential privacy"})


@dataclass(frozen=True)
class BlockFigures:
    """The result for a block of keys, which has its own method."""

    columns: tuple[str, ...]
    method: str
    groups: int | None
    loss: float | None
    gaps: int
    """Number of blanked values in this block."""


@dataclass(frozen=True)
class BlocksFigures(Figures):
    """The figures of the methods of all blocks."""

    parts: tuple[BlockFigures, ...]
    within: Sequence[Figures] = ()
    """The figures of each block's method."""

    def of(self, kind: type[F]) -> F | None:
        """Return the figures of a class among those of all blocks; None if there are none."""
        own = [made for figures in self.within if (made := figures.of(kind)) is not None]
        return own[-1] if own else super().of(kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all blocks, together with the figures of each method."""
        out = {name: value for figures in self.within for name, value in figures.to_dict().items()}
        return out | Figures(mean_weights=self.mean_weights).to_dict() | {"parts": plain(self.parts)}
