"""Mask the keys of a table by randomised rules: noise for numbers, post-randomisation for categories.

The method does not promise k-anonymity: nobody is hidden in a group. It limits the information of published
keys about confidential columns, on average over the table and under a model. The information without a model
is measured afterwards.
"""

# promise: doc-limits
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from voronym.channel.base import FiniteChannel, one_limit
from voronym.channel.budget import BUDGET, guess
from voronym.channel.figures import BudgetFigures, ChannelFigures
from voronym.channel.gaussian import GaussianChannel
from voronym.channel.measured import Revealed, measure_revealed
from voronym.channel.planned import WORST
from voronym.channel.rules import BINS, Matrix, Noise, Rule, masks
from voronym.core.chance import masking
from voronym.core.context import Context, ProgressCallback
from voronym.core.options import Options, number, option
from voronym.core.promise import meets
from voronym.core.validate import checked
from voronym.errors import GuaranteeError, InputError
from voronym.keyspaces import Coordinates
from voronym.method import table_method
from voronym.result import Masked
from voronym.table.schema import Schema
from voronym.table.table import Table


@dataclass(frozen=True)
class Perturbed(Masked):
    """A table with perturbed keys; its rows keep their order.

    Parameters
    ----------
    distortion : float
        Mean squared error of the published keys as a share of their variance, every key at variance 1: the
        unit of the information loss, divided by 100. Measured, after rounding.
    risk : float
        Sum of the risks of the rules in nats, each under its model. Keys that are masked separately may
        reveal more together, and numbers may reveal more than normal data would.
    rules : tuple of Rule
        The rules.
    measured : Revealed
        The information measured in the masked table.
    """

    distortion: float = 0.0
    risk: float = 0.0
    rules: tuple[Rule, ...] = ()
    measured: Revealed | None = None

    @property
    def channels(self) -> tuple[GaussianChannel | FiniteChannel, ...]:
        """The rules that were drawn from; analysts need the matrices to correct for them."""
        return tuple(rule.channel for rule in self.rules)


@checked
def mask_keys(
    frame: Any,
    schema: Schema,
    *,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    max_t: float | None = None,
    max_delta: float | None = None,
    budget: float = BUDGET,
    invariant: bool = False,
    seed: int | np.random.Generator | None = None,
    progress: ProgressCallback | None = None,
) -> Perturbed:
    """Perturb the keys so that they reveal little about the confidential columns.

    Numbers, times, ordered levels and places get the optimal noise for normal data (`gaussian_channel`)
    along their standardised coordinates. Then they are rounded to possible values, and clipped to round
    numbers near the ends of the range, each of which stands for several people. Rounding and clipping use
    one record at a time, so they cannot raise the risk. They change the distortion a little, which is
    measured afterwards. Nominal keys are post-randomised together if they have at most 150 combinations,
    otherwise one by one.

    Parameters
    ----------
    frame : dataframe
        The table.
    schema : Schema
        Roles and kinds; at least one confidential column.
    max_distortion : float, optional
        Largest share of the keys' variance to lose, each rule on its own columns; 0 to 1.
    max_risk : float, optional
        Largest sum of the rules' risks, in nats, divided in proportion to the information of the unmasked
        keys. The risks are those of the rules' models; a table that measurably reveals more is refused.
    max_t, max_delta : float, optional
        Limits for every published combination of keys instead of their mean, by the law of the rule:
        the total variation of what it says about the confidential columns and what the table says, or the
        largest ``|ln p/q|``. Nominal keys only, with at most 150 combinations.
    seed : int, Generator or None
        By default drawn from the system. A number gives the same table again, with a warning: anybody who
        knows it can subtract the noise.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    Perturbed

    Raises
    ------
    GuaranteeError
        ``max_risk`` is given, and the masked keys reveal more than the rules state: the lower end of the
        measured interval is above the stated risk, and the upper end above ``max_risk``.

    Notes
    -----
    The risk of a noise rule is that of normal data with the table's covariances; that of a matrix is counted
    in the table (numeric confidential columns in 8 bins). Neither covers nonlinear relations of numbers, nor
    what keys of two rules reveal together. Therefore the masked table is measured (see
    `voronym.channel.measured.measure_revealed`): the result is in ``figures.measured`` and in ``log``. A note
    warns if it is clearly above the stated risk. It looks at keys one by one, in pairs and all together, in
    coarse cells, so it may miss something.

    Missing numbers stay missing; a missing category is a category. Noise is added where keys and confidential
    columns are related: a key that is unrelated to them may stay unchanged, and lead to a person. Nothing is
    guaranteed for a single record, and the table is not k-anonymous.

    Examples
    --------
    >>> import voronym as vr
    >>> table = vr.datasets.hospital(500, seed=1).select("age", "sex", "diagnosis")
    >>> schema = vr.Schema.build(table, keys=["age", "sex"], confidential=["diagnosis"])
    >>> masked = mask_keys(table, schema, max_distortion=0.3)
    >>> masked.frame.columns, masked.risk < masked.figures.information
    (['age', 'sex', 'diagnosis'], True)
    """
    ctx = Context(seed=masking(seed), progress=progress)
    options = ChannelOptions(max_distortion, max_risk, budget, invariant, max_t, max_delta)
    table = Table.of(frame, schema, only=[column.name for column in schema if column.role != "identifier"])
    made = channel(table, ctx, options)
    ctx.done()
    return made


