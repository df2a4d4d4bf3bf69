"""Limits on the risk at a distortion, against brute force, closed forms and the QGLB's own solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from repeats import examples
from voronym.channel import GaussianSource, gaussian_bound, scalar_risk
from voronym.channel.limits import Floor, NormalCurve, Reached, greatest_error, proxy_variance, reached
from voronym.errors import InputError


def information(w, cells):
    """I(W; cell) of counts in nats, by the definition."""
    joint = np.zeros((int(max(w)) + 1, int(max(cells)) + 1))
    for a, b in zip(w, cells, strict=True):
        joint[a, b] += 1 / len(w)
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint[joint > 0] * np.log(joint[joint > 0] / outer[joint > 0])).sum())


def distortion(X, cells):
    lost = sum(np.square(X[cells == c] - X[cells == c].mean(axis=0)).sum() for c in set(cells.tolist()))
    return lost / np.square(X - X.mean(axis=0)).sum()


@pytest.mark.parametrize("p", [0.5, 0.3, 0.05, 0.001])
def test_the_proxy_of_a_coin_is_that_of_kearns_and_saul(p):
    least = 0.25 if p == 0.5 else (1 - 2 * p) / (2 * np.log((1 - p) / p))
    result = proxy_variance([0.0, 1.0], [1 - p, p])
    assert least <= result * (1 + 1e-12)
    assert result <= 1.03 * least


@examples(15, 100)
@given(st.integers(0, 10**6))
def test_the_proxy_bounds_the_cumulants(seed):
    rng = np.random.default_rng(seed)
    p, f = rng.dirichlet(np.full(5, 0.4)), rng.standard_normal(5)
    proxy = proxy_variance(f, p)
    t = np.concatenate([-np.geomspace(1e-2, 300, 200), np.geomspace(1e-2, 300, 200)])
    centred = t[:, None] * (f - p @ f)
    top = centred.max(axis=1)
    cumulants = top + np.log(np.exp(centred - top[:, None]) @ p)
    assert (cumulants <= proxy * t**2 / 2 + 1e-12).all()


def test_the_greatest_error_is_the_semidefinite_optimum():
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(4)
    b, v = rng.standard_normal(3), np.array([0.3, 1.0, 2.5])
    T = cp.Variable((3, 3), symmetric=True)
    for D in (0.2, 1.0, 2.0, 3.7):
        within = [T >> 0, np.eye(3) - T >> 0, cp.trace(np.diag(v) @ T) <= D]
        best = cp.Problem(cp.Maximize(cp.sum(cp.multiply(np.outer(b, b), T))), within)
        value = best.solve(solver=cp.CLARABEL)
        result = float(greatest_error(b, v, D)[0])
        assert value - 1e-6 <= result <= value * (1 + 1e-4) + 1e-6


@examples(6, 50)
@given(st.integers(0, 10**6), st.integers(1, 2), st.booleans())
def test_no_partition_of_a_small_table_is_below_the_floor(seed, d, strong):
    rng = np.random.default_rng(seed)
    n = 6
    X = rng.standard_normal((n, d))
    w = (X[:, 0] > 0).astype(int) + (X[:, 0] > 0.8) if strong else rng.integers(0, 3, n)
    floor = Floor(X, w)
    for cells in _partitions(n):
        assert information(w, cells) >= floor([distortion(X, cells)])[0] - 1e-9


def _partitions(n):
    """Every way to put n records into at most 3 cells."""
    for cells in itertools.product(range(3), repeat=n - 1):
        yield np.array([0, *cells])


def test_the_floor_says_something_where_keys_determine_the_column():
    x = np.linspace(-1, 1, 200)
    floor = Floor(x, (x > 0).astype(int))
    result = floor([0.0, 0.05, 0.3, 1.0])
    assert result[0] > 0.3
    assert result[0] > result[1] > result[2] >= result[3] == 0.0
    assert Floor(x, np.zeros(200, int))([0.0])[0] == 0.0
    assert Floor(np.ones(5), np.arange(5))([0.0])[0] == 0.0


def test_the_normal_curve_is_the_qglb_less_what_bins_hide():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3)) @ rng.standard_normal((3, 3))
    w = X @ [1.0, -0.5, 0.2] + rng.standard_normal(5000)
    ranks = np.argsort(np.argsort(w))
    curve = NormalCurve(X, ranks, ranks // 10)
    assert curve.hidden < 2e-3
    source = GaussianSource.estimate(X, ndtri((ranks + 0.5) / 5000)[:, None])
    shares = np.array([0.02, 0.2, 0.5])
    wanted = [gaussian_bound(source, share * source.variance) for share in shares]
    assert curve(shares) + curve.hidden == pytest.approx(np.array(wanted), abs=1e-5)
    coarse = NormalCurve(X, ranks, ranks // 1000)
    assert 0.005 < coarse.hidden < curve.information
    assert coarse(shares) == pytest.approx(np.maximum(0, curve(shares) + curve.hidden - coarse.hidden))


def test_the_normal_curve_of_one_key_is_formula_8():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(40_000)
    ranks = np.argsort(np.argsort(0.6 * x + 0.8 * rng.standard_normal(40_000)))
    curve = NormalCurve(x, ranks, ranks // 200)
    assert curve([0.3])[0] + curve.hidden == pytest.approx(scalar_risk(0.6, 0.3), rel=0.03)


def test_theorem_2_needs_a_linear_regression():
    """Keys that tell only where they are far out: cutting the tails off leaves less than (7) allows.

    X is -2, -1, 1 or 2 with probabilities 0.1, 0.4, 0.4, 0.1; W is normal, here at 2,000 of its quantiles,
    and its sign is that of X where X is 2 away. Publishing 0 for -2 and 2 tells nothing, at half of the
    variance. Hence the curve is called a reference.
    """
    x, chance = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.1, 0.4, 0.4, 0.1])
    w = ndtri((np.arange(2000) + 0.5) / 2000)
    alike = np.where(np.abs(x)[:, None] == 2.0, 2.0 * (np.sign(w) == np.sign(x)[:, None]), 1.0)
    joint = chance[:, None] * alike / len(w)
    published = np.stack([joint[0] + joint[3], joint[1], joint[2]])  # 0, -1, 1
    expected = published.sum(axis=1, keepdims=True) * published.sum(axis=0)
    assert float((published * np.log(published / expected)).sum()) == pytest.approx(0.0, abs=1e-12)
    variance = float(chance @ x**2)
    share = 4.0 * 0.2 / variance
    rho = float(x @ joint @ w) / np.sqrt(variance * float(joint.sum(axis=0) @ w**2))
    assert share == pytest.approx(0.5)
    assert scalar_risk(rho, share) == pytest.approx(0.0162, abs=2e-4)


def test_what_is_reached_is_convex_falls_and_beats_the_crude_rule():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((600, 2))
    w = (X[:, 0] + 0.5 * rng.standard_normal(600) > 0).astype(int)
    known = information(w, np.arange(600))
    line = reached(X, w, known)
    at = np.linspace(0, 1, 41)
    values = line(at)
    assert values[0] == pytest.approx(known)
    assert (np.diff(values) <= 1e-9).all()
    assert (np.diff(values, 2) >= -1e-9).all()
    assert (values[1:-1] < known * (1 - at[1:-1])).all()
    assert (values >= Floor(X, w)(at) - 1e-9).all()


def test_measured_rules_pull_the_line_down():
    line = Reached(((0.0, 2.0), (1.0, 0.0)), 0).and_also([(0.2, 0.4), (0.5, 1.9)])
    assert line.corners == ((0.0, 2.0), (0.2, 0.4), (1.0, 0.0))


def test_tables_too_small_or_without_spread():
    assert reached(np.arange(5.0), np.array([0, 1, 0, 1, 0]), 0.6).corners == ((0.0, 0.6), (1.0, 0.0))
    assert reached(np.ones(50), np.arange(50) % 2, 0.6).letters == 0
    with pytest.raises(InputError, match="vary"):
        NormalCurve(np.ones(9), np.arange(9), np.arange(9))
