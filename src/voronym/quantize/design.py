"""The entry to designing quantizers, and the methods based on it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.context import Context
from voronym.core.options import Options, number, option, whole
from voronym.core.validate import checked
from voronym.errors import Unfinished
from voronym.method import METHODS, algorithm, split_large
from voronym.partition import Partition
from voronym.problem import Problem, check_points
from voronym.quantize.costs.base import Bounds, equal_sizes
from voronym.quantize.diverse import diverse
from voronym.quantize.pcl import alternate, pcl
from voronym.quantize.quantizer import Quantizer
from voronym.quantize.settings import Settings, thorough

REFERENCE = (
    "D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, A modification of the Lloyd algorithm "
    "for k-anonymous quantization, Information Sciences 222 (2013)"
)


@checked
def design(X: ArrayLike, cells: int | None = None, **options: Any) -> Quantizer:
    """Design a quantizer whose cells have prescribed probabilities, at a small mean distance.

    Does the same as `voronym.quantize.pcl`, with the same arguments, and returns only the quantizer.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points, used as they are.
    cells : int, optional
        Number of cells of nearly equal size, if neither probabilities nor sizes are given.
    **options
        ``probabilities``, ``sizes``, ``costs``, ``init``, ``speed``, ``restarts``, ``cooling``, ``space``,
        ``seed``, ``tolerance``, ``iterations``, ``time_limit`` and ``progress``: see `voronym.quantize.pcl`.

    Returns
    -------
    Quantizer
        On its own points, its cells have the requested sizes, except for equal points that had to be divided
        between cells: a rule sends all of them to one cell.

    Examples
    --------
    >>> import numpy as np
    >>> quantizer = design(np.arange(12.0), probabilities=[0.25, 0.75], init=[[0.0], [8.0]])
    >>> quantizer.centroids.ravel().tolist()
    [1.0, 7.0]
    >>> np.bincount(quantizer.assign(np.arange(12.0))).tolist()
    [3, 9]
    """
    return pcl(X, cells, **options).quantizer


@dataclass(frozen=True)
class PclVariableOptions(Options):
    """Options of PCL with groups of k to 2k-1 records."""

    init: str = option("mdav", "the method that makes the first groups")
    speed: float = option(
        1.8, "how far centroids move, above 0 and up to 2", check=number(most=2.0, above=0.0)
    )
    tolerance: float = option(1e-5, "relative gain at which it ends", check=number(0.0))
    iterations: int = option(300, "rounds, at most", check=whole(1))


@dataclass(frozen=True)
class PclOptions(PclVariableOptions):
    """Options of PCL."""

    init: str = option("mdav", 'the method whose groups give the first centroids, or "random"')
    restarts: int | None = option(
        None,
        "designs, each from the best so far, shaken; the best is kept; by default 8 where there are up to "
        "100,000 pairs of records and groups, fewer up to 500,000, else 1",
        check=whole(1),
    )
    cooling: int | None = option(
        None,
        "rounds of soft assignments that harden slowly, before each design but the first; by default 50 "
        "where there are several designs by default, else 0",
        check=whole(0),
    )
    diverse: float | None = option(
        None,
        "least share of every level of the confidential column of the first model in every group, as a part "
        "of its share in the table: 1 gives each group the levels of the whole table; groups may be larger",
        check=number(above=0.0, most=1.0),
    )


@algorithm(
    "pcl",
    guarantee="n // k groups, whose sizes differ by one at most",
    cost="that of MDAV, then some tens of passes; memory O(n d)",
    reference=REFERENCE,
    options=PclOptions,
    anywhere=True,
    model_free=True,
    max_size=lambda k: 2 * k - 1,
    practical=50_000,
)
def pcl_method(problem: Problem, ctx: Context, options: PclOptions) -> Partition:
    """Alternate centroids and exact assignments to cells of equal sizes (probability-constrained Lloyd).

    Cells are convex in Euclidean space. The method ``init`` gives centroids only, as in the paper of 2011,
    section 5.3: where its groups are uneven, as V-MDAV's are, "pcl-variable" begins with their sizes, too.
    With ``diverse`` every group also holds its share of each confidential level: diversity by design.
    """
    if options.diverse is not None:
        return diverse(problem, options.diverse, ctx)
    sizes = equal_sizes(problem.n, problem.n // problem.k)
    partition = _partition(problem, ctx.part(0.0, 0.9), Bounds(sizes, sizes), options.init, options)
    least, most = sizes.min(), sizes.max()
    if least < most and not ctx.over:  # so far the first cells had one more: now those where it costs least
        either = Bounds(np.full(len(sizes), least), np.full(len(sizes), most))
        once = replace(options, restarts=1, cooling=0)
        with suppress(Unfinished):
            partition = _partition(problem, ctx.part(0.9, 1.0), either, partition, once)
    return partition


@algorithm(
    "pcl-variable",
    guarantee="every group has k to 2k-1 records; no more loss than its start",
    cost="that of MDAV, then some tens of passes; memory O(n d)",
    reference=REFERENCE,
    options=PclVariableOptions,
    anywhere=True,
    max_size=lambda k: 2 * k - 1,
    practical=50_000,
)
def pcl_variable(problem: Problem, ctx: Context, options: PclVariableOptions) -> Partition:
    """Alternate centroids and exact assignments to cells of k to 2k-1 records.

    The method ``init`` makes the first cells and so determines their number; MDAV divides cells above
    2k-1.
    """
    first = METHODS[options.init].partition(problem, ctx.part(0.0, 0.1))
    begin = split_large(problem, first.labels, ctx.quiet())
    bounds = Bounds(np.full(begin.n_cells, problem.k), np.full(begin.n_cells, 2 * problem.k - 1))
    return _partition(problem, ctx.part(0.1, 1.0), bounds, begin, options)


def _partition(
    problem: Problem, ctx: Context, bounds: Bounds, init: str | Partition, options: PclVariableOptions
) -> Partition:
    settings = Settings("transport", options.speed, 1, options.tolerance, options.iterations)
    if isinstance(options, PclOptions):
        settings = thorough(settings, options.restarts, options.cooling, bounds, init, problem.space)
    result = alternate(check_points(problem.X), bounds, init, problem.space, settings, ctx)
    return Partition(result.labels, k=problem.k)
