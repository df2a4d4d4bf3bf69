"""Buckets, the proven size, and cells with one record of each bucket."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.privacy import PSensitive, TCloseness
from voronym.privacy.enforce.first import buckets, least_size, proven_size, stratified, worst_distance
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.level import Levels


def levels_of(codes):
    codes = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Levels("pay", codes, True, tuple(range(int(codes.max()) + 1)))


def ordered_distance(cell, codes):
    """The definition, in exact fractions."""
    m = max(codes) + 1
    total = Fraction(0)
    for level in range(m - 1):
        here = Fraction(sum(c <= level for c in cell), len(cell))
        total += abs(here - Fraction(sum(c <= level for c in codes), len(codes)))
    return total / (m - 1) if m > 1 else total


@given(n=st.integers(1, 300), size=st.integers(1, 300))
def test_buckets_are_runs_of_one_record_per_cell(n, size):
    bucket, cells = buckets(n, min(size, n))
    each = n // cells
    counts = np.bincount(bucket, minlength=each + 1)
    assert each >= min(size, n)
    assert (counts[:each] == cells).all()
    assert counts[each:].sum() == n - each * cells < cells
    main = bucket[bucket < each]
    assert (np.diff(main) >= 0).all()


@given(
    seed=st.integers(0, 10_000), n=st.integers(4, 120), d=st.integers(1, 3), size=st.integers(2, 30),
    kinds=st.integers(1, 40),
)  # fmt: skip
def test_every_cell_takes_one_record_of_each_bucket(seed, n, d, size, kinds):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, kinds, n)
    order = np.argsort(codes, kind="stable")
    size = min(size, n)
    labels = stratified(rng.integers(0, 4, (n, d)).astype(float), order, size)
    bucket, cells = buckets(n, size)
    assert sorted(np.unique(labels)) == list(range(cells))
    each = n // cells
    for cell in range(cells):
        own = np.sort(bucket[labels[order] == cell])
        assert own[:each].tolist() == list(range(each))
        assert len(own) <= each + 1


@pytest.mark.parametrize(
    "codes", [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1], [0, 1, 1, 2, 2, 2]]
)
@pytest.mark.parametrize("size", [2, 3])
def test_the_worst_distance_is_reached_by_some_cell_and_exceeded_by_none(codes, size):
    """Six records: all cells that take one record of each bucket, in exact fractions."""
    bucket, cells = buckets(6, size)
    assert cells * size == 6
    choices = [[c for c, b in zip(codes, bucket, strict=True) if b == which] for which in range(size)]
    worst = max(ordered_distance(cell, codes) for cell in itertools.product(*choices))
    assert worst_distance(levels_of(codes), size) == pytest.approx(float(worst), abs=1e-12)


@given(codes=st.lists(st.integers(0, 12), min_size=3, max_size=40), size=st.integers(2, 12), data=st.data())
def test_no_cell_of_one_record_per_bucket_is_farther(codes, size, data):
    """Also where sizes do not divide n and values repeat; the ends of buckets are the worst cells."""
    levels = levels_of(codes)
    ranked = sorted(levels.codes.tolist())
    bucket, cells = buckets(len(codes), min(size, len(codes)))
    each = len(codes) // cells
    bound = worst_distance(levels, min(size, len(codes)))
    groups = [[c for c, b in zip(ranked, bucket, strict=True) if b == which] for which in range(each + 1)]
    cell = [data.draw(st.sampled_from(group)) for group in groups if group]
    if groups[each] and data.draw(st.booleans()):
        cell = [c for c, group in zip(cell, groups, strict=True) if group is not groups[each]]
    assert float(ordered_distance(cell, ranked)) <= bound + 1e-12


@pytest.mark.parametrize(("n", "t"), [(100, 0.1), (1000, 0.05), (1000, 0.02), (360, 0.13), (97, 0.2)])
def test_the_proven_size_is_the_published_one_where_values_differ_and_sizes_divide(n, t):
    published = math.ceil(n / (2 * (n - 1) * t + 1))
    proven = proven_size(levels_of(np.arange(n)), 2, t)
    if n % published == 0:
        assert proven == published
    assert worst_distance(levels_of(np.arange(n)), proven) <= t
    assert proven <= 2 * published


def test_at_the_proven_size_every_stratified_cell_is_close():
    rng = np.random.default_rng(0)
    levels = levels_of(np.round(rng.lognormal(3, 1, 2000)))
    for t in (0.05, 0.1, 0.2):
        judge = TCloseness(t).judge(levels)
        size = proven_size(levels, 3, t)
        labels = stratified(rng.normal(size=(2000, 2)), np.argsort(levels.codes), size)
        assert judge.holds(judge.values(labels, int(labels.max()) + 1)).all()


def test_like_keys_come_together():
    """Two far groups with the same confidential values: no cell mixes them."""
    X = np.repeat([[0.0], [100.0]], 60, axis=0) + np.random.default_rng(0).normal(size=(120, 1))
    codes = np.tile(np.arange(6), 20)
    labels = stratified(X, np.argsort(codes, kind="stable"), 6)
    assert not set(labels[:60]) & set(labels[60:])


def test_the_least_size_is_what_a_single_cell_needs():
    levels = Levels("c", np.arange(100) % 4, False, tuple("abcd"))
    assert least_size(Requirements([PSensitive(4).judge(levels)]), 2) == 4
    assert least_size(Requirements([TCloseness(0.0).judge(levels)]), 2) == 4
    assert least_size(Requirements([TCloseness(0.5).judge(levels)]), 2) == 2
