"""The figures of a blended and shuffled table, and of groups in a mixed space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from voronym.core.figures import Figures
from voronym.core.rate import Rate


@dataclass(frozen=True)
class Sizes:
    """The number of clusters and their sizes."""

    count: int
    smallest: int
    median: float
    largest: int


@dataclass(frozen=True)
class ColumnFigures:
    """The result for a shuffled column."""

    metric: str
    unchanged: int
    """Number of records that keep their own value."""
    total_variation: float
    """Total variation between the distributions before and after."""


@dataclass(frozen=True)
class KeyFigures(ColumnFigures):
    """The result for a key; keys also define the clusters."""

    weight: float
    distinct: int
    epsilon: float
    """The largest distance of two members of a cluster; infinite without a limit."""
    blended: int
    """Records that got another value to join a larger cluster."""
    blend_divergence: float
    map_error: float
    map_misfit: float


@dataclass(frozen=True)
class DivergenceFigures:
    """Change of the distances to the centre of a cluster, against the bound."""

    measure: str
    bound: float
    largest: float
    mean: float
    before_repair: float
    """The largest divergence before permutations were drawn again."""
    repaired: int
    """Number of clusters that first exceeded the bound."""
    put_back: int
    """Number of clusters left unchanged, because no permutation kept the bound."""


@dataclass(frozen=True)
class Beyond(Rate):
    """The success of an intruder who knows how other columns depend on the keys."""

    columns: tuple[str, ...] = ()
    """The columns that explain much of a key."""

    @property
    def rate(self) -> Rate:
        """Only the rate."""
        return Rate(**{part.name: getattr(self, part.name) for part in fields(Rate)})


@dataclass(frozen=True)
class LinkageFigures:
    """The success of nearest-record linkage."""

    before: Rate
    after: Rate
    beyond: Beyond | None = None


@dataclass(frozen=True)
class Alternative:
    """The loss as published, and the loss of MDAV with groups of m + 1, in percent of the keys' variance."""

    loss: float
    mdav: float


@dataclass(frozen=True)
class Point:
    """A tried epsilon of a column: the share of its pairs within it, and the result."""

    column: str
    pairs: float
    clusters: int
    small_clusters: int
    small_records: float
    taken: bool


@dataclass(frozen=True)
class RecordsFigures(Figures):
    """The figures of the method records."""

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
    """Share of the records that may be in small clusters when epsilon is chosen."""
    columns: Mapping[str, ColumnFigures | KeyFigures]  # both are named, so that both can be stored
    divergence: DivergenceFigures
    centroid_shift: Mapping[str, float]
    """The largest distance between a cluster's centre before and after newcomers, by key."""
    intact: int
    """Masked records with a combination of keys that their cluster had before."""
    together: tuple[tuple[str, ...], ...]
    """Keys that were shuffled together."""
    curve: tuple[Point, ...]
    """How epsilon was chosen; empty if it was given."""
    alternative: Alternative | None
    linkage: LinkageFigures


@dataclass(frozen=True)
class MixedColumn:
    """The loss of a key whose groups publish a centre by its metric."""

    metric: str
    loss: float
    """Loss in percent of the cost of a single centre for all records."""
    kept: float
    """Share of the records that publish their own value."""


@dataclass(frozen=True)
class MixedFigures(Figures):
    """The loss of groups in a mixed space; unknown for several leaves."""

    space: str = "mixed"
    mixed_loss: float | None = None
    """Loss in percent of the cost of a single centre for all records; None if unknown."""
    columns: Mapping[str, MixedColumn] = field(default_factory=dict)

    @property
    def of_leaf(self) -> Figures:
        """The figures that hold for all leaves: only the space."""
        return replace(self, mixed_loss=None, columns={})
