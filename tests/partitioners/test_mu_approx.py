from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import oracles, twins
from partitioners.points import records, scattered
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners import mu_approx


@given(scattered(), st.integers(2, 5))
def test_it_is_its_twin(X, k):
    assert vr.microaggregate(X, k, method="mu-approx") == Partition(twins.mu_approx(X, k))


@given(records(least=12), st.integers(2, 6))
def test_sizes(X, k):
    Partition(mu_approx.parts(X, k, Context()), k=k)
    part = vr.microaggregate(X, k, method="mu-approx")
    assert k <= part.sizes.min()
    assert part.sizes.max() < 2 * k


@given(records(least=6, most=8, columns=3), st.integers(2, 3))
def test_the_loss_is_within_the_proven_factor(X, k):
    best = oracles.best_of_all(X, k)
    loss = vr.microaggregate(X, k, method="mu-approx").sse(X)
    assert loss <= 2 * (2 * k - 1) * max(2 * k - 2, 3 * k - 6) ** 2 * best + 1e-9 * np.square(X).sum()


def test_large_stars_are_split():
    """Many pairs around one record hang together in one tree."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    X = np.concatenate([np.zeros((1, 2)), np.c_[np.cos(angle), np.sin(angle)] * (1 + 0.01 * angle[:, None])])
    part = vr.microaggregate(X, 5, method="mu-approx")
    assert part.sizes.max() < 10


@pytest.mark.data
@pytest.mark.parametrize(("k", "loss"), [(3, 6.005), (5, 9.797), (10, 16.154)])
def test_census(k, loss):
    X = vr.standardize(vr.datasets.census().to_numpy())
    part = vr.microaggregate(X, k, method="mu-approx")
    assert vr.information_loss(X, part) == pytest.approx(loss, abs=6e-4)
