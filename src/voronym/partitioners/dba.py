"""DBA: density-based microaggregation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import density as kernels
from voronym._kernels.density import Around, Rest
from voronym.core.context import Context
from voronym.core.options import Options, option, whole
from voronym.partition import Partition
from voronym.partitioners._cells import dissolve_cells
from voronym.partitioners._classic import classic
from voronym.partitioners._near import take_groups
from voronym.problem import Problem

REFERENCE = "Lin, Wen, Hsieh, Chang: Density-based microaggregation, 2010"


@classic(
    "dba-1",
    cost="O(n²) steps and O(n k) searches in a k-d tree; memory O(n (k + d))",
    reference=REFERENCE,
)
def dba_1(problem: Problem, ctx: Context) -> Partition:
    """Build groups in dense regions: the densest remaining record and its k-1 nearest.

    A record is denser if the group with its k-1 nearest remaining records has a smaller sum of squares.
    The last fewer than k records each join the group with the nearest mean. Ties go to the lowest index.

    Notes
    -----
    Density could also mean the distances of the record itself to its nearest records. With the sum of
    squares around the group's mean, our losses equal the reported ones digit by digit.

    References
    ----------
    J.-L. Lin, T.-H. Wen, J.-C. Hsieh and P.-C. Chang, "Density-based microaggregation for statistical
    disclosure control", Expert Systems with Applications 37 (2010), 3256-3263.
    """
    return Partition(phase_1(problem, 0, ctx), k=problem.k)


@dataclass(frozen=True)
class Sparsest(Options):
    """Options of DBA-2."""

    p: int = option(
        0, "number of groups made around the sparsest records, by the densities at the start", check=whole(0)
    )


@classic(
    "dba-2",
    more="never a larger loss than dba-1 where p is 0",
    cost="that of dba-1, then O(n²/k) distances; memory O(n (k + d))",
    reference=REFERENCE,
    options=Sparsest,
)
def dba_2(problem: Problem, ctx: Context, options: Sparsest) -> Partition:
    """Build groups as "dba-1" does, then dissolve, last made first, those whose records fit better elsewhere.

    The groups made last hold the leftovers of the dense regions, so they come first. With ``p`` above 0,
    the variant DBA-2P, the p sparsest records form groups with their k-1 nearest before all others.
    """
    labels = phase_1(problem, options.p, ctx.part(0.0, 0.6))
    part = Partition(labels, k=problem.k)
    made = np.empty(part.n_cells, np.int64)
    made[labels] = part.labels
    return dissolve_cells(problem, part, made[::-1].copy(), ctx.part(0.6, 1.0))


def phase_1(problem: Problem, p: int, ctx: Context) -> NDArray[np.int64]:
    """Return labels in the order in which the groups were made."""

    def begin(around: Around, rest: Rest) -> None:
        kernels.sparsest(around, rest, np.argsort(-around.squares, kind="stable"), p)

    return take_groups(problem, ctx, kernels.densest, begin=begin)
