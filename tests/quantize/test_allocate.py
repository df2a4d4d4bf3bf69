"""Fixed places with limited room, against linear programmes and enumeration."""

from __future__ import annotations

import importlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from voronym.errors import InputError
from voronym.quantize import _programme
from voronym.quantize.allocate import allocate
from voronym.space import Euclidean, Manhattan, Sphere

module = importlib.import_module("voronym.quantize.allocate")  # the package has the function by that name


def least(D, a, b, low, high):
    """Return the optimum of the whole linear programme."""
    n, m = D.shape
    each, place = np.kron(np.eye(n), np.ones(m)), np.kron(b, np.eye(m))
    high = np.where(np.isfinite(high), high, b.sum() + 1)
    return linprog(
        (a[:, None] * D).ravel(),
        A_ub=np.vstack([place, -place]),
        b_ub=np.r_[high, -low],
        A_eq=each,
        b_eq=np.ones(n),
    ).fun


def check(outcome, a, b, low, high, D):
    """Check the plan, its loads, its proof and how many are divided."""
    n, m = D.shape
    np.testing.assert_allclose(np.bincount(outcome.points, outcome.shares, n), 1.0, atol=1e-9)
    loads = np.bincount(outcome.cells, b[outcome.points] * outcome.shares, m)
    np.testing.assert_allclose(loads, outcome.loads)
    slack = 1e-6 * (1 + b.sum())
    assert (loads <= high + slack).all()
    assert (loads >= low - slack).all()
    cost = (a[outcome.points] * outcome.shares * D[outcome.points, outcome.cells]).sum()
    assert cost == pytest.approx(outcome.cost)
    assert abs(outcome.gap) <= 1e-6 * (1 + cost)
    assert len(outcome.divided) <= m - 1
    # Complementary slackness: all go where weight * d + load * cost is least; room that is left is free.
    value = a[:, None] * D + b[:, None] * outcome.costs
    worse = value[outcome.points, outcome.cells] - value.min(axis=1)[outcome.points]
    assert worse.max() <= 1e-6 * (1 + np.abs(value).max())
    assert np.abs(outcome.costs[(loads < high - slack) & (loads > low + slack)]).max(initial=0) <= 1e-6


@given(st.integers(0, 2**32 - 1), st.sampled_from(["capacity", "both", "exact", "minimum"]), st.booleans())
def test_real_weights_are_the_linear_programme(seed, kind, two):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 14)), int(rng.integers(1, 6))
    X, C = rng.standard_normal((n, 2)), rng.standard_normal((m, 2))
    D = np.square(X[:, None] - C).sum(axis=2)
    a = rng.random(n) + 0.01
    b = rng.random(n) + 0.01 if two else a
    p = rng.dirichlet(np.ones(m)) * b.sum()
    low, high = {
        "capacity": (np.zeros(m), 1.3 * p),
        "both": (0.6 * p, 1.2 * p),
        "exact": (p, p),
        "minimum": (0.5 * p, np.full(m, np.inf)),
    }[kind]
    result = allocate(X, C, capacities=high, minimum=low, weights=a, loads=b if two else None)
    check(result, a, b, low, high, D)
    assert result.cost == pytest.approx(least(D, a, b, low, high), abs=1e-6)


