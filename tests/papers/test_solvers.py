"""The papers' solvers of channels, and how the core finds all that the papers have."""

from __future__ import annotations

import numpy as np
import pytest

from channel.laws import measured, normal_grid
from voronym.channel import privacy_distortion
from voronym.channel.alphabet import check_alphabet
from voronym.core.context import Context
from voronym_papers.solvers import reconstruct, reconstruction
from voronym_papers.solvers.steepest import steepest


def test_the_paper_s_descent_and_mirror_descent_approach_the_same_cost():
    _, p, d = normal_grid(15)
    alphabet, _, _ = check_alphabet(p, d)
    best = privacy_distortion(p, d, multiplier=1.22)
    slow = privacy_distortion(p, d, multiplier=1.22, method="mirror", tolerance=1e-3)
    assert best.bound <= slow.cost <= best.cost * 1.001
    costs = []
    for steps in (0, 1000, 8000):
        result = steepest(alphabet, Context(), weight_d=1.0, weight_r=1.22, tolerance=1e-9, iterations=steps)
        costs.append(alphabet.distortion(result.J) + 1.22 * alphabet.risk(result.J))
        assert result.bound <= best.cost + 1e-12
    assert costs[0] > costs[1] > costs[2] >= best.bound
    assert costs[2] < 1.3 * best.cost
    by_name = privacy_distortion(p, d, multiplier=1.22, method="steepest", tolerance=0.5)
    assert by_name.method == "steepest"
    assert by_name.gap >= by_name.cost - best.cost - 1e-9


@pytest.mark.parametrize("asked", [{"max_risk": 0.2}, {"max_distortion": 0.6}, {"multiplier": 0.5}], ids=str)
def test_reconstruction_never_raises_the_objective(asked):
    x, p, _ = normal_grid(15)
    start = np.array([[-2.8], [-2.0], [0.1], [2.9]])
    result = reconstruct(p, x[:, None], start, **asked)
    assert all(b <= a + 1e-6 for a, b in zip(result.history, result.history[1:], strict=False))
    assert result.history[-1] < 0.98 * result.history[0]
    D, R = measured(p, result.channel.matrix, np.square(x[:, None] - result.letters.T))
    assert (pytest.approx(result.channel.distortion), pytest.approx(result.channel.risk, abs=1e-9)) == (D, R)
    assert asked.get("max_risk", np.inf) + 1e-9 >= R
    assert asked.get("max_distortion", np.inf) + 1e-9 >= D


def test_the_mean_given_the_letter_is_the_best_letter():
    x, p, d = normal_grid(11)
    rule = privacy_distortion(p, d[:, ::3], max_risk=0.2)
    letters, distortion = reconstruction(rule, x[:, None])
    J = p.sum(axis=0)[:, None] * rule.matrix
    for shift in (-0.01, 0.01):
        assert distortion <= float((J * np.square(x[:, None] - letters[:, 0] - shift)).sum())
    assert distortion <= rule.distortion + 1e-12
