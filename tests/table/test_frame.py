"""Layouts that are rare: they work, or one sentence says why not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import voronym as vr
from voronym.errors import SchemaError
from voronym.table import as_frame
from voronym.table.frame import form, numbers

N = 20
WIDE = pa.decimal256(60, 2)
RUNS = pa.RunEndEncodedArray.from_arrays([10, 20], ["u", "v"])


def arrow(column: Any) -> Any:
    return pa.table({"age": list(range(N)), "x": column})


def pandas(column: Any, dtype: Any = None) -> Any:
    return pd.DataFrame({"age": range(N), "x": pd.Series(column, dtype=dtype)})


def boxed(column: Any) -> Any:
    return pandas(pd.arrays.ArrowExtensionArray(column))


FINE: dict[str, Any] = {
    "long integers": pandas([2**63 + i for i in range(N)], object),
    "integers and gaps": pandas([*range(N - 1), None], object),
    "wide decimals": arrow(pa.array([Decimal(i) for i in range(N)], type=WIDE)),
    "wide decimals in pandas": pandas([Decimal(i) for i in range(N)], pd.ArrowDtype(WIDE)),
    "runs": arrow(RUNS),
    "runs in pandas": boxed(RUNS),
    "views in pandas": boxed(pa.array(["u", "v"] * 10, type=pa.string_view())),
    "views": arrow(pa.array(["u", "v"] * 10, type=pa.string_view())),
    "large numbers": pl.DataFrame({"age": range(N), "x": [1.7e308 * (-1) ** i for i in range(N)]}),
    "small numbers": pl.DataFrame({"age": range(N), "x": [1e-310 * i for i in range(N)]}),
}
LONG = [Decimal(10) ** 50 + i for i in range(N)]
REFUSED: dict[str, tuple[Any, str]] = {
    "integers of 70 bits": (pandas([2**70 + i for i in range(N)], object), "integers of more than 64 bits"),
    "too far apart": (pandas([2**63, *range(-N, -1)], object), "integers of more than 64 bits"),
    "long decimals": (arrow(pa.array(LONG, type=WIDE)), "decimals of more than 38 digits"),
    "long decimals in pandas": (pandas(LONG, pd.ArrowDtype(WIDE)), "decimals of more than 38 digits"),
    "long decimal objects": (pandas(LONG, object), "decimals of more than 38 digits"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("what", FINE)
def test_rare_layouts_from_end_to_end(what: str, tmp_path: Path) -> None:
    table = FINE[what]
    release = vr.anonymize(table, keys=["age"], other=["x"], k=4, method="mdav")
    kept = {str(v) for v in as_frame(release.table)["x"].to_list()}
    assert kept == {str(v) for v in as_frame(table)["x"].to_list()}
    for suffix in ("csv", "parquet", "arrow"):
        assert release.write(tmp_path / f"x.{suffix}").rows == N
    release.to_dict()
    release.report(tmp_path / "x.html")
    vr.measure(release.table, keys=["age"], original=table).to_dict()


@pytest.mark.parametrize("role", ["keys", "other", "confidential"])
@pytest.mark.parametrize("what", REFUSED)
def test_what_no_library_can_hold_is_refused(what: str, role: str) -> None:
    table, message = REFUSED[what]
    roles = {"keys": ["age"], role: ["age", "x"] if role == "keys" else ["x"]}
    with pytest.raises(SchemaError, match=f"column 'x' .*{message}"):
        vr.anonymize(table, **roles, k=4, method="mdav")


def test_object_integers() -> None:
    series = as_frame(pandas([2**64 - 1, *range(N - 1)], object))["x"]
    assert form(series) == "integer"
    assert numbers(series).tolist()[0] == 2**64 - 1
