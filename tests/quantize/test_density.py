"""Quantizers for populations: sampling is right, intervals cover, and a warm start is quick."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voronym.errors import GuaranteeError, InputError
from voronym.quantize import density as module
from voronym.quantize.density import design_density, draw, shares
from voronym.quantize.pcl import pcl
from voronym.quantize.quantizer import Quantizer


def triangle(X):
    return 2 * X[:, 0]  # on [0, 1]: distribution function x²


def test_rejection_draws_from_the_density():
    X = draw(triangle, 20_000, np.random.default_rng(0), bounds=[[0, 1]])
    assert X.shape == (20_000, 1)
    assert stats.kstest(X[:, 0], lambda x: x**2).pvalue > 1e-3


def honest(X):
    return np.where(X[:, 0] > 0.5, 4.0, 1.0)


def test_what_was_accepted_below_a_lower_ceiling_is_thinned():
    calls = []

    def late(
        X,
    ):  # the first batch of 3,000 sees nothing of the right half: 1,500 are accepted, all on the left
        calls.append(1)
        return honest(X) if len(calls) > 1 else np.where(X[:, 0] > 0.5, 0.0, 1.0)

    X = draw(late, 3000, np.random.default_rng(1), bounds=[[0, 1]])
    # Of the 1,500 a quarter stays: 375 + 375 + 1,500 + 750 from a third batch. Else it would be 0.4.
    assert np.mean(X > 0.5) == pytest.approx(0.7, abs=0.03)
    X = draw(honest, 30_000, np.random.default_rng(2), bounds=[[0, 1]])
    assert np.mean(X > 0.5) == pytest.approx(0.8, abs=0.01)


def test_samplers_and_distributions():
    rng = np.random.default_rng(2)
    assert draw(lambda n, rng: rng.random((n, 3)), 50, rng).shape == (50, 3)
    normal = stats.multivariate_normal([1.0, 2.0], [[1.0, 0.5], [0.5, 2.0]])
    X = draw(normal, 20_000, rng)
    np.testing.assert_allclose(X.mean(axis=0), [1.0, 2.0], atol=0.05)


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (lambda n, rng: rng.random((n + 1, 2)), {}, "asked for 10 points and gave 11"),
        (lambda n, _: np.full((n, 2), np.nan), {}, "missing"),
        ("uniform", {}, "source must be"),
        (lambda *_: None, {}, "asked for 10 points and returned None"),
        (lambda *_: "abc", {}, "numeric"),
        (triangle, {}, "if it is a density.*give bounds"),
        (stats.norm().pdf, {}, "if it is a density.*give bounds"),
        (lambda n, rng: rng.random((n, 1)), {"bounds": [[0, 1]]}, "leave out bounds for a sampler"),
        (stats.norm(), {"bounds": [[0, 1]]}, "an object with rvs"),
        (triangle, {"bounds": "x"}, "bounds must be"),
        (triangle, {"bounds": [[0, 1], [1]]}, "bounds must be"),
        (lambda *_: None, {"bounds": [[0, 1]]}, "one value for each point"),
        (lambda X: ["a"] * len(X), {"bounds": [[0, 1]]}, "one value for each point"),
        (triangle, {"bounds": [[1, 0]]}, "bounds must be"),
        (triangle, {"bounds": [0, 1]}, "bounds must be"),
        (lambda X: X[:, 0] - 0.5, {"bounds": [[0, 1]]}, "0 or more"),
        (lambda X: X[:3, 0], {"bounds": [[0, 1]]}, "one value for each point"),
    ],
)
def test_bad_sources_get_one_sentence(source, options, says):
    with pytest.raises(InputError, match=says):
        draw(source, 10, np.random.default_rng(0), **options)


def test_one_point_may_come_without_its_axis():
    rng = np.random.default_rng(0)
    assert draw(stats.multivariate_normal(np.zeros(3)), 1, rng).shape == (1, 3)
    assert draw(stats.norm(), 1, rng).shape == (1, 1)
    assert draw(lambda _, rng: rng.random(2), 1, rng).shape == (1, 2)
    assert draw(stats.norm(), 5, rng).shape == (5, 1)
    with pytest.raises(InputError, match="asked for 5 points and gave 2"):
        draw(lambda _, rng: rng.random(2), 5, rng)


def test_a_density_that_is_zero_ends():
    with pytest.raises(GuaranteeError, match="gave 0 of 10 points"):
        module._reject(lambda X: np.zeros(len(X)), 10, np.random.default_rng(0), [[0, 1]], rounds=5)


def test_sizes_that_are_none():
    with pytest.raises(InputError, match="samples must be"):
        design_density(lambda n, rng: rng.random((n, 1)), 2, samples=0)
    for cells in (-1, 0, "a", 2.5, True):
        with pytest.raises(InputError, match="cells must be a whole number"):
            design_density(lambda n, rng: rng.random((n, 1)), cells)
    for level in (1.0, "a", None, np.nan):
        with pytest.raises(InputError, match=r"level (is a probability|must be a number)"):
            shares(Quantizer([0.0, 1.0]), lambda n, rng: rng.random((n, 1)), level=level)


def test_the_uniform_density_on_a_line_is_cut_into_equal_pieces():
    quantizer = design_density(lambda X: np.ones(len(X)), 4, bounds=[[0.0, 4.0]], samples=8000)
    np.testing.assert_allclose(np.sort(quantizer.centroids[:, 0]), [0.5, 1.5, 2.5, 3.5], atol=0.08)
    assert quantizer.distortion(np.linspace(0, 4, 4001)) == pytest.approx(1 / 12, rel=0.02)


@pytest.mark.slow
def test_unequal_probabilities_hold_for_the_population():
    def sampler(n, rng):
        return rng.standard_normal((n, 2))

    wanted = np.array([0.5, 0.3, 0.2])
    quantizer = design_density(sampler, probabilities=wanted, samples=20_000)
    result = shares(quantizer, sampler, samples=20_000)
    assert (result.low - 0.02 <= wanted).all()
    assert (wanted <= result.high + 0.02).all()
    assert result.values.sum() == pytest.approx(1.0)


def test_intervals_are_the_exact_ones_by_hand():
    # 3 of 10 in the first of two cells; Clopper and Pearson at 97.5 % each, so that both hold at 95 %.
    X = np.r_[np.zeros(3), np.ones(7)][:, None]
    result = shares(Quantizer([0.0, 1.0]), lambda *_: X, samples=10)
    exact = stats.binomtest(3, 10).proportion_ci(confidence_level=0.975, method="exact")
    assert (result.low[0], result.high[0]) == pytest.approx((exact.low, exact.high))
    everything = shares(Quantizer([0.0, 9.0]), lambda *_: X, samples=10)
    assert everything.low[1] == 0.0
    assert everything.high[0] == 1.0
    assert 0 < everything.high[1] < 0.5


def test_intervals_cover_together_as_often_as_they_say():
    quantizer = Quantizer([0.05, 0.3, 0.8])
    edges = np.array([0.0, 0.175, 0.55, 1.0])
    true = np.diff(edges)
    covered = 0
    for seed in range(400):
        result = shares(quantizer, lambda n, rng: rng.random((n, 1)), samples=500, level=0.9, seed=seed)
        covered += bool((result.low <= true).all() and (true <= result.high).all())
    assert covered / 400 >= 0.87  # 0.9 or more, less three deviations


@pytest.mark.slow
def test_drift_from_an_earlier_quantizer_takes_fewer_rounds():
    # A fifth of the people left, others came, and all moved a little.
    warm = scratch = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        before = rng.standard_normal((1500, 2))
        after = np.vstack([before[300:], rng.standard_normal((300, 2))])
        after += [0.05, 0.02]
        old = pcl(before, 8)
        moved, fresh = pcl(after, 8, init=old.quantizer), pcl(after, 8, restarts=1)  # one design each
        warm += len(moved.distortions)
        scratch += len(fresh.distortions)
        assert np.ptp(moved.sizes) <= 1
        assert moved.distortion < 1.05 * fresh.distortion
        distances = np.linalg.norm(moved.quantizer.centroids - old.quantizer.centroids, axis=1)
        assert np.median(distances) < 0.3  # cells keep their numbers and, about, their places
    assert warm < 0.75 * scratch


def test_a_population_that_drifts():
    def town(n, rng, shift=0.0):
        return rng.standard_normal((n, 2)) + shift

    old = design_density(town, 6, samples=3000)
    new = design_density(lambda n, rng: town(n, rng, 0.5), 6, samples=3000, init=old)

    def later(n, rng):
        return town(n, rng, 0.5)

    assert np.ptp(shares(old, later, samples=20_000).values) > 0.1  # the old cells do not fit any more
    assert np.ptp(shares(new, later, samples=20_000).values) < 0.04


def test_repr_says_what_it_is():
    result = shares(Quantizer([0.25, 0.75]), lambda n, rng: rng.random((n, 1)), samples=1000)
    assert repr(result).startswith("Shares(2 cells of 0.4")
