"""Gaussian channels against closed forms, an independent solver, and a million records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repeats import examples
from voronym.channel import (
    Channel,
    GaussianSource,
    closed_form_bound,
    gaussian_bound,
    gaussian_channel,
    scalar_bound,
    scalar_multiplier,
    scalar_risk,
)
from voronym.channel.logdet import certify, maximise
from voronym.channel.waterfill import closed_form, waterfill
from voronym.core.context import Context
from voronym.errors import InputError


def random_source(seed, n=5, m=5):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n + m, n + m))
    C = L @ L.T / (n + m)
    return GaussianSource(C[:n, :n], C[n:, n:], C[n:, :n])


def by_cvxpy(source, D):
    cp = pytest.importorskip("cvxpy")
    n = len(source.sigma_x)
    S = cp.Variable((n, n), PSD=True)
    G = source.sigma_wx @ np.linalg.inv(source.sigma_x)
    left = source.sigma_w - G @ source.sigma_wx.T
    value = 0.5 * cp.log_det(0.5 * (left + left.T) + G @ S @ G.T)
    problem = cp.Problem(cp.Maximize(value), [source.sigma_x >> S, cp.trace(S) <= D])
    problem.solve(solver="CLARABEL")
    return 0.5 * np.linalg.slogdet(source.sigma_w)[1] - problem.value


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("seed", [0, 1])
def test_five_by_five_agrees_with_an_independent_solver(seed, share):
    source = random_source(seed)
    channel = gaussian_channel(source, max_distortion=share * source.variance)
    assert channel.risk == pytest.approx(by_cvxpy(source, share * source.variance), abs=2e-6)
    assert channel.gap < 1e-7
    assert channel.distortion <= share * source.variance * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_below_and_tight_for_small_distortion(seed):
    source = random_source(seed)
    small = 0.9 * float(np.linalg.eigvalsh(source.sigma_x)[0])
    bound, tight = closed_form_bound(source, small)
    assert tight
    assert bound == pytest.approx(gaussian_bound(source, small), abs=1e-7)
    for share in (0.1, 0.4, 0.9):
        bound, tight = closed_form_bound(source, share * source.variance)
        exact = gaussian_bound(source, share * source.variance)
        assert bound <= exact + 1e-7
        if tight:
            assert bound == pytest.approx(exact, abs=1e-7)
    assert not closed_form_bound(source, 0.4 * source.variance)[1]


@examples(15, 100)
@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
def test_no_feasible_error_beats_the_bound(seed, share):
    source = random_source(seed, n=3, m=2)
    D = share * source.variance
    bound = gaussian_bound(source, D)
    rng = np.random.default_rng(seed)
    _, v = source.axes
    K = source.correlations
    for _ in range(20):
        U = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        T = (U * rng.random(3)) @ U.T
        T *= min(1.0, D / float(v @ np.diag(T)))
        risk = -0.5 * np.linalg.slogdet(np.eye(2) - K @ (np.eye(3) - T) @ K.T)[1]
        assert risk >= bound - 1e-9


def test_scalars_have_the_papers_formulas():
    source = GaussianSource([[4.0]], [[9.0]], [[0.95 * 6.0]])
    for share in (0.25, 0.5, 0.75):
        channel = gaussian_channel(source, max_distortion=4.0 * share)
        assert channel.risk == pytest.approx(-0.5 * np.log(1 - (1 - share) * 0.95**2), rel=1e-12)
        assert channel.share == pytest.approx(share)
    entropy = 0.5 * np.log(2 * np.pi * np.e * 9.0)
    assert scalar_bound(entropy, 3.0, 0.95, 0.5) == pytest.approx(scalar_risk(0.95, 0.5))
    assert gaussian_bound(source, 2.0, entropy=entropy) == pytest.approx(scalar_risk(0.95, 0.5))
    assert gaussian_bound(source, 2.0, entropy=entropy - 0.1) == pytest.approx(scalar_risk(0.95, 0.5) - 0.1)
    step = 1e-6
    slope = (scalar_risk(0.95, 0.5 + step) - scalar_risk(0.95, 0.5 - step)) / (2 * step)
    assert scalar_multiplier(0.95, 0.5) == pytest.approx(-1 / slope, rel=1e-6)
    assert scalar_risk(1.0, 0.0) == np.inf
    assert scalar_risk(0.9, 1.5) == 0.0


def test_many_records_have_the_distortion_and_risk_of_theory():
    rng = np.random.default_rng(0)
    C = np.array([[2.0, 0.5, 1.2], [0.5, 1.0, 0.3], [1.2, 0.3, 1.5]])
    Z = rng.standard_normal((300_000, 3)) @ np.linalg.cholesky(C).T + [10.0, -5.0, 0.0]
    X, W = Z[:, :2], Z[:, 2:]
    source = GaussianSource(C[:2, :2], C[2:, 2:], C[2:, :2], np.array([10.0, -5.0]))
    channel = gaussian_channel(source, max_distortion=0.8)
    assert isinstance(channel, Channel)
    Y = channel.apply(X, seed=1)
    assert np.array_equal(Y, channel.apply(X, seed=1))
    assert not np.array_equal(Y, channel.apply(X, seed=2))
    distortion = float(np.square(X - Y).sum(axis=1).mean())
    assert distortion == pytest.approx(channel.distortion, rel=0.01)
    assert distortion == pytest.approx(0.8, rel=0.01)
    risk = GaussianSource.estimate(Y, W).information
    assert risk == pytest.approx(channel.risk, rel=0.01)
    assert Y.mean(axis=0) == pytest.approx([10.0, -5.0], abs=0.01)
    # the rule of theorem 2: X̂ = (I - A) X + A Z
    inverse = np.linalg.inv(source.sigma_x)
    assert pytest.approx(channel.sigma @ inverse) == channel.A
    kept = source.sigma_x - channel.sigma
    assert channel.noise == pytest.approx(kept - kept @ inverse @ kept, abs=1e-9)
    estimated = gaussian_channel(GaussianSource.estimate(X, W), max_distortion=0.8)
    assert estimated.risk == pytest.approx(channel.risk, rel=0.01)


@pytest.mark.parametrize("limit", [0.05, 0.5, 1.1])
def test_a_limit_on_the_risk_is_met(limit):
    source = random_source(7, n=3, m=3)
    channel = gaussian_channel(source, max_risk=limit)
    assert channel.risk <= limit
    assert channel.risk == pytest.approx(limit, abs=1e-5)
    assert gaussian_bound(source, channel.distortion * 0.999) > channel.risk - 1e-6


def test_the_ends():
    source = random_source(8, n=4, m=2)
    nothing = gaussian_channel(source, max_distortion=0.0)
    X = np.random.default_rng(0).standard_normal((10, 4))
    assert nothing.apply(X) == pytest.approx(X)
    assert nothing.risk == pytest.approx(source.information)
    # W has two dimensions, X four: what says nothing is kept even at risk 0
    secret = gaussian_channel(source, max_risk=0.0)
    assert secret.risk < 1e-9
    assert secret.share < 0.95
    assert gaussian_channel(source, max_risk=99.0).distortion == 0.0
    assert gaussian_channel(source, max_distortion=99.0).distortion == pytest.approx(secret.distortion)
    assert gaussian_bound(source, 99.0) == 0.0


def test_singular_covariances():
    rng = np.random.default_rng(3)
    base = rng.standard_normal((2000, 2))
    X = np.column_stack([base, base.sum(axis=1), np.full(2000, 7.0)])  # rank 2 and a constant
    W = np.column_stack([base[:, 0], base[:, 0]])  # twice the same, determined by X
    source = GaussianSource.estimate(X, W)
    assert source.information == np.inf
    channel = gaussian_channel(source, max_distortion=0.5 * source.variance)
    assert 0.0 < channel.risk < 5.0
    Y = channel.apply(X, seed=0)
    assert Y[:, 3] == pytest.approx(7.0)
    assert Y[:, 2] == pytest.approx(Y[:, 0] + Y[:, 1], abs=1e-6)
    with pytest.raises(InputError, match="determines a part of W"):
        closed_form_bound(source, 0.1)


@given(st.lists(st.tuples(st.floats(0.01, 50), st.floats(0, 5)), min_size=1, max_size=5), st.floats(0, 10))
def test_water_filling_beats_any_other_spending(pairs, total):
    gains, limits = (np.array(v) for v in zip(*pairs, strict=True))
    x = waterfill(gains, limits, total)
    assert (x >= 0).all()
    assert (x <= limits + 1e-12).all()
    assert x.sum() <= total + 1e-9
    assert x.sum() == pytest.approx(min(total, limits.sum()), abs=1e-9)
    best = np.log1p(gains * x).sum()
    rng = np.random.default_rng(0)
    for _ in range(30):
        y = limits * rng.random(len(limits))
        if y.sum() > total:
            y *= total / y.sum()
        assert np.log1p(gains * y).sum() <= best + 1e-9


def test_water_filling_by_hand():
    assert waterfill([4.0, 1.0], [10.0, 10.0], 0.5).tolist() == [0.5, 0.0]
    assert waterfill([4.0, 1.0], [0.25, 10.0], 1.0).tolist() == [0.25, 0.75]
    assert waterfill([1.0, 0.0], [1.0, 2.0], 5.0).tolist() == [1.0, 2.0]
    with pytest.raises(InputError):
        waterfill([1.0], [1.0, 2.0], 1.0)
    with pytest.raises(InputError):
        waterfill([-1.0], [1.0], 1.0)


def test_the_dual_is_above_the_primal():
    rng = np.random.default_rng(5)
    P = np.diag([1.0, 2.0, 3.0])
    G = rng.standard_normal((3, 3))
    G = G @ G.T
    best = certify(G, P, 2.0)
    for _ in range(200):
        U = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        T = (U * rng.random(3)) @ U.T
        T *= min(1.0, 2.0 / float(np.vdot(P, T)))
        assert np.vdot(G, T) <= best + 1e-12
    with pytest.raises(InputError, match="dimensions"):
        maximise(np.eye(1), np.ones((1, 61)), np.eye(61), 1.0, Context())
    value, X, tight = closed_form(np.eye(1), np.array([[1.0]]), np.array([[1.0]]), 0.5)
    assert (value, float(X[0, 0]), tight) == (pytest.approx(0.5 * np.log(1.5)), 0.5, True)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: GaussianSource([[1.0]], [[1.0]], [[2.0]]), "negative eigenvalue"),
        (lambda: GaussianSource([[1.0, 0.0]], [[1.0]], [[0.5]]), "do not fit"),
        (lambda: GaussianSource([[1.0, 0.3], [0.1, 1.0]], [[1.0]], [[0.5, 0.0]]), "symmetric"),
        (lambda: GaussianSource([[0.0]], [[1.0]], [[0.0]]), "does not vary"),
        (lambda: GaussianSource([[np.nan]], [[1.0]], [[0.0]]), "finite"),
        (lambda: GaussianSource.estimate([[1.0], [2.0]], [[1.0]]), "same records"),
        (lambda: GaussianSource.estimate([[1.0]], [[1.0]]), "one record"),
        (lambda: gaussian_channel(random_source(0), max_risk=0.1, max_distortion=0.1), "either"),
        (lambda: gaussian_channel(random_source(0)), "either"),
        (lambda: gaussian_channel(random_source(0), max_risk=-1.0), "0 or more"),
        (lambda: scalar_risk(1.5, 0.1), "between -1 and 1"),
        (lambda: scalar_risk(0.5, -0.1), "0 or more"),
    ],
)
def test_bad_input_is_refused_with_a_reason(build, words):
    with pytest.raises(InputError, match=words):
        build()
