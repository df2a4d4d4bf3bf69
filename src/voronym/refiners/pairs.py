"""Pair search: all moves between pairs of neighbouring cells, for tables of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voronym._cuda.device import attempt
from voronym._cuda.pairs import improve
from voronym.core.context import Context
from voronym.core.options import Options, number, option, whole
from voronym.method import METHODS, split_large
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.model_cells import ModelCells
from voronym.refiners.pair_cells import Cells, Heat
from voronym.refiners.registry import refiner
from voronym.refiners.work import Ints

STAY = 30
"""Visits per cell between two cuts into blocks; with fewer, cutting takes most of the time."""
EPOCHS = (6, 64)
"""Fewest and most cuts into blocks."""
HOT, COLD = 2.5, 0.25
"""First and last temperature, relative to the cost of a record in one column, for 600 visits per cell."""
MODEL_COLD = 0.5
"""The last temperature in a space without coordinates."""
HOTTER, COOLEST, HOTTEST = 0.25, 1.0, 6.0
"""Exponent by which more visits raise the first temperature, and the limits of that temperature."""
QUENCH = 0.05
"""Share of the work, at the end, that accepts only gains."""
ROOM = 0.025
"""Share by which cells exceed k on average at the start, because a shift needs a cell above k."""
TRIAL = 4.0
"""Visits per cell that estimate the speed, if there is a time limit."""
POLISH = 0.3
"""Share of the work for `exchange` at the end, in a space without coordinates."""
RETOUCH = 0.1
"""The same on the sphere, where squares about the mean are nearly the cost."""
LEAF = 10_000
"""Records per MDAV start in such a space, in which halving alone starts poorly."""


@dataclass(frozen=True)
class PairsOptions(Options):
    """Options of the pair search."""

    sweeps: float = option(600.0, "visits per group, without a time limit", check=number(above=0.0))
    candidates: int = option(
        16, "number of nearest groups in its block that a group may exchange records with", check=whole(1)
    )


def begin(problem: Problem, ctx: Context) -> Partition:
    """Return the start: cells by halving; without coordinates, MDAV in leaves made by halving."""
    halve = METHODS["kd"].partition
    if problem.records.points is not None:
        return halve(problem, ctx)
    leaves = halve(problem.with_k(min(max(LEAF, problem.k), problem.n)), ctx.part(0.0, 0.2))
    return split_large(problem, leaves.labels, ctx.part(0.2, 1.0))


@refiner(
    "pairs",
    guarantee="every group has k to 2k-1 records; no more loss than the start has",
    cost="O(k² d) at most a visit of two groups, 600 visits a group unless a time is given; memory O(n d)",
    reference="this project",
    begin="kd",
    by=begin,
    max_size=lambda k: 2 * k - 1,
    anywhere=True,
    weighted=True,
    options=PairsOptions,
)
def pairs(problem: Problem, part: Partition, ctx: Context, options: PairsOptions) -> Partition:
    """Visit pairs of neighbouring groups, and make the best, or nearly the best, of their swaps and shifts.

    A visit prices every swap of two records and every shift of one between two neighbouring groups,
    exactly. It makes the move with the lowest price less a random noise, if that is below zero. The noise
    is exponential. Its scale, the temperature, falls; it is a share of the local cost of records, so that
    heavy tails and dense middles are searched alike. At first a few percent of the groups are dissolved
    to make room for shifts; at the end there is no noise.

    The table is cut along random directions into blocks of neighbouring groups that fit a core's cache,
    and cut again after some visits. Each block has its own random numbers, so the result does not depend
    on the number of threads.

    Examples
    --------
    >>> import voronym as vr
    >>> X = vr.datasets.gaussian(500, 3, seed=1)
    >>> start = vr.microaggregate(X, 5, method="mdav")
    >>> vr.refine(X, start, method="pairs").sse(X) < 0.9 * start.sse(X)
    True
    """
    if part.sizes.max() >= 2 * problem.k:
        part = split_large(problem, part.labels, ctx.quiet())
    if part.n_cells == 1 or problem.total == 0.0:
        return part
    if problem.records.points is None or problem.weights is not None:
        result = _by_model(problem, part, ctx, options)
    elif problem.records.by_squares:
        result = _by_points(problem, part, ctx, options)
    else:
        here = ctx.part(0.0, 1.0 - RETOUCH, time=1.0 - RETOUCH)
        cells = ModelCells(problem.records, _by_points(problem, part, here, options), problem.k)
        cells.polish(options.sweeps, ctx.part(1.0 - RETOUCH, 1.0))
        result = cells.labels
    ctx.check(whole=False)
    return problem.better(part, result)


def _by_points(problem: Problem, part: Partition, ctx: Context, options: PairsOptions) -> Ints:
    """Search among coordinates; return labels."""
    cells = Cells(problem.points, part.labels, problem.k, ctx)
    make_room(cells, problem, ctx, options)
    seed = int(ctx.rng.integers(2**31)) if ctx.device == "cuda" else 0
    result = attempt(
        lambda: improve(problem.points, problem.k, ctx, labels=Partition(cells.labels).labels, seed=seed), ctx
    )
    if result is not None:
        return result
    for done in search(cells, ctx, options):
        ctx.tell(done, 100.0 * cells.cost / problem.total)
    return cells.labels


def _by_model(problem: Problem, part: Partition, ctx: Context, options: PairsOptions) -> Ints:
    """Search by the cost model of the space, then by `exchange`; return labels."""
    cells = ModelCells(problem.records, part.labels, problem.k)
    make_room(cells, problem, ctx, options)
    here = ctx.part(0.0, 1.0 - POLISH, time=1.0 - POLISH)
    for done in search(cells, here, options):
        here.tell(done, 100.0 * cells.cost / problem.total)
    cells.polish(options.sweeps, ctx.part(1.0 - POLISH, 1.0))
    return cells.labels


def make_room(cells: Cells | ModelCells, problem: Problem, ctx: Context, options: PairsOptions) -> None:
    """Dissolve cells until the others exceed k by a little."""
    share = 1.0 - problem.n / (problem.k * (1.0 + ROOM)) / len(cells)
    if share > 0.0:
        cells.dissolve(share, options.candidates, ctx.quiet())


def search(cells: Cells | ModelCells, ctx: Context, options: PairsOptions) -> Iterator[float]:
    """Visit pairs while the temperature falls; yield the share of work done from time to time.

    With a deadline, a few visits measure the speed of this machine, and every epoch measures it again. No
    epoch may take more than twice its share of the time, so that the last part without noise always runs.
    """
    d, width = cells.columns, options.candidates
    cold = COLD if isinstance(cells, Cells) else MODEL_COLD
    done = made = rate = 0.0
    while done < 1.0 and not ctx.over:
        rest = 1.0 - done
        visits = rate * ctx.left if ctx.timed else options.sweeps * rest  # in all of the rest
        hot = float(np.clip(HOT * ((made + visits) / 600.0) ** HOTTER, COOLEST, HOTTEST))
        before = ctx.spent
        if ctx.timed and rate == 0.0:
            few = cells.visit(width, Heat(TRIAL, HOT / d, HOT / d), ctx.quiet())
        else:
            warm = done < 1.0 - QUENCH
            end = 1.0 - QUENCH if warm else 1.0
            epochs = float(np.ceil((end - done) * np.clip(visits / rest / STAY, *EPOCHS)))
            goal = end if epochs <= 1 else done + (end - done) / epochs
            first, last = (hot / d * (cold / hot) ** at if warm else 0.0 for at in (done, goal))
            here = ctx.part(done, goal, time=min(1.0, 2.0 * (goal - done) / rest))
            few = cells.visit(width, Heat(visits * (goal - done) / rest, first, last), here)
            done = goal
        made += few
        rate = max(few, 1e-3) / max(ctx.spent - before, 1e-6)
        yield done
