"""The entry point of enforcement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from voronym.core.context import Context
from voronym.core.registry import Registry
from voronym.errors import GuaranteeError, InputError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.privacy.enforce.blind import blind
from voronym.privacy.enforce.chance import random_merge, random_swap
from voronym.privacy.enforce.first import confidential_first, least_size
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Requirements, refuse_impossible
from voronym.privacy.enforce.swap import swap
from voronym.problem import Problem

REPAIRABLE = 0.3
"""Share of failing cells up to which exchanges are tried in any table."""

SMALL = 5_000
"""Number of records up to which exchanges are always tried."""

Way = Callable[[Problem, Partition, Requirements, Context], Partition]


@dataclass(frozen=True)
class Enforced:
    """A partition that every judge accepts, and its cost.

    Parameters
    ----------
    partition : Partition
        A partition with cells of at least k.
    way : str
        The way it was made; "none" if the given partition was accepted.
    cost_before, cost_after : float
        Cost of publishing the groups' centroids before and after.
    tried : mapping
        The cost that each way came to.
    """

    partition: Partition
    way: str
    cost_before: float
    cost_after: float
    tried: Mapping[str, float] = field(default_factory=dict)


def enforce(problem: Problem, part: Partition, ctx: Context, *, way: str = "auto") -> Enforced:
    """Make a partition obey privacy models at the least loss.

    The problem: minimise the cost of publishing centroids over partitions into groups of at least k records
    that every judge accepts.

    Parameters
    ----------
    problem : Problem
        The records, the least size of a group, and a judge for each model and confidential column as demands.
        Those without a threshold demand nothing.
    part : Partition
        A partition into groups of at least k, from any method.
    ctx : Context
        Its generator decides ties in the confidential values: the same seed gives the same partition.
    way : {"auto", "merge", "swap", "confidential-first", "blind", "random-merge", "random-swap"}
        "auto" tries confidential-first and, if few cells fail or the table is small, swapping, and keeps the
        better one. If ``part`` is accepted, these and merging return it unchanged. The others protect against
        an intruder who knows the method, so they do not check that first.

    Returns
    -------
    Enforced
        A partition that every judge accepts, as checked by the judges.

    Raises
    ------
    GuaranteeError
        A judge does not accept even a single cell of all records.

    Examples
    --------
    >>> import numpy as np, voronym as vr
    >>> from voronym.privacy.level import Levels
    >>> from voronym.privacy.enforce import enforce
    >>> from voronym.core.context import Context
    >>> from voronym.problem import Problem
    >>> records = Problem.of([[1.0], [1.1], [1.2], [5.0], [5.1], [5.2]], 3).records
    >>> ill = Levels("ill", np.array([0, 0, 0, 1, 1, 1]), False, ("no", "yes"))
    >>> judge = vr.privacy.p_sensitive.PSensitive(2).judge(ill)
    >>> done = enforce(Problem(records, 3, [judge]), vr.Partition([0, 0, 0, 1, 1, 1]), Context())
    >>> float(judge.values(done.partition.labels, done.partition.n_cells).min())
    2.0
    """
    k = problem.k
    problem.records.check(part)
    part = Partition(part.labels, k=k)
    if way != "auto":
        WAYS[way]  # raises with the known names if this is none
    before = problem.cost(part)
    judges = [judge for judge in problem.demands if judge.required is not None]
    if not judges:
        return Enforced(part, "none", before, before)
    asked = Requirements(judges)
    if asked.n != problem.n:
        raise InputError(f"X has {problem.n} records, the confidential columns have {asked.n}")
    refuse_impossible(asked.judges)
    if way not in WARY and asked.hold(part.labels):
        return Enforced(part, "none", before, before)
    names = choose(part, asked) if way == "auto" else (way,)
    outcome: dict[str, Partition] = {}
    for number, name in enumerate(names):
        here = ctx.part(number / len(names), (number + 1) / len(names), time=1.0 / (len(names) - number))
        outcome[name] = WAYS[name](problem, part, asked, here)
    tried = {name: problem.cost(result) for name, result in outcome.items()}
    best = min(names, key=lambda name: tried[name])
    result = Partition(outcome[best].labels, k=k)
    if not asked.hold(result.labels):  # never seen; the promise is checked, not trusted
        raise GuaranteeError(f"{best} left {len(asked.failing(result.labels))} cells that a model refuses")
    return Enforced(result, best, before, tried[best], tried)


def choose(part: Partition, asked: Requirements) -> tuple[str, ...]:
    """Return the methods to try: confidential-first, and exchanges if few cells or records fail.

    Where most cells fail, exchanges take longer and, on the tables that we measured, lose more.
    """
    few = len(asked.failing(part.labels)) <= REPAIRABLE * part.n_cells
    return ("swap", "confidential-first") if few or part.n <= SMALL else ("confidential-first",)


def _large_enough(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    size = least_size(asked, problem.k)
    if size > part.sizes.min() and size > problem.k:  # no group of k could be accepted, whatever it holds
        return METHODS["mdav"].partition(problem.with_k(size), ctx.quiet())
    return part


def _swap(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    return swap(problem, _large_enough(problem, part, asked, ctx), asked, ctx)


def _first(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:  # noqa: ARG001
    return confidential_first(problem, asked, ctx)  # it starts afresh


def _random_swap(problem: Problem, part: Partition, asked: Requirements, ctx: Context) -> Partition:
    return random_swap(problem, _large_enough(problem, part, asked, ctx), asked, ctx)


WAYS: Registry[Way] = Registry("way to enforce models")
for _name, _way in {
    "merge": merge,
    "swap": _swap,
    "confidential-first": _first,
    "blind": blind,
    "random-merge": random_merge,
    "random-swap": _random_swap,
}.items():
    WAYS.add(_name, _way)

WARY = ("blind", "random-merge", "random-swap")
"""Methods that protect against an intruder who knows the method."""
