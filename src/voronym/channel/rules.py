"""The randomised rules of a release: noise for numeric keys, a transition matrix for nominal ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.channel.base import FiniteChannel, information_of, joint_counts, one_limit
from voronym.channel.budget import NoisyCounts, NoisyCovariances
from voronym.channel.figures import NoiseFigures, PublishedMatrix, RuleFigures
from voronym.channel.gaussian import GaussianChannel, GaussianSource, best_noise, only_noise, risk_of
from voronym.channel.margin import Allowance
from voronym.channel.measured import coarse_confidential
from voronym.channel.planned import plan_rule, tightened
from voronym.channel.published import published_matrix
from voronym.core.context import Context
from voronym.keyspaces import Coordinates
from voronym.table.encoders import Numeric
from voronym.table.limits import shared_limit
from voronym.table.table import Table

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Limits = Mapping[str, float]
Series = dict[str, nw.Series[Any]]

BINS = 8
"""Bins of a numeric confidential column, if counts are needed."""
_LETTERS = 150  # largest joint alphabet of nominal keys
_ENDS = 5  # people that each end stands for to which numbers are clipped
_RARE = 0.02  # share of the records below which a confidential category gets none
_LEVELS = 30  # categories of a confidential column that get a coordinate each


@dataclass(frozen=True)
class Rule:
    """A randomised rule of a release: its columns, its plan and its result.

    Distortions are shares of the variance of these columns, risks are nats.
    """

    columns: tuple[str, ...]
    kind: str
    planned: float
    distortion: float
    information: float
    """Information of the unmasked keys, by the noisy counts behind the rule."""
    note: str
    channel: GaussianChannel | FiniteChannel = field(repr=False)
    published: PublishedMatrix | tuple[NoiseFigures, ...] | None = field(repr=False)
    """The transition matrix or the noise, with which analysts correct results (see `published_matrix`)."""
    counted: float = 0.0
    """The risk by exact counts or covariances; only for the data holder."""
    limited: float = 0.0
    """The limited quantity by exact counts; only for the data holder."""
    made_for: float = 1.0
    """The part of the limit that the rule aims at: the rest is a margin for the noise."""
    complete: bool = False
    """Whether the risk was counted for each confidential value, without a model."""

    @property
    def risk(self) -> float:
        """Information of the masked keys, under the rule's model and by noisy counts."""
        return self.channel.risk

    @property
    def gap(self) -> float:
        """Upper limit on the distance of the rule from the best one."""
        return self.channel.gap

    @property
    def figures(self) -> RuleFigures:
        """The figures of the rule."""
        published = self.published
        return RuleFigures(
            columns=self.columns,
            kind=self.kind,
            planned_distortion=self.planned,
            distortion=self.distortion,
            risk=self.risk,
            information=self.information,
            gap=self.gap,
            note=self.note,
            counted=self.counted,
            made_for=self.made_for,
            matrix=published if isinstance(published, PublishedMatrix) else None,
            noise=published if isinstance(published, tuple) else None,
        )

    def __str__(self) -> str:
        noise = self.kind == "noise"
        how = "Added noise to" if noise else "Drew new values at random for"
        model = "if the data were normal with these covariances" if noise else "as counted in this table"
        return (
            f"{how} {', '.join(self.columns)}: {100 * self.distortion:.1f} % of the variance is lost. The "
            f"masked keys reveal {self.risk:.3g} nats about the confidential columns instead of "
            f"{self.information:.3g}, {model} with noise."
        )


