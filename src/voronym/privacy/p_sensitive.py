"""p-sensitivity: every class has at least p different confidential values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from voronym._kernels import verdict
from voronym.core.validate import checked
from voronym.privacy.base import register
from voronym.privacy.cells import Judge, Rule, Runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.level import Floats, Levels
from voronym.privacy.text import whole


def distinct(runs: Runs, levels: Levels) -> Floats:
    """Return the number of distinct levels of each cell; infinite for an empty cell."""
    del levels
    ends = np.diff(runs.start, append=len(runs.cell))
    return runs.spread(ends, np.inf)


@partial(checked, texts=True)
@register("p-sensitive")
@dataclass(frozen=True)
class PSensitive(ConfidentialModel):
    """Every class has at least p different values of each confidential column.

    Together with k-anonymity this is p-sensitive k-anonymity. It does not limit frequencies: 99 of 100
    records may share one value. Missing counts as a value.

    Parameters
    ----------
    p : int or None
        Least number of different values, 2 or more. None only measures.
    column : str, optional
        The confidential column; by default each of them.

    References
    ----------
    Truta, T.M., Vinay, B.: Privacy protection: p-sensitive k-anonymity property. ICDE Workshops, 2006.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Table
    >>> patients = pl.DataFrame({"age": [30, 30, 40, 40], "ill": list("abcc")})
    >>> print(PSensitive(2).measure(Table.build(patients, keys=["age"], confidential=["ill"])))
    p-sensitive: 1 (ill), required 2: does not hold
    """

    strength: ClassVar[int] = 1
    knows: ClassVar[bool] = True
    p: int | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(p=whole(self.name, "p", self.p, least=2))

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column."""
        rule = Rule(verdict.DISTINCT, self.required or 0.0)
        return Judge(levels, distinct, self.required, at_most=False, name=self.name, rule=rule)
