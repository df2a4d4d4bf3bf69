from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from certify import oracles as own
from partitioners import oracles
from partitioners.points import records
from voronym._kernels import subsets
from voronym.certify.exact import by_subsets, distances, exact
from voronym.core.context import Context


def tables(count, most):
    rng = np.random.default_rng(5)
    for number in range(count):
        n, d = int(rng.integers(4, most + 1)), int(rng.integers(1, 4))
        k = int(rng.integers(2, max(3, n // 2 + 1)))
        X = rng.normal(size=(n, d)) if number % 3 else rng.integers(0, 4, (n, d)).astype(float)
        yield X, k


@pytest.mark.parametrize(
    ("X", "k"),
    [pytest.param(X, k, marks=pytest.mark.slow if len(X) > 9 and k == 2 else ()) for X, k in tables(25, 11)],
)
def test_brute_force(X, k):
    wanted = oracles.best_of_all(X, k)
    for bound in (exact(X, k, Context()), by_subsets(X, k, Context())):
        assert bound.optimal
        assert bound.sse == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert bound.partition.sse(X) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert bound.partition.k == k


@given(records(least=2, most=9, columns=3))
def test_sums_over_pairs_give_the_sse_of_every_subset(X):
    n = len(X)
    pairs, sizes = np.empty(1 << n), np.empty(1 << n, np.int64)
    subsets.spread(distances(X, Context()), pairs, sizes)
    for subset in range(1, 1 << n):
        cell = [i for i in range(n) if subset >> i & 1]
        assert sizes[subset] == len(cell)
        wanted = own.cell_sse(X, cell)
        assert pairs[subset] / len(cell) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_degenerate_tables(k):
    rng = np.random.default_rng(k)
    equal = exact(np.full((2 * k, 2), 0.1), k, Context())
    assert equal.sse == equal.partition.sse(np.full((2 * k, 2), 0.1)) == equal.information_loss == 0.0
    assert equal.gap(0.0) == 0.0
    twice = np.repeat(rng.normal(size=(2, 3)), k, axis=0)
    assert exact(twice, k, Context()).partition.n_cells == 2
    assert exact(twice, k, Context()).sse == 0.0
    single = rng.normal(size=(2 * k - 1, 3))
    assert exact(single, k, Context()).partition.n_cells == 1


@given(st.integers(1, 80), st.integers(2, 6), st.floats(0, 1e9), st.integers(0, 99))
def test_one_column_far_from_zero(n, k, offset, seed):
    """The optimum of a column is below any partition into runs, whatever the digits lost on the way."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=n + k)) + offset * rng.integers(0, 2, n + k)
    bound = exact(x[:, None], k, Context())
    assert bound.sse <= oracles.best_contiguous(x - offset, k) * (1 + 1e-9) + 1e-3 * (offset > 1e6)
    assert bound.sse <= bound.partition.sse(x)


def test_gap_refuses_nonsense():
    bound = exact(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0], [6.0, 1.0]]), 2, Context())
    assert bound.gap(2.0) == pytest.approx(100.0)
    assert "optimal" in str(bound)
    with pytest.raises(vr.InputError):
        bound.gap(-1.0)
