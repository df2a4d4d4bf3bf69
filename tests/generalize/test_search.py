"""Searches for narrow ranges: the cost model against plain loops, never worse than the start."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from repeats import examples, few
from voronym._kernels import cells as operations
from voronym._kernels import kernel
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.generalize.keys import RangeKeys
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.refiners.registry import REFINERS
from voronym.request.choices import ReleaseChoices
from voronym.table import Table

TREE = {f"v{i}": [f"g{i // 2}", f"h{i // 4}", "*"] for i in range(8)}


def town(n: int, seed: int, missing: bool = True) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 30, n)
    return pl.DataFrame(
        {
            "age": [None if missing and i % 11 == 0 else int(a) for i, a in enumerate(age)],
            "kind": [None if missing and i % 13 == 0 else f"v{a // 4 % 8}" for i, a in enumerate(age)],
            "town": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )


def problem_of(table: pl.DataFrame, k: int, **choices) -> tuple[Problem, RangeKeys]:
    keys = RangeKeys(
        Table.build(table, keys=table.columns),
        ReleaseChoices(hierarchies={"kind": TREE}, ends="exact", **choices),
    ).at(k)
    return Problem(keys.records, k), keys


def by_loops(table: pl.DataFrame, part: Partition) -> float:
    """Return the penalty of groups, summed over records and columns, from the table alone."""
    ages = table["age"].drop_nulls()
    span, total = ages.max() - ages.min(), 0.0
    for group in range(part.n_cells):
        own = table.filter(pl.Series(part.labels == group))
        age, kind, towns = own["age"], own["kind"], own["town"].n_unique()
        width = 0.0
        if 0 < age.null_count() < len(age):
            width = 1.0
        elif age.null_count() == 0:
            width = (age.max() - age.min()) / span if span else 0.0
        branch = 1.0
        if kind.null_count() == len(kind):
            branch = 0.0
        elif kind.null_count() == 0:
            paths = [[value, *TREE[value]] for value in kind.unique().to_list()]
            level = next(h for h in range(4) if len({path[h] for path in paths}) == 1)
            branch = (0, 1 / 7, 3 / 7, 1)[level]
        total += len(own) * (width + branch + (towns - 1) / (table["town"].n_unique() - 1))
    return total


@given(seed=st.integers(0, 10_000), n=st.integers(8, 60), k=st.integers(2, 4))
@examples(15, 100)
def test_the_cost_is_that_of_loops(seed, n, k):
    table = town(n, seed)
    if table["town"].n_unique() < 2:
        return
    problem, _ = problem_of(table, k)
    labels = np.random.default_rng(seed).permutation(np.arange(n) % max(1, n // k))
    part = Partition(labels, k=k)
    assert problem.cost(part) == pytest.approx(by_loops(table, part))


@kernel
def all_changes(model, cells, out):
    """Write what every exchange of two records would change, and what every move would."""
    n = len(cells.labels)
    for i in range(n):
        for j in range(n):
            p, q = cells.labels[i], cells.labels[j]
            out[0, i, j] = operations.change(model, cells, p, i, j, np.inf) if p != q else 0.0
            out[1, i, j] = operations.change(model, cells, q, min(-1, q), i, np.inf) if p != q else 0.0
            out[2, i, j] = operations.change(model, cells, p, i, min(-1, q), np.inf)


@pytest.mark.parametrize("seed", few(range(4), 2))
def test_changes_are_those_of_the_cost(seed):
    table = town(24, seed)
    problem, _ = problem_of(table, 3)
    labels = np.random.default_rng(seed).permutation(np.arange(24) % 6)
    model, own = problem.records.model(6), operations.make(labels, 6, 8)
    operations.refresh_all(model, own, 0, 6)
    result = np.empty((3, 24, 24))
    all_changes(model, own, result)

    def cost(rows) -> float:
        rows = np.array(rows, np.int64)
        if not len(rows):
            return 0.0
        return problem.subset(rows, k=2).records.cost(Partition(np.zeros(len(rows), np.int64)))

    for i in range(24):
        here = np.flatnonzero(labels == labels[i])
        left = [r for r in here if r != i]
        assert result[2, i, i] == pytest.approx(cost(left) - cost(here), abs=1e-9)
        for j in range(24):
            if labels[i] != labels[j]:
                there = np.flatnonzero(labels == labels[j])
                assert result[0, i, j] == pytest.approx(cost([*left, j]) - cost(here), abs=1e-9)
                assert result[1, i, j] == pytest.approx(cost([*there, i]) - cost(there), abs=1e-9)


@pytest.mark.parametrize(("name", "begin"), few([("exchange", "mondrian"), ("anneal", "mdav")], 1))
def test_searches_are_never_worse_than_their_start(name, begin):
    k = 3
    problem, _ = problem_of(town(400, 5), k)
    cost = {
        name: problem.cost(METHODS[name].partition(problem, Context()))
        for name in ("mondrian", "cuts", "mdav")
    }
    assert cost["cuts"] <= cost["mondrian"]
    start = METHODS[begin].partition(problem, Context())
    better = REFINERS[name].improve(problem, start, Context(seed=1))
    assert better.sizes.min() >= k
    assert problem.cost(better) <= cost[begin] + 1e-9


def test_what_is_minimised_is_what_is_published():
    table = town(300, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        release = vr.anonymize(
            table, keys=table.columns, k=4, space="ranges", hierarchies={"kind": TREE}, method="exchange"
        )
    stated = release.figures.certainty_penalty
    assert release.penalty.by_key["age"] <= 100.0
    keys = RangeKeys(release._evidence.table, ReleaseChoices(hierarchies={"kind": TREE})).at(4)
    part = release._evidence.partition
    spans = {
        column.name: 100 * column.penalty(*column.span(part))[part.labels].mean() for column in keys.columns
    }
    assert stated == pytest.approx(np.mean(list(spans.values())))
    for name in ("age", "kind"):  # by the texts alone
        assert release.penalty.by_key[name] == pytest.approx(spans[name])


def test_what_counts_more_is_told_more_of():
    table = town(300, 3, missing=False)
    loss = {}
    for weight in (0.2, 5.0):
        release = vr.anonymize(
            table, keys=table.columns, k=6, space="ranges", method="cuts", hierarchies={"kind": TREE},
            importance={"town": weight})  # fmt: skip
        loss[weight] = release.penalty.by_key["town"]
    assert loss[5.0] < loss[0.2]


def test_mistakes_are_told():
    table = town(60, 1)
    with pytest.raises(InputError, match="name the keys that publish a mean or a median"):
        vr.anonymize(table, keys=table.columns, space="ranges", publish="mean", method="cuts")
    with pytest.raises(InputError, match="no key"):
        vr.anonymize(table, keys=table.columns, space="ranges", importance={"x": 2}, method="cuts")


@pytest.mark.slow
@pytest.mark.skipif(not vr.datasets.available(), reason="Adult is not here: set VORONYM_DATA")
@pytest.mark.parametrize("k", [5, 50])
def test_ranges_of_adult_are_far_below_mondrian_and_uniform_coding(k):
    from benchmarks.adult_trees import COLUMNS, trees

    adult, columns = vr.datasets.adult(), COLUMNS[:8]
    given = {"keys": list(columns), "drop_undeclared": True, "k": k}
    own = {name: tree for name, tree in trees(adult, columns).items() if name != "age"}
    results = {
        name: vr.anonymize(adult, **given, space="ranges", hierarchies=own, method=name).penalty.certainty
        for name in ("mondrian", "cuts")
    }
    uniform = vr.anonymize(adult, **given, method="lattice", hierarchies=trees(adult, columns), suppress=0.05)
    assert results["cuts"] <= 0.75 * results["mondrian"]
    assert results["cuts"] < uniform.penalty.certainty
