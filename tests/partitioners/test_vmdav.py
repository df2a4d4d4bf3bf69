from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records, records_of
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners import microaggregate, vmdav


@given(records(most=60), st.integers(2, 5), st.sampled_from([0.0, 0.2, 1.1, 2.0]))
@example(np.full((40, 2), 0.1), 3, 1.1)
def test_plain_is_the_textbook(X, k, gamma):
    if len(X) < k:
        return
    labels, wanted = vmdav.partition_plain(records_of(X), k, gamma, Context()), oracles.vmdav(X, k, gamma)
    apart = labels != wanted
    # Leftovers equally near to two cells may go to either: their means differ in the last bit.
    assert apart.sum() < k
    means = np.array([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    for i in np.flatnonzero(apart):
        kept = np.array([X[(labels == c) & ~apart].mean(axis=0) for c in range(len(means))])
        a, b = (np.linalg.norm(X[i] - kept[c]) for c in (labels[i], wanted[i]))
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9)


def test_clusters_of_uneven_size_stay_whole():
    X = np.concatenate([[0.0, 0.1, 0.2, 0.3], 50 + np.arange(3) / 10, 100 + np.arange(5) / 10])[:, None]
    part = microaggregate(X, 3, method="vmdav", gamma=1.1)
    assert sorted(part.sizes.tolist()) == [3, 4, 5]


def test_gamma_zero_never_extends():
    X = np.random.default_rng(0).normal(size=(300, 2))
    assert set(microaggregate(X, 3, method="vmdav", gamma=0.0).sizes.tolist()) == {3}


def test_best_gamma_is_the_best_of_the_grid():
    X = np.random.default_rng(0).normal(size=(200, 2)) ** 3
    best = microaggregate(X, 3, method="vmdav", gamma="best").sse(X)
    each = [microaggregate(X, 3, method="vmdav", gamma=step / 10).sse(X) for step in range(21)]
    assert best == pytest.approx(min(each))
    assert len(set(each)) > 5


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), float("inf"), "worst", True, None])
def test_bad_gamma(gamma):
    with pytest.raises(InputError, match="gamma"):
        microaggregate(np.zeros((10, 1)), 2, method="vmdav", gamma=gamma)


def test_leftovers_join_the_nearest_cell():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2], [7.0]])
    labels = microaggregate(X, 3, method="vmdav", gamma=0.0).labels
    assert labels.tolist() == Partition([0, 0, 0, 1, 1, 1, 1]).labels.tolist()


@given(records(most=300), st.integers(2, 7), st.sampled_from([0.0, 0.2, 1.1, 2.0]))
@example(np.zeros((300, 1)), 7, 0.2)
def test_fast_is_plain(X, k, gamma):
    if len(X) >= k:
        assert np.array_equal(
            vmdav.partition_fast(records_of(X), k, gamma, Context()),
            vmdav.partition_plain(records_of(X), k, gamma, Context()),
        )


@pytest.mark.parametrize(("n", "d", "k"), [(5000, 2, 3), (4000, 5, 10)])
def test_fast_is_plain_on_thousands_of_records(n, d, k):
    X = np.random.default_rng(n + d).normal(size=(n, d))
    for points in (X, np.round(2.0 * X)):
        for gamma in (0.2, 1.1):
            assert np.array_equal(
                vmdav.partition_fast(records_of(points), k, gamma, Context()),
                vmdav.partition_plain(records_of(points), k, gamma, Context()),
            )
