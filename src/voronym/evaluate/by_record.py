"""Risk of every single record, as a table for the house, and the columns to recode first.

These figures are about single people: they belong to the holder of the originals, and never into a release.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.atomic import placed
from voronym.core.context import Context
from voronym.core.grammar import listed, quoted
from voronym.core.percent import percent
from voronym.core.validate import checked
from voronym.errors import InputError, WriteError, hint, worded
from voronym.evaluate.population.front import find_population_risk
from voronym.evaluate.population.suda import Suda, find_uniques
from voronym.privacy.individual import household_risk
from voronym.table.classes import check_columns, check_keys, equivalence_classes
from voronym.table.frame import NUMBERS
from voronym.table.read import load
from voronym.table.values import Columns, Values

Ints = NDArray[np.int64]
RARE = 0.05
"""A category with a smaller share of the records is rare, and is merged with other rare ones."""
MOSTLY = 0.5
"""Largest share of the records that merged rare categories may have together."""
CODES = re.compile(r"[A-Z]*[0-9][0-9A-Z]*")
"""Codes whose first characters name a larger unit, such as postcodes."""
RANGES = 10
"""Approximate number of ranges to which numbers are rounded."""


@checked
def risk_by_record(
    table: Any,
    *,
    keys: Sequence[str],
    weights: str | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    household: str | None = None,
    person: str | None = None,
    suda: int = 3,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the risk of every record of a table, row by row as the table.

    Parameters
    ----------
    table : DataFrame, str or Path
        The originals, or a release.
    keys : sequence of str
        Columns that an intruder may know.
    weights, sampling_fraction, population : optional
        Facts about the population, as for `voronym.population_risk`: without one of them there is no
        individual risk.
    household, person : str, optional
        The columns of households and people. Classes are counted in these units, too.
    suda : int
        Most columns of a minimal sample unique.
    seed : int
        For the estimates.

    Returns
    -------
    polars DataFrame
        ``row`` (from 1), ``class_size``, ``class_people`` and ``class_households`` if they are declared,
        ``unique``, ``suda_score`` and the ``suda_column`` that adds most to it; with weights, a sampling
        fraction or a population ``individual_risk``, with households ``household_risk``; with a sampling
        fraction ``dis_suda``. Not for publication.

    Examples
    --------
    >>> people = pl.DataFrame({"job": list("aab"), "sex": list("fff"), "weight": [9.0, 9.0, 9.0]})
    >>> risk_by_record(people, keys=["job", "sex"], weights="weight", suda=2)["class_size"].to_list()
    [2, 2, 1]
    """
    frame = load(table)
    check_keys(frame, keys)
    columns = Columns(frame)
    classes = equivalence_classes(frame, keys)
    sizes = classes.sizes[classes.labels]
    out: dict[str, Any] = {"row": np.arange(1, len(frame) + 1), "class_size": sizes}
    units = {}
    for name, what in ((person, "people"), (household, "households")):
        if name is not None:
            check_columns(frame, [name], what)
            units[what] = columns[name].codes
            pairs = np.unique(np.column_stack([classes.labels, units[what]]), axis=0)[:, 0]
            out[f"class_{what}"] = np.bincount(pairs, minlength=len(classes.sizes))[classes.labels]
    out["unique"] = sizes == 1
    ctx = Context(seed=seed)
    if any(item is not None for item in (weights, sampling_fraction, population)):
        population_risk = find_population_risk(
            frame, keys, weights, sampling_fraction, population, household, person, 0.2, ctx
        )
        risks = population_risk.risks
        if person is not None:  # a risk for each person, in the order of their numbers
            risks = risks[np.unique(units["people"], return_inverse=True)[1].reshape(-1)]
        out["individual_risk"] = risks
        if household is not None:
            own = np.unique(units["households"], return_inverse=True)[1].reshape(-1)
            first = np.arange(len(frame))
            if person is not None:
                first = np.unique(units["people"], return_index=True)[1]
            each = np.unique(own[first], return_inverse=True)[1].reshape(-1)
            out["household_risk"] = household_risk(risks[first], each)[own]
    special = find_uniques(frame, keys, min(suda, len(keys)), sampling_fraction, ctx)
    out["suda_score"] = special.scores
    first_column = np.array([*special.keys, None], dtype=object)
    most = np.where(special.scores > 0.0, special.shares.argmax(axis=1), -1)
    out["suda_column"] = first_column[most].tolist()
    if special.risks is not None:
        out["dis_suda"] = special.risks
    return pl.DataFrame(out)


