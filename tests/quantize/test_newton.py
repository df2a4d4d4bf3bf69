from __future__ import annotations

import numpy as np
import pytest

import voronym as vr
from voronym._kernels import soft
from voronym.quantize.costs import newton, transport
from voronym.quantize.costs import newton as solver
from voronym.quantize.costs.base import equal_sizes
from voronym.space import Mahalanobis


@pytest.mark.parametrize("heat", [0.01, 0.3, 5.0])
def test_shares_are_those_of_numpy(heat):
    rng = np.random.default_rng(0)
    D, c = rng.random((40, 6)), rng.standard_normal(6)
    p, R = np.zeros(6), np.zeros((6, 6))
    value = soft.shares(D, c, heat, p, R, np.empty(6), np.empty(6, np.int64))
    weight = np.exp(-(D + c - (D + c).min(axis=1, keepdims=True)) / heat)
    r = weight / weight.sum(axis=1, keepdims=True)
    assert p == pytest.approx(r.sum(axis=0), abs=1e-12)
    assert pytest.approx(r.T @ r, abs=1e-12) == R
    softmin = (D + c).min(axis=1) - heat * np.log(weight.sum(axis=1))
    assert value == pytest.approx(softmin.sum(), abs=1e-10)


def test_the_jacobian_is_the_derivative_of_the_counts():
    rng = np.random.default_rng(1)
    D, c, heat = rng.random((50, 4)), rng.standard_normal(4) * 0.1, 0.2

    def counts(c):
        p, R = np.zeros(4), np.zeros((4, 4))
        soft.shares(D, c, heat, p, R, np.empty(4), np.empty(4, np.int64))
        return p, R

    p, R = counts(c)
    jacobian = -(np.diag(p) - R) / heat
    for q in range(4):
        step = np.zeros(4)
        step[q] = 1e-6
        assert (counts(c + step)[0] - counts(c - step)[0]) / 2e-6 == pytest.approx(jacobian[:, q], abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_transport_where_cells_are_large(seed):
    rng = np.random.default_rng(seed)
    n, m, d = 4000, 2 + 3 * seed, 1 + seed % 3
    X = rng.standard_normal((n, d))
    C = X[rng.choice(n, m, replace=False)]
    sizes = np.maximum(rng.multinomial(n - 50 * m, rng.dirichlet(3.0 * np.ones(m))), 0) + 50
    answer, exact = newton(X, C, sizes), transport(X, C, sizes)
    assert not answer.exact
    assert np.abs(answer.sizes - sizes).max() <= 0.02 * n / m + 3
    assert answer.cost == pytest.approx(exact.cost, rel=0.01)
    assert np.abs(answer.costs - exact.costs).max() <= 0.03 * exact.costs.max() + 1e-3
    total = np.square(X[:, None] - C[None]).sum(axis=2) + answer.costs
    assert (answer.labels == total.argmin(axis=1)).all()
    dual = total.min(axis=1).sum() - sizes @ answer.costs
    assert answer.gap == pytest.approx(answer.cost - dual, abs=1e-6)
    assert dual <= exact.cost + 1e-9  # the dual value bounds the optimum, exact or not


def test_many_cells_by_conjugate_gradients(monkeypatch):
    import importlib

    module = importlib.import_module("voronym.quantize.costs.newton")
    X = vr.datasets.gaussian(3000, 2, seed=3)
    sizes = equal_sizes(3000, 30)
    direct = newton(X, X[:30], sizes)
    monkeypatch.setattr(module, "DIRECT", 1)
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(module, "BLOCK", 10_000)
    assert newton(X, X[:30], sizes).costs == pytest.approx(direct.costs, abs=0.02 * direct.costs.max())


def test_any_space_and_start():
    X = vr.datasets.gaussian(2000, 2, seed=5)
    sizes, space = equal_sizes(2000, 8), Mahalanobis([[2.0, 0.5], [0.5, 1.0]])
    cold = newton(X, X[:8], sizes, space=space)
    assert np.abs(cold.sizes - sizes).max() <= 15
    warm = newton(X, X[:8], sizes, space=space, start=cold.costs)
    assert warm.costs == pytest.approx(cold.costs, abs=0.05 * cold.costs.max())


def test_coincident_centroids_and_equal_points_end():
    answer = newton(np.zeros(20), np.zeros((3, 1)), [5, 5, 10])
    assert answer.sizes.sum() == 20
    assert np.isfinite(answer.costs).all()
    answer = newton(np.repeat([0.0, 1.0], 10), [[0.0], [1.0]], [10, 10])
    assert answer.sizes.tolist() == [10, 10]


def test_what_it_refuses():
    with pytest.raises(vr.InputError, match="exact sizes"):
        solver(np.arange(4.0), [[0.0], [1.0]], ([1, 1], [3, 3]))
    with pytest.raises(vr.InputError, match="1 of 2 are 0"):
        solver(np.arange(4.0), [[0.0], [1.0]], [0, 4])
