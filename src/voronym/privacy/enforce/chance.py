"""Merge and exchange at random, so that an intruder who knows the method is less sure of the cause.

The draws never use the seed: recipes are shared, and anybody who could repeat the draws could undo them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym.core import later
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.enforce.swap import swap
from voronym.problem import Problem

cKDTree = later.called("scipy.spatial", "cKDTree")  # noqa: N816 - its own name

Ints = NDArray[np.int64]

NEAR = 3
"""Number of nearest groups from which a partner is drawn."""

SHARE = 0.5
"""Probability that a group is merged, or exchanges a record, without need."""


def random_merge(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Merge groups at random first, each with probability one half, then those that a judge refuses.

    So a merged group reveals little, because it may have been merged without a reason. A factor of two
    remains between a group that had to be merged and one that had not.
    """
    rng = np.random.default_rng()
    labels = part.labels.copy()
    free = np.ones(part.n_cells, bool)
    for group, near in _near(problem, part, rng):
        partners = near[free[near]]
        if free[group] and len(partners) and rng.random() < SHARE:
            other = int(rng.choice(partners))
            free[[group, other]] = False
            labels[part.labels == other] = group
    return merge(problem, Partition(labels, k=problem.k), asked, ctx)


def random_swap(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    """Exchange records until every judge accepts, then make a few random exchanges that all accept.

    A record that is far from its group then tells little: it may be there for no reason.
    """
    rng = np.random.default_rng()
    result = swap(problem, part, asked, ctx)
    labels = result.labels.copy()
    members = result.cells()
    for group, near in _near(problem, result, rng):
        if rng.random() >= SHARE or not len(near):
            continue
        other = int(rng.choice(near))
        mine, its = (int(rng.integers(len(members[item]))) for item in (group, other))
        first, second = members[group].copy(), members[other].copy()
        first[mine], second[its] = second[its], first[mine]
        if _accepted(asked, first) and _accepted(asked, second):
            members[group], members[other] = first, second
            labels[first], labels[second] = group, other
    mixed = Partition(labels, k=problem.k)
    return mixed if asked.hold(mixed.labels) else result  # a sum over all groups may be above its limit


def _near(problem: Problem, part: Partition, rng: np.random.Generator) -> list[tuple[int, Ints]]:
    """Return the groups in random order, each with its nearest groups."""
    centres = part.centroids(problem.records.coordinates)
    many = min(NEAR + 1, part.n_cells)
    result = np.asarray(cKDTree(centres).query(centres, many)[1]).reshape(part.n_cells, many)
    return [(int(group), result[group][result[group] != group]) for group in rng.permutation(part.n_cells)]


def _accepted(asked: Requirements, members: Ints) -> bool:
    judges = (judge for judge in asked.judges if not judge.additive)
    return all(bool(judge.holds(judge.value(judge.levels.codes[members]))) for judge in judges)
