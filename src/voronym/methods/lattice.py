"""Uniform coding: the same categories for everybody, with the optimum found by testing few combinations.

A *recoding* gives every key one level of its ladder. Classes that break k or a model are suppressed: their
keys are hidden. The loss of a recoding is the certainty penalty of the published values; a suppressed record
counts in full. The search finds the least loss for every number of suppressed records up to a limit.

Two facts exclude most recodings. The loss is at least the loss at these levels without suppression, which is
known beforehand and grows with the levels. And classes only grow with the levels, so the number of records in
classes below k can only fall: a finer recoding suppresses at least as many for k. This is not assumed for
other models: under entropy l-diversity, t-closeness or delta-disclosure a class that holds may join one that
does not, and more records must be suppressed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym._kernels import lattice as kernels
from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import GuaranteeError, InputError, hint
from voronym.generalize.ladder import Ladder, ladders
from voronym.generalize.publish import ranged_schema
from voronym.keyspaces import importance_of
from voronym.method import release_method
from voronym.methods.figures import LatticeFigures, Recoding, Uniform
from voronym.partition import Partition
from voronym.privacy import Model
from voronym.privacy.cells import Judge
from voronym.request.choices import ReleaseChoices
from voronym.result import Grouped
from voronym.table.table import Table
from voronym.table.units import Units

Ints = NDArray[np.int64]
MOST_RECODINGS = 20_000_000
"""Largest number of recodings."""


@dataclass(frozen=True)
class Solution:
    """A recoding: the level of each key, the loss in percent, and the number of suppressed records."""

    levels: tuple[int, ...]
    loss: float
    suppressed: int


@dataclass
class Lattice:
    """All recodings of a table, and the best ones so far.

    Parameters
    ----------
    columns : sequence of Ladder
        The keys.
    k : int
        Least size of a class.
    judges : sequence of Judge
        Demands on classes in addition to k.
    limit : int
        Records that may be suppressed.
    weights : array
        Weights of the columns.
    units : Units, optional
        The people or households behind the rows, which k counts.
    """

    columns: Sequence[Ladder]
    k: int
    judges: Sequence[Judge]
    limit: int
    weights: NDArray[np.float64]
    units: Units | None = None
    front: list[Solution] = field(default_factory=list)
    looked: int = 0

    def __post_init__(self) -> None:
        self.n = self.columns[0].codes.shape[1]
        self.shape = tuple(column.height + 1 for column in self.columns)
        many = float(np.prod(self.shape, dtype=np.float64))
        if many > MOST_RECODINGS:
            raise InputError(
                f"the hierarchies have {many:.1e} combinations of levels, "
                f"more than {MOST_RECODINGS:,}: take fewer keys, or hierarchies with fewer levels"
            )
        per = [w * column.penalty.sum(axis=1) for column, w in zip(self.columns, self.weights, strict=True)]
        scale = 100.0 / (self.n * float(self.weights.sum()))
        base = np.zeros(self.shape)
        for axis, cost in enumerate(per):
            base += scale * cost.reshape([-1 if at == axis else 1 for at in range(len(per))])
        self.base = base
        """The loss of each recoding without suppression, a lower bound on the true loss."""
        self.least = np.zeros(self.shape, np.int64)
        """Known lower bound on the number of records that each recoding must suppress."""
        room = 1 << int(2 * self.n + 1).bit_length()
        self._room = (np.empty(room, np.int64), np.empty(self.n, np.int64), np.empty(self.n, np.int64))
        self._done = np.zeros(self.shape, bool)

    def labels(self, node: Sequence[int]) -> tuple[Ints, int]:
        """Return the class of each record under a recoding, and the number of classes."""
        codes = np.stack([column.codes[level] for column, level in zip(self.columns, node, strict=True)])
        sizes = np.array(
            [column.sizes[level] for column, level in zip(self.columns, node, strict=True)], np.int64
        )
        if float(np.prod(sizes, dtype=np.float64)) >= 2.0**62:
            return _numbered(codes)
        table, first, labels = self._room
        many = kernels.classes(codes, sizes, table, first, labels)
        return labels.copy(), int(many)

    def look(self, node: tuple[int, ...]) -> int:
        """Find the suppression and loss of a recoding; return the records in classes below k."""
        self._done[node] = True
        self.looked += 1
        labels, many = self.labels(node)
        sizes = np.bincount(labels, minlength=many)
        small = self.heads(labels, many) < self.k
        must = int(sizes[small].sum())
        finer = tuple(slice(0, level + 1) for level in node)
        self.least[finer] = np.maximum(self.least[finer], must)
        if must <= self.limit:
            gone = self.suppressed(labels, sizes, small)
            if gone is not None:
                self._enter(node, gone[labels])
        return must

    def heads(self, labels: Ints, many: int) -> Ints:
        """Return the count of each class for k: records, or the people or households behind them."""
        if self.units is None:
            return np.bincount(labels, minlength=many)
        return self.units.heads(labels, many)

    def _enough(self, rows: NDArray[np.bool_]) -> bool:
        """Whether the suppressed records are of k people or more."""
        return int(self.heads(np.where(rows, 0, 1), 2)[0]) >= self.k

    def suppressed(self, labels: Ints, sizes: Ints, small: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return the suppressed classes: those that break k or a model, and more if these need them.

        Suppressed records form a class of at least k that must obey the models, too. If it does not,
        the smallest classes join it, the first one in a tie. None above the limit.
        """
        gone = small.copy()
        classwise = [judge for judge in self.judges if not judge.additive]
        for judge in classwise:
            gone |= ~np.asarray(judge.holds(judge.values(labels, len(sizes))))
        order = iter(np.argsort(sizes, kind="stable").tolist())
        while True:
            count = int(sizes[gone].sum())
            if count > self.limit:
                return None
            if count == 0 or (self._enough(gone[labels]) and self._obeys(classwise, gone[labels])):
                break
            following = next((group for group in order if not gone[group]), None)
            if following is None:
                return None
            gone[following] = True
        total = [judge for judge in self.judges if judge.additive]
        if total:
            part = Partition(np.where(gone[labels], len(sizes), labels))
            if not all(judge.holds(judge.values(part.labels, part.n_cells)) for judge in total):
                return None
        return gone

    def _obeys(self, judges: Sequence[Judge], rows: NDArray[np.bool_]) -> bool:
        """Return whether the suppressed records, as one class, obey the models."""
        labels = np.where(rows, 0, 1)
        return all(bool(np.atleast_1d(judge.holds(judge.values(labels, 2)))[0]) for judge in judges)

    def _enter(self, node: tuple[int, ...], gone: NDArray[np.bool_]) -> None:
        """Keep a solution, unless another neither loses nor suppresses more."""
        cost = np.zeros(self.n)
        for column, level, weight in zip(self.columns, node, self.weights, strict=True):
            cost += weight * column.penalty[level]
        whole = float(self.weights.sum())
        loss = 100.0 * float(np.where(gone, whole, cost).sum()) / (self.n * whole)
        self._add(Solution(node, loss, int(gone.sum())))

    def _add(self, new: Solution) -> None:
        if any(_no_worse(old, new) for old in self.front):
            return
        kept = [old for old in self.front if not _no_worse(new, old)]
        self.front = sorted([*kept, new], key=lambda solution: solution.suppressed)

    def bound(self, least: int) -> float:
        """Return the least known loss with at most this number of records suppressed."""
        return min((solution.loss for solution in self.front if solution.suppressed <= least), default=np.inf)

    def open(self, node: tuple[int, ...]) -> bool:
        """Return whether a recoding may still be better than all known ones."""
        least = int(self.least[node])
        if self._done[node] or least > self.limit:
            return False
        return bool(self.base[node] < self.bound(least) * (1.0 + 1e-12) + 1e-12)

    def search(self, ctx: Context) -> None:
        """Find the best recoding for every number of suppressed records up to the limit."""
        order = np.argsort(self.base, axis=None, kind="stable")
        for at, flat in enumerate(order.tolist()):
            node = tuple(int(level) for level in np.unravel_index(flat, self.shape))
            if self.base[node] > self.bound(0) * (1.0 + 1e-12) + 1e-12:
                break  # nothing is suppressed there, and all that follow lose more
            if not self.open(node):
                continue
            ctx.tell(at / len(order), whole=True)
            self._climb(node)
            if self.open(node):
                self.look(node)

    def _climb(self, node: tuple[int, ...]) -> None:
        """Bisect a path upwards from a recoding, to the first one that suppresses few enough records.

        A recoding on the path that is too fine excludes all finer ones at once.
        """
        way = [node]
        while way[-1] != tuple(size - 1 for size in self.shape):
            last = way[-1]
            ups = [
                (*last[:c], last[c] + 1, *last[c + 1 :])
                for c in range(len(last))
                if last[c] + 1 < self.shape[c]
            ]
            way.append(min(ups, key=lambda up: (self.base[up], up)))
        low, high = 0, len(way) - 1
        while low < high:
            middle = (low + high) // 2
            if self._done[way[middle]] or self.least[way[middle]] > self.limit:
                fine = self.least[way[middle]] <= self.limit
            else:
                fine = self.look(way[middle]) <= self.limit
            low, high = (low, middle) if fine else (middle + 1, high)


