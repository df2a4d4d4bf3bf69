"""Ranks of each column: noisy quantiles make a grid, and noisy counts give the dependence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voronym.core import later
from voronym.dp.budget import Budget
from voronym.dp.cells import (
    STEPS,
    BoundedRecords,
    Cells,
    Floats,
    Ints,
    Population,
    count_found,
    grouping,
    question,
    steps_of,
    whole_counts,
)
from voronym.dp.noise import noisy

isotonic_regression = later.called("scipy.optimize", "isotonic_regression")

FINEST = 64
"""Largest number of groups by rank of a column."""
COLUMNS = 0.5
"""Share of the budget for single columns; the rest is for their dependence."""


@dataclass(frozen=True)
class Scale:
    """Public cells of a column, for every number of cells.

    Parameters
    ----------
    values : list of array
        The published values for 1, 2, ... cells, in the order of the cells.
    cells : list of array
        The ends of the cells of an ordered column, without the last; of a nominal one the cell of each value.
    losses : array of float
        The loss for each number of cells, as a share of the loss of one cell. All from noisy figures.
    """

    values: list[Floats | Ints]
    cells: list[Floats | Ints]
    losses: Floats


@question
def count_values(records: BoundedRecords) -> Ints:
    """Count the values of each nominal column; return the counts of all columns in one array."""
    counts = [np.bincount(records.nominal[:, at], minlength=size) for at, size in enumerate(records.sizes)]
    return np.concatenate([np.empty(0, np.int64), *counts])


@question
def count_steps(records: BoundedRecords) -> Ints:
    """Count the records at each step of each ordered column, shape (2 STEPS + 1, d)."""
    out = np.empty((2 * STEPS + 1, records.d), np.int64)
    for column in range(records.d):
        places = steps_of(2.0 * records.ordered[:, column] - 1.0) + STEPS
        out[:, column] = np.bincount(places, minlength=2 * STEPS + 1)
    return out


@question
def find_cells(records: BoundedRecords, *, many: list[int], cells: list[Floats | Ints]) -> Ints:
    """Return the cell of each record in a grid with public scales."""
    of = np.zeros(records.n, np.int64)
    for number, (size, scale) in enumerate(zip(many, cells, strict=True)):
        if number < records.d:
            of = of * size + np.searchsorted(scale, records.ordered[:, number], side="left")
        else:
            of = of * size + np.asarray(scale, np.int64)[records.nominal[:, number - records.d]]
    return of


def _size(n: int, d: int, epsilon: float) -> int:
    del d
    return min(n, math.ceil(30.0 / epsilon))


@grouping(
    "individual",
    sensitivity="in a column by itself the changes of all groups add up to the range of the column; after "
    "that cells are public, and one record leaves a cell and enters another",
    size=_size,
)
def individual(records: Population, k: int, budget: Budget) -> Cells:
    """Rank each column separately; noisy centres make a grid, and its noisy counts join the columns.

    After Sánchez, Domingo-Ferrer, Martínez and Soria-Comas: Utility-preserving differentially private
    data releases via individual ranking microaggregation. Information Fusion 30 (2016). That work
    publishes the columns side by side, row by row, so the groups of each row are not private. Here the
    counts of the grid are noisy, too.
    """
    d, e, share = records.d, records.e, budget.share
    # with one cell for everybody there is nothing to count
    part = (COLUMNS if records.n // k > 1 else 1.0) * share / max(d + e, 1)
    spent: dict[str, float] = {}
    scales = []
    if d:
        scales += _ranked(records, k, d * part, budget)
        spent["sums"] = d * part
    held = np.split(records.add_up(count_values()), np.cumsum(records.sizes)[:-1]) if e else []
    for column, counts in enumerate(held):
        drawn, _ = noisy(counts, 2, math.sqrt(2.0), part, pure=budget.pure)
        scales.append(_levels(whole_counts(drawn, records.n)))
        spent[f"values {column + 1}"] = part
    weighed = [scale.losses * weight for scale, weight in zip(scales, records.importance, strict=True)]
    many = allotted(weighed, records.n / k)
    public = {"many": many, "cells": [scale.cells[own - 1] for scale, own in zip(scales, many, strict=True)]}
    of, total = records.place(find_cells(**public)), math.prod(many)
    tally = np.array([records.n], np.float64)
    if total > 1:
        rest = share - sum(spent.values())
        drawn, _ = noisy(
            records.add_up(count_found(cells=find_cells(**public), many=total)),
            2,
            math.sqrt(2.0),
            rest,
            pure=budget.pure,
        )
        spent["counts"] = rest
        tally = drawn.astype(np.float64)
    kept = np.flatnonzero(tally >= k)
    if len(kept) * k > records.n:
        kept = np.sort(kept[np.argsort(-tally[kept], kind="stable")[: max(records.n // k, 1)]])
    if not len(kept):
        kept = np.array([int(np.argmax(tally))])
    counts = np.zeros(total, np.int64)
    counts[kept] = whole_counts(tally[kept], records.n, k)
    digits = np.stack(np.unravel_index(np.arange(total), many), axis=1)
    ordered = np.empty((total, d))
    for j in range(d):
        ordered[:, j] = scales[j].values[many[j] - 1][digits[:, j]]
    nominal = np.empty((total, e), np.int64)
    for j in range(e):
        nominal[:, j] = scales[d + j].values[many[d + j] - 1][digits[:, d + j]]
    facts = {"groups": len(kept), "cells by column": list(many)}
    return Cells(ordered, nominal, counts, of, spent, facts)


def ranked_sums(records: Population, groups: int) -> tuple[Ints, Ints]:
    """Return the sums of the groups by rank of each ordered column, in steps, and the sizes of groups.

    The number of records at each step determines the values of each rank.
    """
    size = records.n // groups
    sizes = np.full(groups, size, np.int64)
    sizes[-1] = records.n - size * (groups - 1)
    ranks = np.concatenate([[0], np.cumsum(sizes)])
    counts = records.add_up(count_steps())
    sums = np.empty((groups, records.d), np.int64)
    for column in range(records.d):
        upto = np.concatenate([[0], np.cumsum(counts[:, column])])
        total = np.concatenate([[0], np.cumsum(counts[:, column] * np.arange(-STEPS, STEPS + 1))])
        at = np.searchsorted(upto, ranks, side="right") - 1  # the step at which the next record is
        first = total[at] + (ranks - upto[at]) * (np.minimum(at, 2 * STEPS) - STEPS)
        sums[:, column] = np.diff(first)
    return sums, sizes


def _ranked(records: Population, k: int, share: float, budget: Budget) -> list[Scale]:
    """Return the scales of the ordered columns, from noisy centres of groups by rank."""
    epsilon = share if budget.pure else math.sqrt(2.0 * share)
    finest = max(1, min(FINEST, round(0.1 * epsilon * records.n / records.d), records.n // k))
    while finest > 1 and records.n // (records.n // finest) != finest:  # groups of one size, and one larger
        finest -= 1
    sums, sizes = ranked_sums(records, finest)
    d = records.d
    drawn, _ = noisy(sums, 2 * STEPS * d, 2.0 * STEPS * math.sqrt(d), share, pure=budget.pure)
    means = drawn / (STEPS * sizes[:, None]) / 2.0 + 0.5
    weights = sizes.astype(np.float64)
    return [_scale(_isotonic(means[:, column], weights), weights) for column in range(d)]


def _isotonic(means: Floats, weights: Floats) -> Floats:
    """Return ascending centres within the range that are nearest to the noisy ones: post-processing."""
    return np.asarray(np.clip(isotonic_regression(means, weights=weights).x, 0.0, 1.0))


def _scale(points: Floats, weights: Floats) -> Scale:
    """Return the best cells of a line for every number of cells, by dynamic programming."""
    m = len(points)
    w = np.concatenate([[0.0], np.cumsum(weights)])
    s = np.concatenate([[0.0], np.cumsum(weights * points)])
    q = np.concatenate([[0.0], np.cumsum(weights * points * points)])
    i, j = np.meshgrid(np.arange(m + 1), np.arange(m + 1), indexing="ij")
    mass = np.where(j > i, w[j] - w[i], 1.0)
    cost = np.where(j > i, np.maximum(q[j] - q[i] - np.square(s[j] - s[i]) / mass, 0.0), np.inf)
    best, back = [cost[0]], [np.zeros(m + 1, np.int64)]
    for _ in range(1, m):
        through = best[-1][:, None] + cost
        back.append(np.argmin(through, axis=0))
        best.append(np.min(through, axis=0))
    values: list[Floats | Ints] = []
    cuts: list[Floats | Ints] = []
    losses: list[float] = []
    for many in range(1, m + 1):
        ends, at = [m], m
        for level in range(many - 1, 0, -1):
            at = int(back[level][at])
            ends.append(at)
        edges = np.array([0, *ends[::-1]])
        centre = (s[edges[1:]] - s[edges[:-1]]) / (w[edges[1:]] - w[edges[:-1]])
        values.append(centre)
        cuts.append((centre[:-1] + centre[1:]) / 2.0)
        losses.append(float(best[many - 1][m]))
    whole = losses[0]
    return Scale(values, cuts, np.array(losses) / whole if whole > 1e-12 else np.zeros(m))


def _levels(counts: Ints) -> Scale:
    """Return the cells of a domain for each number of cells: the most frequent values; one for the others."""
    order = np.argsort(-counts, kind="stable")
    total = max(int(counts.sum()), 1)
    values: list[Floats | Ints] = []
    cells: list[Floats | Ints] = []
    losses = []
    for many in range(1, len(counts) + 1):
        cell = np.full(len(counts), many - 1, np.int64)
        cell[order[: many - 1]] = np.arange(many - 1)
        values.append(order[:many].astype(np.int64))
        cells.append(cell)
        losses.append(1.0 - counts[order[:many]].sum() / total)
    return Scale(values, cells, np.array(losses) / losses[0] if losses[0] > 0.0 else np.zeros(len(counts)))


def allotted(losses: list[Floats], room: float) -> list[int]:
    """Return the number of cells of each column: the next cell goes to the column with the best saving.

    Examples
    --------
    >>> allotted([np.array([1.0, 0.2, 0.1]), np.array([1.0, 0.9, 0.8])], 4.0)
    [3, 1]
    """
    many = [1] * len(losses)
    while True:
        best, gain = -1, 0.0
        for column, loss in enumerate(losses):
            now = many[column]
            if now == len(loss) or math.prod(many) // now * (now + 1) > room:
                continue
            saved = (loss[now - 1] - loss[now]) / math.log((now + 1) / now)
            if saved > gain + 1e-12:
                best, gain = column, saved
        if best < 0:
            return many
        many[best] += 1
