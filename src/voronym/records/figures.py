"""What is reported about a table that was blended and stirred: figures, warnings and steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import LINE
from voronym.records.cluster import Clusters
from voronym.records.pushback import Blended
from voronym.records.stir import Shuffled, flat
from voronym.space.field import Field
from voronym.space.mixed import Mixed
from voronym.table.frame import factorize, listing
from voronym.table.schema import Schema

Ints = NDArray[np.int64]


def total_variation(a: Ints, b: Ints, levels: int) -> float:
    """Return the total variation distance of the distributions of two columns of levels.

    Examples
    --------
    >>> total_variation(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    0.25
    """
    off = np.bincount(a, minlength=levels) - np.bincount(b, minlength=levels)
    return float(np.abs(off).sum() / (2 * len(a)))


def intact(labels: Ints, original: Ints, masked: Ints) -> int:
    """Return how many masked records have a combination of keys that an original of the same cluster has."""
    n = len(labels)
    rows = np.column_stack([np.concatenate([labels, labels]), np.concatenate([original, masked])])
    _, back = np.unique(rows, axis=0, return_inverse=True)
    back = back.reshape(-1)
    return int(np.isin(back[n:], back[:n]).sum())


def figures_of(
    space: Mixed,
    original: Ints,
    codes: Ints,
    before: Clusters,
    middle: Clusters,
    after: Clusters,
    moved: Blended,
    stirred: Shuffled,
    *,
    m: int,
    mode: str,
    measure: str,
    bound: float,
    extra: Sequence[Field],
    others: Ints,
) -> dict[str, Any]:
    """Return everything that was measured, as plain types."""
    small = before.partition.sizes <= m
    columns: dict[str, Any] = {}
    for k, one in enumerate(space.fields):
        limit = float(before.epsilon[k])
        columns[one.name] = {
            "metric": one.metric,
            "weight": space.weights[k],
            "distinct": one.levels,
            "epsilon": limit if np.isfinite(limit) else None,
            "blended": int(moved.changed[k]),
            "blend_divergence": float(moved.divergence[k]),
            "unchanged": int((codes[:, k] == original[:, k]).sum()),
            "total_variation": total_variation(original[:, k], codes[:, k], one.levels),
            "map_error": space.maps[k].error,
            "map_misfit": space.maps[k].misfit,
        }
    for k, one in enumerate(extra):
        columns[one.name] = {
            "metric": one.metric,
            "unchanged": int((others[:, k] == one.codes).sum()),
            "total_variation": total_variation(one.codes, others[:, k], one.levels),
        }
    shifts = _shifts(space, before, middle, moved)
    return {
        "m": m,
        "records": before.partition.n,
        "clusters_before": _sizes(before),
        "clusters_after": _sizes(after),
        "small_clusters": int(small.sum()),
        "outliers": len(moved.moved),
        "blend": mode,
        "columns": columns,
        "divergence": {
            "measure": measure,
            "bound": bound,
            "largest": float(stirred.divergence.max(initial=0.0)),
            "mean": float(stirred.divergence.mean()) if len(stirred.divergence) else 0.0,
            "before_repair": _finite(stirred.first.max(initial=0.0)),
            "repaired": int((stirred.first > bound).sum()),
            "put_back": stirred.put_back,
        },
        "centroid_shift": shifts,
        "intact": intact(middle.partition.labels, moved.codes, codes),
        "curve": [vars(point) for point in before.curve],
    }


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _sizes(found: Clusters) -> dict[str, float]:
    sizes = found.partition.sizes
    return {
        "count": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
    }


def _shifts(space: Mixed, before: Clusters, middle: Clusters, moved: Blended) -> dict[str, float]:
    """Return the largest distance between a cluster's centroid before and after newcomers, by column."""
    stayed = np.setdiff1d(np.arange(before.partition.n), moved.moved)
    old, new = before.partition.labels[stayed], middle.partition.labels[stayed]
    pairs = np.unique(np.column_stack([old, new]), axis=0)
    out = {}
    for k, one in enumerate(space.fields):
        away = one.distance(before.centroids[pairs[:, 0], k], middle.centroids[pairs[:, 1], k])
        out[one.name] = float(away.max(initial=0.0))
    return out


def notes_of(
    space: Mixed,
    codes: Ints,
    table: nw.DataFrame[Any],
    schema: Schema,
    found: Clusters,
    figures: dict[str, Any],
    flattened: Sequence[int],
    shuffled: Sequence[int],
) -> tuple[str, ...]:
    """Return warnings: what the method did not do for some records."""
    notes = []
    sizes = found.partition.sizes
    touched = [*flattened, *shuffled]
    for at, k in enumerate(touched):
        single = flat(found, touched)[:, at]
        if single.any():
            notes.append(
                f"{space.fields[k].name!r} has a single value in {int(single.sum())} of {len(single)} "
                "clusters "
                f"({int(sizes[single].sum())} records): stirring changes nothing there"
            )
    left = [one.name for k, one in enumerate(space.fields) if k not in touched]
    if left:
        notes.append(
            f"{listing(left)} is neither shuffled nor flattened: whoever knows it can use it to tell the "
            "records "
            "of a cluster apart"
        )
    if figures["intact"] and shuffled:
        notes.append(
            f"{figures['intact']} of {figures['records']} masked records have a combination of keys that "
            "stands in "
            "their cluster before stirring too"
        )
    for k, one in enumerate(space.fields):
        if one.geometry.shape != LINE:
            often = np.bincount(codes[:, k], minlength=one.levels)
            rare = int(((often > 0) & (often <= figures["m"])).sum())
            if rare:
                notes.append(
                    f"{rare} values of {one.name!r} occur at most {figures['m']} times in the masked table: "
                    "that "
                    "somebody has them stays visible"
                )
    for name in schema.confidential:
        lone = _single(factorize(table[name])[0], found)
        if lone.any():
            notes.append(
                f"confidential {name!r} has a single value in {int(lone.sum())} of {len(lone)} clusters "
                f"({int(sizes[lone].sum())} records): whoever is known to be in one is known to have it"
            )
    return tuple(notes)


def _single(codes: Ints, found: Clusters) -> NDArray[np.bool_]:
    labels, m = found.partition.labels, found.partition.n_cells
    low, high = np.full(m, np.iinfo(np.int64).max), np.full(m, -2)
    np.minimum.at(low, labels, codes)
    np.maximum.at(high, labels, codes)
    return np.asarray(low == high)


def steps_of(
    space: Mixed, before: Clusters, figures: dict[str, Any], flattened: Sequence[str], shuffled: Sequence[str]
) -> tuple[str, ...]:
    """Return what was done, a sentence each."""
    metrics = ", ".join(f"{one.name} ({one.metric})" for one in space.fields)
    how = "chosen from the data" if before.curve else "given"
    steps = [
        f"distances: {metrics}",
        f"{figures['clusters_before']['count']} clusters with epsilon {how}; {figures['outliers']} records "
        "in "
        f"{figures['small_clusters']} clusters of at most {figures['m']}",
        f"blended into {figures['clusters_after']['count']} clusters by {figures['blend']}",
    ]
    if flattened:
        steps.append(f"flattened to the centroid: {', '.join(flattened)}")
    if shuffled:
        reached = figures["divergence"]
        steps.append(
            f"shuffled inside clusters: {', '.join(shuffled)}; {reached['measure']} at most "
            f"{reached['largest']:.3g}"
        )
    return tuple(steps)
