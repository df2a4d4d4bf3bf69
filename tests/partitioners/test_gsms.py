from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import twins
from partitioners.points import records, scattered
from voronym.partition import Partition


@given(scattered(most=40), st.integers(2, 5))
def test_it_is_its_twin(X, k):
    assert vr.microaggregate(X, k, method="gsms") == Partition(twins.gsms(X, k))


@given(scattered(most=40), st.integers(2, 5))
def test_with_the_second_phase_it_is_its_twin(X, k):
    labels = twins.gsms(X, k)
    expected = twins.dissolve(X, k, labels, twins.by_falling_loss(X, labels))
    assert vr.microaggregate(X, k, method="gsms-t2") == Partition(expected)


@given(records(least=8), st.integers(2, 4))
def test_the_second_phase_is_never_worse(X, k):
    first, second = (vr.microaggregate(X, k, method=name) for name in ("gsms", "gsms-t2"))
    assert second.sse(X) <= first.sse(X)


@pytest.mark.data
@pytest.mark.parametrize(("k", "loss"), [(3, 5.527), (5, 8.583), (10, 13.415)])
def test_census(k, loss):
    X = vr.standardize(vr.datasets.census().to_numpy())
    assert vr.information_loss(X, vr.microaggregate(X, k, method="gsms-t2")) == pytest.approx(loss, abs=6e-4)
