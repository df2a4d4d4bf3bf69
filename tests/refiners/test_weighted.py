"""Records with weights: what they cost by definition, by repetition and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym._kernels import cells as states
from voronym._kernels import kernel
from voronym._kernels.cells import change
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.problem import Problem

HEEDING = ("anneal", "auto", "exchange", "kd", "mdav", "pairs")
BUDGETS = {"anneal": {"sweeps": 300}, "exchange": {"iterations": 100}, "pairs": {"sweeps": 30}}


@kernel
def asked(model, cells, p, out, new):
    """The price that a search sees."""
    return change(model, cells, p, out, new, np.inf)


def by_definition(X, w, labels):
    """Weighted squares about weighted means, group by group."""
    total = 0.0
    for p in np.unique(labels):
        inside = labels == p
        mean = (w[inside, None] * X[inside]).sum(axis=0) / w[inside].sum()
        total += float((w[inside] * ((X[inside] - mean) ** 2).sum(axis=1)).sum())
    return total


def draw(seed, n, d=2, most=5):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(1, most + 1, n)


@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(4, 40), d=st.integers(1, 4), shift=st.sampled_from([0, 1e6])
)
def test_whole_weights_cost_what_repeated_records_do(seed, n, d, shift):
    X, w = draw(seed, n, d)
    X += shift
    part = Partition(np.random.default_rng(seed).permutation(np.arange(n) // 2 % max(1, n // 3)))
    problem = Problem.of(X, 2, weights=w)
    many = Problem.of(np.repeat(X, w, axis=0), 2)
    repeated = Partition(np.repeat(part.labels, w))
    assert problem.cost(part) == pytest.approx(many.cost(repeated), rel=1e-9, abs=1e-9)
    assert problem.cost(part) == pytest.approx(by_definition(X, w, part.labels), rel=1e-6, abs=1e-6)
    assert problem.total == pytest.approx(many.total, rel=1e-9)
    assert problem.loss(part) == pytest.approx(many.loss(repeated), rel=1e-9)
    np.testing.assert_allclose(problem.centroids(part), many.centroids(repeated), rtol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 12), d=st.integers(1, 4))
def test_every_change_is_what_the_definition_says(seed, n, d):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.exponential(size=n) + 1e-3
    labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    records = Problem.of(X, 2, weights=w).records
    cells, model = states.make(labels, 2, n), records.model(2)
    before = states.refresh_all(model, cells, 0, 2)
    assert before == pytest.approx(by_definition(X, w, labels), rel=1e-9, abs=1e-12)
    pairs = [(i, j) for i in np.flatnonzero(labels == 0) for j in np.flatnonzero(labels == 1)]
    for i, j in [*pairs, *((i, -1) for i in np.flatnonzero(labels == 0))]:
        new = labels.copy()
        new[i] = 1
        if j >= 0:
            new[j] = 0
        output = asked(model, cells, 0, i, j) + asked(model, cells, 1, j, i)
        assert output == pytest.approx(by_definition(X, w, new) - before, rel=1e-7, abs=1e-9)


def every_partition(n, k):
    def grow(labels, top):
        if len(labels) == n:
            if min(np.bincount(labels)) >= k:
                yield labels
            return
        for c in range(top + 1):
            yield from grow([*labels, c], max(top, c + 1))

    yield from grow([0], 1)


def test_searches_find_the_optimum_of_tiny_tables():
    hits = dict.fromkeys(("anneal", "auto", "exchange", "pairs"), 0)
    different = 0
    for seed in range(6):
        X, w = draw(seed, 8, most=30)
        listed = [np.array(item) for item in every_partition(8, 2)]
        costs = [by_definition(X, w, item) for item in listed]
        plain = [by_definition(X, np.ones(8), item) for item in listed]
        different += int(np.argmin(costs) != np.argmin(plain))
        for method in hits:
            result = vr.microaggregate(X, 2, method=method, weights=w)
            output = by_definition(X, w, result.labels)
            assert output >= min(costs) - 1e-9
            hits[method] += output <= min(costs) + 1e-9
    assert min(hits.values()) >= 5
    assert different >= 1  # weights decide which groups are best


@pytest.mark.parametrize(
    "method", ["exchange", *(pytest.param(name, marks=pytest.mark.slow) for name in ("anneal", "pairs"))]
)
def test_never_worse_than_the_start_and_far_better_than_without_weights(method):
    X, w = draw(4, 600, 3, most=2)
    w = np.where(w == 1, 1.0, 60.0)
    options = BUDGETS[method]
    start = vr.microaggregate(X, 4, method="mdav", weights=w)
    result = vr.refine(X, start, method=method, weights=w, **options)
    blind = vr.refine(X, start, method=method, **options)
    assert result.sizes.min() >= 4  # k counts records, not weights
    assert result.sizes.max() <= 7
    assert by_definition(X, w, result.labels) < 0.9 * by_definition(X, w, start.labels)
    assert by_definition(X, w, result.labels) < 0.95 * by_definition(X, w, blind.labels)
    assert result == vr.refine(X, start, method=method, weights=w, **options)
    scaled = vr.refine(X, start, method=method, weights=1e-3 * w, **options)
    assert by_definition(X, w, scaled.labels) == pytest.approx(by_definition(X, w, result.labels), rel=0.02)


def test_equal_weights_are_none_for_the_loss_and_auto_heeds_a_time_limit(processor_clock):
    X, _ = draw(1, 300)
    part = vr.microaggregate(X, 5, method="mdav", weights=np.full(300, 7.0))
    assert part == vr.microaggregate(X, 5, method="mdav")
    assert Problem.of(X, 5, weights=np.full(300, 7.0)).loss(part) == pytest.approx(
        Problem.of(X, 5).loss(part)
    )
    result = vr.microaggregate(X, 5, weights=np.arange(1, 301), time_limit=0.5)
    assert by_definition(X, np.arange(1, 301.0), result.labels) < by_definition(
        X, np.arange(1, 301.0), part.labels
    )


@pytest.mark.parametrize("method", sorted(set(vr.algorithms()) - set(HEEDING)))
def test_who_does_not_heed_weights_says_who_does(method):
    if not vr.algorithms()[method].groups:
        return
    with pytest.raises(InputError, match=f"does not use weights; these do: {', '.join(HEEDING)}"):
        vr.microaggregate(np.arange(20.0), 3, method=method, weights=np.ones(20))


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0] * 9, "one number for each of the 10"), ([0.0] + [1.0] * 9, "1 of 10 weights"),
     (["a"] * 10, "must be an array of numbers"), ([1e-20] + [1.0] * 9, "1e12")],
)  # fmt: skip
def test_weights_that_cannot_be(weights, message):
    with pytest.raises(InputError, match=message):
        vr.microaggregate(np.arange(10.0), 3, weights=weights)


def test_only_spaces_with_coordinates_have_weights():
    with pytest.raises(InputError, match="weights need a space with coordinates"):
        Problem.of(np.arange(10.0), 3, space=vr.space.Manhattan(), weights=np.ones(10))
