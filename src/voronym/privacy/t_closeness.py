"""t-closeness: confidential values in every class are distributed about as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import verdict
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.generalize.hierarchy import Given, Hierarchy
from voronym.privacy import distances
from voronym.privacy.base import register
from voronym.privacy.cells import Judge, Rule
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.level import Floats, Levels
from voronym.privacy.text import number
from voronym.table.classes import Classes

DISTANCES = ("ordered", "equal", "hierarchical", "total-variation", "kl")
_PLAIN = {
    "ordered": (distances.ordered, verdict.ORDERED),
    "equal": (distances.equal, verdict.EQUAL),
    "total-variation": (distances.equal, verdict.EQUAL),
    "kl": (distances.kullback_leibler, verdict.KL),
}


@partial(checked, texts=True)
@register("t-closeness")
@dataclass(frozen=True)
class TCloseness(ConfidentialModel):
    """Require that confidential values are distributed in every class as in the table: at most t apart.

    max over classes of d(p, q) <= t, where p is the distribution of a confidential column in the class
    and q that in the table. A distance of exactly t is accepted.

    Parameters
    ----------
    t : float or None
        Greatest distance, from 0 to 1 (``kl``: 0 or more, in nats). None only measures.
    distance : {"ordered", "equal", "hierarchical", "total-variation", "kl"}, optional
        ``ordered``: earth mover's distance, values as far apart as their ranks among the m distinct values,
        divided by m - 1. ``equal``: earth mover's distance, all values 1 apart, which is the
        ``total-variation``. ``hierarchical``: earth mover's distance over a taxonomy. ``kl``: relative
        entropy. By default ordered for numeric, ordinal and datetime columns, equal for the others, and
        hierarchical if a taxonomy is given.
    column : str, optional
        The confidential column; by default each of them.
    taxonomy : Hierarchy, mapping, rows, str or Path, optional
        For ``hierarchical``: ancestors of each value, nearest first; or a file, see `Hierarchy.read`.

    Notes
    -----
    Missing is a value of its own; in an order it comes after the highest value.

    References
    ----------
    Li, N., Li, T., Venkatasubramanian, S.: t-Closeness: privacy beyond k-anonymity and l-diversity.
    ICDE 2007.

    Examples
    --------
    The salaries of the paper, in thousands: the first class has the three lowest.

    >>> import polars as pl
    >>> from voronym.table import Table
    >>> people = pl.DataFrame({"zip": list("aaabbbccc"), "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
    >>> print(TCloseness(0.2).measure(Table.build(people, keys=["zip"], confidential=["salary"])))
    t-closeness: 0.375 (salary, ordered distance), required 0.2: does not hold
    """

    strength: ClassVar[int] = 3
    t: float | None = None
    distance: str | None = None
    column: str | None = None
    taxonomy: Hierarchy | Given | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(t=number(self.name, "t", self.t))
        if self.distance is not None and self.distance not in DISTANCES:
            raise InputError(
                f"{self.name}: no distance is called {self.distance!r}; there are: {', '.join(DISTANCES)}"
            )
        if self.taxonomy is not None:
            self._set(taxonomy=Hierarchy.of(self.taxonomy))
        if (self.distance == "hierarchical") != (self.taxonomy is not None):
            if self.distance is not None:
                raise InputError(
                    f"{self.name}: the distance 'hierarchical' and a taxonomy belong together; give both"
                )
            self._set(distance="hierarchical")
        if self.t is not None and self.t > 1 and self.distance != "kl":
            raise InputError(f"{self.name}: t={self.t:g} promises nothing: this distance is never above 1")

    def distance_of(self, levels: Levels) -> str:
        """Return the distance for a column."""
        return self.distance or ("ordered" if levels.ordered else "equal")

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column."""
        if isinstance(self.taxonomy, Hierarchy):
            tree = _ancestors(self.taxonomy, levels)
            return Judge(levels, partial(distances.hierarchical, ancestors=tree), self.t, name=self.name)
        measure, kind = _PLAIN[self.distance_of(levels)]
        if kind == verdict.ORDERED and levels.size == 2:
            kind = verdict.EQUAL  # the same figure, and quicker
        return Judge(levels, measure, self.t, name=self.name, rule=Rule(kind, self.required or 0.0))

    def about(self, judge: Judge) -> str:
        """Return a few words on the value, for the printed finding."""
        return f"{judge.levels.column}, {self.distance_of(judge.levels)} distance"

    def describe(self, judge: Judge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column as plain types."""
        return super().describe(judge, classes, values) | {"distance": self.distance_of(judge.levels)}

    def options(self) -> dict[str, object]:
        """Return the non-default options, without the distance that a taxonomy implies."""
        given = super().options()
        return {name: given[name] for name in given if name != "distance" or self.taxonomy is None}


def _ancestors(tree: Hierarchy, levels: Levels) -> NDArray[np.int64]:
    """Return the ancestor of each level at each height, a row per height; missing is a separate branch."""
    values = levels.values[:-1] if levels.missing else levels.values
    hint = ", or name the column that the hierarchy is for: column=NAME"
    nodes = tree.nodes(values, levels.column, counts=levels.counts, hint=hint)
    if not levels.missing:
        return nodes
    alone = nodes.max(axis=1, initial=-1, keepdims=True) + 1
    return np.concatenate([nodes, alone], axis=1)
