"""What masked keys tell, measured: cells that are large enough, and the look that tells most."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from repeats import rounds
from voronym.channel.measured import _cells, measure_revealed
from voronym.core.context import Context
from voronym.privacy import Levels
from voronym.table import Table


def look(columns, keys, confidential=("w",), **kinds):
    table = pl.DataFrame(columns)
    schema = vr.Schema.build(
        table, keys=list(keys), confidential=list(confidential), kinds=kinds, drop_undeclared=True
    )
    return measure_revealed(Table.of(table, schema, only=table.columns), Context(), bins=8)


def test_a_table_by_hand():
    # Of 40 with u 30 are ill, of 40 with v 10: H(W) is ln 2, and 3/4 to 1/4 within either.
    columns = {"key": ["u"] * 40 + ["v"] * 40, "w": ["a"] * 30 + ["b"] * 40 + ["a"] * 10}
    result = look(columns, ["key"])
    within = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert result.estimate.plug_in == pytest.approx(math.log(2) - within)
    assert (result.keys, result.about, result.cells, result.levels, result.looks) == (
        ("key",),
        ("w",),
        2,
        2,
        1,
    )
    figures = result.to_dict()
    assert figures["excess"] == pytest.approx(figures["plug_in"] - figures["chance"])
    assert str(result).startswith(f"key tells {result.excess:.3g} nats above chance about w (")


def test_the_look_that_tells_most():
    rng = np.random.default_rng(0)
    a, b, c, w = rng.integers(0, 2, (4, 3000))
    columns = {"a": a.astype(str), "b": b.astype(str), "c": c.astype(str), "w": w.astype(str)}
    pair = look({**columns, "w": (a ^ b).astype(str)}, "abc")
    assert (pair.keys, pair.looks) == (("a", "b"), 7)
    three = look({**columns, "w": (a ^ b ^ c).astype(str)}, "abc")
    assert three.keys == ("a", "b", "c")
    assert three.estimate.low > 0.6
    # Two confidential columns that only together have to do with the key.
    both = look({**columns, "v": (w ^ a).astype(str)}, "a", ["w", "v"])
    assert (both.about, both.looks) == (("w", "v"), 3)
    assert both.estimate.low > 0.6
    # That a number is missing tells as well.
    x = np.where(w == 1, rng.normal(size=3000), np.nan)
    gone = look({"x": pl.Series(x).fill_nan(None), "y": rng.normal(size=3000), "w": columns["w"]}, "xy")
    assert "x" in gone.keys
    assert gone.estimate.low > 0.6


@pytest.mark.parametrize("n", [100, 1000])
def test_keys_that_tell_nothing(n):
    """Ten looks at what is independent: the lower end is above 0 in 2.5 tables of a hundred at most."""
    rng = np.random.default_rng(n)
    wrong = 0
    for _ in (tables := rounds(30, 60)):
        x = rng.normal(size=(n, 3))
        w = rng.choice(list("abc"), n)
        result = look({"x": x[:, 0], "y": x[:, 1], "z": rng.choice(list("uvwxyz"), n), "w": w}, "xyz")
        wrong += result.estimate.low > 0
    assert wrong <= 0.05 * len(tables)


@given(
    st.integers(4, 60),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), min_size=1, max_size=5),
)
def test_cells_are_few_and_functions_of_the_keys(room, kinds):
    rng = np.random.default_rng(room + len(kinds))
    keys = []
    for size, ordered, gone in kinds:
        codes = np.unique(rng.integers(0, size, 300), return_inverse=True)[1].reshape(-1)
        values = [*range(int(codes.max()))]
        keys.append(Levels("x", codes, ordered, (*values, None if gone else len(values))))
    labels = _cells(keys, room)
    assert int(labels.max()) + 1 == len(np.unique(labels)) <= room
    rows = np.column_stack([key.codes for key in keys])
    assert len(np.unique(np.column_stack([rows, labels]), axis=0)) == len(np.unique(rows, axis=0))
    if len(keys) == 1 and keys[0].size <= room:
        assert int(labels.max()) + 1 == keys[0].size  # nothing is lost without need
