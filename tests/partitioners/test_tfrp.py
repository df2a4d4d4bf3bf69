from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import twins
from partitioners.points import records, scattered
from voronym.core.context import Context
from voronym.method import split_large
from voronym.partition import Partition
from voronym.partitioners import _cells
from voronym.problem import Problem


@given(scattered(), st.integers(2, 6))
def test_phase_1_is_its_twin(X, k):
    assert vr.microaggregate(X, k, method="tfrp-1") == Partition(twins.tfrp(X, k))


@given(scattered(), st.integers(2, 6))
def test_phase_2_is_its_twin(X, k):
    labels = twins.tfrp(X, k)
    expected = twins.dissolve(X, k, labels, twins.by_falling_loss(X, labels))
    assert vr.microaggregate(X, k, method="tfrp-2") == Partition(expected)


@given(records(least=8), st.integers(2, 4))
def test_phase_2_is_never_worse(X, k):
    first, second = (vr.microaggregate(X, k, method=f"tfrp-{phase}") for phase in (1, 2))
    assert second.sse(X) <= first.sse(X)
    assert second.sizes.min() >= k
    assert second.sizes.max() < 2 * k


@given(records(least=8, most=80), st.integers(2, 5), st.integers(0, 99))
def test_dissolving_random_cells(X, k, seed):
    """From bad cells nearly all dissolve, and many split: records are neither lost nor counted twice."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(np.arange(len(X)) // k, max(len(X) // k, 1) - 1)
    given_ = Partition(rng.permutation(labels))
    if given_.sizes.min() < k:
        return
    order = rng.permutation(given_.n_cells)
    result = _cells.dissolve_cells(Problem.of(X, k), given_, order, Context())
    assert result.sse(X) <= given_.sse(X)
    assert result.sizes.max() < 2 * k


@given(scattered(), st.integers(2, 4), st.integers(0, 99))
def test_dissolving_random_cells_is_its_twin(X, k, seed):
    rng = np.random.default_rng(seed)
    given_ = Partition(rng.permutation(np.minimum(np.arange(len(X)) // k, len(X) // k - 1)))
    order = rng.permutation(given_.n_cells)
    expected = twins.dissolve(X, k, given_.labels, order)
    assert _cells.dissolve_cells(Problem.of(X, k), given_, order, Context()) == Partition(expected)


def test_a_large_cell_is_split():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [9.2]])
    part = split_large(Problem.of(X, 2), np.array([0, 0, 1, 1, 1, 1, 1]), Context())
    assert part == Partition([0, 0, *(2 + twins.mdav(X[2:], 2))])


@pytest.mark.data
@pytest.mark.parametrize(("k", "one", "two"), [(3, 5.965, 5.804), (5, 9.268, 8.977), (10, 14.463, 13.969)])
def test_census(k, one, two):
    X = vr.standardize(vr.datasets.census().to_numpy())
    for method, loss in (("tfrp-1", one), ("tfrp-2", two)):
        part = vr.microaggregate(X, k, method=method)
        assert vr.information_loss(X, part) == pytest.approx(loss, abs=6e-4)
