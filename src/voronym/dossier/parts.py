"""The parts of a dossier. Each is frozen, typed and free of arrays.

`Public` holds nothing of the originals but percentages over the whole table and the figures that `methods`
chooses. `Inside` compares with the originals and is for the data holder alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from voronym.attacks import Exposure, Ladder
from voronym.core.figures import Figures
from voronym.core.jsonable import plain
from voronym.core.rate import Rate
from voronym.dossier.counts import Distribution
from voronym.dossier.masks import Channel, Clusters, Stirred
from voronym.dossier.other_k import OtherK
from voronym.dossier.places import PlaceMap
from voronym.dossier.population import InPopulation, Outlook
from voronym.dossier.rows import Samples, Unfolded
from voronym.evaluate.disclosed import Disclosed
from voronym.evaluate.moved import KeyChange
from voronym.evaluate.penalty import Penalty
from voronym.evaluate.regression import Regression
from voronym.evaluate.risk import Risk
from voronym.evaluate.utility import Utility
from voronym.evaluate.weighted import WeightedChange
from voronym.methods.figures import Private
from voronym.policy.checklist import Checklist
from voronym.privacy import Finding
from voronym.privacy.information import Estimate
from voronym.request.recipe import Recipe
from voronym.result import Cost, Stratum
from voronym.steps.effect import Effect, Exposed

Point = tuple[float, float]
PICTURES = ("plane", "unfolded", "samples", "places")
"""Parts that hold records or their positions, for pictures; left out of the plain data by default."""
KEPT = "kept as it was"
"""The word for an unchanged column."""
CENTRE = "replaced by the centre of its group"
"""The usual way to publish a key."""


# -- of every method -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column by role and kind, and how it was published."""

    name: str
    role: str
    kind: str
    fate: str


@dataclass(frozen=True)
class Cloud:
    """Published combinations of keys in the plane, each with the number of records that share it."""

    points: tuple[Point, ...]
    sizes: tuple[int, ...]
    places: int
    """Number of distinct places; ``points`` holds at most some thousands."""
    axes: tuple[str, str]
    shares: Point
    """Share of the variance on each axis."""


# -- for everybody ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Public:
    """The public facts about a release.

    Parameters
    ----------
    story : str
        "groups", or the name of a method that makes none: which words a page uses.
    method, guarantee : str
        The method's name and its promise.
    k : int or None
        The required smallest size of a group; None without a requirement.
    columns : tuple of Column
        Every column of the schema, and its treatment.
    records : int
        Rows of the released table.
    risk : Risk
        Sizes of the classes of the released table, and the resulting risks.
    findings : tuple of Finding
        The measurements of the models.
    information_loss, group_loss, gap : float or None
        In percent: the loss of the keys' variance as published; the loss of the groups before rounding to
        possible values; and an upper limit on the loss above the optimum.
    closeness : str or None
        The gap in words.
    by_published : bool
        Whether the gap is that of published values instead of group means.
    least : float or None
        A proven lower limit on the loss of any groups, in percent: as published, or else of group means.
    channel, stirred
        Figures of these two methods.
    plane : Cloud or None
        The published keys in the plane; None without coordinates.
    distributions : tuple of Distribution
        The distribution of each released key.
    """

    story: str
    method: str
    guarantee: str
    k: int | None
    columns: tuple[Column, ...]
    records: int
    risk: Risk
    findings: tuple[Finding, ...]
    information_loss: float | None
    group_loss: float | None
    gap: float | None
    warnings: tuple[str, ...]
    steps: tuple[str, ...]
    seeded: bool
    """Whether a seed was given; the seed of a method that draws stays secret."""
    recipe: Mapping[str, Any]
    plane: Cloud | None = None
    distributions: tuple[Distribution, ...] = ()
    channel: Channel | None = None
    stirred: Stirred | None = None
    private: Private | None = None
    """The stated promise of a differentially private release."""
    places: PlaceMap | None = None
    """The published places, if two keys form a place."""
    sampled: tuple[str, ...] = ()
    """Figures that were examined in a sample only, if the data are many files."""
    population: Outlook | None = None
    """The risk in the population; None if the table is not known to be a sample of one."""
    closeness: str | None = None
    by_published: bool = False
    least: float | None = None

    @property
    def counted(self) -> str:
        """The unit that k counts: records, people or households."""
        return next((finding.counted for finding in self.findings if finding.counted), "records")

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def kept(self) -> tuple[str, ...]:
        """The unchanged columns: no step changed them, and they are no averaged weights."""
        return tuple(column.name for column in self.columns if column.fate == KEPT)

    @property
    def centred(self) -> tuple[str, ...]:
        """The keys that publish the centre of a group, instead of a range or their own value."""
        return tuple(column.name for column in self.columns if column.fate.endswith(CENTRE))

    @property
    def holds(self) -> bool:
        """Whether every model holds that was required."""
        return all(finding.holds for finding in self.findings)


# -- for the data holder ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """Loss of a key in percent of its variance: as published, and by group means (None without groups)."""

    key: str
    published: float
    groups: float | None = None


@dataclass(frozen=True)
class GroupMap:
    """A random sample of whole groups in the plane: records, groups and centres."""

    points: tuple[Point, ...]
    labels: tuple[int, ...]
    centres: tuple[Point, ...]
    sizes: tuple[int, ...]
    records: int
    groups: int
    axes: tuple[str, str]
    shares: Point
    leads: tuple[tuple[str, ...], ...]
    """The keys that weigh most on each axis."""
    dimensions: int
    exact: bool
    """Whether the centre itself is published, up to rounding; a mixed space publishes real values near it."""


