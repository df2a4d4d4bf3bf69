"""Noisy PCL: clouds around the records, so that derivatives exist for small k, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from voronym.context import Context
from voronym.errors import InputError
from voronym.options import Options, number, one_of, option, whole
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.quantize.costs.base import Bounds, equal_sizes
from voronym.quantize.costs.levenberg_marquardt import levenberg_marquardt
from voronym.quantize.costs.transport import Engine
from voronym.registry import METHODS, algorithm
from voronym.space import Euclidean

TINY = 0.1
"""Share of its size below which a cell counts as lost, and starts anew."""


@dataclass(frozen=True)
class NoisyOptions(Options):
    """Options of noisy PCL."""

    samples: int = option(
        200,
        "points per cell, copies counted; the authors take 1,000 for Census and thousands in the plane",
        check=whole(10),
    )
    iterations: int = option(30, "how often clouds are drawn; the authors take 50 to 300", check=whole(1))
    noise: float = option(
        1.0,
        "deviation of the clouds at first, as a share of the mean distance to the nearest record",
        check=number(above=0.0),
    )
    final: float = option(0.05, "deviation of the clouds at last, likewise", check=number(above=0.0))
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
    practical=200,
    options=NoisyOptions,
)
def noisy_pcl(problem: Problem, ctx: Context, options: NoisyOptions) -> Partition:
    """Design cells of equal probability for clouds around the records, while the clouds shrink.

    The problem: minimise ``sum_i |x_i - centroid of its cell|²`` over quantizers with cells of equal size.
    The papers adjust the costs by derivatives, and a handful of records per cell has none. So every record
    gets a cloud of noisy copies, drawn anew in each iteration: costs are adjusted for the clouds
    (`levenberg_marquardt`), points assigned, centroids moved to the means. The deviation of the noise falls
    geometrically, from clouds that overlap to clouds that do not. At the end the records themselves are
    assigned, and cells that are off by a few are corrected. The paper says "by centroid proximity"; here the
    correction is the cheapest there is, by chains of cells (`transport` from the costs found), because
    records that move straight from a cell with too many to one with too few may travel far.

    It is here as the paper has it, to be compared with. `pcl` is exact in each step, needs no clouds for that
    and is much faster. But the noise also carries the search past poor arrangements: with a handful of
    records per cell this one often ends with less loss than a single run of `pcl`.

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
    X, k, n, m = problem.points, problem.k, problem.n, problem.n // problem.k
    sizes = equal_sizes(n, m)
    deviations = _near(X) * np.geomspace(options.noise, options.final, options.iterations)
    found = []
    for trial in range(options.restarts):
        here = ctx.part(trial / options.restarts, (trial + 1) / options.restarts)
        if trial == 0 and options.init == "mdav":  # n // k groups, as many as here
            centroids = problem.centroids(METHODS["mdav"].partition(problem, ctx.quiet()))
        else:
            centroids = X[ctx.rng.permutation(n)[:m]].copy()
        copies = -(-options.samples * m // n)
        centroids, costs = _cool(X, centroids, sizes, deviations, copies, here)
        found.append(Partition(_assigned(X, centroids, Bounds(sizes, sizes), costs, ctx), k=k))
        if ctx.over:
            break
    return min(found, key=problem.cost)


def _assigned(
    X: NDArray[np.float64],
    centroids: NDArray[np.float64],
    bounds: Bounds,
    costs: NDArray[np.float64],
    ctx: Context,
) -> NDArray[np.int64]:
    """Return the cells of the records themselves, of exact sizes; also where somebody wishes to finish."""
    engine = Engine(X, Euclidean(), ctx)
    engine.tick = partial(ctx.tell, 0.0)
    solved = engine.solve(centroids, bounds, engine.tamed(costs, centroids, bounds))
    return engine.settle(solved, bounds, 1e-9).labels


def _near(X: NDArray[np.float64]) -> float:
    """Return the mean distance to the nearest other record, per coordinate; positive in any case."""
    from scipy.spatial import cKDTree  # takes a while to load

    points = np.unique(X, axis=0)
    if len(points) < 2:
        return 1e-6 * (1.0 + float(np.abs(X).max()))
    distances = cKDTree(points).query(points, 2)[0][:, 1]
    return float(distances.mean() / np.sqrt(X.shape[1]))


def _cool(
    X: NDArray[np.float64],
    centroids: NDArray[np.float64],
    sizes: NDArray[np.int64],
    deviations: NDArray[np.float64],
    copies: int,
    ctx: Context,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Alternate costs and centroids on clouds of falling deviation."""
    n, m = len(X), len(sizes)
    costs = np.zeros(m)
    cloud = np.empty((copies * n, X.shape[1]))
    for step, deviation in enumerate(deviations):
        if ctx.over:
            break
        span = (step / len(deviations), (step + 1) / len(deviations))
        cloud[:n] = X  # the records are part of their clouds
        cloud[n:] = np.tile(X, (copies - 1, 1))
        cloud[n:] += deviation * ctx.rng.standard_normal((n * (copies - 1), X.shape[1]))
        found = levenberg_marquardt(
            cloud, centroids, copies * sizes, start=costs, tolerance=0.02, iterations=8, ctx=ctx.part(*span)
        )
        costs = np.array(found.costs)
        sums = np.stack([np.bincount(found.labels, column, m) for column in cloud.T], axis=1)
        kept = np.flatnonzero(found.sizes > TINY * copies * sizes)
        centroids = centroids.copy()
        centroids[kept] = sums[kept] / found.sizes[kept, None]
        lost = np.setdiff1d(np.arange(m), kept)
        if len(lost):  # a new start: a random record, at the least cost
            centroids[lost] = X[ctx.rng.integers(0, n, len(lost))]
            costs[lost] = costs[kept].min() if len(kept) else 0.0
    return centroids, costs
