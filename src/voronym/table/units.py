"""The people behind the rows: people with several rows each, and households with several members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voronym.errors import SchemaError
from voronym.table.values import Columns

if TYPE_CHECKING:
    from voronym.table.schema import Schema

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """The person and the household of each row, as numbers 0, 1, 2, ...; None if rows are people.

    Parameters
    ----------
    person, household : array, shape (n,), optional
        The numbers. They are made by order of appearance and say nothing about the identifiers they stand
        for, which are gone.
    """

    person: Ints | None = None
    household: Ints | None = None

    @classmethod
    def of(cls, table: Columns, schema: Schema) -> Units | None:
        """Read the units of a table with identifiers; None if none is declared."""
        if not schema.units or any(name not in table for name in schema.units.values()):
            return None
        return cls(**{what: _numbered(table, name, what) for what, name in schema.units.items()})

    @property
    def known(self) -> Mapping[str, Ints]:
        """The known numbers, by unit."""
        both = {"person": self.person, "household": self.household}
        return {what: codes for what, codes in both.items() if codes is not None}

    def rows(self, order: Ints) -> Units:
        """Return the units of some of the rows, in the given order, renumbered without holes."""
        return Units(**{what: _closed(codes[order], len(codes)) for what, codes in self.known.items()})

    def heads(self, labels: Ints, n_classes: int) -> Ints:
        """Count the units of each class for k: people or, if these are fewer, households."""
        counts = [distinct(labels, codes, n_classes) for codes in self.known.values()]
        return np.asarray(np.min(counts, axis=0), np.int64)

    @property
    def counted(self) -> str:
        """The unit that k counts, in the plural."""
        return "households" if self.household is not None else "people"


def distinct(labels: Ints, codes: Ints, n_classes: int) -> Ints:
    """Count the distinct codes in each class.

    Examples
    --------
    >>> distinct(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5]), 2).tolist()
    [2, 1]
    """
    size = int(codes.max()) + 1
    pairs = np.unique(labels * np.int64(size) + codes)
    return np.bincount(pairs // size, minlength=n_classes).astype(np.int64)


def first_of_each(*codes: Ints) -> Ints:
    """Return the first row of each occurring combination of codes, in ascending order of rows.

    Examples
    --------
    >>> first_of_each(np.array([1, 0, 1, 1]), np.array([2, 2, 2, 3])).tolist()
    [0, 1, 3]
    """
    order = np.lexsort(codes)  # stable: the first row of a run is the first of all
    new = np.zeros(len(order), bool)
    new[:1] = True
    for code in codes:
        new[1:] |= np.diff(code[order]) != 0
    return np.sort(order[new])


def fresh_names(codes: Ints, bare: Ints | None = None) -> list[str | None]:
    """Return a random pseudonym for each row: equal for equal codes, None for codes in ``bare``.

    Pseudonyms are drawn again each time and never from a seed, so that two releases cannot be joined by
    them.
    """
    many = int(codes.max()) + 1
    width = len(str(many))
    names: list[str | None] = [f"{number:0{width}}" for number in np.random.default_rng().permutation(many)]
    for code in () if bare is None else bare.tolist():
        names[code] = None
    return [names[code] for code in codes.tolist()]


def _closed(codes: Ints, before: int) -> Ints:
    """Return the units, renumbered from 0 after rows were removed."""
    if len(codes) == before:
        return codes
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _numbered(table: Columns, name: str, what: str) -> Ints:
    values = table[name]
    if values.form in ("mixed", "other"):
        raise SchemaError(
            f"the {what} column {name!r} holds values that cannot be compared; make them texts or numbers"
        )
    gone = int(values.missing.sum())
    if gone:
        raise SchemaError(
            f"the {what} column {name!r} is missing in {gone} of {len(values)} rows: nobody can say whose "
            "they are. Fill them in, or leave these rows out"
        )
    codes = values.codes
    first = np.full(len(values.levels), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[codes]
