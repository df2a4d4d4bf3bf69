from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from records.mixtures import mixtures
from repeats import examples
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.records.fields import make_fields
from voronym.space import Euclidean, Graph, Manhattan, Mixed, Sphere
from voronym.space import levels as module
from voronym.space import mixed as space_module
from voronym.space.field import Field
from voronym.space.metrics import Absolute, Function
from voronym.table import Table


def space_of(drawn, reference="normal"):
    table, schema, metrics, _ = drawn
    fields, _ = make_fields(Table.of(table, schema), schema.keys, metrics)
    return Mixed.fit(fields, reference=reference)


def lines(*columns, metric=None, reference=None):
    """Return a space of whole numbers, one field for each column, distances as they are."""
    fields = []
    for at, column in enumerate(columns):
        levels, codes = np.unique(column, return_inverse=True)
        made = (metric or Absolute()).geometry(levels.tolist() if metric else levels, f"x{at}")
        fields.append(Field((f"x{at}",), "absolute", made, codes))
    return Mixed.fit(fields, reference=reference)


def mixed_centroids(space, codes, part):
    return space.records(codes).centres(part)


def mixed_loss(space, codes, part):
    records = space.records(codes)
    return 100 * records.cost(part) / records.total if records.total else 0.0


# ---- slow twins, written from the definitions


def centre(space, codes):
    """Return the centroid by looking at every combination of levels."""
    best = None
    for point in product(*(range(field.levels) for field in space.fields)):
        cost = space.cost(codes, [point]).sum()
        if best is None or cost < best[0] - 1e-12:
            best = cost, point
    return best


def column_centre(space, codes):
    """Return the centroid column by column."""
    out = []
    for k, single in enumerate(space.fields):
        table = space.weights[k] * space.maps[k](single.table())
        out.append(int(np.argmin(np.round(table[codes[:, k]].sum(axis=0), 12))))
    return np.array(out)


def slow_mdav(space, codes, k):
    full = space.cost(codes, codes)
    labels, left, cell = np.full(len(codes), -1), np.arange(len(codes)), 0

    def take(r):
        nonlocal left, cell
        near = left[np.argsort(full[r, left], kind="stable")[:k]]
        labels[near] = cell
        cell += 1
        left = left[labels[left] < 0]

    while len(left) >= 2 * k:
        both = len(left) >= 3 * k
        off = space.cost(codes[left], [column_centre(space, codes[left])])[:, 0]
        r = left[np.argmax(off)]
        take(r)
        if both:
            take(left[np.argmax(full[r, left])])
    labels[left] = cell
    return labels


def slow_vmdav(space, codes, k, gamma):
    full = space.cost(codes, codes)
    order = np.argsort(-space.cost(codes, [column_centre(space, codes)])[:, 0], kind="stable")
    labels, left, cell = np.full(len(codes), -1), np.arange(len(codes)), 0
    while len(left) >= k:
        r = next(i for i in order if labels[i] < 0)
        own = list(left[np.argsort(full[r, left], kind="stable")[:k]])
        labels[own] = cell
        left = left[labels[left] < 0]
        while len(own) < 2 * k - 1 and len(left):
            inside = full[np.ix_(own, left)].min(axis=0)
            u = left[np.argmin(inside)]
            others = left[left != u]
            outside = full[u, others].min() if len(others) else np.inf
            if not inside.min() < gamma * outside:
                break
            labels[u] = cell
            own.append(u)
            left = others
        cell += 1
    if len(left):
        middles = [column_centre(space, codes[labels == c]) for c in range(cell)]
        labels[left] = np.argmin(space.cost(codes[left], middles), axis=1)
    return labels


def sum_free(space):
    """Say whether costs are such that sums in another order give the same bits: multiples of a power of 2."""
    return all((space.maps[k](single.table()) * 64 % 1 == 0).all() for k, single in enumerate(space.fields))


# ---- centroids and costs


@given(drawn=mixtures(8))
def test_the_centroid_is_the_best_of_all_combinations_of_levels(drawn):
    space = space_of(drawn)
    if np.prod([field.levels for field in space.fields], dtype=float) > 3000:
        return
    least, _ = centre(space, space.codes)
    result = mixed_centroids(space, space.codes, Partition(np.zeros(len(space.codes), int)))
    assert result.total == pytest.approx(least, abs=1e-9)
    assert space.cost(space.codes, result.levels).sum() == pytest.approx(result.total, abs=1e-9)


@given(drawn=mixtures(20), seed=st.integers(0, 99))
def test_centroids_of_cells_agree_with_those_of_the_space(drawn, seed):
    space = space_of(drawn)
    part = Partition(np.random.default_rng(seed).integers(0, 3, len(space.codes)))
    result = mixed_centroids(space, space.codes, part)
    for cell, rows in enumerate(part.cells()):
        own = space.codes[rows]
        assert result.costs[cell].sum() == pytest.approx(
            space.cost(own, [space.centroid(own)]).sum(), abs=1e-9
        )
        assert result.costs[cell].sum() == pytest.approx(
            space.cost(own, result.levels[[cell]]).sum(), abs=1e-9
        )


