"""beta-likeness: no class makes a confidential value much more likely than in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from voronym.core.promise import meets
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import register
from voronym.privacy.cells import Judge, Runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.distances import ratio
from voronym.privacy.level import Floats, Levels
from voronym.privacy.text import number
from voronym.table.classes import Classes

KINDS = ("basic", "enhanced")


def gain(runs: Runs, levels: Levels) -> Floats:
    """Return the largest relative gain ``(p - q) / q`` of each cell; 0 for an empty cell."""
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    return runs.spread(np.maximum(np.maximum.reduceat(ratio(runs, levels) - 1.0, runs.start), 0.0), 0.0)


def limited_gain(runs: Runs, levels: Levels) -> Floats:
    """Return the greatest relative gain of each cell; infinite if one exceeds ``-ln q``."""
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    gains = ratio(runs, levels) - 1.0
    limit = -np.log(levels.counts[runs.level] / levels.n)
    gains = np.where(meets(gains, limit), gains, np.inf)
    return runs.spread(np.maximum(np.maximum.reduceat(gains, runs.start), 0.0), 0.0)


@partial(checked, texts=True)
@register("beta-likeness")
@dataclass(frozen=True)
class BetaLikeness(ConfidentialModel):
    """No class makes a confidential value more than 1 + beta times as likely as in the whole table.

    ``(p - q) / q <= beta``, where p is the share of a value in the class and q its share in the table. A
    value that becomes *less* likely is no disclosure here, so a class may lack values, unlike in
    delta-disclosure. Missing counts as a value.

    Parameters
    ----------
    beta : float or None
        Greatest relative gain, above 0. None only measures.
    kind : {"basic", "enhanced"}
        ``enhanced`` requires ``(p - q) / q <= min(beta, -ln q)``: this also limits frequent values, which a
        large beta would allow up to 1.
    column : str, optional
        The confidential column; by default each of them.

    Notes
    -----
    The value of a finding is the least beta that would hold. For ``enhanced`` it is infinite if a class
    exceeds ``-ln q`` for some value: then no beta holds. beta-likeness with beta limits the gain of
    delta-disclosure: ``ln p/q <= ln(1 + beta)``.

    References
    ----------
    Cao, J., Karras, P.: Publishing microdata with a robust privacy guarantee. PVLDB 5(11), 2012.
    doi:10.14778/2350229.2350255

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Table
    >>> patients = pl.DataFrame({"age": [30] * 4 + [40] * 4, "ill": list("aaabbbbb")})
    >>> table = Table.build(patients, keys=["age"], confidential=["ill"])
    >>> print(BetaLikeness(1).measure(table))
    beta-likeness: 1 (ill, basic), required 1: holds
    >>> print(BetaLikeness(1, kind="enhanced").measure(table))
    beta-likeness: infinite (ill, enhanced), required 1: does not hold
    """

    strength: ClassVar[int] = 4
    beta: float | None = None
    kind: str = "basic"
    column: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(beta=number(self.name, "beta", self.beta, above=True))
        if self.kind not in KINDS:
            raise InputError(f"{self.name}: no kind is called {self.kind!r}; there are: {', '.join(KINDS)}")

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column.

        In a merged cell the share of a value lies between its shares in the parts, and the limit
        stays. So the gain is at most the larger one, and within the limit if both parts are.
        """
        measure = limited_gain if self.kind == "enhanced" else gain
        return Judge(levels, measure, self.beta, name=self.name)

    def about(self, judge: Judge) -> str:
        """Return a few words on the value, for the printed finding."""
        return f"{judge.levels.column}, {self.kind}"

    def describe(self, judge: Judge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column as plain types."""
        out = super().describe(judge, classes, values)
        del out["mean"]  # infinite where one is
        return out | {"kind": self.kind}
