from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from partitioners import oracles, twins
from partitioners.points import records, scattered
from voronym.core.context import Context
from voronym.partition import Partition
from voronym.partitioners import _order


@given(records(least=1), st.data())
def test_the_path_goes_to_the_nearest_record_not_visited(X, data):
    first = data.draw(st.integers(0, len(X) - 1))
    assert _order.nearest_next(X, first, Context()).tolist() == twins.nearest_next(X, first).tolist()


@given(scattered(least=8, most=40), st.integers(2, 4))
def test_the_chain_of_cells(X, k):
    labels = oracles.mdav(X, k)
    order = _order.chain_cells(X, Partition(labels), Context())
    assert order.tolist() == twins.chain(X, Partition(labels).labels).tolist()


@given(records(most=60), st.integers(2, 5))
def test_every_cell_is_a_run_of_the_chain(X, k):
    part = Partition(oracles.mdav(X, k))
    order = _order.chain_cells(X, part, Context())
    assert sorted(order.tolist()) == list(range(len(X)))
    assert (np.diff(part.labels[order]) != 0).sum() == part.n_cells - 1


@given(records(least=8, most=13), st.sets(st.integers(2, 4), min_size=1), st.integers(0, 99))
def test_the_cut_is_the_best_of_all_cuts_for_every_k(X, ks, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    result = _order.cut(X, order, sorted(ks), Context())
    assert set(result) == ks
    for k, part in result.items():
        assert k <= part.sizes.min()
        assert part.sizes.max() < 2 * k
        assert (np.diff(part.labels[order]) != 0).sum() == part.n_cells - 1
        assert part.sse(X) == pytest.approx(twins.best_cut(X, order, k), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("base", ["md", "mdav"])
@given(X=records(least=8), k=st.integers(2, 4))
def test_never_worse_than_the_cells_it_was_built_from(base, X, k):
    given_, result = (vr.microaggregate(X, k, method=name) for name in (base, f"{base}-mhm"))
    assert result.sse(X) <= given_.sse(X)


@given(scattered(least=8, most=40), st.integers(2, 4))
def test_npn_mhm_is_its_twin(X, k):
    order = twins.nearest_next(X, oracles.farthest(X, np.arange(len(X)), oracles.mean(X)))
    part = vr.microaggregate(X, k, method="npn-mhm")
    assert (np.diff(part.labels[order]) != 0).sum() == part.n_cells - 1
    if len(X) < 14:
        assert part.sse(X) == pytest.approx(twins.best_cut(X, order, k))


def test_one_column_from_its_end_is_the_optimum():
    X = np.sort(np.random.default_rng(5).exponential(size=60))
    path = np.arange(60)
    best = vr.microaggregate(X, 3, method="univariate")
    assert _order.cut(X[:, None], path, [3], Context())[3].sse(X) == pytest.approx(best.sse(X))


@pytest.mark.data
@pytest.mark.parametrize(("k", "least"), [(3, 5.650), (5, 9.087), (10, 14.156)])
def test_census(k, least):
    X = vr.standardize(vr.datasets.census().to_numpy())
    part = vr.microaggregate(X, k, method="mdav-mhm")
    assert vr.information_loss(X, part) == pytest.approx(least, abs=6e-4)
