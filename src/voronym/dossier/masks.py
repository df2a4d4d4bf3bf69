"""Parts of a dossier about methods that make no groups: randomised keys, and blended and shuffled records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voronym.core.rate import Rate
from voronym.records.figures import Sizes

Point = tuple[float, float]


# -- of the method channel -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matrix:
    """A published transition matrix: a row for each true value, a column for each published value.

    Parameters
    ----------
    letters : tuple of tuples
        The values of each row, by column of the table; None for a missing value.
    rows : tuple of tuples of float
        Probabilities.
    together : int
        Number of rare values that share the last row; 0 if there are none.
    undo : {"all", "without last", "never"}
        Whether shares before can be computed from shares after, without a large error.
    off : float
        With "without last": possible error of another share.
    """

    letters: tuple[tuple[object, ...], ...]
    rows: tuple[tuple[float, ...], ...]
    together: int
    undo: str = "all"
    off: float = 0.0


@dataclass(frozen=True)
class Noise:
    """Noise on a column, in standard deviations: share of a deviation kept, noise added, variance lost."""

    columns: tuple[str, ...]
    kept: float
    sd: float
    lost: float


@dataclass(frozen=True)
class Rule:
    """A randomised rule on some keys: its risk in nats and its distortion as a share of their variance."""

    columns: tuple[str, ...]
    kind: str
    planned: float
    distortion: float
    risk: float
    information: float | None
    """Information of the unmasked keys about the confidential column, in nats; None if infinite."""
    gap: float
    note: str
    matrix: Matrix | None = None
    noise: tuple[Noise, ...] = ()


@dataclass(frozen=True)
class Look:
    """The information measured in the released table without a model: the largest of several views."""

    keys: tuple[str, ...]
    about: tuple[str, ...]
    excess: float
    interval: Point
    confidence: float
    looks: int


@dataclass(frozen=True)
class Channel:
    """The public facts about randomised keys."""

    risk: float
    information: float | None
    distortion: float
    rules: tuple[Rule, ...]
    asked: Mapping[str, float]
    measured: Look | None = None
    budget: float | None = None
    """The μ of the noise on the counts that the rules were made from."""
    guess: float | None = None
    """Largest success rate of guessing, by the rules, which of two people has which value; None if unknown.
    """
    invariant: bool = False
    """Whether the expected counts of nominal keys were kept."""

    @property
    def tells(self) -> float:
        """Information of the keys in nats: the larger of the stated and the measured figure."""
        return max(self.risk, 0.0 if self.measured is None else self.measured.excess)


# -- of the method records -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """The changes in a column, as shares of the records."""

    column: str
    metric: str
    moved: float
    shuffled: float
    same: float
    total_variation: float


@dataclass(frozen=True)
class Shape:
    """How far the distances to the centre of a cluster moved, against the bound."""

    measure: str
    bound: float
    largest: float
    mean: float


@dataclass(frozen=True)
class Stirred:
    """The public facts about blended and shuffled records."""

    m: int
    clusters: Sizes
    outliers: int
    blend: str
    columns: tuple[Changed, ...]
    flattened: tuple[str, ...]
    shuffled: tuple[str, ...]
    left: tuple[str, ...]
    """Keys that were neither flattened nor shuffled."""
    shape: Shape | None = None
    linkage: Rate | None = None
    beyond: Rate | None = None
    """Success rate of an intruder who knows how confidential columns depend on the keys; None if not tried.
    """
    telling: tuple[str, ...] = ()
    """The confidential columns that explain much of a key."""
    together: tuple[tuple[str, ...], ...] = ()
    """Sets of keys that were shuffled together."""
    mdav: float | None = None
    """The loss of MDAV with groups of more than m, in percent."""


# -- of the method records, for the data holder ----------------------------------------------------------


@dataclass(frozen=True)
class Epsilon:
    """The similarity of a cluster's records: the choice of the limit, and its value in each key."""

    share: float
    tried: tuple[tuple[str, float, int, int, float, bool], ...]
    """Keys, share of pairs within the limit, clusters, small clusters, outliers, whether it was taken."""
    limits: tuple[tuple[str, float, str], ...]
    """Key, limit and metric."""
    free: tuple[str, ...]


@dataclass(frozen=True)
class Clusters:
    """Clusters before and after: sizes, bounds and repairs."""

    before: Sizes
    after: Sizes
    sizes_before: Mapping[int, int]
    sizes_after: Mapping[int, int]
    epsilon: Epsilon
    linkage_before: Rate | None
    repaired: int
    put_back: int
