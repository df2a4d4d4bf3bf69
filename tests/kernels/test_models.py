"""Every cost model against costs computed anew: what a move changes, and what annealing reports."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partitioners.points import records
from records.mixtures import mixtures
from voronym._kernels import anneal, cells, exchange, kernel, random
from voronym.partition import Partition
from voronym.records.fields import make_fields
from voronym.space import Euclidean, Mixed
from voronym.space import levels as levels_module
from voronym.space import mixed as mixed_module
from voronym.space.published import PublishedPoints, Shown
from voronym.table import Table


@kernel
def change(model, state, p, out, new, limit):
    return cells.change(model, state, p, out, new, limit)


@kernel
def shift(model, state, i, q):
    return cells.shift(model, state, i, q, cells.approach(model, state, i, q), np.inf)


@kernel
def swap(model, state, i, j, limit):
    return cells.swap(model, state, i, j, cells.approach(model, state, i, state.labels[j]), limit)


@kernel
def least_swap(model, state, i, j):
    return cells.least_swap(model, state, i, j, cells.approach(model, state, i, state.labels[j]))


@kernel
def saving(model, state, i):
    return cells.saving(model, state, i)


@kernel
def update(model, state, p, out, new):
    cells.update(model, state, p, out, new)


@kernel
def cost(model, state, p):
    return cells.cost(model, state, p)


@st.composite
def published(draw):
    """Return records that publish means and modes; with few values, so that categories tie."""
    n, columns = draw(st.integers(8, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    numbers = np.round(rng.normal(size=(n, columns)), draw(st.integers(0, 2)))
    codes = np.stack([rng.integers(3, size=n), 3 + rng.integers(2, size=n)], axis=1)
    weights, grid = rng.uniform(0.1, 2.0, 2), (np.zeros(columns), np.ones(columns))
    shown = Shown(numbers, columns, columns, *grid, codes, weights, np.ones(2, bool), numbers)
    return PublishedPoints(Euclidean(), numbers, numbers, shown)


@st.composite
def tables(draw):
    """Return records of a Euclidean or a mixed space; in some, columns have too many levels for sums.

    Others have the cost of their published values.
    """
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return draw(published())
    if kind == 1:
        return Euclidean().records(draw(records(least=8, most=30, columns=3)))
    table, schema, metrics, _ = draw(mixtures(14))
    small = draw(st.sampled_from([512, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed_module, "SMALL", small)
        patch.setattr(levels_module, "SMALL", small)
        fields, _ = make_fields(Table.of(table, schema), schema.keys, metrics)
        space = Mixed.fit(fields)
        made = space.records(space.codes)
        made.columns  # noqa: B018 - computed while the patch holds
        return made


def anew(table, rows):
    """Return the cost of one group, by the records themselves."""
    if len(rows) == 0:
        return 0.0
    own = table.subset(np.asarray(rows))
    if isinstance(own, PublishedPoints):
        return own.shown.cost()
    if "columns" in table.__dict__:
        own.columns = table.columns
    return own.cost(Partition(np.zeros(len(rows), int)))


def state_of(table, seed, groups=3):
    labels = np.random.default_rng(seed).permutation(np.arange(len(table)) % groups)
    state = cells.make(labels, groups, len(table), log=64)
    model = table.model(groups)
    cells.refresh_all(model, state, 0, groups)
    return state, model


@given(table=tables(), seed=st.integers(0, 99), data=st.data())
def test_a_move_changes_the_cost_as_said(table, seed, data):
    if len(table) < 8:
        return
    table = table.unit()
    state, model = state_of(table, seed)
    labels = state.labels.copy()
    i = data.draw(st.integers(0, len(table) - 1))
    j = data.draw(st.sampled_from(np.flatnonzero(labels != labels[i]).tolist()))
    p, q = labels[i], labels[j]
    first, second = np.flatnonzero(labels == p), np.flatnonzero(labels == q)
    before = [anew(table, first), anew(table, second)]
    near = {"abs": 1e-9 * (1 + sum(before))}
    assert cost(model, state, p) == pytest.approx(before[0], **near)
    less = anew(table, first[first != i]) - before[0]
    more = anew(table, [*second, i]) - before[1]
    here = anew(table, [*first[first != i], j]) - before[0]
    there = anew(table, [*second[second != j], i]) - before[1]
    assert change(model, state, p, i, -1, np.inf) == pytest.approx(less, **near)
    assert change(model, state, q, -1, i, np.inf) == pytest.approx(more, **near)
    assert change(model, state, p, i, j, np.inf) == pytest.approx(here, **near)
    assert shift(model, state, i, q) == pytest.approx(less + more, **near)
    assert swap(model, state, i, j, np.inf) == pytest.approx(here + there, **near)
    assert saving(model, state, i) >= -less - near["abs"]
    if getattr(table, "columns", None) is not None and table.columns.wide:
        return  # where only members' values may be centroids, one that leaves may take the best one along
    assert least_swap(model, state, i, j) <= here + there + near["abs"]
    limited = swap(model, state, i, j, here + there - 2 * near["abs"])
    assert limited == np.inf or limited == pytest.approx(here + there, **near)
    assert swap(model, state, i, j, here + there + 2 * near["abs"]) < np.inf


@given(table=tables(), seed=st.integers(0, 99), data=st.data())
def test_a_model_that_was_updated_is_one_that_was_refreshed(table, seed, data):
    if len(table) < 8:
        return
    table = table.unit()
    state, model = state_of(table, seed)
    for _ in range(4):
        i = data.draw(st.integers(0, len(table) - 1))
        p = state.labels[i]
        q = (p + 1) % 3
        if state.sizes[p] < 2:
            continue
        cells.move(state, i, q)
        update(model, state, p, i, -1)
        update(model, state, q, -1, i)
    results = [cost(model, state, p) for p in range(3)]
    wanted = [anew(table, np.flatnonzero(state.labels == p)) for p in range(3)]
    assert results == pytest.approx(wanted, abs=1e-9 * (1 + sum(wanted)))
    assert (
        sorted(state.members[state.start[0] : state.start[0] + state.sizes[0]])
        == np.flatnonzero(state.labels == 0).tolist()
    )


@given(
    table=tables(),
    seed=st.integers(0, 9999),
    temperature=st.sampled_from([0.0, 0.1, 10.0]),
    jumps=st.sampled_from([0.0, 0.3, 1.0]),
    triples=st.sampled_from([0.0, 0.25]),
)
def test_annealing_keeps_its_books(table, seed, temperature, jumps, triples):
    n, k = len(table), 2
    if n < 8:
        return
    table = table.unit()
    room = n // k
    labels = np.random.default_rng(seed).permutation(np.arange(n) % (room - 1))
    state = cells.make(labels, room, 2 * k - 1, log=256)
    model = table.model(room)
    before = cells.refresh_all(model, state, 0, room)
    near = np.argsort(table.space.cost(table.X, table.X) + np.diag(np.full(n, np.inf)), axis=1)[:, : n - 1]
    search = exchange.make(np.ascontiguousarray(near), room, 2 * seed + 1)
    heat = anneal.Heat(anneal.QUANTILES, temperature * (1 + before) / n, jumps, triples)
    total = anneal.anneal(model, state, search, k, heat, 300)
    after = cells.refresh_all(model, state, 0, room)
    assert after - before == pytest.approx(total, abs=1e-8 * (1 + before))
    used = state.sizes[state.sizes > 0]
    assert used.min() >= k
    assert used.max() <= max(2 * k - 1, np.bincount(labels).max())
    assert np.array_equal(state.sizes, np.bincount(state.labels, minlength=room))
    free = state.free[: state.count[cells.FREE]]
    assert sorted(free) == np.flatnonzero(state.sizes == 0).tolist()
    if temperature == 0.0:
        assert total <= 1e-9 * (1 + before)


@kernel
def below(state, n):
    return random.below(state, n)


@kernel
def uniform(state):
    return random.uniform(state)


def test_random_numbers_are_spread_evenly():
    state = np.array([12345], np.uint64)
    counts = np.bincount([below(state, 7) for _ in range(7000)], minlength=7)
    assert abs(counts - 1000).max() < 150
    draws = np.array([uniform(state) for _ in range(4000)])
    assert 0.0 <= draws.min() < 0.01
    assert 0.99 < draws.max() < 1.0
    assert abs(draws.mean() - 0.5) < 0.02


def test_limits_of_annealing_are_exponential():
    assert anneal.QUANTILES.mean() == pytest.approx(1.0, abs=1e-3)
    assert np.median(anneal.QUANTILES) == pytest.approx(np.log(2.0), abs=1e-3)
