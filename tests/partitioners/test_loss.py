from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from partitioners.points import records
from voronym.partition import Partition
from voronym.partitioners.loss import information_loss, standardize


@given(records())
def test_columns_get_mean_0_and_variance_1(X):
    Z = standardize(X)
    varied = np.ptp(X, axis=0) > 0
    assert np.allclose(Z.mean(axis=0), 0.0, atol=1e-9)
    assert np.allclose(Z.std(axis=0), varied.astype(float), atol=1e-9)
    assert not np.signbit(Z[Z == 0]).any()


def test_constant_columns_become_0():
    assert standardize(np.full((7, 2), 0.1)).tolist() == [[0.0, 0.0]] * 7


def test_loss_is_100_for_one_cell_and_0_for_none_lost():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert information_loss(X, Partition([0, 0, 0, 0])) == pytest.approx(100.0)
    assert information_loss(X, Partition([0, 0, 1, 1])) == 0.0


def test_nothing_to_lose():
    assert information_loss(np.full((4, 2), 0.1), Partition([0, 0, 1, 1])) == 0.0


def test_loss_is_the_share_of_squares():
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.arange(30) % 5
    within = sum(((X[labels == c] - X[labels == c].mean(0)) ** 2).sum() for c in range(5))
    assert information_loss(X, Partition(labels)) == pytest.approx(
        100 * within / ((X - X.mean(0)) ** 2).sum()
    )
