"""The change that a move makes, against sums of squares computed anew."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partitioners.points import records
from voronym._kernels import cells as groups
from voronym._kernels import exchange, icsm, kernel
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.icsm import IcsmOptions, Run, scores
from voronym.refiners.tour import cut, string
from voronym.refiners.work import Work


@kernel
def change(model, cells, p, out, new):
    return groups.change(model, cells, p, out, new, np.inf)


@kernel
def best_of_pair(model, cells, p, q, k, across):
    return icsm.best_of_pair(model, cells, p, q, k, across)


@kernel
def best_for(model, cells, search, k, i):
    return exchange.best_for(model, cells, search, k, i)


@kernel
def shake(model, cells, search, k):
    return exchange.shake(model, cells, search, k)


@kernel
def give_up(model, cells, search):
    exchange.give_up(model, cells, search)


@kernel
def settle_all(model, cells, search, k, tiny):
    exchange.settle_all(model, cells, search, k, tiny)


def squares_of(work):
    return float(work.costs.sum())


def start(work, near, seed):
    return exchange.make(np.ascontiguousarray(near), len(work.cells.sizes), seed)


def random_labels(n, k, seed):
    """Return cells of k to 2k-1 records at random."""
    rng = np.random.default_rng(seed)
    sizes = []
    while n - sum(sizes) >= 3 * k:
        sizes.append(int(rng.integers(k, 2 * k)))
    rest = n - sum(sizes)
    sizes += [rest] if rest < 2 * k else [k, rest - k]
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def sse(X, labels):
    return sum(np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum() for c in set(labels.tolist()))


def moved(labels, *changes):
    """Return the labels after moves (record, cell); record -1 is nobody."""
    out = labels.copy()
    for record, cell in changes:
        if record >= 0:
            out[record] = cell
    return out


@st.composite
def works(draw, most=30):
    X = draw(records(least=8, most=most, columns=3))
    k = draw(st.integers(2, min(4, len(X) // 4)))
    return Work(Problem.of(X, k), random_labels(len(X), k, draw(st.integers(0, 999))), Context())


@given(works(), st.data())
def test_r1_r2_r3_are_the_sums_recomputed(work, data):
    X, cells = work.model.points, work.cells
    labels = cells.labels
    i = data.draw(st.integers(0, len(X) - 1))
    j = data.draw(st.sampled_from(np.flatnonzero(labels != labels[i]).tolist()))
    p, q = labels[i], labels[j]
    near = pytest.approx

    def squares(rows):
        return np.square(X[rows] - X[rows].mean(axis=0)).sum()

    old_p, old_q = np.flatnonzero(labels == p), np.flatnonzero(labels == q)
    replaced = [*old_q[old_q != j], i]
    assert change(work.model, cells, labels[j], j, i) == near(squares(replaced) - squares(old_q), abs=1e-9)
    assert change(work.model, cells, q, -1, i) == near(squares([*old_q, i]) - squares(old_q), abs=1e-9)
    assert change(work.model, cells, p, i, -1) == near(squares(old_p[old_p != i]) - squares(old_p), abs=1e-9)


@given(works())
def test_a_pair_of_cells_yields_its_best_move(work):
    X, cells, k = work.model.points, work.cells, work.k
    labels, base = cells.labels, squares_of(work)
    for p, q in itertools.combinations(range(labels.max() + 1), 2):
        result, left, right = best_of_pair(work.model, cells, p, q, k, np.empty((2, 2 * k)))
        members = [np.flatnonzero(labels == c).tolist() for c in (p, q)]
        best = 0.0
        for i, j in itertools.product([*members[0], -1], [*members[1], -1]):
            new = moved(labels, (i, q), (j, p))
            if k <= min(np.bincount(new)[[p, q]]) and max(np.bincount(new)[[p, q]]) < 2 * k:
                best = min(best, sse(X, new) - base)
            if (i, j) == (left, right):
                assert sse(X, new) - base == pytest.approx(result, abs=1e-9)
        assert result == pytest.approx(best, abs=1e-9)


@given(works())
def test_scan_keeps_the_best_move_of_every_cell_up_to_date(work):
    run = Run(work, Context(), IcsmOptions())
    for _ in range(3):
        run.pairs()
        run.scan()
        fresh = Run(work, Context(), IcsmOptions())
        fresh.scan()
        assert np.allclose(run.best.change, fresh.best.change, atol=1e-12)
        sizes = np.bincount(work.cells.labels, minlength=len(work.cells.sizes))
        assert np.array_equal(sizes, work.cells.sizes)


@given(works(most=14))
def test_the_cut_is_the_best_of_all_cyclic_cuts(work):
    X, k = work.model.points, work.k
    n = len(X)
    order = string(work, lambda: None)
    assert sorted(order.tolist()) == list(range(n))
    squares, first, last = cut(X, k, order, lambda: None)

    def best(turned, begin):
        if begin == n:
            return 0.0
        runs = [m for m in range(k, 2 * k) if begin + m <= n]
        return min(
            (np.square(X[r] - X[r].mean(axis=0)).sum() + best(turned, begin + m) for m in runs
             for r in [turned[begin : begin + m]]),
            default=np.inf,
        )  # fmt: skip

    assert squares == pytest.approx(min(best(np.roll(order, -s), 0) for s in range(n)), abs=1e-9)
    assert squares <= squares_of(work) + 1e-9  # every cell is a run of the path
    before = work.cells.labels.copy()
    changed, kept = np.arange(len(work.cells.sizes)) % 2, np.empty(len(work.cells.sizes), np.int64)
    icsm.adopt(work.model, work.cells, order, first, last, kept, changed)
    assert squares_of(work) == pytest.approx(squares, abs=1e-9)
    assert Partition(work.cells.labels, k=k).sizes.max() < 2 * k
    assert changed[1::2].all()  # what was known to have changed still is
    for cell in np.flatnonzero(changed == 0):
        assert np.array_equal(before == cell, work.cells.labels == cell)


def test_adopting_a_tour_forgets_no_change_in_many_cells():
    """On arrays long enough for vector instructions."""
    X = np.random.default_rng(3).normal(size=(1500, 4))
    work = Work(Problem.of(X, 10), random_labels(1500, 10, 3), Context())
    order = string(work, lambda: None)
    _, first, last = cut(work.model.points, 10, order, lambda: None)
    changed, kept = np.ones(len(work.cells.sizes), np.int64), np.empty(len(work.cells.sizes), np.int64)
    icsm.adopt(work.model, work.cells, order, first, last, kept, changed)
    assert changed.all()


@given(works(most=20))
def test_scores_are_the_double_sum(work):
    X, cells = work.model.points, work.cells
    n = len(X)
    labels = cells.labels
    r1 = np.array([[change(work.model, cells, labels[j], j, i) for j in range(n)] for i in range(n)])
    for p in range(labels.max() + 1):
        inside = labels == p
        wanted = r1[np.ix_(inside, ~inside)].sum() - r1[np.ix_(~inside, inside)].sum()
        assert scores(work)[p] == pytest.approx(wanted, abs=1e-7)


def best_cycle(work, ranked):
    """Return the cheapest cycle through cells of rising rank that starts in the first, by trying all."""
    labels, k, base = work.cells.labels, work.k, squares_of(work)
    nodes = {int(c): [*np.flatnonzero(labels == c).tolist(), -1] for c in ranked}
    best = 0.0
    for length in range(2, len(ranked) + 1):
        for tail in itertools.combinations(ranked[1:], length - 1):
            chain = [ranked[0], *tail]
            for chosen in itertools.product(*(nodes[int(c)] for c in chain)):
                if any(a == b == -1 for a, b in zip(chosen, [*chosen[1:], chosen[0]], strict=True)):
                    continue
                new = labels.copy()
                for place, record in enumerate(chosen):
                    if record >= 0:
                        new[record] = chain[(place + 1) % length]
                if k <= min(np.bincount(new)) and max(np.bincount(new)) < 2 * k:
                    best = min(best, sse(work.model.points, new) - base)
    return best


@given(st.integers(0, 10**6))
def test_the_chain_is_the_cheapest_cycle(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(8, 11)), 2))
    work = Work(Problem.of(X, 2), random_labels(len(X), 2, seed), Context())
    cells, before = work.cells, squares_of(work)
    source = int(rng.integers(cells.labels.max() + 1))
    alive = np.flatnonzero(cells.sizes)
    away = np.square(work.model.centroids[alive] - work.model.centroids[source]).sum(axis=1)
    wanted = best_cycle(work, alive[np.argsort(away)])
    assert Run(work, Context(), IcsmOptions()).chain(source) == (wanted < -work.tiny)
    assert squares_of(work) - before == pytest.approx(wanted, abs=1e-9)


@given(works())
def test_a_record_gets_its_best_shift_or_swap(work):
    X, k, n = work.model.points, work.k, len(work.model.points)
    labels, base = work.cells.labels, squares_of(work)
    near = np.array([[j for j in range(n) if j != i] for i in range(n)])
    search = start(work, near, 1)
    for i in range(0, n, 3):
        result, cell, other = best_for(work.model, work.cells, search, k, i)
        best = 0.0
        for q, j in [(q, -1) for q in set(labels.tolist())] + [(labels[j], j) for j in range(n) if j != i]:
            new = moved(labels, (i, q), (j, labels[i]))
            sizes = np.bincount(new)
            if sizes.min() >= k and sizes.max() < 2 * k:
                best = min(best, sse(X, new) - base)
            if (q, j) == (cell, other):
                assert sse(X, new) - base == pytest.approx(result, abs=1e-9)
        assert result == pytest.approx(best, abs=1e-9)


@given(works(), st.integers(1, 2**62))
def test_what_is_taken_back_leaves_no_trace(work, seed):
    X, k, n = work.model.points, work.k, len(work.model.points)
    near = np.argsort(np.square(X[:, None] - X).sum(axis=2) + np.diag(np.full(n, np.inf)), axis=1)[:, : n - 1]
    search = start(work, np.ascontiguousarray(near), seed)
    settle_all(work.model, work.cells, search, k, work.tiny)
    labels, base = work.cells.labels.copy(), squares_of(work)
    for _ in range(5):
        groups.begin(work.cells)
        change = shake(work.model, work.cells, search, k)
        if change < np.inf:
            assert squares_of(work) - base == pytest.approx(change, abs=1e-9)
            assert sse(X, work.cells.labels) == pytest.approx(squares_of(work), abs=1e-9)
        give_up(work.model, work.cells, search)
        assert np.array_equal(work.cells.labels, labels)
        assert squares_of(work) == pytest.approx(base, abs=1e-12)
        assert not search.queued.any()
