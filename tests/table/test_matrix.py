"""Every source with every engine and every sink: the same rows, k counted by DuckDB; the page's tables."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from location.town_hall import Postgres, postgres_bin
from voronym.core.atomic import placed, together
from voronym.table.places import PLACES

duckdb = pytest.importorskip("duckdb")
fsspec = pytest.importorskip("fsspec")
PAGE = Path(__file__).parents[2] / "docs" / "files.md"
PEOPLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 60, 61, 62, 63],
        "sex": ["f"] * 4 + ["m"] * 4,
        "ill": ["flu", "none", None, "flu"] * 2,
    }
)
ROLES: dict[str, Any] = {"keys": ["age", "sex"], "confidential": ["ill"], "k": 4}
SELECT = "select * from people"
NEEDS = {
    "Delta": "deltalake",
    "Iceberg": "pyiceberg",
    "PostgreSQL": "psycopg",
    "Dask frame": "dask",
    "Spark frame": "pyspark",
    "spark": "pyspark",
    "dask": "dask",
}
"""What a place or an engine needs; where it is missing, its row is not tried."""
SOURCES: dict[str, Callable[[], Any]] = {
    "data frame": lambda: PEOPLE,
    "LazyFrame": lambda: PEOPLE.lazy(),
    "Arrow data set": lambda: _arrow(),
    "text": lambda: "people.csv",
    "Parquet": lambda: "people.parquet",
    "folder of files": lambda: "folder",
    "SQLite": lambda: "people.sqlite",
    "DuckDB": lambda: "people.duckdb",
    "PostgreSQL": lambda: _town(),
    "`memory://` file": lambda: "memory://matrix/people.csv",
    "`memory://` folder": lambda: "memory://matrix/folder/*.parquet",
    "Delta": lambda: "delta:people.delta",
    "Iceberg": lambda: "iceberg:local/town.people",
    "Dask frame": lambda: _dask(),
    "Spark frame": lambda: _spark(),
}
SINKS = {
    "text": "out.csv",
    "Parquet": "out.parquet",
    "folder": "out",
    "new SQLite": "new.sqlite",
    "new DuckDB": "new.duckdb",
    "DuckDB": "town.duckdb",
    "PostgreSQL": None,
    "`memory://`": "memory://matrix/out.parquet",
    "Delta": "delta:out.delta",
    "Iceberg": "iceberg:local/town.release",
}
ENGINES = ("memory", "local", "dask", "spark")
town: dict[str, Any] = {}


def _arrow() -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset("people.parquet")


def _dask() -> Any:
    import dask
    import dask.dataframe

    dask.config.set({"dataframe.convert-string": True})
    return dask.dataframe.read_parquet("people.parquet")


def _spark() -> Any:
    return town["spark"]().read.parquet(Path("people.parquet").absolute().as_uri())


def _town() -> str:
    return str(town["address"])


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres | None]:
    programs = postgres_bin()
    made = None if programs is None else Postgres(programs, "-c fsync=off")
    yield made
    if made is not None:
        made.close()


@pytest.fixture
def places(server: Postgres | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Have the people everywhere; give the names of places and engines that are missing here."""
    monkeypatch.chdir(tmp_path)
    missing = {name for name, module in NEEDS.items() if importlib.util.find_spec(module) is None}
    PEOPLE.write_csv("people.csv")
    PEOPLE.write_parquet("people.parquet")
    store = fsspec.filesystem("memory")
    store.pipe_file("/matrix/people.csv", PEOPLE.write_csv().encode())
    Path("folder").mkdir()
    for number in range(2):
        part = Path(f"folder/part-{number}.parquet")
        PEOPLE[4 * number : 4 * number + 4].write_parquet(part)
        store.pipe_file(f"/matrix/{part}", part.read_bytes())
    with closing(sqlite3.connect("people.sqlite")) as base, base:
        base.execute("create table people (age integer, sex text, ill text)")
        base.executemany("insert into people values (?, ?, ?)", PEOPLE.rows())
    for name in ("people.duckdb", "town.duckdb"):
        with duckdb.connect(name) as base:
            base.execute("create table people as select * from 'people.parquet'")
    if server is None:
        missing.add("PostgreSQL")
    else:
        import psycopg

        town["address"] = server.fresh().replace("+psycopg", "")
        with psycopg.connect(town["address"]) as base:
            base.execute("create table people (age integer, sex text, ill text)")
            for row in PEOPLE.rows():
                base.execute("insert into people values (%s, %s, %s)", row)
    if "Delta" not in missing:
        import deltalake

        deltalake.write_deltalake("people.delta", PEOPLE.to_arrow())
        stranger = pl.DataFrame({"age": [99], "sex": ["m"], "ill": ["gone"]})
        deltalake.write_deltalake("people.delta", stranger.to_arrow(), mode="append")
        deltalake.DeltaTable("people.delta").delete("age = 99")  # its row still lies in a file
    if "Iceberg" not in missing:
        monkeypatch.setenv("PYICEBERG_CATALOG__LOCAL__URI", f"sqlite:///{tmp_path}/catalogue.db")
        monkeypatch.setenv("PYICEBERG_CATALOG__LOCAL__WAREHOUSE", f"file://{tmp_path}/warehouse")
        from pyiceberg.catalog import load_catalog
        from pyiceberg.utils.config import Config

        monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # it reads the environment once
        (tmp_path / "warehouse").mkdir()
        catalogue = load_catalog("local")
        catalogue.create_namespace("town")
        people = PEOPLE.to_arrow(compat_level=pl.CompatLevel.oldest())
        catalogue.create_table("town.people", people.schema).append(people)
    yield missing
    store.rm("/matrix", recursive=True)


