"""No message shows what a person's record holds: a secret is planted, everything is made to fail."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from voronym.errors import VoronymError
from voronym.table import Codec, Schema, read, write

WORD = "Xyzzy" + "Secret"
NUMBER = 8_675_309
SECRETS = (WORD, str(NUMBER), f"{NUMBER:,}")


def build(table: Any, **options: Any) -> Callable[[Path], Any]:
    return lambda _: Schema.build(table, keys=["x"], **options)


def fit(values: Any, **options: Any) -> Callable[[Path], Any]:
    table = values if isinstance(values, pl.DataFrame) else pl.DataFrame({"x": values})
    return lambda _: Codec.fit(table, Schema.build(table, keys=table.columns, **options))


def encode(fitted: list[Any], other: list[Any]) -> Callable[[Path], Any]:
    def run(_: Path) -> Any:
        table = pl.DataFrame({"x": fitted})
        return Codec.fit(table, Schema.build(table, keys=["x"])).encode(pl.DataFrame({"x": other}))

    return run


def text(content: str | bytes, suffix: str = ".csv", **options: Any) -> Callable[[Path], Any]:
    def run(folder: Path) -> Any:
        path = folder / f"in{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, **options)

    return run


def out(table: Any, suffix: str = ".csv", k: int = 2) -> Callable[[Path], Any]:
    return lambda folder: write(table, folder / f"out{suffix}", keys=["x"], k=k)


FAILURES: dict[str, Callable[[Path], Any]] = {
    "numeric strings": build(pl.DataFrame({"x": [WORD, str(NUMBER)]}), kinds={"x": "numeric"}),
    "datetime strings": build(pl.DataFrame({"x": [WORD]}), kinds={"x": "datetime"}),
    "unknown level": build(pl.DataFrame({"x": [WORD, "a"]}), orders={"x": ["a"]}),
    "mixed": build(pd.DataFrame({"x": pd.Series([WORD, NUMBER], dtype=object)})),
    "objects": build(pd.DataFrame({"x": [[WORD], [NUMBER]]})),
    "nested": build(pl.DataFrame({"x": [[WORD]]})),
    "binary": build(pl.DataFrame({"x": [WORD.encode()]})),
    "free text": build(pl.DataFrame({"x": [f"{WORD} was here on day {i}" for i in range(9)]})),
    "categories": build(pl.DataFrame({"x": [f"{WORD}{i}" for i in range(10_001)]})),
    "infinite": fit([float(NUMBER), float("inf")]),
    "too large": fit([NUMBER * 1e200, -1e200]),
    "not a latitude": fit(pl.DataFrame({"x": [float(NUMBER)], "y": [1.0]}), locations=[("x", "y")]),
    "unseen category": encode(["a", "b"], [WORD]),
    "unseen missing": encode([NUMBER, NUMBER + 1], [None]),
    "cell too small": out(pl.DataFrame({"x": [WORD, "a"]})),
    "cell too small, parquet": out(pl.DataFrame({"x": [NUMBER, 1]}), ".parquet"),
    "cell too small, sav": out(pl.DataFrame({"x": [WORD, "a"]}), ".sav"),
    "nested in text": out(pl.DataFrame({"x": [1, 1], "l": [[WORD], [WORD]]})),
    "nested in sav": out(pl.DataFrame({"x": [1, 1], "l": [[WORD], [WORD]]}), ".sav"),
    "objects in parquet": out(
        pd.DataFrame({"x": [1, 1], "o": pd.Series([WORD, NUMBER], dtype=object)}), ".parquet"
    ),
    "surrogates": out(pd.DataFrame({"x": [1, 1], "w": pd.Series([WORD + "\ud800"] * 2, dtype=object)})),
    "periods": out(pd.DataFrame({"x": [1, 1], "p": pd.period_range("2020", periods=2, freq="Y")})),
    "arrow nested": out(pa.table({"x": [1, 1], "l": [[WORD], [WORD]]})),
    "ragged": text(f"a,b\n{WORD},{NUMBER},3\n"),
    "not utf-8": text(f"a,b\n{WORD},{NUMBER}\n".encode() + b"\xff\xfe"),
    "binary csv": text(WORD.encode() + b"\0\0"),
    "not parquet": text(WORD, ".parquet"),
    "half parquet": text(b"PAR1" + WORD.encode() + b"\0\0PAR1", ".parquet"),
    "not arrow": text(WORD, ".arrow"),
    "not sav": text(WORD, ".sav"),
    "not dta": text(WORD, ".dta"),
    "not sas": text(WORD, ".sas7bdat"),
    "not a database": text(WORD, ".db", query="select 1"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_no_value_in_any_message(what: str, tmp_path: Path) -> None:
    with pytest.raises(VoronymError) as caught:
        FAILURES[what](tmp_path)
    message = str(caught.value)
    shown = "".join(traceback.format_exception_only(caught.value))
    for secret in SECRETS:
        assert secret not in message
        assert secret not in shown
    assert caught.value.__cause__ is None  # a foreign error, printed below ours, could quote a cell
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in message
    assert len(message) < 300


def test_descriptions_and_proposals_hold_no_values() -> None:
    table = pl.DataFrame(
        {
            "w": [WORD, "a", None] * 9,
            "n": [NUMBER, 1, None] * 9,
            "t": [f"{WORD} was here again {i}" for i in range(27)],
        }
    )
    schema = Schema.build(table, keys=["w", "n"], other=["t"])
    shown = [*Codec.fit(table, schema).describe(), repr(Codec.fit(table, schema)), str(Schema.infer(table))]
    assert not any(secret in line for line in [*shown, str(schema.to_dict())] for secret in SECRETS)


def test_long_lists_of_columns_are_cut_short() -> None:
    table = pl.DataFrame({f"column {i}": np.arange(2) for i in range(300)})
    with pytest.raises(VoronymError, match=r"299 of 300 columns have no role: .* and 287 more") as caught:
        Schema.build(table, keys=["column 0"])
    sentence = str(caught.value)
    assert len(sentence) < 500
    typed = caught.value.worded("command")
    for word in ("key", "confidential", "identifier", "other", "drop-undeclared"):
        assert f"--{word}" in typed
    assert "voronym inspect" in sentence
