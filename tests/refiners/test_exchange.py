from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners.points import records, records_of
from refiners.test_icsm import best_neighbour
from voronym.core.context import Context
from voronym.space.points import EXACT_BELOW


@given(records(least=8, most=90, columns=4), st.integers(2, 5), st.integers(0, 99), st.integers(1, 30))
def test_never_worse_and_never_below_k(X, k, seed, neighbours):
    rng = np.random.default_rng(seed)
    start = vr.Partition(rng.permutation(np.arange(len(X)) % max(1, len(X) // (k + 3))), k=min(k, len(X)))
    k = start.k
    part, again = (
        vr.refine(X, start, k=k, method="exchange", seed=seed, neighbours=neighbours) for _ in range(2)
    )
    assert part == again
    assert part.sizes.min() >= k
    assert part.sse(X) <= start.sse(X)
    assert part.sizes.max() < 2 * k or part == start


@pytest.mark.parametrize("iterations", [0, 200])
def test_no_shift_or_swap_is_left(iterations):
    X = np.random.default_rng(1).normal(size=(40, 2))
    part = vr.microaggregate(X, 3, method="exchange", neighbours=39, iterations=iterations)
    assert best_neighbour(X, part.labels, 3) >= part.sse(X) * (1 - 1e-9)


def test_perturbations_help():
    X = np.random.default_rng(2).normal(size=(400, 3))
    losses = [
        vr.information_loss(X, vr.microaggregate(X, 4, method="exchange", iterations=i))
        for i in (0, 500, 5000)
    ]
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == 3


def test_a_cell_that_should_not_be_is_dissolved():
    X = np.r_[np.zeros(3), np.full(3, 10.0), [0.0, 0.1, 10.0]][:, None]
    start = vr.Partition([0, 0, 0, 1, 1, 1, 2, 2, 2])
    part = vr.refine(X, start, k=3, method="exchange", iterations=0)
    assert part.n_cells == 2
    assert part.sse(X) < 0.1


@pytest.mark.parametrize("n", [300, EXACT_BELOW])
def test_neighbours(n):
    X = np.random.default_rng(0).normal(size=(n, 4))
    near = records_of(X).neighbours(10, Context(), distinct=False)
    rows = np.arange(0, n, n // 100)
    distances = np.square(X[rows][:, None] - X).sum(axis=2)
    distances[np.arange(len(rows)), rows] = np.inf
    exact = np.argsort(distances, axis=1)[:, :10]
    assert not (near == np.arange(n)[:, None]).any()
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(near[rows], exact, strict=True)])
    assert shared == 10 if n < EXACT_BELOW else shared > 8


def test_many_equal_records():
    near = records_of(np.zeros((100, 2))).neighbours(5, Context(), distinct=False)
    assert near.shape == (100, 5)
    assert not (near == np.arange(100)[:, None]).any()


def test_the_time_limit_is_kept(processor_clock):
    X = np.random.default_rng(0).normal(size=(5000, 5))
    start = vr.microaggregate(X, 5, method="mdav")
    vr.refine(X[:50], vr.Partition(np.arange(50) // 5), k=5, method="exchange")  # compiled
    before = processor_clock()
    part = vr.refine(X, start, method="exchange", time_limit=1.0)  # ten times what the first gain takes
    assert processor_clock() - before < 3.5
    assert part.sse(X) < start.sse(X)
    assert vr.refine(X, start, method="exchange", time_limit=0).sse(X) <= start.sse(X)


def test_stopping_half_way_changes_nothing():
    class StopError(Exception):
        pass

    def stop(step):
        if step.done >= 0.5:
            raise StopError

    X = np.random.default_rng(0).normal(size=(2000, 3))
    before = X.copy()
    start = vr.microaggregate(X, 5, method="mdav")
    labels = start.labels.copy()
    with pytest.raises(StopError):
        vr.refine(X, start, method="exchange", progress=stop)
    assert np.array_equal(X, before)
    assert np.array_equal(start.labels, labels)


@pytest.mark.parametrize("options", [{"neighbours": 0}, {"iterations": -1}, {"neighbours": 2.5}])
def test_bad_options(options):
    with pytest.raises(vr.InputError, match=next(iter(options))):
        vr.microaggregate(np.arange(20.0), 3, method="exchange", **options)
