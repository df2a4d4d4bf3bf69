"""The optimum of a single column."""

from __future__ import annotations

import numpy as np

from voronym._kernels import univariate as kernels
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.partitioners._order import run_labels
from voronym.problem import Problem


@classic(
    "univariate",
    more="no partition of the column loses less",
    cost="O(n log n + n k); memory O(n)",
    reference="10.1109/TKDE.2003.1209020",
    univariate=True,
)
def univariate(problem: Problem, ctx: Context) -> Partition:
    """Solve one column exactly: cells are runs of the sorted values, the best a shortest path.

    In an optimal partition cells are contiguous in the sorted order and have at most 2k-1 records (a larger
    one splits without loss). With edges from b to e for the runs of k to 2k-1 values, weighted by their sum
    of squared errors, the shortest path from 0 to n is the optimum. Equal values may lie in different cells;
    among them the lower index comes first.

    References
    ----------
    S. L. Hansen and S. Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", IEEE
    Transactions on Knowledge and Data Engineering 15 (2003), 1043-1044.

    Examples
    --------
    >>> import voronym as vr
    >>> vr.microaggregate([3.0, 1.0, 1.1, 3.1, 3.2], 2, method="univariate").labels.tolist()
    [0, 1, 1, 0, 0]
    """
    X, k = problem.points, problem.k
    n = len(X)
    order = np.argsort(X[:, 0], kind="stable")
    values = np.ascontiguousarray(X[order, 0])
    values -= values[n // 2]
    cost, last = np.zeros(n + 1), np.zeros(n + 1, np.int64)

    def fill(start: int, stop: int) -> None:
        kernels.shortest_path(values, k, cost, last, start, stop)

    ctx.ranges(fill, n + 1, start=1, budget=max(1, 10_000_000 // k))
    return Partition(run_labels(order, last), k=k)
