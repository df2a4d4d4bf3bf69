"""p-sensitivity: every class has at least p different confidential values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from voronym.privacy.base import register
from voronym.privacy.cells import CellJudge, Floats, Levels, Runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.text import column_name, read_options, whole, write_options


def distinct(runs: Runs, levels: Levels) -> Floats:
    """Return the number of different levels of each cell; infinite for an empty one."""
    del levels
    ends = np.diff(runs.start, append=len(runs.cell))
    return runs.spread(ends, np.inf)


@register("p-sensitive")
@dataclass(frozen=True)
class PSensitive(ConfidentialModel):
    """Every class has at least p different values of each confidential column.

    Together with k-anonymity this is p-sensitive k-anonymity. It says nothing about how often the values
    occur: 99 of 100 records may share one. Missing counts as a value.

    Parameters
    ----------
    p : int or None
        Least number of different values, 2 or more. None measures without asking for anything.
    column : str, optional
        The confidential column; by default each of them.

    References
    ----------
    Truta, T.M., Vinay, B.: Privacy protection: p-sensitive k-anonymity property. ICDE Workshops, 2006.

    Examples
    --------
    >>> import polars as pl, narwhals as nw
    >>> from types import SimpleNamespace
    >>> table = nw.from_native(pl.DataFrame({"age": [30, 30, 40, 40], "ill": list("abcc")}), eager_only=True)
    >>> roles = SimpleNamespace(keys=("age",), confidential=("ill",))
    >>> print(PSensitive(2).measure(table, roles))
    p-sensitive: 1 (ill), required 2: does not hold
    """

    p: int | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        column_name(self.name, self.column)
        object.__setattr__(self, "p", whole(self.name, "p", self.p, least=2))

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "p-sensitive"

    @property
    def required(self) -> float | None:
        """The p that was asked for."""
        return None if self.p is None else float(self.p)

    def judge(self, levels: Levels) -> CellJudge:
        """Return what measures the cells of a partition of one column."""
        return CellJudge(levels, distinct, self.required, at_most=False, name=self.name)

    def __str__(self) -> str:
        return write_options(self.name, None if self.p is None else str(self.p), column=self.column)

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text behind ``p-sensitive=``, such as ``3`` or ``3,column=disease``."""
        value, options = read_options("p-sensitive", text, ["column"])
        return cls(value, **options)  # type: ignore[arg-type]
