"""What is measured of a table that was blended and stirred, and of groups in a mixed space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from voronym.core.figures import Figures
from voronym.core.rate import Rate


@dataclass(frozen=True)
class Sizes:
    """How many clusters there are, and how large they are."""

    count: int
    smallest: int
    median: float
    largest: int


@dataclass(frozen=True)
class ColumnFigures:
    """What became of a column that was stirred."""

    metric: str
    unchanged: int
    """Records that have their own value."""
    total_variation: float
    """How far the distribution moved."""


@dataclass(frozen=True)
class KeyFigures(ColumnFigures):
    """What became of a key, which makes clusters, too."""

    weight: float
    distinct: int
    epsilon: float
    """The largest distance of two members of a cluster; infinite where it is not limited."""
    blended: int
    """Records that got another value to join a larger cluster."""
    blend_divergence: float
    map_error: float
    map_misfit: float


@dataclass(frozen=True)
class DivergenceFigures:
    """How far the distances to the centre of a cluster moved, against the bound."""

    measure: str
    bound: float
    largest: float
    mean: float
    before_repair: float
    """The largest before permutations were drawn again."""
    repaired: int
    """Clusters that were beyond the bound at first."""
    put_back: int
    """Clusters that were left as they were, because no permutation kept the bound."""


@dataclass(frozen=True)
class Beyond(Rate):
    """How often somebody is right who knows how other columns go with the keys."""

    columns: tuple[str, ...] = ()
    """Those that explain much of a key."""

    @property
    def rate(self) -> Rate:
        """The rate alone."""
        return Rate(**{part.name: getattr(self, part.name) for part in fields(Rate)})


@dataclass(frozen=True)
class LinkageFigures:
    """What nearest-record linkage gets right."""

    before: Rate
    after: Rate
    beyond: Beyond | None = None


@dataclass(frozen=True)
class Alternative:
    """The loss as published and that of MDAV with groups of m + 1, in percent of the keys' variance."""

    loss: float
    mdav: float


@dataclass(frozen=True)
class Point:
    """One epsilon that was tried on a column: the share of its pairs that it allows, and what came of it."""

    column: str
    pairs: float
    clusters: int
    small_clusters: int
    small_records: float
    taken: bool


@dataclass(frozen=True)
class RecordsFigures(Figures):
    """What the method records measured."""

    m: int
    records: int
    clusters_before: Sizes
    clusters_after: Sizes
    small_clusters: int
    """Clusters of at most m, before these were dissolved."""
    outliers: int
    """Records that were in them."""
    blend: str
    share: float
    """Records that may be in small clusters where epsilon is chosen, as a share."""
    columns: Mapping[str, ColumnFigures | KeyFigures]  # both are named, so that both can be stored
    divergence: DivergenceFigures
    centroid_shift: Mapping[str, float]
    """The largest distance between a cluster's centre before and after newcomers, by key."""
    intact: int
    """Masked records with a combination of keys that their cluster had before."""
    together: tuple[tuple[str, ...], ...]
    """Keys that were shuffled as one."""
    curve: tuple[Point, ...]
    """How epsilon was chosen; empty where it was given."""
    alternative: Alternative | None
    linkage: LinkageFigures


@dataclass(frozen=True)
class MixedColumn:
    """What a key loses whose groups publish a centre by its metric."""

    metric: str
    loss: float
    """In percent of what one centre for all would cost."""
    kept: float
    """Share of the records that publish their own value."""


@dataclass(frozen=True)
class MixedFigures(Figures):
    """What groups in a mixed space lose; of several leaves it is not known."""

    space: str = "mixed"
    mixed_loss: float | None = None
    """In percent of what one centre for all would cost."""
    columns: Mapping[str, MixedColumn] = field(default_factory=dict)

    @property
    def of_leaf(self) -> Figures:
        """What holds of all leaves: the space."""
        return replace(self, mixed_loss=None, columns={})
