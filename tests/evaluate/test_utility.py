"""Utility figures: by hand, against NumPy, and whatever the order of rows."""

import json
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from repeats import examples
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.evaluate import utility
from voronym.evaluate.columns import correlations, wasserstein
from voronym.table.schema import Schema

BEFORE = pl.DataFrame(
    {
        "age": [20, 30, 60, 70],
        "sex": ["f", "m", "m", None],
        "pay": [1.0, 2.0, 3.0, 6.0],
        "name": ["a", "b", "c", "d"],
    }
)
AFTER = pl.DataFrame({"age": [25, 25, 65, 65], "sex": ["m", "m", "m", "m"], "pay": [1.0, 2.0, 3.0, 6.0]})
SCHEMA = Schema.build(BEFORE, keys=["age", "sex"], confidential=["pay"], identifiers=["name"])


def test_columns_by_hand():
    result = utility(BEFORE, AFTER, SCHEMA)
    assert [c.name for c in result.columns] == ["age", "sex", "pay"]
    age = result["age"]
    assert (age.mean_before, age.mean_after) == (45.0, 45.0)
    # deviations 25, 15, 15, 25: variance 425; after 20 each: variance 400
    assert age.sd_before == pytest.approx(np.sqrt(425))
    assert age.variance_ratio == pytest.approx(400 / 425)
    # sorted values differ by 5 each
    assert age.wasserstein == pytest.approx(5 / np.sqrt(425))
    assert age.quantiles_before[50] == 45.0
    assert age.quantiles_after[5] == 25.0
    sex = result["sex"]
    # shares f 1/4, m 1/2, missing 1/4 against m 1: half of 1/4 + 1/2 + 1/4
    assert sex.total_variation == pytest.approx(0.5)
    # 1 - sum of sqrt(p q) = 1 - sqrt(1/2)
    assert sex.hellinger == pytest.approx(np.sqrt(1 - np.sqrt(0.5)))
    counts = (sex.categories_before, sex.categories_after, sex.categories_lost, sex.categories_new)
    assert counts == (2, 1, 1, 0)
    assert (sex.missing_before, sex.missing_after) == (0.25, 0.0)
    assert result["pay"].wasserstein == 0.0
    assert result["pay"].distance == 0.0
    with pytest.raises(KeyError):
        result["name"]


def test_correlations_by_hand():
    result = utility(BEFORE, AFTER, SCHEMA).correlation
    assert result.names == ("age", "pay")
    before = np.corrcoef(BEFORE["age"], BEFORE["pay"])[0, 1]
    after = np.corrcoef(AFTER["age"], AFTER["pay"])[0, 1]
    assert result.before[0][1] == pytest.approx(before)
    assert result.max_change == result.mean_change == pytest.approx(abs(before - after))


def test_information_loss_by_hand():
    schema = Schema.build(BEFORE, keys=["age"], drop_undeclared=True)
    after = AFTER.select("age")
    # SSE 4 x 25, SST 4 x 425
    assert utility(BEFORE, after, schema, aligned=True).information_loss == pytest.approx(100 / 17)
    assert utility(BEFORE, after, schema).information_loss is None
    # released row r came from original row order[r]
    order = np.array([2, 0, 3, 1])
    result = utility(BEFORE, after[order], schema, aligned=order)
    assert result.information_loss == pytest.approx(100 / 17)
    assert result.loss_by_key == {"age": pytest.approx(100 / 17)}
    wrong = utility(BEFORE, after[order], schema, aligned=True)
    assert wrong.information_loss > 50


def test_a_copy_loses_nothing():
    result = utility(BEFORE, BEFORE, SCHEMA, aligned=True)
    assert result.information_loss == 0.0
    assert result.correlation.max_change == 0.0
    assert result.pmse.ratio == pytest.approx(0.0, abs=1e-9)
    assert all(c.distance == 0.0 for c in result.columns)


