"""Figures of a table with perturbed keys, and the data that analysts need to correct for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from voronym.channel.measured import Revealed
from voronym.core.figures import Figures
from voronym.core.jsonable import ABSENT


@dataclass(frozen=True)
class PublishedMatrix:
    """A publishable transition matrix: rare letters share the last row and column."""

    letters: tuple[tuple[object, ...], ...]
    """The values of each letter that has its own row, by column; None for a missing value."""
    together: int
    """Number of letters that share the last row and column; 0 if there is no shared row."""
    share: float
    """Share of the records whose letters share the last row."""
    rows: tuple[tuple[float, ...], ...]
    """Probabilities; each row adds up to 1."""


@dataclass(frozen=True)
class NoiseFigures:
    """Noise on a key, in its own standard deviations."""

    columns: tuple[str, ...]
    kept: float
    """Kept share of a deviation from the mean."""
    noise_sd: float
    lost: float
    """Lost share of the variance."""


@dataclass(frozen=True)
class RuleFigures:
    """A randomised rule: distortions are shares of the variance of its columns, risks are nats."""

    columns: tuple[str, ...]
    kind: str
    planned_distortion: float
    distortion: float
    risk: float
    """Information of the masked keys in nats, under the rule's model and by noisy counts."""
    information: float
    """Information of the unmasked keys in nats, by noisy counts."""
    gap: float
    """Upper limit on the distance of the rule from the best one."""
    note: str
    counted: float
    """The risk by exact counts; only for the data holder."""
    made_for: float
    """The part of the limit that the rule aims at: the rest is a margin for the noise."""
    matrix: PublishedMatrix | None = field(default=None, metadata={ABSENT: True})
    noise: tuple[NoiseFigures, ...] | None = field(default=None, metadata={ABSENT: True})


@dataclass(frozen=True)
class BudgetFigures:
    """Limits on the information in published rules: the μ of the noise, and the success of a guess."""

    mu: float
    guess: float


@dataclass(frozen=True)
class ChannelFigures(Figures):
    """The figures of the method channel."""

    distortion: float
    """Mean squared error of the published keys as a share of their variance."""
    risk: float
    """Sum of the risks of the rules in nats, each under its model."""
    counted: float
    """The same by exact counts; for the data holder only."""
    information: float
    """Information of the unmasked keys."""
    measured: Revealed
    """Information of the masked keys, measured in the table without a model."""
    budget: BudgetFigures
    parts: tuple[RuleFigures, ...]
