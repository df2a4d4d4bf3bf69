"""MHM: the best cut of a path through the records."""

from __future__ import annotations

from voronym.core.context import Context
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.partitioners._classic import classic
from voronym.partitioners._order import chain_cells, cut, nearest_next, outermost
from voronym.problem import Problem

REFERENCE = "Domingo-Ferrer et al.: Efficient multivariate data-oriented microaggregation, 2006"


@classic(
    "npn-mhm",
    more="no cut of the same path loses less",
    cost="O(n) searches in a k-d tree and O(n k) steps, O(n²) distances at worst; memory O(n d)",
    reference=REFERENCE,
)
def npn_mhm(problem: Problem, ctx: Context) -> Partition:
    """Go from each record to the nearest unvisited one, then cut that path at the best places.

    The path begins at the record farthest from the mean of all; ties go to the lowest index. Groups are runs
    of the path of k to 2k-1 records; the best of them form a shortest path, as in `univariate`.

    References
    ----------
    J. Domingo-Ferrer, A. Martínez-Ballesté, J. M. Mateo-Sanz and F. Sebé, "Efficient multivariate
    data-oriented microaggregation", The VLDB Journal 15 (2006), 355-369.
    """
    X, k = problem.points, problem.k
    order = nearest_next(X, outermost(X), ctx.part(0.0, 0.5))
    return cut(X, order, [k], ctx.part(0.5, 1.0))[k]


@classic(
    "mdav-mhm",
    more="never a larger loss than mdav",
    cost="that of mdav, then O(n k) steps; memory O(n d)",
    reference=REFERENCE,
)
def mdav_mhm(problem: Problem, ctx: Context) -> Partition:
    """Chain the groups of MDAV to a path, then cut that path at the best places.

    The path begins at the record farthest from the overall mean, in its group. From a group it goes to
    the unvisited group with the nearest centroid, enters it at the record nearest to the last one, and
    visits its records by nearest next. The groups of MDAV are runs of this path, so the best cut loses no
    more.
    """
    return _recut("mdav", problem, ctx)


@classic(
    "md-mhm",
    more="never a larger loss than md",
    cost="that of md, then O(n k) steps; memory O(n d)",
    reference=REFERENCE,
)
def md_mhm(problem: Problem, ctx: Context) -> Partition:
    """Chain the groups of MD to a path, as `mdav_mhm` chains those of MDAV, and cut it at the best places."""
    return _recut("md", problem, ctx)


def _recut(base: str, problem: Problem, ctx: Context) -> Partition:
    """Return the best cut of the chained groups of another method."""
    X, k = problem.points, problem.k
    part = METHODS[base].partition(problem, ctx.part(0.0, 0.8))
    order = chain_cells(X, part, ctx.part(0.8, 0.9))
    again = cut(X, order, [k], ctx.part(0.9, 1.0))[k]
    return min((part, again), key=problem.cost)  # rounding may favour what was given
