from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records
from voronym._kernels import kernel, plain, scan


@kernel
def look(one, work, i, left, k):
    """Aim at a record; return the farthest one, and how many of the k nearest there are."""
    scan.aim_at(one, i)
    scan.fill_costs(one, work.alive, left, work.costs)
    scan.nearest(work, left, k)
    return scan.farthest(work, left)[0], min(left, k)


@kernel
def add_exactly(high, low, value):
    return plain.add_exactly(high, low, value)


numbers = st.floats(-1e9, 1e9, allow_subnormal=False)


@given(st.lists(numbers, min_size=1, max_size=60), st.data())
def test_running_sums_are_those_recomputed(values, data):
    """Take numbers out one by one: what remains is the sum of the rest, to some 100 bits."""
    X = np.array(values)[:, None]
    high, low = np.empty(1), np.empty(1)
    plain.start_sums(X, high, low)
    rest = list(values)
    total, error = float(high[0]), float(low[0])
    slack = Fraction(max(map(abs, values))) * len(values) / 2**100
    while rest:
        exact = sum(map(Fraction, rest))
        assert abs(Fraction(total) + Fraction(error) - exact) <= slack
        assert abs(Fraction(total) - exact) <= slack + Fraction(math.ulp(total))
        out = rest.pop(data.draw(st.integers(0, len(rest) - 1)))
        total, error = add_exactly(total, error, -out)
    assert abs(Fraction(total)) <= slack


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=200))
def test_sums_of_whole_numbers_are_exact(values):
    X = np.array(values, float)[:, None]
    high, low = np.empty(1), np.empty(1)
    plain.start_sums(X, high, low)
    assert (high[0], low[0]) == (sum(values), 0.0)


@given(records(), st.one_of(st.integers(1, 12), st.integers(60, 130)), st.data())
def test_scans(X, k, data):
    alive = np.flatnonzero(np.random.default_rng(len(X)).random(len(X)) < 0.7)
    if not len(alive):
        return
    i = data.draw(st.integers(0, len(X) - 1))
    work = scan.make_remaining(len(X), k)
    work.alive[: len(alive)] = alive
    chosen, result = look(scan.make_point_scan(X), work, i, len(alive), k)
    assert chosen == oracles.farthest(X, alive, X[i])
    assert work.costs[: len(alive)].tolist() == oracles.squared(X[alive], X[i]).tolist()
    assert work.members[:result].tolist() == oracles.nearest(X, alive, X[i], k).tolist()
