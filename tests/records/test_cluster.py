from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.calls import clusters
from records.checks import assert_within, table_1
from records.mixtures import mixtures
from voronym import datasets
from voronym._kernels import records as kernels
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.records import Clusters, Mixed, Taxonomy, make_fields
from voronym.records import cluster as module
from voronym.table import Schema, Table


def space_of(table, schema, metrics=None, **options):
    fields, _ = make_fields(Table.of(table, schema), schema.keys, metrics)
    return Mixed.fit(fields, **options)


@given(mixtures(), st.floats(0, 1), st.sampled_from([0, 1000]), st.integers(1, 5))
def test_no_two_members_differ_by_more_than_epsilon(drawn, q, exact, m):
    table, schema, metrics, columns = drawn
    space = space_of(table, schema, metrics)
    with mock.patch.object(module, "EXACT", exact):
        result = clusters(space, m=m, epsilon=q)
    epsilon = {field.name: limit for field, limit in zip(space.fields, result.epsilon, strict=True)}
    for field in space.fields:  # a limit as large as the distance of a missing value limits nothing
        if epsilon[field.name] >= field.far:
            epsilon[field.name] = np.inf
    assert_within(columns, result.partition.labels.tolist(), epsilon)


@given(mixtures(), st.sampled_from([0, 1000]))
def test_epsilon_zero_groups_equal_records_only(drawn, exact):
    table, schema, metrics, columns = drawn
    space = space_of(table, schema, metrics)
    with mock.patch.object(module, "EXACT", exact):
        result = clusters(space, m=1, epsilon=dict.fromkeys(schema.keys, 0))
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    groups = {
        label: {rows[i] for i in np.flatnonzero(result.partition.labels == label)}
        for label in range(result.partition.n_cells)
    }
    assert all(len(group) == 1 for group in groups.values())
    assert len(groups) == len(set(rows))


def test_clusters_of_small_tables_cannot_be_joined():
    table = datasets.hospital(150, seed=2).select("age", "days", "sex")
    space = space_of(table, Schema.build(table, keys=["age", "days", "sex"]))
    result = clusters(space, m=3, epsilon={"age": 10, "days": 4, "sex": 0})
    rows = np.array([*zip(table["age"], table["days"], table["sex"] == "male", strict=True)], dtype=float)
    cells = [rows[cell] for cell in result.partition.cells()]
    for i in range(len(cells)):
        for j in range(i):
            both = np.concatenate([cells[i], cells[j]])
            assert (np.ptp(both, axis=0) > [10, 4, 0]).any()


def test_the_blocks_of_large_tables_keep_the_promise_too():
    table = datasets.hospital(3000, outliers=5, seed=3).with_columns(
        lat=40 + 0.01 * np.arange(3000) % 3, lon=np.arange(3000) % 7 * 1.0
    )
    keys = ["age", "sex", "zip", "admitted", "weight", "diagnosis", "lat", "lon"]
    table = table.select(keys)
    schema = Schema.build(table, keys=keys, locations=[("lat", "lon")])
    tree = datasets.hospital_taxonomy()
    space = space_of(table, schema, {"diagnosis": Taxonomy(tree)})
    epsilon = {"age": 20, "sex": 0, "admitted": 90, "weight": 25, "diagnosis": 0.67, "lat": 300}
    result = clusters(space, m=4, epsilon=epsilon)
    assert 50 < result.partition.n_cells < 2500
    for cell in result.partition.cells():
        part = table[cell]
        assert part["age"].max() - part["age"].min() <= 20
        assert part["sex"].n_unique() == 1
        assert (part["admitted"].max() - part["admitted"].min()).days <= 90
        assert part["weight"].null_count() in (0, len(part))
        if part["weight"].null_count() == 0:
            assert part["weight"].max() - part["weight"].min() <= 25
        assert len({tree[d][1] for d in part["diagnosis"]}) == 1
        place = space.fields[-1]
        codes = np.unique(place.codes[cell])
        assert place.distance(codes[:, None], codes[None, :]).max() <= 300


def test_centroids_and_radii_are_those_of_the_members():
    table = datasets.hospital(400, seed=1).select("age", "sex", "weight")
    space = space_of(table, Schema.build(table, keys=["age", "sex", "weight"]))
    result = clusters(space, m=4, epsilon=0.4)
    assert isinstance(result, Clusters)
    for cell, rows in enumerate(result.partition.cells()):
        for k, field in enumerate(space.fields):
            away = field.distance(field.codes[rows], np.full(len(rows), result.centroids[cell, k]))
            assert result.radii[cell, k] == pytest.approx(away.max())
            sums = field.table()[:, field.codes[rows]].sum(axis=1)
            assert sums[result.centroids[cell, k]] <= sums.min() + 1e-9
    assert "400 records" in repr(result)


