"""The demands on groups beyond k, and how they are met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.privacy import Judge, Model
from voronym.privacy.enforce import enforce, refuse_impossible
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.result import Cost
from voronym.table.table import Table


def enforcement(choices: ReleaseChoices) -> str:
    """Return how groups are made to obey models, the intruder considered."""
    return choices.enforce if choices.intruder == "keys" else "blind"


def demands_of(table: Table, models: Sequence[Model]) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return the models that groups must obey in addition to k, with a judge for each confidential column.

    Models that no partition can obey are refused here, before the work.
    """
    for model in models:
        column = model.column
        if column is not None and column not in table.confidential:
            raise InputError(
                f"{model.name} is about confidential columns, and {column!r} is not declared as one; "
                f"these are: {', '.join(table.confidential) or 'none'}"
            )
    demands: list[tuple[str, tuple[Judge, ...]]] = [
        (str(model), tuple(_share(judge, table) for judge in model.judges(table)))
        for model in models
        if model.required is not None and model.merging
    ]
    refuse_impossible([judge for _, judges in demands for judge in judges])
    return demands


def _share(judge: Judge, table: Table) -> Judge:
    """Return a judge for a part of a data set: a sum over all records is divided among the parts."""
    if table.totals is None or not judge.additive or judge.required is None:
        return judge
    return replace(judge, required=judge.required * len(judge.levels.codes) / judge.levels.n)


def obey(
    problem: Problem,
    part: Partition,
    demands: Sequence[tuple[str, tuple[Judge, ...]]],
    how: str,
    ctx: Context,
    loss: Callable[[Partition], float] | None = None,
) -> tuple[Partition, tuple[Cost, ...]]:
    """Make the groups obey one model after the other, and report the cost of each.

    Groups that obey more models also obey fewer. If the search found a smaller loss with more models,
    that loss counts for fewer, too. ``loss``: a function for the loss of groups, by default that of the
    problem.
    """
    if how == "blind" and demands:  # the needs of single models stay secret
        demands = [
            (", ".join(name for name, _ in demands), tuple(item for _, own in demands for item in own))
        ]
    outcome = [(f"k-anonymity={problem.k}", part, "none")]
    judges: list[Judge] = []
    for number, (name, own) in enumerate(demands):
        judges += own
        before = outcome[-1][1]
        # Groups that obeyed the models before may obey this one, too. If not, begin with k-anonymous ones.
        lucky = all(np.all(judge.holds(judge.values(before.labels, before.n_cells))) for judge in judges)
        here = ctx.part(
            number / len(demands),
            (number + 1) / len(demands),
            stage=f"enforcing {name}",
            time=1 / (len(demands) - number),
        )
        here.tell(0.0)
        demanding = Problem(problem.records, problem.k, judges)
        result = enforce(demanding, before if lucky else part, here, way=how)
        outcome.append((name, result.partition, result.way))
    costs: list[Cost] = []
    least, loss = np.inf, problem.loss if loss is None else loss
    for name, groups, way in reversed(outcome):
        least = min(least, loss(groups))
        costs.append(Cost(name, float(least), way))
    return outcome[-1][1], tuple(reversed(costs))


def make_obey(
    problem: Problem,
    part: Partition,
    demands: Sequence[tuple[str, tuple[Judge, ...]]],
    ctx: Context,
    how: str = "merge",
) -> Partition:
    """Return groups that meet the demands."""
    return obey(problem, part, demands, how, ctx)[0] if demands else part
