from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import entropy, wasserstein_distance

from records.calls import clusters, shuffle
from repeats import rounds
from voronym import datasets
from voronym._kernels import records as kernels
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.records import Mixed, RecordsOptions, anonymize_records, flatten, make_fields
from voronym.records.divergence import divergence, edges, histogram
from voronym.records.stir import single_valued
from voronym.table import Schema, Table


@pytest.fixture(scope="module")
def grouped():
    table = datasets.hospital(800, seed=6).select("age", "sex", "zip", "days")
    schema = Schema.build(table, keys=table.columns)
    space = Mixed.fit(make_fields(Table.of(table, schema), schema.keys)[0])
    return space, clusters(space, m=4, epsilon=0.6)


def totals(space, codes, outcome, rows, cell):
    """Return the mixed distances of rows to the centroid, by NumPy."""
    return sum(
        w * bend(field.distance(codes[rows, k], np.full(len(rows), outcome.centroids[cell, k])))
        for k, (field, bend, w) in enumerate(zip(space.fields, space.maps, space.weights, strict=True))
    )


@pytest.mark.parametrize("measure", ["kl", "emd"])
@pytest.mark.parametrize("bound", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [0, 3], [2]])
def test_shuffling_keeps_values_and_the_bound(grouped, measure, bound, columns):
    space, result = grouped
    old = space.codes
    made = shuffle(space, old, result, columns, divergence=measure, bound=bound, ctx=Context(seed=2))
    stays = [k for k in range(4) if k not in columns]
    np.testing.assert_array_equal(made.codes[:, stays], old[:, stays])
    for cell, rows in enumerate(result.partition.cells()):
        for k in columns:
            assert sorted(made.codes[rows, k]) == sorted(old[rows, k])
        before, after = totals(space, old, result, rows, cell), totals(space, made.codes, result, rows, cell)
        borders = edges(before)
        f, g = np.histogram(before, [-1, *borders, 1e9])[0], np.histogram(after, [-1, *borders, 1e9])[0]
        if measure == "kl":
            reached = entropy(f, g)
        else:
            reached = wasserstein_distance(range(len(f)), range(len(f)), f, g) / max(1, len(f) - 1)
        assert reached <= bound + 1e-12
        assert made.divergence[cell] == pytest.approx(reached, abs=1e-9)
    assert (made.codes != old).any()
    if bound == 0.2:
        assert (made.codes[:, columns] != old[:, columns]).mean() > 0.4


def test_repair_is_needed_and_works(grouped):
    space, result = grouped
    made = shuffle(space, space.codes, result, [0, 1, 2, 3], bound=0.005, ctx=Context(seed=2))
    assert (made.first > 0.005).any()
    assert (made.divergence <= 0.005).all()


def test_where_swaps_do_not_suffice_columns_go_back():
    # Two columns that exclude each other: the distances 0 and 2 never mix into 1 without a divergence.
    age = [0] * 6 + [0] * 5 + [9] * 5
    table = pl.DataFrame({"a": age, "b": age})
    schema = Schema.build(table, keys=["a", "b"])
    space = Mixed.fit(make_fields(Table.of(table, schema), schema.keys)[0])
    result = clusters(space, m=1, epsilon=1.0)
    made = shuffle(space, space.codes, result, [0, 1], bound=0.0, ctx=Context(seed=0))
    assert made.divergence.tolist() == [0.0]


def test_the_place_of_a_person_is_uniform_after_shuffling(grouped):
    """Follow one combination: over many seeds it lands on every member equally often."""
    space, result = grouped
    cell = int(np.argmin(np.abs(result.partition.sizes - 8)))
    rows = result.partition.cells()[cell]
    size = len(rows)
    landed = np.zeros((size, size))
    runs = len(rounds(150, 400))
    old = space.codes
    key = old[rows, 3]
    single = np.flatnonzero([(key == v).sum() == 1 for v in key])
    assert len(single)
    for seed in range(runs):
        made = shuffle(space, old, result, [0, 1, 2, 3], bound=0.02, ctx=Context(seed=seed))
        for i in single:
            landed[i] += made.codes[rows, 3] == key[i]
    expected = runs / size
    chi = ((landed[single] - expected) ** 2 / expected).sum(axis=1)
    assert (chi < 4 * size).all()


def test_flattening_by_hand(grouped):
    space, result = grouped
    made = flatten(space.codes, result, [1, 3])
    np.testing.assert_array_equal(made[:, [0, 2]], space.codes[:, [0, 2]])
    for cell, rows in enumerate(result.partition.cells()):
        assert (made[rows, 1] == result.centroids[cell, 1]).all()
        assert (made[rows, 3] == result.centroids[cell, 3]).all()
    single = single_valued(result, [0, 1, 2, 3])
    for cell, rows in enumerate(result.partition.cells()):
        assert single[cell].tolist() == [len(set(space.codes[rows, k])) == 1 for k in range(4)]


@given(
    hnp.arrays(np.int64, 6, elements=st.integers(0, 9)), hnp.arrays(np.int64, 6, elements=st.integers(0, 9))
)
def test_divergences_against_scipy(f, g):
    if f.sum() == 0 or g.sum() == 0:
        return
    assert divergence(f, g) == pytest.approx(entropy(f, g), abs=1e-12)
    expected = wasserstein_distance(range(6), range(6), f, g) / 5
    assert divergence(f, g, "emd") == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-17, 0.3, 1.0, 2.5]), min_size=1, max_size=60))
@settings(deadline=None)
def test_bins_are_filled_and_do_not_split_equal_distances(values):
    distances = np.array(values)
    borders = edges(distances)
    counts = histogram(distances, borders)
    assert counts.sum() == len(values)
    assert (counts > 0).all()
    assert len(counts) <= 16
    moved = histogram(distances * (1 + 1e-12), borders)
    np.testing.assert_array_equal(counts, moved)


def test_repair_bookkeeping():
    """The kernel's running histogram is that of its places."""
    rng = np.random.default_rng(0)
    D, base = rng.random((3, 40)), rng.random(40)
    total = base + D.sum(axis=0)
    borders = edges(total)
    f = histogram(total, borders)
    places = np.stack([rng.permutation(40) for _ in range(3)])
    h, sums = np.empty_like(f), np.empty(40)
    draws = np.column_stack([rng.integers(0, 3, 500), rng.integers(0, 40, (500, 2))])
    kernels.repair(D, base, places, borders, f, h, 0.0, False, draws, sums, True)
    now = base + np.take_along_axis(D, places, axis=1).sum(axis=0)
    np.testing.assert_allclose(sums, now)
    np.testing.assert_array_equal(h, histogram(now, borders))
    assert all(sorted(row) == list(range(40)) for row in places)


def test_wrong_bounds_are_refused():
    for measure, bound in (("js", 0.1), ("kl", -1), ("kl", math.nan), ("kl", True), ("emd", "x")):
        with pytest.raises(InputError):
            RecordsOptions(divergence=measure, bound=bound)


def test_with_all_columns_back_the_bound_holds_whatever_the_last_digit():
    day = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(12)]
    first = [day[0], None, day[3], day[11], None, None, day[5], day[2], None, day[0], day[0], day[2]]
    second = [day[1], None, day[0], day[2], None, None, day[4], day[2], None, None, day[1], day[2]]
    table = pl.DataFrame({"a": first, "b": second})
    schema = Schema.build(table, keys=["a", "b"])
    for seed in range(1, 6):
        made = anonymize_records(table, schema, m=1, bound=0.0, seed=seed)
        assert made.figures.divergence.largest == 0.0
