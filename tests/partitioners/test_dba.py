from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import voronym as vr
from partitioners import twins
from partitioners.points import records, scattered
from voronym.partition import Partition


@given(scattered(most=40, columns=3), st.integers(2, 5))
def test_it_is_its_twin(X, k):
    assert vr.microaggregate(X, k, method="dba-1") == Partition(twins.dba(X, k))


@given(scattered(most=40, columns=3), st.integers(2, 5), st.integers(0, 20))
def test_with_the_second_phase_it_is_its_twin(X, k, p):
    labels = twins.dba(X, k, p)
    assume(np.array_equal(labels, twins.dba(X, k, p, ties=-1)))  # where they differ, rounding decides
    expected = twins.dissolve(X, k, labels, np.unique(labels)[::-1])
    assert vr.microaggregate(X, k, method="dba-2", p=p) == Partition(expected)


@given(records(least=8), st.integers(2, 4))
def test_the_second_phase_is_never_worse(X, k):
    first, second = (vr.microaggregate(X, k, method=name) for name in ("dba-1", "dba-2"))
    assert second.sse(X) <= first.sse(X)


@pytest.mark.parametrize("p", [-1, 1.5, True, "many"])
def test_p_is_a_number_of_groups(p):
    with pytest.raises(vr.InputError, match="p must be a whole number, 0 or more"):
        vr.microaggregate(np.zeros((9, 2)), 3, method="dba-2", p=p)


@pytest.mark.data
@pytest.mark.parametrize(
    ("data", "losses"),
    [
        ("census", (6.145, 10.842, 15.785)),
        ("tarragona", (20.699, 26.001, 35.393)),
        ("eia", (1.090, 1.896, 4.266)),
    ],
)
def test_losses(data, losses):
    X = vr.standardize(getattr(vr.datasets, data)().to_numpy())
    for k, loss in zip((3, 5, 10), losses, strict=True):
        part = vr.microaggregate(X, k, method="dba-1")
        assert vr.information_loss(X, part) == pytest.approx(loss, abs=6e-4)