def test_a_cell_by_hand():
    space = lines([20, 21, 50, 52, 90])
    result = mixed_centroids(space, space.codes, Partition([0, 0, 0, 1, 1]))
    assert result.levels[:, 0].tolist() == [1, 3]  # 21 and 52: the median, and the lower of two
    assert result.costs[:, 0].tolist() == [30.0, 38.0]
    # to 50 for all: 30 + 29 + 0 + 2 + 40
    assert mixed_loss(space, space.codes, Partition([0, 0, 0, 1, 1])) == pytest.approx(100 * 68 / 101)
    assert mixed_loss(lines([3, 3]), [[0], [0]], Partition([0, 0])) == 0.0


def test_columns_with_many_levels_take_the_values_of_members(monkeypatch):
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 50, 60), rng.integers(0, 9, 60)
    few = lines(x, y, reference="normal")
    part = vr.microaggregate(few.codes, 4, method="mdav", space=few)
    exact = mixed_centroids(few, few.codes, part)
    monkeypatch.setattr(space_module, "SMALL", 10)
    monkeypatch.setattr(module, "SMALL", 10)
    many = Mixed(few.fields, few.maps, few.weights)
    assert many.records(many.codes).columns.at.tolist() == [-1, 0]
    result = mixed_centroids(many, many.codes, part)
    np.testing.assert_allclose(result.costs[:, 1], exact.costs[:, 1])
    for cell, rows in enumerate(part.cells()):
        own = many.codes[rows]
        by_member = [many.cost(own[:, :1].repeat(2, 1) * [1, 0], [[v, 0]]).sum() for v in own[:, 0]]
        assert result.costs[cell, 0] == pytest.approx(min(by_member))
        assert result.levels[cell, 0] in own[:, 0]


# ---- MDAV and V-MDAV


@given(
    columns=st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(st.integers(0, 12), min_size=d, max_size=d), min_size=4, max_size=30)
    ),
    k=st.integers(2, 5),
    gamma=st.sampled_from([0.0, 0.2, 1.0, 1.5]),
)
def test_labels_are_those_of_the_slow_twins(columns, k, gamma):
    X = np.array(columns)
    space = lines(*X.T)
    assert sum_free(space)
    k = min(k, len(X))
    if len(X) < 2 * k:
        return
    part = vr.microaggregate(space.codes, k, method="mdav", space=space)
    assert part == Partition(slow_mdav(space, space.codes, k))
    part = vr.microaggregate(space.codes, k, method="vmdav", space=space, gamma=gamma)
    assert part == Partition(slow_vmdav(space, space.codes, k, gamma))


def test_one_column_of_numbers_gives_the_cells_of_the_euclidean_method():
    """With an odd number of cells both ends are cut off each time; median or mean makes no difference."""
    rng = np.random.default_rng(4)
    for k, pairs in ((2, 5), (3, 4), (5, 3)):
        x = rng.permutation(np.cumsum(rng.integers(1, 1000, 2 * k * pairs + k + 1)))
        space = lines(x)
        ours = vr.microaggregate(space.codes, k, method="mdav", space=space)
        assert ours == vr.microaggregate(x.astype(float), k, method="mdav", space=Euclidean())


