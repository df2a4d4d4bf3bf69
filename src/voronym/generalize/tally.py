"""Count the people or households behind values, to decide which ends and names may be published."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Tally:
    """Counts records by value; each unit once, if units are declared.

    Parameters
    ----------
    codes : array of int, shape (n,)
        The value of each record, 0 to ``size`` - 1.
    size : int
        Number of values.
    whose : array of int, shape (n,), optional
        The household, or person, of each record; by default each is another's.

    Examples
    --------
    >>> zips, homes = np.array([0, 0, 0, 1, 1]), np.array([7, 7, 7, 7, 9])
    >>> Tally(zips, 2, homes).counts.tolist()
    [1, 2]
    """

    def __init__(self, codes: Ints, size: int, whose: Ints | None = None) -> None:
        self._units: list[Ints] | None = None
        if whose is None:
            self.counts = np.bincount(codes, minlength=size)
            return
        pairs = np.unique(np.column_stack([codes, whose]), axis=0)
        self._units = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, size)))
        self.counts = np.array([len(own) for own in self._units], np.int64)

    def begin(self) -> Held:
        """Return an empty set of holders."""
        return Held(self)

    def units(self, value: int) -> Ints | None:
        """Return the units that have a value, if known."""
        return None if self._units is None else self._units[value]


class Held:
    """The records that have one of several values."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._count = 0
        self._units: set[int] = set()

    @property
    def count(self) -> int:
        """The number of holders."""
        return len(self._units) or self._count

    def add(self, value: int) -> None:
        """Add the records with a value."""
        units = self._tally.units(value)
        if units is None:
            self._count += int(self._tally.counts[value])
        else:
            self._units.update(units.tolist())
