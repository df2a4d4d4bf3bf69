from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partitioners import oracles
from partitioners.points import records, records_of
from voronym import datasets
from voronym._kernels import tree as trees
from voronym.core import context
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners import mdav, microaggregate
from voronym.partitioners.loss import information_loss, standardize

PUBLISHED = {
    "census": {3: 5.69, 5: 9.09, 10: 14.16},
    "tarragona": {3: 16.93, 5: 22.46, 10: 33.19},
    "eia": {3: 0.48, 5: 1.67, 10: 3.84},
}


@given(records(), st.integers(2, 7))
@example(np.full((40, 2), 0.1), 3)
def test_plain_is_the_textbook(X, k):
    assert Partition(mdav.partition_plain(records_of(X), k, Context())) == Partition(oracles.mdav(X, k))


@given(records(most=400), st.integers(2, 7))
@example(np.full((400, 2), 0.1), 3)
@example(np.zeros((3000, 1)), 7)
def test_fast_is_plain(X, k):
    assert np.array_equal(
        mdav.partition_fast(records_of(X), k, Context()), mdav.partition_plain(records_of(X), k, Context())
    )


@pytest.mark.parametrize(
    ("n", "d", "k"), [(6000, 1, 5), (6000, 2, 3), (9000, 3, 10), (5000, 6, 10), (3000, 12, 4), (5000, 3, 700)]
)
def test_fast_is_plain_on_thousands_of_records(n, d, k):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    skewed = np.exp(2.0 * X)  # the mean moves fast
    grid = np.round(2.0 * X)
    for points in (X, skewed, grid):
        assert np.array_equal(
            mdav.partition_fast(records_of(points), k, Context()),
            mdav.partition_plain(records_of(points), k, Context()),
        )


@pytest.mark.parametrize("categories", [2, 7, 60])
def test_fast_is_plain_with_categories(categories):
    rng = np.random.default_rng(categories)
    chosen = rng.integers(0, categories, 5000)
    X = np.hstack([rng.normal(size=(5000, 2)), 3.0 * np.eye(categories)[chosen]])
    rows, marks = trees.sortable(X)
    together = rows[np.argsort(rows[:, -1], kind="stable"), 2:-1].argmax(axis=1)
    assert marks.tolist() == [False, False] + [True] * categories
    assert np.count_nonzero(np.diff(together)) == categories - 1  # equal categories stand together
    assert np.array_equal(
        mdav.partition_fast(records_of(X), 5, Context()), mdav.partition_plain(records_of(X), 5, Context())
    )


def test_fast_does_not_depend_on_pieces(monkeypatch):
    X = np.random.default_rng(1).normal(size=(3000, 3))
    whole = mdav.partition_fast(records_of(X), 4, Context())
    monkeypatch.setattr(context, "PIECE", 1e-9)
    steps = []
    assert np.array_equal(mdav.partition_fast(records_of(X), 4, Context(progress=steps.append)), whole)
    assert len(steps) > 1
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done > 0.99


def test_a_small_shell_changes_nothing(monkeypatch):
    X = np.random.default_rng(2).normal(size=(2000, 2))
    whole = mdav.partition_fast(records_of(X), 4, Context())
    monkeypatch.setattr(mdav, "SHELL", 2)
    assert np.array_equal(mdav.partition_fast(records_of(X), 4, Context()), whole)


def test_large_input_takes_the_fast_path(monkeypatch):
    used = []
    for path in ("plain", "fast"):

        def partition(X, k, progress, path=path):
            used.append(path)
            return np.arange(len(X)) // k

        monkeypatch.setattr(mdav, f"partition_{path}", partition)
    for n in (1000, 20_000):
        microaggregate(np.zeros((n, 2)), 10, method="mdav")
    assert used == ["plain", "fast"]


@given(records(), st.integers(2, 5))
def test_cells_have_k_to_2k_minus_1_records(X, k):
    if len(X) >= 2 * k:
        part = microaggregate(X, k, method="mdav")
        assert part.sizes.min() >= k
        assert part.sizes.max() <= 2 * k - 1


def test_progress_may_stop_the_work():
    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        microaggregate(np.random.default_rng(0).normal(size=(100, 2)), 3, method="mdav", progress=stop)


def test_another_space_is_refused():
    class Sphere:
        name = "sphere"

    with pytest.raises(InputError, match="space must be a Space"):
        microaggregate(np.zeros((10, 2)), 2, method="mdav", space=Sphere())


@pytest.mark.data
@pytest.mark.parametrize("name", ["census", "tarragona", pytest.param("eia", marks=pytest.mark.slow)])
def test_published_losses(name):
    X = standardize(getattr(datasets, name)().to_numpy())
    for k, loss in PUBLISHED[name].items():
        assert information_loss(X, microaggregate(X, k, method="mdav")) == pytest.approx(loss, abs=0.005)
        assert np.array_equal(
            mdav.partition_fast(records_of(X), k, Context()),
            mdav.partition_plain(records_of(X), k, Context()),
        )
