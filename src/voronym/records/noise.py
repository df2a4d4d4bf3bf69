"""Noise values about as far from a centroid as the members of its cluster (equation 6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.mixed import LINE
from voronym.core.context import Context
from voronym.errors import GuaranteeError
from voronym.records.cluster import Clusters
from voronym.records.divergence import divergence, edges, histogram
from voronym.records.options import RecordsOptions
from voronym.space.field import SMALL
from voronym.space.mixed import Mixed

_TRIES = 8

Ints = NDArray[np.int64]


class Noise:
    """Draws values of a column at the distances of members, within the bound on the divergence.

    First, distances of random members are tried. If the bound does not hold after eight tries, the new
    values go where the histogram lacks most. If even that exceeds the bound, nothing is returned.
    """

    def __init__(
        self,
        space: Mixed,
        clusters: Clusters,
        members: Ints,
        start: Ints,
        options: RecordsOptions,
        ctx: Context,
    ) -> None:
        self.space, self.found, self.members, self.start = space, clusters, members, start
        self.measure, self.bound = options.divergence, options.bound
        self.rng, self.ctx, self.codes = ctx.rng, ctx, space.codes

    def draw(self, k: int, hosts: Ints) -> tuple[Ints, float]:
        """Return a level of column k for each newcomer to a cluster, and the largest divergence reached."""
        out = np.empty(len(hosts), np.int64)
        worst = 0.0
        order = np.argsort(hosts, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(hosts[order])) + 1):
            self.ctx.check()
            host = int(hosts[rows[0]])
            levels = self.codes[self.members[self.start[host] : self.start[host + 1]], k]
            out[rows], reached = self._cluster(k, int(self.found.centroids[host, k]), levels, len(rows))
            worst = max(worst, reached)
        return out, worst

    def _cluster(self, k: int, centre: int, levels: Ints, count: int) -> tuple[Ints, float]:
        field = self.space.fields[k]
        away = field.distance(levels, np.full(len(levels), centre))
        borders = edges(away)
        before = histogram(away, borders)
        member_bin = np.searchsorted(borders, away)
        for turn in range(_TRIES + 1):
            if turn < _TRIES:
                picked = self.rng.integers(0, len(levels), count)
            else:
                picked = self._fair(before, member_bin, count)
            drawn = self._levels(k, centre, levels, away, borders, picked)
            after = before + histogram(field.distance(drawn, np.full(count, centre)), borders)
            reached = divergence(before, after, self.measure)
            if reached <= self.bound:
                return drawn, reached
        raise GuaranteeError(
            f"noise in column {field.name!r} cannot keep the divergence within {self.bound:g}: {count} "
            f"records join a cluster of {len(levels)}, which makes it {reached:.3g}; raise the bound, or "
            "blend by 'element'"
        )

    def _fair(self, before: Ints, member_bin: Ints, count: int) -> Ints:
        """Return members, each from the bin that lacks most of its share."""
        after = before.astype(np.float64)
        picked = np.empty(count, np.int64)
        for i in range(count):
            lack = before * ((after.sum() + 1.0) / before.sum()) - after
            at = int(np.argmax(np.where(before > 0, lack, -np.inf)))
            picked[i] = self.rng.choice(np.flatnonzero(member_bin == at))
            after[at] += 1.0
        return picked

    def _levels(
        self,
        k: int,
        centre: int,
        levels: Ints,
        away: NDArray[np.float64],
        borders: NDArray[np.float64],
        picked: Ints,
    ) -> Ints:
        """Return levels at about the picked members' distances; a member's own if its bin is empty."""
        field = self.space.fields[k]
        wanted = away[picked]
        if centre == field.missing:
            return levels[picked]
        if field.geometry.shape == LINE:
            places = field.geometry.coords[:, 0]
            order = np.argsort(places, kind="stable")
            aim = places[centre] + wanted * self.rng.choice((-1.0, 1.0), len(picked))
            above = np.searchsorted(places[order], aim).clip(0, len(order) - 1)
            below = np.maximum(above - 1, 0)
            nearer = np.abs(places[order[below]] - aim) < np.abs(places[order[above]] - aim)
            drawn = order[np.where(nearer, below, above)]
        elif field.levels <= SMALL:
            row = field.distance(np.arange(field.levels), np.full(field.levels, centre))
            bins = np.searchsorted(borders, row)
            drawn = levels[picked].copy()
            for i, at in enumerate(np.searchsorted(borders, wanted)):
                fits = np.flatnonzero((bins == at) & (row <= away.max()))
                drawn[i] = self.rng.choice(fits)
        else:
            return levels[picked]
        new = field.distance(drawn, np.full(len(drawn), centre))
        fits = (np.searchsorted(borders, new) == np.searchsorted(borders, wanted)) & (new <= away.max())
        return np.where(fits, drawn, levels[picked])
