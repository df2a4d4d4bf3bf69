from __future__ import annotations

from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.calls import blend, clusters
from records.checks import assert_more_than, table_1
from records.mixtures import mixtures
from voronym import datasets
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.partition import Partition
from voronym.records import Mixed, make_fields
from voronym.records import cluster as module
from voronym.records.cluster import describe
from voronym.records.divergence import divergence, edges, histogram
from voronym.records.nearest import nearest
from voronym.table import Schema, Table

MODES = ["element", "centroid", "noise"]
UNITS = ["record", "cluster"]


def space_of(table, schema, metrics=None):
    fields, _ = make_fields(Table.of(table, schema), schema.keys, metrics)
    return Mixed.fit(fields)


def paper(epsilon=None):
    table = table_1()
    schema = Schema.build(table, keys=["zip", "age", "nationality"], confidential=["condition"])
    space = space_of(table, schema)
    return space, clusters(space, m=1, epsilon=epsilon or {"zip": 20, "age": 8})


def decoded(space, codes):
    values = [np.unique(table_1()[field.name]) for field in space.fields]
    return [
        v[level].item() if hasattr(v[level], "item") else v[level]
        for v, level in zip(values, codes, strict=True)
    ]


@pytest.mark.parametrize("unit", UNITS)
def test_the_papers_fifth_record_by_hand(unit):
    space, result = paper()
    made = blend(space, result, m=1, blend="centroid", unit=unit)
    assert decoded(space, made.codes[4]) == [13053, 23, "Indian"]  # the nationality is within the radius
    assert made.changed.tolist() == [1, 1, 0]
    assert made.partition.labels.tolist() == [0] * 5
    np.testing.assert_array_equal(made.codes[:4], space.codes[:4])
    for seed in range(5):
        made = blend(space, result, m=1, blend="element", unit=unit, ctx=Context(seed=seed))
        zip_, age, nation = decoded(space, made.codes[4])
        assert zip_ in (13053, 13068)
        assert age in (28, 29, 21, 23)
        assert nation == "Indian"


@given(
    mixtures(),
    st.one_of(st.none(), st.floats(0, 1)),
    st.integers(1, 8),
    st.sampled_from(MODES),
    st.sampled_from(UNITS),
    st.sampled_from([0, 1000]),
)
def test_blending_any_mixture(drawn, epsilon, m, mode, unit, exact):
    table, schema, metrics, _ = drawn
    space = space_of(table, schema, metrics)
    n = len(table)
    with mock.patch.object(module, "EXACT", exact):
        result = clusters(space, m=m, epsilon=epsilon)
    if m >= n:
        with pytest.raises(InputError, match=f"m={m}, but there are {n} records"):
            blend(space, result, m=m)
        return
    try:
        made = blend(space, result, m=m, blend=mode, unit=unit, bound=0.5, ctx=Context(seed=1))
    except GuaranteeError as error:
        if mode != "noise" or "raise the bound" not in str(error):
            raise
        return
    labels = made.partition.labels
    assert_more_than(labels.tolist(), m)
    old = space.codes
    stayed = np.setdiff1d(np.arange(n), made.moved)
    np.testing.assert_array_equal(made.codes[stayed], old[stayed])
    assert (result.partition.sizes[result.partition.labels[made.moved]] <= m).all()
    assert (made.changed == (made.codes != old).sum(axis=0)).all() or mode != "centroid"
    for cell in range(made.partition.n_cells):
        rows = np.flatnonzero(labels == cell)
        hosts = {int(result.partition.labels[i]) for i in rows}
        for k, field in enumerate(space.fields):
            assert set(made.codes[rows, k]) <= set(field.codes)  # the column's own values
        # Of some original cluster the centroid and radius hold for every member, newcomers included.
        fits = [
            all(
                field.distance(made.codes[rows, k], np.full(len(rows), result.centroids[host, k])).max()
                <= result.radii[host, k] + 1e-9
                for k, field in enumerate(space.fields)
            )
            for host in hosts
        ]
        assert any(fits)


@pytest.mark.parametrize("unit", UNITS)
def test_the_cheapest_cluster_is_taken(unit):
    table = datasets.hospital(400, outliers=5, seed=7).select("age", "days", "nationality")
    space = space_of(table, Schema.build(table, keys=table.columns))
    result = clusters(space, m=4, epsilon=0.5)
    made = blend(space, result, m=4, blend="centroid")
    large = np.flatnonzero(result.partition.sizes > 4)
    cost = space.cost(space.codes[made.moved], result.centroids[large])
    first = np.array(
        [np.flatnonzero(result.partition.labels == host)[0] for host in large]
    )  # a member of each
    went = made.partition.labels[made.moved]
    for i in range(len(made.moved)):
        chosen = np.flatnonzero(made.partition.labels[first] == went[i])
        assert cost[i, chosen].min() == pytest.approx(cost[i].min())
    whole = blend(space, result, m=4, blend="centroid", unit="cluster")
    for cell in np.flatnonzero(result.partition.sizes <= 4):  # they stay together
        assert len(set(whole.partition.labels[result.partition.labels == cell])) == 1


