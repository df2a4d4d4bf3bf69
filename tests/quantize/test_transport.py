"""`transport` against the linear programme, on instances made to be awkward."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import voronym as vr
from voronym.quantize.costs import transport
from voronym.quantize.costs.base import equal_sizes
from voronym.space import Euclidean, Space


def programme(D, low, high):
    """Return the least cost of the transportation programme, by HiGHS."""
    n, m = D.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    answer = linprog(
        D.ravel(), A_ub=np.vstack([columns, -columns]), b_ub=np.r_[high, -low], A_eq=rows, b_eq=np.ones(n)
    )
    assert answer.status == 0
    return answer.fun


def instance(seed):
    """Return points, centroids and bounds, with ties, repeats, constant columns, coincident centroids."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 31)), int(rng.integers(1, 4))
    m = int(rng.integers(1, min(n, 8) + 1))
    kind = seed % 5
    X = rng.standard_normal((n, d))
    C = rng.standard_normal((m, d))
    if kind == 1:  # ties and repeats
        X, C = rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (m, d)).astype(float)
    elif kind == 2:  # coincident centroids
        C[:] = C[0]
    elif kind == 3:  # a column without variance, a few points many times over
        X[:, 0] = 1.0
        X = X[rng.integers(0, max(2, n // 4), n)]
    elif kind == 4:  # far away, of different scales
        X, C = 1e5 + X * 100.0, 1e5 + C * 100.0
        X[0] += 1e4
    sizes = rng.multinomial(n, rng.dirichlet(np.ones(m)))
    if seed % 2:
        low = np.array([rng.integers(0, size + 1) for size in sizes])
        high = np.array([rng.integers(size, n + 1) for size in sizes])
        return X, C, low, high
    return X, C, sizes, sizes


class Cityblock(Space):
    name = "cityblock"

    def cost(self, X, Y):
        return np.abs(X[:, None] - Y[None]).sum(axis=2)

    def centroid(self, X):
        return np.median(X, axis=0)


def check(X, C, low, high, answer):
    D = Euclidean().cost(X, C)
    n, m = D.shape
    counts = np.bincount(answer.labels, minlength=m)
    assert (counts == answer.sizes).all()
    assert (low <= counts).all()
    assert (counts <= high).all()
    scale = max(D.max(), 1e-12) * n
    paid = D[np.arange(n), answer.labels]
    assert paid.sum() == pytest.approx(answer.cost, abs=1e-9 * scale)
    # complementary slackness: every point in a best cell; the sign of a cost says at which bound the cell is
    total = D + answer.costs
    slip = 1e-9 * (D.max() + np.abs(answer.costs).max())
    assert (total[np.arange(n), answer.labels] <= total.min(axis=1) + slip).all()
    if (low == high).all():
        assert answer.costs.min() == 0.0
    else:
        assert (answer.costs[counts < high] <= slip).all()
        assert (answer.costs[counts > low] >= -slip).all()
    # the dual value, computed here, proves the gap
    dual = total.min(axis=1).sum() - np.maximum(high * answer.costs, low * answer.costs).sum()
    assert answer.cost - dual == pytest.approx(answer.gap, abs=1e-9 * scale)
    assert 0.0 <= answer.gap <= 1e-9 * scale
    assert answer.exact


@pytest.mark.parametrize("seed", range(200))
def test_equals_the_linear_programme(seed):
    X, C, low, high = instance(seed)
    answer = transport(X, C, low if (low == high).all() else (low, high))
    check(X, C, low, high, answer)
    scale = max(Euclidean().cost(X, C).max(), 1e-12) * len(X)
    assert answer.cost == pytest.approx(programme(Euclidean().cost(X, C), low, high), abs=1e-8 * scale)


@pytest.mark.parametrize("seed", range(12))
def test_large_cells_and_small_ones_agree_with_the_proof(seed, monkeypatch):
    """Both ways through the solver, whichever the sizes would choose, end at a proven optimum."""
    import importlib

    module = importlib.import_module("voronym.quantize.costs.transport")
    rng = np.random.default_rng(seed)
    n, m, d = 400 + 37 * seed, 3 + 4 * seed, 1 + seed % 3
    X = rng.standard_normal((n, d)) if seed % 2 else np.round(rng.standard_normal((n, d)), 1)
    C = X[rng.choice(n, m, replace=False)] + 0.1
    sizes = equal_sizes(n, m)
    results = []
    for large, small, nearest in ((1, 0, 12), (10**9, 0, 3), (10**9, 10**9, 12)):
        monkeypatch.setattr(module, "LARGE", large)
        monkeypatch.setattr(module, "SMALL", small)
        monkeypatch.setattr(module, "NEAREST", nearest)
        answer = transport(X, C, sizes)
        check(X, C, sizes, sizes, answer)
        results.append(answer.cost)
    assert results == pytest.approx([results[0]] * 3, rel=1e-10)


def test_by_hand():
    """Two cells, four points on a line: the third must go the long way, and the price is the difference.

    It is at 4 and 64: the price is 60 or more. The second is at 1 and 81: 80 or less. The middle is taken.
    """
    answer = transport([0.0, 1.0, 2.0, 10.0], [[0.0], [10.0]], [2, 2])
    assert answer.labels.tolist() == [0, 0, 1, 1]
    assert answer.cost == 0 + 1 + 64 + 0
    assert answer.costs == pytest.approx([70.0, 0.0])
    bounded = transport([0.0, 1.0, 2.0, 10.0], [[0.0], [10.0]], ([1, 1], [3, 3]))
    assert bounded.labels.tolist() == [0, 0, 0, 1]
    assert bounded.costs.tolist() == [0.0, 0.0]
    forced = transport([0.0, 1.0, 2.0, 10.0], [[0.0], [10.0]], ([0, 2], [4, 4]))
    assert forced.labels.tolist() == [0, 0, 1, 1]
    assert forced.costs == pytest.approx([0.0, -70.0])


@pytest.mark.parametrize(("n", "m"), [(2000, 16), (2000, 100), (2000, 400), (1500, 700)])
@pytest.mark.parametrize("dense", [5_000_000, 0])
def test_costs_are_a_rule_for_distinct_points(n, m, dense, monkeypatch):
    """No point on a border: the costs alone give back labels and sizes, and prove them as well as before."""
    import importlib

    monkeypatch.setattr(importlib.import_module("voronym.quantize.costs.centre"), "DENSE", dense)
    X = vr.datasets.gaussian(n, 2, seed=m)
    C, sizes = X[:m], equal_sizes(n, m)
    D = Euclidean().cost(X, C)
    for low, high in ((sizes, sizes), (sizes, sizes + 1), (np.maximum(sizes - 1, 0), sizes)):
        answer = transport(X, C, (low, high))
        check(X, C, low, high, answer)
        assert answer.gap <= 1e-12 * n
        assert (vr.Quantizer(C, answer.costs).assign(X) == answer.labels).all()
        best = np.partition(D + answer.costs, 1, axis=1)
        assert (best[:, 1] - best[:, 0]).min() > 1e-13


@pytest.mark.parametrize("seed", range(20))
def test_coincident_centroids_in_groups(seed):
    rng = np.random.default_rng(seed)
    n, m = 24, 6
    X = np.round(rng.standard_normal((n, 2)), seed % 2 + 1)
    C = rng.standard_normal((m, 2))[rng.integers(0, 3, m)]
    sizes = rng.multinomial(n, np.full(m, 1 / m))
    low, high = sizes, sizes
    if seed % 3:
        low, high = np.maximum(sizes - 2, 0), sizes + rng.integers(0, 3, m)
    answer = transport(X, C, (low, high))
    check(X, C, low, high, answer)
    assert answer.cost == pytest.approx(programme(Euclidean().cost(X, C), low, high))


def test_coincident_centroids_need_no_paths():
    X = vr.datasets.gaussian(4000, 2, seed=2)
    C = np.zeros((100, 2))
    answer = transport(X, C, equal_sizes(4000, 100))
    assert answer.iterations == 0
    assert answer.sizes.tolist() == [40] * 100
    two = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 50, axis=0)
    halves = transport(X, two[[0, 99]], [2000, 2000])
    answer = transport(X, two, equal_sizes(4000, 100))
    assert answer.iterations == halves.iterations
    assert answer.cost == pytest.approx(halves.cost, rel=1e-12)
    assert ((answer.labels >= 50) == halves.labels).all()


@pytest.mark.parametrize("amount", [1e12, 1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("space", [None, Cityblock()])
def test_a_wild_start_changes_nothing(amount, space):
    X = vr.datasets.gaussian(300, 2, seed=7)
    C, sizes = X[:6], equal_sizes(300, 6)
    wild = amount * np.array([1.0, -1.0, 0.5, 0.0, 1.0, -0.3])
    expected = transport(X, C, sizes, space=space)
    answer = transport(X, C, sizes, start=wild, space=space)
    assert answer.cost == pytest.approx(expected.cost, rel=1e-12)
    assert (
        space is not None or (answer.labels == expected.labels).all()
    )  # in the plane of blocks there are ties
    bounds = (sizes - 5, sizes + 5)
    expected = transport(X, C, bounds, space=space)
    answer = transport(X, C, bounds, start=wild, space=space)
    assert answer.cost == pytest.approx(expected.cost, rel=1e-12)


def test_no_cost_and_a_rounding_gap_in_another_space():
    """Points that are their own centroids: nothing to measure a gap by but the distances between them."""
    X = vr.datasets.gaussian(40, 2, seed=1) * 1e-3 + 1.0
    answer = transport(X, X, np.ones(40, int), space=Cityblock(), start=np.linspace(0.0, 1e3, 40))
    assert answer.cost == 0.0
    assert answer.labels.tolist() == list(range(40))


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_the_gap_knows_what_rounding_hides(far):
    """An outlier so far that the costs forget the other distances: the true optimum is within the gap."""
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2))
    X[0] = far
    C = np.vstack([rng.standard_normal((3, 2)), [[far, far]]])
    answer = transport(X, C, [50] * 4)
    assert answer.sizes.tolist() == [50] * 4
    near = np.flatnonzero(answer.labels < 3)  # of the same near points, by another solver
    D = Euclidean().cost(X[near], C[:3])
    best = D[:, np.repeat([0, 1, 2], 50)]
    least = best[linear_sum_assignment(best)].sum()
    mine = D[np.arange(len(near)), answer.labels[near]].sum()
    assert mine - least <= answer.gap
    assert answer.gap >= 200 * 2.0**-52 * np.abs(answer.costs).max()


def test_bounds_beyond_all_points():
    X = np.arange(10.0)
    free = transport(X, [[0.0], [9.0]], ([0, 0], [10, 10]))
    huge = transport(X, [[0.0], [9.0]], ([0, 0], [2**62, 2**62]))
    assert (huge.labels == free.labels).all()
    assert huge.gap == free.gap


def test_a_cell_between_its_bounds_keeps_the_cost_0():
    X = vr.datasets.gaussian(300, 2, seed=5)
    C = X[:12]
    answer = transport(X, C, (np.full(12, 15), np.full(12, 33)))
    between = (answer.sizes > 15) & (answer.sizes < 33)
    assert between.any()
    assert (~between).any()
    assert (answer.costs[between] == 0.0).all()
    assert (vr.Quantizer(C, answer.costs).assign(X) == answer.labels).all()


@given(st.integers(0, 10**6), st.floats(-50, 50))
def test_the_start_changes_no_cost(seed, amount):
    X, C, low, high = instance(2 * seed)
    start = amount * np.random.default_rng(seed).standard_normal(len(C))
    answer = transport(X, C, low, start=start)
    check(X, C, low, high, answer)
    assert answer.cost == pytest.approx(transport(X, C, low).cost, rel=1e-9, abs=1e-9)
    bounds = (np.zeros(len(C), int), np.maximum(high, len(X) // len(C) + 1))
    check(X, C, *bounds, transport(X, C, bounds, start=start))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_shifts_scales_and_orders(seed):
    """A common shift changes nothing, a factor goes through, and rows and cells may be in any order."""
    X, C, low, _ = instance(10 * seed)
    rng = np.random.default_rng(seed)
    answer = transport(X, C, low)
    shifted = transport(4.0 * (X + 3.0), 4.0 * (C + 3.0), low)
    assert shifted.cost == pytest.approx(16.0 * answer.cost, rel=1e-9)
    rows, cells = rng.permutation(len(X)), rng.permutation(len(C))
    assert transport(X[rows], C[cells], low[cells]).cost == pytest.approx(answer.cost, rel=1e-9)


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_any_space(seed):
    X, C, low, high = instance(seed)
    space = Cityblock()
    answer = transport(X, C, low, space=space)
    assert answer.cost == pytest.approx(programme(space.cost(X, C), low, high), abs=1e-7 * (1 + answer.cost))
    assert answer.gap <= 1e-9 * (1 + answer.cost)


def test_many_small_cells_in_blocks(monkeypatch):
    """Blocks of a matrix, kept or not, and a tree: the same optimum."""
    import importlib

    sources = importlib.import_module("voronym.quantize.costs.sources")
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((600, 2)), rng.standard_normal((120, 2))
    sizes = equal_sizes(600, 120)
    expected = transport(X, C, sizes).cost
    offers = {
        "name": "same",
        "cost": lambda _, X, Y: Euclidean().cost(X, Y),
        "centroid": Euclidean().centroid,
    }
    same = type("Same", (Space,), offers)()
    assert transport(X, C, sizes, space=same).cost == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(sources, "BLOCK", 5000)
    monkeypatch.setattr(sources, "KEPT", 0)
    assert transport(X, C, sizes, space=same).cost == pytest.approx(expected, rel=1e-12)


def test_threads_and_pieces_change_nothing(monkeypatch):
    import importlib

    sources = importlib.import_module("voronym.quantize.costs.sources")
    X = vr.datasets.gaussian(3000, 2, seed=1)
    C = X[:20]
    whole = transport(X, C, equal_sizes(3000, 20))
    small = transport(X, X[:600], equal_sizes(3000, 600))
    monkeypatch.setattr(sources, "PIECE", 200)
    pieces = transport(X, C, equal_sizes(3000, 20))
    assert (pieces.labels == whole.labels).all()
    assert (pieces.costs == whole.costs).all()
    assert (transport(X, X[:600], equal_sizes(3000, 600)).labels == small.labels).all()


def test_progress_may_stop_the_work():
    class StopError(Exception):
        pass

    def stop(step):
        assert 0 <= step.done <= 1
        raise StopError

    with pytest.raises(StopError):
        transport(np.arange(100.0), [[0.0], [50.0]], [50, 50], progress=stop)


def test_the_answer_says_what_it_is():
    answer = transport([0.0, 1.0, 2.0, 10.0], [[0.0], [10.0]], [2, 2])
    assert "exact" in repr(answer)
    with pytest.raises(ValueError, match="read-only"):
        answer.labels[0] = 1


@pytest.mark.data
def test_adult_in_many_equal_points():
    frame = vr.datasets.adult().select("age", "education-num", "hours-per-week")
    X = vr.standardize(frame.to_numpy().astype(float))
    rng = np.random.default_rng(0)
    C = X[rng.choice(len(X), 40, replace=False)]
    answer = transport(X, C, equal_sizes(len(X), 40))
    check(X, C, equal_sizes(len(X), 40), equal_sizes(len(X), 40), answer)
