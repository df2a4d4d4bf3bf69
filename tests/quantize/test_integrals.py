"""Probabilities of cells by integration, against closed forms and against samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from voronym.errors import GuaranteeError, InputError
from voronym.quantize import Quantizer, design_integral, integrate_cells

SIXTH = (6, 15 / (2 * np.pi))
FRAME = (-6.0, -6.0, 6.0, 6.0)


def normal(points):
    return np.exp(-0.5 * np.square(points).sum(axis=1)) / (2 * np.pi)


def test_cells_of_a_normal_density_have_the_probabilities_of_the_normal_law():
    """Borders parallel to the axes: a product of two distribution functions."""
    quantizer = Quantizer([[-1, -1], [1, -1], [-1, 1], [1, 1]], [0.0, 1.0, 0.6, 1.6])
    integral = integrate_cells(quantizer, normal, FRAME, derivative=SIXTH, tolerance=1e-9)
    assert integral.proven
    x, y = 1.0 / 4, 0.6 / 4  # where the borders are: a difference of costs over twice the distance
    px, py = ndtr(x) - ndtr(-6), ndtr(y) - ndtr(-6)
    whole = ndtr(6) - ndtr(-6)
    truth = [px * py, (whole - px) * py, px * (whole - py), (whole - px) * (whole - py)]
    assert (np.abs(integral.values - truth) <= integral.errors).all()
    assert integral.errors.max() <= 1e-9


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_the_bound_holds_and_is_no_boast(order):
    """A wave whose derivatives are known, over cells cut by lines in every direction."""
    rng = np.random.default_rng(order)
    a = np.array([2.0, 1.0])
    most = float(np.hypot(*a)) ** order

    def wave(p):
        return 1.0 + np.sin(p @ a)

    quantizer = Quantizer(rng.random((5, 2)), rng.random(5) / 20)
    rough = integrate_cells(quantizer, wave, (0, 0, 1, 1), derivative=(order, most), tolerance=1e-2)
    fine = integrate_cells(quantizer, wave, (0, 0, 1, 1), derivative=(6, np.hypot(*a) ** 6), tolerance=1e-11)
    assert (np.abs(rough.values - fine.values) <= rough.errors + 1e-11).all()
    whole = 1.0 + (np.sin(2.0) + np.sin(1.0) - np.sin(3.0)) / 2.0
    assert fine.values.sum() == pytest.approx(whole, abs=1e-10)
    guessed = integrate_cells(quantizer, wave, (0, 0, 1, 1), tolerance=1e-9)
    assert not guessed.proven
    np.testing.assert_allclose(guessed.values, fine.values, atol=1e-8)
    np.testing.assert_allclose(guessed.values @ guessed.centroids, fine.values @ fine.centroids, atol=1e-8)


def test_a_design_without_a_sample_has_the_probabilities_asked_for():
    asked = np.array([0.1, 0.2, 0.3, 0.4])
    made = design_integral(normal, 4, FRAME, probabilities=asked, iterations=6)
    integral = integrate_cells(made, normal, FRAME, derivative=SIXTH, tolerance=1e-8)
    np.testing.assert_allclose(integral.values, asked, atol=1e-7)
    points = np.random.default_rng(0).standard_normal((100_000, 2))
    error = np.sqrt(asked * (1 - asked) / len(points))
    assert (np.abs(made.probabilities(points) - asked) < 5 * error).all()
    moved = integral.centroids - made.centroids
    assert np.abs(moved).max() < 0.3  # on its way to where nothing moves


@pytest.mark.slow
def test_ten_million_points_agree():
    made = design_integral(normal, 16, FRAME, iterations=40)
    integral = integrate_cells(made, normal, FRAME, derivative=SIXTH, tolerance=1e-8)
    rng, counts, n = np.random.default_rng(1), np.zeros(16), 10_000_000
    for _ in range(10):
        counts += made.sizes(rng.standard_normal((n // 10, 2)))
    assert (np.abs(counts / n - integral.values) < 4.5 * np.sqrt(1 / 16 * 15 / 16 / n)).all()


def test_what_is_no_density_is_refused():
    quantizer = Quantizer([[0.2, 0.5], [0.8, 0.5]])
    for wrong in (lambda p: -np.ones(len(p)), lambda p: np.full(len(p), np.nan), lambda _: 1.0):
        with pytest.raises(InputError, match="density"):
            integrate_cells(quantizer, wrong, (0, 0, 1, 1))
    with pytest.raises(InputError, match="order"):
        integrate_cells(quantizer, normal, (0, 0, 1, 1), derivative=(7, 1.0))
    with pytest.raises(GuaranteeError, match="triangles"):
        integrate_cells(quantizer, normal, (0, 0, 1, 1), derivative=(1, 1e9))
    with pytest.raises(InputError, match="add up"):
        design_integral(normal, 2, FRAME, probabilities=[0.5, 0.6])
    with pytest.raises(InputError, match="0 in most"):
        design_integral(lambda p: np.zeros(len(p)), 2, FRAME)
