"""Sums without rounding, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voronym.table.exact import Moments, root

numbers = st.lists(st.floats(-1e100, 1e100, allow_nan=False), max_size=30)


@given(numbers, st.integers(0, 30))
def test_sums_are_exact_and_merge(values: list[float], cut: int) -> None:
    parts = [Moments.of(np.array(item, np.float64)) for item in (values[:cut], values[cut:])]
    both = parts[1].merged(parts[0])
    assert both.count == len(values)
    assert both.total == sum(map(Fraction, values))
    assert both.squares == sum(Fraction(x) ** 2 for x in values)


@given(st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=30))  # differences are of 64 bits
def test_whole_numbers_are_shifted_exactly(values: list[int]) -> None:
    array = np.array(values, np.int64)
    low = int(array.min())
    small = array[(array - low) < 2**52]
    result = Moments.of(small, low).shifted(low)
    assert result.total == sum(map(int, small))
    assert result.squares == sum(int(x) ** 2 for x in small)


@given(st.fractions(min_value=0, max_value=10**30))
def test_roots(value: Fraction) -> None:
    assert abs(Fraction(root(value)) ** 2 - value) <= value * Fraction(1, 2**50)


def test_variance_survives_a_large_mean() -> None:
    values = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    assert Moments.of(values).deviation == float(np.std([0.0, 1.0, 2.0, 3.0]))