def _no_worse(solution: Solution, other: Solution) -> bool:
    if (solution.loss, solution.suppressed) == (other.loss, other.suppressed):
        return solution.levels <= other.levels
    return solution.loss <= other.loss and solution.suppressed <= other.suppressed


def _numbered(codes: Ints) -> tuple[Ints, int]:
    """Return classes by sorting, if the combinations exceed the number type."""
    _, labels = np.unique(codes, axis=1, return_inverse=True)
    return labels.reshape(-1).astype(np.int64), int(labels.max()) + 1


@release_method(
    "lattice",
    guarantee="every class has k records or more; the same levels for all; no other levels lose less",
    cost="a pass over the records for each recoding looked at; memory O(n d), and a few bytes per recoding",
    reference="10.1109/ICDE.2005.42",
)
def lattice(
    table: Table, ctx: Context, options: Options, *, choices: ReleaseChoices, k: int, models: Sequence[Model]
) -> Grouped:
    """Recode each key to one level of its hierarchy for all records; suppress those that break k or a model.

    Minimise the certainty penalty of the published values over all combinations of levels, with at most a
    share of suppressed records, whose keys are hidden. Suppressed records form a class that keeps k and
    the models, too. The optimum is found for every number of suppressed records up to the limit; all
    other recodings are proven to lose more.

    References
    ----------
    K. LeFevre, D. DeWitt and R. Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005.
    F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", PASSAT 2012.
    """
    del options  # there are none
    columns = ladders(table, choices.hierarchies or {})
    judges = [judge for model in models if model.required is not None for judge in model.row_judges(table)]
    given = importance_of(table, choices)
    weights = np.array([float(given.get(column.name, 1.0)) for column in columns])
    if weights.sum() <= 0.0:
        raise InputError("importance must be above 0 for one key at least")
    searched = Lattice(columns, k, judges, int(choices.suppress * table.n + 1e-9), weights, table.units)
    searched.search(ctx)
    if not searched.front:
        raise GuaranteeError(
            f"no levels of the hierarchies keep all promises with {100 * choices.suppress:g} % of the "
            f"records suppressed: allow more ({hint('suppress')}), or ask for less"
        )
    return _masked(table, searched, choices.hierarchies or {})


