"""k-anonymity: every record shares its keys with at least k - 1 others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.privacy.base import Finding, Needs, register
from voronym.privacy.text import TextModel, whole
from voronym.table.table import Table

_WORST = 5


@register("k-anonymity")
@dataclass(frozen=True)
class KAnonymity(TextModel):
    """Every combination of keys in the table belongs to at least k records.

    If people or households are declared, k counts these: a person with five rows counts once.

    Missing keys are a value of their own and no row is dropped (see `voronym.table.classes`).

    Parameters
    ----------
    k : int or None
        Least number of records, 2 or more. None only measures.

    References
    ----------
    Samarati, P.: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.
    doi:10.1109/69.971193

    Examples
    --------
    >>> import polars as pl
    >>> patients = pl.DataFrame({"age": [30, 30, 40], "zip": ["08", "08", None]})
    >>> finding = KAnonymity(2).measure(Table.build(patients, keys=["age", "zip"]))
    >>> print(finding)
    k-anonymity: 1, required 2: does not hold
    >>> finding.worst
    ({'size': 1, 'classes': 1, 'records': 1},)
    """

    needs: ClassVar[Needs] = "sizes"
    strength: ClassVar[int] = 0
    k: int | None = None

    @property
    def group_size(self) -> int | None:  # type: ignore[override]
        """The group size that it requires."""
        return self.k

    def __post_init__(self) -> None:
        if isinstance(self.k, str):  # only `parse` reads texts
            raise InputError(f"k must be a whole number of 2 or more, not {self.k!r}")
        self._set(k=whole(self.name, "k", self.k, least=2))

    def measure(self, table: Table) -> Finding:
        """Count the records behind each combination of keys.

        ``worst`` lists the smallest sizes below k with their number of classes and records; without a
        requirement, the smallest size of all. Time O(n) per key.
        """
        counted = None if table.units is None else table.units.counted
        size, many = np.unique(table.heads, return_counts=True)
        return self.of_sizes(size, many, int(table.classes.sizes.sum()), table.keys, counted)

    def of_sizes(
        self,
        size: NDArray[np.int64],
        many: NDArray[np.int64],
        records: int,
        keys: Sequence[str],
        counted: str | None = None,
    ) -> Finding:
        """Return the finding from the number of classes of each size, the smallest size first."""
        result = int(size[0])
        below = size < self.k if self.k is not None else size == result
        worst: tuple[dict[str, object], ...] = tuple(
            {"size": int(s), "classes": int(c), "records": int(s * c)}
            for s, c in zip(size[below][:_WORST], many[below][:_WORST], strict=True)
        )
        detail: dict[str, object] = {
            "records": records,
            "classes": int(many.sum()),
            **({} if counted is None else {"counted": counted}),
            "classes_below": 0 if self.k is None else int(many[below].sum()),
            "records_below": 0 if self.k is None else int((size * many)[below].sum()),
            "keys": list(keys),
        }
        return Finding(
            self.name,
            float(result),
            self.required,
            self.k is None or result >= self.k,
            worst,
            detail,
            counted or "",
            at_most=False,
        )

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text after ``k-anonymity=``."""
        return cls(whole("k-anonymity", "k", text, least=2))
