"""The work in a leaf: group, improve over several rounds, enforce models.

The pair search of `voronym.refiners.pairs` cools once from hot to cold. Here the cooling is divided among
rounds. A round cools each leaf a little further; then whole groups move to the leaves of the next cut, which
has other borders. At the end every border was inside a leaf at most temperatures, and the loss is nearly that
of a search over all records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core import numerics
from voronym.core.context import Context
from voronym.core.options import Options
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.partitioners.kd import partition as halves
from voronym.problem import Problem
from voronym.refiners import pairs
from voronym.refiners.pair_cells import Heat
from voronym.run.parts.leaf import Leaf

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SEARCHES = ("auto", "pairs")
"""Methods that continue from round to round; others group each leaf once."""
WORK = 35.0
"""Default microseconds per record for visits to its group, over all rounds."""
WIDTH = 10
"""Default number of nearest groups that a group exchanges with."""
FIRST = 0.5
"""Share of the cooling done in the first round; later rounds share the rest."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a leaf, their centres and costs."""

    labels: Ints
    centres: Floats
    cost: float

    @classmethod
    def of(cls, problem: Problem, labels: Ints) -> Groups:
        """Measure groups."""
        part = Partition(labels, k=problem.k)
        centres = problem.centroids(part)
        return cls(part.labels, centres, float(numerics.error(problem.points, centres, part.labels).sum()))


def visits(k: int, d: int) -> float:
    """Return the visits per group that `WORK` allows; larger groups, or more columns, take longer."""
    each = (0.45 + 0.035 * d) * (k / 5) ** 2
    return float(np.clip(WORK * k / each, 30.0, 600.0))


def stretch(number: int, rounds: int) -> tuple[float, float]:
    """Return the range of the cooling in a round, counted from 0."""
    if rounds == 1:
        return 0.0, 1.0
    ends = [0.0, *(FIRST + (1.0 - FIRST) * i / (rounds - 1) for i in range(rounds))]
    return ends[number], ends[number + 1]


def begin(problem: Problem, method: str, options: Options, ctx: Context) -> Ints:
    """Group the records of a leaf for the first time: to be improved, or for good."""
    if problem.n < 2 * problem.k:
        return problem.one_group().labels
    if method in SEARCHES:
        return halves(problem.points, problem.k, ctx.quiet())
    chosen = METHODS[method]
    problem.check_method(chosen)
    return chosen.partition(problem, ctx, options).labels


def improve(
    problem: Problem,
    labels: Ints,
    ctx: Context,
    *,
    sweeps: float,
    width: int,
    ends: tuple[float, float],
    kinds: Sequence[Ints] = (),
) -> Groups:
    """Cool the groups of a leaf between two shares of the cooling schedule; ``kinds`` as in `Leaf`."""
    if int(labels.max()) == 0 or not np.ptp(problem.points, axis=0).any():
        return Groups.of(problem, labels)
    cells = Leaf(problem.points, labels, problem.k, ctx.quiet(), kinds)
    start, stop = ends
    if start == 0.0:
        share = 1.0 - problem.n / (problem.k * (1.0 + pairs.ROOM)) / len(cells)
        if share > 0.0:
            cells.dissolve(share, width, ctx.quiet())
    d = problem.points.shape[1]
    hot = float(np.clip(pairs.HOT * (sweeps / 600.0) ** pairs.HOTTER, pairs.COOLEST, pairs.HOTTEST))
    done, quench = start, 1.0 - pairs.QUENCH
    while done < stop and not ctx.over:
        warm = done < quench
        end = min(stop, quench) if warm else stop
        epochs = math.ceil((end - done) * float(np.clip(sweeps / pairs.STAY, *pairs.EPOCHS)))
        goal = end if epochs <= 1 else done + (end - done) / epochs
        first, last = (hot / d * (pairs.COLD / hot) ** at if warm else 0.0 for at in (done, goal))
        cells.visit(width, Heat(sweeps * (goal - done), first, last), ctx.quiet())
        done = goal
    ctx.check(whole=True)
    return Groups(cells.labels, cells.centroids, math.fsum(cells.costs))
