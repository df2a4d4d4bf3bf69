from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from records.checks import TREE
from voronym._kernels import mixed as kernels
from voronym.errors import InputError
from voronym.space import Mixed, Space
from voronym.space import mixed as module
from voronym.space.field import Field
from voronym.space.mapping import DistanceMap, Spread, spread
from voronym.space.medoid import medoids
from voronym.space.metrics import Absolute, Circular, Function, Geographic, Nominal, Rank, Taxonomy

RNG = np.random.default_rng(5)


def line(values, name="x"):
    """Return a field of numbers; None is missing."""
    present = np.array([v for v in values if v is not None])
    levels, back = np.unique(present, return_inverse=True)
    codes = np.full(len(values), -1)
    codes[[v is not None for v in values]] = back
    return Field((name,), "absolute", Absolute().geometry(levels, name), codes)


def every_shape(n=30, gaps=True):
    """Return one field of each shape, with missing values."""
    rng = np.random.default_rng(3)
    many = rng.standard_normal(n)
    where = rng.uniform(-60, 60, (n, 2))
    tree = list(TREE)
    made = [
        ("line", Absolute().geometry(np.sort(many), "a"), n),
        ("circle", Circular(24).geometry(np.arange(0, 24, 24 / n), "b"), n),
        ("sphere", Geographic().geometry(where, "c"), n),
        ("labels", Nominal().geometry(list(range(n)), "d"), n),
        ("tree", Taxonomy(TREE).geometry(tree, "e"), len(tree)),
        ("table", Function(lambda a, b: (a - b) ** 2).geometry(list(range(7)), "f"), 7),
    ]
    out = []
    for name, geometry, levels in made:
        codes = rng.integers(0, levels, n)
        if gaps:
            codes[rng.random(n) < 0.2] = -1
        out.append(Field((name,), name, geometry, codes))
    return out


@pytest.mark.parametrize("small", [512, 0], ids=["tables", "formulas"])
@pytest.mark.parametrize("gaps", [True, False])
def test_kernels_agree_with_numpy(monkeypatch, small, gaps):
    monkeypatch.setattr(module, "SMALL", small)
    fields = every_shape(gaps=gaps)
    space = Mixed.fit(fields, weights={"line": 2.0, "tree": 0.0})
    for k, field in enumerate(fields):
        at = np.arange(field.levels)
        expected = field.table()
        results = [[kernels.distance(space.tables, k, a, b) for b in at] for a in at]
        np.testing.assert_allclose(results, expected, rtol=1e-12, atol=1e-9)
        bent = space.weights[k] * space.maps[k](expected)
        results = [[kernels.mapped(space.tables, k, a, b) for b in at] for a in at]
        np.testing.assert_allclose(results, bent, rtol=1e-9, atol=1e-9)
    X = space.codes
    total = sum(
        w * bend(f.distance(X[:, None, k], X[None, :, k]))
        for k, (f, bend, w) in enumerate(zip(fields, space.maps, space.weights, strict=True))
    )
    np.testing.assert_allclose(space.cost(X, X), total, rtol=1e-9, atol=1e-9)


def test_missing_values_are_far_from_all_others_and_equal_to_each_other():
    field = line([1, 5, None, 9, None])
    assert field.missing == 3
    assert field.distance(field.codes[2], field.codes[4]) == 0.0
    assert field.distance(field.codes[0], field.codes[2]) == 8.0
    assert line([4, 4, None]).far == 1.0  # also where all the others are equal
    gone = line([None, None])
    assert gone.levels == 1
    assert gone.table().tolist() == [[0.0]]


def test_the_map_gives_distances_the_shape_of_the_normal_ones():
    field = line(np.random.default_rng(0).lognormal(0, 1.5, 3000).tolist())
    result = spread(field, rng=np.random.default_rng(1))
    assert not result.exact
    assert result.pairs == 100_000
    assert result.error() == pytest.approx(math.sqrt(math.log(40) / 2e5))
    bend = DistanceMap.fit(result)
    first, other = np.random.default_rng(2).integers(0, 3000, (2, 5000))
    keep = first != other
    mapped = bend(field.distance(field.codes[first[keep]], field.codes[other[keep]]))
    assert kstest(mapped, lambda x: 2 * norm.cdf(x / math.sqrt(2)) - 1).statistic < 0.03
    raw = field.distance(field.codes[first[keep]], field.codes[other[keep]])
    order = np.argsort(raw)
    assert (np.diff(mapped[order]) >= 0).all()


def test_the_sampled_distribution_is_within_its_stated_error():
    values = np.random.default_rng(4).integers(0, 500, 4000).tolist()
    exact = spread(line(values), rng=RNG)
    assert exact.exact
    assert exact.error() == 0.0
    wide = line(
        [v + 1e-6 * i for i, v in enumerate(values)]
    )  # the same distances, nearly, but all values differ
    for seed in range(5):
        drawn = spread(wide, rng=np.random.default_rng(seed), pairs=20_000)
        at = np.arange(0, 500) + 0.5
        f = exact.cumulative[np.searchsorted(exact.distances, at) - 1]
        g = drawn.cumulative[np.searchsorted(drawn.distances, at) - 1]
        assert np.abs(f - g).max() <= drawn.error()


