"""Categories drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.channel.pram import pram as randomised
from voronym.core.options import number, option
from voronym.steps import picked
from voronym.steps.base import ColumnStep, Made, step
from voronym.table.table import Table


@step("pram", guarantee="every value is drawn anew with the given chance; shares are kept in expectation",
      main="chance", random=True)  # fmt: skip
@dataclass(frozen=True)
class Pram(ColumnStep):
    """Draw categories anew with some chance, each as often as it is in the table.

    Notes
    -----
    The matrix is ``(1 - p) I + p 1 q'`` with q the shares of the categories, so ``q' P = q'``: no correction
    is needed for the shares of one column. Somebody's published category is their own with chance
    ``1 - p + p q``. For rules of the least risk see `voronym.channel.pram`.
    """

    chance: float | None = option(None, "the chance, from 0 to 1", check=number(0.0, 1.0, above=0.0))

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with values drawn anew."""
        made = {}
        for name in self.columns:
            codes = table.codes(name).copy()
            here = codes >= 0
            if here.any():
                shares = np.bincount(codes[here]) / here.sum()
                p = float(self.chance)  # type: ignore[arg-type]
                matrix = (1.0 - p) * np.eye(len(shares)) + p * shares[None, :]
                codes[here] = randomised(codes[here], matrix=matrix, seed=rng).codes
            made[name] = picked.of_codes(table, name, codes)
        return made

    def says(self) -> str:
        """Return what it does."""
        return f"{', '.join(self.columns)}: drawn anew with a chance of {self.chance:g}"