@dataclass(frozen=True)
class ShiftMap:
    """The same records before and after in the plane; some coloured by cluster, some marked."""

    before: tuple[Point, ...]
    after: tuple[Point, ...]
    groups: tuple[int, ...]
    """Group of each coloured record; -1 for the others."""
    marked: tuple[int, ...]
    """Indices of records whose movement is drawn: outliers, or a random few."""
    records: int
    clusters: int
    outliers: int
    axes: tuple[str, str]
    shares: Point
    leads: tuple[tuple[str, ...], ...] = ()
    dimensions: int = 0
    """Coordinates of the keys; 0 if places follow from distances alone."""


@dataclass(frozen=True)
class ToldColumn:
    """Information of the published and of the original keys about one confidential column."""

    name: str
    now: Estimate
    before: Estimate


@dataclass(frozen=True)
class Told:
    """Information of the keys about the confidential column they reveal most about, with its limits.

    Parameters
    ----------
    column, how : str
        The column, and how its values were made into levels.
    loss : float
        Percent of the keys' variance that is lost as published.
    unchanged : Estimate
        Information of the unmasked keys.
    columns : tuple of ToldColumn
        All confidential columns.
    curves : mapping of str to tuple of points
        Limits by kind: percent lost, nats.
    letters : int
        Coarse groups that randomised rules were tried on.
    clusters : bool
        Whether the published keys lead to a cluster only.
    stated : float or None
        The risk of randomised rules by their own account.
    """

    column: str
    how: str
    loss: float
    unchanged: Estimate
    columns: tuple[ToldColumn, ...]
    curves: Mapping[str, tuple[Point, ...]]
    notes: tuple[str, ...]
    letters: int
    clusters: bool = False
    stated: float | None = None

    @property
    def now(self) -> Estimate:
        """Information of the published keys about the column."""
        return next(column.now for column in self.columns if column.name == self.column)


@dataclass(frozen=True)
class Inside:
    """The facts for the data holder only: every comparison with the originals."""

    recipe: Mapping[str, Any]
    columns: tuple[Column, ...]
    warnings: tuple[str, ...]
    figures: Figures
    seconds: Mapping[str, float]
    risk: Risk
    linkage: Rate | None
    losses: tuple[Loss, ...]
    costs: tuple[Cost, ...]
    utility: Utility
    told: Told | None
    distributions: tuple[Distribution, ...]
    weighted: tuple[WeightedChange, ...] = ()
    """Weighted totals, means and quartiles of numbers, if records have weights."""
    regressions: tuple[Regression, ...] = ()
    """Weighted regressions of other columns on the numeric keys, if records have weights."""
    strata: tuple[Stratum, ...] = ()
    """The parts of the table that groups do not mix; empty without strata."""
    effects: tuple[Effect, ...] = ()
    """The change of each step on columns, and its benefit."""
    changes: tuple[KeyChange, ...] = ()
    """For each key, the number of unchanged records and the distances of the others."""
    exposed: tuple[Exposed, Exposed] | None = None
    """Records that few others share all keys with, of the original and of the release."""
    plane: GroupMap | ShiftMap | None = None
    clusters: Clusters | None = None
    disclosed: tuple[Disclosed, ...] = ()
    """Confidential columns with values that are certain in a group; the largest excess over chance first."""
    penalty: Penalty | None = None
    """The loss by the measures of generalisation."""
    other_k: OtherK | None = None
    unfolded: Unfolded | None = None
    samples: Samples | None = None
    places: PlaceMap | None = None
    population: InPopulation | None = None
    """The risk in the population before and after; None if the table is not known to be a sample of one."""
    sampled: tuple[str, ...] = ()
    """For data in many files: figures that come from a sample, or were not computed."""
    exposure: Exposure | None = None
    """Results of the attacks that were run; None without attacks."""
    ledger: bool = False
    """Whether the release was checked against a ledger."""
    membership: float | None = None
    """Share of members that a test finds at 1 % false alarms; None without differential privacy."""
    checklist: Checklist | None = None
    """The verdict on each demand of the policy; None without a policy."""


def ladder_of(exposure: Exposure, keys: Sequence[str]) -> Ladder | None:
    """Return the success of each kind of intruder; None if no attack was run."""
    return Ladder.of(exposure, keys) if exposure.outcomes else None


@dataclass(frozen=True)
class Dossier:
    """All figures about a release, in two parts; ``inside`` is None without the originals in memory."""

    public: Public
    inside: Inside | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def own_recipe(self) -> Recipe:
        """The recipe of the release; the public one without original levels if there is no internal part."""
        return Recipe.from_dict(self.public.recipe if self.inside is None else self.inside.recipe)

    @cached_property
    def ladder(self) -> Ladder | None:
        """The success of each kind of intruder, for the data holder; None if no attack was run."""
        exposure = None if self.inside is None else self.inside.exposure
        return None if exposure is None else ladder_of(exposure, self.public.names("key"))

    def outside(self) -> Dossier:
        """Return the publishable part."""
        return replace(self, inside=None)

    def to_dict(self, *, pictures: bool = False) -> dict[str, Any]:
        """Return plain, JSON-able data; places of records in the plane only if ``pictures``."""
        without = () if pictures else PICTURES
        parts = {"public": self.public, "inside": self.inside, "versions": self.versions}
        return {name: plain(part, without=without) for name, part in parts.items()}
