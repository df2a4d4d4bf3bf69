"""The data holder's private knowledge of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.evaluate.moved import KeyChange
from voronym.keyspaces import Coordinates
from voronym.methods.crowd import people_centres
from voronym.partition import Partition
from voronym.result import Grouped, Masked
from voronym.steps.effect import Effect, Exposed
from voronym.table.codec import Codec
from voronym.table.table import Table


@dataclass(frozen=True)
class Evidence:
    """The data holder's private knowledge: originals, groups and the origin of each row.

    Parameters
    ----------
    table : Table
        The original records.
    coordinates : Coordinates, optional
        Their keys as numbers; None if a key has no numbers, such as text.
    masked : Masked
        The result of the method and its remarks; without rows if it made groups, because the release has
        them.
    order : array, shape (n,)
        Released row r came from original row ``order[r]``.
    published_loss : float, optional
        Percent of variance lost as published, after means were rounded to possible values.
    seconds : mapping
        Seconds per stage.
    effects : tuple of Effect
        The change by each step on columns, and its benefit.
    rows : array of int, optional
        The published rows of the table, if some were left out or wait.
    changes : tuple of KeyChange
        For each key, the number of unchanged records and the distances of the others.
    exposed : tuple of Exposed, optional
        Records that few share all keys with, of the original and of the release.
    """

    table: Table
    coordinates: Coordinates | None
    masked: Masked
    order: NDArray[np.int64]
    published_loss: float | None
    seconds: Mapping[str, float] = field(default_factory=dict)
    effects: tuple[Effect, ...] = ()
    rows: NDArray[np.int64] | None = None
    changes: tuple[KeyChange, ...] = ()
    exposed: tuple[Exposed, Exposed] | None = None

    @property
    def original(self) -> nw.DataFrame[Any]:
        """The original records as a frame."""
        return self.table.frame

    @property
    def X(self) -> NDArray[np.float64] | None:  # noqa: N802 - the field's own name
        """The original keys as numbers."""
        return None if self.coordinates is None else self.coordinates.X

    @property
    def codec(self) -> Codec | None:
        """The codec that converts keys to numbers; None for spaces without coordinates."""
        return None if self.coordinates is None else self.coordinates.codec

    @property
    def partition(self) -> Partition | None:
        """The groups, if the method made some."""
        return None if self.grouped is None else self.grouped.partition

    @property
    def centroids(self) -> NDArray[np.float64] | None:
        """The mean keys of each group, as numbers; each person counts once."""
        if self.partition is None or self.coordinates is None:
            return None
        X, person = self.coordinates.X, self.table.persons
        return self.partition.centroids(X) if person is None else people_centres(X, self.partition, person)

    @property
    def published_as(self) -> Mapping[str, str]:
        """How each key is published, if not by the codec."""
        return {} if self.grouped is None else self.grouped.published_as

    @property
    def grouped(self) -> Grouped | None:
        """The result of the method, if it made groups."""
        return self.masked if isinstance(self.masked, Grouped) else None
