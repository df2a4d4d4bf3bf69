"""The interval around a rate: its edges, its coverage."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from voronym.core.rate import rate
from voronym.errors import InputError


@pytest.mark.parametrize("n", [2, 10, 500])
def test_without_successes_it_is_clopper_pearson(n):
    # Clopper-Pearson for 0 of n: 1 - (alpha/2)^(1/n)
    none, everybody = rate([0.0] * n, population=n), rate([1.0] * n, population=n)
    low, high = none.low, none.high
    assert low == 0.0
    assert high == pytest.approx(beta.ppf(0.975, 1, n), rel=1e-9)
    assert (everybody.low, everybody.high) == pytest.approx((1 - high, 1.0))


@given(st.integers(2, 40), st.data())
def test_it_contains_clopper_pearson(n, data):
    # The exact interval for counts keeps each tail at alpha/2 as tightly as can be; ours must contain it.
    hits = data.draw(st.integers(0, n))
    result = rate([1.0] * hits + [0.0] * (n - hits), population=n)
    low, high = result.low, result.high
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
        result = rate(rng.choice(people, 60, replace=replace), population=400, ceiling=ceiling)
        missed += not result.low <= truth <= result.high
    # At most 5 % may miss; 1000 trials at exactly 5 % stay below 72 with probability 0.999.
    assert missed <= 72


def test_people_who_stand_and_fall_together_widen_it():
    """Ten groups of ten know as much as ten people."""
    credit = np.repeat(np.arange(10) % 2, 10).astype(float)
    alone = rate(credit, population=100)
    together = rate(credit, population=100, clusters=np.repeat(np.arange(10), 10))
    ten = rate(np.arange(10) % 2, population=10)
    assert together.high - together.low > 2.5 * (alone.high - alone.low)
    assert (together.low, together.high) == pytest.approx((ten.low, ten.high), abs=0.05)


def test_the_interval_is_no_wider_than_it_must_be():
    result = rate([0.0, 1.0] * 5_000, population=10_000)
    normal = 2 * 1.96 * 0.5 / 100
    assert normal < result.high - result.low < 1.02 * normal


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 50))
def test_a_ceiling_scales_the_interval(values, k):
    whole = rate(values, population=30)
    part = rate(np.array(values) / k, population=30, ceiling=1 / k)
    assert (part.low * k, part.high * k) == pytest.approx((whole.low, whole.high), abs=1e-6)
    assert part.low <= part.value <= part.high <= 1 / k + 1e-15


def test_a_rate_says_what_it_is():
    result = rate([0.0, 1.0], population=10)
    assert not result.exact
    assert "2 of 10 records" in str(result)
    assert json.loads(json.dumps(result.to_dict()))["interval"] == "Korn-Graubard"
    assert rate([0.5], population=1).exact


def test_bad_arguments():
    with pytest.raises(InputError, match="no target"):
        rate([], population=0)
    with pytest.raises(InputError, match="confidence"):
        rate([0.5], population=10, confidence=1.0)
