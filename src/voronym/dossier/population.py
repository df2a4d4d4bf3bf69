"""The risk of a release in the population behind the sample, before and after."""

# promise: doc-population

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import InputError, SchemaError
from voronym.evaluate.population import PopulationFigures
from voronym.evaluate.population.sample import Sample, assess
from voronym.evaluate.population.suda import Suda, find_uniques
from voronym.privacy import Model
from voronym.privacy.individual import weights_of
from voronym.release.evidence import Evidence
from voronym.request.recipe import Recipe
from voronym.table.classes import check_columns, equivalence_classes
from voronym.table.frame import Frame, as_frame
from voronym.table.read import read
from voronym.table.table import Table

THRESHOLD = 0.2
"""A record is at risk if the chance of a correct match is above this, as in `voronym.population_risk`."""
_WORK = 3e8
"""Largest number of records times sets of columns that are searched for special uniques."""
_SIZE = 3


@dataclass(frozen=True)
class Share:
    """The contribution of a key to singling records out.

    Parameters
    ----------
    key : str
        The key.
    score : float
        Share of the total SUDA score that comes from minimal uniques with this key.
    unique_without : int
        Records that would be unique without it.
    """

    key: str
    score: float
    unique_without: int


@dataclass(frozen=True)
class InPopulation:
    """The success of an intruder who does not know who is in the table; for the data holder.

    Parameters
    ----------
    before, after : PopulationFigures
        Figures of the originals, and of the release.
    unique : tuple of int
        Records that are unique in all keys, before and after.
    special : tuple of int
        Records that at most ``size`` of the keys single out, before and after.
    minimal : dict of int to int
        Number of keys to the number of the originals' minimal uniques of that size.
    size : int
        Most keys of a minimal unique that was looked for.
    columns : tuple of Share
        The contribution of each key to the risk of the originals, the largest first.
    bound : bool
        Whether the figures after are only upper bounds. Keys with noise cannot be looked up in a population.
        But an intruder who knows only keys cannot distinguish people with the same true keys. So matches are
        right no more often than with the original keys.
    """

    before: PopulationFigures
    after: PopulationFigures
    unique: tuple[int, int]
    special: tuple[int, int]
    minimal: dict[int, int]
    size: int
    columns: tuple[Share, ...]
    bound: bool = False


@dataclass(frozen=True)
class Outlook:
    """The public part of a release's risk in the population: sums over all of its records."""

    records: int
    population: float
    fraction: float
    basis: str
    expected: float
    interval: tuple[float, float]
    mean: float
    assumption: str


@dataclass(frozen=True)
class Drawn:
    """The source of information about the population: weights, a fraction or a table."""

    weights: str | None = None
    fraction: float | None = None
    population: str | None = None

    @classmethod
    def of(cls, recipe: Recipe) -> Drawn | None:
        """Find the source in a recipe: the population's choices first, then weights and models."""
        if recipe.population is not None:
            return cls(population=recipe.population)
        if recipe.sampling_fraction is not None:
            return cls(fraction=recipe.sampling_fraction)
        if recipe.weights is not None:
            return cls(weights=recipe.weights)
        for model in recipe.required:
            if drawn := cls._of_model(model):
                return drawn
        return None

    @classmethod
    def _of_model(cls, model: Model) -> Drawn | None:
        file, weights = (getattr(model, name, None) for name in ("population", "weights"))
        if isinstance(file, str):
            return cls(population=file)
        return cls(weights=weights) if isinstance(weights, str) else None

    def known(self, table: Table, reading: Any) -> dict[str, Any]:
        """Return the arguments that a `Sample` needs."""
        if self.population is not None:
            return {"people": _people(as_frame(read(self.population, **reading)), table)}
        if self.weights is not None:
            return {"weights": weights_of(table[self.weights])}
        return {"fraction": self.fraction}


def _people(frame: Frame, table: Table) -> Frame:
    """Convert a table of the population to the kinds of the sample: text codes stay texts."""
    check_columns(frame, table.keys, "key of the population")
    try:
        return Table.of(frame, table.schema, only=table.keys).frame
    except SchemaError:  # the comparison reports values that do not fit
        return frame


