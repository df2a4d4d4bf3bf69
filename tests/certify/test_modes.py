"""Bounds of what groups publish, against every partition of tiny tables: plain Python counts the loss."""

import math
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from certify import oracles
from certify.test_pricing import random_cut
from repeats import few
from voronym.certify import prove
from voronym.certify.costs import Costs
from voronym.certify.state import State
from voronym.core.context import Context
from voronym.keyspaces import Coordinates
from voronym.methods.objective import published_points
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.table import Table


def partitions(records, k):
    """Yield all partitions of some records into groups of k to 2k-1."""
    if not records:
        yield ()
        return
    first, rest = records[0], records[1:]
    for size in range(k - 1, min(2 * k - 1, len(rest) + 1)):
        for others in combinations(rest, size):
            left = tuple(item for item in rest if item not in others)
            if not left or len(left) >= k:
                for more in partitions(left, k):
                    yield ((first, *others), *more)


def losses(columns):
    """Return what one group loses when it publishes means of numbers and modes of categories, by hand."""
    weights = {}
    for name, values in columns.items():
        n = len(values)
        if isinstance(values[0], str):
            shares = [count / n for count in Counter(values).values()]
            variance = 1.0 - sum(share**2 for share in shares)
            weights[name] = 0.0 if variance <= 0.0 else 2.0 / variance
        else:
            mean = sum(values) / n
            weights[name] = n / sum((value - mean) ** 2 for value in values)

    @cache
    def lost(group):
        total = 0.0
        for name, values in columns.items():
            own = [values[i] for i in group]
            if isinstance(own[0], str):
                total += weights[name] * (len(own) - max(Counter(own).values()))
            else:
                middle = sum(own) / len(own)
                total += weights[name] * sum((value - middle) ** 2 for value in own)
        return total

    return lost


def tiny(seed):
    rng = np.random.default_rng(seed)
    n, k = (9, 3) if seed % 3 else (8, 2)
    columns = {"age": rng.normal(50.0, 20.0, n).tolist()}
    for number in range(1 + seed % 2):
        columns[f"c{number}"] = [str(item) for item in rng.choice(list("abcd"), n, p=[0.5, 0.25, 0.15, 0.1])]
    if seed % 5 == 0:
        columns["size"] = rng.normal(0.0, 1.0, n).tolist()
    return columns, n, k


def problem_of(columns, k):
    frame = pl.DataFrame(columns)
    table = Table.of(frame, vr.Schema.build(frame, keys=frame.columns))
    points = published_points(table, Coordinates.of(table), ReleaseChoices())
    return None if points is None else Problem(points, k)


@pytest.mark.parametrize("part", few(range(4), 1))
def test_no_partition_of_two_hundred_tiny_tables_loses_less_than_the_bound(part):
    close = []
    for seed in range(50 * part, 50 * part + 50):
        columns, n, k = tiny(seed)
        problem = problem_of(columns, k)
        if problem is None:  # one category alone
            continue
        lost = losses(columns)
        best = min(sum(map(lost, groups)) for groups in partitions(tuple(range(n)), k))
        start = Partition(np.minimum(np.arange(n) // k, n // k - 1), k=k)
        assert problem.cost(start) == pytest.approx(sum(lost(tuple(cell.tolist())) for cell in start.cells()))
        bound = prove(problem, Context(time_limit=5.0), kind="columns", part=start)
        assert bound.sse <= best * (1.0 + 1e-9) + 1e-12
        close.append(bound.sse / best if best > 0.0 else 1.0)
    assert np.median(close) > 0.95


def test_prices_hold_for_groups_of_every_size_with_and_without_cuts():
    rng = np.random.default_rng(4)
    for seed in range(12):
        columns, n, k = tiny(seed)
        problem = problem_of(columns, k)
        if problem is None:
            continue
        start = Partition(np.minimum(np.arange(n) // k, n // k - 1), k=k)
        lost = losses(columns)
        state = State(Costs.of(problem, Context()), k, start, Context())
        if seed % 2:
            state.master.cut([random_cut(rng, n, k) for _ in range(3)])
        fines = rng.random(len(state.master.cuts))
        state.master.prices, state.master.penalties = rng.normal(0.5, 1.0, n), fines
        rounded = state.fined()
        state.bound = -math.inf
        state.price(Context(), budget=int(rng.integers(0, 50)))
        for size in range(k, 2 * k):
            for group in combinations(range(n), size):
                met = [oracles.meets(cut, group) for cut in state.master.cuts]
                cost = lost(group) * state.scale + rounded[met].sum()
                assert state.center[list(group)].sum() <= cost + 1e-9


@pytest.mark.slow
def test_the_optimum_of_few_records_is_that_of_all_partitions():
    for seed in range(0, 30, 3):
        columns, n, k = tiny(seed)
        problem = problem_of(columns, k)
        if problem is None:
            continue
        lost = losses(columns)
        best = min(sum(map(lost, groups)) for groups in partitions(tuple(range(n)), k))
        bound = prove(problem, Context())
        assert bound.optimal
        assert bound.sse == pytest.approx(best)
        assert bound.sse <= best * (1.0 + 1e-12)
        assert problem.cost(bound.partition) == pytest.approx(best)
