from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records, records_of
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners import md, microaggregate


@given(records(most=60), st.integers(2, 5))
@example(np.full((40, 2), 0.1), 3)
def test_is_the_textbook(X, k):
    if len(X) >= 2 * k:
        assert microaggregate(X, k, method="md") == Partition(oracles.md(X, k))


def test_takes_the_two_most_distant_records_first():
    X = np.array([[0.0], [10.0], [0.1], [10.1], [5.0], [5.1]])
    assert microaggregate(X, 2, method="md").labels.tolist() == [0, 1, 0, 1, 2, 2]


@given(records(most=300), st.integers(2, 7))
@example(np.zeros((300, 1)), 7)
def test_fast_is_plain(X, k):
    assert np.array_equal(
        md.partition_fast(records_of(X), k, Context()), md.partition_plain(records_of(X), k, Context())
    )


@pytest.mark.parametrize(("n", "d", "k"), [(3000, 2, 3), (3000, 5, 10)])
def test_fast_is_plain_on_thousands_of_records(n, d, k):
    X = np.random.default_rng(n + d).normal(size=(n, d))
    for points in (X, np.round(2.0 * X)):
        assert np.array_equal(
            md.partition_fast(records_of(points), k, Context()),
            md.partition_plain(records_of(points), k, Context()),
        )