def _yes_or_no(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return bool(value)


@dataclass(frozen=True)
class ChannelOptions(Options):
    """Options of the method channel: one limit, and the budget of the published rules."""

    max_distortion: float | None = option(
        None, "the largest share of the keys' variance to lose, 0 to 1", check=number(0.0, 1.0)
    )
    max_risk: float | None = option(
        None, "the largest information of the keys about the confidential columns, in nats", check=number(0.0)
    )
    budget: float = option(
        BUDGET,
        "the μ of the noise on the counts behind the rules: it limits what the published rules reveal",
        check=number(above=0.0),
    )
    invariant: bool = option(
        False, "keep the expected counts of nominal keys, at more distortion", check=_yes_or_no
    )
    max_t: float | None = option(
        None,
        "the largest total variation of the confidential values of any published combination of keys",
        check=number(0.0, 1.0),
    )
    max_delta: float | None = option(
        None,
        "the largest |ln p/q| of any confidential value for any published combination of keys",
        check=number(0.0),
    )

    @property
    def limits(self) -> dict[str, float | None]:
        """The limits; exactly one of them is given."""
        return {name: getattr(self, name) for name in ("max_distortion", "max_risk", *WORST)}

    def __post_init__(self) -> None:
        """Check that one limit is given."""
        super().__post_init__()
        one_limit(**self.limits)


@table_method(
    "channel",
    guarantee="least risk for the distortion, counted for nominal keys, under a normal model for numbers; "
    "measured afterwards, and refused if clearly above max_risk; promises no k",
    cost="O(n d^2); an interior point method on the combinations of nominal keys",
    reference="Rebollo-Monedero, Forné, Domingo-Ferrer, From t-Closeness-Like Privacy to Postrandomization "
    "via Information Theory",
    options=ChannelOptions,
)
def channel(table: Table, ctx: Context, options: ChannelOptions) -> Perturbed:
    """Perturb the keys so that they reveal little about the confidential columns.

    `mask_keys` calls this function.
    """
    if not table.confidential:
        raise InputError("a channel protects confidential columns, and none is declared; name at least one")
    coordinates = Coordinates.of(table)
    tested = options.max_distortion is None
    planned = masks(table, coordinates, ctx, mu=options.budget, tested=tested, invariant=options.invariant)
    _check_worst(planned, options)
    columns, rules = _draw(planned, ctx.part(0.0, 0.8), options)
    keys = [columns[name] if name in columns else table.frame[name] for name in table.keys]
    made = table.like(table.frame.with_columns(*keys))
    distortion = coordinates.loss(made) / 100.0
    risk, before = sum(rule.risk for rule in rules), sum(rule.information for rule in rules)
    revealed = measure_revealed(made, ctx.part(0.8, 1.0, stage="measuring"), bins=BINS)
    figures = ChannelFigures(
        distortion=distortion,
        risk=risk,
        counted=sum(rule.counted for rule in rules),
        information=before,
        measured=revealed,
        budget=BudgetFigures(options.budget, guess(options.budget)),
        parts=tuple(rule.figures for rule in rules),
    )
    return Perturbed(
        made.frame,
        figures,
        _judge(revealed, rules, risk, options.max_risk) + _above(rules, options) + _coarse(rules, options),
        (*map(str, rules), f"Measured in this table: {revealed}."),
        distortion=distortion,
        risk=risk,
        rules=tuple(rules),
        measured=revealed,
    )


def _check_worst(planned: Sequence[Noise | Matrix], options: ChannelOptions) -> None:
    """Refuse a limit for every published combination unless the keys are randomised together."""
    name, _ = one_limit(**options.limits)
    if name not in WORST:
        return
    numbers = [column for mask in planned if isinstance(mask, Noise) for column in mask.columns]
    if numbers:
        raise InputError(
            f"{name} limits every published combination of keys, which noise on numbers cannot: declare "
            f"{', '.join(numbers)} nominal, or cut into bins first; or give max_risk, a limit on the mean"
        )
    if len(planned) > 1:
        raise InputError(
            f"{name} limits every published combination of keys, and these have more than 150: cut them "
            "into fewer categories; or give max_risk, a limit on the mean"
        )


def _draw(
    planned: Sequence[Noise | Matrix], ctx: Context, options: ChannelOptions
) -> tuple[dict[str, nw.Series[Any]], list[Rule]]:
    """Apply the rules one by one; divide a limit on the risk by the information of the unmasked keys."""
    columns: dict[str, nw.Series[Any]] = {}
    rules = []
    name, value = one_limit(**options.limits)
    total = sum(mask.information for mask in planned)
    for number_, mask in enumerate(planned):
        share = 1.0
        if name == "max_risk":
            share = mask.information / total if 0.0 < total < np.inf else 1.0 / len(planned)
        part = ctx.part(number_ / len(planned), (number_ + 1) / len(planned))
        part.tell(0.0)
        series, rule = mask.apply({name: value * share}, part)
        columns |= series
        rules.append(rule)
    return columns, rules


def _judge(revealed: Revealed, rules: Sequence[Rule], risk: float, max_risk: float | None) -> tuple[str, ...]:
    """Compare the stated figure with the measured one; refuse a clearly broken promise."""
    if len(rules) == 1 and rules[0].complete:
        return ()  # the stated risk is that of all keys, counted without a model: more is chance
    low = revealed.estimate.low
    # If the table contradicts the rules' model, the true risk may be anything up to the upper end.
    most = low if meets(low, risk) else revealed.estimate.high
    if max_risk is not None and not meets(most, max_risk):
        raise GuaranteeError(
            f"max_risk={max_risk:g} cannot be kept, and nothing is released: in the masked table "
            f"{_more(revealed)}. {_why(revealed)} Declare numeric keys nominal, or cut them into bins first: "
            "then all keys are randomised together and the risk is counted (up to 150 combinations). Or give "
            "max_distortion, larger than the cost of this risk, and judge by the measured risk. Or use a "
            "k-anonymous method with the model mutual-information or t-closeness"
        )
    if not meets(low, risk):
        return (f"in the masked table {_more(revealed)}; the rules state {risk:.3g}. {_why(revealed)}",)
    return ()


def _above(rules: Sequence[Rule], options: ChannelOptions) -> tuple[str, ...]:
    """Warn the data holder if exact counts exceed the limit; a refusal would reveal it to everybody."""
    name, value = one_limit(**options.limits)
    if name == "max_distortion":
        return ()
    limited = (
        sum(rule.limited for rule in rules) if name == "max_risk" else max(rule.limited for rule in rules)
    )
    if meets(limited, value):
        return ()
    return (
        f"by the exact counts it is {limited:.3g} where {name}={value:g} was asked for: the limit is "
        "tested through noise, which lets a rule above it pass in 1 of 100 releases at most. Do not run "
        "again because of this: that would reveal something about the exact counts. Ask for a lower limit "
        "from the start instead",
    )


def _coarse(rules: Sequence[Rule], options: ChannelOptions) -> tuple[str, ...]:
    """Warn if a limit for every combination applies to classes of confidential values."""
    name, _ = one_limit(**options.limits)
    if name not in WORST or all(rule.complete for rule in rules):
        return ()
    return (
        f"{name} holds for classes of confidential values, not for each of them: there are too many for the "
        "combinations of keys",
    )


def _more(revealed: Revealed) -> str:
    keys, columns = ", ".join(revealed.keys), ", ".join(revealed.about)
    verb = "tells" if len(revealed.keys) == 1 else "together tell"
    return (
        f"{keys} {verb} {revealed.excess:.3g} nats above chance about {columns}, from "
        f"{revealed.estimate.low:.3g} to {revealed.estimate.high:.3g} with 95 % confidence"
    )


def _why(revealed: Revealed) -> str:
    if len(revealed.keys) == 1:
        return "The relation is not linear, and noise for normal data does not hide it."
    return (
        "The keys reveal it together, or the relation is not linear; noise for normal data, and separate "
        "rules for some of the keys, do not hide that."
    )
