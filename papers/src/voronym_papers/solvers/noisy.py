"""Noisy PCL: clouds around the records, so that derivatives exist for small k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options, number, one_of, option, whole
from voronym.errors import InputError
from voronym.method import METHODS, algorithm
from voronym.partition import Partition, group_means
from voronym.problem import Problem
from voronym.quantize.costs.base import Assignment, Bounds, equal_sizes
from voronym.quantize.pcl import alternate
from voronym.quantize.quantizer import Quantizer
from voronym.quantize.settings import Settings
from voronym.space import Euclidean
from voronym_papers.solvers.levenberg_marquardt import levenberg_marquardt

TINY = 0.1
"""A cell below this share of its size counts as lost, and starts again."""

INNER = 10
"""Number of deviations of the noise per set of centroids, if the noise falls in the inner loop."""


@dataclass(frozen=True)
class NoisyOptions(Options):
    """Options of noisy PCL."""

    samples: int = option(
        50,
        "points per cell, copies counted; the authors take 1,000 for Census and thousands in the plane",
        check=whole(10),
    )
    iterations: int = option(40, "how often clouds are drawn; the authors take 50 to 300", check=whole(1))
    noise: float = option(
        2.0,
        "deviation of the clouds at first, as a share of the mean distance to the nearest record, or of the "
        "deviation of the record's cell",
        check=number(above=0.0),
    )
    final: float = option(0.3, "deviation of the clouds at last, likewise", check=number(above=0.0))
    covariance: str = option(
        "common",
        '"common": the clouds are round and as wide everywhere; "cell": as wide as the record\'s cell',
        check=one_of("common", "cell"),
    )
    designs: int = option(
        20,
        "exact designs for the records themselves, from where the clouds led; all but the first shaken, "
        "and each joined with the best so far; for groups of two or three, 100 gain a lot; 0, as published: "
        "cells that are off pass records on by nearness, and no more",
        check=whole(0),
    )
    cooling: str = option(
        "outer",
        '"outer": the clouds shrink while the centroids move; "inner": they shrink again before each move of '
        "the centroids, in ten steps",
        check=one_of("outer", "inner"),
    )
    init: str = option("mdav", "where the first centroids come from", check=one_of("mdav", "random"))
    restarts: int = option(
        1,
        "initial centroids that are tried: those of init, then random records; the least loss is kept",
        check=whole(1),
    )

    def __post_init__(self) -> None:
        """Check that the noise falls."""
        super().__post_init__()
        if self.final > self.noise:
            raise InputError(
                f"noise falls from noise to final: 0 < final <= noise, not {self.noise!r} and {self.final!r}"
            )


@algorithm(
    "noisy-pcl",
    guarantee="every group has k to 2k-1 records; sizes differ by one at most",
    cost="iterations times some ten passes over samples·n/k points and n/k cells",
    reference="Rebollo-Monedero, Forné, Soriano: k-anonymous microaggregation and clustering, 2011",
    max_size=lambda k: 2 * k - 1,
    practical=lambda k: 150 * k,
    options=NoisyOptions,
)
def noisy_pcl(problem: Problem, ctx: Context, options: NoisyOptions) -> Partition:
    """Design cells of equal probability for clouds around the records, while the clouds shrink.

    The problem: minimise ``sum_i |x_i - centroid of its cell|²`` over quantizers with cells of equal
    size. The papers adjust the costs by derivatives, which do not exist for a few records per cell. So
    every record gets a cloud of noisy copies, drawn again in each iteration. Costs are adjusted for the
    clouds (`levenberg_marquardt`), points are assigned, and centroids move to the means. The deviation of
    the noise falls geometrically, from clouds that overlap to clouds that hardly do. The paper has one
    covariance for all. With ``covariance="cell"`` a cloud has the covariance of its record's cell, so it
    is wide where records are sparse. At the end there are no clouds: rounds of `pcl` on the records
    themselves, from these centroids and costs, and then shaken a few times; the better of both is kept in
    each region. The paper only corrects cells that are off by a few, as ``designs=0`` does. According to
    the last sentence of the paper's appendix, the noise falls again for each set of centroids:
    ``cooling="inner"``.

    This method is for comparison: it has the clouds and derivatives of the paper. `pcl` is exact in each
    step. It replaces the clouds by soft assignments without draws, and is about ten times faster.

    References
    ----------
    D. Rebollo-Monedero, J. Forné and M. Soriano, "An algorithm for k-anonymous microaggregation and
    clustering inspired by the design of distortion-optimized quantizers", Data & Knowledge Engineering 70
    (2011), sections 3.4 and 5.3.

    Examples
    --------
    >>> import voronym as vr
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> vr.microaggregate(X, 2, method="noisy-pcl").labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    X, n, m = problem.points, problem.n, problem.n // problem.k
    sizes = equal_sizes(n, m)
    shares = np.geomspace(options.noise, options.final, options.iterations)
    result = []
    for trial in range(options.restarts):
        here = ctx.part(trial / options.restarts, (trial + 1) / options.restarts)
        if trial == 0 and options.init == "mdav":  # n // k groups, as many as here
            first = METHODS["mdav"].partition(problem, ctx.quiet())
            centroids, labels = group_means(X, first.labels, m), first.labels
        else:
            centroids, labels = X[ctx.rng.permutation(n)[:m]].copy(), np.zeros(n, np.int64)
        clouds = Clouds(X, -(-options.samples * m // n), options.covariance)
        cool = _cool if options.cooling == "outer" else _cool_inside
        rule = cool(clouds, centroids, labels, sizes, shares, here.part(0.0, 0.9))
        if options.designs == 0:
            labels = corrected(X, rule, sizes)
        else:
            settings = Settings(restarts=options.designs)
            end = here.part(0.9, 1.0)
            labels = alternate(X, Bounds(sizes, sizes), rule, Euclidean(), settings, end).labels
        result.append(Partition(labels, k=problem.k))
        if ctx.over:
            break
    return min(result, key=problem.cost)


def corrected(X: NDArray[np.float64], rule: Quantizer, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Assign records by a rule; then move records from cells with too many to cells with too few.

    The papers correct sizes that are off by a few, "taking into account simple considerations of centroid
    proximity". Here the nearest pair of a record in a too large cell and a too small cell comes first.

    Examples
    --------
    >>> rule = Quantizer(np.array([[0.0], [4.0]]), np.zeros(2))
    >>> corrected(np.array([[0.0], [0.5], [1.5], [4.0]]), rule, np.array([2, 2])).tolist()
    [0, 0, 1, 1]
    """
    labels = np.array(rule.assign(X), np.int64)
    counts = np.bincount(labels, minlength=len(sizes))
    while len(short := np.flatnonzero(counts < sizes)):
        free = np.flatnonzero((counts > sizes)[labels])
        away = np.square(X[free, None, :] - rule.centroids[short]).sum(axis=2)
        record, cell = np.unravel_index(int(away.argmin()), away.shape)
        counts[labels[free[record]]] -= 1
        labels[free[record]] = short[cell]
        counts[short[cell]] += 1
    return labels


def _near(X: NDArray[np.float64]) -> float:
    """Return the mean distance to the nearest other record, per coordinate; always positive."""
    from scipy.spatial import cKDTree  # takes a while to load

    points = np.unique(X, axis=0)
    if len(points) < 2:
        return 1e-6 * (1.0 + float(np.abs(X).max()))
    distances = cKDTree(points).query(points, 2)[0][:, 1]
    return float(distances.mean() / np.sqrt(X.shape[1]))


class Clouds:
    """Noisy copies of records.

    Parameters
    ----------
    X : array, shape (n, d)
        The records.
    copies : int
        Number of points per record, including itself.
    covariance : {"common", "cell"}
        Whether the noise is the same for all, or has the covariance of the record's cell.
    """

    def __init__(self, X: NDArray[np.float64], copies: int, covariance: str) -> None:
        self.X, self.copies, self.own = X, copies, covariance == "cell"
        self.near = _near(X)

    def draw(self, share: float, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the records, and then their copies, with noise of a share of the whole deviation."""
        n, d = self.X.shape
        noise = rng.standard_normal((self.copies - 1, n, d))
        if self.own:
            noise = np.einsum("nij,cnj->cni", self.roots(labels)[labels], noise)
        else:
            noise *= self.near
        return np.concatenate([self.X, (self.X + share * noise).reshape(-1, d)])

    def adjust(
        self,
        share: float,
        labels: NDArray[np.int64],
        centroids: NDArray[np.float64],
        sizes: NDArray[np.int64],
        costs: NDArray[np.float64],
        ctx: Context,
    ) -> tuple[NDArray[np.float64], Assignment]:
        """Draw clouds and adjust the costs to them; return the clouds and their assignment."""
        cloud = self.draw(share, labels, ctx.rng)
        limits = {"tolerance": 0.02, "iterations": 8}
        return cloud, levenberg_marquardt(
            cloud, centroids, self.copies * sizes, start=costs, ctx=ctx, **limits
        )

    def cool(
        self,
        shares: NDArray[np.float64],
        labels: NDArray[np.int64],
        centroids: NDArray[np.float64],
        sizes: NDArray[np.int64],
        ctx: Context,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Assignment]:
        """Adjust the costs along falling noise, with fixed centroids.

        Return the costs, and the last clouds with their assignment.
        """
        costs = np.zeros(len(sizes))
        for share in shares:
            cloud, result = self.adjust(float(share), labels, centroids, sizes, costs, ctx)
            costs = np.array(result.costs)
        return costs, cloud, result

    def roots(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a square root of each cell's covariance, shape (m, d, d).

        A hundredth of the mean variance is added in every direction: a cell of few records is flat.
        """
        m, d = int(labels.max()) + 1, self.X.shape[1]
        away = self.X - group_means(self.X, labels, m)[labels]
        spread = np.zeros((m, d, d))
        np.add.at(spread, labels, away[:, :, None] * away[:, None, :])
        spread /= np.maximum(np.bincount(labels, minlength=m), 1)[:, None, None]
        least = 0.01 * np.trace(spread, axis1=1, axis2=2).mean() / d + 1e-12 * self.near**2
        return np.asarray(np.linalg.cholesky(spread + least * np.eye(d)))


def _cool(
    clouds: Clouds,
    centroids: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: NDArray[np.int64],
    shares: NDArray[np.float64],
    ctx: Context,
) -> Quantizer:
    """Alternate costs and centroids on clouds of falling deviation."""
    costs = np.zeros(len(sizes))
    for step, share in enumerate(shares):
        if ctx.over:
            break
        span = ctx.part(step / len(shares), (step + 1) / len(shares))
        cloud, result = clouds.adjust(share, labels, centroids, sizes, costs, span)
        costs, labels = np.array(result.costs), np.array(result.labels[: len(clouds.X)])
        centroids = _moved(clouds, cloud, result, centroids, sizes, costs, ctx)
    return Quantizer(centroids, costs)


def _cool_inside(
    clouds: Clouds,
    centroids: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: NDArray[np.int64],
    shares: NDArray[np.float64],
    ctx: Context,
) -> Quantizer:
    """Lower the deviation for each set of centroids, and move them when it is least."""
    rounds = len(shares)
    costs = np.zeros(len(sizes))
    for step in range(rounds):
        if ctx.over:
            break
        here = ctx.part(step / rounds, (step + 1) / rounds)
        costs, cloud, result = clouds.cool(
            np.geomspace(shares[0], shares[-1], INNER), labels, centroids, sizes, here
        )
        labels = np.array(result.labels[: len(clouds.X)])
        if step < rounds - 1:
            centroids = _moved(clouds, cloud, result, centroids, sizes, costs, ctx)
    return Quantizer(centroids, costs)


def _moved(
    clouds: Clouds,
    cloud: NDArray[np.float64],
    result: Assignment,
    centroids: NDArray[np.float64],
    sizes: NDArray[np.int64],
    costs: NDArray[np.float64],
    ctx: Context,
) -> NDArray[np.float64]:
    """Return the means of the cells; a lost cell gets a random record and the least cost."""
    X, m = clouds.X, len(sizes)
    sums = np.stack([np.bincount(result.labels, column, m) for column in cloud.T], axis=1)
    kept = np.flatnonzero(result.sizes > TINY * clouds.copies * sizes)
    out = centroids.copy()
    out[kept] = sums[kept] / result.sizes[kept, None]
    lost = np.setdiff1d(np.arange(m), kept)
    if len(lost):
        out[lost] = X[ctx.rng.integers(0, len(X), len(lost))]
        costs[lost] = costs[kept].min() if len(kept) else 0.0
    return out
