from __future__ import annotations

import csv
import datetime as dt
import hashlib
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.samples import LIBRARIES, everything, native, tables
from voronym.errors import WriteError
from voronym.table import as_frame, check, tidy, write

Columns = dict[str, list[Any]]
SUFFIXES = [".csv", ".tsv", ".parquet", ".arrow"]
GOOD = pl.DataFrame({"age": [30, 30, 50, 50], "word": ["a", "a", "b", "b"], "secret": ["w", "x", "y", "z"]})
BROKEN = GOOD.with_columns(age=pl.Series([30, 30, 50, 51]))


def reread(path: Path) -> list[dict[str, Any]]:
    """Read a file by means that the writer does not use."""
    if path.suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    if path.suffix == ".parquet":
        return pq.ParquetFile(path).read().to_pylist()
    return pa.ipc.open_file(path).read_all().to_pylist()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def smallest(path: Path, keys: list[str]) -> int:
    rows = reread(path)

    def cell(value: Any) -> Any:
        return None if isinstance(value, float) and math.isnan(value) else value

    return min(Counter(tuple(cell(row[key]) for key in keys) for row in rows).values())


@given(tables(), st.sampled_from(LIBRARIES), st.sampled_from(SUFFIXES), st.integers(2, 4))
def test_what_is_written_is_k_anonymous(
    columns: dict[str, list[Any]], library: str, suffix: str, k: int
) -> None:
    table = native({name: values * k for name, values in columns.items()}, library)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"out{suffix}")
        receipt = write(table, path, keys=list(columns), k=k)
        n = k * len(next(iter(columns.values())))
        assert receipt.k_counted == smallest(path, list(columns)) >= k
        assert receipt.rows == n == len(reread(path))
        assert receipt.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert names(Path(folder)) == [path.name]


@given(tables(max_rows=8), st.sampled_from(LIBRARIES), st.sampled_from(SUFFIXES))
def test_a_table_is_refused_or_k_anonymous(columns: Columns, library: str, suffix: str) -> None:
    table = native(columns, library)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"out{suffix}")
        message = ""
        try:
            write(table, path, keys=list(columns), k=2)
        except WriteError as error:
            message = str(error)
        assert smallest(path, list(columns)) >= 2 if path.exists() else "fewer than k=2" in message
        assert names(Path(folder)) == ([path.name] if path.exists() else [])


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".sav", ".dta"])
def test_a_cell_of_less_than_k_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(WriteError, match=r"'age', 'word' that occurs 1 times, fewer than k=2"):
        write(BROKEN, tmp_path / f"out{suffix}", keys=["age", "word"], k=2)
    assert list(tmp_path.iterdir()) == []
    assert write(GOOD, tmp_path / f"out{suffix}", keys=["age", "word"], k=2).k_counted == 2


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_dtype_can_be_written(tmp_path: Path, library: str, suffix: str) -> None:
    frame = as_frame(everything(library))
    doubled = nw.concat([frame, frame])
    receipt = write(doubled, tmp_path / f"out{suffix}", keys=frame.columns, k=2)
    assert receipt.rows == 80
    assert receipt.k_counted == 2


