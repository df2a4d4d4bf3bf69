"""What is done in a leaf: group, improve in turns, obey models.

The pair search of `voronym.refiners.pairs` is one cooling from hot to cold. Here it is cut into as many
stretches as there are rounds: a round cools a leaf a little further, then whole groups travel to the leaves
of the next cut, where the borders lie elsewhere. At the end every border has been inside a leaf, at most
temperatures, and the loss is that of a search over all records, or nearly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core import numerics
from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import GuaranteeError, InputError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.partitioners.kd import partition as halves
from voronym.privacy import Model
from voronym.privacy.cells import Judge, Levels
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.enforce import enforce
from voronym.privacy.k_anonymity import KAnonymity
from voronym.privacy.mutual_information import MutualInformation, default_bins
from voronym.problem import Problem
from voronym.refiners import pairs
from voronym.refiners.pair_cells import Heat
from voronym.run.parts.coding import Known
from voronym.run.parts.leaf import Leaf

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SEARCHES = ("auto", "pairs")
"""Methods that go on from round to round; others group each leaf once."""
WORK = 35.0
"""Microseconds a record for visits to its group, in all rounds together, where nothing else is said."""
WIDTH = 10
"""Nearest groups that a group may deal with, where nothing else is said."""
FIRST = 0.5
"""Share of the cooling that the first round does; the others share the rest."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a leaf, their centres and what they cost."""

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
    """Return the visits a group that `WORK` allows: one of larger groups, or more columns, takes longer."""
    each = (0.45 + 0.035 * d) * (k / 5) ** 2
    return float(np.clip(WORK * k / each, 30.0, 600.0))


def stretch(number: int, rounds: int) -> tuple[float, float]:
    """Return from where to where the cooling goes in a round, counted from 0."""
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
    """Cool the groups of a leaf from one share of the way to another; ``kinds`` as for `Leaf`."""
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


@dataclass(frozen=True, eq=False)
class Whole(Levels):
    """A confidential column in a leaf, whose distribution is that of the whole data set."""

    total: Ints = None  # type: ignore[assignment]

    @property
    def n(self) -> int:
        """Number of records in all."""
        return int(self.total.sum())

    @property
    def counts(self) -> Ints:
        """Records of each level in all."""
        return self.total

    def binned(self, bins: int) -> Whole:
        """Return at most so many levels, cut by the whole distribution."""
        probe = replace(self, codes=np.arange(self.size))
        cut = Levels.binned(probe, bins)
        if cut is probe:
            return self
        total = np.bincount(cut.codes, weights=self.total, minlength=cut.size).astype(np.int64)
        return Whole(self.column, cut.codes[self.codes], cut.ordered, cut.values, cut.how, total)

    @classmethod
    def of(cls, known: Known, codes: Ints, kind: str, order: Sequence[str] | None) -> Whole:
        """Return a column from the codes of some records; missing is the last level."""
        values, total = list(known.values), known.counts
        if order is not None:
            place = {str(level): i for i, level in enumerate(order)}
            strange = sum(str(value) not in place for value in values)
            if strange:
                raise InputError(
                    f"confidential column {known.name!r} has {strange} levels that its order of {len(place)} "
                    "lacks; add them to the order"
                )
            sort = np.argsort([place[str(value)] for value in values], kind="stable")
            to = np.empty(len(values) + 1, np.int64)
            to[sort], to[-1] = np.arange(len(values)), -1
            codes, values, total = to[codes], [values[i] for i in sort], total[sort]
        if known.missing:
            codes = np.where(codes < 0, len(values), codes)
            values, total = [*values, None], np.append(total, known.missing)
        ordered = kind in ("numeric", "ordinal", "datetime", "location")
        return cls(known.name, codes.astype(np.int64), ordered, tuple(values), total=total)


def judges(model: Model, columns: Mapping[str, Whole]) -> tuple[Judge, ...]:
    """Return a judge for each confidential column that a model is about, before the whole distribution."""
    assert isinstance(model, ConfidentialModel)  # noqa: S101 - `demanding` has looked
    named = list(columns) if model.column is None else [model.column]
    chosen: list[Any] = [columns[name] for name in named]
    if isinstance(model, MutualInformation) and model.bins != "distinct":
        most = default_bins(chosen[0].n) if model.bins is None else int(model.bins)
        chosen = [one.binned(most) if one.ordered else one for one in chosen]
    return tuple(model.judge(one) for one in chosen)


def demanding(models: Sequence[Model], confidential: Sequence[str]) -> list[Model]:
    """Return the models about confidential columns, and refuse those that cannot be judged in leaves."""
    out: list[Model] = []
    for model in models:
        if not isinstance(model, ConfidentialModel):
            if not isinstance(model, KAnonymity):
                raise InputError(f"{model.name} is not counted over data sets of many files; leave it out")
            continue
        if not confidential:
            raise InputError(f"{model.name} needs a confidential column and none is named")
        if model.column is not None and model.column not in confidential:
            raise InputError(
                f"{model.name} is about confidential columns, and {model.column!r} is not declared as one; "
                f"these are: {', '.join(confidential)}"
            )
        if isinstance(model, MutualInformation) and model.joint:
            raise InputError(f"{model.name}: joint columns are not counted over data sets of many files")
        out.append(model)
    return out


def obey(problem: Problem, labels: Ints, asked: Sequence[Judge], ctx: Context, way: str) -> Ints:
    """Make the groups of a leaf obey models, judged before the distribution of the whole data set."""
    share = problem.n / asked[0].levels.n
    fair = [
        replace(judge, required=judge.required * share)
        if judge.additive and judge.required is not None
        else judge
        for judge in asked
    ]
    try:
        found = enforce(Problem(problem.records, problem.k, fair), Partition(labels), ctx, method=way)
    except GuaranteeError as error:
        raise GuaranteeError(
            f"a leaf of {problem.n:,} neighbouring records cannot obey a model even as one group ({error}). "
            "Larger leaves are more like the whole table: raise --leaf, or ask for less"
        ) from None
    return found.partition.labels