def released(source: str, engine: str, output: str | None = None) -> vr.Release:
    """Make a release of the people, and write it."""
    data = SOURCES[source]()
    reading = {"query": SELECT} if source in ("SQLite", "DuckDB", "PostgreSQL") else {}
    parts = {"engine": engine, "workers": 1} if engine != "memory" else {}
    return vr.anonymize(data, output=output, reading=reading, overwrite=True, **parts, **ROLES)


def rows_at(sink: str) -> list[tuple[object, ...]]:
    """Read a sink, and have DuckDB count."""
    place = town["address"] if SINKS[sink] is None else str(SINKS[sink])
    query = "select * from release"
    if sink == "folder":
        frame = pl.concat(
            [vr.read(file) for file in sorted(Path(place).iterdir()) if not file.name.startswith(".")]
        )
    else:
        frame = vr.read(place, **({"query": query} if "DuckDB" in sink or "SQL" in sink else {}))
    frame = frame.select(pl.col("age").cast(pl.Int64), "sex", "ill")
    counts = "select min(n), sum(n) from (select count(*) as n from frame group by age, sex)"
    assert duckdb.sql(counts).fetchall() == [(4, 8)]
    return sorted(frame.rows(), key=str)


def why(action: Callable[[], object]) -> str:
    """Return "yes", or the first words of the reason why not."""
    try:
        action()
    except vr.VoronymError as error:
        text = re.sub(r"^'[^']+': ", "", str(error))
        return f"no: {re.split(r'[:;]', text)[0]}"
    return "yes"


def table(heading: tuple[str, ...], rows: dict[str, list[str]]) -> list[str]:
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    return [*lines, *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items())]


def on_page(mark: str) -> list[str]:
    made = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert made is not None
    return made[1].splitlines()


def compare(
    mark: str, heading: tuple[str, ...], rows: dict[str, list[str]], engines: tuple[str, ...]
) -> None:
    """Find the page's table to say the same of everything that was tried."""
    lines = table(heading, rows)
    page = on_page(mark)
    columns = [0, *(1 + ENGINES.index(engine) for engine in engines)] if mark == "sources" else None
    for line in page[2:]:
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        shown = [cells[column] for column in columns] if columns else cells
        if cells[0] in rows:
            assert "| " + " | ".join(shown) + " |" in lines
    assert set(rows) <= {line.strip("| ").split(" | ")[0] for line in page[2:]}


def try_sources(missing: set[str], engines: tuple[str, ...]) -> tuple[dict[str, list[str]], set[Any]]:
    rows: dict[str, list[str]] = {}
    every: set[Any] = set()
    for source in SOURCES:
        if source in missing:
            continue
        cells = []
        for engine in engines:

            def make(source: str = source, engine: str = engine) -> None:
                release = released(source, engine)  # whose folder is gone with it
                made = release.frame().collect()
                every.add(
                    tuple(sorted(made.select(pl.col("age").cast(pl.Int64), "sex", "ill").rows(), key=str))
                )

            cells.append(why(make))
        rows[source] = cells
    return rows, every


