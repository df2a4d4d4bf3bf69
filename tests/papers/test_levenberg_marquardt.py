"""The papers' cost adjustment: its parts by hand, its results against the exact assignment."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from scipy.optimize import brentq

import voronym as vr
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.quantize.costs import base
from voronym.quantize.quantizer import Quantizer
from voronym.space import Euclidean, Mahalanobis, Sphere
from voronym_papers.solvers import kernels
from voronym_papers.solvers.levenberg_marquardt import levenberg_marquardt, nearest_negative

module = importlib.import_module("voronym_papers.solvers.levenberg_marquardt")  # the package has the function


def instance(n, m, d, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    part = vr.microaggregate(X, n // m, method="mdav")
    return X, part.centroids(X), np.array(part.sizes)


def test_two_best_is_the_definition():
    rng = np.random.default_rng(0)
    X, C, c = rng.standard_normal((200, 3)), rng.standard_normal((9, 3)), rng.random(9)
    labels, second, gaps = np.empty(200, np.int64), np.empty(200, np.int64), np.empty(200)
    kernels.two_best(X, np.ascontiguousarray(C.T), c, np.empty(9), labels, second, gaps, 0, 200)
    values = np.square(X[:, None] - C).sum(axis=2) + c
    order = np.argsort(values, axis=1)
    np.testing.assert_array_equal(labels, order[:, 0])
    np.testing.assert_array_equal(second, order[:, 1])
    np.testing.assert_allclose(gaps, np.sort(values, axis=1)[:, 1] - values.min(axis=1), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_what_was_seen_changes_no_bit(seed, monkeypatch):
    """Costs that change a little, a lot, fall and rise, points that tie: always what a scan finds."""
    monkeypatch.setattr(module, "NEAR", 4)  # the fewer, the more depends on the values of the others
    rng = np.random.default_rng(seed)
    X, C = rng.standard_normal((300, 2)), rng.standard_normal((40, 2))
    if seed % 2:
        X, C = X.round(), C.round()
    seen, columns = module._Seen(X, C, Context()), np.ascontiguousarray(C.T)
    costs, scans = np.zeros(40), 0
    for change in [0.01, 0.01, 0.1, 10.0, 0.01, 1e-9, -0.5, 0.0, 1e6, 0.01]:
        result, known = ([np.zeros(300, np.int64), np.zeros(300, np.int64), np.zeros(300)] for _ in range(2))
        seen.fill(costs, *result)
        kernels.two_best(X, columns, costs, np.empty(40), *known, 0, 300)
        for own, other in zip(result, known, strict=True):
            np.testing.assert_array_equal(own, other)
        scans += seen.costs is costs
        costs = costs + (change * rng.standard_normal(40) if change > 0 else change)
    assert 1 <= scans < 10  # some looks were at few cells only


@pytest.mark.parametrize("seed", range(20))
def test_brent_finds_the_root_that_scipy_finds(seed):
    rng = np.random.default_rng(seed)
    gaps = np.sort(rng.exponential(size=rng.integers(2, 200)))

    def share(step):
        return kernels.lost(gaps, 0, len(gaps), step) - 0.05

    rise = kernels.brent(gaps, 0, len(gaps), 0.05)
    assert rise == pytest.approx(brentq(share, 0, gaps[-1], xtol=1e-14), rel=1e-6)
    assert share(rise) == pytest.approx(0, abs=1e-9)


def test_the_share_lost_by_hand():
    gaps = np.array([9.9, 1.0, 2.0, 4.0, 9.9])  # the cell's are the three in the middle
    results = [kernels.lost(gaps, 1, 4, step) for step in (0.0, 0.5, 1.0, 1.5, 3.0, 4.0, 7.0)]
    np.testing.assert_allclose(results, [0, 0.5 / 3, 1 / 3, 1.5 / 3, 2.5 / 3, 1, 1])


def test_equal_gaps_and_no_gaps_give_some_rise():
    for gaps in (np.zeros(5), np.ones(5), np.array([0.0, 0.0, 1.0])):
        assert np.isfinite(kernels.brent(gaps, 0, len(gaps), 0.05))


def test_the_nearest_negative_matrix_is_nearest():
    rng = np.random.default_rng(1)
    J = rng.standard_normal((5, 5))
    nearest = nearest_negative(J)
    assert np.linalg.eigvalsh(nearest).max() <= 1e-12
    np.testing.assert_allclose(nearest, nearest.T)
    for _ in range(200):  # no other negative semidefinite matrix is nearer
        A = rng.standard_normal((5, 5))
        other = nearest - 10.0 ** rng.uniform(-4, 0) * A @ A.T
        assert np.linalg.norm(J - other) >= np.linalg.norm(J - nearest)


def test_the_jacobian_is_the_finite_difference():
    X, C, target = instance(4100, 8, 2, 2)  # 5 % of 512 is between two points, so rounding decides nothing
    work = module._Work(X, C, target, Euclidean(), Context())
    view = work.look(np.zeros(len(C)))
    J = np.zeros((len(C), len(C)))
    for q in range(len(C)):  # raise one cost until 5 % are gone, and assign everything again
        gaps = np.sort(view.gaps[view.labels == q])
        rise = kernels.brent(gaps, 0, len(gaps), 0.05)
        costs = np.zeros(len(C))
        costs[q] = rise
        J[:, q] = (work.look(costs).counts - view.counts) / (len(X) * rise)
    lost = -np.diag(J) * len(X)
    assert (lost > 0).all()
    np.testing.assert_allclose(J.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(work.jacobian(view, 0.05), nearest_negative(J), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("damping", ["tikhonov", "marquardt"])
@pytest.mark.parametrize(("n", "m", "d"), [(3000, 4, 1), (6000, 12, 2), (6000, 30, 3)])
def test_large_cells_get_their_sizes_and_the_exact_cost(n, m, d, damping):
    from voronym.quantize.costs.transport import transport

    X, C, target = instance(n, m, d, 3)
    result = levenberg_marquardt(X, C, target, damping=damping)
    assert (np.abs(result.sizes - target) <= np.maximum(1, 0.005 * target)).all()
    np.testing.assert_array_equal(result.labels, Quantizer(C, result.costs).assign(X))
    np.testing.assert_array_equal(result.sizes, np.bincount(result.labels, minlength=len(C)))
    exact = transport(X, C, target)
    assert result.cost == pytest.approx(exact.cost, rel=2e-3)
    assert result.cost - result.gap <= exact.cost * (1 + 1e-9)  # the dual value: a bound
    assert np.mean(result.labels != exact.labels) < 0.01
    assert result.costs.min() == 0
    assert not result.exact


def test_unequal_sizes_in_other_spaces():
    rng = np.random.default_rng(4)
    X, C = rng.random((4000, 2)), rng.random((5, 2))
    target = np.array([2000, 800, 600, 400, 200])
    places = Sphere.from_degrees(90 * X[:, 0], 90 * X[:, 1]), Sphere.from_degrees(90 * C[:, 0], 90 * C[:, 1])
    for space, points, centroids in (
        (Mahalanobis([[2.0, 0.5], [0.5, 1.0]]), X, C),
        (Sphere(), *places),
    ):
        result = levenberg_marquardt(points, centroids, target, space=space)
        assert (np.abs(result.sizes - target) <= np.maximum(1, 0.005 * target)).all()
        np.testing.assert_array_equal(result.labels, Quantizer(centroids, result.costs, space).assign(points))


def test_a_cell_without_points_gets_some():
    X = np.random.default_rng(5).random((2000, 2))
    result = levenberg_marquardt(X, [[0.3, 0.5], [0.7, 0.5], [9.0, 9.0]], [800, 800, 400])
    assert (np.abs(result.sizes - [800, 800, 400]) <= 4).all()


def test_conjugate_gradients_take_over(monkeypatch):
    X, C, target = instance(6000, 20, 2, 6)
    monkeypatch.setattr(module, "DENSE", 4)
    result = levenberg_marquardt(X, C, target)
    assert (np.abs(result.sizes - target) <= 3).all()


def test_a_good_start_needs_no_step():
    X, C, target = instance(3000, 6, 2, 7)
    first = levenberg_marquardt(X, C, target)
    assert first.iterations > 0
    again = levenberg_marquardt(X, C, target, start=first.costs)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.labels, first.labels)


@pytest.mark.parametrize("X", [np.zeros((50, 2)), np.repeat(np.eye(2), 25, axis=0)])
def test_repeated_points_end(X):
    result = levenberg_marquardt(X, [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [20, 20, 10])
    assert result.sizes.sum() == 50  # costs alone cannot split equal points: what comes nearest


@pytest.mark.parametrize("costs", ["newton", "levenberg-marquardt"])
def test_more_cells_than_places_end(costs):
    places = np.random.default_rng(0).random((5, 2))
    assert vr.quantize.pcl(np.ones((40, 2)), 5, costs=costs).distortions[-1] == 0.0
    result = vr.quantize.pcl(np.repeat(places, 8, axis=0), 40, costs=costs)
    assert result.distortions[-1] < 1e-30  # 35 cells cannot have points, and none is divided that has none


def test_one_cell_and_two_points():
    assert levenberg_marquardt([[1.0], [2.0]], [[0.0]], [2]).labels.tolist() == [0, 0]
    assert levenberg_marquardt([[1.0], [2.0]], [[1.0], [2.0]], [1, 1]).labels.tolist() == [0, 1]


@pytest.mark.parametrize("exponent", [-500, -40, 40, 498])
def test_the_unit_of_the_points_changes_no_bit(exponent):
    X, C, target = instance(600, 4, 2, 9)
    result = levenberg_marquardt(X, C, target)
    other = levenberg_marquardt(np.ldexp(X, exponent), np.ldexp(C, exponent), target)
    np.testing.assert_array_equal(other.labels, result.labels)
    np.testing.assert_array_equal(np.ldexp(other.costs, -2 * exponent), result.costs)
    assert np.ldexp(other.cost, -2 * exponent) == result.cost
    assert result.iterations > 0


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_large_and_small_units_in_any_space(scale):
    X, C, target = instance(600, 4, 2, 9)
    sizes = vr.quantize.pcl(X * scale, 2, costs="levenberg-marquardt").quantizer.sizes(X * scale)
    assert abs(sizes - 300).max() <= 2
    space = Mahalanobis([[2.0, 0.5], [0.5, 1.0]])
    result = levenberg_marquardt(X * scale, C * scale, target, space=space)
    assert abs(result.sizes - target).max() <= 2
    rule = Quantizer(C * scale, result.costs, space)
    np.testing.assert_array_equal(rule.assign(X * scale), result.labels)


def test_progress_is_told_and_may_stop():
    X, C, target = instance(3000, 6, 2, 8)
    messages = []
    levenberg_marquardt(X, C, target, progress=lambda step: messages.append(step.done))
    assert messages[-1] == 1.0
    assert all(0 <= share <= 1 for share in messages)

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        levenberg_marquardt(X, C, target, progress=stop)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sizes": [1, 2]}, "sum to 3"),
        ({"sizes": ([1, 1], [2, 2])}, "use transport"),
        ({"damping": "none"}, "tikhonov"),
        ({"tolerance": -1}, "0 or more"),
        ({"start": [np.nan, 0]}, "finite costs"),
        ({"centroids": [[1.0], [2.0]]}, "shape"),
    ],
)
def test_bad_input_gets_one_sentence(change, says):
    given = {"X": np.eye(2), "centroids": np.eye(2), "sizes": [1, 1], **change}
    with pytest.raises(InputError, match=says):
        levenberg_marquardt(**given)


def test_the_result_is_an_assignment():
    assert isinstance(levenberg_marquardt([[1.0], [2.0]], [[0.0]], [2]), base.Assignment)
