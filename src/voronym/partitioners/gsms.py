"""GSMS: successive selection of groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import density as kernels
from voronym._kernels import plain
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners._cells import by_falling_loss, dissolve_cells
from voronym.partitioners._classic import classic
from voronym.partitioners._near import take_groups
from voronym.problem import Problem

REFERENCE = "Panagiotakis, Tziritas: Successive group selection for microaggregation, 2013"


@classic(
    "gsms",
    cost="O(n²/k) distances and O(n k) searches in a k-d tree; memory O(n (k + d))",
    reference=REFERENCE,
)
def gsms(problem: Problem, ctx: Context) -> Partition:
    """Remove, repeatedly, the group with the least sum of squares in the group and in the rest together.

    Every remaining record proposes a group: itself and its k-1 nearest. The group that minimises
    ``SSE(group) + SSE(rest)``, with the rest as a single group, is formed, while k or more records
    remain. The others each join the group with the nearest mean.

    Notes
    -----
    With N records left and m their mean, ``SSE(group) + SSE(rest) = SSE(all left) - k N / (N - k)
    |m_group - m|²``: the group sought is the one whose mean is farthest from that of the remaining. So no sum
    of squares is computed at all. The description also allows to minimise SSE(rest) alone; that lost more on
    Census and Tarragona in four cases of six.

    References
    ----------
    C. Panagiotakis and G. Tziritas, "Successive group selection for microaggregation", IEEE Transactions on
    Knowledge and Data Engineering 25 (2013), 1191-1195.
    """
    return Partition(_select(problem, ctx), k=problem.k)


@classic(
    "gsms-t2",
    more="never a larger loss than gsms",
    cost="that of gsms, then O(n²/k) distances; memory O(n (k + d))",
    reference=REFERENCE,
)
def gsms_t2(problem: Problem, ctx: Context) -> Partition:
    """Build groups as "gsms" does, then dissolve those whose records fit better elsewhere.

    The second phase is that of `voronym.partitioners.tfrp.tfrp_2`.
    """
    part = Partition(_select(problem, ctx.part(0.0, 0.7)), k=problem.k)
    return dissolve_cells(problem, part, by_falling_loss(problem, part), ctx.part(0.7, 1.0))


def _select(problem: Problem, ctx: Context) -> NDArray[np.int64]:
    X = problem.points
    sums = kernels.Sums(*(np.empty(X.shape[1]) for _ in range(3)))
    plain.start_sums(X, sums.high, sums.low)
    return take_groups(problem, ctx, lambda near, rest, n: kernels.farthest_out(near, rest, sums, n))
