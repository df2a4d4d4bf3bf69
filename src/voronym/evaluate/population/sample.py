"""A table as a sample of a population, and its risk there: the work behind `population_risk`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.evaluate.population.figures import Matches, PopulationRisk, between
from voronym.evaluate.population.loglinear import fit_columns
from voronym.evaluate.population.rule import dankar, population_uniques
from voronym.evaluate.population.suda import key_codes
from voronym.privacy.individual import ASSUMPTION, household_risk, match_probability
from voronym.table.alike import population_sizes
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.units import first_of_each

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SEVERAL = (
    "several rows belong to one person, who counts once in each class and has the greatest risk of their "
    "rows; an intruder who joins these rows learns more. The models of uniques count such rows as "
    "different people"
)


@dataclass(frozen=True, eq=False)
class Sample:
    """Records as a sample of a population, known by weights, a fraction or a table of all people.

    Parameters
    ----------
    frame : narwhals DataFrame
        The records.
    keys : sequence of str
        The columns that an intruder may know.
    weights : (n,) array, optional
        Number of people behind each record.
    fraction : float, optional
        Share of the population that is in the table.
    people : narwhals DataFrame, optional
        The whole population.
    homes, persons : (n,) array of int, optional
        Household and person of each record, numbered.
    original : narwhals DataFrame, optional
        The same records with their original keys, if ``frame`` has the published ones; people of the
        population are found by these.
    """

    frame: nw.DataFrame[Any]
    keys: Sequence[str]
    weights: Floats | None = None
    fraction: float | None = None
    people: nw.DataFrame[Any] | None = None
    homes: Ints | None = None
    persons: Ints | None = None
    original: nw.DataFrame[Any] | None = None

    @cached_property
    def classes(self) -> Classes:
        """The records that share all keys."""
        return equivalence_classes(self.frame, self.keys)

    @property
    def once(self) -> Sample:
        """The sample with each person counted once per class."""
        if self.persons is None:
            return self
        rows = first_of_each(self.classes.labels, self.persons)
        made: dict[str, Any] = {"frame": self.frame[rows.tolist()]}
        if self.original is not None:
            made["original"] = self.original[rows.tolist()]
        for name in ("weights", "homes", "persons"):
            made[name] = None if getattr(self, name) is None else getattr(self, name)[rows]
        return replace(self, **made)


def assess(sample: Sample, threshold: float, ctx: Context) -> PopulationRisk:
    """Measure the risk of a sample in its population, with all available information."""
    n = len(sample.frame)
    several, sample = sample.persons is not None, sample.once
    ctx.tell(0.1, whole=True)
    made = _estimated(sample, ctx) if sample.people is None else _counted(sample)
    risks, homes, result = made["risks"], sample.homes, made.pop("assumption")
    if sample.persons is not None:
        numbers, first, own = np.unique(sample.persons, return_index=True, return_inverse=True)
        greatest = np.zeros(len(numbers))
        np.maximum.at(greatest, own.reshape(-1), risks)
        risks, homes = greatest, None if homes is None else homes[first]
    made["risks"] = risks
    if several:
        made["notes"] += (SEVERAL,)
    ctx.tell(1.0, whole=True)
    matches = Matches.of(risks, threshold, result)
    return PopulationRisk(
        keys=tuple(sample.keys),
        records=n,
        matches=matches,
        **_families(risks, homes, threshold, result),
        **made,
    )


def _families(risks: Floats, homes: Ints | None, threshold: float, text: str) -> dict[str, Any]:
    """Add up the risks of households and of their members: finding one member finds the family."""
    if homes is None:
        return {"households": None, "members": None}
    _, own, many = np.unique(homes, return_inverse=True, return_counts=True)
    own = own.reshape(-1)
    result = household_risk(risks, own)
    variance = float((np.square(many) * result * (1 - result)).sum())  # a family is found together
    return {
        "households": Matches.of(result, threshold, text),
        "members": Matches.of(result[own], threshold, text, variance),
    }


def _counted(sample: Sample) -> dict[str, Any]:
    """Count in a table of the population."""
    assert sample.people is not None  # noqa: S101 - for the type checker
    known = sample.frame if sample.original is None else sample.original
    here, there = population_sizes(known, sample.people, sample.keys)
    n, absent = len(known), int((there == 0).sum())
    sizes = np.where(there > 0, there, here)
    notes, result = [], "the table of the population is complete, and coded as the sample is"
    if absent:
        notes.append(
            f"{absent:,} of {n:,} records have keys that nobody in the population has: it is not "
            "the whole population, or coded otherwise. They count as if the table were the population"
        )
    if sample.original is not None:
        labels = sample.classes.labels
        rows = first_of_each(labels, equivalence_classes(known, sample.keys).labels)
        sizes = np.bincount(labels[rows], sizes[rows], len(sample.classes.sizes))[labels]
        here, there = sample.classes.sizes[labels], np.asarray(sizes, np.int64)
        result += (
            "; a group hides among all who have the original keys of one of its records, and perhaps more"
        )
    return {
        "risks": 1.0 / sizes,
        "assumption": result,
        "population": float(len(sample.people)),
        "fraction": n / len(sample.people),
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


def _estimated(sample: Sample, ctx: Context) -> dict[str, Any]:
    """Estimate from weights, or a fraction, by each model."""
    classes, n = sample.classes, len(sample.frame)
    weights = np.full(n, 1 / (sample.fraction or 1)) if sample.weights is None else sample.weights
    notes, few = [], int((weights < 1).sum())
    if few:
        notes.append(
            f"{few:,} of {len(weights):,} weights are below 1: a record stands for at least one person, so "
            "they count as 1"
        )
        weights = np.maximum(weights, 1.0)
    own = slice(None) if sample.persons is None else first_of_each(sample.persons)
    total = float(weights[own].sum())
    fraction = len(weights[own]) / total
    if float(weights.std()) > 0.5 * float(weights.mean()):
        notes.append(
            "weights differ much between records; the models of uniques take everybody's chance to be in the "
            "sample as the same, and are rough here. The risks of records use each weight"
        )
    people = np.bincount(classes.labels, weights, len(classes.sizes))
    risks = match_probability(classes.sizes, classes.sizes / people)[classes.labels]
    uniques = population_uniques(classes.sizes, float(weights.sum()))
    ctx.tell(0.5, whole=True)
    alone = np.flatnonzero(classes.sizes[classes.labels] == 1)
    codes = key_codes(sample.frame, sample.keys) if len(alone) else None
    fitted = () if codes is None else fit_columns(codes, alone, fraction, ctx.part(0.5, 1.0))
    single = float(risks[alone].sum())
    if fitted and not 0.8 * fitted[0].correct <= single <= 1.25 * fitted[0].correct:
        notes.append(
            f"the risks of records expect {between(single, None)} correct matches among the {len(alone):,} "
            f"unique ones, and the log-linear model, which looks at the columns, "
            f"{between(fitted[0].correct, None)}; take the greater"
        )
    return {
        "risks": risks,
        "assumption": ASSUMPTION,
        "population": total,
        "fraction": fraction,
        "basis": "sampling fraction" if sample.weights is None else "weights",
        "uniques": uniques,
        "rule": dankar(uniques, fraction),
        "columns": fitted,
        "known": None,
        "notes": tuple(notes),
    }
