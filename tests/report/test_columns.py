"""Counts behind the distributions: nothing is lost, whatever the column."""

import datetime as dt
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.dossier.counts import MISSING, bin_edges, distribution
from voronym.report.svg import date_ticks
from voronym.report.write import bin_names

floats = st.lists(
    st.one_of(st.floats(-1e12, 1e12), st.just(float("nan")), st.none()), min_size=1, max_size=60
)


def series(values, dtype=None):
    return nw.from_native(pl.Series("x", values, dtype=dtype, strict=False), series_only=True)


@given(floats, floats)
def test_counts_and_missing_sum_to_the_records(old, new):
    result = distribution("x", series(new, pl.Float64), series(old, pl.Float64))
    assert sum(result.after) + result.missing_after == len(new)
    assert sum(result.before) + result.missing_before == len(old)
    assert len(bin_names(result)) == len(result.after) == len(result.before)
    assert np.all(np.diff(result.edges) > 0)
    assert len(result.after) <= 60


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=80))
def test_categories_sum_to_the_records(values):
    result = distribution("x", series(values, pl.String), series(values, pl.String), kind="nominal")
    assert sum(result.after) == sum(result.before) == len(values)
    assert len(result.names) == len(result.after) <= 13
    if None in values:
        assert result.names[-1] == MISSING
        assert result.after[-1] == values.count(None)


@given(st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=40))
def test_dates_sum_to_the_records(values):
    result = distribution("x", series(values), kind="datetime")
    assert result.dates
    assert sum(result.after) == len(values)


def test_each_bin_has_what_numpy_counts():
    values = np.random.default_rng(0).normal(50, 9, 5000)
    result = distribution("x", series(values))
    assert not result.clipped
    assert result.after == np.histogram(values, result.edges)[0].tolist()


def test_a_long_tail_does_not_squeeze_the_rest():
    values = [*range(1000), 10**9]
    result = distribution("x", series(values))
    assert result.clipped
    assert sum(result.after) == 1001
    assert sum(c > 0 for c in result.after) > 10
    assert bin_names(result)[-1].endswith("and above")


def test_whole_numbers_get_a_bin_each():
    edges, _ = bin_edges(np.array([1.0, 2.0, 5.0]))
    assert edges == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def test_levels_keep_their_order():
    result = distribution(
        "x", series(["high", "low", "mid", "low"]), kind="ordinal", order=["low", "mid", "high"]
    )
    assert result.names == ["low", "mid", "high"]
    assert result.after == [2, 1, 1]


@pytest.mark.parametrize("values", [[None, None], [float("nan")] * 3, [7.0] * 4, [0.0]])
def test_all_missing_or_constant(values):
    result = distribution("x", series(values, pl.Float64))
    assert sum(result.after) + result.missing_after == len(values)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
def test_libraries_agree(make):
    columns = {"n": [1.5, None, 3.5], "c": ["a", None, "b"], "b": [True, False, True], "i": [1, 2, 3]}
    frame = nw.from_native(make(columns), eager_only=True)
    assert distribution("n", frame["n"]).missing_after == 1
    assert distribution("c", frame["c"], kind="nominal").names == ["a", "b", MISSING]
    assert sum(distribution("b", frame["b"], kind="nominal").after) == 3
    assert distribution("i", frame["i"]).after == [1, 1, 1]


@pytest.mark.parametrize(
    ("span", "pattern"),
    [(0.01, r"\.\d{6}$"), (1.0, r"\d\.\d{3}$"), (60.0, r":\d\d:\d\d$"), (3000.0, r"^[^:]*:\d\d to")],
)
def test_a_short_time_is_seen_in_detail(span, pattern):
    start = dt.datetime(2024, 5, 6, 7, 8, 9)
    times = [start + dt.timedelta(seconds=span * i / 99) for i in range(100)]
    result = distribution("t", series(times), kind="datetime")
    assert 10 <= len(result.after) <= 40
    assert sum(result.after) == 100
    assert max(result.after) <= 15
    names = bin_names(result)
    assert len(set(names)) == len(names)
    assert all(re.search(pattern, name) for name in names)
    at, labels = date_ticks(result.edges[0], result.edges[-1], 4)
    assert 2 <= len(at) <= 6
    assert len(set(labels)) == len(labels)
