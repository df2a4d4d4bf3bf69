"""Find the keys that explain other columns, and the keys that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import LINE
from voronym.space.field import Field

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOLD = 0.05
"""Mean share of the other columns' information above which a key is kept narrow."""

TIED = 0.25
"""Share of a key's information in another key above which both are shuffled together."""

_BINS = 8


def coarse(field: Field) -> Ints:
    """Return a column in at most eight classes: numbers by frequency, names the most frequent and others."""
    counts = np.bincount(field.codes, minlength=field.levels)
    if field.levels <= _BINS:
        return field.codes
    if field.geometry.shape == LINE:
        place = np.full(field.levels, np.inf)  # missing comes last
        place[: len(field.geometry.coords)] = field.geometry.coords[:, 0]
        order = np.argsort(place, kind="stable")
        middle = np.cumsum(counts[order]) - 0.5 * counts[order]
        classes = np.empty(field.levels, np.int64)
        classes[order] = np.minimum(middle / len(field.codes) * _BINS, _BINS - 1).astype(np.int64)
        return np.asarray(classes[field.codes])
    rank = np.empty(field.levels, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(field.levels)
    return np.asarray(np.minimum(rank, _BINS - 1)[field.codes])


def share_explained(item: Ints, other: Ints) -> float:
    """Return the share of the second column's information that the first one explains.

    This is their mutual information, less the part expected by chance, divided by the entropy of the
    second.

    Examples
    --------
    >>> a = np.arange(400) % 4
    >>> pairs = (a, a % 2), (a % 2, a), (a, (np.arange(400) // 4) % 2)
    >>> [round(float(share_explained(*pair)), 1) for pair in pairs]
    [1.0, 0.5, 0.0]
    """
    n = len(item)
    joint = np.zeros((int(item.max()) + 1, int(other.max()) + 1))
    np.add.at(joint, (item, other), 1.0 / n)
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    there = joint > 0.0
    known = float((joint[there] * np.log(joint[there] / np.outer(p, q)[there])).sum())
    entropy = -float((q[q > 0.0] * np.log(q[q > 0.0])).sum())
    chance = ((p > 0.0).sum() - 1) * ((q > 0.0).sum() - 1) / (2.0 * n)
    return max(0.0, known - chance) / entropy if entropy > 0.0 else 0.0


def explained(keys: Sequence[Field], others: Sequence[Field]) -> Floats:
    """Return the mean share of other columns that each key explains, from 0 to 1."""
    every = [coarse(key) for key in (*keys, *others)]
    return np.array(
        [
            np.mean([share_explained(every[k], item) for j, item in enumerate(every) if j != k])
            if len(every) > 1
            else 0.0
            for k in range(len(keys))
        ]
    )


def blocks(keys: Sequence[Field], chosen: Sequence[int]) -> list[list[int]]:
    """Return the chosen keys in blocks; keys that depend on each other share a block."""
    classes = {k: coarse(keys[k]) for k in chosen}
    made: list[list[int]] = []
    for k in chosen:
        near = [
            block
            for block in made
            if any(
                max(share_explained(classes[k], classes[j]), share_explained(classes[j], classes[k])) >= TIED
                for j in block
            )
        ]
        made = [block for block in made if block not in near] + [[j for block in near for j in block] + [k]]
    return [sorted(block) for block in made]
