"""The interval around a rate: its definition, its edges, its coverage."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from voronym.core.rate import interval, rate
from voronym.errors import InputError


@given(st.floats(0, 1), st.integers(1, 10**6), st.sampled_from([0.8, 0.95, 0.999]))
def test_ends_solve_the_defining_equation(mean, n, confidence):
    low, high = interval(mean, n, confidence=confidence)
    assert 0.0 <= low <= mean <= high <= 1.0
    limit = math.log(2 / (1 - confidence)) / n
    for p in (low, high):
        if 1e-9 < p < 1 - 1e-9 and 1e-9 < mean < 1 - 1e-9:
            kl = mean * math.log(mean / p) + (1 - mean) * math.log((1 - mean) / (1 - p))
            assert kl == pytest.approx(limit, rel=1e-5, abs=1e-13)


@pytest.mark.parametrize("n", [1, 10, 500])
def test_without_successes_it_is_clopper_pearson(n):
    # Clopper-Pearson for 0 of n: 1 - (alpha/2)^(1/n)
    low, high = interval(0.0, n)
    assert low == 0.0
    assert high == pytest.approx(beta.ppf(0.975, 1, n), rel=1e-9)
    assert interval(1.0, n) == pytest.approx((1 - high, 1.0))


@given(st.integers(1, 40), st.data())
def test_it_contains_clopper_pearson(n, data):
    # The exact interval for counts keeps each tail at alpha/2 as tightly as can be; ours must contain it.
    hits = data.draw(st.integers(0, n))
    low, high = interval(hits / n, n)
    if hits > 0:
        assert low <= beta.ppf(0.025, hits, n - hits + 1) + 1e-12
    if hits < n:
        assert high >= beta.ppf(0.975, hits + 1, n - hits) - 1e-12


@pytest.mark.parametrize("ceiling", [1.0, 0.5])
@pytest.mark.parametrize("replace", [True, False])
def test_coverage_of_fractional_credits(replace, ceiling):
    rng = np.random.default_rng(5)
    # Credits as linkage gives them: mostly 0, else one over the size of a class.
    people = np.where(rng.random(400) < 0.3, 1 / rng.integers(2, 6, 400), 0.0)
    truth = people.mean()
    missed = 0
    for _ in range(1000):
        found = rate(rng.choice(people, 60, replace=replace), population=400, ceiling=ceiling)
        missed += not found.low <= truth <= found.high
    # At most 5 % may miss; 1000 trials at exactly 5 % stay below 72 with probability 0.999.
    assert missed <= 72


def test_the_interval_is_no_wider_than_it_must_be():
    low, high = interval(0.5, 10_000)
    normal = 2 * 1.96 * 0.5 / 100
    assert normal < high - low < 1.45 * normal


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 50))
def test_a_ceiling_scales_the_interval(values, k):
    whole = rate(values, population=30)
    part = rate(np.array(values) / k, population=30, ceiling=1 / k)
    assert (part.low * k, part.high * k) == pytest.approx((whole.low, whole.high), abs=1e-6)
    assert part.low <= part.value <= part.high <= 1 / k + 1e-15


def test_a_rate_says_what_it_is():
    found = rate([0.0, 1.0], population=10)
    assert not found.exact
    assert "2 of 10 records" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["interval"] == "Chernoff-Hoeffding"
    assert rate([0.5], population=1).exact


def test_bad_arguments():
    with pytest.raises(InputError, match="no target"):
        rate([], population=0)
    with pytest.raises(InputError, match="confidence"):
        interval(0.5, 10, confidence=1.0)
