"""Possible worlds: all assignments of confidential values to people that fit the release.

A world gives each person one of the confidential records of the table. An intruder who knows everybody's keys
and has the tool tests whether each world gives the same release. With equal prior probabilities, the
probability of a person's value is the share of fitting worlds in which they have it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import Inapplicable
from voronym.attacks.scene import Rerun
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.evaluate.pair import plain
from voronym.table.classes import equivalence_classes
from voronym.table.frame import as_frame
from voronym.table.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
World = tuple[int, ...]

EXHAUSTIVE = 6_000
"""Up to this number of worlds, all are tried; above it, worlds are drawn at random."""

_STEPS = 10  # of a walk, for each world that may be tried: a world that was tried is remembered

BATCHES = 10
"""Number of walks; their spread gives the uncertainty."""


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Probabilities of values for an intruder who has the tool, and for one who only counts in groups.

    Parameters
    ----------
    column : str
        The confidential column.
    posterior : array, shape (n, values)
        For each person, the probability of each value of the column over the worlds with the same release.
    counts : array, shape (n, values)
        The share of each value in the person's group, as published.
    truth : array of int, shape (n,)
        Which value each person has.
    worlds : int
        Worlds tried.
    consistent : int
        Number of worlds with the same release.
    exhaustive : bool
        Whether all worlds were tried.
    error : float
        Standard error of `success`, if worlds were drawn.
    fair : bool
        Whether no walk had to begin at the true world, which would make that world look likelier than it is.
    """

    column: str
    posterior: Floats
    counts: Floats
    truth: Ints
    worlds: int
    consistent: int
    exhaustive: bool
    error: float = 0.0
    fair: bool = True

    @property
    def worst(self) -> float:
        """The largest excess of a probability over the group's counts."""
        return float((self.posterior - self.counts).max())

    @property
    def certain(self) -> int:
        """Number of people with a certain value that the counts leave open."""
        return int(((self.posterior > 1 - 1e-9) & (self.counts < 1 - 1e-9)).any(axis=1).sum())

    @property
    def success(self) -> float:
        """Mean probability of the true values for an intruder who has the tool."""
        return _of(self.posterior, self.truth)

    @property
    def control(self) -> float:
        """Mean probability of the true values for an intruder who only counts in the groups."""
        return _of(self.counts, self.truth)


def _of(chances: Floats, truth: Ints) -> float:
    return float(chances[np.arange(len(truth)), truth].mean())


def posteriors(
    table: Table,
    rerun: Rerun,
    *,
    released: Any = None,
    most: int = EXHAUSTIVE,
    draws: int = 1,
    ctx: Context | None = None,
) -> tuple[Posteriors, ...]:
    """Rerun a tool on other worlds, and return what an intruder with the tool learns from its release.

    Parameters
    ----------
    table : Table
        The original, with confidential columns.
    rerun : callable
        The tool: ``(table) -> frame``; row i is the published row of person i. A tool that refuses raises
        `GuaranteeError`, which counts as an answer.
    released : DataFrame, optional
        The published table, row i of person i; by default the result of the tool. Needed if the tool draws at
        random.
    most : int
        Largest number of worlds to try. Up to it, all are enumerated; otherwise random walks visit as many,
        by exchanging the confidential records of a few people.
    draws : int
        Number of runs on each world, if the tool draws at random.
    ctx : Context, optional
        Draws worlds, reports progress, and may stop the attack.

    Returns
    -------
    tuple of Posteriors
        One for each confidential column.

    References
    ----------
    Wong, R. C.-W., Fu, A. W.-C., Wang, K., Pei, J.: Minimality attack in privacy preserving data publishing.
    VLDB 2007.

    Examples
    --------
    A tool that makes pairs by age, whatever the illness, tells no more than the pairs do.

    >>> people = pl.DataFrame({"age": [20, 21, 60, 61], "ill": ["a", "b", "a", "a"]})
    >>> table = Table.build(people, keys=["age"], confidential=["ill"])
    >>> def pairs(table):
    ...     return table.frame.to_native().with_columns(age=pl.col("age") // 10 * 10)
    >>> found = posteriors(table, pairs)[0]
    >>> found.posterior[0].tolist(), found.worst
    ([0.5, 0.5], 0.0)
    """
    ctx = Context() if ctx is None else ctx
    if not table.confidential:
        raise InputError("no confidential column is named, so there is nothing to learn")
    if most < 1 or draws < 1:
        raise InputError("most and draws must be 1 or more")
    tool = _Tool(table, rerun, draws)
    given = rerun(table) if released is None else released
    seen = fingerprint(given)
    count = _permutations(tool.world)
    groups = equivalence_classes(as_frame(given), list(table.keys)).labels
    weights = _enumerate(tool, seen, count, ctx) if count <= most else _walk(tool, seen, most, groups, ctx)
    return tuple(_column(tool, name, weights, groups, count <= most) for name in table.confidential)


