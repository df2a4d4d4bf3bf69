"""Mutual information: bins, corrections and intervals, against enumeration and simulation."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from voronym.privacy import Levels, MutualInformation, PSensitive, TCloseness
from voronym.privacy.cells import count_runs
from voronym.privacy.information import estimate, expected_by_chance
from voronym.table import Table


def look(model, columns, confidential=("w",)):
    return model.measure(Table.build(pl.DataFrame(columns), keys=["key"], confidential=confidential))


def coded(codes):
    values, codes = np.unique(codes, return_inverse=True)
    return Levels("w", codes.reshape(-1).astype(np.int64), True, tuple(values.tolist()))


def of(labels, codes):
    w = coded(codes)
    return estimate(count_runs(labels, w.codes, int(labels.max()) + 1, w.size), w)


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]),
        ([0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1]),
        ([0, 1, 2, 3, 4], [0, 1, 1, 2, 2]),
        ([0, 0, 0], [0, 1, 1]),
    ],
)
def test_chance_is_the_mean_over_all_ways_to_deal_the_values_out(labels, codes):
    labels = np.array(labels)
    dealt = [of(labels, np.array(order)).plug_in for order in itertools.permutations(codes)]
    chance = expected_by_chance(np.bincount(labels), np.bincount(codes))
    assert chance == pytest.approx(np.mean(dealt), abs=1e-12)


def test_chance_in_large_classes_agrees_with_the_hypergeometric_sum():
    sizes, counts = np.array([3, 200, 797, 2000]), np.array([1, 99, 900, 2000])
    n = 3000
    x = np.arange(1, n + 1)
    expected = 0.0
    for s, q in itertools.product(sizes.tolist(), counts.tolist()):
        expected += float(hypergeom(n, q, s).pmf(x) @ (x / n * np.log(n * x / (s * q))))
    assert expected_by_chance(sizes, counts) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("classes", "size", "levels", "spread"),
    [(4, 400, 3, 1.0), (40, 25, 3, 5.0), (200, 5, 2, 1.0), (100, 5, 8, 1.0), (100, 5, 8, 1e9)],
)
def test_the_interval_covers_the_truth(classes, size, levels, spread):
    """Classes with distributions of their own, records drawn from them: the truth is known."""
    rng = np.random.default_rng(classes + levels)
    p = rng.dirichlet(np.full(levels, spread), classes)
    q = p.mean(axis=0)
    truth = float((p * np.log(p / q)).sum(axis=1).mean())
    labels = np.repeat(np.arange(classes), size)
    results = []
    for _ in range(60):
        codes = (rng.random((len(labels), 1)) > np.cumsum(p, axis=1)[labels]).sum(axis=1)
        results.append(of(labels, np.minimum(codes, levels - 1)))
    assert sum(e.low <= truth <= e.high for e in results) >= 54
    # The corrections bring it nearer to the truth, from either side.
    plug_in, corrected, excess = (
        np.mean([getattr(e, n) for e in results]) for n in ("plug_in", "corrected", "excess")
    )
    assert plug_in > corrected
    assert abs(corrected - truth) < abs(plug_in - truth)
    assert excess <= corrected + 1e-3


@pytest.mark.parametrize(("weights", "n"), [((1, 1, 1, 1), 400), ((1, 1, 1, 1), 40), ((5, 3, 1), 400)])
def test_the_interval_covers_all_there_is_to_know(weights, n):
    """W follows from the class: the truth is the entropy of the population, which no sample reaches."""
    p = np.array(weights) / sum(weights)
    truth = float(-(p * np.log(p)).sum())
    rng = np.random.default_rng(n)
    results = []
    for _ in range(100):
        codes = rng.choice(len(p), n, p=p)
        results.append(of(codes, codes))
    assert sum(e.low - 1e-12 <= truth <= e.high + 1e-12 for e in results) >= 90
    assert all(e.plug_in - 1e-12 <= e.corrected <= e.high <= math.log(len(p)) for e in results)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), min_size=1, max_size=60), st.integers(2, 9))
def test_bins_are_even_and_hide_information(rows, bins):
    labels, codes = (np.array(side) for side in zip(*rows, strict=True))
    w = coded(codes)
    cut = w.binned(bins)
    assert cut.size <= max(bins, 1)
    order = np.argsort(w.codes, kind="stable")
    assert (np.diff(cut.codes[order]) >= 0).all()  # equal values stay together, the order is kept
    # No bin has more than its share and the one value that overlaps it.
    assert cut.counts.max() <= len(codes) / bins + w.counts.max()

    def plug_in(v):
        return math.fsum(MutualInformation().judge(v).values(labels, 4))

    assert plug_in(cut) <= plug_in(w) + 1e-12


def test_bins_are_stated_and_missing_is_none_of_them():
    rng = np.random.default_rng(0)
    pay = [None, None, *rng.normal(size=998).tolist()]
    columns = {"key": (np.arange(1000) % 4).tolist(), "w": pay}
    result = look(MutualInformation(), columns)
    figures = result.detail["columns"]["w"]
    assert figures["discretisation"] == "10 bins of about equal frequency"
    assert (figures["levels"], figures["missing"]) == (11, 2)
    assert "10 bins" in str(result)
    distinct = look(MutualInformation(bins="distinct"), columns)
    assert distinct.detail["columns"]["w"]["levels"] == 999
    assert look(MutualInformation(bins=3), columns).detail["columns"]["w"]["levels"] == 4
    # Labels are never binned.
    labels = {**columns, "w": [f"v{i % 50}" for i in range(1000)]}
    assert look(MutualInformation(bins=3), labels).detail["columns"]["w"]["levels"] == 50


def test_columns_together_tell_at_least_as_much_as_each():
    rng = np.random.default_rng(1)
    key = rng.integers(0, 2, 80)
    columns = {"key": key, "w": rng.integers(0, 2, 80), "v": rng.integers(0, 2, 80)}
    columns["v"] = (key + columns["w"]) % 2  # each alone says nothing about the key's class, both all
    each = look(MutualInformation(), columns, ("w", "v"))
    both = look(MutualInformation(joint=True), columns, ("w", "v"))
    assert each.value < 0.1 < 0.6 < both.value
    assert both.detail["column"] == "w x v"
    assert set(each.detail["columns"]) == {"w", "v"}


def test_the_worst_of_several_columns_decides():
    columns = {"key": [1, 1, 2, 2], "w": ["a", "b", "a", "b"], "v": ["a", "a", "b", "b"]}
    result = look(TCloseness(0.4), columns, ("w", "v"))
    assert (result.value, result.holds, result.detail["column"]) == (0.5, False, "v")
    assert result.detail["columns"]["w"]["holds"]
    assert result.detail["columns"]["v"]["records_failing"] == 4
    assert {place["column"] for place in result.worst} == {"v"}
    assert look(TCloseness(0.4, column="w"), columns, ("w", "v")).holds


def test_worst_classes_come_worst_first_and_the_small_before_the_large():
    columns = {"key": [1] * 2 + [2] * 3 + [3] * 4 + [4] * 2, "w": list("aabbbaabbab")}
    result = look(PSensitive(2), columns)
    assert [(place["size"], place["value"]) for place in result.worst] == [(2, 1.0), (3, 1.0)]
    result = look(TCloseness(), columns)  # nothing asked: the worst of all; 5 a and 6 b in 11
    assert [place["size"] for place in result.worst] == [2, 3, 2, 4]
    assert [place["value"] for place in result.worst] == pytest.approx([6 / 11, 5 / 11, 1 / 22, 1 / 22])