class Noise:
    """The numeric keys together, by a Gaussian channel; masked if any of them varies."""

    noisy: NoisyCovariances
    source: GaussianSource
    exact: GaussianSource
    information: float

    def __init__(self, coordinates: Coordinates, table: Table) -> None:
        self.table = table
        self.codec, self.X = coordinates.codec, coordinates.X
        self.blocks = [block for block in self.codec.blocks if block.kind != "nominal"]
        widths = [3 if block.kind == "location" else 1 for block in self.blocks]
        starts = [block.start for block in self.blocks]
        self.at = [start + i for start, width in zip(starts, widths, strict=True) for i in range(width)]
        self.ends = np.cumsum([0, *widths])
        self.columns = tuple(name for block in self.blocks for name in block.columns)
        self.varies = bool(np.ptp(self.X[:, self.at], axis=0).any())

    def blur(self, allowance: Allowance, rng: np.random.Generator) -> None:
        """Add noise of a budget to the covariances from which the rule is made."""
        X, W = self.X[:, self.at], confidential_points(self.table)
        self.noisy = NoisyCovariances.draw(X, W, allowance, rng)
        self.exact, self.source = self.noisy.margins, self.noisy.source
        self.information = self.source.information

    def apply(self, limits: Limits, ctx: Context) -> tuple[Series, Rule]:
        """Add noise, then round to values that the columns can have."""
        name, value = one_limit(**limits)
        if name == "max_distortion":
            channel, part = best_noise(self.source, ctx, {name: value * self.source.variance}), 1.0
        else:
            channel, part = tightened(
                lambda limit, _: best_noise(self.source, ctx, {name: limit}, tolerance=1e-6),
                lambda made: self.noisy.keeps(made, value, ctx.rng),
                value,
                self.noisy.allowance.ladder,
                only_noise(self.source),
            )
        counted = risk_of(channel, self.exact)
        noisy = self.X.copy()
        noisy[:, self.at] = channel.apply(self.X[:, self.at], seed=ctx.rng)
        if channel.share > 0.0:  # else all values are published as they are
            self._clip(noisy)
        decoded = self.codec.decode(noisy)
        again = self.codec.encode(decoded)
        lost = float(np.square(self.X[:, self.at] - again[:, self.at]).sum() / len(again))
        rule = Rule(
            self.columns,
            "noise",
            channel.share,
            lost / self.source.variance,
            self.information,
            "risk of normal data with these covariances; rounded to the column's decimals and clipped to "
            f"round numbers near the ends of its range, of {_ENDS} people or more, which cannot raise it",
            channel,
            self._published(channel),
            counted,
            counted,
            part,
        )
        return {name: decoded[name] for name in self.columns}, rule

    def _clip(self, noisy: Array) -> None:
        """Clip numbers to the ends of their column, which are shared by several people."""
        for encoder, block in zip(self.codec.encoders, self.codec.blocks, strict=True):
            if not isinstance(encoder, Numeric) or encoder.std == 0.0:
                continue
            values = self.table.numbers(block.name).astype(np.float64)
            whole = encoder.form not in ("float", "decimal")
            persons = self.table.persons
            who = None if persons is None else persons[~self.table.missing(block.name)]
            low = -shared_limit(-values, -float(values.min()), _ENDS, whole=whole, persons=who)
            high = shared_limit(values, float(values.max()), _ENDS, whole=whole, persons=who)
            ends = encoder.coordinate(np.array([min(low, high), max(low, high)]))
            noisy[:, block.start] = np.clip(noisy[:, block.start], *ends)

    def _published(self, channel: GaussianChannel) -> tuple[NoiseFigures, ...]:
        """Return for each column the kept share of a deviation, and the noise in standard deviations."""
        spread = np.diag(channel.source.sigma_x)
        kept, noise, lost = 1.0 - np.diag(channel.A), np.diag(channel.noise), np.diag(channel.sigma)
        out = []
        for block, start, stop in zip(self.blocks, self.ends[:-1], self.ends[1:], strict=True):
            here = slice(start, stop)
            total = float(spread[here].sum())
            if total > 0.0:
                out.append(
                    NoiseFigures(
                        columns=tuple(block.columns),
                        kept=float(spread[here] @ kept[here]) / total,
                        noise_sd=float(np.sqrt(max(0.0, noise[here].sum()) / total)),
                        lost=float(lost[here].sum()) / total,
                    )
                )
        return tuple(out)


