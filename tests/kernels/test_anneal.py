"""The annealing kernels against sums recomputed with NumPy after every move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voronym._kernels import anneal as kernels


def cells_of(X, k, labels):
    n, d = X.shape
    most = n // k
    cells = kernels.Cells(
        labels.copy(),
        np.empty(n, np.int64),
        np.full((most, 2 * k), -1),
        np.empty(most, np.int64),
        np.empty((most, d)),
        np.empty(most),
        np.empty(most + 1, np.int64),
    )
    kernels.fill(X, cells)
    return cells


def sse(X, labels):
    return sum(((X[labels == a] - X[labels == a].mean(0)) ** 2).sum() for a in np.unique(labels))


def check(X, cells):
    """Every list, size and sum is what the labels say."""
    most = len(cells.size)
    assert cells.size.tolist() == np.bincount(cells.label, minlength=most).tolist()
    for a in range(most):
        own = np.flatnonzero(cells.label == a)
        assert sorted(cells.members[a, : cells.size[a]].tolist()) == own.tolist()
        assert (cells.members[a, cells.place[own]] == own).all()
        np.testing.assert_allclose(cells.sums[a], X[own].sum(0), atol=1e-9)
        assert cells.square[a] == pytest.approx((X[own].sum(0) ** 2).sum(), abs=1e-9)
    free = cells.free[: cells.free[-1]]
    assert sorted(free.tolist()) == np.flatnonzero(cells.size == 0).tolist()


def setting(seed, n=24, k=3, d=2, spare=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    labels = rng.permutation(np.arange(n) % (n // k - spare))
    near = np.argsort(((X[:, None] - X[None]) ** 2).sum(-1), axis=1)[:, 1:11].copy()
    log = np.empty((2, 2 * k), np.int64)
    return X, k, labels, near, log, np.array([2 * seed + 1], np.uint64)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 10.0]), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=80)
def test_a_run_keeps_its_books(seed, temperature, jumps):
    X, k, labels, near, log, state = setting(seed)
    cells = cells_of(X, k, labels)
    delta = kernels.anneal(X, k, near, 300, temperature, jumps, state, log[0], log[1], cells)
    check(X, cells)
    assert delta == pytest.approx(sse(X, cells.label) - sse(X, labels), abs=1e-8)
    used = cells.size[cells.size > 0]
    assert used.min() >= k
    assert used.max() <= max(2 * k - 1, np.bincount(labels).max())
    if temperature == 0.0:
        assert delta <= 1e-9


@given(st.integers(0, 10_000))
def test_single_moves_cost_what_they_say(seed):
    X, k, labels, _, _, state = setting(seed)
    rng = np.random.default_rng(seed)
    cells = cells_of(X, k, labels)
    i = int(rng.integers(len(X)))
    b = int(rng.choice(np.setdiff1d(np.unique(labels), labels[i])))
    cost = kernels.shift_cost(X, i, b, cells)
    moved = labels.copy()
    moved[i] = b
    assert cost == pytest.approx(sse(X, moved) - sse(X, labels), abs=1e-9)
    others = np.flatnonzero(labels != labels[i])
    v = int(rng.choice(others))
    w = int(rng.choice(np.flatnonzero((labels != labels[i]) & (labels != labels[v]))))
    hot = 1e12  # everything is accepted
    assert kernels.swap(X, i, v, hot, state, cells) == pytest.approx(
        sse(X, cells.label) - sse(X, labels), abs=1e-9
    )
    check(X, cells)
    before = cells.label.copy()
    spun = (
        kernels.rotate(X, i, w, v, hot, state, cells) if len({before[i], before[v], before[w]}) == 3 else 0.0
    )
    assert spun == pytest.approx(sse(X, cells.label) - sse(X, before), abs=1e-9)
    check(X, cells)


def test_random_numbers_are_spread_evenly():
    state = np.array([12345], np.uint64)
    counts = np.bincount([kernels.below(state, 7) for _ in range(7000)], minlength=7)
    assert abs(counts - 1000).max() < 150
    draws = np.array([kernels.uniform(state) for _ in range(4000)])
    assert 0.0 <= draws.min() < 0.01
    assert 0.99 < draws.max() < 1.0
    assert abs(draws.mean() - 0.5) < 0.02
