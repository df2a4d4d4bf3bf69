"""What noisy PCL gains on MDAV in the plane, beside our best search: how near it is to what can be gained."""

from __future__ import annotations

from collections.abc import Iterable
from time import process_time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.base import Benchmark, Case, Row
from voronym.certify import lower_bound
from voronym.partitioners import microaggregate
from voronym_papers.pcl.plane import NOISY, draw
from voronym_papers.pcl.published import FIGURE_15_TYPICAL, FIGURE_17_TYPICAL

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TYPICAL = {"uniform": FIGURE_15_TYPICAL, "Gaussian": FIGURE_17_TYPICAL}
DESIGNS = {2: 250, 3: 100}
"""Exact designs after the clouds, by k: pairs can be arranged in the most ways."""
NARROW: dict[str, Any] = {"noise": 0.6, "final": 0.2}
"""Clouds for pairs: wider ones melt what MDAV found, and ended a point higher on four other draws."""
PROOF = 5.0
"""Seconds for the bound of a draw."""


def best_pairs(X: NDArray[np.float64], *, near: int = 30) -> float:
    """Return a proven bound below the sum of squares of points in pairs, the least one but for a millionth.

    Prices of the points, from the linear programme over near pairs, bound every sum from below. A pair that
    costs more than its points' prices by more than the bound is below a sum at hand is in no better choice:
    the others are few enough for an integer programme.
    """
    from scipy.optimize import linprog
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    n = len(X)
    cost = cdist(X, X, "sqeuclidean") / 2.0
    beside = cKDTree(X).query(X, near + 1)[1][:, 1:]
    pairs = np.unique(np.sort(np.stack([np.repeat(np.arange(n), near), beside.ravel()]), axis=0), axis=1)
    relaxed = linprog(cost[*pairs], A_eq=_members(pairs, n), b_eq=np.ones(n), bounds=(0, None))
    prices = relaxed.eqlin.marginals
    over = cost - prices[:, None] - prices
    np.fill_diagonal(over, np.inf)
    lift = max(0.0, -float(over.min())) / 2.0  # far pairs may cost less than such prices
    prices, over = prices - lift, over + 2.0 * lift
    at_hand = _chosen(cost, pairs, n)[0]
    able = np.stack(np.nonzero(np.triu(over <= at_hand - prices.sum() + 1e-9 * at_hand, 1)))
    return _chosen(cost, able, n)[1]


def _members(pairs: NDArray[np.int64], n: int) -> csr_array:
    """Return the matrix that has a one where a point, by row, is in a pair, by column."""
    from scipy.sparse import coo_array

    places = (pairs.ravel(), np.tile(np.arange(pairs.shape[1]), 2))
    return coo_array((np.ones(pairs.size), places), shape=(n, pairs.shape[1])).tocsr()


def _chosen(cost: NDArray[np.float64], pairs: NDArray[np.int64], n: int) -> tuple[float, float]:
    """Return the sum of the cheapest choice of pairs with every point in one, and what is proven of it."""
    from scipy.optimize import LinearConstraint, milp

    every = LinearConstraint(_members(pairs, n), 1.0, 1.0)
    found = milp(
        cost[*pairs],
        constraints=every,
        integrality=np.ones(pairs.shape[1]),
        bounds=(0, 1),
        options={"mip_rel_gap": 1e-6},
    )
    return float(found.fun), float(found.mip_dual_bound)


class Plane(Benchmark):
    """Uniform and Gaussian points in small groups: means over draws, as the paper's one draw has no seed."""

    name = "plane"
    title = "change of the distortion against MDAV, %, mean and deviation over draws; seconds of a draw"
    columns: ClassVar[dict[str, str]] = {
        "points": "points",
        "n": "n",
        "k": "k",
        "draws": "draws",
        "published": "published, typical",
        "noisy": "noisy PCL",
        "deviation": "±",
        "search": "anneal",
        "search_deviation": "±",
        "proven": "no groups below",
        "pairs": "no pairs below",
        "cpu": "CPU, s",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return both laws at k = 2 and 3; small groups of 250 points where it shall be quick."""
        for points in TYPICAL:
            for k in (3,) if quick else (3, 2):
                yield {"points": points, "n": 250 if quick else 1000, "k": k, "draws": 2 if quick else 12}

    @staticmethod
    def measure(*, points: str, n: int, k: int, draws: int) -> Row:
        """Group each draw by MDAV, noisy PCL and `anneal`, and prove what no groups can gain."""
        # Clouds as wide as the cell where points are sparse in one place and dense in another. Two have
        # hardly a covariance: pairs that lie far apart once get wider and wider clouds.
        by = "cell" if points == "Gaussian" and k > 2 else "common"
        own = NOISY | {"covariance": by, "iterations": 40, "designs": DESIGNS[k]} | (NARROW if k == 2 else {})
        gains = np.full((draws, 4), np.nan)
        before = process_time()
        for seed in range(draws):
            X = draw(points, n, [99, seed])
            start = microaggregate(X, k, method="mdav").sse(X)
            tries: list[tuple[str, dict[str, Any]]] = [("noisy-pcl", own), ("anneal", {})]
            for column, (method, options) in enumerate(tries):
                found = microaggregate(X, k, method=method, seed=0, **options).sse(X)
                gains[seed, column] = 100.0 * (found / start - 1.0)
            gains[seed, 2] = 100.0 * (lower_bound(X, k, time_limit=PROOF).sse / start - 1.0)
            if k == 2:  # all its cells are pairs; the bound and `anneal` have groups of three, too
                gains[seed, 3] = 100.0 * (best_pairs(X) / start - 1.0)
        mean, deviation = gains.mean(axis=0), gains.std(axis=0, ddof=1)
        return {
            "published": TYPICAL[points],
            "noisy": float(mean[0]),
            "deviation": float(deviation[0]),
            "search": float(mean[1]),
            "search_deviation": float(deviation[1]),
            "proven": float(mean[2]),
            "pairs": float(mean[3]) if k == 2 else None,
            "cpu": (process_time() - before) / draws,
        }
