"""Columns as levels, and judges of cells: exactness, thresholds, merging, large tables."""

import datetime as dt
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.privacy import (
    DeltaDisclosure,
    Judge,
    LDiversity,
    Levels,
    MutualInformation,
    PSensitive,
    TCloseness,
    levels,
)
from voronym.privacy.cells import count_runs
from voronym.privacy.distances import equal, ordered
from voronym.privacy.level import joint
from voronym.privacy.p_sensitive import distinct
from voronym.privacy.people import of_people, pairs


def wrap(native):
    return nw.from_native(native, eager_only=True)


def column(values, **given):
    return levels(wrap(pl.DataFrame({"w": values})), "w", **given)


@pytest.mark.parametrize(
    ("values", "codes", "is_ordered"),
    [
        ([3, 1, None, 3], [1, 0, 2, 1], True),
        ([2.5, float("nan"), None, -0.0, 0.0], [1, 2, 2, 0, 0], True),
        (["b", None, "a"], [1, 2, 0], False),
        ([True, False, None], [1, 0, 2], False),
        ([dt.date(2020, 2, 1), dt.date(999, 1, 1), None], [1, 0, 2], True),
        ([dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 3)], [1, 0], True),
        ([Decimal("10.5"), Decimal("9.5"), None], [1, 0, 2], True),  # as text "10.5" would come first
        ([None, None], [0, 0], False),
        ([7, 7], [0, 0], True),
    ],
)
def test_values_ascend_and_missing_is_the_last_level(values, codes, is_ordered):
    result = column(values)
    assert result.codes.tolist() == codes
    assert result.ordered == is_ordered
    assert result.size == max(codes) + 1
    assert result.missing == (None in values)
    assert result.counts.sum() == len(values)


def test_declared_kinds_and_orders():
    assert column(["10", "9", "n/a"], kind="numeric").codes.tolist() == [1, 0, 2]
    result = column(["mid", "low", "top", None, "low"], kind="ordinal", order=["low", "mid", "high", "top"])
    assert result.codes.tolist() == [1, 0, 2, 3, 0]  # "high" does not occur and has no rank
    assert result.ordered
    with pytest.raises(InputError, match=r"column 'w' has 2 levels that its order of 1 lacks"):
        column(["mid", "low", "top"], kind="ordinal", order=["low"])
    ranked = pd.Categorical(["b", "a", "b"], categories=["b", "a"], ordered=True)
    assert levels(wrap(pd.DataFrame({"w": ranked})), "w").codes.tolist() == [0, 1, 0]


def test_objects_of_mixed_types_are_compared_by_equality():
    mixed = pd.DataFrame({"w": pd.Series([1, "1", None, 1, float("nan")], dtype=object)})
    result = levels(wrap(mixed), "w")
    assert result.codes.tolist() == [0, 1, 2, 0, 2]
    assert not result.ordered


def test_levels_show_no_value():
    assert "secret" not in repr(column(["secret", None]))


def test_an_empty_table_and_an_unknown_column_are_refused():
    with pytest.raises(InputError, match="no rows"):
        column(pl.Series([], dtype=pl.Int64))
    with pytest.raises(InputError, match="no column 'v'"):
        levels(wrap(pl.DataFrame({"w": [1]})), "v")


@pytest.mark.parametrize(
    ("required", "given", "value", "holds"),
    [
        (0.3, {}, 0.1 + 0.2, True),  # 0.30000000000000004
        (0.3, {}, 0.3 + 1e-8, False),
        (0.0, {}, 1e-17, True),
        (0.0, {}, 1e-9, False),
        (3.0, {"at_most": False}, 3 - 1e-15, True),
        (3.0, {"at_most": False}, 2.999999, False),
        (1000.0, {"at_most": False}, 1000 * (1 - 1e-11), True),
        (1000.0, {"at_most": False}, 1000 * (1 - 1e-8), False),
        (3.0, {"strict": True}, 3.0, False),
        (3.0, {"strict": True}, 3 - 1e-15, False),  # cannot be told from 3
        (3.0, {"strict": True}, 2.999999, True),
        (5.0, {}, np.inf, False),
        (None, {}, np.inf, True),
    ],
)
def test_a_threshold_that_is_met_exactly_is_met(required, given, value, holds):
    judge = Judge(column([1, 2]), ordered, required, **given)
    assert judge.holds(value) is holds
    assert judge.holds(np.array([value, value])).tolist() == [holds] * 2
    assert (judge.severity(value) == 0) is holds


def test_a_judge_keeps_its_threshold():
    judge = TCloseness(0.2).judge(column([1, 2, 3, 4]))
    assert not judge.holds(judge.values(np.array([0, 0, 1, 1]), 2)).any()
    assert judge.required == 0.2
    assert judge.holds(judge.values(np.zeros(4, np.int64), 1)).all()


def test_additive_judges_limit_the_sum():
    judge = MutualInformation(0.5).judge(column(list("abcd")))
    values = judge.values(np.array([0, 0, 1, 1]), 2)  # ln 2 in all
    assert values.sum() == pytest.approx(np.log(2))
    assert judge.additive
    assert judge.holds(values) is False
    assert judge.severity(values).tolist() == values.tolist()
    assert judge.severity(values / 2).tolist() == [0, 0]


