from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records
from voronym.errors import InputError
from voronym.partitioners import microaggregate


@given(records(most=60, columns=1), st.integers(2, 6))
def test_no_run_of_sorted_values_does_better(X, k):
    if len(X) >= 2 * k:
        part = microaggregate(X, k, method="univariate")
        assert k <= part.sizes.min() <= part.sizes.max() <= 2 * k - 1
        assert oracles.sse(X, part.labels) == pytest.approx(
            oracles.best_contiguous(X[:, 0], k), rel=1e-9, abs=1e-12
        )


@given(records(least=4, most=9, columns=1), st.integers(2, 3))
def test_no_partition_does_better(X, k):
    if len(X) >= 2 * k:
        part = microaggregate(X, k, method="univariate")
        assert oracles.sse(X, part.labels) == pytest.approx(oracles.best_of_all(X, k), rel=1e-9, abs=1e-12)


def test_a_large_offset_costs_no_digits():
    x = np.random.default_rng(0).normal(size=300)
    near, far = (microaggregate(x + offset, 5, method="univariate") for offset in (0.0, 2.0**30))
    assert near == far


def test_cells_of_a_long_column_are_those_of_a_short_one():
    """Far out in a long column, prefix sums would have lost the digits that decide."""
    x = np.random.default_rng(0).normal(size=40)
    far = 1e7 * np.arange(1, 5001)
    long = np.concatenate([np.repeat(far, 3), x - 1e7])
    labels = microaggregate(long, 3, method="univariate").labels[-40:]
    assert oracles.sse(x[:, None], labels) == pytest.approx(oracles.best_contiguous(x, 3), rel=1e-6)


def test_two_columns_are_refused():
    with pytest.raises(InputError, match="one column"):
        microaggregate(np.zeros((9, 2)), 2, method="univariate")


def test_auto_takes_it_for_one_column():
    x = np.random.default_rng(3).normal(size=50)
    assert microaggregate(x, 3) == microaggregate(x, 3, method="univariate")