ODD = {
    "offset": pd.DataFrame({"x": pd.to_datetime(["2020-01-01T00:00:00+02:00"] * 2)}),
    "categories of numbers": pd.DataFrame({"x": pd.Categorical([10, 10])}),
    "dictionary of numbers": pa.table({"x": pa.array([10, 10]).dictionary_encode()}),
    "pandas on an Arrow dictionary": pd.DataFrame(
        {"x": pd.Series(["a", "a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))}
    ),
    "half floats": pa.table({"x": pa.array(np.ones(2, np.float16))}),
    "string views": pa.table({"x": pa.array(["a", "a"], type=pa.string_view())}),
    "large strings": pa.table({"x": pa.array(["a", "a"], type=pa.large_string())}),
    "durations": pl.DataFrame({"x": [dt.timedelta(1, 2)] * 2}),
    "pandas durations": pd.DataFrame({"x": pd.to_timedelta([1, 1], unit="h")}),
    "times of day": pl.DataFrame({"x": [dt.time(1, 2)] * 2}),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_odd_dtypes_can_be_written(tmp_path: Path, what: str, suffix: str) -> None:
    assert write(ODD[what], tmp_path / f"out{suffix}", keys=["x"], k=2).k_counted == 2


def test_the_three_libraries_write_the_same_text(tmp_path: Path) -> None:
    columns = {
        "a": [1, 1, None, None],
        "w": ["é", "é", None, None],
        "f": [0.5, 0.5, -0.0, 0.0],
        "b": [True] * 4,
    }
    texts = set()
    for library in LIBRARIES:
        path = tmp_path / f"{library}.csv"
        write(native(columns, library), path, keys=["a", "w", "f"], k=2)
        texts.add(path.read_text(encoding="utf-8").replace(".0,", ","))  # pandas holds 1, None as floats
    assert len(texts) == 1


def test_zero_has_no_sign(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [0.0, -0.0], "y": [float("nan"), None]})
    assert write(table, tmp_path / "out.csv", keys=["x", "y"], k=2).k_counted == 2
    assert (tmp_path / "out.csv").read_text() == "x,y\n0.0,\n0.0,\n"


def test_spreadsheet_formulas_are_disarmed(tmp_path: Path) -> None:
    risky = ["=1+1", "+x", "-x()", "@x", "\tx", "\rx", "fine", "a=b", "-1.5"]
    table = pl.DataFrame({"k": [1] * 9, "=text": risky, "n": [-1] * 9})
    receipt = write(table, tmp_path / "out.csv", keys=["k", "n"], k=2)
    assert receipt.guarded_cells == 7  # six cells and a heading
    rows = reread(tmp_path / "out.csv")
    assert [row["'=text"] for row in rows] == [
        "'=1+1",
        "'+x",
        "'-x()",
        "'@x",
        "'\tx",
        "'\rx",
        "fine",
        "a=b",
        "-1.5",
    ]
    assert {row["n"] for row in rows} == {"-1"}  # a number is no formula
    assert write(table, tmp_path / "out.parquet", keys=["k"], k=2).guarded_cells == 0
    assert write(table, tmp_path / "bare.csv", keys=["k"], k=2, guard=False).guarded_cells == 0
    assert [row["=text"] for row in reread(tmp_path / "bare.csv")] == risky
    write(table.select("=text", "k"), tmp_path / "key.csv", keys=["k"], k=2)
    write(pl.DataFrame({"=k": ["=a", "=a"]}), tmp_path / "guarded.csv", keys=["=k"], k=2)


def test_one_column_with_missing_values_keeps_its_rows(tmp_path: Path) -> None:
    receipt = write(pl.DataFrame({"a": ["x", None, None, "x"]}), tmp_path / "out.csv", keys=["a"], k=2)
    assert receipt.rows == 4
    assert (tmp_path / "out.csv").read_text() == 'a\nx\n""\n""\nx\n'


def test_nested_values_do_not_fit_text(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [1, 1], "l": [["SECRET"], ["SECRET"]]})
    with pytest.raises(WriteError, match=r"could not write 'out[.]csv' as csv") as caught:
        write(table, tmp_path / "out.csv", keys=["age"], k=2)
    assert "SECRET" not in str(caught.value)
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_nothing_else_travels(tmp_path: Path, library: str, suffix: str) -> None:
    """Rows, categories and metadata that are not in the table are not in the file either."""
    secret = "SECRET" * 4
    words = [f"{secret}{i}" for i in range(50)] + ["kept"] * 4
    table = pl.DataFrame({"w": words, "c": words, "k": [1] * 54}).with_columns(
        pl.col("c").cast(pl.Categorical)
    )
    if library == "pandas":
        frame = pd.DataFrame({"w": words, "c": pd.Categorical(words), "k": 1}, index=words)
        frame.attrs["source"] = secret
        kept: Any = frame[frame["w"] == "kept"]
    elif library == "pyarrow":
        kept = table.to_arrow().replace_schema_metadata({"source": secret}).slice(50)
    else:
        kept = table.filter(pl.col("w") == "kept")
    write(kept, tmp_path / f"out{suffix}", keys=["w", "c", "k"], k=4)
    raw = (tmp_path / f"out{suffix}").read_bytes()
    if suffix == ".arrow":  # compressed: look inside
        arrow = pa.ipc.open_file(pa.BufferReader(raw)).read_all()
        raw = b"".join(b.to_pybytes() for col in arrow.columns for c in col.chunks for b in c.buffers() if b)
        assert arrow.schema.metadata is None
    assert secret.encode() not in raw
    assert str(tmp_path).encode() not in raw


@pytest.mark.parametrize("library", LIBRARIES)
def test_tidy(library: str) -> None:
    frame = as_frame(everything(library))
    clean = tidy(frame)
    assert clean.columns == frame.columns
    ordered = clean["ordered"].to_native()
    if library == "polars":
        assert ordered.dtype.categories.to_list() == ["ç", "b", "漢字", "a"]
    elif library == "pandas":
        assert list(ordered.cat.categories) == ["ç", "b", "漢字", "a"]
        assert ordered.cat.ordered
        assert list(clean.to_native().index) == list(range(40))
    else:
        assert ordered.chunk(0).dictionary.to_pylist() == ["ç", "b", "漢字", "a"]
    assert [str(v) for v in clean["ordered"].to_list()] == [str(v) for v in frame["ordered"].to_list()]
    zeros = tidy(native({"x": [-0.0, 0.0]}, library))["x"].to_numpy()
    assert not np.signbit(zeros).any()


def test_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_checker_is_independent() -> None:
    source = Path(check.__file__).read_text(encoding="utf-8")
    imports = [line.strip() for line in source.splitlines() if line.strip().startswith(("import ", "from "))]
    assert imports
    assert not any("voronym" in line or line.startswith("from .") for line in imports)


@pytest.mark.parametrize("hidden", ["pyarrow", "pyarrow duckdb"])
def test_the_checker_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    find = check.importlib.util.find_spec
    monkeypatch.setattr(
        check.importlib.util, "find_spec", lambda name: None if name in hidden.split() else find(name)
    )
    for suffix in (".parquet", ".arrow"):
        assert write(GOOD, tmp_path / f"out{suffix}", keys=["age", "word"], k=2).k_counted == 2
        with pytest.raises(WriteError, match="fewer than k=2"):
            write(BROKEN, tmp_path / f"bad{suffix}", keys=["age", "word"], k=2)


def test_the_checker_notices_lost_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "count_delimited", lambda *_: (3, 2))
    with pytest.raises(WriteError, match="3 of 4 rows came back"):
        write(GOOD, tmp_path / "out.csv", keys=["age"], k=2)


def test_text_that_is_not_utf8_breaks_nothing(tmp_path: Path) -> None:
    lone = pd.DataFrame({"k": [1, 1], "w": pd.Series(["\ud800", "\ud800"], dtype=object)})
    with pytest.raises(WriteError, match="could not write"):
        write(lone, tmp_path / "out.csv", keys=["k"], k=2)
    assert names(tmp_path) == []


def test_pandas_without_pyarrow(tmp_path: Path) -> None:
    """PyArrow is not among the requirements: neither encoding nor writing a pandas table may need it."""
    script = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "import pandas as pd\n"
        "from voronym.table import Codec, Schema, check, read, write\n"
        "find = check.importlib.util.find_spec\n"
        "check.importlib.util.find_spec = lambda name: None if name == 'pyarrow' else find(name)\n"
        "table = pd.DataFrame({'w': ['é', None] * 2, 'x': [1.5, None] * 2,\n"
        "                      'c': pd.Categorical(['a', 'b'] * 2),\n"
        "                      't': pd.to_datetime(['2020-01-01', None] * 2), 'b': [True, False] * 2})\n"
        "codec = Codec.fit(table, Schema.build(table, keys=list(table)))\n"
        "back = codec.decode(codec.encode(table))\n"
        "for suffix in ('csv', 'parquet', 'arrow'):\n"
        "    assert write(back, f'{sys.argv[1]}/x.{suffix}', keys=list(table), k=2).k_counted == 2\n"
        "    assert read(f'{sys.argv[1]}/x.{suffix}').shape == (4, 5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