def test_only_values_outside_the_radius_change():
    table = datasets.hospital(500, outliers=8, seed=7).select("age", "sex", "nationality", "admitted")
    space = space_of(table, Schema.build(table, keys=table.columns))
    result = clusters(space, m=4, epsilon=0.57)
    for mode in MODES:
        made = blend(space, result, m=4, blend=mode, ctx=Context(seed=0))
        large = np.flatnonzero(result.partition.sizes > 4)
        host = large[nearest(space, space.codes[made.moved], result.centroids[large], ctx=Context()).index]
        for k, field in enumerate(space.fields):
            out = (
                field.distance(space.codes[made.moved, k], result.centroids[host, k]) > result.radii[host, k]
            )
            same = made.codes[made.moved, k] == space.codes[made.moved, k]
            assert same[~out].all()
            assert not same[out].any()


@pytest.mark.parametrize(("measure", "bound"), [("kl", 0.05), ("emd", 0.1)])
def test_noise_keeps_the_divergence_it_reports(measure, bound):
    table = datasets.hospital(900, outliers=12, seed=8).select("age", "days", "zip", "admitted")
    space = space_of(table, Schema.build(table, keys=table.columns))
    result = clusters(space, m=4, epsilon=0.6)
    made = blend(space, result, m=4, blend="noise", divergence=measure, bound=bound, ctx=Context(seed=3))
    assert made.changed.sum() > 10
    worst = np.zeros(len(space.fields))
    old = space.codes
    for cell in np.flatnonzero(result.partition.sizes > 4):
        members = np.flatnonzero(result.partition.labels == cell)
        label = made.partition.labels[members[0]]
        joined = np.setdiff1d(np.flatnonzero(made.partition.labels == label), members)
        for k, field in enumerate(space.fields):
            centre = result.centroids[cell, k]
            new = joined[made.codes[joined, k] != old[joined, k]]
            away = field.distance(old[members, k], np.full(len(members), centre))
            added = field.distance(made.codes[new, k], np.full(len(new), centre))
            f = histogram(away, edges(away))
            worst[k] = max(worst[k], divergence(f, f + histogram(added, edges(away)), measure))
    assert (worst <= bound).all()
    np.testing.assert_allclose(made.divergence, worst, atol=1e-12)
    # noise is more than the members' own values
    assert len(set(made.codes[made.moved, 0])) > 1


def test_noise_stays_inside_the_radius():
    # The cluster is 10..13 around 10; on the other side the nearest value of the column, 6.4, is too far.
    table = pl.DataFrame({"x": [10.0, 10, 10, 11, 12, 13, 6.4, 6.4, 6.4, 6.4, 6.4, 60]})
    space = space_of(table, Schema.build(table, keys=["x"]))
    part = Partition(np.array([0] * 6 + [1] * 5 + [2]))
    result = describe(space, space.codes, part, np.array([3.0]))
    values = np.unique(table["x"])
    drawn = set()
    for seed in range(30):
        made = blend(space, result, m=1, blend="noise", bound=0.5, ctx=Context(seed=seed))
        assert made.partition.labels[11] == made.partition.labels[0]
        drawn.add(float(values[made.codes[11, 0]]))
    assert drawn <= {10.0, 11.0, 12.0, 13.0}
    assert len(drawn) > 1


def test_noise_that_cannot_keep_its_bound_is_not_published():
    space, result = paper()
    with pytest.raises(
        GuaranteeError, match="noise in column 'zip' cannot keep the divergence within 0: 1 records join"
    ):
        blend(space, result, m=1, blend="noise", bound=0.0)
    assert blend(space, result, m=1, blend="noise", bound=0.2).divergence.max() > 0


def test_all_outliers_become_clusters_of_more_than_m():
    table = datasets.hospital(50, seed=1).select("age", "cost")
    space = space_of(table, Schema.build(table, keys=["age", "cost"]))
    result = clusters(space, m=3, epsilon={"age": 0, "cost": 0})
    assert result.partition.sizes.max() <= 3
    for unit in UNITS:
        made = blend(space, result, m=3, unit=unit)
        assert_more_than(made.partition.labels.tolist(), 3)
        assert made.partition.n_cells > 5  # not one heap
    everything = blend(space, result, m=49)
    assert everything.partition.n_cells == 1


def test_one_cluster_is_left_as_it_is():
    space, _ = paper()
    result = describe(space, space.codes, Partition(np.zeros(5, np.int64)), np.full(3, np.inf))
    made = blend(space, result, m=4)
    np.testing.assert_array_equal(made.codes, space.codes)
    assert len(made.moved) == 0


def test_wrong_words_are_refused():
    space, result = paper()
    with pytest.raises(InputError, match="blend must be 'element' or 'centroid' or 'noise'"):
        blend(space, result, m=1, blend="mean")
    with pytest.raises(InputError, match="'record' or 'cluster'"):
        blend(space, result, m=1, unit="table")


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_nearest_against_all_costs(seed):
    rng = np.random.default_rng(seed)
    table = datasets.hospital(40, seed=seed % 50).select("age", "sex", "weight")
    space = space_of(table, Schema.build(table, keys=["age", "sex", "weight"]))
    X, Y = space.codes[rng.integers(0, 40, 9)], space.codes[rng.integers(0, 40, 15)]
    own = rng.integers(-1, 15, 9)
    result = nearest(space, X, Y, wanted=own, ctx=Context())
    cost = space.cost(X, Y)
    np.testing.assert_allclose(result.cost, cost.min(axis=1), rtol=1e-12)
    near = cost <= cost.min(axis=1, keepdims=True) * (1 + 1e-9)
    np.testing.assert_array_equal(result.ties, near.sum(axis=1))
    np.testing.assert_array_equal(result.index, near.argmax(axis=1))
    np.testing.assert_array_equal(result.hit, [i >= 0 and near[r, i] for r, i in enumerate(own)])
