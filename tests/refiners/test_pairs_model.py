"""The pair search by cost models: prices by brute force, strange tables, the same whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from records.mixtures import mixtures
from refiners.test_mixed import cost, deal, hospital, space_of
from repeats import examples
from voronym._kernels import cells as states
from voronym._kernels import model_pairs as kernels
from voronym.core.context import Context, FinishEarly
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.model_cells import Block, ModelCells
from voronym.refiners.pair_cells import Heat
from voronym.refiners.pairs import PairsOptions
from voronym.refiners.pairs import pairs as refine_pairs

CATEGORIES = ("age", "sex", "nationality", "diagnosis")


def group_cost(space, members):
    """What a group costs, by definition: every level of every column is tried."""
    rows, total = space.codes[members], 0.0
    for column in range(rows.shape[1]):
        probe = np.repeat(rows[:1], space.fields[column].levels, axis=0)
        other = probe.copy()
        probe[:, column] = np.arange(len(probe))
        other[:, column] = rows[0, column]
        least = np.inf
        for v in range(len(probe)):
            single = np.repeat(probe[v : v + 1], len(rows), axis=0)
            mine = single.copy()
            mine[:, column] = rows[:, column]
            least = min(least, float(np.diag(space.cost(mine, single)).sum()))
        total += least
    return total


@pytest.mark.parametrize("small", [512, pytest.param(30, marks=pytest.mark.slow)])
def test_the_best_move_of_a_pair_is_the_best_by_brute_force(monkeypatch, small):
    monkeypatch.setattr("voronym.space.levels.SMALL", small)
    monkeypatch.setattr("voronym.space.mixed.SMALL", small)
    shifts = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        k = 2 + seed % 3
        first, second = k + seed % k, k + (seed // 2) % k
        space = hospital(first + second, seed=seed, keys=(*CATEGORIES, "admitted"))
        labels = rng.permutation(np.repeat([0, 1], [first, second]))

        def price(new, space=space):
            return sum(group_cost(space, np.flatnonzero(new == p)) for p in range(2))

        best = price(labels)
        moved = [
            np.where(np.isin(np.arange(len(labels)), [i]), 1 - labels, labels) for i in range(len(labels))
        ]
        moved = [new for new in moved if np.bincount(new).min() >= k and np.bincount(new).max() < 2 * k]
        least_shift = min(map(price, moved), default=np.inf)
        for i in np.flatnonzero(labels == 0):
            for j in np.flatnonzero(labels == 1):
                new = labels.copy()
                new[i], new[j] = 1, 0
                best = min(best, price(new))
        shifts += least_shift < best - 1e-9
        best = min(best, least_shift)
        block = Block(space.records(space.codes), labels, k)
        assert block.look(16, 5, Context())
        pairs = block.pairs._replace(near=np.array([[1], [0]]))
        kernels.sweep(block.model, block.cells, pairs, k, 0.0, 1e-12, 0, 1, 0.0)  # one visit, cold
        assert price(block.cells.labels) == pytest.approx(best, abs=1e-9)
        assert block.costs.sum() == pytest.approx(best, abs=1e-9)
    assert shifts > 0  # they were tried, too


@examples(12, 75)
@given(drawn=mixtures(24), k=st.integers(2, 5), seed=st.integers(0, 9))
def test_never_worse_than_the_start_and_k_is_kept(drawn, k, seed):
    space = space_of(drawn)
    n = len(space.codes)
    if n < k:
        return
    start = deal(n, k, seed)
    result = vr.refine(space.codes, start, k=k, method="pairs", space=space, seed=seed, sweeps=20)
    assert cost(space, result) <= cost(space, start)
    assert np.bincount(result.labels).min() >= k
    assert n < 2 * k or np.bincount(result.labels).max() < 2 * k


@examples(7, 45)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 60), repeats=st.integers(1, 40))
def test_repeats_and_ties_of_any_size(seed, k, repeats):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * k, 5 * k + 20))
    space = hospital(n, seed=seed % 1000, keys=("age", "sex", "diagnosis"))
    rows = space.codes[rng.integers(0, max(1, n // repeats), n)]
    start = vr.microaggregate(rows, k, method="kd", space=space)
    result = vr.refine(rows, start, method="pairs", space=space, seed=seed, sweeps=10)
    sizes = np.bincount(result.labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert space.records(rows).cost(result) <= space.records(rows).cost(start)


def test_the_threads_change_nothing_and_the_seed_does():
    space = hospital(2500, keys=CATEGORIES)
    problem = Problem(space.records(space.codes), 4)
    start = vr.microaggregate(space.codes, 4, method="kd", space=space)

    def run(threads, seed=7):
        return refine_pairs(problem, start, Context(seed=seed, threads=threads), PairsOptions(sweeps=20))

    assert run(1) == run(2) == run(5)
    assert run(1) != run(1, seed=8)


def test_it_ends_below_the_local_search():
    space = hospital(1500, seed=5, keys=CATEGORIES)
    local = vr.microaggregate(space.codes, 5, method="exchange", space=space, iterations=0)
    result = vr.microaggregate(space.codes, 5, method="pairs", space=space, sweeps=300)
    assert cost(space, result) < 0.97 * cost(space, local)
    assert result.sizes.max() <= 9


def test_cells_keep_their_books_while_they_are_dissolved_and_founded():
    space = hospital(600, keys=CATEGORIES)
    records = space.records(space.codes)
    labels = vr.microaggregate(space.codes, 4, method="kd", space=space).labels
    block = Block(records, labels, 4)
    assert block.look(8, 3, Context())
    counts = {block.thin(0.1)}
    for _ in range(5):
        kernels.sweep(block.model, block.cells, block.pairs, 4, 2.0, 1e-12, 0, 2000, 0.5)
        sizes = block.cells.sizes
        counts.add(int((sizes > 0).sum()))
        assert np.array_equal(np.bincount(block.cells.labels, minlength=len(sizes)), sizes)
        assert sizes[sizes > 0].min() >= 4
        assert sizes.max() <= 7
        for p in np.flatnonzero(sizes):
            begin = block.cells.start[p]
            inside = block.cells.members[begin : begin + sizes[p]]
            assert sorted(inside) == np.flatnonzero(block.cells.labels == p).tolist()
        assert block.costs.sum() == pytest.approx(records.cost(Partition(block.cells.labels)), rel=1e-9)
    assert len(counts) > 2  # their number changed, both ways
    before = block.costs.sum()
    after = sum(states.refresh_all(block.model, block.cells, p, p + 1) for p in range(len(block.cells.sizes)))
    assert after == pytest.approx(before, rel=1e-9)


def test_a_wish_to_finish_leaves_whole_groups():
    space = hospital(3000, keys=CATEGORIES)
    cells = ModelCells(space.records(space.codes), np.arange(3000) // 5, 5)
    ctx = Context(seed=1)
    ctx.finish()
    assert cells.visit(16, Heat(5.0, 1.0, 0.5), ctx) == 0.0
    assert np.bincount(cells.labels).min() == 5

    def enough(step):
        if step.loss is not None:
            raise FinishEarly

    start = vr.microaggregate(space.codes, 5, method="kd", space=space)
    stopped = vr.refine(space.codes, start, method="pairs", space=space, time_limit=60.0, progress=enough)
    assert stopped.sizes.min() >= 5
    assert cost(space, stopped) <= cost(space, start)
