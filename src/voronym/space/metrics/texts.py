"""Short texts and sets, such as names or several diagnoses in one cell, with a table of all distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym.core.validate import checked
from voronym.errors import InputError, MissingExtraError
from voronym.space.metrics.base import Array, Geometry, check_levels, from_table, metric


class Tabulated:
    """A metric that compares all distinct values with each other.

    Its centroid is the value of the table with the least sum of distances.
    """

    name: ClassVar[str]
    noun: ClassVar[str]

    def distances(self, values: list[Any], column: str) -> Array:
        """Return the distances between all values."""
        raise NotImplementedError

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the table of distances, or refuse too many values."""
        check_levels(values, column, self.noun)
        return from_table(self.distances(list(values), column))


@checked
@metric("overlap")
@dataclass(frozen=True)
class Overlap(Tabulated):
    """The Jaccard distance of two sets: the share of their union that is in only one of them.

    Parameters
    ----------
    separator : str
        The text between the elements. Blanks around an element are ignored.

    Examples
    --------
    >>> Overlap(",").geometry(["flu, cough", "flu", ""], "signs").table.tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    separator: str = ";"
    name: ClassVar[str] = "overlap"
    noun: ClassVar[str] = "the overlap of sets"

    def __post_init__(self) -> None:
        if not isinstance(self.separator, str) or not self.separator:
            raise InputError("the metric 'overlap' needs a separator, such as ';'")

    def distances(self, values: list[Any], column: str) -> Array:  # noqa: ARG002 - any value will do
        """Return the distances between all sets."""
        sets = [self._elements(value) for value in values]
        names = {element: at for at, element in enumerate(dict.fromkeys(e for item in sets for e in item))}
        has = np.zeros((len(sets), len(names) or 1))
        for i, elements in enumerate(sets):
            has[i, [names[element] for element in elements]] = 1.0
        both = has @ has.T
        size = has.sum(axis=1)
        union = size[:, None] + size[None, :] - both
        # Two empty sets are equal.
        return np.asarray(1.0 - np.divide(both, union, out=np.ones_like(both), where=union > 0))

    def _elements(self, value: Any) -> frozenset[Any]:
        if isinstance(value, str):
            return frozenset(part.strip() for part in value.split(self.separator) if part.strip())
        return frozenset(value)


@metric("edit")
@dataclass(frozen=True)
class Edit(Tabulated):
    """The number of letters to insert, delete or replace (Levenshtein). Needs the extra ``text``.

    References
    ----------
    Levenshtein, V. I.: Binary codes capable of correcting deletions, insertions, and reversals. Soviet
    Physics Doklady 10, 1966.

    Examples
    --------
    >>> Edit().geometry(["Ann", "Anna", "Joan"], "name").table.tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 4.0], [3.0, 4.0, 0.0]]
    """

    name: ClassVar[str] = "edit"
    noun: ClassVar[str] = "the edit distance"

    def distances(self, values: list[Any], column: str) -> Array:
        """Return the distances between all texts."""
        if any(not isinstance(value, str) for value in values):
            raise InputError(f"the metric 'edit' of column {column!r} needs texts; choose another metric")
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        except ImportError:
            raise MissingExtraError("edit distances need rapidfuzz: pip install 'voronym[text]'") from None
        result = cdist(values, values, scorer=Levenshtein.distance, dtype=np.int32)
        return result.astype(np.float64).reshape(len(values), len(values))
