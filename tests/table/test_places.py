"""Where tables come from and go to: every source with every sink, and addresses that fail."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from voronym.cli import main
from voronym.core.atomic import placed, together
from voronym.core.locks import sweep
from voronym.run.source import as_files

fsspec = pytest.importorskip("fsspec")
duckdb = pytest.importorskip("duckdb")

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
PEOPLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 60, 61, 62, 63],
        "sex": ["f"] * 4 + ["m"] * 4,
        "ill": ["flu", "none", None, "flu"] * 2,
    }
)
SELECT = {"query": "select * from people"}
SOURCES = {
    "data frame": None,
    "text": "people.csv",
    "Parquet": "people.parquet",
    "SQLite": "people.sqlite",
    "DuckDB": "people.duckdb",
    "`memory://`": "memory://places/people.csv",
}
SINKS = {
    "text": "out.csv",
    "Parquet": "out.parquet",
    "SQLite": "out.sqlite",
    "DuckDB": "out.duckdb",
    "`memory://`": "memory://places/out.parquet",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Have the people in every source, in the working folder and in a store in memory."""
    monkeypatch.chdir(tmp_path)
    store = fsspec.filesystem("memory")
    PEOPLE.write_csv("people.csv")
    PEOPLE.write_parquet("people.parquet")
    store.pipe_file("/places/people.csv", PEOPLE.write_csv().encode())
    with sqlite3.connect("people.sqlite") as base:
        base.execute("create table people (age integer, sex text, ill text)")
        base.executemany("insert into people values (?, ?, ?)", PEOPLE.rows())
    with duckdb.connect("people.duckdb") as base:
        base.execute("create table people (age integer, sex text, ill text)")
        base.executemany("insert into people values (?, ?, ?)", PEOPLE.rows())
    yield store
    store.rm("/places", recursive=True)


def release_of(source: str | None) -> vr.Release:
    asks = source is not None and source.endswith(("sqlite", "duckdb"))
    table = PEOPLE if source is None else vr.read(source, **(SELECT if asks else {}))
    return vr.anonymize(table, keys=["age", "sex"], confidential=["ill"], k=4)


def rows_at(sink: str) -> list[tuple[object, ...]]:
    asks = sink.endswith(("sqlite", "duckdb"))
    frame = vr.read(sink, **({"query": "select * from release"} if asks else {}))
    return sorted(frame.rows(), key=str)


def test_every_source_goes_to_every_sink_as_the_page_says(store: Any) -> None:
    lines = ["| from \\ to | " + " | ".join(SINKS) + " |", "|---" * (len(SINKS) + 1) + "|"]
    every = set()
    for label, source in SOURCES.items():
        release, cells = release_of(source), []
        for sink in SINKS.values():
            k = release.write(sink).k_counted
            every.add(tuple(rows_at(sink)))
            cells.append("yes" if k == 4 else f"k = {k}")
            if "://" in sink:
                store.rm_file("/places/out.parquet")
            else:
                Path(sink).unlink()
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    assert len(every) == 1, "the same people must give the same rows, wherever they come from and go to"
    page = PAGE.read_text(encoding="utf-8")
    table = re.search(r"<!-- places -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert table is not None
    assert table[1].splitlines() == lines


def test_a_taken_address_is_refused_and_replaced_on_demand(store: Any) -> None:
    release = release_of(None)
    release.write("memory://places/out.csv")
    with pytest.raises(vr.WriteError, match=r"'out.csv' exists already"):
        release.write("memory://places/out.csv")
    release.write("memory://places/out.csv", overwrite=True)


def write_beside_a_taken_name() -> None:
    """Put a release to an address together with a report whose name somebody takes meanwhile."""
    with together():
        release_of(None).write("memory://places/out.csv", overwrite=True)
        with placed(Path("taken.html"), overwrite=False) as file:
            file.write_text("a report", encoding="utf-8")
        Path("taken.html").write_text("of somebody else", encoding="utf-8")


@pytest.mark.parametrize("earlier", [None, b"as it was"])
def test_the_address_stays_as_it_was_where_a_report_fails(store: Any, earlier: bytes | None) -> None:
    if earlier is not None:
        store.pipe_file("/places/out.csv", earlier)
    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name()
    assert store.exists("/places/out.csv") == (earlier is not None)
    assert earlier is None or store.cat_file("/places/out.csv") == earlier


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("memory://places/none.csv", "nothing at the address of 'none.csv'"),
        ("zz://places/none.csv", "no store is known for addresses that start with zz://"),
    ],
)
def test_addresses_that_lead_nowhere(store: Any, address: str, says: str) -> None:
    with pytest.raises(vr.ReadError, match=says):
        vr.read(address)


def test_a_ledger_needs_a_file_of_this_machine(store: Any) -> None:
    people, roles = PEOPLE.with_row_index("id"), {"keys": ["age", "sex"], "confidential": ["ill"]}
    release = vr.anonymize(people, **roles, identifiers=["id"], k=4, ledger="l.ledger")
    with pytest.raises(vr.WriteError, match="which a store cannot promise"):
        release.write("memory://places/out.csv")


def test_the_command_line_takes_addresses(
    store: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    roles = ["--key", "age,sex", "--confidential", "ill", "-k", "4"]
    words = ["voronym", "anonymize", "memory://places/people.csv", *roles]
    monkeypatch.setattr("sys.argv", [*words, "-o", "memory://places/out.csv"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert b"ill" in store.cat_file("/places/out.csv")
    monkeypatch.setattr("sys.argv", [*words, "-o", "memory://places/people.csv", "--overwrite"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "never written over" in capsys.readouterr().err


def test_another_run_leaves_a_frame_that_is_laid_down(tmp_path: Path) -> None:
    with as_files(PEOPLE, tmp_path) as folder:
        sweep(tmp_path)
        assert list(folder.iterdir())
    assert not list(tmp_path.iterdir())
