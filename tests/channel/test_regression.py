"""The bound on the risk for any law, against the paper's formula, a counterexample, optima, partitions."""

from __future__ import annotations

from itertools import product
from math import pi, sqrt

import numpy as np
import pytest

from repeats import few
from voronym.channel import privacy_distortion, regression_bound, scalar_risk
from voronym.channel.base import information_of
from voronym.channel.limits import proxy_variance
from voronym.channel.regression import regression_error
from voronym.errors import InputError

X4, P4 = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.1, 0.4, 0.4, 0.1])
G4 = np.array([-1.0, 0.0, 0.0, 1.0]) * sqrt(2 / pi)
"""W is normal, with the sign of X where X is two away, and independent of X where it is one away."""


@pytest.mark.parametrize("rho", [0.3, 0.95])
def test_for_normal_data_it_is_the_formula_of_the_paper(rho):
    x = np.linspace(-6.0, 6.0, 241)
    p = np.exp(-np.square(x) / 2)
    p /= p.sum()
    variance = p @ np.square(x)
    for share in (0.0, 0.25, 0.5, 0.9, 1.0, 2.0):
        bound = regression_bound(x[:, None], p, rho * x / sqrt(variance), share * variance, variance=1.0)
        assert bound == pytest.approx(scalar_risk(rho, share), abs=1e-9)


def test_it_stays_below_the_rule_that_refutes_the_formula_of_the_paper():
    """Of W only the sign depends on X, so the risk of a rule is that about the sign."""
    signs = np.array([[1.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 1.0]]) * P4
    law = np.column_stack([signs[:, [0, 3]].sum(axis=1), signs[:, 1], signs[:, 2]])  # 0 for -2 and 2
    assert information_of(law) == pytest.approx(0.0, abs=1e-12)
    variance = P4 @ X4**2
    rho = P4 @ (X4 * G4) / sqrt(variance)
    assert scalar_risk(float(rho), 0.5) == pytest.approx(0.0162, abs=1e-4)  # the formula: above the truth
    assert regression_bound(X4[:, None], P4, G4, 0.5 * variance, variance=1.0) == 0.0
    letters = np.linspace(-2.0, 2.0, 41)
    d = np.square(X4[:, None] - letters)
    for distortion in (0.01, 0.05, 0.1, 0.2, 0.4):
        least = privacy_distortion(signs, d, max_distortion=distortion).risk
        bound = regression_bound(X4[:, None], P4, G4, distortion, variance=1.0)
        assert bound <= least + 1e-9
        assert bound > 0.0 or distortion > 0.19


@pytest.mark.parametrize("seed", few(range(6), 3))
def test_no_rule_on_a_finite_table_is_below_it(seed):
    rng = np.random.default_rng(seed)
    n, levels = 5, 3
    X = rng.normal(size=(n, 2))
    p_wx = rng.dirichlet(np.full(n * levels, 0.4)).reshape(levels, n)
    w = rng.normal(size=levels)
    p = p_wx.sum(axis=0)
    g = w @ p_wx / p
    pw = p_wx.sum(axis=1)
    variance = float(pw @ np.square(w - pw @ w))
    subsets = [np.array(s, bool) for s in product((0, 1), repeat=n) if any(s)]
    letters = np.stack([p[s] @ X[s] / p[s].sum() for s in subsets])
    d = np.square(X[:, None, :] - letters).sum(axis=2)
    total = float(p @ np.square(X - p @ X).sum(axis=1))
    for share in (0.02, 0.2, 0.6):
        bound = regression_bound(X, p, g, share * total, variance=variance, proxy=proxy_variance(w, pw))
        assert bound <= privacy_distortion(p_wx, d, max_distortion=share * total).risk + 1e-9


@pytest.mark.parametrize("seed", few(range(8), 4))
def test_no_partition_leaves_more_of_the_regression_in_the_error(seed):
    """All 203 partitions of six points, as published cells: what g varies inside, at their own distortion."""
    rng = np.random.default_rng(seed)
    X, p, g = rng.normal(size=(6, 1 + seed % 2)), rng.dirichlet(np.ones(6)), rng.normal(size=6)
    g[3] += 4.0 * (seed % 3)  # a jump: no slope is a good one
    shares = []
    for labels in product(range(6), repeat=6):
        if any(label > max(labels[:at], default=-1) + 1 for at, label in enumerate(labels)):
            continue
        inside, away = 0.0, 0.0
        for cell in set(labels):
            own = np.array(labels) == cell
            q = p[own] / p[own].sum()
            inside += p[own].sum() * float(q @ np.square(g[own] - q @ g[own]))
            away += p[own].sum() * float(q @ np.square(X[own] - q @ X[own]).sum(axis=1))
        most = regression_error(X, g, away)
        assert inside <= most + 1e-9
        shares.append(inside / most if most > 0.0 else 0.0)
    assert max(shares) > 0.1  # no empty promise


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="cannot vary"):
        regression_bound(X4[:, None], P4, 3 * G4, 0.1, variance=1.0)
    with pytest.raises(InputError, match="for each value of X"):
        regression_bound(X4[:, None], P4[:3], G4, 0.1, variance=1.0)
    assert regression_bound(X4[:, None], P4, 0 * G4, 0.1, variance=1.0) == 0.0
    assert regression_error([[0.0], [0.0]], [0.0, 1.0], 0.3) == 0.5