def fingerprint(frame: Any) -> frozenset[tuple[tuple[Any, ...], int]]:
    """Return a reader's view of a released table: its rows, counted, in no order."""
    table = as_frame(frame)
    columns = pl.DataFrame([plain(table[name]) for name in sorted(table.columns)])
    rounded = columns.with_columns(
        pl.col(name).round(9) for name in columns.columns if columns[name].dtype.is_float()
    )
    return frozenset(Counter(rounded.rows()).items())


class _Tool:
    """The tool, as a function of a world."""

    def __init__(self, table: Table, rerun: Rerun, draws: int) -> None:
        frame = pl.DataFrame([plain(table.frame[name]) for name in table.columns])
        self._moving = [name for name in table.columns if name not in table.keys]
        # Columns that are published unchanged stay with the record; only its owner is unknown.
        same = equivalence_classes(as_frame(frame), self._moving)
        self.world: World = tuple(same.labels.tolist())
        self._first = same.first
        self._frame, self._draws = frame, draws
        self.table, self._rerun = Table.of(frame, table.schema), rerun
        self.known: dict[World, float] = {}

    def weight(self, world: World, seen: object) -> float:
        """Return the share of runs on a world that publish the given release."""
        if world not in self.known:
            rows = self._first[np.array(world)]
            moved = self._frame.with_columns(self._frame[name][rows] for name in self._moving)
            there = self.table.like(as_frame(moved))
            hits = 0
            for _ in range(self._draws):
                try:
                    hits += fingerprint(self._rerun(there)) == seen
                except GuaranteeError:
                    hits += seen is None
            self.known[world] = hits / self._draws
        return self.known[world]


@dataclass
class _Weights:
    """Summed weights of worlds with the same release, for each person and record, in batches."""

    sums: Floats  # batches x n x records
    tried: int
    consistent: int
    fair: bool = True


def _enumerate(tool: _Tool, seen: object, count: int, ctx: Context) -> _Weights:
    """Try every world."""
    n = len(tool.world)
    sums = np.zeros((1, n, max(tool.world) + 1))
    consistent = 0
    for i, world in enumerate(distinct(tool.world)):
        weight = tool.weight(world, seen)
        sums[0, np.arange(n), list(world)] += weight
        consistent += weight > 0
        ctx.tell(i / count, whole=True)
    if consistent == 0:
        raise Inapplicable("the tool does not make this release from this table; is it the right recipe?")
    return _Weights(sums, count, consistent)


