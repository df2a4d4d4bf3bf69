"""Estimate the risk of a table in the population from which it was sampled, by all models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.evaluate.population.figures import PopulationRisk
from voronym.evaluate.population.sample import Sample, assess
from voronym.evaluate.population.suda import check_fraction
from voronym.privacy.individual import weights_of
from voronym.table.classes import check_columns, check_keys
from voronym.table.read import load
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]


@checked
def population_risk(
    table: Any,
    *,
    keys: Sequence[str],
    weights: str | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    household: str | None = None,
    person: str | None = None,
    threshold: float = 0.2,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> PopulationRisk:
    """Estimate how likely an intruder is to find a person of a survey in the population.

    An intruder who does not know who took part must find the right person of the *population* for a
    record. A person who is unique in the sample may share the keys with many people outside it.

    Parameters
    ----------
    table : DataFrame, str or Path
        The sample: pandas, Polars or PyArrow, or a file that `voronym.read` reads. Every row is a
        person, or see ``person``.
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
        The column of households.
    person : str, optional
        The column of people, if people have several rows: a person counts once in each class, and has the
        greatest risk of their rows.
    threshold : float
        Risk above which a record, or a household, counts as at risk.
    seed : int
        Seed of the combinations by which log-linear models are compared.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    PopulationRisk
        Every estimate has its assumption, an interval, and a warning if the fit is poor.

    Raises
    ------
    InputError
        Not exactly one of weights, sampling fraction and population is given, or it is invalid.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": list("aaaabbbc"), "weight": [30.0] * 8})
    >>> found = population_risk(survey, keys=["job"], weights="weight")
    >>> round(found.matches.greatest, 3), round(found.matches.expected, 2)
    (0.117, 0.21)
    """
    ctx = Context(seed=seed, progress=progress)
    given = (weights, sampling_fraction, population)
    made = find_population_risk(load(table), keys, *given, household, person, threshold, ctx)
    ctx.done()
    return made


def find_population_risk(
    frame: nw.DataFrame[Any],
    keys: Sequence[str],
    weights: str | None,
    fraction: float | None,
    population: Any,
    household: str | None,
    person: str | None,
    threshold: float,
    ctx: Context,
) -> PopulationRisk:
    """Compute `population_risk` within other work, which can be cancelled."""
    check_keys(frame, keys)
    names = tuple(keys)
    _check(names, weights, fraction, population, threshold)
    sampled = check_fraction(fraction)
    for name, role in ((weights, "weights"), (household, "household"), (person, "person")):
        if name is not None:
            check_columns(frame, [name], role)
    columns = Columns(frame)
    sample = Sample(
        frame,
        names,
        weights=None if weights is None else weights_of(columns[weights]),
        fraction=sampled,
        people=None if population is None else load(population),
        homes=None if household is None else _numbered(columns[household], "household"),
        persons=None if person is None else _numbered(columns[person], "person"),
    )
    return assess(sample, threshold, ctx)


def _check(
    keys: tuple[str, ...], weights: str | None, fraction: float | None, population: object, threshold: float
) -> None:
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


def _numbered(column: Values, what: str) -> Ints:
    gone = int(column.missing.sum())
    if gone:
        raise InputError(
            f"the {what} column {column.name!r} is missing in {gone} of {len(column)} rows; fill them in, "
            "or leave these rows out"
        )
    return np.asarray(column.codes, np.int64)
