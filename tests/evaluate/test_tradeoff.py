"""The plane: risks by hand, merging, limits on normal samples."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import voronym as vr
from voronym.evaluate.tradeoff import class_information, letters, plane
from voronym.privacy.level import Levels
from voronym.table import Table
from voronym.table.codec import Codec


def made(frame, keys, confidential, **options):
    table = nw.from_native(frame, eager_only=True)
    schema = vr.Schema.build(table, keys=keys, confidential=confidential, drop_undeclared=True)
    X = Codec.fit(table, schema).encode(table)
    return plane(Table.of(table, schema), X, **options), X


def test_the_risk_of_a_partition_by_hand():
    # cells aab and abb of six records: H(W) = ln 2, H(W | cell) = H(1/3)
    ill = Levels("ill", np.array([0, 0, 1, 0, 1, 1]), False, ("a", "b"))
    information = class_information(ill, np.array([0, 0, 0, 1, 1, 1]))
    inside = -(1 / 3) * np.log(1 / 3) - (2 / 3) * np.log(2 / 3)
    assert information.plug_in == pytest.approx(np.log(2) - inside)
    assert information.entropy == pytest.approx(np.log(2))
    with pytest.raises(vr.InputError, match="6 records but 2 labels"):
        class_information(ill, np.array([0, 1]))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=3, max_size=40))
def test_merging_cells_never_raises_the_risk(rows):
    codes = np.unique([w for w, _ in rows], return_inverse=True)[1].astype(np.int64)
    cells = np.unique([c for _, c in rows], return_inverse=True)[1].astype(np.int64)
    levels = Levels("w", codes, False, tuple(range(int(codes.max()) + 1)))
    before = class_information(levels, cells).plug_in
    for other in range(1, int(cells.max()) + 1):
        merged = np.unique(np.where(cells == other, 0, cells), return_inverse=True)[1]
        assert class_information(levels, merged).plug_in <= before + 1e-12


@pytest.fixture(scope="module")
def normal():
    rng = np.random.default_rng(5)
    n = 6000
    X = rng.standard_normal((n, 2))
    w = 0.8 * X[:, 0] - 0.3 * X[:, 1] + 0.6 * rng.standard_normal(n)
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": w})


def test_curves_are_below_every_measured_point_of_normal_data(normal):
    result, X = made(normal, ["a", "b"], ["w"])
    curve = result.curve("normal")
    floor = result.curve("floor")
    for k in (60, 150, 400, 1000, 3000):
        part = vr.microaggregate(X, k, method="mdav")
        share = vr.information_loss(X, part) / 100
        risk = result.risk(part.labels)
        assert curve.at(share) <= risk.corrected
        assert curve.at(share) <= risk.high
        assert floor.at(share) <= risk.plug_in
        assert result.and_also([(share, risk.plug_in)]).curve("reached").at(share) <= risk.plug_in + 1e-12
    assert curve.at(0.3) > 0.1  # and it is not nothing
    assert not curve.bound
    assert floor.bound


def test_ends_and_plain_data(normal):
    small = normal.head(300)
    result, _ = made(small, ["a", "b"], ["w"])
    assert result.risk(np.arange(300)).plug_in == pytest.approx(result.unchanged.plug_in)
    assert result.curve("reached").at(0.0) == pytest.approx(result.unchanged.plug_in)
    assert [curve.at(1.0) for curve in result.curves] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert result.upper(0.25) == pytest.approx(0.75 * result.unchanged.plug_in)
    plain = result.to_dict([0.0, 0.5])
    assert [curve["kind"] for curve in plain["curves"]] == ["floor", "reached", "normal"]
    assert plain["curves"][1]["points"][0] == (0.0, pytest.approx(result.unchanged.plug_in))
    assert letters(result) > 10


def test_monotone_changes_of_the_column_change_nothing(normal):
    small = normal.head(300)
    first, _ = made(small, ["a"], ["w"])
    second, _ = made(small.with_columns(pl.col("w").exp() * 7), ["a"], ["w"])
    for kind in ("floor", "reached", "normal"):
        assert first.curve(kind).at(0.1) == pytest.approx(second.curve(kind).at(0.1))


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pl.lit("x"), "no order"),
        (pl.int_range(pl.len()) % 3, "fewer than 8 distinct"),
        (pl.col("a"), "determine 'w'"),
    ],
)
def test_why_there_is_no_normal_curve(normal, column, why):
    ranked = normal.head(200).with_columns(a=pl.col("a").rank())
    if why.startswith("determine"):  # normal scores of the column, linear in the key
        scores = ndtri((np.arange(200) + 0.5) / 200)
        ranked = pl.DataFrame({"a": scores, "b": scores * 0, "w": scores})
        column = pl.col("w")
    result, _ = made(ranked.with_columns(w=column), ["a", "b"], ["w"])
    assert result.curve("normal") is None
    assert why in result.notes[0]


def test_one_column_at_a_time(normal):
    both = normal.head(50).with_columns(v=pl.col("w"))
    with pytest.raises(vr.InputError, match="one of 'w', 'v'"):
        made(both, ["a", "b"], ["w", "v"])
    result, _ = made(both, ["a", "b"], ["w", "v"], column="v")
    assert result.levels.column == "v"
