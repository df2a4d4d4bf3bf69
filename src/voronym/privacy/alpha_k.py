"""(alpha, k)-anonymity: no confidential value has more than a share alpha of any class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import register
from voronym.privacy.cells import Judge, Runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.level import Floats, Levels
from voronym.privacy.text import number


def greatest_share(runs: Runs, levels: Levels) -> Floats:
    """Return the share of the most frequent level in each cell; 0 for an empty cell."""
    del levels
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    return runs.spread(np.maximum.reduceat(runs.count, runs.start) / runs.sizes[runs.occupied], 0.0)


@partial(checked, texts=True)
@register("alpha-k")
@dataclass(frozen=True)
class AlphaK(ConfidentialModel):
    """Require that no value of a confidential column has more than a share alpha of any class.

    Together with k-anonymity this is (alpha, k)-anonymity, with every value of the column sensitive. It
    limits the certainty of an intruder who finds a class. Missing counts as a value.

    Parameters
    ----------
    alpha : float or None
        Greatest share, above 0 and at most 1. It cannot be below the share of the most frequent value in the
        whole table. None only measures.
    column : str, optional
        The confidential column; by default each of them.

    References
    ----------
    Wong, R. C.-W., Li, J., Fu, A. W.-C., Wang, K.: (alpha, k)-anonymity: an enhanced k-anonymity model for
    privacy preserving data publishing. KDD 2006. doi:10.1145/1150402.1150499

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Table
    >>> patients = pl.DataFrame({"age": [30] * 4 + [40] * 4, "ill": list("aaabbbcc")})
    >>> print(AlphaK(0.5).measure(Table.build(patients, keys=["age"], confidential=["ill"])))
    alpha-k: 0.75 (ill), required 0.5: does not hold
    """

    strength: ClassVar[int] = 2
    knows: ClassVar[bool] = True
    alpha: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(alpha=number(self.name, "alpha", self.alpha, above=True))
        if self.alpha is not None and self.alpha > 1:
            raise InputError(f"{self.name}: alpha={self.alpha:g} promises nothing: no share is above 1")

    def judge(self, levels: Levels) -> Judge:
        """Return the function that measures the cells of a partition of one column.

        A merged cell has at most the sum of the counts of its parts, so its share is at most the larger of
        both.
        """
        return Judge(levels, greatest_share, self.alpha, name=self.name)
