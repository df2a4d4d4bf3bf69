from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import twins
from partitioners.points import records, scattered
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners import mst


@given(scattered(most=24), st.integers(2, 5))
def test_it_is_its_twin(X, k):
    assert vr.microaggregate(X, k, method="mst") == Partition(twins.mst(X, k))


@given(records(least=8), st.integers(2, 4))
def test_components_have_k(X, k):
    part = Partition(mst.components(X, k, Context()), k=k)
    assert part.n == len(X)


def test_far_clusters_are_found():
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat(np.arange(20), 5))
    X = rng.normal(size=(100, 3)) + 100.0 * rng.normal(size=(20, 3))[groups]
    assert vr.microaggregate(X, 4, method="mst") == Partition(groups)


@pytest.mark.data
@pytest.mark.parametrize(("k", "loss"), [(3, 6.127), (5, 10.302), (10, 17.170)])
def test_census(k, loss):
    X = vr.standardize(vr.datasets.census().to_numpy())
    assert vr.information_loss(X, vr.microaggregate(X, k, method="mst")) == pytest.approx(loss, abs=6e-4)
