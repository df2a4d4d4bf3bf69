from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.samples import LIBRARIES, everything, native, plain, tables
from voronym.errors import InputError, SchemaError
from voronym.table import Codec, Schema, as_frame
from voronym.table.encoders.levels import ONE_HOT
from voronym.table.frame import factorize, missing


def fitted(table: Any, **roles: Any) -> tuple[Codec, np.ndarray]:
    schema = Schema.build(table, keys=as_frame(table).columns, **roles)
    codec = Codec.fit(table, schema)
    return codec, codec.encode(table)


def texts(series: nw.Series[Any]) -> list[str | None]:
    """Values as comparable text, the missing ones as None; floats to 9 digits."""
    gone = missing(series)
    return [
        None if no else f"{value:.9g}" if isinstance(value, float) else str(value)
        for value, no in zip(series.to_list(), gone, strict=True)
    ]


def means(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.stack([X[labels == j].mean(axis=0) for j in range(labels.max() + 1)])


@pytest.mark.parametrize("library", LIBRARIES)
def test_records_that_are_their_own_centroids_come_back_as_they_were(library: str) -> None:
    table = everything(library)
    codec, X = fitted(table, locations=[("lat", "lon")])
    back = codec.decode(X)
    original = as_frame(table)
    assert np.isfinite(X).all()
    assert X.flags.c_contiguous
    assert X.dtype == np.float64
    for name in original.columns:
        if name in ("lat", "lon"):
            np.testing.assert_allclose(back[name].to_numpy(), original[name].to_numpy(), atol=1e-9)
        else:
            assert texts(back[name]) == texts(original[name]), name


@pytest.mark.parametrize("library", LIBRARIES)
def test_dtypes_survive(library: str) -> None:
    table = everything(library)
    codec, X = fitted(table, locations=[("lat", "lon")])
    back = codec.decode(means(X, np.arange(len(X)) % 7)).to_native()
    if library == "pyarrow":
        assert back.schema.types == table.schema.types
    elif library == "polars":
        assert back.schema == table.schema
    else:
        assert back.dtypes.to_dict() == table.dtypes.to_dict()
        assert list(back.index) == list(range(7))


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_the_library_changes_nothing(library: str) -> None:
    columns = plain()
    _, expected = fitted(native(columns, "polars"))
    _, X = fitted(native(columns, library))
    np.testing.assert_array_equal(X, expected)


def test_row_order_and_chunks_change_nothing() -> None:
    table = everything("pyarrow")
    _, X = fitted(table)
    order = np.random.default_rng(1).permutation(len(X))
    _, Y = fitted(table.take(pa.array(order)).combine_chunks())
    np.testing.assert_allclose(Y, X[order], atol=1e-12)


def test_numeric_against_numpy() -> None:
    x = np.array([3.0, 5.0, 10.0, 10.0])
    _, X = fitted(pl.DataFrame({"x": x, "same": [7, 7, 7, 7]}))
    np.testing.assert_allclose(X[:, 0], (x - x.mean()) / x.std())
    np.testing.assert_array_equal(X[:, 1], 0.0)


def test_blocks_of_variance_one() -> None:
    table = pl.DataFrame(plain(200))
    codec, X = fitted(table, locations=[("lat", "lon")])
    for block in codec.blocks:
        part = X[:, block.start : block.stop]
        if "?" not in block.name or block.kind == "nominal":
            assert part.var(axis=0).sum() == pytest.approx(1.0), block
        else:  # observed share, plus the coordinate that says missing: two away, whatever their share is
            assert part.var(axis=0).sum() == pytest.approx(0.75 + 4 * 0.25 * 0.75), block
    assert codec.blocks[-1].columns == ("lat", "lon")
    assert codec.width == X.shape[1]


@pytest.mark.parametrize("categories", [2, 3, ONE_HOT, ONE_HOT + 1, 500])
def test_nominal_decodes_to_the_mode(categories: int) -> None:
    rng = np.random.default_rng(categories)
    labels = np.repeat(np.arange(100), 9)
    modes = rng.integers(0, categories, 100)
    values = np.where(rng.random(900) < 0.8, modes[labels], rng.integers(0, categories, 900))
    table = pl.DataFrame({"c": [f"c{v}" for v in values]})
    codec, X = fitted(table)
    decoded = codec.decode(means(X, labels))["c"].to_list()
    expected = [f"c{np.bincount(values[labels == j]).argmax()}" for j in range(100)]
    agree = np.mean([a == b for a, b in zip(decoded, expected, strict=True)])
    assert agree == 1.0 if categories > 2 else agree >= 0.99
    assert X.var(axis=0).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("categories", [2, 3, ONE_HOT, ONE_HOT + 1, 300])
@pytest.mark.parametrize("library", LIBRARIES)
def test_counted_categories_are_the_mode(categories: int, library: str) -> None:
    rng = np.random.default_rng(categories)
    values = [None if v == 0 else f"c{v:03}" for v in rng.integers(0, categories + 1, 1200)]
    labels = rng.permutation(np.repeat(np.arange(240), 5))  # no majority anywhere: the centroid is no help
    codec, X = fitted(native({"c": values}, library))
    back = codec.decode(means(X, labels), labels)["c"]
    got = [None if no else v for v, no in zip(back.to_list(), missing(back), strict=True)]
    for cell in range(240):
        members = [values[i] for i in np.flatnonzero(labels == cell)]
        most = max(members.count(v) for v in members)
        often = [v for v in members if members.count(v) == most]
        first = min(often, key=lambda v: (values.count(v) == 1, v is None, v))  # rather what others have, too
        assert got[cell] == first
    assert "most frequent category of the group" in codec.describe()[0]
    assert ("nearest" in codec.describe()[0]) == (categories + 1 > ONE_HOT)


def test_labels_that_do_not_fit() -> None:
    codec, X = fitted(pl.DataFrame({"c": list("aabb")}))
    for labels in ([0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 2], [0.0, 0.0, 1.0, 1.0], [-1, 0, 1, 1]):
        with pytest.raises(InputError, match="one of 2 cells, none of them empty, for each of the 4 records"):
            codec.decode(X[:2], labels)


@pytest.mark.parametrize("unit", [1e-200, 1e-310, 1e-12, 1.0, 1e140])
def test_the_unit_of_a_number_changes_nothing(unit: float) -> None:
    x = np.arange(50) * unit
    codec, X = fitted(pl.DataFrame({"x": x}))
    _, expected = fitted(pl.DataFrame({"x": np.arange(50)}))
    np.testing.assert_allclose(X, expected, atol=1e-12)
    np.testing.assert_allclose(codec.decode(X)["x"].to_numpy(), x, rtol=1e-9, atol=0)


def test_powers_of_two_change_no_digit() -> None:
    x = np.random.default_rng(0).normal(size=100)
    _, X = fitted(pl.DataFrame({"x": x, "y": np.ldexp(x, -600), "z": np.ldexp(x, 400)}))
    np.testing.assert_array_equal(X[:, 0], X[:, 1])
    np.testing.assert_array_equal(X[:, 0], X[:, 2])
    off = x - x.min()
    np.testing.assert_array_equal(X[:, 0], (off - off.mean()) / off.std())


@given(st.lists(st.sampled_from("abcdé") | st.none(), min_size=1, max_size=30))
def test_nominal_is_a_most_frequent_category(values: list[str | None]) -> None:
    codec, X = fitted(pl.DataFrame({"c": values}, schema={"c": pl.String}))
    got = codec.decode(X.mean(axis=0, keepdims=True))["c"][0]
    assert values.count(got) == max(values.count(v) for v in values)


def test_ordinal_goes_to_the_nearest_level_that_occurs() -> None:
    order = ["none", "low", "middle", "high"]
    table = pl.DataFrame({"g": ["none", "none", "high", "high", "high"]})
    codec, X = fitted(table, orders={"g": order})
    assert codec.decode(means(X, np.array([0, 0, 1, 1, 1])))["g"].to_list() == ["none", "high"]
    # mean rank 1.8 is nearest to "middle", which nobody has; "high" is nearer than "none"
    assert codec.decode(X.mean(axis=0, keepdims=True))["g"].to_list() == ["high"]
    ranks = np.array([0, 0, 3, 3, 3])
    np.testing.assert_allclose(X[:, 0], (ranks - ranks.mean()) / ranks.std())


def test_missing_by_majority_and_mean_of_the_observed() -> None:
    table = pl.DataFrame({"x": [10, 20, None, None, None, 40, 7, 7]})
    codec, X = fitted(table)
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    assert codec.decode(means(X, labels))["x"].to_list() == [15, None, 7]
    assert X.shape == (8, 2)
    assert "missing" in codec.describe()[0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_nan_is_missing_everywhere(library: str) -> None:
    table = native({"x": [1.0, float("nan"), 3.0, float("nan")]}, library)
    codec, X = fitted(table)
    assert X.shape == (4, 2)
    assert missing(codec.decode(X)["x"]).tolist() == [False, True, False, True]


@pytest.mark.parametrize("library", LIBRARIES)
def test_infinite_values_are_refused(library: str) -> None:
    table = native({"x": [1.0, float("inf"), -float("inf"), 2.0]}, library)
    with pytest.raises(SchemaError, match=r"numeric key 'x' has 2 infinite values out of 4"):
        fitted(table)


def test_all_rows_identical_one_column_constant() -> None:
    table = pl.DataFrame({"a": [3, 3, 3], "b": ["x", "x", "x"], "c": [None, None, None], "d": [0.1] * 3})
    codec, X = fitted(table)
    np.testing.assert_array_equal(X, 0.0)
    assert codec.decode(X[:1]).rows() == [(3, "x", None, 0.1)]


def test_large_integers_keep_their_digits() -> None:
    base = 2**62
    table = pl.DataFrame(
        {"id": [base + 1, base + 2, base + 3], "u": [0, 2**64 - 1, 5]}, schema_overrides={"u": pl.UInt64}
    )
    codec, X = fitted(table)
    assert codec.decode(X)["id"].to_list() == [base + 1, base + 2, base + 3]
    assert codec.decode(X)["u"].to_list()[:2] == [0, 2**64 - 1]


def test_times_keep_zone_and_unit() -> None:
    times = pd.to_datetime(["2024-03-30 12:00", "2024-03-31 12:00"]).tz_localize("Europe/Madrid")
    codec, X = fitted(pd.DataFrame({"t": times}))
    got = codec.decode(X.mean(axis=0, keepdims=True))["t"].to_native()[0]
    assert (
        got == times[0] + (times[1] - times[0]) / 2
    )  # 23.5 h apart in wall time: the middle of the instants
    assert str(got.tz) == "Europe/Madrid"


def test_location_crosses_the_antimeridian() -> None:
    table = pl.DataFrame({"lat": [0.0, 0.0, 10.0], "lon": [179.0, -179.0, 0.0]})
    codec, X = fitted(table, locations=[("lat", "lon")])
    lat, lon = codec.decode(X[:2].mean(axis=0, keepdims=True)).rows()[0]
    assert lat == pytest.approx(0.0)
    assert abs(lon) == pytest.approx(179.0)  # 180, kept inside the observed range: not 0, on the other side
    east, Y = fitted(pl.DataFrame({"lat": [0.0, 0.0], "lon": [179.0, 185.0]}), locations=[("lat", "lon")])
    assert east.decode(Y.mean(axis=0, keepdims=True)).rows()[0][1] == pytest.approx(182.0)


def test_a_location_lacking_one_coordinate_is_missing() -> None:
    table = pl.DataFrame({"lat": [40.0, 41.0, None], "lon": [2.0, 3.0, 2.5]})
    codec, X = fitted(table, locations=[("lat", "lon")])
    assert codec.decode(X).rows()[2] == (None, None)
    assert X.shape == (3, 4)


def test_swapped_coordinates_are_noticed() -> None:
    table = pl.DataFrame({"a": [140.0, 141.0], "b": [2.0, 3.0]})
    with pytest.raises(SchemaError, match=r"'a' has 2 of 2 values outside -90..90"):
        fitted(table, locations=[("a", "b")])


@given(tables(), st.sampled_from(LIBRARIES), st.randoms(use_true_random=False))
def test_decoded_values_stay_in_the_observed_domain(
    columns: dict[str, list[Any]], library: str, random: Any
) -> None:
    table = native(columns, library)
    codec, X = fitted(table, kinds={name: "nominal" for name in columns if name.startswith("word")})
    assert np.isfinite(X).all()
    n = len(X)
    labels = np.array([random.randrange(max(1, n // 2)) for _ in range(n)])
    labels = np.unique(labels, return_inverse=True)[1]
    back = codec.decode(means(X, labels))
    for name, values in columns.items():
        observed = [v for v in values if v is not None and v == v]
        for got in (v for v, no in zip(back[name].to_list(), missing(back[name]), strict=True) if not no):
            if name.startswith(("word", "bool")):
                assert got in observed
            else:
                got = got.date() if name.startswith("date") and isinstance(got, dt.datetime) else got
                assert min(observed) <= got <= max(observed)
                assert not (isinstance(got, float) and got == 0.0 and np.signbit(got))


def test_another_table_with_other_values() -> None:
    table = pl.DataFrame({"c": ["a", "b"], "x": [1.0, 2.0]})
    codec, _ = fitted(table)
    assert codec.encode(table[:1]).shape == (1, 2)
    with pytest.raises(SchemaError, match=r"1 values of 'c' are of categories"):
        codec.encode(pl.DataFrame({"c": ["z"], "x": [1.0]}))
    with pytest.raises(SchemaError, match=r"1 values of 'x' are missing"):
        codec.encode(pl.DataFrame({"c": ["a"], "x": [None]}, schema={"c": pl.String, "x": pl.Float64}))
    with pytest.raises(SchemaError, match=r"no column 'x'"):
        codec.encode(pl.DataFrame({"c": ["a"]}))
    with pytest.raises(InputError, match="2 coordinates"):
        codec.decode(np.zeros((1, 3)))


def test_too_many_categories() -> None:
    table = pl.DataFrame({"c": np.arange(10**5)}).with_columns(pl.col("c").cast(pl.String))
    with pytest.raises(
        SchemaError, match=r"key 'c' has 100000 distinct values in 100000 rows, more than the 10000"
    ):
        Schema.build(table, keys=["c"])


def test_a_wide_table() -> None:
    table = pl.DataFrame({f"c{i}": np.arange(5) * i for i in range(300)})
    codec, X = fitted(table)
    assert X.shape == (5, 300)
    assert codec.decode(X).shape == (5, 300)


def test_values_too_large_to_square() -> None:
    with pytest.raises(SchemaError, match="too large to square"):
        fitted(pl.DataFrame({"x": [1e200, -1e200, 0.0]}))


def test_a_codec_can_be_pickled() -> None:
    table = everything("polars")
    codec, X = fitted(table)
    again = pickle.loads(pickle.dumps(codec))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.encode(table), X)
    assert repr(again) == repr(codec)


@pytest.mark.parametrize("library", LIBRARIES)
def test_factorize_sorts_so_that_libraries_agree(library: str) -> None:
    frame = as_frame(native({"w": ["b", "a", None, "b"], "i": [3, 1, 2, 3]}, library))
    codes, values = factorize(frame["w"])
    assert (codes.tolist(), values) == ([1, 0, -1, 1], ["a", "b"])
    codes, values = factorize(frame["i"])
    assert (codes.tolist(), values) == ([2, 0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_published_means_have_the_decimals_of_their_column(library):
    columns = {
        "one": [60.1, 60.2, 60.2, 71.0],
        "whole": [1.0, 2.0, 2.0, None],
        "many": [0.123456, 1.0, 2.0, 3.0],
    }
    table = pl.DataFrame(columns) if library == "polars" else pd.DataFrame(columns)
    schema = Schema.build(table, keys=list(columns))
    codec = Codec.fit(table, schema)
    X = codec.encode(table)
    row = codec.decode(X[:3].mean(axis=0, keepdims=True)).rows()[0]
    assert row[:2] == (60.2, 2.0)
    assert row[2] == pytest.approx(3.123456 / 3, rel=1e-9)
    assert any("one decimal" in text for text in codec.describe())