def outlook(table: Table, recipe: Recipe, ctx: Context) -> Outlook | None:
    """Return the public part: from the release alone, never from a table of the population."""
    drawn = Drawn.of(recipe)
    if drawn is None or drawn.population is not None or not recipe.makes_groups:
        return None
    if drawn.weights is not None and drawn.weights not in table.columns:
        return None
    if table.schema.person is not None and table.units is None:  # the rows are no longer assigned to people
        return None
    try:
        known = drawn.known(table, {})
    except InputError:  # a step blanked weights, or made texts of them
        return None
    result = assess(_sample(table, **known), THRESHOLD, _own(ctx))
    outcome = result.matches
    return Outlook(
        result.records,
        result.population,
        result.fraction,
        result.basis,
        outcome.expected,
        outcome.interval,
        outcome.mean,
        outcome.assumption,
    )


def in_population(recipe: Recipe, evidence: Evidence, released: Table, ctx: Context) -> InPopulation | None:
    """Compare the risk in the population before and after, with each key's contribution.

    Parameters
    ----------
    recipe : Recipe
        The recipe, which may describe the population; otherwise the result is None.
    evidence : Evidence
        The originals.
    released : Table
        The published records, in their own order.
    """
    drawn, table = Drawn.of(recipe), evidence.table
    if drawn is None:
        return None
    ctx.tell(0.0, whole=True)
    known = drawn.known(table, recipe.reading)
    back = released.rows(np.argsort(evidence.order))
    before = assess(_sample(table, **known), THRESHOLD, _own(ctx.part(0.0, 0.4)))
    after = before
    if recipe.makes_groups:
        if drawn.population is not None:
            known["original"] = table.frame
        after = assess(_sample(back, units=table, **known), THRESHOLD, _own(ctx.part(0.4, 0.6)))
    size = _affordable(table)
    special = find_uniques(table.frame, table.keys, size, None, ctx.part(0.6, 0.8))
    left = _alone(back, back.keys)
    return InPopulation(
        before.figures,
        after.figures,
        (_alone(table, table.keys), left),
        # A record that is unique in some keys is unique in all.
        (special.unique, _special(back, size, ctx.part(0.8, 0.9)) if left else 0),
        dict(special.by_size),
        size,
        _columns(table, special, ctx.part(0.9, 1.0)),
        not recipe.makes_groups,
    )


def _sample(table: Table, units: Table | None = None, **known: Any) -> Sample:
    who = table.units if units is None else units.units
    homes = None if who is None else who.household
    return Sample(table.frame, table.keys, homes=homes, persons=None if who is None else who.person, **known)


def _own(ctx: Context) -> Context:
    """Give a context a generator with a fixed seed, so that its figures do not depend on earlier work."""
    ctx.rng = np.random.default_rng(0)
    return ctx


def _affordable(table: Table) -> int:
    """Return the largest size of a minimal unique that can be searched without taking minutes."""
    d = len(table.keys)
    sizes = range(1, min(_SIZE, d) + 1)
    return max(
        (size for size in sizes if table.n * sum(comb(d, s) for s in range(1, size + 1)) <= _WORK), default=1
    )


def _alone(table: Table, keys: tuple[str, ...]) -> int:
    """Count the records with unique keys."""
    sizes: NDArray[np.int64] = equivalence_classes(table.frame, keys).sizes
    return int((sizes == 1).sum())


def _special(table: Table, size: int, ctx: Context) -> int:
    return find_uniques(table.frame, table.keys, size, None, ctx).unique


def _columns(table: Table, special: Suda, ctx: Context) -> tuple[Share, ...]:
    result = []
    for number, key in enumerate(table.keys):
        ctx.tell(number / len(table.keys), whole=True)
        rest = tuple(name for name in table.keys if name != key)
        result.append(Share(key, special.contribution[key], _alone(table, rest) if rest else 0))
    return tuple(sorted(result, key=lambda item: (-item.score, item.unique_without)))
