"""Costs and centroids belong together; the check of it catches spaces where they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.space import SPACES, Euclidean, Mahalanobis, Manhattan, Space, Sphere
from voronym.testing import check_space


def on_sphere(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    X = np.array([0.0, 0.0, 1.0]) + spread * rng.standard_normal((n, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def nudge_on_sphere(centroid, rng):
    X = centroid + 10.0 ** rng.uniform(-4, 0, (200, 1)) * rng.standard_normal((200, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_each_space_keeps_the_contract(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3)) * [1.0, 10.0, 0.1]
    A = rng.standard_normal((3, 3))
    for space in (Euclidean(), Manhattan(), Mahalanobis(A @ A.T + np.eye(3)), Mahalanobis.from_data(X)):
        check_space(space, X)
    check_space(Sphere(), on_sphere(12, seed, 0.3), nudge=nudge_on_sphere)
    check_space(Sphere(), on_sphere(12, seed, 30.0), nudge=nudge_on_sphere)


def test_every_space_is_a_space_under_its_own_name():
    made = [Euclidean(), Manhattan(), Mahalanobis(np.eye(2)), Sphere()]
    assert {space.name for space in made} <= set(SPACES)
    for space in made:
        assert isinstance(space, Space)
        assert SPACES[space.name] is type(space)


@dataclass(frozen=True)
class Wrong(Space):
    name: str = "wrong"
    shift: float = 0.0
    sign: float = 1.0
    offset: float = 0.0

    def cost(self, X, Y):
        return self.sign * Manhattan().cost(X, Y) + self.offset

    def centroid(self, X):
        return X.mean(axis=0) + self.shift


@pytest.mark.parametrize(
    ("space", "says"),
    [
        (Wrong(), "smaller sum of costs"),  # the mean does not minimise absolute differences
        (Wrong(sign=-1.0), "not negative"),
        (Wrong(offset=1.0), "equal points is not 0"),
        (Wrong(sign=0.0), "all costs are 0"),
    ],
)
def test_the_check_catches_what_does_not_belong_together(space, says):
    with pytest.raises(AssertionError, match=says):
        check_space(space, np.random.default_rng(0).exponential(size=(15, 2)))


def test_the_check_catches_a_shifted_mean():
    class Shifted(Euclidean):
        def centroid(self, X):
            return X.mean(axis=0) + 0.01

    with pytest.raises(AssertionError, match="smaller sum of costs"):
        check_space(Shifted(), np.random.default_rng(0).standard_normal((15, 2)))


def test_mahalanobis_by_hand_and_against_the_formula():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((4, 4))
    M = A @ A.T + np.eye(4)
    X, Y = rng.standard_normal((6, 4)), rng.standard_normal((5, 4))
    E = X[:, None] - Y[None]
    np.testing.assert_allclose(Mahalanobis(M).cost(X, Y), np.einsum("ijk,kl,ijl->ij", E, M, E), rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_mahalanobis_from_data_does_not_see_linear_maps(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((5 * d + 5, d))
    A = rng.standard_normal((d, d)) + 3 * np.eye(d)
    if np.linalg.cond(A) > 1e3:
        return
    Z = X @ A + 7.0
    np.testing.assert_allclose(
        Mahalanobis.from_data(X).cost(X, X), Mahalanobis.from_data(Z).cost(Z, Z), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (np.ones((2, 3)), "square"),
        ([[1.0, 2.0], [0.0, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([[np.nan]], "missing"),
        ("a", "must be finite numbers"),
        (None, "square|numbers"),
        ([["1"]], "must be finite numbers"),
        ([[10**400]], "must be finite numbers"),
        ([[1.0, 0.0], [0.0]], "must be finite numbers"),
    ],
)
def test_a_matrix_that_is_no_metric(matrix, says):
    with pytest.raises(InputError, match=says):
        Mahalanobis(matrix)


def test_data_without_an_inverse_covariance():
    x = np.random.default_rng(0).standard_normal(20)
    with pytest.raises(InputError, match=r"columns \[1\] are constant"):
        Mahalanobis.from_data(np.column_stack([x, np.ones(20)]))
    with pytest.raises(InputError, match="determine another"):
        Mahalanobis.from_data(np.column_stack([x, 1e6 * x]))
    with pytest.raises(InputError, match="more rows than columns"):
        Mahalanobis.from_data(np.eye(3))
    with pytest.raises(InputError, match="X must be finite numbers"):
        Mahalanobis.from_data([["a"], ["b"]])
    with pytest.raises(InputError, match="for 2 columns"):
        Mahalanobis(np.eye(2)).cost(np.eye(3), np.eye(3))


def test_degrees_there_and_back():
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(-89, 89, 50), rng.uniform(-179, 179, 50)
    back = Sphere.to_degrees(Sphere.from_degrees(lat, lon))
    np.testing.assert_allclose(back, [lat, lon], atol=1e-9)


def test_the_line_by_hand():
    pole, equator = Sphere.from_degrees([90.0], [0.0]), Sphere.from_degrees([0.0, 0.0], [0.0, 180.0])
    np.testing.assert_allclose(Sphere().cost(pole, equator), [[2.0, 2.0]])
    np.testing.assert_allclose(Sphere().cost(equator[:1], equator), [[0.0, 4.0]], atol=1e-15)


def test_opposite_places_have_some_centroid():
    X = Sphere.from_degrees([0.0, 0.0], [0.0, 180.0])
    centroid = Sphere().centroid(X)
    assert np.linalg.norm(centroid) == pytest.approx(1.0)
    assert Sphere().cost(X, centroid[None]).sum() == pytest.approx(4.0)


def test_points_off_the_sphere_and_degrees_that_are_none():
    with pytest.raises(InputError, match="1 of 2 points are not on the unit sphere"):
        Sphere().cost(np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    with pytest.raises(InputError, match="1 values are no latitude"):
        Sphere.from_degrees([91.0], [0.0])
    with pytest.raises(InputError, match="shape"):
        Sphere.from_degrees([1.0, 2.0], [0.0])
    with pytest.raises(InputError, match="must be numbers"):
        Sphere.from_degrees(["a"], [0.0])
    with pytest.raises(InputError, match="must be numbers"):
        Sphere.to_degrees(["a", "b", "c"])
    for places in ([1.0, 2.0], 1.0, np.ones((2, 2)), np.ones((1, 1, 3)), [np.nan, 0.0, 1.0]):
        with pytest.raises(InputError, match=r"shape \(n, 3\) or \(3,\)"):
            Sphere.to_degrees(places)
