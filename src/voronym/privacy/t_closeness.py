"""t-closeness: confidential values in every class are distributed about as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.privacy import distances
from voronym.privacy.base import register
from voronym.privacy.cells import CellJudge, Floats, Levels
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.text import column_name, number, read_options, short, write_options
from voronym.table.classes import Classes
from voronym.table.hierarchy import Given, Hierarchy

DISTANCES = ("ordered", "equal", "hierarchical", "total-variation", "kl")
_PLAIN = {
    "ordered": distances.ordered,
    "equal": distances.equal,
    "total-variation": distances.equal,
    "kl": distances.kullback_leibler,
}


@register("t-closeness")
@dataclass(frozen=True)
class TCloseness(ConfidentialModel):
    """In every class the confidential values are distributed about as in the whole table: at most t apart.

    max over classes of d(p, q) <= t, where p is the distribution of a confidential column in the class and q
    that in the table. A distance of exactly t holds.

    Parameters
    ----------
    t : float or None
        Greatest distance, from 0 to 1 (``kl``: 0 or more, in nats). None only measures.
    distance : {"ordered", "equal", "hierarchical", "total-variation", "kl"}, optional
        ``ordered``: earth mover's distance, values as far apart as their ranks among the m distinct values,
        divided by m - 1. ``equal``: earth mover's distance, all values 1 apart, which is the
        ``total-variation``. ``hierarchical``: earth mover's distance over a taxonomy. ``kl``: relative
        entropy. By default ordered for numeric, ordinal and datetime columns, equal for the others, and
        hierarchical where a taxonomy is given.
    column : str, optional
        The confidential column; by default each of them.
    taxonomy : Hierarchy, mapping, rows, str or Path, optional
        For ``hierarchical``: ancestors of each value, nearest first; or a file, see `Hierarchy.read`.

    Notes
    -----
    Missing is a value of its own. Where values are ordered it comes after the highest.

    References
    ----------
    Li, N., Li, T., Venkatasubramanian, S.: t-Closeness: privacy beyond k-anonymity and l-diversity.
    ICDE 2007.

    Examples
    --------
    The salaries of the paper, in thousands: the first class has the three lowest.

    >>> import polars as pl, narwhals as nw
    >>> from types import SimpleNamespace
    >>> table = pl.DataFrame({"zip": list("aaabbbccc"), "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10]})
    >>> roles = SimpleNamespace(keys=("zip",), confidential=("salary",))
    >>> print(TCloseness(0.2).measure(nw.from_native(table, eager_only=True), roles))
    t-closeness: 0.375 (salary, ordered distance), required 0.2: does not hold
    """

    t: float | None = None
    distance: str | None = None
    column: str | None = None
    taxonomy: Hierarchy | Given | None = None

    def __post_init__(self) -> None:
        column_name(self.name, self.column)
        object.__setattr__(self, "t", number(self.name, "t", self.t))
        if self.distance is not None and self.distance not in DISTANCES:
            raise InputError(
                f"{self.name}: no distance is called {self.distance!r}; there are: {', '.join(DISTANCES)}"
            )
        if self.taxonomy is not None:
            object.__setattr__(self, "taxonomy", Hierarchy.of(self.taxonomy))
        if (self.distance == "hierarchical") != (self.taxonomy is not None):
            if self.distance is not None:
                raise InputError(
                    f"{self.name}: the distance 'hierarchical' and a taxonomy belong together; give both"
                )
            object.__setattr__(self, "distance", "hierarchical")
        if self.t is not None and self.t > 1 and self.distance != "kl":
            raise InputError(f"{self.name}: t={self.t:g} promises nothing: this distance is never above 1")

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "t-closeness"

    @property
    def required(self) -> float | None:
        """The t that was asked for."""
        return self.t

    def distance_of(self, levels: Levels) -> str:
        """Return the distance that is used for a column."""
        return self.distance or ("ordered" if levels.ordered else "equal")

    def judge(self, levels: Levels) -> CellJudge:
        """Return what measures the cells of a partition of one column."""
        if isinstance(self.taxonomy, Hierarchy):
            tree = _ancestors(self.taxonomy, levels)
            measure: Any = partial(distances.hierarchical, ancestors=tree)
        else:
            measure = _PLAIN[self.distance_of(levels)]
        return CellJudge(levels, measure, self.t, name=self.name)

    def about(self, judge: CellJudge) -> str:
        """Return a few words on what the value is, for the printed finding."""
        return f"{judge.levels.column}, {self.distance_of(judge.levels)} distance"

    def describe(self, judge: CellJudge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column, JSON-able."""
        return super().describe(judge, classes, values) | {"distance": self.distance_of(judge.levels)}

    def __str__(self) -> str:
        shown = self.distance if self.taxonomy is None else None
        return write_options(
            self.name,
            None if self.t is None else short(self.t),
            distance=shown,
            taxonomy=self.taxonomy,
            column=self.column,
        )

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text behind ``t-closeness=``, such as ``0.2,distance=equal``."""
        value, options = read_options("t-closeness", text, ["distance", "taxonomy", "column"])
        return cls(value, **options)  # type: ignore[arg-type]


def _ancestors(tree: Hierarchy, levels: Levels) -> NDArray[np.int64]:
    """Return the node above each level of a column, a row per height; missing is a branch of its own."""
    values = levels.values[:-1] if levels.missing else levels.values
    hint = ", or name the column that the hierarchy is for: column=NAME"
    nodes = tree.nodes(values, levels.column, counts=levels.counts, hint=hint)
    if not levels.missing:
        return nodes
    alone = nodes.max(axis=1, initial=-1, keepdims=True) + 1
    return np.concatenate([nodes, alone], axis=1)
