"""The least distortion with a limit on information and common letters, against cvxpy and random rules."""

from __future__ import annotations

import numpy as np
import pytest

from voronym.channel import crowded_channel, privacy_distortion
from voronym.channel.base import information_of
from voronym.errors import InputError


def problem(seed, w=3, n=10, m=4):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(w * n)).reshape(w, n)
    x = np.sort(rng.random(n))
    return p, np.square(x[:, None] - np.linspace(0.1, 0.9, m))


def by_cvxpy(p, d, max_risk, least):
    cp = pytest.importorskip("cvxpy")
    n, m = d.shape
    J = cp.Variable((n, m), nonneg=True)
    letters = cp.sum(J, axis=0)
    product = p.sum(axis=1)[:, None] @ cp.reshape(letters, (1, m), order="C")
    information = cp.sum(cp.rel_entr((p / p.sum(axis=0)) @ J, product))
    limits = [cp.sum(J, axis=1) == p.sum(axis=0), letters >= least, information <= max_risk]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(J, d))), limits).solve()


@pytest.mark.parametrize(("max_risk", "least"), [(0.05, 0.15), (0.02, 0.2), (0.2, 0.2), (0.0, 0.1)])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_another_solver(seed, max_risk, least):
    p, d = problem(seed)
    rule = crowded_channel(p, d, max_risk=max_risk, least=least)
    assert information_of(p @ rule.matrix) <= max_risk + 1e-9
    assert (p.sum(axis=0) @ rule.matrix).min() >= least - 1e-9
    np.testing.assert_allclose(rule.matrix.sum(axis=1), 1.0)
    assert float((p.sum(axis=0)[:, None] * rule.matrix * d).sum()) == pytest.approx(rule.distortion)
    assert rule.bound <= rule.distortion <= rule.bound * (1 + 2e-4) + 1e-9
    assert rule.distortion == pytest.approx(by_cvxpy(p, d, max_risk, least), rel=3e-4, abs=5e-6)


def test_no_rule_that_keeps_both_has_less_than_the_bound():
    """Random rules, drawn towards silence until they keep both limits."""
    p, d = problem(7)
    max_risk, least = 0.04, 0.18
    bound = crowded_channel(p, d, max_risk=max_risk, least=least).bound
    rng, kept = np.random.default_rng(0), 0
    for _ in range(300):
        rule = rng.dirichlet(np.full(4, rng.uniform(0.1, 2)), 10) * rng.random() + np.eye(4)[d.argmin(axis=1)]
        rule = rule / rule.sum(axis=1, keepdims=True)
        rule = (1 - (share := rng.random())) * rule + share / 4
        if information_of(p @ rule) <= max_risk and (p.sum(axis=0) @ rule).min() >= least:
            kept += 1
            assert float((p.sum(axis=0)[:, None] * rule * d).sum()) >= bound - 1e-12
    assert kept > 20


def test_without_common_letters_it_is_the_privacy_distortion_function():
    p, d = problem(3)
    both = crowded_channel(p, d, max_risk=0.03, least=0.0)
    alone = privacy_distortion(p, d, max_risk=0.03)
    assert both.distortion == pytest.approx(alone.distortion, rel=1e-3)
    dearer = crowded_channel(p, d, max_risk=0.03, least=0.22)
    assert dearer.bound >= both.bound - 1e-9


def test_what_cannot_be_is_refused():
    p, d = problem(0)
    with pytest.raises(InputError, match="cannot all"):
        crowded_channel(p, d, max_risk=0.1, least=0.3)
    with pytest.raises(InputError, match="max_risk"):
        crowded_channel(p, d, max_risk=-1.0, least=0.1)