def _masked(table: Table, searched: Lattice, trees: Collection[str]) -> Grouped:
    """Publish the solution of least loss."""
    best = min(searched.front, key=lambda solution: (solution.loss, solution.suppressed))
    labels, many = searched.labels(best.levels)
    sizes = np.bincount(labels, minlength=many)
    gone = searched.suppressed(labels, sizes, searched.heads(labels, many) < searched.k)
    rows = np.zeros(table.n, bool) if gone is None else gone[labels]
    made = {}
    for column, level in zip(searched.columns, best.levels, strict=True):
        texts, nothing = column.labels[level], column.labels[-1][0]
        shown = [
            nothing if hidden else texts[code] for hidden, code in zip(rows, column.codes[level], strict=True)
        ]
        made[column.name] = nw.new_series(column.name, shown, nw.String(), backend=table.frame.implementation)
    kept = [name for name in table.columns if name in table.schema]
    frame = nw.from_dict({name: made.get(name, table.frame[name]) for name in kept})
    return Grouped(
        frame,
        figures=LatticeFigures(_figures(searched, best)),
        log=_log(searched, best),
        partition=Partition(np.where(rows, many, labels), k=searched.k if table.units is None else None),
        published_as={
            column.name: f"level {level} of {column.height} of its hierarchy, for all records"
            for column, level in zip(searched.columns, best.levels, strict=True)
        },
        schema=ranged_schema(table.schema, list(made), trees=trees),
    )


def _figures(searched: Lattice, best: Solution) -> Uniform:
    names = [column.name for column in searched.columns]
    return Uniform(
        recodings=int(searched.base.size),
        looked_at=searched.looked,
        heights={column.name: column.height for column in searched.columns},
        frontier=tuple(
            Recoding(
                dict(zip(names, solution.levels, strict=True)),
                solution.loss,
                solution.suppressed,
                solution is best,
            )
            for solution in searched.front
        ),
    )


def _log(searched: Lattice, best: Solution) -> tuple[str, ...]:
    named = ", ".join(
        f"{column.name} {level} of {column.height}"
        for column, level in zip(searched.columns, best.levels, strict=True)
    )
    return (
        f"All records were recoded to the same levels: {named}. Of {searched.base.size:,} combinations "
        f"{searched.looked:,} were looked at; the others are proven to be no better.",
        f"The keys of {best.suppressed:,} of {searched.n:,} records are suppressed; without earlier steps "
        f"the certainty penalty is {best.loss:.2f} %.",
    )
