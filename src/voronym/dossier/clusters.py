"""Clusters of records in their own metrics, before and after outliers were pushed back; never public."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from voronym.dossier.masks import Clusters, Epsilon, Sizes
from voronym.dossier.methods import rate_of
from voronym.evidence import Evidence
from voronym.release import Release

_SHARE = 0.05  # of outliers, the default of `voronym.records.clusters`


def clusters_of(release: Release, evidence: Evidence) -> Clusters | None:
    """Take the clusters before and after from the figures of the method records; None for others."""
    made, figures = evidence.masked, release.figures
    before, after = getattr(made, "before", None), getattr(made, "after", None)
    if before is None or after is None:
        return None
    linked = figures.get("linkage", {}).get("before")
    return Clusters(
        Sizes(**figures["clusters_before"]),
        Sizes(**figures["clusters_after"]),
        dict(Counter(before.partition.sizes.tolist())),
        dict(Counter(after.partition.sizes.tolist())),
        _epsilon(release, made),
        None if linked is None else rate_of(linked),
        figures["divergence"]["repaired"],
        figures["divergence"]["put_back"],
    )


def _epsilon(release: Release, made: Any) -> Epsilon:
    far = {} if made.space is None else {field.name: field.far for field in made.space.fields}
    limits, free = [], []
    for name, entry in release.figures["columns"].items():
        if "epsilon" not in entry:  # a confidential column, which makes no clusters
            continue
        if entry["epsilon"] is None or entry["epsilon"] >= far.get(name, np.inf):
            free.append(name)
        else:
            limits.append((name, float(entry["epsilon"]), str(entry["metric"])))
    tried = tuple(
        tuple(
            item[name] for name in ("column", "pairs", "clusters", "small_clusters", "small_records", "taken")
        )
        for item in release.figures.get("curve") or ()
    )
    share = float((release.recipe.options or {}).get("share", _SHARE))
    return Epsilon(share, tried, tuple(limits), tuple(free))
