"""The risk of a table in the population it is a sample of, all models at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.arguments import checked
from voronym.context import Context, Progress
from voronym.errors import InputError
from voronym.evaluate.population.individual import (
    ASSUMPTION,
    household_risk,
    match_probability,
    weights_of,
)
from voronym.evaluate.population.loglinear import Fitted, fit_columns
from voronym.evaluate.population.rule import Uniques, dankar, population_uniques
from voronym.evaluate.population.suda import check_fraction, key_codes
from voronym.plain import Plain
from voronym.table.alike import population_sizes
from voronym.table.classes import Classes, check_columns, equivalence_classes
from voronym.table.read import load
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Matches(Plain):
    """How likely matches are correct, over all records, or over all households.

    Parameters
    ----------
    number : int
        Records, or households.
    expected : float
        Correct matches to expect, where an intruder matches each of them once: the global risk.
    interval : tuple of float
        95 %, for their number.
    mean, greatest : float
        Of the single risks.
    threshold : float
        Above it one is at risk.
    at_risk : int
        How many are.
    assumption : str
        What is taken for granted.
    """

    number: int
    expected: float
    interval: tuple[float, float]
    mean: float
    greatest: float
    threshold: float
    at_risk: int
    assumption: str

    @classmethod
    def of(cls, risks: Floats, threshold: float, assumption: str) -> Matches:
        """Sum up single risks."""
        expected = float(risks.sum())
        far = 1.96 * float(np.sqrt((risks * (1 - risks)).sum()))
        interval = max(0.0, expected - far), min(float(len(risks)), expected + far)
        at_risk = int((risks > threshold).sum())
        greatest = float(risks.max())
        return cls(
            len(risks), expected, interval, expected / len(risks), greatest, threshold, at_risk, assumption
        )


@dataclass(frozen=True, eq=False)
class PopulationRisk(Plain):
    """What `population_risk` found. ``risks`` are those of single records: not for publication.

    Parameters
    ----------
    keys : tuple of str
        The columns that an intruder may know.
    records : int
        Records of the table, n.
    population : float
        People in the population, N: counted, or by weights or the sampling fraction.
    fraction : float
        n / N.
    basis : {"weights", "sampling fraction", "population"}
        Where N comes from.
    matches : Matches
        Of records: Benedetti and Franconi's individual risk, or 1 / F where the population is known.
    households : Matches or None
        Of households, where these are declared.
    uniques : tuple of Uniques
        Population uniques, by models of the sizes of classes; empty where the population is known.
    rule : str or None
        Which of these the decision rule of Dankar and others takes.
    columns : tuple of Fitted
        Sample uniques that are population uniques, by log-linear models, the best fitting first.
    known : dict or None
        Where the population is known: ``sample_uniques``, those of them that are ``population_uniques``, and
        ``absent``, records whose keys the population does not have.
    notes : tuple of str
        What should be known about these figures.
    risks : (n,) array
        How likely a match with each record is correct.
    """

    keys: tuple[str, ...]
    records: int
    population: float
    fraction: float
    basis: str
    matches: Matches
    households: Matches | None
    uniques: tuple[Uniques, ...]
    rule: str | None
    columns: tuple[Fitted, ...]
    known: dict[str, int] | None
    notes: tuple[str, ...]
    risks: Floats = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types, without the risks of single records."""
        return {name: value for name, value in super().to_dict().items() if name != "risks"}

    def __str__(self) -> str:
        what = {"population": "counted", "weights": "by the weights"}.get(
            self.basis, "by the sampling fraction"
        )
        one = self.matches
        lines = [
            f"population: {self.population:,.0f} people ({what}), {self.fraction:.2%} of them in the table",
            f"correct matches to expect: {_between(one.expected, one.interval)} of {one.number:,}",
            f"risk of a record: at most {one.greatest:.2%}, mean {one.mean:.3%}; "
            f"{one.at_risk:,} above {one.threshold:.0%}",
        ]
        if self.households is not None:
            two = self.households
            lines.append(
                f"households in which somebody is found: {_between(two.expected, two.interval)} of "
                f"{two.number:,}; at most {two.greatest:.2%}, {two.at_risk:,} above {two.threshold:.0%}"
            )
        if self.known is not None:
            lines.append(
                f"unique in the table: {self.known['sample_uniques']:,}; of these in the population, too: "
                f"{self.known['population_uniques']:,}"
            )
        for fitted in self.columns[:1]:
            lines.append(
                f"unique in the table: {fitted.sample_uniques:,}; of these in the population, too: "
                f"{_between(fitted.population_uniques, fitted.interval)} (log-linear, {fitted.model})"
            )
            lines += [f"  {fitted.warning}"] if fitted.warning else []
        for found in self.uniques:
            chosen = ", by the decision rule" if found.model == self.rule else ""
            said = "no estimate"
            if found.uniques is not None and found.share is not None:
                said = _between(found.uniques, found.interval) + f" ({found.share:.2%})"
            lines.append(f"unique in the population, {found.model}{chosen}: {said}")
            lines += [f"  {found.warning}"] if found.warning else []
        return "\n".join([*lines, *self.notes])


