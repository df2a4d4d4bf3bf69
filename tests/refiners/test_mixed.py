from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from records.mixtures import mixtures
from repeats import examples
from voronym.core.context import Context, FinishEarly
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.records.fields import make_fields
from voronym.space import Mixed
from voronym.space import levels as cells_module
from voronym.space import mixed as space_module
from voronym.table import Table

SEARCHES = [("exchange", {"iterations": 30}), ("exchange", {"iterations": 0}), ("anneal", {"sweeps": 120})]


def space_of(drawn):
    table, schema, metrics, _ = drawn
    fields, _ = make_fields(Table.of(table, schema), schema.keys, metrics)
    return Mixed.fit(fields)


def hospital(n=200, seed=3, keys=("age", "sex", "nationality", "diagnosis", "admitted")):
    table = vr.datasets.hospital(n, seed=seed).select(*keys)
    schema = vr.Schema.build(table, keys=list(keys))
    return Mixed.fit(make_fields(Table.of(table, schema), list(keys))[0])


def cost(space, part):
    return space.records(space.codes).cost(part)


def deal(n, k, seed):
    """Return random cells of k and more."""
    labels = np.repeat(np.arange(n // k), k)
    labels = np.concatenate([labels, np.zeros(n - len(labels), int)])
    return Partition(np.random.default_rng(seed).permutation(labels), k=k)


@examples(15, 90)
@given(drawn=mixtures(24), k=st.integers(2, 5), seed=st.integers(0, 9), search=st.sampled_from(SEARCHES))
def test_never_worse_than_the_start_and_k_is_kept(drawn, k, seed, search):
    space = space_of(drawn)
    n = len(space.codes)
    if n < k:
        return
    method, options = search
    start = deal(n, k, seed)
    result = vr.refine(space.codes, start, k=k, method=method, space=space, seed=seed, **options)
    assert cost(space, result) <= cost(space, start)
    assert result.sizes.min() >= k
    assert result == vr.refine(space.codes, start, k=k, method=method, space=space, seed=seed, **options)


@pytest.mark.parametrize(("method", "options"), SEARCHES)
@pytest.mark.parametrize("small", [512, 30])
def test_searches_gain_over_mdav(monkeypatch, method, options, small):
    monkeypatch.setattr(space_module, "SMALL", small)
    monkeypatch.setattr(cells_module, "SMALL", small)
    space = hospital()
    start = vr.microaggregate(space.codes, 4, method="mdav", space=space)
    result = vr.refine(space.codes, start, method=method, space=space, **options)
    assert cost(space, result) < 0.92 * cost(space, start)
    assert result.sizes.max() <= 7


def test_at_the_end_no_shift_or_swap_gains():
    space = hospital(40)
    k = 3
    result = vr.microaggregate(space.codes, k, method="exchange", space=space, neighbours=40, iterations=10)
    least = cost(space, result)
    labels = result.labels
    for i in range(40):
        for q in range(result.n_cells):
            if q != labels[i] and result.sizes[labels[i]] > k and result.sizes[q] < 2 * k - 1:
                moved = labels.copy()
                moved[i] = q
                assert cost(space, Partition(moved)) >= least - 1e-8
    for i, j in combinations(range(40), 2):
        if labels[i] != labels[j]:
            moved = labels.copy()
            moved[i], moved[j] = labels[j], labels[i]
            assert cost(space, Partition(moved)) >= least - 1e-8


def every_partition(n, k):
    """Return all labellings with cells of k and more."""
    if n == 0:
        yield []
        return

    def grow(labels, cells):
        if len(labels) == n:
            if all(labels.count(c) >= k for c in range(cells)):
                yield labels
            return
        for c in range(cells + 1):
            yield from grow([*labels, c], max(cells, c + 1))

    yield from grow([], 0)


def test_searches_find_the_optimum_of_tiny_tables():
    hits = {"exchange": 0, "anneal": 0}
    for seed in range(6):
        space = hospital(8, seed=seed)
        least = min(cost(space, Partition(labels)) for labels in every_partition(8, 2))
        for method, options in (("exchange", {}), ("anneal", {"sweeps": 300, "jumps": 0.05})):
            part = vr.microaggregate(space.codes, 2, method=method, space=space, **options)
            assert cost(space, part) >= least - 1e-9
            hits[method] += cost(space, part) <= least + 1e-9
    assert min(hits.values()) >= 5


def test_large_cells_of_the_start_are_split():
    space = hospital(60)
    result = vr.refine(
        space.codes, Partition(np.zeros(60, int), k=5), method="exchange", space=space, iterations=0
    )
    assert result.sizes.max() <= 9


def test_near_records_are_distinct_ones_and_an_equal_one():
    space = hospital(80, keys=("sex", "diagnosis", "nationality"))
    codes = space.codes
    near = space.records(codes).neighbours(6, Context())
    full = space.cost(codes, codes)
    for i in range(80):
        equal = np.flatnonzero((codes == codes[i]).all(axis=1))
        assert near[i, 0] in equal
        assert len(equal) == 1 or near[i, 0] != i
        others = codes[near[i, 1:]]
        assert len(np.unique(np.concatenate([codes[[i]], others]), axis=0)) == 1 + len(others)
        ranked = np.sort(np.unique(np.column_stack([full[i], codes]), axis=0)[:, 0])
        np.testing.assert_allclose(full[i, near[i, 1:]], ranked[1 : 1 + len(others)], atol=1e-12)


def test_a_time_limit_is_kept_and_stop_returns_the_best_so_far(processor_clock):
    space = hospital(300)
    start = vr.microaggregate(space.codes, 4, method="mdav", space=space)
    for method in ("exchange", "anneal"):
        result = vr.refine(space.codes, start, method=method, space=space, time_limit=0.3)
        assert cost(space, result) < cost(space, start)
        assert vr.refine(space.codes, start, method=method, space=space, time_limit=0.0).n == 300

    def stop(step):
        if step.done > 0.5:
            raise FinishEarly

    result = vr.refine(space.codes, start, method="anneal", space=space, sweeps=200, progress=stop)
    assert cost(space, result) <= cost(space, start)


def test_what_is_refused():
    space = hospital(30)
    start = deal(30, 3, 0)
    with pytest.raises(InputError, match=r"without coordinates: anneal, auto, .*exchange, kd, mdav, .*pairs"):
        vr.refine(space.codes, start, method="icsm", space=space)
    with pytest.raises(InputError, match="levels"):
        vr.refine(space.codes + 0.5, start, method="exchange", space=space)
    with pytest.raises(InputError, match="sweeps"):
        vr.refine(space.codes, start, method="anneal", space=space, sweeps=-1)


def test_records_that_are_all_equal_have_nothing_to_gain():
    space = hospital(30, keys=("sex",))
    same = Mixed(
        tuple(type(f)(f.columns, f.metric, f.geometry, np.zeros(30, int)) for f in space.fields),
        space.maps,
        space.weights,
    )
    for method, options in SEARCHES:
        assert cost(same, vr.microaggregate(same.codes, 3, method=method, space=same, **options)) == 0.0