@dataclass(frozen=True)
class Proposal:
    """A recoding that makes fewer records unique.

    Parameters
    ----------
    column : str
        The column that is recoded.
    share : float
        Share of the SUDA score that comes from minimal uniques with it.
    step : str
        The step to paste.
    before, after : int
        Records unique on all keys.
    """

    column: str
    share: float
    step: str
    before: int
    after: int

    def __str__(self) -> str:
        return worded(
            f"recode {self.column} first ({percent(self.share)} of the score): {hint('steps', self.step)} "
            f"leaves {self.after:,} of {self.before:,} unique records"
        )


def propose_recodings(table: Any, suda: Suda, most: int = 3) -> tuple[Proposal, ...]:
    """Return recodings of the columns that contribute most to the SUDA scores, the best first.

    Categories below 5 % of the records are merged, unless they hold most records; then codes lose their
    last characters. Numbers are rounded down to about ten values.
    """
    frame = load(table)
    columns = Columns(frame)
    codes = {name: columns[name].codes for name in suda.keys}
    before = _alone(list(codes.values()))
    out = []
    for name, share in sorted(suda.contribution.items(), key=lambda item: -item[1])[:most]:
        made = _recoded(columns, name)
        if share <= 0.0 or made is None:
            continue
        step, new = made
        after = _alone([new if other == name else own for other, own in codes.items()])
        if after < before:
            out.append(Proposal(name, float(share), step, before, after))
    return tuple(sorted(out, key=lambda entry: entry.after))


def _alone(codes: Sequence[Ints]) -> int:
    """Count the records with unique codes."""
    return int((np.unique(np.column_stack(codes), axis=0, return_counts=True)[1] == 1).sum())


def _recoded(columns: Columns, name: str) -> tuple[str, Ints] | None:
    """Return a step for a column, and its codes afterwards."""
    values = columns[name]
    here = values.codes >= 0
    if not here.any():
        return None
    if values.form in NUMBERS and len(values.levels) > 2 * RANGES:
        numbers = values.numbers.astype(np.float64)
        wide = (float(numbers.max()) - float(numbers.min())) / RANGES
        power = 10.0 ** np.floor(np.log10(wide))
        width = float(next(m * power for m in (1, 2, 5, 10) if m * power >= wide * (1 - 1e-9)))
        new = values.codes.copy()
        new[here] = np.unique(np.floor(numbers / width), return_inverse=True)[1].reshape(-1)
        return f"round {quoted(name)}={width:g} how=down", new
    counts = np.bincount(values.codes[here], minlength=len(values.levels))
    rare = np.flatnonzero(counts < RARE * here.sum())
    if len(rare) < 2:
        return None
    if counts[rare].sum() > MOSTLY * here.sum():  # one category for most records would be useless
        return _cut(values, name)
    new = np.where(np.isin(values.codes, rare), rare[0], values.codes)
    names = listed([str(values.levels[at]) for at in rare.tolist()])
    return f"recode {quoted(name)} values={names} to=other", new


def _cut(values: Values, name: str) -> tuple[str, Ints] | None:
    """Return a step that shortens codes until at most ten are left; None for other texts."""
    levels = [str(level) for level in values.levels]
    if values.form not in ("string", "category") or not all(map(CODES.fullmatch, levels)):
        return None
    for level in range(1, max(map(len, levels))):
        heads = [text[:-level] + "*" * min(level, len(text)) for text in levels]
        if 1 < len(set(heads)) <= RANGES:
            order = np.unique(heads, return_inverse=True)[1].reshape(-1)
            return f"recode {quoted(name)} level={level}", np.where(
                values.codes >= 0, order[values.codes], -1
            )
    return None


def write_by_record(table: pl.DataFrame, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the risks of single records to a CSV file that only its owner can read."""
    target = Path(path)
    if target.suffix.lower() != ".csv":
        raise InputError(f"{target}: risks of single records are written as CSV, such as risk.csv")
    if target.exists() and not overwrite:
        raise WriteError(f"{target} exists already: choose another name, or say {hint('overwrite')}")
    try:
        with placed(target, private=True) as temporary:
            table.write_csv(temporary)
    except OSError as error:
        raise WriteError(f"cannot write {target}: {error.strerror}") from None


__all__ = ["Proposal", "propose_recodings", "risk_by_record", "write_by_record"]