@pytest.mark.parametrize("two", [False, True])
def test_pairs_are_added_until_none_is_missing(monkeypatch, two):
    monkeypatch.setattr(_programme, "WHOLE", 100)
    monkeypatch.setattr(_programme, "SAMPLE", 3)
    rng = np.random.default_rng(1)
    X, C = rng.standard_normal((90, 2)), 3 * rng.standard_normal((6, 2))  # far places that must be filled
    a = rng.random(90)
    b = rng.random(90) if two else a
    p = np.full(6, b.sum() / 6)
    D = np.square(X[:, None] - C).sum(axis=2)
    result = allocate(X, C, capacities=p, minimum=p, weights=a, loads=b)
    check(result, a, b, p, p, D)
    assert result.cost == pytest.approx(least(D, a, b, p, p), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_points_without_weights_are_never_divided_and_no_assignment_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    X, C = rng.standard_normal((7, 2)), rng.standard_normal((3, 2))
    D = Manhattan().cost(X, C)
    low, high = np.array([1, 2, 0]), np.array([2, 4, 3])
    result = allocate(X, C, capacities=high, minimum=low, space=Manhattan())
    check(result, np.ones(7), np.ones(7), low, high, D)
    assert len(result.divided) == 0
    assert result.loads.tolist() == np.bincount(result.labels, minlength=3).tolist()
    ways = (np.array(way) for way in product(range(3), repeat=7))
    kept = [w for w in ways if (low <= (s := np.bincount(w, minlength=3))).all() and (s <= high).all()]
    assert result.cost == pytest.approx(min(D[np.arange(7), way].sum() for way in kept))


def test_whole_weights_are_divided_into_whole_parts():
    rng = np.random.default_rng(3)
    X, C = rng.standard_normal((30, 2)), rng.standard_normal((4, 2))
    w = rng.integers(0, 9, 30).astype(float)
    total = int(w.sum())
    room = np.array([total // 4 + 1, total // 4, total // 4 + 2, total // 4 + 3], float)
    result = allocate(X, C, capacities=room, weights=w)
    D = np.square(X[:, None] - C).sum(axis=2)
    check(result, w, w, np.zeros(4), room, D)
    parts = w[result.points] * result.shares
    np.testing.assert_allclose(parts, np.rint(parts), atol=1e-9)
    assert result.cost == pytest.approx(least(D, w, w, np.zeros(4), room), abs=1e-6)
    assert (result.labels >= 0).all()


def test_doubling_a_point_is_doubling_its_weight():
    rng = np.random.default_rng(4)
    X, C = rng.standard_normal((20, 2)), rng.standard_normal((3, 2))
    twice = allocate(np.vstack([X, X]), C, capacities=15)
    heavy = allocate(X, C, capacities=15, weights=np.full(20, 2.0))
    assert twice.cost == pytest.approx(heavy.cost)
    halves = allocate(X, C, capacities=15.0 / 4, weights=np.full(20, 0.5))
    assert halves.cost == pytest.approx(heavy.cost / 4, rel=1e-6)


@pytest.mark.parametrize("kind", ["capacity", "both", "minimum"])
def test_prices_have_the_sign_that_they_are_said_to_have(kind):
    for seed in range(20):  # one point is so far away that the rounding of its price is a number of some size
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 60)), int(rng.integers(2, 6))
        X, C = 1e6 * rng.standard_normal((n, 2)), 1e6 * rng.standard_normal((m, 2))
        X[0] *= 1e6
        w = rng.random(n)
        p = rng.dirichlet(np.ones(m)) * w.sum()
        low, high = {
            "capacity": (np.zeros(m), p * rng.choice([1.001, 1.5])),
            "both": (0.5 * p, 1.5 * p),
            "minimum": (0.7 * p, np.full(m, np.inf)),
        }[kind]
        result = allocate(X, C, capacities=high, minimum=low, weights=w)
        slack = 1e-6 * w.sum()
        assert not (result.costs[result.loads < high - slack] > 0).any(), seed
        assert not (result.costs[result.loads > low + slack] < 0).any(), seed
        assert abs(result.gap) <= 1e-7 * result.cost


def test_costs_that_rounding_left_are_taken_away():
    low, high = np.array([0.0, 1.0, 0.0, 2.0, 0.0]), np.array([9.0, 9.0, 3.0, 2.0, 3.0])
    costs, loads = np.array([1e-9, -1e-9, 4.0, -7.0, -1e-9]), np.array([3.0, 3.0, 3.0, 2.0, 3.0])
    points = np.zeros((14, 1))
    task = _programme.Task(points, points[:5], np.ones(14), np.ones(14), low, high, Euclidean())
    assert module._lawful(task, costs, loads).tolist() == [0.0, 0.0, 4.0, -7.0, 0.0]


def test_two_measures_by_hand():
    # One bed is left nearby. Who stays two days takes two; who is heavy in distance pays more to go far.
    result = allocate([0.0, 0.0], [[0.0], [1.0]], capacities=[1.0, 9.0], weights=[1.0, 1.0], loads=[2.0, 1.0])
    assert result.labels.tolist() == [1, 0]
    assert result.cost == pytest.approx(1.0)
    with pytest.raises(InputError, match="two measures"):
        result.quantizer()
    result = allocate([0.0, 0.0], [[0.0], [1.0]], capacities=[1.0, 9.0], weights=[9.0, 1.0], loads=[1.0, 1.0])
    assert result.labels.tolist() == [0, 1]


def test_who_takes_no_room_goes_to_the_nearest_place():
    X, C = [0.0, 0.1, 0.2], [[0.0], [1.0]]
    result = allocate(X, C, capacities=[0.5, 2.0], weights=[1.0, 1.0, 1.0], loads=[0.0, 0.5, 0.5])
    assert result.labels[0] == 0
    result = allocate(X, C, capacities=[1, 2], weights=[0, 1, 1])
    assert result.labels.tolist() == [0, 0, 1]
    nothing = allocate(X, C, weights=[1.0, 1.0, 1.0], loads=[0.0, 0.0, 0.0])
    assert nothing.labels.tolist() == [0, 0, 0]


def test_without_limits_everyone_goes_to_the_nearest_place():
    rng = np.random.default_rng(5)
    X, C = rng.standard_normal((50, 2)), rng.standard_normal((4, 2))
    nearest = np.square(X[:, None] - C).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(allocate(X, C).labels, nearest)
    np.testing.assert_array_equal(allocate(X, C, weights=rng.random(50)).labels, nearest)


def test_hospitals_on_the_globe():
    rng = np.random.default_rng(6)
    people = Sphere.from_degrees(rng.uniform(40, 43, 300), rng.uniform(0, 3, 300))
    hospitals = Sphere.from_degrees([41.4, 41.1, 42.0], [2.2, 1.2, 2.8])
    result = allocate(people, hospitals, capacities=[150, 100, 100], space=Sphere())
    assert (result.loads <= [150, 100, 100]).all()
    rule = result.quantizer()
    assert np.mean(rule.assign(people) == result.labels) > 0.98  # ties at the borders


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"capacities": 2}, "room for 4 in all, and the points come to 5: 1 too many"),
        ({"minimum": [3, 3]}, "ask for 6 in all, and the points come to 5: 1 too few"),
        ({"minimum": [3, 0], "capacities": [2, 9]}, "1 of 2 places have a minimum above"),
        ({"capacities": [1, 2, 3]}, "one for each of the 2 places"),
        ({"capacities": [-1, 9]}, "0 or more"),
        ({"capacities": [np.nan, 9]}, "0 or more"),
        ({"capacities": "many"}, "must be an array of numbers"),
        ({"capacities": [2.5, 2.5]}, "whole numbers"),
        ({"minimum": np.inf}, "above|finite"),
        ({"weights": [1.0]}, "each of the 5 points"),
        ({"weights": [1, 1, 1, 1, -1]}, "1 of 5 weights are negative"),
        ({"loads": [1, 1, 1, 1, np.nan]}, "1 of 5 loads"),
        ({"weights": "abcde"}, "must be an array of numbers"),
        ({"weights": [0.5] * 5, "capacities": 1.2}, "room for 2.4 in all, and the loads come to 2.5"),
        ({"centroids": [[1.0, 2.0]]}, "shape"),
    ],
)
def test_bad_input_gets_one_sentence_with_counts(change, says):
    given = {"X": np.arange(5.0), "centroids": [[0.0], [5.0]], **change}
    with pytest.raises(InputError, match=says):
        allocate(**given)


def test_progress_may_stop():
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        allocate(np.arange(5.0), [[0.0], [5.0]], weights=np.linspace(0.1, 1, 5), progress=stop)


def test_repr_says_what_it_is():
    result = allocate([0.0, 4.0], [[0.0], [10.0]], capacities=[1.5, 9.0], weights=[1.0, 1.0])
    assert repr(result).startswith(
        "Allocation(2 points to 2 places with loads of 0.5..1.5, 1 divided, cost 26"
    )
