"""The risk of a table in its population, and how it is printed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.evaluate.population.loglinear import Fitted
from voronym.evaluate.population.rule import Uniques

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Matches(Plain):
    """Probability that matches are correct, over all records or all households.

    Parameters
    ----------
    number : int
        Records, or households.
    expected : float
        Expected number of correct matches if an intruder matches each of them once: the global risk.
    interval : tuple of float
        95 % confidence interval of the number of correct matches.
    mean, greatest : float
        Mean and maximum of the single risks.
    threshold : float
        A record with a higher risk is at risk.
    at_risk : int
        Number of records at risk.
    assumption : str
        The assumption behind the figures.
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
    def of(cls, risks: Floats, threshold: float, assumption: str, variance: float | None = None) -> Matches:
        """Add up the risks of records; they are independent unless the variance of their number is given."""
        expected = float(risks.sum())
        if variance is None:
            variance = float((risks * (1 - risks)).sum())
        far = 1.96 * float(np.sqrt(variance))
        interval = max(0.0, expected - far), min(float(len(risks)), expected + far)
        at_risk = int((risks > threshold).sum())
        greatest = float(risks.max())
        return cls(
            len(risks), expected, interval, expected / len(risks), greatest, threshold, at_risk, assumption
        )


@dataclass(frozen=True)
class PopulationFigures(Plain):
    """The figures of a table in its population, over all its records.

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
        The source of N.
    matches : Matches
        For records: Benedetti and Franconi's individual risk, or 1 / F if the population is known.
    households : Matches or None
        For declared households: the risk that one of their members is found.
    members : Matches or None
        For records, each with the risk of its household: finding one member finds the family.
    uniques : tuple of Uniques
        Population uniques, by models of the sizes of classes; empty if the population is known.
    rule : str or None
        Which of these the decision rule of Dankar and others takes.
    columns : tuple of Fitted
        Sample uniques that are population uniques, by log-linear models, the best fitting first.
    known : dict or None
        If the population is known: ``sample_uniques``, ``population_uniques`` among them, and ``absent``,
        records whose keys do not occur in the population.
    notes : tuple of str
        Remarks on these figures.
    """

    keys: tuple[str, ...]
    records: int
    population: float
    fraction: float
    basis: str
    matches: Matches
    households: Matches | None
    members: Matches | None
    uniques: tuple[Uniques, ...]
    rule: str | None
    columns: tuple[Fitted, ...]
    known: dict[str, int] | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        what = {"population": "counted", "weights": "by the weights"}.get(
            self.basis, "by the sampling fraction"
        )
        outcome = self.matches
        lines = [
            f"population: {self.population:,.0f} people ({what}), "
            f"{percent(self.fraction)} of them in the table",
            f"correct matches to expect: {between(outcome.expected, outcome.interval)} of {outcome.number:,}",
            f"risk of a record: at most {percent(outcome.greatest)}, mean {percent(outcome.mean)}; "
            f"{outcome.at_risk:,} above {percent(outcome.threshold)}",
        ]
        if self.households is not None:
            two = self.households
            lines.append(
                f"households in which somebody is found: {between(two.expected, two.interval)} of "
                f"{two.number:,}; at most {percent(two.greatest)}, "
                f"{two.at_risk:,} above {percent(two.threshold)}"
            )
        if self.members is not None:
            three = self.members
            lines.append(
                f"people whose household is found: {between(three.expected, None)} of {three.number:,}; "
                f"mean {percent(three.mean)}, {three.at_risk:,} above {percent(three.threshold)}"
            )
        if self.known is not None:
            lines.append(
                f"unique in the table: {self.known['sample_uniques']:,}; of these in the population, too: "
                f"{self.known['population_uniques']:,}"
            )
        for fitted in self.columns[:1]:
            lines.append(
                f"unique in the table: {fitted.sample_uniques:,}; of these in the population, too: "
                f"{between(fitted.population_uniques, fitted.interval)} (log-linear, {fitted.model})"
            )
            lines += [f"  {fitted.warning}"] if fitted.warning else []
        for unique in self.uniques:
            chosen = ", by the decision rule" if unique.model == self.rule else ""
            result = "no estimate"
            if unique.uniques is not None and unique.share is not None:
                result = between(unique.uniques, unique.interval) + f" ({percent(unique.share)})"
            lines.append(f"unique in the population, {unique.model}{chosen}: {result}")
            lines += [f"  {unique.warning}"] if unique.warning else []
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True, eq=False)
class PopulationRisk(PopulationFigures):
    """The results of `population_risk`. ``risks`` concern single records: not for publication.

    Parameters
    ----------
    risks : (n,) array
        Probability that a match with each record is correct; for each person, if people have several rows.

    Notes
    -----
    All else is as in `PopulationFigures`.
    """

    risks: Floats = field(repr=False)

    @property
    def figures(self) -> PopulationFigures:
        """All figures except those of single records."""
        return PopulationFigures(
            **{field.name: getattr(self, field.name) for field in fields(PopulationFigures)}
        )

    def to_dict(self) -> dict[str, object]:
        """Return plain, JSON-able types, without the risks of single records."""
        return self.figures.to_dict()


def people(value: float) -> str:
    """Format a number of people; a number near 0 without its exponent."""
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"


def between(value: float, interval: tuple[float, float] | None) -> str:
    """Format an estimate, with its interval if it has one."""
    text = people(value)
    return text if interval is None else f"{text} ({interval[0]:,.0f} to {interval[1]:,.0f})"