def test_everything_at_its_mean_loses_everything():
    before = pl.DataFrame({"a": [1.0, 2.0, 6.0], "b": [5.0, 5.0, 5.0]})
    after = pl.DataFrame({"a": [3.0, 3.0, 3.0], "b": [5.0, 5.0, 5.0]})
    result = utility(before, after, Schema.build(before, keys=["a", "b"]), aligned=True)
    assert result.information_loss == pytest.approx(100.0)
    assert result["a"].variance_ratio == 0.0
    assert result["b"].variance_ratio is None
    assert result.loss_by_key["b"] == 0.0
    assert result.correlation.max_change is None


mixed = st.fixed_dictionaries(
    {
        "n": st.none() | st.floats(-9, 9).map(lambda v: round(v, 2)),
        "i": st.integers(0, 5),
        "s": st.sampled_from(["a", "b", "c", None]),
    }
)


@examples(12, 100)
@given(st.lists(mixed, min_size=4, max_size=15), st.lists(mixed, min_size=4, max_size=15), st.randoms())
def test_order_index_and_library_change_nothing(before, after, random):
    types = {"n": pl.Float64, "i": pl.Int64, "s": pl.String}
    a, b = pl.DataFrame(before, schema=types), pl.DataFrame(after, schema=types)
    schema = Schema.build(a, keys=["n", "i"], other=["s"])
    expected = utility(a, b, schema).to_dict()
    rows, lines = list(range(len(a))), list(range(len(b)))
    random.shuffle(rows)
    random.shuffle(lines)
    other = a[rows].to_pandas().set_index(pd.Index(["same"] * len(a)))
    result = utility(other, b[lines].to_arrow(), schema).to_dict()
    assert_close(result, expected)
    json.dumps(result, allow_nan=False)


def assert_close(a, b, path=""):
    if isinstance(a, dict):
        assert a.keys() == b.keys(), path
        for key in a:
            assert_close(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_close(x, y, f"{path}[{i}]")
    elif isinstance(a, float) and isinstance(b, float):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-8), path
    else:
        assert a == b, path


@pytest.mark.parametrize("order", list(permutations(range(5)))[::7])
def test_a_column_that_is_constant_over_common_rows_has_no_correlation(order):
    X = np.array([[np.nan, 0], [np.nan, 1], [0, 1], [0, 1], [1, 1]], float)[list(order)]
    assert np.isnan(correlations(list(X.T))[0, 1])


@pytest.mark.parametrize("block", [7, 65_536])
def test_pairwise_correlations_equal_numpy_on_complete_rows(block, monkeypatch):
    monkeypatch.setattr("voronym.evaluate.columns.BLOCK", block)
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4)) + 1e6
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = 7.0
    result = correlations(list(X.T))
    for i in range(3):
        for j in range(3):
            both = ~np.isnan(X[:, i]) & ~np.isnan(X[:, j])
            assert result[i, j] == pytest.approx(np.corrcoef(X[both, i], X[both, j])[0, 1], abs=1e-6)
    assert np.isnan(result[3]).all()


@given(st.lists(st.floats(-99, 99), min_size=1), st.lists(st.floats(-99, 99), min_size=1))
def test_wasserstein_equals_scipy(x, y):
    assert wasserstein(np.array(x), np.array(y)) == pytest.approx(wasserstein_distance(x, y), abs=1e-9)


def test_ordinal_dates_infinities_and_other_types_after_masking():
    before = pl.DataFrame(
        {
            "day": pl.Series(["2020-01-01", "2020-01-03", None]).str.to_date(),
            "size": ["S", "M", "L"],
            "pay": [1.0, float("inf"), 3.0],
            "count": [1, 2, 3],
        }
    )
    after = pl.DataFrame(
        {
            "day": pl.Series(["2020-01-02 12:00", "2020-01-02 12:00", None]).str.to_datetime(
                "%Y-%m-%d %H:%M"
            ),
            "size": pl.Series(["M", "M", "M"], dtype=pl.Categorical),
            "pay": [1.0, 2.0, 3.0],
            "count": [1.5, 1.5, 3.0],
        }
    )
    schema = Schema.build(
        before, keys=["day", "size", "count"], other=["pay"], orders={"size": ["S", "M", "L"]}
    )
    result = utility(before, after, schema, aligned=True)
    assert result["day"].mean_after - result["day"].mean_before == pytest.approx(0.5 * 86_400)
    assert result["size"].categories_lost == 2
    assert result["pay"].mean_before == 2.0
    assert result["count"].mean_after == 2.0
    assert "mean 2020-01-02T00:00:00 -> 2020-01-02T12:00:00, sd 1 -> 0 days" in str(result)
    assert "size" in result.correlation.names
    assert 0 < result.information_loss < 100
    json.dumps(result.to_dict(), allow_nan=False)


