"""k-anonymity: every record shares its keys with at least k - 1 others."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from voronym.errors import InputError
from voronym.privacy.base import Finding, parts, register
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table

_WORST = 5


@register("k-anonymity")
@dataclass(frozen=True)
class KAnonymity:
    """Every combination of keys in the table belongs to at least k records.

    Missing keys are a value of their own and no row is dropped (see `voronym.table.classes`).

    Parameters
    ----------
    k : int or None
        Least number of records, 2 or more. None measures without asking for anything.

    References
    ----------
    Samarati, P.: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.
    doi:10.1109/69.971193

    Examples
    --------
    >>> import polars as pl, narwhals as nw
    >>> from types import SimpleNamespace
    >>> patients = pl.DataFrame({"age": [30, 30, 40], "zip": ["08", "08", None]})
    >>> table = nw.from_native(patients, eager_only=True)
    >>> finding = KAnonymity(2).measure(table, SimpleNamespace(keys=("age", "zip"), confidential=()))
    >>> print(finding)
    k-anonymity: 1, required 2: does not hold
    >>> finding.worst
    ({'size': 1, 'classes': 1, 'records': 1},)
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is None:
            return
        given: Any = self.k  # users may pass anything
        try:
            k = None if isinstance(given, bool) else operator.index(given)  # NumPy's integers too, never 2.5
        except TypeError:
            k = None
        if k is None or k < 2:
            raise InputError(f"k must be a whole number of 2 or more, not {given!r}")
        object.__setattr__(self, "k", k)

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "k-anonymity"

    @property
    def required(self) -> float | None:
        """The k that was asked for."""
        return None if self.k is None else float(self.k)

    def measure(self, table: Any, schema: Any = None) -> Finding:
        """Count the records behind each combination of keys.

        ``worst`` lists the smallest sizes below k with their number of classes and records; where nothing was
        asked, the smallest size of all. Time O(n) per key.
        """
        frame, schema = parts(table, schema)
        classes = table.classes if isinstance(table, Table) else equivalence_classes(frame, schema.keys)
        sizes = classes.sizes
        size, many = np.unique(sizes, return_counts=True)
        found = int(size[0])
        below = size < self.k if self.k is not None else size == found
        worst: tuple[dict[str, object], ...] = tuple(
            {"size": int(s), "classes": int(c), "records": int(s * c)}
            for s, c in zip(size[below][:_WORST], many[below][:_WORST], strict=True)
        )
        detail: dict[str, object] = {
            "records": int(sizes.sum()),
            "classes": len(sizes),
            "classes_below": 0 if self.k is None else int(many[below].sum()),
            "records_below": 0 if self.k is None else int((size * many)[below].sum()),
            "keys": list(schema.keys),
        }
        return Finding(
            self.name, float(found), self.required, self.k is None or found >= self.k, worst, detail
        )

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}={self.k}"

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text behind ``k-anonymity=``."""
        if text is None:
            return cls()
        try:
            return cls(int(text))
        except ValueError:  # InputError is one: say the same sentence for "2.5" and for "1"
            raise InputError(
                f"k-anonymity={text}: k must be a whole number of 2 or more, such as k-anonymity=5"
            ) from None