def _walk(tool: _Tool, seen: object, most: int, groups: Ints, ctx: Context) -> _Weights:
    """Walk several times through the worlds with the same release, by exchanging a few records at a time.

    Exchanges are proposed symmetrically, and exchanges that change the release are rejected. So all
    reachable worlds are visited equally often (Metropolis). If the tool is random, a world is weighted by
    the frequency of the release.

    A walk from the true world stays near it for a while, which would overestimate its probability. So
    each walk begins at a world dealt at random within the published groups; if only the counts can be
    learned, that is already a fair draw. If no such world gives the release, the walk begins at the true
    world.
    """
    n = len(tool.world)
    if tool.weight(tool.world, seen) == 0:
        raise Inapplicable("the tool does not make this release from this table; is it the right recipe?")
    sums = np.zeros((BATCHES, n, max(tool.world) + 1))
    different: set[World] = set()
    dealt, last = 0, len(tool.known)
    for number, batch in enumerate(sums):
        allowed = last + (most - last) * (number + 1) // BATCHES
        world, fair = _dealt(tool, seen, groups, allowed, ctx)
        dealt += fair
        here = tool.weight(tuple(world), seen)
        path, steps = [world], max(2, _STEPS * most // BATCHES)
        while len(path) < steps and len(tool.known) < allowed:
            # Mostly two people, now and then more: there may be no world between two that differ in several.
            some = ctx.rng.choice(n, min(n, 1 + ctx.rng.geometric(0.35)), replace=False)
            proposal = list(world)
            for giver, taker in zip(some, ctx.rng.permutation(some), strict=True):
                proposal[taker] = world[giver]
            if proposal != world:
                there = tool.weight(tuple(proposal), seen)
                if ctx.rng.random() * here < there:
                    world, here = proposal, there
            path.append(world)
            ctx.tell((number + len(path) / steps) / BATCHES, whole=True)
        different.update(map(tuple, path))
        kept = np.array(path if fair else path[len(path) // 2 :])  # without where the walk began
        np.add.at(batch, (np.arange(n)[None, :].repeat(len(kept), axis=0), kept), 1.0 / len(kept))
    return _Weights(sums, len(tool.known), len(different), dealt == BATCHES)


_DEALS = 20


def _dealt(tool: _Tool, seen: object, groups: Ints, most: int, ctx: Context) -> tuple[list[int], bool]:
    """Deal the records of each group to its members until the release is the same; or take the true world."""
    records = np.array(tool.world)
    for _ in range(_DEALS):
        if len(tool.known) >= most:
            break
        world = np.empty_like(records)
        for group in range(int(groups.max()) + 1):
            rows = np.flatnonzero(groups == group)
            world[rows] = ctx.rng.permutation(records[rows])
        if tool.weight(tuple(world.tolist()), seen) > 0:
            return world.tolist(), True
    return list(tool.world), False


def distinct(world: World) -> Iterator[World]:
    """Return every distinct order of some records once.

    Examples
    --------
    >>> list(distinct((0, 0, 1)))
    [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    left = Counter(world)
    chosen: list[int] = []

    def go() -> Iterator[World]:
        if len(chosen) == len(world):
            yield tuple(chosen)
            return
        for value in sorted(left):
            if left[value]:
                left[value] -= 1
                chosen.append(value)
                yield from go()
                chosen.pop()
                left[value] += 1

    return go()


def _permutations(world: World) -> int:
    """Return the number of distinct orders."""
    return math.factorial(len(world)) // math.prod(map(math.factorial, Counter(world).values()))


def _column(tool: _Tool, name: str, weights: _Weights, groups: Ints, exhaustive: bool) -> Posteriors:
    """Return the probabilities of one column's values over the worlds."""
    codes = equivalence_classes(as_frame(tool._frame), [name]).labels
    values = int(codes.max()) + 1
    of_record = np.zeros((weights.sums.shape[2], values))
    of_record[list(tool.world), codes] = 1.0  # which value a record has
    batches = weights.sums @ of_record
    posterior = batches.sum(axis=0)
    posterior = posterior / posterior.sum(axis=1, keepdims=True)
    table = np.zeros((int(groups.max()) + 1, values))
    np.add.at(table, (groups, codes), 1.0)
    counts = (table / table.sum(axis=1, keepdims=True))[groups]
    error = 0.0
    if not exhaustive:
        right = np.array([_of(walk / walk.sum(axis=1, keepdims=True), codes) for walk in batches])
        error = float(right.std(ddof=1) / math.sqrt(len(right)))
    return Posteriors(
        name, posterior, counts, codes, weights.tried, weights.consistent, exhaustive, error, weights.fair
    )
