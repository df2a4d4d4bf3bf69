"""Mask the keys of a table by randomised rules: noise for numbers, post-randomisation for categories.

What it promises is not k-anonymity: nobody is hidden in a group. What is limited is how much the published
keys tell about the confidential columns, on average over the table and under a model. What they tell without
a model is measured afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.channel.base import FiniteChannel
from voronym.channel.function import privacy_distortion
from voronym.channel.gaussian import GaussianChannel, GaussianSource, gaussian_channel
from voronym.channel.measured import Told, measure_told
from voronym.channel.published import published_matrix
from voronym.context import Context, check_seed
from voronym.errors import GuaranteeError, InputError
from voronym.masked import Masked
from voronym.options import Options, option
from voronym.progress import Progress, Step, silent
from voronym.registry import table_method
from voronym.table.codec import Codec
from voronym.table.frame import as_frame, factorize, form, missing, numbers
from voronym.table.schema import Schema
from voronym.table.table import Table

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_BINS = 8  # bins of a numeric confidential column, where counts are needed
_LETTERS = 150  # largest joint alphabet of categorical keys
_LEVELS = 30  # categories of a confidential column that get a coordinate each


@dataclass(frozen=True)
class Part:
    """One randomised rule of a release: the columns it masks, what was planned and what came out.

    Distortions are shares of the variance of these columns, risks are nats.
    """

    columns: tuple[str, ...]
    kind: str
    planned: float
    distortion: float
    risk: float
    information: float
    gap: float
    note: str
    rule: dict[str, Any] = field(default_factory=dict, repr=False)
    """What analysts need to correct for it: the transition matrix, or the noise (see `published_matrix`)."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "columns": list(self.columns),
            "kind": self.kind,
            "planned_distortion": self.planned,
            "distortion": self.distortion,
            "risk": self.risk,
            "information": self.information if np.isfinite(self.information) else None,
            "gap": self.gap,
            "note": self.note,
            **self.rule,
        }


@dataclass(frozen=True)
class Perturbed(Masked):
    """A table with perturbed keys, in the order of rows that it came in.

    Parameters
    ----------
    distortion : float
        Mean squared error of the published keys as a share of their variance, every key at variance 1: the
        unit of the information loss, divided by 100. Measured, after rounding.
    risk : float
        Sum of the risks of the parts in nats, each under its model. Parts that are masked apart may tell more
        together, and numbers more than normal data would.
    parts : tuple of Part
        The rules.
    channels : tuple
        The rules themselves, in the order of ``parts``; the matrices are what analysts need to correct.
    measured : Told
        What was measured in the masked table.
    """

    distortion: float = 0.0
    risk: float = 0.0
    parts: tuple[Part, ...] = ()
    channels: tuple[GaussianChannel | FiniteChannel, ...] = field(default=(), repr=False)
    measured: Told | None = None