def test_the_exact_distribution_by_hand():
    result = spread(line([0, 0, 1, 4]), rng=RNG)  # pairs: 0, 1, 1, 4, 4, 3
    assert result.distances.tolist() == [0, 1, 3, 4]
    np.testing.assert_allclose(result.cumulative, [1 / 6, 3 / 6, 4 / 6, 1])
    assert result.quantile(0.5) == 1
    assert result.quantile(0.51) == 3
    assert result.quantile(0.0) == 0
    assert result.quantile(1.0) == 4


def test_references_of_the_map():
    halves = Spread(np.array([0.0, 2.0]), np.array([0.5, 1.0]), True, 10)
    assert DistanceMap.fit(halves, reference="uniform")(2.0) == pytest.approx(0.5)
    assert DistanceMap.fit(halves, reference=[0.0, 1.0, 2.0])(2.0) == pytest.approx(1.5)
    assert DistanceMap.fit(halves)(4.0) == pytest.approx(2 * DistanceMap.fit(halves)(2.0))  # along the chord
    for bad in ("cosine", [], [-1.0], [np.nan], [0.0, 0.0]):
        with pytest.raises(InputError):
            DistanceMap.fit(halves, reference=bad)


def test_a_column_of_one_value_adds_nothing():
    space = Mixed.fit([line([3, 3, 3], "a"), line([1, 2, 9], "b")])
    alone = Mixed.fit([line([1, 2, 9], "b")])
    np.testing.assert_array_equal(space.cost(space.codes, space.codes), alone.cost(alone.codes, alone.codes))


@given(st.data())
def test_medoids_have_the_least_sum_of_distances(data):
    fields = every_shape(12)
    field = data.draw(st.sampled_from(fields))
    n = len(field.codes)
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    labels = np.unique(labels, return_inverse=True)[1]
    m = labels.max() + 1
    result = medoids(field, field.codes, labels, m)
    table = field.table()
    for cell in range(m):
        sums = table[:, field.codes[labels == cell]].sum(axis=1)  # over all values of the column: equation 3
        assert sums[result[cell]] <= sums.min() + 1e-9


def test_medoids_of_many_values_are_the_best_of_the_members(monkeypatch):
    monkeypatch.setattr("voronym.space.medoid.SMALL", 0)
    for field in every_shape(40):
        if field.metric in ("table", "line", "labels"):
            continue
        labels = np.arange(40) % 3
        result = medoids(field, field.codes, labels, 3)
        for cell in range(3):
            members = np.unique(field.codes[labels == cell])
            sums = field.table()[np.ix_(members, field.codes[labels == cell])].sum(axis=1)
            assert result[cell] in members
            assert field.table()[result[cell], field.codes[labels == cell]].sum() == pytest.approx(sums.min())


@pytest.mark.parametrize("small", [512, 0])
def test_the_centroid_minimises_the_cost(monkeypatch, small):
    monkeypatch.setattr(module, "SMALL", small)
    space = Mixed.fit(every_shape(14))
    assert isinstance(space, Space)
    X = space.codes
    c = space.centroid(X)
    best = space.cost(c[None], X).sum()
    for k, field in enumerate(space.fields):
        tried = np.unique(X[:, k]) if small == 0 else np.arange(field.levels)
        for level in tried:
            other = c.copy()
            other[k] = level
            assert best <= space.cost(other[None], X).sum() + 1e-9


def test_without_a_reference_distances_are_added_as_they_are():
    space = Mixed.fit([line([1, 2, 9], "a"), line([0, 0, 5], "b")], reference=None, weights={"b": 2})
    assert space.cost(space.codes[:1], space.codes).tolist() == [[0, 1, 18]]


def test_what_is_no_record_is_refused():
    space = Mixed.fit([line([1, 2])])
    for bad in ([[2]], [[-1]], [[0.5]], [[0, 0]], [0]):
        with pytest.raises(InputError):
            space.cost(bad, space.codes)
    with pytest.raises(InputError, match="needs a column"):
        Mixed.fit([])
    for weights in ({"y": 1.0}, {"x": -1.0}, {"x": math.nan}, {"x": True}):
        with pytest.raises(InputError, match="weight"):
            Mixed.fit([line([1, 2])], weights=weights)
    assert "x: absolute" in repr(space)


def test_ranks_in_an_order_that_is_not_that_of_the_values():
    grade = Field(
        ("g",), "rank", Rank(["low", "mid", "high"]).geometry(["high", "low", "mid"], "g"), np.arange(3)
    )
    assert medoids(grade, grade.codes, np.zeros(3, np.int64), 1).tolist() == [2]  # the middle one
