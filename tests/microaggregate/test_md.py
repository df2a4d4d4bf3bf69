from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from microaggregate import oracles
from microaggregate.points import records

from voronym.microaggregate import microaggregate
from voronym.partition import Partition


@given(records(most=60), st.integers(2, 5))
@example(np.full((40, 2), 0.1), 3)
def test_is_the_textbook(X, k):
    if len(X) >= 2 * k:
        assert microaggregate(X, k, method="md") == Partition(oracles.md(X, k))


def test_takes_the_two_most_distant_records_first():
    X = np.array([[0.0], [10.0], [0.1], [10.1], [5.0], [5.1]])
    assert microaggregate(X, 2, method="md").labels.tolist() == [0, 1, 0, 1, 2, 2]