def test_wrong_numbers_of_labels_are_refused():
    with pytest.raises(InputError, match="4 records but 3 labels"):
        TCloseness(0.2).judge(column([1, 2, 3, 4])).values(np.zeros(3, np.int64), 1)


MODELS = [
    PSensitive(2),
    LDiversity(1.5, "entropy"),
    LDiversity(2, "recursive", c=2),
    TCloseness(0.25),
    TCloseness(0.25, distance="equal"),
    TCloseness(0.25, distance="kl"),
    TCloseness(0.3, taxonomy={i: (i // 2, i // 4, "all") for i in range(8)}),
    DeltaDisclosure(0.8),
    MutualInformation(0.1),
]


@st.composite
def partitions(draw):
    n = draw(st.integers(2, 30))
    codes = draw(st.lists(st.integers(0, 7), min_size=n, max_size=n))
    cells = draw(st.integers(2, 6))
    labels = draw(st.lists(st.integers(0, cells - 1), min_size=n, max_size=n))
    return column(codes), np.array(labels), cells


@given(partitions(), st.sampled_from(MODELS), st.data())
def test_merging_never_hurts(made, model, data):
    w, labels, cells = made
    a, b = data.draw(st.lists(st.integers(0, cells - 1), min_size=2, max_size=2, unique=True))
    judge = model.judge(w)
    assert isinstance(judge, Judge)
    before = judge.values(labels, cells)
    after = judge.values(np.where(labels == b, a, labels), cells)
    slack = 1e-12
    if judge.additive:
        assert after.sum() <= before.sum() + slack
    elif judge.at_most:
        assert after[a] <= max(before[a], before[b]) + slack
    else:
        assert after[a] >= min(before[a], before[b]) - slack
    assert judge.severity(np.array([after[b]])).max() == 0  # empty: it reveals nothing


@given(partitions(), st.sampled_from(MODELS))
def test_cells_alone_together_and_with_many_empty_ones(made, model):
    w, labels, cells = made
    judge = model.judge(w)
    values = judge.values(labels, cells)
    alone = [judge.value(w.codes[labels == c]) for c in range(cells)]
    there = np.bincount(labels, minlength=cells) > 0
    np.testing.assert_allclose(values[there], np.array(alone)[there], rtol=1e-13, atol=1e-15)
    # Numbers that leave gaps: counted by sorting instead of in a full table.
    np.testing.assert_array_equal(judge.values(labels * 40_000, cells * 40_000)[::40_000], values)


@given(partitions())
def test_whole_numbers_and_floats_agree(made):
    w, labels, cells = made
    rough = Levels(w.column, w.codes, w.ordered, w.values)
    rough.__dict__["exact"] = False  # as in a table too large for whole numbers of 64 bits
    runs = count_runs(labels, w.codes, cells, w.size)
    assert rough.below.dtype == np.float64
    np.testing.assert_allclose(ordered(runs, rough), ordered(runs, w), atol=1e-12)


def test_many_levels_and_cells_need_no_full_table():
    rng = np.random.default_rng(0)
    n, m, cells = 100_000, 10_000, 20_000  # a full table would have 2e8 entries
    codes = rng.permutation(np.arange(n) % m)
    w = Levels("w", codes, True, tuple(range(m)))
    labels = rng.permutation(np.arange(n) % cells)
    q = np.bincount(codes, minlength=m) / n
    results = {f: Judge(w, f).values(labels, cells) for f in (ordered, equal, distinct)}
    for cell in (0, 77, cells - 1):
        p = np.bincount(codes[labels == cell], minlength=m) / 5
        assert results[ordered][cell] == pytest.approx(np.abs(np.cumsum(p - q)).sum() / (m - 1), abs=1e-12)
        assert results[equal][cell] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-12)
        assert results[distinct][cell] == np.count_nonzero(p)


def test_joint_levels_are_combinations():
    both = joint([column([1, 1, 2, 2]), column(["a", "b", "a", "a"])])
    assert both.size == 3
    assert both.codes.tolist() == [0, 1, 2, 2]
    assert joint([column([1, 2])]).size == 2


@pytest.mark.parametrize("several", [False, True])
def test_a_judge_of_some_records_measures_them_as_that_of_all_does(several):
    rng = np.random.default_rng(5)
    for _ in range(20):
        people, rows = 12, 30
        persons = np.concatenate([np.arange(people), rng.integers(0, people, rows - people)])
        column = Levels("ill", rng.permutation(np.arange(rows) % 4), True, ("a", "b", "c", "d"))
        model = TCloseness(0.3) if rng.random() < 0.5 else LDiversity(2)
        judge, many = model.judge(column), rows
        if several:
            own, owner = pairs(column, persons)
            judge, many = of_people(model.judge(own), owner, knows=True), people
        chosen = rng.permutation(many)[: many // 2]
        labels = rng.integers(0, 3, len(chosen))
        labels[:3] = range(3)
        of_all = np.full(many, 3)
        of_all[chosen] = labels
        some = judge.subset(chosen)
        np.testing.assert_allclose(some.values(labels, 3), judge.values(of_all, 4)[:3], rtol=1e-12)
        cell = np.flatnonzero(labels == 1)
        assert some.value(some.levels.codes[cell]) == pytest.approx(judge.values(of_all, 4)[1])