def _between(value: float, interval: tuple[float, float] | None) -> str:
    text = f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
    return text if interval is None else f"{text} ({interval[0]:,.0f} to {interval[1]:,.0f})"


@checked
def population_risk(
    table: Any,
    *,
    keys: Sequence[str],
    weights: str | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    household: str | None = None,
    threshold: float = 0.2,
    seed: int = 0,
    progress: Progress | None = None,
) -> PopulationRisk:
    """Estimate how likely an intruder finds somebody of a survey in the population.

    An intruder who does not know who took part must find the one person of the *population* behind a record.
    Somebody who is unique in a sample has perhaps many doubles outside of it.

    Parameters
    ----------
    table : DataFrame, str or Path
        The sample: pandas, Polars or PyArrow, or a file that `voronym.read` reads. Every row is a person.
    keys : sequence of str
        Columns that an intruder may know.
    weights : str, optional
        The column of sampling weights: how many people each record stands for.
    sampling_fraction : float, optional
        Share of the population that is in the table, instead of weights.
    population : DataFrame, str or Path, optional
        A table of the whole population with the same keys, coded alike, instead of both: then people are
        counted and nothing is estimated.
    household : str, optional
        The column that says which household a person belongs to.
    threshold : float
        Risk above which a record, or a household, counts as at risk.
    seed : int
        For the combinations that log-linear models are judged by.
    progress : callable, optional
        Called with a `voronym.Step` now and then.

    Returns
    -------
    PopulationRisk
        Every estimate comes with what it assumes, with an interval, and with a warning where the fit is poor.

    Raises
    ------
    InputError
        Not exactly one of weights, sampling fraction and population is given, or one of them cannot be.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": list("aaaabbbc"), "weight": [30.0] * 8})
    >>> found = population_risk(survey, keys=["job"], weights="weight")
    >>> round(found.matches.greatest, 3), round(found.matches.expected, 2)
    (0.117, 0.21)
    """
    ctx = Context(seed=seed, progress=progress)
    frame = load(table)
    check_columns(frame, keys, "key")
    names = tuple(keys)
    _check(names, weights, sampling_fraction, population, threshold)
    columns = Columns(frame)
    sampled = check_fraction(sampling_fraction)
    for name, role in ((weights, "weights"), (household, "household")):
        if name is not None:
            check_columns(frame, [name], role)
    classes = equivalence_classes(frame, names)
    homes = None if household is None else _homes(columns[household])
    ctx.tell(0.1, whole=True)
    if population is not None:
        made = _counted(frame, load(population), names)
    else:
        each = (
            weights_of(columns[weights]) if weights is not None else np.full(len(frame), 1 / (sampled or 1))
        )
        made = _estimated(frame, names, classes, each, ctx)
        made["basis"] = "sampling fraction" if weights is None else "weights"
    risks, said = made["risks"], made.pop("assumption")
    ctx.done()
    return PopulationRisk(
        keys=names,
        records=len(frame),
        matches=Matches.of(risks, threshold, said),
        households=None if homes is None else Matches.of(household_risk(risks, homes), threshold, said),
        **made,
    )