class Matrix:
    """Nominal keys, by the optimal transition matrix of their joint alphabet."""

    noisy: NoisyCounts
    information: float

    def __init__(self, table: Table, columns: tuple[str, ...], *, invariant: bool = False) -> None:
        self.table, self.columns, self.invariant = table, columns, invariant
        codes = [category_codes(table, name) for name in columns]
        letters, self.first, inverse = np.unique(
            np.column_stack(codes), axis=0, return_index=True, return_inverse=True
        )
        self.codes = inverse.reshape(-1).astype(np.int64)
        self.d = _distortions(letters, codes)
        about = coarse_confidential(table, len(letters), bins=BINS)
        self.complete = int(about.max()) == int(coarse_confidential(table, 1, bins=BINS).max())
        self.counts = joint_counts(about, self.codes)

    def blur(self, allowance: Allowance, rng: np.random.Generator) -> None:
        """Add noise of a budget to the counts from which the rule is made."""
        self.noisy = NoisyCounts.draw(self.counts, allowance, rng)
        self.information = information_of(self.noisy.law)

    def apply(self, limits: Limits, ctx: Context) -> tuple[Series, Rule]:
        """Draw a letter for each record from the matrix row of its letter."""
        exact = self.counts / self.counts.sum()
        planned = plan_rule(exact, self.noisy, self.d, ctx, limits, invariant=self.invariant)
        channel = planned.channel
        drawn = channel.apply(self.codes, seed=ctx.rng)
        rows = self.first[drawn]  # a row that has the letter: its own spelling and dtype
        series = {name: nw.maybe_reset_index(self.table.frame[name][rows]) for name in self.columns}
        rule = Rule(
            self.columns,
            "pram",
            channel.distortion,
            float(self.d[self.codes, drawn].mean()),
            self.information,
            f"{len(self.d)} combinations, {int((drawn != self.codes).sum())} of {len(drawn)} records changed"
            f"; confidential columns in {len(self.counts)} classes"
            + ("; expected counts are kept" if self.invariant else ""),
            channel,
            published_matrix(channel.matrix, self.codes, drawn, self._names()),
            planned.counted,
            planned.limited,
            planned.made_for,
            self.complete,
        )
        return series, rule

    def _names(self) -> list[tuple[object, ...]]:
        """Return the values of each letter, by column; None if a value is missing."""
        columns = []
        for name in self.columns:
            gone = self.table.missing(name)[self.first]
            values = self.table.frame[name][self.first].to_list()
            columns.append([None if no else _scalar(item) for item, no in zip(values, gone, strict=True)])
        return list(zip(*columns, strict=True))


def _scalar(value: object) -> object:
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _distortions(letters: Ints, codes: list[Ints]) -> Array:
    """Return the cost of publishing one letter for another: the mean over the varying columns."""
    d = np.zeros((len(letters), len(letters)))
    counted = 0
    for i, column in enumerate(codes):
        share = np.bincount(column) / len(column)
        variance = 1.0 - float(share @ share)  # of indicator coordinates; two categories are 2 apart
        if variance > 0.0:
            d += (letters[:, None, i] != letters[None, :, i]) * (2.0 / variance)
            counted += 1
    return d / max(counted, 1)


def masks(
    table: Table, coordinates: Coordinates, ctx: Context, *, mu: float, tested: bool, invariant: bool = False
) -> list[Noise | Matrix]:
    """Return the masks of the keys: numbers together, and nominal keys together if combinations are few.

    The rules share the budget: the squares of their parts add up to μ². With ``tested``, a part of each
    share is for tests of a limit.
    """
    noise = Noise(coordinates, table)
    made: list[Noise | Matrix] = [noise] if noise.varies else []  # constants reveal nothing and stay
    names = tuple(block.name for block in coordinates.codec.blocks if block.kind == "nominal")
    if names:
        codes = np.column_stack([category_codes(table, name) for name in names])
        together = len(np.unique(codes, axis=0)) <= _LETTERS
        parts = [names] if together else [(name,) for name in names]
        made += [Matrix(table, part, invariant=invariant) for part in parts]
    if made:
        share = mu / len(made) ** 0.5
        allowance = Allowance.of(share, table.n, len(made)) if tested else Allowance(share)
    for item in made:
        item.blur(allowance, ctx.rng)
    return made


def category_codes(table: Table, name: str) -> Ints:
    """Return a column as categories; missing is the last one."""
    codes = table.codes(name)
    return np.where(codes < 0, len(table.levels(name)), codes).astype(np.int64)


def confidential_points(table: Table) -> Array:
    """Return the confidential columns as coordinates from 0 to 1: ranks, or one coordinate per category.

    Ranks carry the information of numbers, and no outlier sets the scale of the noise.
    """
    columns: list[Array] = []
    for name in table.confidential:
        kind, form = table.schema[name].kind, table.form(name)
        if kind in ("numeric", "datetime") and form not in ("string", "category", "boolean"):
            gone, observed = table.missing(name), table.numbers(name).astype(np.float64)
            values = np.full(table.n, observed.mean() if len(observed) else 0.0)
            values[~gone] = observed
            columns.append(np.searchsorted(np.sort(values), values) / max(len(values) - 1, 1))
            if gone.any():
                columns.append(gone.astype(np.float64))
            continue
        codes = category_codes(table, name)
        counts = np.bincount(codes)
        often = np.argsort(-counts, kind="stable")[1 : _LEVELS + 1]  # the first follows from them
        # A rare one would be mostly noise; the information of keys about it is measured afterwards.
        result = [level for level in often if counts[level] >= _RARE * len(codes)]
        columns.extend((codes == level).astype(np.float64) for level in result or often[:1])
    return np.column_stack(columns) if columns else np.zeros((table.n, 1))
