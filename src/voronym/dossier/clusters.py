"""Clusters in the records' own metrics, before and after outliers were moved; never public."""

from __future__ import annotations

from collections import Counter

import numpy as np

from voronym.dossier.masks import Clusters, Epsilon
from voronym.records.figures import KeyFigures, RecordsFigures
from voronym.records.front import Stirred
from voronym.release import Release
from voronym.release.evidence import Evidence


def clusters_of(release: Release, evidence: Evidence) -> Clusters | None:
    """Return the clusters before and after from the figures of the method records; None for others."""
    made, figures = evidence.masked, release.figures.of(RecordsFigures)
    if not isinstance(made, Stirred) or made.before is None or made.after is None or figures is None:
        return None
    return Clusters(
        figures.clusters_before,
        figures.clusters_after,
        dict(Counter(made.before.partition.sizes.tolist())),
        dict(Counter(made.after.partition.sizes.tolist())),
        _epsilon(figures, made),
        figures.linkage.before,
        figures.divergence.repaired,
        figures.divergence.put_back,
    )


def _epsilon(figures: RecordsFigures, made: Stirred) -> Epsilon:
    far = {} if made.space is None else {field.name: field.far for field in made.space.fields}
    limits, free = [], []
    for name, entry in figures.columns.items():
        if not isinstance(entry, KeyFigures):  # a confidential column, which makes no clusters
            continue
        if entry.epsilon >= far.get(name, np.inf):
            free.append(name)
        else:
            limits.append((name, entry.epsilon, entry.metric))
    tried = tuple(
        (point.column, point.pairs, point.clusters, point.small_clusters, point.small_records, point.taken)
        for point in figures.curve
    )
    return Epsilon(figures.share, tried, tuple(limits), tuple(free))
