"""On a GPU: groups of MDAV equal to the textbook's, and what a search by pairs promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partitioners import oracles
from voronym._cuda import device, mdav, pairs
from voronym._cuda.device import Unsuitable
from voronym.core.context import Context

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(device.missing() is not None, reason=str(device.missing())),
]
often = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw):
    n, d = draw(st.integers(20, 400)), draw(st.sampled_from([1, 2, 3, 10, 25, 60]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["normal", "heavy", "grid", "repeats", "far"]))
    if kind == "heavy":
        return np.exp(2.0 * X)
    if kind == "grid":
        return np.round(2.0 * X)
    if kind == "repeats":
        return X[rng.integers(0, n // 4, n)]
    return X + 1e5 if kind == "far" else X


@often
@given(tables(), st.integers(2, 32))
def test_mdav_is_the_textbook(X, k):
    k = min(k, len(X) // 2)
    try:
        labels = mdav.partition(X, k, Context())
    except Unsuitable:
        return  # the processor takes it
    assert np.array_equal(labels, oracles.mdav(X, k))


def cost(X, labels):
    return sum(
        float(np.square(X[labels == c] - X[labels == c].mean(axis=0)).sum()) for c in np.unique(labels)
    )


@often
@given(tables(), st.integers(2, 200), st.integers(0, 2**31 - 1))
def test_pairs_keeps_sizes_and_never_loses_more(X, k, seed):
    k = min(k, len(X) // 2)
    plan = pairs.Plan(rounds=400, stages=2)
    first = pairs.improve(X, k, Context(), seed=seed, plan=plan)
    sizes = np.bincount(first)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert np.array_equal(first, pairs.improve(X, k, Context(), seed=seed, plan=plan))
    again = pairs.improve(X, k, Context(), labels=first, seed=seed + 1, plan=plan)
    assert np.bincount(again).min() >= k
    assert cost(X, again) <= cost(X, first) * (1 + 1e-9)


def test_the_sum_of_squares_is_that_of_the_labels():
    X = np.random.default_rng(3).normal(size=(5000, 7))
    search = pairs._Search(X, 6, None, 1, pairs.Plan(rounds=500))
    search.anneal(Context())
    assert search.cost() == pytest.approx(cost(X, search.labels()), rel=1e-10)


def test_a_time_limit_is_kept():
    X = np.random.default_rng(3).normal(size=(50_000, 7))
    pairs.improve(X[:2000], 6, Context(time_limit=0.2))  # compiles
    ctx = Context(time_limit=1.5)
    pairs.improve(X, 6, ctx)
    assert ctx.spent < 1.5 * 1.1 + 1.0
