"""Places on a map: the published ones and, for the data holder, the original ones."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.table.frame import Frame
from voronym.table.schema import Schema

Floats = NDArray[np.float64]
Place = tuple[float, float]
MOST_PLACES = 1_500
MOST_ORIGINALS = 2_000


@dataclass(frozen=True)
class PlaceMap:
    """Longitudes and latitudes.

    Parameters
    ----------
    columns : (str, str)
        Latitude and longitude.
    places, sizes : tuples
        Published places, and the records at each.
    found : int
        Number of published places in all.
    originals : tuple of (Place, int)
        Original places of some records, and the number of their published place; () for the public.
    """

    columns: tuple[str, str]
    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    found: int
    originals: tuple[tuple[Place, int], ...] = ()


def pair_of(schema: Schema) -> tuple[str, str] | None:
    """Return the first two keys that are a place: latitude and longitude."""
    for column in schema:
        if column.role == "key" and column.kind == "location" and column.partner is not None:
            return schema.location(column.name, schema.keys)
    return None


def published(frame: Frame, schema: Schema) -> PlaceMap | None:
    """Return the published places; from the released table alone."""
    made = _counted(frame, schema)
    return None if made is None else made[0]


def compared(frame: Frame, original: Frame, schema: Schema, order: NDArray[np.int64]) -> PlaceMap | None:
    """Return the published places, and the original places of some records."""
    made = _counted(frame, schema)
    if made is None:
        return None
    result, labels = made
    before = _coordinates(original, result.columns)[order]
    rows = np.flatnonzero((labels >= 0) & np.isfinite(before).all(axis=1))
    rows = rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ORIGINALS])]
    originals = tuple(
        ((float(lon), float(lat)), int(label))
        for (lon, lat), label in zip(before[rows], labels[rows], strict=True)
    )
    return PlaceMap(result.columns, result.places, result.sizes, result.found, originals)


def _counted(frame: Frame, schema: Schema) -> tuple[PlaceMap, NDArray[np.int64]] | None:
    """Return the published places, largest first, and the place of each row; -1 if it is not shown."""
    columns = pair_of(schema)
    if columns is None or not {*columns} <= {*frame.columns}:
        return None
    at = _coordinates(frame, columns)
    known = np.flatnonzero(np.isfinite(at).all(axis=1))
    if not len(known):
        return None
    places, own, sizes = np.unique(at[known], axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[:MOST_PLACES]
    rank = np.full(len(places), -1, np.int64)
    rank[order] = np.arange(len(order))
    labels = np.full(len(at), -1, np.int64)
    labels[known] = rank[own.reshape(-1)]
    listed = tuple((float(lon), float(lat)) for lon, lat in places[order])
    return PlaceMap(columns, listed, tuple(sizes[order].tolist()), len(places)), labels


def _coordinates(frame: Frame, columns: tuple[str, str]) -> Floats:
    """Return longitude and latitude of each row."""
    lat, lon = (frame[name].cast(nw.Float64).fill_null(float("nan")).to_numpy() for name in columns)
    return np.column_stack([lon, lat]).astype(np.float64)