@pytest.mark.parametrize("exact", [0, 1000])
def test_epsilon_is_chosen_so_that_few_are_lonely(monkeypatch, exact):
    monkeypatch.setattr(module, "EXACT", exact)
    table = datasets.hospital(600, outliers=6, seed=4)
    rows = datasets.hospital_outliers(600, outliers=6, seed=4)
    keys = ["age", "sex", "nationality", "admitted"]
    space = space_of(table.select(keys), Schema.build(table.select(keys), keys=keys))
    result = clusters(space, m=4)
    sizes = result.partition.sizes
    assert sizes[sizes <= 4].sum() <= 0.05 * 600
    assert (sizes[result.partition.labels[rows]] <= 4).all()
    held = [point for point in result.curve if point.taken]
    assert all((point.small_records <= 0.05) == point.taken for point in result.curve)
    assert result.partition.n_cells == held[-1].clusters
    assert not all(point.taken for point in result.curve)  # the search went on until it failed
    assert [point.pairs for point in held] == sorted((p.pairs for p in held), reverse=True)


def test_the_papers_table():
    table = table_1()
    schema = Schema.build(table, keys=["zip", "age", "nationality"], confidential=["condition"])
    space = space_of(table, schema)
    result = clusters(space, m=1, epsilon={"zip": 20, "age": 8})
    assert result.partition.labels.tolist() == [0, 0, 0, 0, 1]
    values = [np.unique(table[name]) for name in ("zip", "age", "nationality")]
    centre = [v[level] for v, level in zip(values, result.centroids[0], strict=True)]
    assert centre == [13053, 23, "American"]
    assert result.radii[0].tolist() == [15, 6, 1]


def test_wrong_epsilons_are_named():
    table = table_1().select("age", "zip")
    space = space_of(table, Schema.build(table, keys=["age", "zip"]))
    for bad in ({"x": 1}, {"age": -1}, {"age": float("nan")}, {"age": "2"}, 2.0, True, "wide"):
        with pytest.raises(InputError, match="epsilon"):
            clusters(space, m=1, epsilon=bad)


def test_progress_is_told_and_may_stop_the_work():
    table = datasets.hospital(2000, seed=1).select("age", "days", "weight")
    space = space_of(table, Schema.build(table, keys=["age", "days", "weight"]))
    messages = []
    clusters(space, m=4, ctx=Context(progress=messages.append))
    assert len(messages) > 5
    assert all(0 <= step.done <= 1 for step in messages)

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clusters(space, m=4, ctx=Context(progress=stop))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.floats(0.5, 60), st.integers(1, 20))
@settings(deadline=None)
def test_cuts_against_a_plain_recursion(values, limit, budget):
    Z = np.array(values, dtype=float)[:, None]
    n = len(Z)
    order, labels = np.arange(n), np.full(n, -1)
    stack = np.zeros((n + 3, 2), np.int64)
    stack[0] = 0, n
    state = np.array([1, 0])
    while state[0]:
        kernels.split(Z, np.array([limit]), order, stack, labels, state, budget)

    def cut(rows):
        span = max(rows) - min(rows)
        if span <= limit:
            return [sorted(rows)]
        parts = int(np.ceil(max(span / limit, 1 + 1e-15)))
        border = min(rows) + span * ((parts // 2) / parts)
        low, high = [x for x in rows if x < border], [x for x in rows if x >= border]
        return cut(low) + cut(high)

    result = sorted(sorted(Z[labels == label, 0].tolist()) for label in range(state[1]))
    assert result == sorted(cut(Z[:, 0].tolist()))


def test_lonely_records_join_cells_that_they_fit():
    table = datasets.hospital(2500, seed=5).select("age", "days", "sex")
    space = space_of(table, Schema.build(table, keys=["age", "days", "sex"]))
    limits = np.array([15.0, 3.0, 0.0])
    alone = module.in_blocks(space, limits, 0, Context())  # nobody is lonely
    joined = module.in_blocks(space, limits, 5, Context())
    small = [int((np.bincount(x)[x] <= 5).sum()) for x in (alone, joined)]
    assert small[1] < small[0]