def try_sinks(missing: set[str], engine: str, source: str = "Parquet") -> tuple[list[str], set[Any]]:
    cells, every = [], set()
    for sink, place in SINKS.items():
        if sink in missing:
            cells.append("")
            continue
        output = town["address"] if place is None else place

        def make(output: str = output, sink: str = sink) -> None:
            released(source, engine, output)
            every.add(tuple(rows_at(sink)))

        cells.append(why(make))
        for name in ("new.sqlite", "new.duckdb"):
            Path(name).unlink(missing_ok=True)
        shutil.rmtree("out", ignore_errors=True)
    return cells, every


def test_sources_and_sinks_are_as_the_page_says(places: set[str]) -> None:
    """In memory and over parts; the other engines run the same code over the same files (slow test)."""
    engines = ("memory", "local")
    rows, every = try_sources(places | {"Spark frame", "Dask frame"}, engines)
    compare("sources", ("", *engines), rows, engines)
    sinks = {}
    for engine in engines:
        sinks[engine], more = try_sinks(places, engine)
        every |= more
    both = {
        sink: [sinks[engine][number] for engine in engines]
        for number, sink in enumerate(SINKS)
        if sink not in places
    }
    compare("sinks", ("", *engines), both, engines)
    assert len(every) == 1, "the same people must give the same rows, wherever they come from and go to"


def test_every_place_is_in_the_matrix() -> None:
    assert {"Delta", "DuckDB", "Iceberg", "PostgreSQL", "store"} == set(PLACES)


@pytest.mark.parametrize("sink", ["DuckDB", "Delta", "Iceberg"])
def test_a_sink_is_as_it_was_where_a_report_fails(places: set[str], sink: str) -> None:
    if sink in places:
        pytest.skip(f"{NEEDS[sink]} is not installed")
    release, address = vr.anonymize(PEOPLE, **ROLES), str(SINKS[sink])

    def write_beside_a_taken_name(*, overwrite: bool) -> None:
        with together():
            release.write(address, overwrite=overwrite)
            with placed(Path("taken.html"), overwrite=False) as file:
                file.write_text("a report", encoding="utf-8")
            Path("taken.html").write_text("of somebody else", encoding="utf-8")

    before = {path for path in Path.cwd().rglob("*") if "wal" not in path.suffix}
    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name(overwrite=False)
    after = {path for path in Path.cwd().rglob("*") if "wal" not in path.suffix}
    assert {path.name for path in after - before} - {"release"} == {"taken.html"}
    Path("taken.html").unlink()
    with pytest.raises(vr.ReadError):
        rows_at(sink)
    release.write(address)
    there = rows_at(sink)
    with pytest.raises(vr.WriteError, match="exists already"):
        release.write(address)
    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name(overwrite=True)
    assert rows_at(sink) == there
    release.write(address, overwrite=True)
    assert rows_at(sink) == there


@pytest.mark.parametrize(
    ("place", "table"),
    [("town.duckdb", "people"), ("delta:people.delta", None), ("iceberg:local/town.people", None)],
)
def test_a_table_that_is_not_ours_stays(places: set[str], place: str, table: str | None) -> None:
    if {"delta": "Delta", "iceberg": "Iceberg"}.get(place.partition(":")[0]) in places:
        pytest.skip("its library is not installed")
    with pytest.raises(vr.WriteError, match="not written by voronym"):
        vr.anonymize(PEOPLE, **ROLES).write(place, table=table, overwrite=True)
    query = {"query": SELECT} if table else {}
    assert sorted(vr.read(place, **query).rows(), key=str) == sorted(PEOPLE.rows(), key=str)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_source_with_every_engine_and_every_sink(places: set[str]) -> None:
    """The sink does not depend on where the rows come from and who groups them."""
    if "spark" not in places:
        from pyspark.sql import SparkSession

        town["spark"] = lambda: SparkSession.builder.master("local[1]").getOrCreate()
    engines = tuple(engine for engine in ENGINES if engine not in places)
    rows, every = try_sources(places, engines)
    compare("sources", ("", *engines), rows, engines)
    for source, works in rows.items():
        for engine, cell in zip(engines, works, strict=True):
            if cell == "yes" and engine in ("memory", "local"):
                cells, more = try_sinks(places, engine, source)
                every |= more
                page = {line.strip("| ").split(" | ")[0]: line for line in on_page("sinks")[2:]}
                column = 1 + ("memory", "local").index(engine)
                if source in ("folder of files", "`memory://` folder", "Dask frame", "Spark frame"):
                    column = 2
                for sink, cell_ in zip(SINKS, cells, strict=True):
                    if cell_:
                        assert page[sink].strip("| ").split(" | ")[column].strip() == cell_, (
                            source,
                            engine,
                            sink,
                        )
    assert len(every) == 1
