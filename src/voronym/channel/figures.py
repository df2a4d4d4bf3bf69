"""What is measured of a table whose keys were perturbed, and what analysts need to correct for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from voronym.channel.measured import Revealed
from voronym.core.figures import Figures
from voronym.core.jsonable import ABSENT


@dataclass(frozen=True)
class PublishedMatrix:
    """A transition matrix that may be published: rare letters stand together in the last row and column."""

    letters: tuple[tuple[object, ...], ...]
    """The values of each letter told apart, by column; None where a value is missing."""
    together: int
    """How many letters stand in the last row and column; 0 without such a row."""
    share: float
    """Of the records, that have one of these."""
    rows: tuple[tuple[float, ...], ...]
    """Probabilities; each row adds up to 1."""


@dataclass(frozen=True)
class NoiseFigures:
    """Noise on a key, in its own standard deviations."""

    columns: tuple[str, ...]
    kept: float
    """Of a deviation from the mean."""
    noise_sd: float
    lost: float
    """Share of the variance."""


@dataclass(frozen=True)
class RuleFigures:
    """A randomised rule: distortions are shares of the variance of its columns, risks are nats."""

    columns: tuple[str, ...]
    kind: str
    planned_distortion: float
    distortion: float
    risk: float
    """What these keys reveal masked, under the model of the rule and by blurred counts."""
    information: float
    """What they reveal unmasked, by blurred counts."""
    gap: float
    """How far the rule is from the best one, at most."""
    note: str
    counted: float
    """The risk by exact counts: for the data holder alone."""
    made_for: float
    """The part of the limit that the rule was made for: the rest is a margin for the noise."""
    matrix: PublishedMatrix | None = field(default=None, metadata={ABSENT: True})
    noise: tuple[NoiseFigures, ...] | None = field(default=None, metadata={ABSENT: True})


@dataclass(frozen=True)
class BudgetFigures:
    """What the published rules may tell: the μ of the noise on counts, and how often a guess is right."""

    mu: float
    guess: float


@dataclass(frozen=True)
class ChannelFigures(Figures):
    """What the method channel measured."""

    distortion: float
    """Mean squared error of the published keys as a share of their variance."""
    risk: float
    """Sum of the risks of the rules in nats, each under its model."""
    counted: float
    """The same by exact counts: for the data holder alone."""
    information: float
    """What the keys tell unmasked."""
    measured: Revealed
    """What the masked table tells under no model."""
    budget: BudgetFigures
    parts: tuple[RuleFigures, ...]
