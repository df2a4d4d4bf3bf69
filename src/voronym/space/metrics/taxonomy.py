"""Categories: without structure, or in a hierarchy such as diagnoses in chapters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from voronym._kernels.mixed import DISCRETE, TREE
from voronym.errors import InputError
from voronym.generalize.hierarchy import Given, Hierarchy
from voronym.space.metrics.base import Geometry, metric


@metric("nominal")
@dataclass(frozen=True)
class Nominal:
    """0 between equal values, 1 between different ones. Its centroid is the most frequent value."""

    name: ClassVar[str] = "nominal"

    def geometry(self, values: Any, column: str) -> Geometry:  # noqa: ARG002 - any value will do
        """Return one point per value, all at distance 1."""
        return Geometry(DISCRETE, np.empty((len(values), 0)), 1.0)


@metric("taxonomy")
@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The steps to the nearest common ancestor, as a share of the height: 0 for equal values, up to 1.

    It is an ultrametric: values within a radius of each other form a subtree. Its centroid is the value
    of the cell with the least sum of distances.

    Parameters
    ----------
    hierarchy : Hierarchy, mapping, rows or path
        The tree; a mapping goes from a value to its ancestors; for files see `Hierarchy.read`.
    unseen : {"refuse", "root"}
        Treatment of values that the hierarchy lacks: refuse the column, or attach each directly to the root,
        at distance 1 from all others.

    Examples
    --------
    >>> from voronym.space.metrics import pairwise
    >>> import numpy as np
    >>> tree = {"flu": ("lung", "*"), "asthma": ("lung", "*"), "stroke": ("brain", "*")}
    >>> made = Taxonomy(tree).geometry(["asthma", "flu", "stroke"], "diagnosis")
    >>> pairwise(made, np.arange(3)[:, None], np.arange(3)).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    hierarchy: Hierarchy | Given
    unseen: Literal["refuse", "root"] = "refuse"
    name: ClassVar[str] = "taxonomy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchy", Hierarchy.of(self.hierarchy))
        if not isinstance(self.unseen, str) or self.unseen not in ("refuse", "root"):
            raise InputError(f"unseen is 'refuse' or 'root', not {self.unseen!r}")

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the ancestors of each value as numbers."""
        tree = Hierarchy.of(self.hierarchy)
        hint = ", or set unseen='root', which hangs them below the root"
        nodes = tree.nodes(values, column, hang=self.unseen == "root", hint=hint)
        strange = sum(str(value) not in tree for value in values)
        notes: tuple[str, ...] = ()
        if strange:
            notes = (
                f"{strange} distinct values of {column!r} are not in its hierarchy: they hang below the root",
            )
        coords = np.zeros((len(values), tree.height + 1))  # the last is the root, the same for all
        coords[:, :-1] = nodes.T
        return Geometry(TREE, coords, 1.0, float(tree.height), notes=notes)
