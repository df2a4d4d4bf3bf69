"""The pair search: prices against brute force, strange tables, the same whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym._kernels import pair_jumps, pairs
from voronym.core.context import Context, FinishEarly
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.partitioners import kd
from voronym.problem import Problem
from voronym.refiners.pair_cells import Cells, Heat
from voronym.refiners.pairs import PairsOptions
from voronym.refiners.pairs import pairs as refine_pairs


def sse(points):
    """Sum of squares about the mean, by definition."""
    return float(((points - points.mean(axis=0)) ** 2).sum()) if len(points) else 0.0


def loaded(X, labels, k, width=16):
    """Return a block with all cells of a small partition."""
    cells = Cells(X, labels, k, Context())
    return cells, cells._load(np.arange(len(cells)), width, 5)


def held(block, p):
    return block.record[p, : block.size[p]].tolist()


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 200),
    d=st.integers(1, 60),
    kind=st.sampled_from(["normal", "grid", "equal", "far", "tails"]),
)
def test_any_table_gets_whole_cells_and_never_more_loss(seed, k, d, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * k, 6 * k + 20))
    X = {
        "normal": lambda: rng.standard_normal((n, d)),
        "grid": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "equal": lambda: np.repeat(rng.standard_normal((max(1, n // (3 * k)), d)), 9 * k, axis=0)[:n],
        "far": lambda: rng.standard_normal((n, d)) + 1e7,
        "tails": lambda: rng.standard_normal((n, d)) ** 9,
    }[kind]()
    start = vr.microaggregate(X, k, method="kd")
    better = vr.refine(X, start, method="pairs", seed=seed, sweeps=20)
    for part in (start, better):
        counted = np.bincount(part.labels)
        assert part.n == len(X)
        assert counted.min() >= k
        assert counted.max() <= max(2 * k - 1, len(X) if len(X) < 2 * k else 0)
    assert better.sse(X) <= start.sse(X)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 7), d=st.integers(1, 5), extra=st.integers(0, 6))
def test_the_best_move_of_a_pair_is_the_best_by_brute_force(seed, k, d, extra):
    rng = np.random.default_rng(seed)
    first, second = k + extra % k, k + (extra // 2) % k
    X = rng.standard_normal((first + second, d))
    labels = np.repeat([0, 1], [first, second])
    here = sse(X[labels == 0]) + sse(X[labels == 1])
    best = here
    for i in np.flatnonzero(labels == 0):
        for j in np.flatnonzero(labels == 1):
            new = labels.copy()
            new[i], new[j] = 1, 0
            best = min(best, sse(X[new == 0]) + sse(X[new == 1]))
    for i in range(len(X)):
        new = labels.copy()
        new[i] = 1 - new[i]
        if np.bincount(new, minlength=2).min() >= k and np.bincount(new).max() < 2 * k:
            best = min(best, sse(X[new == 0]) + sse(X[new == 1]))
    _, block = loaded(X, labels, k)
    pairs.sweep(block, k, 0.0, 1, 0.0)  # one visit, cold: the best of all moves
    after = sum(sse(X[held(block, p)]) for p in range(2))
    assert sorted(held(block, 0) + held(block, 1)) == list(range(len(X)))
    assert after == pytest.approx(best, rel=1e-4, abs=1e-4 * here)


def test_noise_makes_worse_moves_and_heat_makes_more_of_them():
    X = np.random.default_rng(3).standard_normal((400, 3))
    labels = kd.partition(X, 5, Context())
    moves = []
    for heat in (0.0, 0.05, 1.0):
        _, block = loaded(X, labels, 5)
        for _ in range(5):
            pairs.sweep(block, 5, 0.0, 4000, 0.0)  # first downhill, as far as it goes
        moves.append(pairs.sweep(block, 5, heat, 4000, 0.0))
    assert moves[0] < moves[1] < moves[2]


@pytest.mark.parametrize("limit", [np.inf, -np.inf])
def test_dissolving_and_founding_are_whole_or_taken_back(limit):
    X = np.random.default_rng(4).standard_normal((220, 2))
    labels = np.arange(220) % 40  # 5 or 6 in a cell, anywhere
    _, block = loaded(X, labels, 4)
    before = [sorted(held(block, p)) for p in range(40)]
    count = sum(pair_jumps.dissolve(block, p, 4, np.float32(limit)) for p in range(0, 40, 7))
    count += sum(pair_jumps.found(block, p, 4, np.float32(limit)) for p in range(1, 40, 7))
    after = [sorted(held(block, p)) for p in range(len(block.size))]
    assert sorted(record for item in after for record in item) == list(range(220))
    if limit > 0:
        assert count == 12
        assert min(len(item) for item in after if item) >= 4
        assert sum(map(bool, after)) == 40
    else:
        assert after[:40] == before
        assert count == 0
    for p in np.flatnonzero(block.size):
        mean = block.points[p, :, : block.size[p]].mean(axis=1)
        np.testing.assert_allclose(block.centre[p], mean, atol=1e-5)


@pytest.mark.parametrize("n", [600, 9000])
def test_the_threads_change_nothing_and_the_seed_does(n):
    X = vr.datasets.gaussian(n, 3, seed=2)
    problem, start = Problem.of(X, 4), vr.microaggregate(X, 4, method="kd")

    def run(threads, seed=7):
        return refine_pairs(problem, start, Context(seed=seed, threads=threads), PairsOptions(sweeps=40))

    assert run(1) == run(2) == run(5)
    assert run(1) != run(1, seed=8)


def test_cells_keep_their_books():
    X = vr.datasets.gaussian(5000, 4, seed=5)
    cells = Cells(X, kd.partition(X, 6, Context()), 6, Context())
    ctx = Context(seed=3)
    cells.dissolve(0.05, 16, ctx)
    assert len(cells) < 5000 // 6
    cells.visit(16, Heat(30.0, 0.5, 0.1), ctx)
    part = Partition(cells.labels, k=6)
    assert part.n == 5000
    assert cells.costs.sum() == pytest.approx(part.sse(X), rel=1e-9)
    own = np.array([sse(X[cells.members[p, : cells.sizes[p]]]) for p in range(len(cells))])
    np.testing.assert_allclose(cells.costs, own, rtol=1e-9)


def test_it_beats_mdav_by_far_and_cells_follow_the_data():
    X = vr.datasets.gaussian(8000, 5, seed=11)
    mdav = METHODS["mdav"].partition(Problem.of(X, 10), Context())
    assert vr.microaggregate(X, 10, method="pairs").sse(X) < 0.88 * mdav.sse(X)
    clumps = np.repeat(np.random.default_rng(1).standard_normal((50, 2)), 37, axis=0)
    result = vr.microaggregate(clumps, 20, method="pairs")
    assert result.sse(clumps) == pytest.approx(0.0, abs=1e-9)
    assert result.n_cells == 50  # not the 92 that halving begins with


def test_the_time_limit_is_kept_and_a_wish_to_finish_heeded(processor_clock):
    X = vr.datasets.gaussian(20_000, 4, seed=2)
    vr.microaggregate(X[:200], 5, method="pairs", seed=1)  # compile
    before = processor_clock()
    limited = vr.microaggregate(X, 5, method="pairs", time_limit=1.0)
    assert processor_clock() - before < 6.0
    assert limited.sizes.min() >= 5

    def enough(step):
        if step.loss is not None:
            asked.append(processor_clock())
            raise FinishEarly

    asked = []
    stopped = vr.microaggregate(X, 5, method="pairs", time_limit=60.0, progress=enough)
    assert processor_clock() - asked[0] < 10.0
    assert stopped.sizes.min() >= 5


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 300),
    d=st.integers(1, 8),
    k=st.integers(2, 9),
    grid=st.booleans(),
)
def test_halving_makes_cells_of_equal_size_in_boxes(seed, n, d, k, grid):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float) if grid else rng.standard_normal((n, d))
    k = min(k, n)
    single, two = (kd.partition(X, k, Context(threads=threads)) for threads in (1, 3))
    assert (single == two).all()
    sizes = np.bincount(single)
    assert sizes.min() >= k
    assert np.ptp(sizes) <= 1
    if d == 1:  # intervals
        order = np.argsort(X[:, 0], kind="stable")
        assert (np.diff(single[order]) != 0).sum() == len(sizes) - 1 or grid
