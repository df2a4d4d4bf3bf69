"""Names and other short texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voronym.errors import InputError, MissingExtraError
from voronym.space.metrics.base import Geometry, check_levels, from_table, metric


@metric("edit")
@dataclass(frozen=True)
class Edit:
    """The number of letters to insert, delete or replace (Levenshtein). Needs the extra ``text``.

    Its centroid is the text, among those of the table, with the least sum of distances.

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

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the distances between all texts."""
        check_levels(values, column, "the edit distance")
        if any(not isinstance(value, str) for value in values):
            raise InputError(f"the metric 'edit' of column {column!r} needs texts; choose another metric")
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        except ImportError:
            raise MissingExtraError("edit distances need rapidfuzz: pip install 'voronym[text]'") from None
        found = cdist(list(values), list(values), scorer=Levenshtein.distance, dtype=np.int32)
        return from_table(found.astype(np.float64).reshape(len(values), len(values)))