def mask_keys(
    frame: Any,
    schema: Schema,
    *,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    seed: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Perturbed:
    """Perturb the keys so that they tell little about the confidential columns.

    Numbers, times, ordered levels and places get the optimal noise of normal data (`gaussian_channel`) along
    their standardised coordinates, then are rounded to values the column can have and clipped to its range.
    That is done to each record alone, so it cannot raise the risk; it changes the distortion a little,
    which is measured afterwards. Nominal keys are post-randomised together if they have at most 150
    combinations, otherwise one by one.

    Parameters
    ----------
    frame : dataframe
        The table.
    schema : Schema
        Roles and kinds; at least one confidential column.
    max_distortion : float, optional
        Largest share of the keys' variance to lose, each rule on its own columns; 0 to 1.
    max_risk : float, optional
        Largest sum of the rules' risks, in nats; shared out in proportion to what the keys tell unmasked.
        Under the models of the rules; a table that is found to tell more is refused.
    seed : int, Generator or None
        The same seed gives the same table. Keep it secret.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then.

    Returns
    -------
    Perturbed

    Raises
    ------
    GuaranteeError
        If ``max_risk`` is given and the masked keys tell clearly more: the lower end of what was measured is
        above it.

    Notes
    -----
    The risk of a noise rule is that of normal data with the table's covariances; that of a matrix is counted
    in the table (numeric confidential columns in 8 bins). Neither sees what numbers tell in a way that is not
    linear, nor what keys of two rules tell together. Therefore the masked table is measured (see
    `voronym.channel.measured.measure_told`): the result is in ``figures["measured"]`` and in ``steps``, and a
    note says where it is clearly above the stated risk. It sees keys one by one, in pairs and all together,
    in coarse cells: what it does not find may still be there.

    Missing numbers stay missing; a missing category is a category. Noise goes where keys and confidential
    columns go together: a key that says nothing about them may come out unchanged, and lead to a person.
    Nothing is guaranteed for a single record, and the table is not k-anonymous.

    Examples
    --------
    >>> import voronym as vr
    >>> table = vr.datasets.hospital(500, seed=1).select("age", "sex", "diagnosis")
    >>> schema = vr.Schema.build(table, keys=["age", "sex"], confidential=["diagnosis"])
    >>> masked = mask_keys(table, schema, max_distortion=0.3, seed=1)
    >>> masked.frame.columns, masked.risk < masked.figures["information"]
    (['age', 'sex', 'diagnosis'], True)
    """
    tell = silent if progress is None else progress
    if (max_distortion is None) == (max_risk is None):
        raise InputError("give either max_distortion or max_risk")
    name, value = ("max_risk", max_risk) if max_distortion is None else ("max_distortion", max_distortion)
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value < np.inf:
        raise InputError(f"{name} must be a finite number, 0 or more, not {value!r}")
    if max_distortion is not None and value > 1.0:
        raise InputError(
            f"max_distortion is the share of the keys' variance to lose, 0 to 1, not {value!r}; 1 publishes "
            "keys that say nothing"
        )
    table = as_frame(frame)
    if not schema.confidential:
        raise InputError("a channel protects confidential columns, and none is declared; name at least one")
    rng = check_seed(seed)
    tell(Step("encode", 0.0))
    codec = Codec.fit(table, schema)
    X = codec.encode(table)
    rules: list[_Noise | _Matrix] = []
    numeric = [block for block in codec.blocks if block.kind != "nominal"]
    made: dict[str, nw.Series[Any]] = {}
    if numeric:
        noise = _Noise(codec, X, table, schema)
        if noise.source is not None:
            rules.append(noise)
        else:  # constants tell nothing and stay
            made |= {name: table[name] for name in noise.columns}
    about = confidential_codes(table, schema)
    nominal = [block.name for block in codec.blocks if block.kind == "nominal"]
    rules.extend(_Matrix(table, columns, about) for columns in _groups(table, nominal))
    known = [rule.information for rule in rules]
    parts, channels = [], []
    for number, rule in enumerate(rules):
        tell(Step("channel", number / len(rules)))
        if max_risk is None:
            limits = {"max_distortion": float(value)}
        else:
            total = sum(known)
            limits = {
                "max_risk": float(value)
                * (known[number] / total if 0.0 < total < np.inf else 1.0 / len(rules))
            }
        series, part, channel = rule.run(limits, rng, tell)
        made |= series
        parts.append(part)
        channels.append(channel)
    kept = [column for column in table.columns if schema[column].role != "identifier"]
    published = nw.from_dict({column: made[column] for column in schema.keys})
    released = table.select(kept).with_columns(*(published[column] for column in schema.keys))
    after = codec.encode(published)
    spread = float(np.square(X - X.mean(axis=0)).sum())
    distortion = float(np.square(X - after).sum()) / spread if spread > 0.0 else 0.0
    risk = sum(part.risk for part in parts)
    tell(Step("measure", 0.0))
    told = measure_told(released, schema, bins=_BINS)
    notes = _judge(told, parts, risk, max_risk)
    before = sum(part.information for part in parts)
    figures = {
        "distortion": distortion,
        "risk": risk,
        "information": before if np.isfinite(before) else None,
        "measured": told.to_dict(),
        "parts": [part.to_dict() for part in parts],
    }
    return Perturbed(
        released,
        figures,
        notes=notes,
        steps=(*map(_step, parts), f"Measured in this table: {told}."),
        distortion=distortion,
        risk=risk,
        parts=tuple(parts),
        channels=tuple(channels),
        measured=told,
    )


@dataclass(frozen=True)
class ChannelOptions(Options):
    """Options of the method channel: one of the two limits."""

    max_distortion: float | None = option(None, "the largest share of the keys' variance to lose, 0 to 1")
    max_risk: float | None = option(
        None, "the most that the keys may tell about the confidential columns, in nats"
    )


@table_method(
    "channel",
    guarantee="least risk for the distortion, counted for nominal keys, under a normal model for numbers; "
    "measured afterwards, and refused where clearly above max_risk; no k",
    cost="O(n d^2); an interior point method on the combinations of nominal keys",
    reference="Rebollo-Monedero, Forné, Domingo-Ferrer, From t-Closeness-Like Privacy to Postrandomization "
    "via Information Theory",
    options=ChannelOptions,
)
def channel(table: Table, ctx: Context, options: ChannelOptions) -> Perturbed:
    """Perturb the keys so that they tell little about the confidential columns.

    What `mask_keys` does.
    """
    return mask_keys(table.frame, table.schema, **vars(options), seed=ctx.rng, progress=ctx)


def _judge(told: Told, parts: list[Part], risk: float, max_risk: float | None) -> tuple[str, ...]:
    """Compare what was stated with what was measured; refuse a promise that is clearly broken."""
    if len(parts) == 1 and parts[0].kind == "pram":
        return ()  # the stated risk is that of all keys, counted without a model: more is chance
    low = told.estimate.low
    if max_risk is not None and low > _slack(max_risk):
        raise GuaranteeError(
            f"max_risk={max_risk:g} cannot be kept, and nothing is released: in the masked table "
            f"{_more(told)}. {_why(told)} Declare numeric keys nominal, or cut them into bins first: then "
            "all keys are randomised together and the risk is counted (up to 150 combinations). Or give "
            "max_distortion, larger than this risk would have cost, and judge by what is measured. Or use a "
            "k-anonymous method with the model mutual-information or t-closeness"
        )
    if low > _slack(risk):
        return (f"in the masked table {_more(told)}; the rules state {risk:.3g}. {_why(told)}",)
    return ()


def _slack(limit: float) -> float:
    """Return a limit with room for rounding."""
    return limit * (1.0 + 1e-9) + 1e-12


def _more(told: Told) -> str:
    verb = "tells" if len(told.keys) == 1 else "together tell"
    return (
        f"{', '.join(told.keys)} {verb} {told.excess:.3g} nats above chance about {', '.join(told.about)}, "
        f"at least {told.estimate.low:.3g} with 95 % confidence"
    )


def _why(told: Told) -> str:
    if len(told.keys) == 1:
        return "The key tells it in a way that is not linear, which noise for normal data does not hide."
    return (
        "The keys tell it together, or in a way that is not linear; noise for normal data, and rules for "
        "some of the keys each, do not hide that."
    )


def _step(part: Part) -> str:
    """Say what a rule did."""
    noise = part.kind == "noise"
    how = "Added noise to" if noise else "Drew new values at random for"
    model = "if the data were normal with the same covariances" if noise else "as counted in this table"
    return (
        f"{how} {', '.join(part.columns)}: {100 * part.distortion:.1f} % of the variance is lost. What is "
        f"left of these keys tells {part.risk:.3g} nats about the confidential columns instead of "
        f"{part.information:.3g}, {model}."
    )


class _Noise:
    """The numeric keys together, by a Gaussian channel."""

    def __init__(self, codec: Codec, X: Array, table: nw.DataFrame[Any], schema: Schema) -> None:
        self.codec, self.X = codec, X
        self.blocks = [block for block in codec.blocks if block.kind != "nominal"]
        self.at = [
            i
            for block in self.blocks
            for i in range(block.start, block.start + (3 if block.kind == "location" else 1))
        ]
        self.varies = bool(np.ptp(X[:, self.at], axis=0).any())
        self.columns = tuple(name for block in self.blocks for name in block.columns)
        self.source = (
            GaussianSource.estimate(X[:, self.at], confidential_points(table, schema))
            if self.varies
            else None
        )
        self.information = 0.0 if self.source is None else self.source.information

    def run(
        self, limits: dict[str, float], rng: np.random.Generator, tell: Progress
    ) -> tuple[dict[str, nw.Series[Any]], Part, GaussianChannel | FiniteChannel]:
        del tell
        assert self.source is not None  # noqa: S101 - constants are not masked
        if "max_distortion" in limits:
            limits = {"max_distortion": limits["max_distortion"] * self.source.variance}
        channel = gaussian_channel(self.source, **limits)
        noisy = self.X.copy()
        noisy[:, self.at] = channel.apply(self.X[:, self.at], seed=rng)
        decoded = self.codec.decode(noisy)
        again = self.codec.encode(decoded)
        lost = float(np.square(self.X[:, self.at] - again[:, self.at]).sum() / len(again))
        part = Part(
            self.columns,
            "noise",
            channel.share,
            lost / self.source.variance,
            channel.risk,
            self.information,
            channel.gap,
            "risk of normal data with these covariances; rounded to the column's decimals and clipped to its "
            "range, which cannot raise it",
            {"noise": self._noise(channel)},
        )
        return {name: decoded[name] for name in self.columns}, part, channel

    def _noise(self, channel: GaussianChannel) -> list[dict[str, Any]]:
        """Return by column, in its own standard deviations: what is kept of a deviation, and the noise."""
        spread = np.diag(channel.source.sigma_x)
        kept, noise, lost = 1.0 - np.diag(channel.A), np.diag(channel.noise), np.diag(channel.sigma)
        out = []
        at = 0
        for block in self.blocks:
            width = 3 if block.kind == "location" else 1
            here = slice(at, at + width)
            total = float(spread[here].sum())
            if total > 0.0:
                out.append(
                    {
                        "columns": list(block.columns),
                        "kept": float(spread[here] @ kept[here]) / total,
                        "noise_sd": float(np.sqrt(max(0.0, noise[here].sum()) / total)),
                        "lost": float(lost[here].sum()) / total,
                    }
                )
            at += width
        return out


class _Matrix:
    """Nominal keys, by the optimal transition matrix of their joint alphabet."""

    def __init__(self, table: nw.DataFrame[Any], columns: tuple[str, ...], about: Ints) -> None:
        self.table, self.columns, self.about = table, columns, about
        codes = [key_codes(table[name]) for name in columns]
        letters, self.first, self.codes = np.unique(
            np.column_stack(codes), axis=0, return_index=True, return_inverse=True
        )
        self.codes = self.codes.reshape(-1).astype(np.int64)
        self.d = np.zeros((len(letters), len(letters)))
        counted = 0
        for i, column in enumerate(codes):
            share = np.bincount(column) / len(column)
            variance = 1.0 - float(share @ share)  # of indicator coordinates; two categories are 2 apart
            if variance > 0.0:
                self.d += (letters[:, None, i] != letters[None, :, i]) * (2.0 / variance)
                counted += 1
        self.d /= max(counted, 1)
        self.joint = np.zeros((int(about.max()) + 1, len(letters)))
        np.add.at(self.joint, (about, self.codes), 1.0 / len(about))
        outer = np.outer(self.joint.sum(axis=1), self.joint.sum(axis=0))
        there = self.joint > 0.0
        self.information = max(
            0.0, float((self.joint[there] * np.log(self.joint[there] / outer[there])).sum())
        )

    def run(
        self, limits: dict[str, float], rng: np.random.Generator, tell: Progress
    ) -> tuple[dict[str, nw.Series[Any]], Part, GaussianChannel | FiniteChannel]:
        channel = privacy_distortion(self.joint, self.d, **limits, progress=tell)  # type: ignore[arg-type]
        drawn = channel.apply(self.codes, seed=rng)
        rows = self.first[drawn]  # a row that has the letter: its own spelling and dtype
        series = {name: nw.maybe_reset_index(self.table[name][rows]) for name in self.columns}
        n = len(self.codes)
        part = Part(
            self.columns,
            "pram",
            channel.distortion,
            float(self.d[self.codes, drawn].mean()),
            channel.risk,
            self.information,
            channel.gap,
            f"{len(self.d)} combinations, {int((drawn != self.codes).sum())} of {n} records changed; "
            f"confidential columns in {len(self.joint)} classes",
            {"matrix": published_matrix(channel.matrix, self.codes, drawn, self._names())},
        )
        return series, part, channel

    def _names(self) -> list[list[Any]]:
        """Return the values of each letter, by column; None where a value is missing."""
        columns = [
            [None if gone else value for value, gone in zip(kept.to_list(), missing(kept), strict=True)]
            for kept in (self.table[name][self.first] for name in self.columns)
        ]
        return [
            [one if isinstance(one, (bool, int, float, str)) or one is None else str(one) for one in letter]
            for letter in zip(*columns, strict=True)
        ]


def _groups(table: nw.DataFrame[Any], names: list[str]) -> list[tuple[str, ...]]:
    """Return the nominal keys together if they have few combinations, otherwise one by one."""
    if not names:
        return []
    codes = np.column_stack([key_codes(table[name]) for name in names])
    if len(np.unique(codes, axis=0)) <= _LETTERS:
        return [tuple(names)]
    return [(name,) for name in names]


def key_codes(series: nw.Series[Any]) -> Ints:
    """Return a nominal column as categories; missing is the last one."""
    codes, values = factorize(series)
    return np.where(codes < 0, len(values), codes).astype(np.int64)


def confidential_codes(table: nw.DataFrame[Any], schema: Schema, *, bins: int = _BINS) -> Ints:
    """Return all confidential columns as one column of classes; numbers in bins of about equal frequency."""
    columns = []
    for name in schema.confidential:
        codes = key_codes(table[name])
        count = int(codes.max()) + 1
        if schema[name].kind in ("numeric", "datetime") and count > bins:
            order = np.cumsum(np.bincount(codes)) - 0.5 * np.bincount(codes)
            codes = np.minimum((order / len(codes) * bins).astype(np.int64), bins - 1)[codes]
        columns.append(codes)
    return np.asarray(
        np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1), dtype=np.int64
    )


def confidential_points(table: nw.DataFrame[Any], schema: Schema) -> Array:
    """Return the confidential columns as coordinates: numbers as they are, a coordinate per category."""
    columns: list[Array] = []
    for name in schema.confidential:
        series = table[name]
        if schema[name].kind in ("numeric", "datetime") and form(series) not in (
            "string",
            "category",
            "boolean",
        ):
            gone = missing(series)
            values = np.zeros(len(series))
            observed = numbers(series).astype(np.float64)
            values[~gone] = observed
            values[gone] = observed.mean() if len(observed) else 0.0
            scale = float(np.ptp(values)) or 1.0
            columns.append((values - values.min()) / scale)
            if gone.any():
                columns.append(gone.astype(np.float64))
            continue
        codes = key_codes(series)
        counts = np.bincount(codes)
        often = np.argsort(-counts, kind="stable")[1 : _LEVELS + 1]  # the first follows from the others
        columns.extend((codes == level).astype(np.float64) for level in often)
    if not columns:
        return np.zeros((len(table), 1))
    return np.column_stack(columns)
