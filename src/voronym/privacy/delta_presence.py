"""delta-presence: no intruder can be too certain that a person of a known population is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from voronym.core.promise import meets
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import Finding, Needs, register
from voronym.privacy.k_map import population_of
from voronym.privacy.text import TextModel, number
from voronym.table.read import load
from voronym.table.table import Table


@partial(checked, texts=True)
@register("delta-presence")
@dataclass(frozen=True)
class DeltaPresence(TextModel):
    """Require that an intruder who knows the whole population is at most delta sure about membership.

    If F people of the population have some keys, and f of them are in the table, each of them is in it
    with probability f / F. For tables in which membership is the secret: patients of one clinic, debtors,
    participants of a survey.

    Parameters
    ----------
    delta : float or None
        Greatest probability, above 0 and at most 1. None only measures.
    least : float, optional
        Least probability, 0 or more: requires that nobody of the population can be ruled out, either.
    population : str, optional
        File with a table of the whole population and the same keys, coded as in the table that is measured;
        the people in the table are among them. Without it the table counts as the population, and the measure
        is 1.

    References
    ----------
    Nergiz, M. E., Atzori, M., Clifton, C.: Hiding the presence of individuals from shared databases. SIGMOD
    2007. doi:10.1145/1247480.1247554

    Examples
    --------
    >>> import polars as pl
    >>> print(DeltaPresence().measure(Table.build(pl.DataFrame({"age": [30, 40]}), keys=["age"])))
    delta-presence: 1
    """

    needs: ClassVar[Needs] = "whole"
    strength: ClassVar[int] = 1
    unasked: ClassVar[bool] = False
    delta: float | None = None
    least: float | None = None
    population: str | None = None

    def __post_init__(self) -> None:
        self._set(delta=number(self.name, "delta", self.delta, above=True))
        self._set(least=number(self.name, "least", self.least))
        if max(self.delta or 0.0, self.least or 0.0) > 1:
            raise InputError(f"{self.name}: a probability above 1 promises nothing")

    def measure(self, table: Table) -> Finding:
        """Count the people of the population, and of the table, with each combination of keys.

        The value is the largest f / F; ``detail`` has the smallest, which is 0 if somebody's keys do
        not occur in the table. If the table has more people with some keys than the population, they
        are certainly in it.
        """
        inside = table.heads
        there = inside if self.population is None else population_of(table, self.population)
        shares = np.minimum(inside / np.maximum(there, 1), 1.0)
        most, least = float(shares.max()), float(shares.min())
        people = int(inside.sum()) if self.population is None else len(load(self.population))
        outside = people - int(there.sum())
        if outside > 0:  # the table has nobody with their keys
            least = 0.0
        above = ~meets(shares, self.delta or 1.0)
        holds = not above.any() and bool(meets(least, self.least, at_most=False))
        size, many = np.unique(inside[above], return_counts=True)
        detail: dict[str, object] = {
            "records": table.n,
            "classes": len(shares),
            "classes_above": int(above.sum()),
            "population": people,
            "outside": max(outside, 0),
            "absent": int((there == 0).sum()),
            "least": least,
            "least_required": self.least,
            "keys": list(table.keys),
        }
        worst: tuple[dict[str, object], ...] = tuple(
            {"size": int(s), "classes": int(c)} for s, c in zip(size[:5], many[:5], strict=True)
        )
        about = "" if self.population is None else f"at least {least:g}"
        return Finding(self.name, most, self.required, holds, worst, detail, about)
