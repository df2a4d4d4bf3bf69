"""Clusters: groups of records that differ by at most epsilon_k in every column k (equation 2).

The limit holds for all pairs; a radius of epsilon around a centre would allow twice as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import records as kernels
from voronym.core import later
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.records.blocks import in_blocks
from voronym.records.explain import TOLD, explained
from voronym.records.figures import Point
from voronym.records.options import RecordsOptions
from voronym.space.field import Field
from voronym.space.mixed import Mixed

fcluster = later.called("scipy.cluster.hierarchy", "fcluster")
linkage = later.called("scipy.cluster.hierarchy", "linkage")

_TRIED = (0.0, 0.05, 0.1, 0.2, 0.4)
"""Shares of all pairs to try as the limit of a column, the narrowest first; 0 means equal values."""

EXACT = 1000
"""Up to this number of records, all pairs are compared by complete linkage."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition into clusters, with the centroid and the radii of each.

    Parameters
    ----------
    partition : Partition
        The cluster of each record.
    epsilon : array, shape (d,)
        Largest distance of two members, by column.
    centroids : array of int, shape (m, d)
        Levels of the centroids, by equation 3.
    radii : array, shape (m, d)
        Largest distance of a member from the centroid, by column, for equation 5.
    curve : tuple of Point
        The choice of epsilon, for a plot; empty if it was given.
    """

    partition: Partition
    epsilon: NDArray[np.float64]
    centroids: NDArray[np.int64]
    radii: NDArray[np.float64]
    curve: tuple[Point, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Clusters({self.partition.n_cells} of {self.partition.n} records, {len(self.epsilon)} columns)"
        )


def clusters(
    space: Mixed,
    options: RecordsOptions,
    ctx: Context | None = None,
    *,
    others: Sequence[Field] = (),
) -> Clusters:
    """Group the records so that two of a cluster are at most epsilon_k apart in each column k.

    Guarantee: ``d_k(x_k, y_k) <= epsilon_k`` for all x, y of a cluster and all k, by exact comparisons.
    The number of clusters is not minimised, because that is NP-hard. Up to 1000 records are grouped by
    complete linkage under ``max_k d_k / epsilon_k``, so that no two clusters could be joined. Larger
    tables are cut into blocks (`blocks`), in O(n d) per level of cuts; then each record of a small
    cluster joins a larger one that it fits, in O(small clusters' records times clusters).

    Parameters
    ----------
    space : Mixed
        The records.
    options : RecordsOptions
        Its m, epsilon and share.
    ctx : Context, optional
        Gets reports of the search, which must be completed.
    others : sequence of Field
        Columns that are no keys: the choice of epsilon considers how keys explain them.

    References
    ----------
    Equations 2 and 3 of the paper (see `voronym.records`).

    Examples
    --------
    >>> from voronym.space.field import Field
    >>> from voronym.space.metrics import Absolute
    >>> ages = np.array([20, 22, 23, 50])
    >>> space = Mixed.fit([Field(("age",), "absolute", Absolute().geometry(ages, "age"), np.arange(4))])
    >>> clusters(space, RecordsOptions(m=1, epsilon={"age": 3})).partition.labels.tolist()
    [0, 0, 0, 1]
    """
    ctx = Context() if ctx is None else ctx
    if options.epsilon is None:
        return _choose(space, options, ctx, explained(space.fields, others))
    limits = _limits(space, options.epsilon)
    return describe(space, space.codes, Partition(group(space, limits, options.m, ctx)), limits)


def describe(
    space: Mixed,
    codes: NDArray[np.int64],
    part: Partition,
    limits: NDArray[np.float64],
    curve: tuple[Point, ...] = (),
) -> Clusters:
    """Return the clusters of a partition, with centroids and radii."""
    centroids = space.medoids(codes, part.labels, part.n_cells)
    radii = np.zeros(centroids.shape)
    for k in range(len(space.fields)):
        np.maximum.at(radii[:, k], part.labels, distances_to(space, k, codes, centroids, part.labels))
    return Clusters(part, limits, centroids, radii, curve)


def distances_to(
    space: Mixed,
    k: int,
    codes: NDArray[np.int64],
    centroids: NDArray[np.int64],
    labels: NDArray[np.int64],
    *,
    bent: bool = False,
) -> NDArray[np.float64]:
    """Return each record's distance to its centroid in column k; mapped and weighted if ``bent``."""
    out = np.empty(len(codes))
    column, centers = np.ascontiguousarray(codes[:, k]), np.ascontiguousarray(centroids[:, k])
    kernels.to_centroids(space.tables, k, column, centers, labels, out, bent)
    return out


def group(space: Mixed, limits: NDArray[np.float64], m: int, ctx: Context) -> NDArray[np.int64]:
    """Return labels of clusters within the limits."""
    n = len(space.fields[0].codes)
    if n > EXACT:
        return in_blocks(space, limits, m, ctx)
    worst = np.zeros(n * (n - 1) // 2)
    result, other = np.triu_indices(n, 1)
    for field, limit in zip(space.fields, limits, strict=True):
        if limit >= field.far:
            continue
        away = field.distance(field.codes[result], field.codes[other])
        ratio = np.minimum(away / limit, 1e9) if limit > 1e-300 else np.where(away > 0.0, 1e9, 0.0)
        ratio[away > limit] = np.maximum(ratio[away > limit], 1.0 + 1e-12)  # never rounded into the cluster
        np.maximum(worst, np.where(away <= limit, np.minimum(ratio, 1.0), ratio), out=worst)
    if not len(worst):
        return np.zeros(n, np.int64)
    return np.asarray(fcluster(linkage(worst, "complete"), 1.0, "distance") - 1, np.int64)


class _Search:
    """The choice of epsilon: first for each informative key, then one share of pairs for all other keys."""

    def __init__(self, space: Mixed, options: RecordsOptions, ctx: Context) -> None:
        self.space, self.options, self.ctx = space, options, ctx
        self.n = len(space.fields[0].codes)
        self.limits = np.full(len(space.fields), np.inf)
        self.labels = np.zeros(self.n, np.int64)
        self.curve: list[Point] = []

    def holds(self, columns: Sequence[int], name: str, q: float, share: float) -> bool:
        """Try a share of the pairs as the limit of columns; keep it if few enough records are isolated."""
        tried = self.limits.copy()
        for k in columns:
            limit = self.space.spreads[k].quantile(q) if q > 0.0 else 0.0
            tried[k] = limit if limit < self.space.fields[k].far else np.inf
        same = np.array_equal(tried, self.limits)
        labels = self.labels if same else group(self.space, tried, self.options.m, self.ctx)
        sizes = np.bincount(labels)
        small = sizes[sizes <= self.options.m]
        fits = bool(small.sum() <= share * self.n)
        self.curve.append(Point(name, round(q, 6), len(sizes), len(small), float(small.sum() / self.n), fits))
        self.ctx.tell(1.0 - 0.9 ** len(self.curve), whole=True)
        if fits:
            self.limits, self.labels = tried, labels
        return fits

    def narrow(self, telling: Sequence[int]) -> None:
        """Keep the most informative columns narrow, using up to half of the allowed isolated records."""
        for k in telling:
            name = self.space.fields[k].name
            next((q for q in _TRIED if self.holds([k], name, q, 0.5 * self.options.share)), None)

    def common(self, rest: Sequence[int]) -> None:
        """Narrow the other columns while few records are isolated; then halve the last step."""
        steps, name = 19, ", ".join(self.space.fields[k].name for k in rest)
        while rest and steps > 0 and self.holds(rest, name, steps / 20, self.options.share):
            steps -= 1
        low, high = steps / 20, (steps + 1) / 20  # fails (or is 0), holds
        for _ in range(3 if rest else 0):
            middle = (low + high) / 2.0
            fits = self.holds(rest, name, middle, self.options.share)
            low, high = (low, middle) if fits else (middle, high)


def _choose(space: Mixed, options: RecordsOptions, ctx: Context, weight: NDArray[np.float64]) -> Clusters:
    """Choose epsilon for each column by how much the column explains."""
    search = _Search(space, options, ctx)
    telling = [int(k) for k in np.argsort(-weight, kind="stable") if weight[k] >= TOLD]
    search.narrow(telling)
    search.common([k for k in range(len(space.fields)) if k not in telling])
    return describe(space, space.codes, Partition(search.labels), search.limits, tuple(search.curve))


def _limits(space: Mixed, epsilon: float | Mapping[str, float]) -> NDArray[np.float64]:
    """Return the largest distance of two members for each column."""
    if isinstance(epsilon, Mapping):
        names = {name: k for k, item in enumerate(space.fields) for name in (item.name, *item.columns)}
        unknown = [name for name in epsilon if name not in names]
        if unknown:
            raise InputError(f"epsilon names columns that are no keys: {', '.join(map(repr, unknown))}")
        limits = np.full(len(space.fields), np.inf)
        for name, limit in epsilon.items():
            limits[names[name]] = limit
        return limits
    if epsilon >= 1.0:
        return np.full(len(space.fields), np.inf)
    return np.array([spread.quantile(float(epsilon)) for spread in space.spreads])
