"""For any table, k, kind of column, library and method, the written file is k-anonymous."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voronym as vr
from repeats import examples
from tables import LIBRARIES, build, count_csv, key_tables

METHODS = sorted(vr.algorithms())


def release_of(columns, k, library, method, **options):
    keys = [name for name in columns if name.startswith("key")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return vr.anonymize(
            build(columns, library),
            keys=keys,
            confidential=["secret"],
            identifiers=["name"],
            k=k,
            method=method,
            allow_near_unique=keys,  # tables that no office has: nearly everybody has a category of their own
            allow_loss=keys,
            **options,
        )


def methods_for(columns):
    several = sum(name.startswith("key") for name in columns) > 1 or "word" in "".join(columns)
    return [name for name in METHODS if not (several and vr.algorithms()[name].univariate)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@given(data=st.data(), drawn=key_tables(), library=st.sampled_from(LIBRARIES))
@examples(15, 90)
def test_the_written_file_is_k_anonymous(suffix, data, drawn, library):
    columns, k = drawn
    keys = [name for name in columns if name.startswith("key")]
    method = data.draw(
        st.sampled_from([m for m in methods_for(columns) if not vr.algorithms()[m].univariate])
    )
    release = release_of(columns, k, library, method)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{suffix}"
        release.write(path)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
        if suffix == ".csv":
            assert count_csv(path, keys) >= k
            assert b"person" not in path.read_bytes()
        else:
            table = pq.read_table(path)
            assert (
                min(Counter(zip(*(map(repr, table[key].to_pylist()) for key in keys), strict=True)).values())
                >= k
            )
            assert "name" not in table.column_names
            assert b"person" not in path.read_bytes()


@given(drawn=key_tables(), library=st.sampled_from(LIBRARIES))
@examples(10, 60)
def test_the_rest_of_the_table_is_kept(drawn, library):
    columns, k = drawn
    release = release_of(columns, k, library, "mdav")
    table = release.table
    assert type(table) is type(build(columns, library))
    secret = table["secret"]
    assert sorted(secret.to_list() if hasattr(secret, "to_list") else secret.to_pylist()) == sorted(
        columns["secret"]
    )


@given(drawn=key_tables())
@examples(7, 45)
def test_the_library_changes_nothing(drawn):
    columns, k = drawn
    parts = [release_of(columns, k, library, "mdav")._evidence.partition for library in LIBRARIES]
    assert parts[0] == parts[1] == parts[2]


@given(drawn=key_tables())
@examples(4, 24)
def test_chunks_change_nothing(drawn):
    columns, k = drawn
    whole = pl.DataFrame(columns)
    chunked = pl.concat([whole[:1], whole[1:3], whole[3:]], rechunk=False)
    keys = [name for name in columns if name.startswith("key")]
    meant = {"allow_near_unique": keys, "allow_loss": keys}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, other = (
            vr.anonymize(table, keys=keys, confidential=["secret"], identifiers=["name"], k=k, **meant)
            for table in (whole, chunked)
        )
    assert first._evidence.partition == other._evidence.partition
    assert sorted(map(repr, first.table.rows())) == sorted(map(repr, other.table.rows()))


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(8, 60),
    k=st.integers(2, 4),
    method=st.sampled_from(["mdav", "tfrp-1", "univariate"]),
)
@settings(max_examples=20)
def test_row_order_changes_nothing_where_there_are_no_ties(seed, n, k, method):
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1 if method == "univariate" else 2))
    order = rng.permutation(n)
    plain = vr.microaggregate(X, k, method=method)
    turned = vr.microaggregate(X[order], k, method=method)
    assert vr.Partition(plain.labels[order]) == turned
