"""Groups that do not cross strata: each part of the table is grouped separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError, hint
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.result import Cost, Stratum
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
Divide = Callable[[Problem, Ints, Context], tuple[Partition, tuple[Cost, ...]]]


def check_strata(table: Table, strata: Sequence[str]) -> None:
    """Refuse strata that an intruder would know and that are no keys."""
    for name in strata:
        if name not in table.keys:
            raise InputError(
                f"strata: {name!r} is no key, and a group inside one stratum reveals it: make it a key "
                f"({hint('keys', [name])})"
            )


def strata_of(table: Table, strata: Sequence[str], k: int) -> tuple[Ints, list[str]]:
    """Return the stratum of each record and its name; refuse strata with fewer records than k."""
    of = equivalence_classes(table.frame, strata).labels
    many = np.bincount(of)
    small = int((many < k).sum())
    if small:
        raise GuaranteeError(
            f"{small} of the {len(many)} strata by {', '.join(strata)} have fewer than k={k} records. Take "
            f"fewer or larger strata ({hint('steps', 'recode ...')} makes larger ones), or leave those "
            "records out"
        )
    first = first_rows(of, len(many)).tolist()
    return of, [", ".join(str(table.frame[name][row]) for name in strata) for row in first]


def divide_strata(
    table: Table, problem: Problem, strata: Sequence[str], ctx: Context, divide: Divide
) -> tuple[Partition, tuple[Cost, ...], tuple[Stratum, ...]]:
    """Divide the records of each stratum into groups.

    Parameters
    ----------
    table : Table
        The records, row by row as in the problem.
    problem : Problem
        All of them.
    strata : sequence of str
        Keys whose values groups must not mix.
    ctx : Context
        Context of the whole grouping; a stratum gets its share of the time.
    divide : callable
        ``(problem, rows, ctx) -> groups and the cost of each guarantee``, for some of the records.

    Returns
    -------
    partition, costs, strata
        The groups of all records; the cost of each guarantee; and each stratum.

    Raises
    ------
    GuaranteeError
        A stratum has fewer records than k.
    """
    of, names = strata_of(table, strata, problem.k)
    many = np.bincount(of)
    labels = np.empty(problem.n, np.int64)
    result: list[Stratum] = []
    lost: dict[str, float] = {}
    begun, groups = 0, 0
    for number, size in enumerate(many.tolist()):
        rows = np.flatnonzero(of == number)
        part_of = problem.subset(rows)
        here = ctx.part(begun / problem.n, (begun + size) / problem.n, time=size / (problem.n - begun))
        part, costs = divide(part_of, rows, here)
        labels[rows] = part.labels + groups
        for cost in costs:
            lost[cost.guarantee] = lost.get(cost.guarantee, 0.0) + cost.loss * part_of.total
        result.append(Stratum(names[number], size, part.n_cells, int(part.sizes.min()), part_of.loss(part)))
        begun, groups = begun + size, groups + part.n_cells
    total = problem.total if problem.total > 0.0 else 1.0
    all_costs = tuple(Cost(name, loss / total, "in strata") for name, loss in lost.items())
    return Partition(labels, k=problem.k), all_costs, tuple(result)
