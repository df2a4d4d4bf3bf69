"""Homes and attributes as points of one space: the coordinates of ``anonymize --location``, in metres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voronym.keyspaces import Coordinates, Weighed
from voronym.table.encoders import Location
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym_location.attributes import Attributes
from voronym_location.globe import RADIUS
from voronym_location.population import Floats, Ints, Objects, Population

if TYPE_CHECKING:
    from voronym_location.epochs import Standing

PLACE = ("latitude", "longitude")


class Joint:
    """People and living groups in one space, in which each attribute has the same variance as homes.

    Parameters
    ----------
    people : Population
        The people, with attributes.
    standing : Standing
        The present groups and their published attributes.
    attributes : Attributes
        The declared attributes.
    """

    def __init__(self, people: Population, standing: Standing, attributes: Attributes) -> None:
        self.attributes, self.n, self.values = attributes, len(people), people.attributes
        groups = standing.attributes.reshape(len(standing), len(attributes))
        both = np.concatenate([people.attributes, groups])
        columns: dict[str, Any] = {
            "latitude": np.concatenate([people.latitude, standing.centroids[:, 0]]),
            "longitude": np.concatenate([people.longitude, standing.centroids[:, 1]]),
        }
        for item, column in zip(attributes, both.T, strict=True):
            columns[item.name] = column.astype(np.float64 if item.kind == "numeric" else np.str_)
        table = pl.DataFrame(columns)
        schema = Schema.build(
            table, keys=list(columns), locations=[PLACE], kinds={item.name: item.kind for item in attributes},  # type: ignore[misc]
            orders={item.name: item.values for item in attributes if item.kind == "ordinal"},
        )  # fmt: skip
        self.keys = Coordinates(Table.of(table, schema))
        weighed = Weighed(self.keys, {item.name: item.importance for item in attributes})
        scale = next(part.scale for part in self.keys.codec.encoders if isinstance(part, Location))
        self.points: Floats = weighed.records.X * (RADIUS / scale if scale > 0.0 else 1.0)

    @property
    def people(self) -> Floats:
        """Everybody's point, in metres."""
        return self.points[: self.n]

    @property
    def groups(self) -> Floats:
        """The points of the living groups."""
        return self.points[self.n :]

    def publish(self, labels: Ints, m: int, k: int) -> Objects:
        """Return the published attributes of m new groups: a mean on a grid, or the most frequent value.

        The grid of a number is as coarse as the grid of a place, see
        `voronym_location.snapping.FINE`. An unordered value is published if at least a third of k
        members have it, and at least two, because a rarer one could point to a single member.
        Otherwise the group publishes the most frequent value of all people.
        """
        from voronym_location.snapping import widths

        rows = np.flatnonzero(labels >= 0)
        own, sizes = labels[rows], np.maximum(np.bincount(labels[rows], minlength=m), 1)
        means = np.stack([np.bincount(own, column, m) / sizes for column in self.keys.X[rows].T], axis=1)
        decoded = self.keys.codec.decode(means)
        out = np.empty((m, len(self.attributes)), object)
        for at, item in enumerate(self.attributes):
            out[:, at] = decoded[item.name].to_list()
            if item.kind == "nominal":
                out[:, at] = _modes(item.values, self.values[rows, at], own, m, max(2, -(-k // 3)))
            elif item.kind == "numeric":
                numbers = self.values[rows, at].astype(np.float64)
                mean = np.bincount(own, numbers, m) / sizes
                spread = np.sqrt(np.bincount(own, np.square(numbers - mean[own]), m) / sizes)
                width = widths(spread, item.step)
                out[:, at] = _json_numbers(np.clip(np.rint(mean / width) * width, item.low, item.high))
        return out

    def apart(self, rows: Ints, published: Objects, k: int) -> dict[str, float]:
        """Return the error of published attributes: rms for numbers, share of wrong values for others.

        Both are rounded to two digits or to shares of k people, so that two epochs reveal nothing
        about one person. Below 3 k people the result is empty.
        """
        out: dict[str, float] = {}
        if len(rows) < 3 * k:
            return out
        grain = max(0.05, k / len(rows))
        for at, item in enumerate(self.attributes):
            true, shown = self.values[rows, at], published[:, at]
            if item.kind == "numeric":
                gaps = np.square(true.astype(np.float64) - shown.astype(np.float64))
                out[item.name] = float(f"{np.sqrt(gaps.mean()):.2g}")
            else:
                out[item.name] = round(round(float((true != shown).mean()) / grain) * grain, 3)
        return out


def _json_numbers(numbers: Floats) -> list[float | int]:
    """Return numbers as JSON values; whole numbers without a decimal point."""
    return [int(value) if value.is_integer() else round(value, 9) for value in numbers.tolist()]


def _modes(names: tuple[str, ...], given: Objects, own: Ints, m: int, least: int) -> list[str]:
    """Return the most frequent value of each group; that of all people if fewer than ``least`` have it."""
    place = {name: at for at, name in enumerate(names)}
    codes = np.array([place[value] for value in given], np.int64)
    counts = np.bincount(own * len(names) + codes, minlength=m * len(names)).reshape(m, len(names))
    best = counts.argmax(axis=1)
    common = int(counts.sum(axis=0).argmax())
    return [names[at] for at in np.where(counts.max(axis=1) < least, common, best).tolist()]