def test_suppressed_and_generalised_values_are_compared_all_the_same():
    before = pl.DataFrame({"age": [20, 30, 60, 70], "zip": ["08", "08", "09", "10"]})
    after = pl.DataFrame({"age": ["20-30", "20-30", "60-70", "60-70"], "zip": ["08", "08", None, "*"]})
    result = utility(before, after, Schema.build(before, keys=["age", "zip"]), aligned=True)
    assert result["age"].mean_after == 45.0  # ranges count by their middle
    assert any("middle" in note for note in result.notes)
    assert any("may stand for" in note for note in result.notes)  # "*" counts as all values


@pytest.mark.parametrize("gap", [None, 40])
def test_a_value_made_missing_loses_what_the_mean_of_all_would(gap):
    """Whether or not others are missing in the original, too."""
    before = pl.DataFrame({"age": [20, 30, 60, 70], "job": ["a", "b", "a", "b"]})
    after = before.with_columns(age=pl.Series([20, 30, None, 70]), job=pl.Series(["a", None, "a", "b"]))
    if gap is not None:
        add = pl.DataFrame({"age": [None], "job": ["a"]}, schema=before.schema)
        before, after = pl.concat([before, add]), pl.concat([after, add])
    result = utility(before, after, Schema.build(before, keys=["age", "job"]), aligned=True)
    if gap is None:
        assert result.loss_by_key["age"] == pytest.approx(100 * 15**2 / 1700)
        assert result.loss_by_key["job"] == pytest.approx(25.0)
    else:  # that one value more says "missing" would alone be some 60 %
        assert 0 < result.loss_by_key["age"] < 100 * 15**2 / 1700
    assert not any("learned" in note for note in result.notes)


def test_large_tables_are_sampled_with_a_note(monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules["voronym.evaluate.utility"], "PMSE_ROWS", 50)
    frame = pl.DataFrame({"a": np.random.default_rng(0).standard_normal(200)})
    schema = Schema.build(frame, keys=["a"])
    result = utility(frame, frame, schema, ctx=Context(seed=3))
    assert (result.pmse.n_original, result.pmse.n_released) == (50, 50)
    assert any("random sample of 50 rows" in note for note in result.notes)
    assert utility(frame, frame, schema, ctx=Context(seed=3)).pmse == result.pmse


def test_many_columns_are_cut_with_a_note():
    frame = pl.DataFrame({f"c{i}": [float(i), 1.0, 2.0] for i in range(70)})
    names = frame.columns
    result = utility(frame, frame, Schema.build(frame, keys=names[-2:], other=names[:-2]))
    assert len(result.columns) == 70
    assert result.correlation.names[:2] == tuple(names[-2:])
    assert len(result.correlation.names) == 50
    assert any("50 of 70" in note for note in result.notes)


@pytest.mark.parametrize(
    ("after", "aligned", "message"),
    [
        (AFTER.with_columns(x=1), None, "different columns.*lacks 'x'"),
        (AFTER.drop("age"), None, "different columns.*lacks 'age'"),
        (AFTER[:3], True, "4 rows, the table 3"),
        (AFTER, [0, 1, 2], "each of the 4"),
        (AFTER, [0, 1, 2, 2], "different rows"),
        (AFTER, [0, 1, 2, 4], "0 to 3"),
    ],
)
def test_bad_input(after, aligned, message):
    with pytest.raises(InputError, match=message):
        utility(BEFORE, after, SCHEMA, aligned=aligned)


def test_it_reads_well():
    text = str(utility(BEFORE, AFTER, SCHEMA, aligned=True))
    assert "information loss" in text
    assert "1 of 2 categories lost" in text
