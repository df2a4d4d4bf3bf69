"""Risk figures, worked by hand."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.evaluate import risk

# Classes of key a: x 1, y 2, z 5, missing 2; n = 10, J = 4.
TABLE = pl.DataFrame({"a": ["x", "y", "y", "z", "z", "z", "z", "z", None, None]})


def test_figures_by_hand():
    result = risk(TABLE, ["a"])
    assert (result.k, result.records, result.n_classes) == (1, 10, 4)
    assert result.histogram == {1: 1, 2: 2, 5: 1}
    assert (result.unique, result.uniqueness) == (1, 0.1)
    assert result.prosecutor_max == 1.0
    # mean of 1/f over records: (1 + 2/2 + 5/5 + 2/2) / 10 = 0.4 = J/n
    assert result.prosecutor_mean == result.marketer == 0.4
    # above 0.2: classes of fewer than 5, so 1 + 2 + 2 records; the class of 5 is at 0.2, not above
    assert (result.at_risk, result.share_at_risk) == (5, 0.5)


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, 10), (0.19, 10), (0.2, 5), (0.5, 1), (1.0, 0)])
def test_threshold_counts_strictly_above(threshold, expected):
    assert risk(TABLE, ["a"], threshold=threshold).at_risk == expected


@pytest.mark.parametrize("size", range(2, 60))
def test_a_class_of_f_is_not_above_one_over_f(size):
    assert risk(pl.DataFrame({"a": [1] * size}), ["a"], threshold=1 / size).at_risk == 0


def test_journalist_by_hand():
    # In the population: x 4, y 2, z 10; missing has none, so its own 2 count.
    population = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 2 + ["z"] * 10, "more": range(16)})
    result = risk(TABLE, ["a"], population=population).journalist
    # 1/F per record: x 1/4; y 1/2 twice; z 1/10 five times; missing 1/2 twice
    assert result["max"] == 0.5
    assert result["mean"] == pytest.approx((0.25 + 2 * 0.5 + 5 * 0.1 + 2 * 0.5) / 10)
    assert (result["at_risk"], result["absent"], result["population"]) == (5, 2, 16)
    # As many are below 0.2 as above: other thresholds tell them apart.
    some = [
        risk(TABLE, ["a"], population=population, threshold=t).journalist["at_risk"] for t in (0.1, 0.3, 0.5)
    ]
    assert some == [5, 4, 0]


def test_journalist_takes_numbers_of_another_type_and_refuses_text_for_numbers():
    frame = pl.DataFrame({"a": [1, 1, 2]})
    assert (
        risk(frame, ["a"], population=pd.DataFrame({"a": [1.0, 1.0, 1.0, 2.0, 2.0]})).journalist["max"] == 0.5
    )
    with pytest.raises(InputError, match="column 'a'"):
        risk(frame, ["a"], population=pl.DataFrame({"a": ["1", "2"]}))
    with pytest.raises(InputError, match="no column 'a'"):
        risk(frame, ["a"], population=pl.DataFrame({"b": [1]}))


def test_threshold_must_be_a_probability():
    with pytest.raises(InputError, match="probability"):
        risk(TABLE, ["a"], threshold=5)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.randoms())
def test_order_index_and_library_change_nothing(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    expected = risk(pl.DataFrame({"a": values}), ["a"])
    frame = pd.DataFrame({"a": shuffled}, index=np.zeros(len(values)))
    assert risk(frame, ["a"]) == risk(pl.DataFrame({"a": shuffled}).to_arrow(), ["a"]) == expected
    assert sum(size * count for size, count in expected.histogram.items()) == len(values)


def test_it_is_json_and_readable():
    result = risk(TABLE, ["a"], population=TABLE)
    assert json.loads(json.dumps(result.to_dict()))["histogram"][0] == {"size": 1, "classes": 1}
    assert "10 records in 4 classes" in str(result)
    assert "population" in str(result)
