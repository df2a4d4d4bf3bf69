"""The propensity score: its null distribution, its limits, and the fit behind it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.evaluate.pmse import features, fit_logistic, pmse


def people(rng, n):
    x = rng.standard_normal(n)
    return [x, 0.7 * x + rng.standard_normal(n), rng.exponential(size=n)]


def compare(a, b):
    return pmse(*features(list(zip(a, b, strict=True)), []))


def test_two_samples_of_one_population_have_the_expected_ratio():
    rng = np.random.default_rng(11)
    results = [compare(people(rng, 400), people(rng, 300)) for _ in range(200)]
    ratios = np.array([f.ratio for f in results])
    # 3 values, 3 squares, 3 products and the intercept
    assert results[0].parameters == 10
    # ratio = chi2(9) / 9: mean 1, sd sqrt(2/9) = 0.47; the mean of 200 has an error of 0.033
    assert ratios.mean() == pytest.approx(1.0, abs=0.13)
    assert ratios.std() == pytest.approx(np.sqrt(2 / 9), rel=0.25)
    assert np.mean([f.z for f in results]) == pytest.approx(0.0, abs=0.4)


def test_a_copy_has_no_trace_in_any_order():
    rng = np.random.default_rng(12)
    a = people(rng, 500)
    order = rng.permutation(500)
    assert compare(a, [x[order] for x in a]).ratio == pytest.approx(0.0, abs=1e-12)


def test_columns_shuffled_on_their_own_are_found_out():
    # Each column keeps its distribution; only the correlation is gone, and products of columns show it.
    rng = np.random.default_rng(13)
    a = people(rng, 1000)
    assert compare(a, [rng.permutation(x) for x in a]).ratio > 5


def test_a_shrunken_variance_is_found_out():
    rng = np.random.default_rng(14)
    a = people(rng, 1000)
    assert compare(a, [x.mean() + 0.7 * (x - x.mean()) for x in a]).ratio > 5


def test_categories_missing_values_and_repeated_features():
    rng = np.random.default_rng(15)
    a, b = rng.integers(0, 3, 800), rng.integers(0, 3, 800)
    same = pmse(*features([], [(a, b)]))
    assert same.parameters == 3  # three indicators that sum to one: two are free
    assert pmse(*features([], [(a, b), (a, b)])).parameters == 3
    assert same.ratio < 6
    assert pmse(*features([], [(a, np.zeros(800, int))])).ratio > 50
    x = rng.standard_normal(800)
    y = np.where(rng.random(800) < 0.2, np.nan, x)
    assert pmse(*features([(x, y)], [])).ratio > 20


def test_separated_tables_reach_the_largest_value_without_a_warning():
    result = pmse(np.zeros((50, 1)), np.ones((100, 1)))
    c = 100 / 150
    assert result.value == pytest.approx(c * (1 - c), rel=1e-3)


def test_constant_and_empty_features():
    assert pmse(np.ones((5, 2)), np.ones((4, 2))) is None
    assert pmse(*features([(np.full(3, np.nan), np.full(2, np.nan))], [])) is None
    with pytest.raises(InputError, match="same features"):
        pmse(np.ones((5, 2)), np.ones((4, 3)))


def test_the_fit_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(16)
    F = rng.standard_normal((300, 3))
    y = (rng.random(300) < 1 / (1 + np.exp(-(0.5 + F @ [1.0, -2.0, 0.0])))).astype(float)
    X = np.column_stack([np.ones(300), F])

    def loss(beta):
        return (np.logaddexp(0, X @ beta) - y * (X @ beta)).sum()

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-6}).x
    np.testing.assert_allclose(fit_logistic(F, y, ctx=Context()), 1 / (1 + np.exp(-X @ best)), atol=1e-5)
