"""Leave out records so that the others lose least.

A few unusual people cause most of the loss: in any group they move the centre away from the others. With a
budget, ``suppress = 1 %``, they stay out. The search tries records far from their nearest neighbours, and
whole groups with a high cost. Then it exchanges records outside with records inside, as long as this helps.
`least` bounds the gain of any other choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voronym.certify.bound import shave
from voronym.certify.neighbours import nearest_sums
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.keyspaces import DEFAULT_SPACE, importance_of
from voronym.method import METHODS
from voronym.methods.blank_leaving import Coded
from voronym.methods.blank_models import shared
from voronym.methods.crowd import Crowd
from voronym.methods.strata import check_strata
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SEARCHED = 20_000
"""Up to this number of records, trial groups are improved by a search."""
ROUNDS = 6
"""Number of times that exchanges and new groups alternate."""


@dataclass(frozen=True)
class Left:
    """The records left out, and the loss that this saves.

    Parameters
    ----------
    kept : array of bool, shape (n,)
        Whether each record stays in.
    before, after : float
        Information loss of trial groups in percent of the variance of all records: of all, and of those kept.
    least : float
        Lower bound on the loss of the remaining groups for any choice of records left out, in the same
        percent.
    strata : int
        Number of strata, each with at most the same share left out; 0 without strata.
    again : int
        Number of them who were left out of an earlier release, and stay out.
    of_row : array of int, optional
        The person of each row of the table, if people have several rows. Then people are left out,
        each with all rows.
    """

    kept: NDArray[np.bool_]
    before: float
    after: float
    least: float
    strata: int = 0
    again: int = 0
    of_row: Ints | None = None

    @property
    def rows(self) -> Ints:
        """The rows of the table that stay."""
        return np.flatnonzero(self.kept if self.of_row is None else self.kept[self.of_row])

    @property
    def sentence(self) -> str:
        """The choice and its saving as a sentence."""
        n, out = len(self.kept), int((~self.kept).sum())
        who = "records" if self.of_row is None else "people"
        with_all = "" if self.of_row is None else " with all their rows"
        less = 100.0 * (1.0 - self.after / self.before) if self.before > 0.0 else 0.0
        most = 100.0 * (1.0 - self.least / self.before) if self.before > 0.0 else 0.0
        if not out:
            return (
                "nobody was left out: no choice was found that lowers the loss; any choice could have saved "
                f"at most {most:.0f} %"
            )
        were = "was" if out == 1 else "were"
        head = f"{out:,} of {n:,} {who} ({100 * out / n:.2g} %) {were} left out{with_all}, "
        if self.again == out:
            return f"{head}as in an earlier release. All comparisons are with the remaining records"
        again = f"{self.again:,} as in an earlier release and " if self.again else ""
        return (
            f"{head}{again}those that cost "
            f"most{f' in each of {self.strata} strata' if self.strata else ''}: groups of the others lose "
            f"{less:.0f} % less than groups of all; no choice within the "
            f"budget{' of each' if self.strata else ''} could have saved more than {most:.0f} %. All "
            "comparisons are with the remaining records"
        )


def leave_out(
    problem: Problem | Coded,
    share: float,
    ctx: Context,
    strata: Ints | None = None,
    *,
    may: Bools | None = None,
    out: Bools | None = None,
    most: Sequence[int] | None = None,
) -> Left:
    """Choose records to leave out, at most a share of all, so that groups of the others lose least.

    Parameters
    ----------
    problem : Problem or Coded
        All records, in a space with coordinates, or by the codes of their keys.
    share : float
        The most that may be left out, from 0 to 1.
    ctx : Context
        Context of the search.
    strata : array of int, optional
        The stratum of each record, which groups do not cross: at most the share of each is left out.
    may, out : arrays of bool, optional
        Whether each record may be left out (default: all), and whether it must be (default: none).
    most : sequence of int, optional
        Largest number of records left out of each stratum, instead of the share.
    """
    n, total = problem.n, problem.total
    parts = [np.arange(n)] if strata is None else [np.flatnonzero(strata == s) for s in np.unique(strata)]
    may = np.ones(n, dtype=bool) if may is None else may
    out = np.zeros(n, dtype=bool) if out is None else out
    kept = ~out
    # People left out of an earlier release stay out, even above the share: otherwise the difference
    # of the two releases would be theirs.
    many = [
        max(int(out[rows].sum()), min(math.floor(share * len(rows) + 1e-9), len(rows) - problem.k))
        for rows in parts
    ]
    many = many if most is None else list(most)
    if not any(many) or total <= 0.0:
        return Left(kept, 0.0, 0.0, 0.0, again=int(out.sum()))
    sums, done = np.zeros(3), 0
    for rows, take in zip(parts, many, strict=True):
        here = ctx.part(done / n, (done + len(rows)) / n, time=len(rows) / (n - done))
        done += len(rows)
        if len(rows) < problem.k:  # which is refused, with a sentence, when groups are made
            continue
        rest = rows[~out[rows]]
        own = problem if len(rest) == n else problem.subset(rest)
        outside, *costs = _chosen(own, take - (len(rows) - len(rest)), here, may[rest])
        kept[rest[outside]] = False
        sums += costs
    before, after, proven = (100 * sums / total).tolist()
    return Left(kept, before, after, proven, 0 if strata is None else len(parts), int(out.sum()))


def _chosen(
    problem: Problem | Coded, many: int, ctx: Context, may: Bools
) -> tuple[Ints, float, float, float]:
    """Return the records to leave out, the cost of all groups, that of the others, and its bound."""
    if isinstance(problem, Coded):
        return problem.chosen(many, ctx, may)
    X, k = problem.points, problem.k
    many = min(many, int(may.sum()))
    near = prices(problem, ctx.part(0.0, 0.2))
    if near.max() <= 1e-12:  # k or more have the same keys as each: there is nothing to gain
        return np.empty(0, np.int64), 0.0, 0.0, 0.0
    # A weighted sum of squares is at least the least weight times the plain one.
    proven = least(near, k, many, X.shape[1]) * (1.0 if problem.weights is None else problem.weights.min())
    everybody = _groups(problem, ctx.part(0.2, 0.4))
    before = after = problem.cost(everybody)
    outside = np.empty(0, np.int64)
    while many and not len(outside):  # where groups would have too few records, fewer have to leave
        for number, rows in enumerate(
            (_lonely(X, k, many, near, ctx, may), _costly(X, everybody, many, may))
        ):
            if number and ctx.over:
                break
            cost, result = _search(problem, rows, may, ctx.part(0.4 + 0.3 * number, 0.7 + 0.3 * number))
            if cost < after:
                after, outside = cost, result
        many //= 2
    return outside, before, after, proven


def prices(problem: Problem | Coded, ctx: Context) -> Floats:
    """Return the price of each record: summed squared distances to its k-1 nearest records, or gaps."""
    if isinstance(problem, Coded):
        return problem.prices(ctx)
    points, k = problem.records.points, problem.k
    assert points is not None  # noqa: S101 - they are compared in coordinates
    if len(points) <= k:
        return np.zeros(len(points))
    return nearest_sums(points, k - 1, ctx)


def who_compares(
    table: Table, ctx: Context, choices: ReleaseChoices, k: int
) -> tuple[Problem | Coded, Crowd, Ints | None]:
    """Return the records to choose from, their units, and their strata.

    Outliers are found in coordinates, even if groups are made in another space; for local suppression, by
    the codes of the keys.
    """
    if choices.strata:
        check_strata(table, choices.strata)
    crowd = Crowd.of(table, ctx, replace(choices, space=DEFAULT_SPACE, metrics=None))
    parts = equivalence_classes(crowd.table.frame, choices.strata).labels if choices.strata else None
    if choices.method != "local-suppression":
        return Problem(crowd.keys.records, k), crowd, parts
    codes = np.column_stack([table.codes(name) for name in table.keys])
    if crowd.of_row is not None:
        codes = shared(codes, crowd.of_row, crowd.table.n)
    given = importance_of(table, choices, zero=False)
    units = crowd.table.units
    price = np.array([given.get(name, 1.0) for name in table.keys])
    return Coded(codes, k, price, None if units is None else units.household), crowd, parts


def least(near: Floats, k: int, many: int, columns: int) -> float:
    """Return a lower bound on the cost of the others' groups, for any ``many`` records left out.

    Proof. N_i is the sum of squared distances of record i to its k-1 nearest records. The prices ``N_i /
    2k`` add up to at most the cost of any group of k or more records (see `voronym.certify.neighbours`).
    So the groups of the kept records cost at least the sum of their prices, which is least if the highest
    prices are left out.
    """
    cheap = np.sort(near)[: len(near) - many]
    return shave(math.fsum(cheap) / (2 * k), operations=k + 4 * columns)


def _groups(problem: Problem, ctx: Context) -> Partition:
    method = METHODS["exchange" if problem.n <= SEARCHED else "mdav"]
    return method.partition(problem, ctx.quiet())


def _lonely(X: Floats, k: int, many: int, near: Floats, ctx: Context, may: Bools) -> Ints:
    """Leave out the records farthest from their nearest neighbours, a few at a time: distances change."""
    here = np.arange(len(X))
    out: list[Ints] = []
    rounds = 4 if many >= 4 else 1
    for number in range(rounds):
        take = many * (number + 1) // rounds - many * number // rounds
        sums = near if number == 0 else nearest_sums(X[here], k - 1, ctx.quiet())
        worst = np.argsort(np.where(may[here], -sums, np.inf), kind="stable")[:take]
        out.append(here[worst])
        here = np.delete(here, worst)
    return np.concatenate(out)


def _costly(X: Floats, part: Partition, many: int, may: Bools) -> Ints:
    """Leave out whole groups of highest cost per record, then records far from the centres of others."""
    off = np.square(X - part.centroids(X)[part.labels]).sum(axis=1)
    cost = np.bincount(part.labels, off) / part.sizes
    order = np.argsort(-cost, kind="stable")
    order = order[np.bincount(part.labels, ~may)[order] == 0]
    fits = np.cumsum(part.sizes[order]) <= many
    whole = np.flatnonzero(np.isin(part.labels, order[fits]))
    rest = np.setdiff1d(np.flatnonzero(may), whole, assume_unique=True)
    more = rest[np.argsort(-off[rest], kind="stable")][: many - len(whole)]
    return np.concatenate([whole, more])


def _search(problem: Problem, outside: Ints, may: Bools, ctx: Context) -> tuple[float, Ints]:
    """Exchange records outside and inside while that helps; return the cost and the records outside."""
    best: tuple[float, Ints] | None = None
    for number in range(ROUNDS):
        ctx.tell(number / ROUNDS, whole=True)
        inside = np.setdiff1d(np.arange(problem.n), outside, assume_unique=True)
        part = _groups(problem.subset(inside), ctx)
        cost = problem.subset(inside).cost(part)
        if best is not None and cost >= best[0] * (1 - 1e-6):
            break
        best = (cost, outside)
        outside = _exchanged(problem.points, inside, part, outside, may)
        if ctx.over or len(np.intersect1d(outside, best[1])) == len(outside):
            break
    assert best is not None  # noqa: S101 - there is at least one round
    return best


def _exchanged(X: Floats, inside: Ints, part: Partition, outside: Ints, may: Bools) -> Ints:
    """Let each record outside, the nearest to a centre first, replace a worse record of that group.

    A record i that leaves a group of s with mean c saves ``s/(s-1) |x_i - c|²``. A record j that joins
    the rest costs ``(s-1)/s |x_j - c'|²``, with c' the mean of the rest. Each group changes only once, so
    these values are exact.
    """
    sizes, means = part.sizes.astype(np.float64), part.centroids(X[inside])
    far = np.where(may[inside], np.square(X[inside] - means[part.labels]).sum(axis=1), -1.0)
    order = np.lexsort((-far, part.labels))
    worst = order[np.searchsorted(part.labels[order], np.arange(part.n_cells))]  # the farthest of each group
    rest = (means * sizes[:, None] - X[inside[worst]]) / (sizes - 1.0)[:, None]
    saved = far[worst] * sizes / (sizes - 1.0)
    taken, gone, came = np.zeros(part.n_cells, dtype=bool), [], []
    from scipy.spatial import cKDTree  # takes a while to load

    tree = cKDTree(rest)
    distance, group = tree.query(X[outside])
    for j in np.argsort(distance, kind="stable").tolist():
        cell = int(group[j])
        cost = float(distance[j] ** 2) * (sizes[cell] - 1.0) / sizes[cell]
        if not taken[cell] and cost < saved[cell] * (1 - 1e-9):
            taken[cell] = True
            came.append(int(outside[j]))
            gone.append(int(inside[worst[cell]]))
    stay = np.setdiff1d(outside, np.asarray(came, np.int64), assume_unique=True)
    return np.sort(np.concatenate([stay, np.asarray(gone, np.int64)]))


@dataclass(frozen=True)
class Known:
    """A ledger's facts about the rows: which were published before, and which were left out."""

    published: Bools
    left_out: Bools


def stay(
    table: Table,
    ctx: Context,
    *,
    k: int,
    choices: ReleaseChoices,
    known: Known | None = None,
) -> Left:
    """Choose the records to leave out, as the recipe demands.

    A person in an earlier release of a ledger cannot be left out, because the missing row would be
    theirs. A person left out of an earlier release stays out, for the same reason.
    """
    if table.units is not None and table.schema.pseudonyms and table.units.household is not None:
        raise InputError(
            "suppress leaves out people, and pseudonyms show how many live in a household: leave out one of "
            "the two"
        )
    problem, crowd, parts = who_compares(table, ctx, choices, k)
    of_row = crowd.of_row
    may = out = None
    if known is not None:
        before, gone = (_people(rows, of_row, problem.n) for rows in (known.published, known.left_out))
        may, out = ~before, gone & ~before
    result = leave_out(problem, choices.suppress, ctx, parts, may=may, out=out)
    return replace(result, of_row=of_row)


def _people(rows: Bools, of_row: Ints | None, many: int) -> Bools:
    """Return the people with a marked row."""
    return rows if of_row is None else np.bincount(of_row, rows, minlength=many) > 0