def test_squared_distances_give_the_cells_of_the_euclidean_method():
    """A mirrored table: its mean is a level of every column, and stays one."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        half = rng.permutation(2001)[:24].reshape(12, 2) - 1000
        X = np.concatenate([half, -half, [[0, 0]]])
        space = lines(*X.T, metric=Function(lambda a, b: (float(a) - float(b)) ** 2))
        first = vr.microaggregate(space.codes, 8, method="vmdav", space=space, gamma=0.0)
        assert first == vr.microaggregate(X.astype(float), 8, method="vmdav", gamma=0.0)


def test_a_column_of_weight_zero_or_of_one_value_changes_nothing():
    rng = np.random.default_rng(1)
    x, y, z = rng.integers(0, 40, 50), rng.integers(0, 5, 50), np.full(50, 7)
    alone = lines(x, y)
    for method, options in (("mdav", {}), ("vmdav", {}), ("exchange", {"iterations": 20})):
        expected = vr.microaggregate(alone.codes, 4, method=method, space=alone, **options)
        more = lines(x, y, z)
        assert vr.microaggregate(more.codes, 4, method=method, space=more, **options) == expected
        off = Mixed.fit(lines(x, y, rng.integers(0, 9, 50)).fields, weights={"x2": 0.0}, reference=None)
        again = vr.microaggregate(off.codes, 4, method="mdav", space=off)
        assert again == vr.microaggregate(alone.codes, 4, method="mdav", space=alone)


@examples(15, 90)
@given(
    drawn=mixtures(24),
    k=st.integers(2, 6),
    method=st.sampled_from(["auto", "mdav", "vmdav", "exchange", "anneal"]),
)
def test_k_is_kept_for_any_mixture(drawn, k, method):
    space = space_of(drawn)
    n = len(space.codes)
    if n < 2 * k:
        return
    options = {"exchange": {"iterations": 5}, "anneal": {"sweeps": 120}}.get(method, {})
    messages = []

    def run():
        tell = lambda step: messages.append(step.done)  # noqa: E731
        return vr.microaggregate(space.codes, k, method=method, space=space, progress=tell, **options)

    part = run()
    assert part.sizes.min() >= k
    assert part.sizes.max() <= (3 * k - 2 if method == "vmdav" else 2 * k - 1)
    assert run() == part
    assert all(0 <= share <= 1 for share in messages)


def test_gamma_best_is_the_best_of_all():
    space = lines(*np.random.default_rng(6).integers(0, 30, (2, 60)))
    best = vr.microaggregate(space.codes, 3, method="vmdav", space=space, gamma="best")
    costs = [
        mixed_loss(
            space, space.codes, vr.microaggregate(space.codes, 3, method="vmdav", space=space, gamma=g / 10)
        )
        for g in range(21)
    ]
    assert mixed_loss(space, space.codes, best) == min(costs)


def test_where_the_work_is_cut_makes_no_difference(monkeypatch):
    space = lines(*np.random.default_rng(6).integers(0, 30, (3, 200)))
    methods = ("mdav", "vmdav")
    whole = [vr.microaggregate(space.codes, 3, method=name, space=space) for name in methods]

    def crumbs(ctx, work, *, budget):
        del ctx, budget
        while work(1) < 1.0:
            pass

    monkeypatch.setattr(Context, "pieces", crumbs)
    assert [vr.microaggregate(space.codes, 3, method=name, space=space) for name in methods] == whole


# ---- what is refused


@pytest.mark.parametrize("method", sorted(vr.algorithms()))
def test_other_methods_say_who_accepts_a_mixed_space(method):
    space = lines(np.arange(12))
    chosen = vr.algorithms()[method]
    if chosen.anywhere:
        return
    with pytest.raises(InputError, match=r"without coordinates: anneal, auto, .*exchange, kd, mdav"):
        vr.microaggregate(space.codes, 3, method=method, space=space)


@pytest.mark.parametrize("method", sorted(vr.algorithms()))
@pytest.mark.parametrize(
    "space", [Manhattan(), Graph([(i, i + 1) for i in range(12)])], ids=["city", "graph"]
)
def test_on_a_graph_a_method_serves_or_says_which_do(method, space):
    X = np.arange(12.0)[:, None]
    if vr.algorithms()[method].model_free:
        assert vr.microaggregate(X, 3, method=method, space=space).sizes.min() >= 3
        return
    with pytest.raises(
        InputError, match=rf"'{method}' does not work in .*these do: cuts, kd, mondrian, pcl$"
    ):
        vr.microaggregate(X, 3, method=method, space=space)


def test_icsm_is_refused_on_a_sphere_and_other_searches_are_named():
    space = Sphere()
    X = space.from_degrees(np.linspace(41.0, 42.0, 12), np.linspace(1.0, 2.0, 12) ** 2)
    start = vr.microaggregate(X, 3, method="mdav", space=space)
    for ask in (
        lambda: vr.microaggregate(X, 3, method="icsm", space=space),
        lambda: vr.refine(X, start, k=3, method="icsm", space=space),
    ):
        with pytest.raises(InputError, match=r"'icsm' needs groups .* Sphere.*; try 'exchange'"):
            ask()
    assert vr.refine(X, start, k=3, method="exchange", space=space).sizes.min() >= 3


def test_other_spaces_and_other_records_are_refused():
    space = lines(np.arange(12))
    with pytest.raises(InputError, match="'mdav' does not work in Manhattan"):
        vr.microaggregate(space.codes, 3, method="mdav", space=Manhattan())
    with pytest.raises(InputError, match="levels"):
        vr.microaggregate(space.codes + 0.5, 3, method="mdav", space=space)
    with pytest.raises(InputError, match="of 3 records"):
        mixed_centroids(space, space.codes, Partition([0, 0, 0]))
    with pytest.raises(InputError, match="gamma"):
        vr.microaggregate(space.codes, 3, method="vmdav", space=space, gamma=-1)


def test_a_table_of_mixed_records_keeps_the_type_of_its_columns():
    table = pl.DataFrame({"age": [30, 31, 70, 71], "sex": ["f", "f", "m", "m"]})
    release = vr.anonymize(table, keys=["age", "sex"], k=2, space="mixed", method="mdav")
    assert sorted(release.table.rows()) == [(30, "f"), (30, "f"), (70, "m"), (70, "m")]
    assert release.table.schema == table.schema
