from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import twins
from partitioners.points import records, scattered
from voronym._kernels import shorten
from voronym.core.context import Context
from voronym.partitioners import _order, fdm, fdm_partitions


def length(X, tour):
    return np.sqrt(((X[tour] - X[np.roll(tour, 1)]) ** 2).sum(axis=1)).sum()


@given(records(least=4))
def test_the_tour_visits_everybody_and_is_no_longer_than_by_nearest_next(X):
    tour = fdm.short_tour(X, Context())
    assert sorted(tour.tolist()) == list(range(len(X)))
    first = _order.nearest_next(X, _order.outermost(X), Context())
    assert length(X, tour) <= length(X, first) * (1 + 1e-9)


@given(scattered(least=8, most=11))
def test_no_move_shortens_the_tour(X):
    """Try all 2-opt and Or-opt moves by building the tours; all records are near here."""
    n = len(X)
    tour = fdm.short_tour(X, Context())
    limit = length(X, tour) * (1 - 1e-9)
    for i in range(n):
        turned = np.roll(tour, -i)
        for j in range(2, n):
            assert length(X, np.r_[turned[:j][::-1], turned[j:]]) >= limit
        for size in range(1, shorten.SEGMENT + 1):
            segment, rest = turned[:size], turned[size:]
            for at in range(1, len(rest)):
                for moved in (segment, segment[::-1]):
                    assert length(X, np.r_[rest[:at], moved, rest[at:]]) >= limit


@given(scattered(least=8, most=40), st.data())
def test_moves_are_what_they_say(X, data):
    n = len(X)
    tour = np.random.default_rng(n).permutation(n)
    place = np.argsort(tour)
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    before = tour.copy()
    shorten.reverse(tour, place, i, j)
    inside = np.take(before, np.arange(i, i + (j - i) % n + 1), mode="wrap")
    expected = np.r_[inside[::-1], np.take(before, np.arange(j + 1, j + 1 + n - len(inside)), mode="wrap")]
    assert same_cycle(tour, expected)
    assert np.array_equal(tour[place], np.arange(n))

    size = data.draw(st.integers(1, shorten.SEGMENT))
    turned = data.draw(st.booleans())
    cycle = np.roll(tour, -i)
    segment, rest = cycle[:size], cycle[size:]
    at = data.draw(st.integers(0, len(rest) - 1))
    shorten.move(tour, place, i, size, int(rest[at]), turned, np.empty(shorten.SEGMENT, np.int64))
    expected = np.r_[rest[: at + 1], segment[::-1] if turned else segment, rest[at + 1 :]]
    assert np.array_equal(np.roll(tour, -int(place[expected[0]])), expected)
    assert np.array_equal(tour[place], np.arange(n))


def same_cycle(one, other):
    forward = np.roll(one, -int(np.flatnonzero(one == other[0])[0]))
    backward = np.roll(one[::-1], -int(np.flatnonzero(one[::-1] == other[0])[0]))
    return np.array_equal(forward, other) or np.array_equal(backward, other)


@given(records(least=12, most=60), st.sets(st.integers(2, 6), min_size=1))
def test_all_k_in_one_run_are_those_of_single_runs(X, ks):
    parts = fdm_partitions(X, ks)
    assert list(parts) == sorted(ks)
    for k, part in parts.items():
        assert part.k == k
        assert part == vr.microaggregate(X, k, method="fdm")


@given(scattered(least=8, most=12), st.integers(2, 4))
def test_the_cut_is_the_best_of_all_cuts(X, k):
    order = fdm.short_tour(X, Context())
    assert fdm_partitions(X, [k])[k].sse(X) == pytest.approx(twins.best_cut(X, order, k))


@pytest.mark.parametrize(("ks", "says"), [([], "at least one k"), ([1], "hides nobody"), ([99], "more than")])
def test_wrong_k(ks, says):
    with pytest.raises(vr.InputError, match=says):
        fdm_partitions(np.zeros((9, 2)), ks)


@pytest.mark.data
def test_census():
    X = vr.standardize(vr.datasets.census().to_numpy())
    losses = [vr.information_loss(X, part) for part in fdm_partitions(X, [3, 5, 10]).values()]
    assert losses == pytest.approx([5.306, 8.684, 15.904], abs=6e-4)
