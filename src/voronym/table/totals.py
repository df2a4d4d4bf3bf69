"""Facts about the whole data set, for a table that is a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.table.encoders.levels import KnownLevels

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Totals:
    """Figures over all parts of a data set, for judging the records of one part.

    Parameters
    ----------
    rows : int
        Number of records; for people, who count once for each distinct value, the number of such pairs.
    codec : Codec
        The codec of all keys.
    levels : mapping
        The levels of the confidential columns, and how many records have each.
    strata : mapping
        For the values of each stratum, the number of its records with each level of each column, missing
        last.
    stratum : tuple, optional
        The stratum of the records, if they are judged within it.
    """

    rows: int
    codec: Any
    levels: Mapping[str, KnownLevels] = field(default_factory=dict)
    strata: Mapping[tuple[Any, ...], Mapping[str, Ints]] = field(default_factory=dict)
    stratum: tuple[Any, ...] | None = None

    def within(self, stratum: tuple[Any, ...]) -> Totals:
        """Return the same for the records of a stratum."""
        return replace(self, stratum=stratum) if self.strata else self

    def counts(self, name: str) -> Ints:
        """Return the number of records with each level of a column; missing last, if it occurs."""
        known = self.levels[name]
        if self.stratum is not None:
            counted = self.strata[self.stratum][name]
            return counted if known.has_missing else counted[: len(known.values)]
        return np.append(known.counts, known.missing) if known.has_missing else known.counts
