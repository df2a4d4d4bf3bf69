"""A table on its way through blending and shuffling, with its figures, notes and log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import LINE
from voronym.records.blocks import refined
from voronym.records.cluster import Clusters
from voronym.records.figures import (
    Alternative,
    ColumnFigures,
    DivergenceFigures,
    KeyFigures,
    LinkageFigures,
    RecordsFigures,
    Sizes,
)
from voronym.records.options import RecordsOptions
from voronym.records.pushback import Blended
from voronym.records.stir import Shuffled, single_valued
from voronym.space.field import Field
from voronym.space.mixed import Mixed
from voronym.table.frame import listing
from voronym.table.table import Table

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
    """Count the masked records with a combination of keys that an original of the same cluster has."""
    rows = np.concatenate([original, masked]).T
    numbered = reduce(refined, rows, np.concatenate([labels, labels]))
    occurs = np.bincount(numbered[: len(labels)], minlength=int(numbered.max()) + 1) > 0
    return int(occurs[numbered[len(labels) :]].sum())


@dataclass(frozen=True, eq=False)
class Stages:
    """A table in progress: its clusters at first, after isolated records joined, and after shuffling.

    Parameters
    ----------
    space : Mixed
        The keys; ``space.codes`` are the original records.
    options : RecordsOptions
        The options.
    before, blended, middle, shuffled, after : Clusters, Blended, Clusters, Shuffled, Clusters
        The stages, in their order.
    others, other_codes : sequence of Field, array of int
        Confidential columns that were stirred, and their new codes.
    together : sequence of lists of int
        Keys that were shuffled as one.
    """

    space: Mixed
    options: RecordsOptions
    before: Clusters
    blended: Blended
    middle: Clusters
    shuffled: Shuffled
    after: Clusters
    others: Sequence[Field]
    other_codes: Ints
    together: Sequence[list[int]] = ()

    def figures(self, alternative: Alternative | None, linkage: LinkageFigures) -> RecordsFigures:
        """Return everything that was measured."""
        drawn, options = self.shuffled, self.options
        return RecordsFigures(
            m=options.m,
            records=self.before.partition.n,
            clusters_before=_sizes(self.before),
            clusters_after=_sizes(self.after),
            small_clusters=int((self.before.partition.sizes <= options.m).sum()),
            outliers=len(self.blended.moved),
            blend=options.blend,
            share=options.share,
            columns=self._columns(),
            divergence=DivergenceFigures(
                measure=options.divergence,
                bound=options.bound,
                largest=float(drawn.divergence.max(initial=0.0)),
                mean=float(drawn.divergence.mean()) if len(drawn.divergence) else 0.0,
                before_repair=float(drawn.first.max(initial=0.0)),
                repaired=int((drawn.first > options.bound).sum()),
                put_back=drawn.put_back,
            ),
            centroid_shift=self._shifts(),
            intact=self.intact,
            together=tuple(tuple(self.space.fields[k].name for k in block) for block in self.together),
            curve=self.before.curve,
            alternative=alternative,
            linkage=linkage,
        )

    @cached_property
    def intact(self) -> int:
        """Number of masked records with a combination of keys that their cluster had before shuffling."""
        return intact(self.middle.partition.labels, self.blended.codes, self.shuffled.codes)

    def _columns(self) -> dict[str, ColumnFigures | KeyFigures]:
        """Return the change of each column."""
        out: dict[str, ColumnFigures | KeyFigures] = {}
        for k, entry in enumerate(self.space.fields):
            spread = self.space.maps[k]
            out[entry.name] = KeyFigures(
                *_moved(entry, self.shuffled.codes[:, k]),
                weight=self.space.weights[k],
                distinct=entry.levels,
                epsilon=float(self.before.epsilon[k]),
                blended=int(self.blended.changed[k]),
                blend_divergence=float(self.blended.divergence[k]),
                map_error=spread.error,
                map_misfit=spread.misfit,
            )
        for k, item in enumerate(self.others):
            out[item.name] = ColumnFigures(*_moved(item, self.other_codes[:, k]))
        return out

    def _shifts(self) -> dict[str, float]:
        """Return the largest distance between a cluster's centroid before and after newcomers, by column."""
        before, middle = self.before, self.middle
        stayed = np.setdiff1d(np.arange(before.partition.n), self.blended.moved)
        old, new = before.partition.labels[stayed], middle.partition.labels[stayed]
        pairs = np.unique(np.column_stack([old, new]), axis=0)
        out = {}
        for k, item in enumerate(self.space.fields):
            away = item.distance(before.centroids[pairs[:, 0], k], middle.centroids[pairs[:, 1], k])
            out[item.name] = float(away.max(initial=0.0))
        return out

    def notes(self, table: Table, flattened: Sequence[int], shuffled: Sequence[int]) -> tuple[str, ...]:
        """Return warnings about records that the method could not protect fully."""
        fields, sizes, m = self.space.fields, self.middle.partition.sizes, self.options.m
        touched = [*flattened, *shuffled]
        out = []
        for k, alone in zip(touched, single_valued(self.middle, touched).T, strict=True):
            if alone.any():
                out.append(f"{fields[k].name!r} {_in_clusters(alone, sizes)}: stirring changes nothing there")
        left = [item.name for k, item in enumerate(fields) if k not in touched]
        if left:
            out.append(
                f"{listing(left)} is neither shuffled nor flattened: whoever knows it can use it to tell the "
                "records of a cluster apart"
            )
        if self.intact and shuffled:
            out.append(
                f"{self.intact} of {len(self.shuffled.codes)} masked records have a combination of keys "
                "that an "
                "original of their cluster has: not the same person’s record, but that there is one can "
                "be seen"
            )
        for k, entry in enumerate(fields):
            often = np.bincount(self.shuffled.codes[:, k], minlength=entry.levels)
            rare = int(((often > 0) & (often <= m)).sum())
            if rare and entry.geometry.shape != LINE:
                out.append(
                    f"{rare} values of {entry.name!r} occur at most {m} times in the masked table: that "
                    "somebody has them stays visible"
                )
        for name in table.confidential:
            alone = _single(table.codes(name), self.middle)
            if alone.any():
                out.append(
                    f"confidential {name!r} {_in_clusters(alone, sizes)}: whoever is known to be in one is "
                    "known to have it"
                )
        return tuple(out)

    def log(self, flattened: Sequence[str], shuffled: Sequence[str]) -> tuple[str, ...]:
        """Return the log of the work, a sentence each."""
        sizes = self.before.partition.sizes
        how = "chosen from the data" if self.before.curve else "given"
        out = [
            "distances: " + ", ".join(f"{field.name} ({field.metric})" for field in self.space.fields),
            f"{len(sizes)} clusters with epsilon {how}; {len(self.blended.moved)} records in "
            f"{int((sizes <= self.options.m).sum())} clusters of at most {self.options.m}",
            f"blended into {self.after.partition.n_cells} clusters by {self.options.blend}",
        ]
        if flattened:
            out.append(f"flattened to the centroid: {', '.join(flattened)}")
        if shuffled:
            reached = self.shuffled.divergence.max(initial=0.0)
            out.append(f"shuffled inside clusters: {', '.join(shuffled)}; divergence at most {reached:.3g}")
        return tuple(out)


def _moved(field: Field, codes: Ints) -> tuple[str, int, float]:
    """Return the metric of a column, the number of unchanged values, and the change of its distribution."""
    return field.metric, int((codes == field.codes).sum()), total_variation(field.codes, codes, field.levels)


def _in_clusters(which: NDArray[np.bool_], sizes: Ints) -> str:
    total = int(sizes[which].sum())
    return f"has a single value in {int(which.sum())} of {len(which)} clusters ({total} records)"


def _sizes(clusters: Clusters) -> Sizes:
    sizes = clusters.partition.sizes
    return Sizes(len(sizes), int(sizes.min()), float(np.median(sizes)), int(sizes.max()))


def _single(codes: Ints, clusters: Clusters) -> NDArray[np.bool_]:
    labels, m = clusters.partition.labels, clusters.partition.n_cells
    low, high = np.full(m, np.iinfo(np.int64).max), np.full(m, -2)
    np.minimum.at(low, labels, codes)
    np.maximum.at(high, labels, codes)
    return np.asarray(low == high)
