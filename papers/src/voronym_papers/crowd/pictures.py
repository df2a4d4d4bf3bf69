"""Figures 1 and 2: a cluster flattened in one dimension, and a cluster with shuffled values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from voronym.core.context import Context
from voronym.records import Mixed, RecordsOptions, clusters, flatten, make_fields, shuffle
from voronym.table import Schema, Table
from voronym_papers.base import at
from voronym_papers.items import Floats, Item, Panel, Picture, frame
from voronym_papers.marks import Mark

EPSILON = {"x": 4.0, "y": 4.0}


def two_clusters() -> Floats:
    """Draw two round clusters in the plane."""
    rng = np.random.default_rng(2)
    return np.round(np.concatenate([rng.normal(centre, 0.6, (60, 2)) for centre in ((0, 0), (6, 2))]), 2)


def figures_1_2(ctx: Context) -> Iterator[Item]:
    """Draw two clusters unchanged, flattened and shuffled; measure their distances to the centroid."""
    at(ctx, "figures 1 and 2", 0.0)
    points = two_clusters()
    table = pl.DataFrame({"x": points[:, 0], "y": points[:, 1]})
    schema = Schema.build(table, keys=["x", "y"])
    space = Mixed.fit(make_fields(Table.of(table, schema), schema.keys, None)[0])
    options = RecordsOptions(m=4, epsilon=EPSILON, bound=0.1)
    result = clusters(space, options)
    values = [np.unique(column) for column in points.T]
    labels = result.partition.labels

    def placed(codes: np.ndarray) -> Floats:
        return np.stack([values[k][codes[:, k]] for k in range(2)], axis=1)

    made = {
        "as they are": points,
        "flattened in y": placed(flatten(space.codes, result, [1])),
        "shuffled": placed(shuffle(space, space.codes, result, [0, 1], options, Context(seed=0)).codes),
    }
    centres = placed(result.centroids)
    away = {name: np.abs(where - centres[labels]).sum(axis=1) for name, where in made.items()}
    for figure, name in (("Figure 1", "flattened in y"), ("Figure 2", "shuffled")):
        off = max(
            gap(away["as they are"][labels == label], away[name][labels == label])
            for label in set(labels.tolist())
        )
        what = f"distances to the centroid, {name}: largest gap of the distributions"
        yield Mark(figure, what, None, off, ".2f", alone=True)
    stays = float((made["shuffled"] == points).all(axis=1).mean())
    yield Mark("Figure 2", "records that keep both values", None, 100 * stays, ".0f", " %", alone=True)
    for figure, name, note in (
        ("Figure 1", "flattened in y", "One dimension collapses to the centroid's value: distances to the "
         "centroid shrink, as the paper's figure shows."),
        ("Figure 2", "shuffled", "Values change owners inside a cluster, within a bound on the divergence of "
         "the distances to the centroid: the cluster keeps its shape."),
    ):  # fmt: skip
        yield Picture(
            f"{figure}: two clusters, {name}",
            tuple(Panel(item, made[item], labels, centres) for item in ("as they are", name)),
            frame(points),
            note,
            figure,
        )


def gap(item: Floats, other: Floats) -> float:
    """Return the largest difference of two distribution functions."""
    both = np.concatenate([item, other])
    below = [(np.sort(part)[None] <= both[:, None]).mean(axis=1) for part in (item, other)]
    return float(np.abs(below[0] - below[1]).max())
