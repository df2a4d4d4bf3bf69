from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voronym.errors import GuaranteeError, InputError
from voronym.partition import Partition

labels = arrays(np.int64, st.integers(1, 40), elements=st.integers(-3, 9))


@given(labels)
def test_labels_are_renumbered_and_keep_the_same_groups(given_labels):
    part = Partition(given_labels)
    assert sorted(set(part.labels.tolist())) == list(range(part.n_cells))
    assert part.sizes.sum() == part.n == len(given_labels)
    same = given_labels[:, None] == given_labels[None, :]
    assert np.array_equal(part.labels[:, None] == part.labels[None, :], same)


@given(labels)
def test_cells_list_every_record_once(given_labels):
    part = Partition(given_labels)
    cells = part.cells()
    assert sorted(np.concatenate(cells).tolist()) == list(range(part.n))
    for index, cell in enumerate(cells):
        assert (part.labels[cell] == index).all()


@given(labels, st.integers(1, 4), st.floats(-1e6, 1e6))
def test_sse_and_centroids_equal_the_definition(given_labels, d, offset):
    X = np.random.default_rng(0).standard_normal((len(given_labels), d)) + offset
    part = Partition(given_labels)
    sse = 0.0
    for cell, centroid in zip(part.cells(), part.centroids(X), strict=True):
        mean = X[cell].mean(axis=0)
        np.testing.assert_allclose(centroid, mean, rtol=1e-12, atol=1e-9)
        sse += ((X[cell] - mean) ** 2).sum()
    assert part.sse(X) == pytest.approx(sse, rel=1e-6, abs=1e-6)


def test_a_small_cell_cannot_be_built():
    with pytest.raises(GuaranteeError, match="1 of 2 groups have fewer than k=3"):
        Partition([0, 0, 0, 1, 1], k=3)


def test_it_is_frozen():
    part = Partition([0, 0, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        part.labels[0] = 1
    with pytest.raises(AttributeError):
        part.k = 1


@pytest.mark.parametrize("bad", [[], [[0, 1]], [0.5, 1.0], ["a"]])
def test_nonsense_labels(bad):
    with pytest.raises(InputError):
        Partition(bad)


def test_another_number_of_records():
    with pytest.raises(InputError, match="4 records"):
        Partition([0, 0, 1, 1]).sse(np.zeros((3, 1)))


def test_equality_is_of_the_grouping_not_of_the_numbers():
    assert Partition([5, 5, 2]) == Partition([0, 0, 1])
    assert Partition([0, 0, 1]) != Partition([0, 1, 1])
    assert hash(Partition([5, 5, 2])) == hash(Partition([0, 0, 1]))
