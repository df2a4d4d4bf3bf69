"""Sets, such as several diagnoses in one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym.errors import InputError
from voronym.space.metrics.base import Geometry, check_levels, from_table, metric


@metric("overlap")
@dataclass(frozen=True)
class Overlap:
    """The Jaccard distance of two sets: the share of their union that only one of them has.

    Its centroid is the set, among those of the table, with the least sum of distances.

    Parameters
    ----------
    separator : str
        What stands between the elements in a text. Blanks around an element do not count.

    Examples
    --------
    >>> Overlap(",").geometry(["flu, cough", "flu", ""], "signs").table.tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    separator: str = ";"
    name: ClassVar[str] = "overlap"

    def __post_init__(self) -> None:
        if not isinstance(self.separator, str) or not self.separator:
            raise InputError("the metric 'overlap' needs a separator, such as ';'")

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the distances between all sets."""
        check_levels(values, column, "the overlap of sets")
        sets = [self._elements(value) for value in values]
        names: dict[Any, int] = {}
        has = np.zeros((len(sets), len({e for s in sets for e in s}) or 1))
        for i, elements in enumerate(sets):
            for element in elements:
                has[i, names.setdefault(element, len(names))] = 1.0
        both = has @ has.T
        size = has.sum(axis=1)
        union = size[:, None] + size[None, :] - both
        table = 1.0 - np.divide(
            both, union, out=np.ones_like(both), where=union > 0
        )  # two empty sets are equal
        return from_table(table)

    def _elements(self, value: Any) -> frozenset[Any]:
        if isinstance(value, str):
            return frozenset(part.strip() for part in value.split(self.separator) if part.strip())
        return frozenset(value)
