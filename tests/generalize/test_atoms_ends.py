"""Ends of ranges cover their values, however odd; ends and names may be of k people."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voronym.errors import InputError
from voronym.generalize.atoms import atoms_of
from voronym.generalize.columns import Set
from voronym.table import Table
from voronym.table.schema import Schema


def column(values):
    frame = pl.DataFrame({"x": values, "y": range(len(values))})
    return Table.of(frame, Schema.build(frame, keys=["x"], other=["y"]))["x"]


FLOATS = st.floats(-1e12, 1e12, allow_nan=False, width=64)
DECIMALS = st.integers(-5000, 5000).map(lambda one: one / 100)


@given(
    st.one_of(st.lists(FLOATS, min_size=3, max_size=40), st.lists(DECIMALS, min_size=3, max_size=40)),
    st.sampled_from([None, 0.25, 0.1, 0.3, 7.0, 1000.0]),
    st.integers(1, 4),
)
@example([0.0] * 17 + [99999999980.0, -1.0, -20.0, -0.0625], None, 2)
@example([0.1, 0.2, 0.3, 0.7, 0.6], 0.25, 1)
def test_every_value_lies_between_the_ends_that_are_written(values, step, k):
    if step is not None and np.ptp(values) / step > 1e6:
        return
    try:
        atoms = atoms_of(column(values), k, width=step)
    except InputError:
        return
    for value, code in zip(values, atoms.codes.tolist(), strict=True):
        low, high = atoms.texts[code]
        slack = 1e-12 * abs(value)
        assert low is None or float(low) <= value + slack, (low, value)
        assert high is None or float(high) >= value - slack, (high, value)


def test_steps_of_a_quarter_are_written_in_full():
    texts = atoms_of(column([0.1, 0.2, 0.3, 0.6, 0.7]), 1, width=0.25).texts
    assert texts[0] == ("0.00", "0.25")
    with pytest.raises(InputError, match="above 0"):
        atoms_of(column([1.5, 2.5, 3.0]), 1, width=-1.0)


@given(st.lists(st.integers(0, 120), min_size=4, max_size=60), st.integers(2, 5))
def test_an_outer_end_is_told_only_where_k_people_are_in_its_step(values, k):
    texts = atoms_of(column(values), k, width=10.0).texts
    lowest, highest = (sum(item // 10 == end // 10 for item in values) for end in (min(values), max(values)))
    assert (texts[0][0] is None) == (lowest < k)
    assert (texts[-1][1] is None) == (highest < k)
    for (_, before), (after, _) in pairwise(texts):  # else a beginning tells that somebody is there
        low = int(after)
        assert sum(item // 10 == low // 10 for item in values) >= k or low == int(before) + 1


@given(st.lists(st.integers(0, 7).map("abcdefgh".__getitem__), min_size=4, max_size=60), st.integers(2, 5))
@example([*"aaaaabbbbbc"], 3)  # the one rare value takes a frequent one along
def test_every_name_in_a_list_may_be_of_k_people(values, k):
    made = Set.of("x", column(values), k)
    often = np.bincount(made.codes, minlength=len(made.names))
    assert len(often) == len(made.names)
    assert len(often) == 1 or often.min() >= k
    for value, code in zip(values, made.codes.tolist(), strict=True):
        assert made.names[code] in (value, "others")
