"""Categories that are redrawn at random."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.options import number, option, yes_or_no
from voronym.errors import InputError
from voronym.steps import picked
from voronym.steps.base import ColumnStep, Made, list_option, step
from voronym.steps.within import strata_rows
from voronym.table.table import Table

randomised = later.called("voronym.channel.pram", "pram")  # few steps need a room of its own

Floats = NDArray[np.float64]


def _path(_: str, value: object) -> str:
    return str(value)


@step("pram", guarantee="every value is drawn again with the given chances; expected shares stay the same, "
      "unless a matrix changes them", main="chance", needed=False, random=True)  # fmt: skip
@dataclass(frozen=True)
class Pram(ColumnStep):
    """Redraw categories, with a chance for all or by a matrix of chances.

    Notes
    -----
    With a chance p the matrix is ``(1 - p) I + p 1 q'`` with q the shares of the categories, so ``q' P =
    q'``: no correction is needed for the shares of one column. A published category is the person's own with
    chance ``1 - p + p q``. A matrix of your own P is read from a file; with ``invariant=true`` it is followed
    by its reverse, ``R[l, k] = P[k, l] q[k] / (q' P)[l]``, so that ``q' P R = q'``. With ``by`` shares are
    those of each stratum. For rules of the least risk see `voronym.channel.pram`.

    References
    ----------
    P. P. de Wolf, J. M. Gouweleeuw, P. Kooiman and L. Willenborg: Reflections on PRAM, Statistical Data
    Protection (1998).
    """

    chance: float | None = option(None, "the chance, from 0 to 1", check=number(0.0, 1.0, above=0.0))
    matrix: str | None = option(
        None, "a file of chances: first a line of values, then for each value a line that begins with it",
        check=_path,
    )  # fmt: skip
    invariant: bool = option(False, "whether the matrix is adjusted so that it keeps shares", check=yes_or_no)
    by: tuple[str, ...] = list_option("columns within whose values shares are kept")

    def check(self) -> None:
        """Refuse a chance together with a matrix, neither of them, and matrix options without a matrix."""
        if (self.chance is None) == (self.matrix is None):
            raise InputError(f"step '{self}': give either a chance, such as pram job=0.2, or matrix=FILE")
        if self.invariant and self.matrix is None:
            raise InputError(f"step '{self}': a chance keeps shares anyway: invariant goes with a matrix")

    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns with redrawn values."""
        made = {}
        for name in self.columns:
            codes = table.codes(name).copy()
            levels = [str(level) for level in table.levels(name)]
            given = None if self.matrix is None else self._read(name, levels)
            for rows in strata_rows(table, self.by):
                here = rows[codes[rows] >= 0]
                if not len(here):
                    continue
                shares = np.bincount(codes[here], minlength=len(levels)) / len(here)
                if given is None:
                    p = float(self.chance)  # type: ignore[arg-type]
                    matrix = (1.0 - p) * np.eye(len(shares)) + p * shares[None, :]
                else:
                    matrix = invariant(given, shares) if self.invariant else given
                codes[here] = randomised(codes[here], matrix=matrix, seed=rng).codes
            made[name] = picked.of_codes(table, name, codes)
        return made

    def _read(self, name: str, levels: list[str]) -> Floats:
        """Read the matrix of chances, in the order of a column's values."""
        path = Path(str(self.matrix))
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"step '{self}': the matrix {path} cannot be read") from None
        mark = ";" if text.partition("\n")[0].count(";") else ","
        lines = [line for line in csv.reader(text.splitlines(), delimiter=mark) if line]
        head = [] if not lines else [item.strip() for item in lines[0] if item.strip()]
        try:
            rows = {line[0].strip(): [float(entry) for entry in line[1:]] for line in lines[1:]}
            result = np.array([[rows[a][head.index(b)] for b in levels] for a in levels])
        except (KeyError, ValueError, IndexError):
            raise InputError(
                f"step '{self}': the matrix {path} needs a line of values, and a line of chances for each "
                f"of them, for all values of {name!r}: {', '.join(levels[:8])}"
            ) from None
        if (result < 0.0).any() or (np.abs(result.sum(axis=1) - 1.0) > 1e-6).any():
            raise InputError(
                f"step '{self}': chances must be 0 or more, and for every value of {name!r} they must add up "
                "to 1 over the values of the column"
            )
        return np.asarray(result / result.sum(axis=1, keepdims=True))

    @property
    def by_row(self) -> bool:
        """Whether the chances are given, and not made of the shares of categories."""
        return self.matrix is not None and not self.invariant

    def asks(self) -> tuple[str, ...]:
        """Return the columns of the strata."""
        return self.by

    def says(self) -> str:
        """Describe the step."""
        how = f"with a chance of {self.chance:g}" if self.matrix is None else "by a matrix of chances"
        kept = ", made to keep shares" if self.invariant else ""
        where = f" within each {', '.join(self.by)}" if self.by else ""
        return f"{', '.join(self.columns)}: redrawn {how}{kept}{where}"


def invariant(matrix: Floats, shares: Floats) -> Floats:
    """Return transition probabilities that keep the expected shares: the matrix, then its Bayes inverse.

    Examples
    --------
    >>> P = invariant(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.8, 0.2]))
    >>> (np.array([0.8, 0.2]) @ P).round(12).tolist()
    [0.8, 0.2]
    """
    after = shares @ matrix
    back = np.divide((matrix * shares[:, None]).T, after[:, None], where=after[:, None] > 0.0,
                     out=np.zeros_like(matrix))  # fmt: skip
    back[after <= 0.0] = np.eye(len(shares))[after <= 0.0]
    return np.asarray(matrix @ back)