def _check(
    keys: tuple[str, ...], weights: str | None, fraction: float | None, population: Any, threshold: float
) -> None:
    if not keys:
        raise InputError("no key column is named; name the columns that an intruder may know")
    given = [weights is not None, fraction is not None, population is not None]
    if sum(given) != 1:
        many = "more than one are" if any(given) else "none is"
        raise InputError(
            "the risk in a population needs one of three: a column of sampling weights, the sampling "
            f"fraction, or a table of the population; {many} given"
        )
    if weights in keys:
        raise InputError(f"{weights!r} is named as key and as weights; an intruder does not know a weight")
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold is a probability from 0 to 1, not {threshold!r}")


def _homes(column: Values) -> Ints:
    gone = int(column.missing.sum())
    if gone:
        raise InputError(
            f"the household column {column.name!r} is missing in {gone} of {len(column)} rows; fill them in, "
            "or leave these rows out"
        )
    return np.asarray(column.codes, np.int64)


def _counted(frame: nw.DataFrame[Any], people: nw.DataFrame[Any], keys: Sequence[str]) -> dict[str, Any]:
    """Count in a table of the population."""
    here, there = population_sizes(frame, people, keys)
    absent = int((there == 0).sum())
    notes = []
    if absent:
        notes.append(
            f"{absent:,} of {len(frame):,} records have keys that nobody in the population has: it is not "
            "the whole population, or coded otherwise. They count as if the table were the population"
        )
    return {
        "risks": 1.0 / np.where(there > 0, there, here),
        "assumption": "the table of the population is complete, and coded as the sample is",
        "population": float(len(people)),
        "fraction": len(frame) / len(people),
        "basis": "population",
        "uniques": (),
        "rule": None,
        "columns": (),
        "known": {
            "sample_uniques": int((here == 1).sum()),
            "population_uniques": int(((here == 1) & (there == 1)).sum()),
            "absent": absent,
        },
        "notes": tuple(notes),
    }


def _estimated(
    frame: nw.DataFrame[Any], keys: Sequence[str], classes: Classes, weights: Floats, ctx: Context
) -> dict[str, Any]:
    """Estimate from weights, by each model."""
    notes, few = [], int((weights < 1).sum())
    if few:
        notes.append(
            f"{few:,} of {len(weights):,} weights are below 1: a record stands for at least one person, so "
            "they count as 1"
        )
        weights = np.maximum(weights, 1.0)
    total = float(weights.sum())
    fraction = len(weights) / total
    if float(weights.std()) > 0.5 * float(weights.mean()):
        notes.append(
            "weights differ much between records; the models of uniques take everybody's chance to be in the "
            "sample as the same, and are rough here. The risks of records use each weight"
        )
    people = np.bincount(classes.labels, weights, len(classes.sizes))
    risks = match_probability(classes.sizes, classes.sizes / people)[classes.labels]
    uniques = population_uniques(classes.sizes, total)
    ctx.tell(0.5, whole=True)
    alone = np.flatnonzero(classes.sizes[classes.labels] == 1)
    fitted = fit_columns(key_codes(frame, keys), alone, fraction, ctx) if len(alone) else ()
    own = float(risks[alone].sum())
    if fitted and not 0.8 * fitted[0].correct <= own <= 1.25 * fitted[0].correct:
        notes.append(
            f"the risks of records expect {_between(own, None)} correct matches among the {len(alone):,} "
            f"unique ones, and the log-linear model, which looks at the columns, "
            f"{_between(fitted[0].correct, None)}; take the greater"
        )
    return {
        "risks": risks,
        "assumption": ASSUMPTION,
        "population": total,
        "fraction": fraction,
        "uniques": uniques,
        "rule": dankar(uniques, fraction),
        "columns": fitted,
        "known": None,
        "notes": tuple(notes),
    }
