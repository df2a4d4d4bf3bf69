from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners.points import records

PUBLISHED = {  # Mortazavi and Jalili 2015, table 2
    "census": {3: 4.85, 5: 7.78, 10: 11.93},
    "tarragona": {3: 14.81, 5: 20.69, 10: 30.70},
    "eia": {3: 0.36, 5: 0.78, 10: 2.24},
}
CASES = [
    pytest.param(name, k, marks=pytest.mark.slow if name == "eia" or k == 5 else ())
    for name, figures in PUBLISHED.items()
    for k in figures
]


@pytest.mark.data
@pytest.mark.parametrize(("name", "k"), CASES)
def test_one_run_from_mdav_is_as_good_as_published(name, k):
    X = vr.standardize(getattr(vr.datasets, name)().to_numpy())
    part = vr.microaggregate(X, k, method="icsm")
    assert vr.information_loss(X, part) <= 1.01 * PUBLISHED[name][k]
    assert part.sizes.max() < 2 * k


@given(records(least=8, most=60, columns=4), st.integers(2, 4), st.integers(0, 99), st.integers(0, 2))
def test_never_worse_and_never_below_k(X, k, seed, restarts):
    rng = np.random.default_rng(seed)
    start = vr.Partition(rng.permutation(np.arange(len(X)) % max(1, len(X) // (k + 3))), k=k)
    part = vr.refine(X, start, k=k, method="icsm", seed=seed, restarts=restarts)
    assert part.sizes.min() >= k
    assert part.sse(X) <= start.sse(X)
    assert part.sizes.max() < 2 * k or part == start
    assert part == vr.refine(X, start, k=k, method="icsm", seed=seed, restarts=restarts)


def best_neighbour(X, labels, k):
    """Return the least sum of squares after one shift or swap, by trying all."""
    best = np.inf
    n = len(X)
    for i in range(n):
        others = [(labels[j], j) for j in range(n)] + [(q, None) for q in set(labels.tolist())]
        for q, j in others:
            new = labels.copy()
            new[i] = q
            if j is not None:
                new[j] = labels[i]
            sizes = np.bincount(new)
            if sizes.min() >= k and sizes.max() < 2 * k:
                best = min(best, vr.Partition(new).sse(X))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_no_shift_or_swap_is_left(seed):
    X = np.random.default_rng(seed).normal(size=(40, 2))
    part = vr.microaggregate(X, 3, method="icsm")
    assert best_neighbour(X, part.labels, 3) >= part.sse(X) * (1 - 1e-9)


def test_restarts_help_and_rounds_limit():
    X = np.random.default_rng(6).normal(size=(120, 3))
    start = vr.microaggregate(X, 3, method="mdav")
    first, many, none = (
        vr.refine(X, start, method="icsm", **options).sse(X)
        for options in ({}, {"restarts": 6}, {"iterations": 0, "sources": 0})
    )
    assert many < first < none == start.sse(X)


def test_large_cells_are_divided():
    X = np.random.default_rng(0).normal(size=(200, 2))
    part = vr.refine(X, vr.Partition(np.zeros(200, int)), k=5, method="icsm")
    assert part.sizes.max() < 10


def test_a_time_limit_of_nothing_returns_something_valid():
    X = np.random.default_rng(0).normal(size=(500, 2))
    start = vr.microaggregate(X, 4, method="mdav")
    part = vr.refine(X, start, method="icsm", time_limit=0)
    assert part.sse(X) <= start.sse(X)


@pytest.mark.parametrize("options", [{"pool": 0}, {"restarts": -1}, {"sources": 1.5}, {"iterations": True}])
def test_bad_options(options):
    with pytest.raises(vr.InputError, match=next(iter(options))):
        vr.microaggregate(np.arange(20.0), 3, method="icsm", **options)


def test_a_bad_time_limit():
    with pytest.raises(vr.InputError, match="time_limit"):
        vr.microaggregate(np.arange(20.0), 3, method="icsm", time_limit=-1)
