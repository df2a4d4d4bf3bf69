"""Where several assignments are optimal, costs prove one of them, but are no rule."""

from __future__ import annotations

import itertools

import numpy as np

from voronym.quantize import Quantizer
from voronym.quantize.costs import transport


def test_two_points_at_equal_distances_have_no_rule():
    X = np.array([[0.0, 1.0], [0.0, -1.0]])
    centroids = np.array([[-1.0, 0.0], [1.0, 0.0]])
    answer = transport(X, centroids, [1, 1])
    assert answer.sizes.tolist() == [1, 1]
    distances = np.square(X[:, None] - centroids).sum(axis=2)
    reached = distances + answer.costs
    np.testing.assert_allclose(
        reached[[0, 1], answer.labels], reached.min(axis=1)
    )  # each in a cell of least cost
    for c in itertools.product(np.linspace(-2, 2, 9), repeat=2):
        assert sorted(Quantizer(centroids, np.array(c)).sizes(X).tolist()) == [0, 2]


def test_where_one_assignment_is_best_the_costs_are_a_rule():
    X = np.array([[0.1, 1.0], [-0.1, -1.0]])  # the first a little nearer to the right
    centroids = np.array([[-1.0, 0.0], [1.0, 0.0]])
    answer = transport(X, centroids, [1, 1])
    assert answer.labels.tolist() == [1, 0]
    assert Quantizer(centroids, answer.costs).assign(X).tolist() == [1, 0]
