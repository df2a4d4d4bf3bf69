"""Addresses of tables: taken, failing, killed, on the command line."""

from __future__ import annotations

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

PEOPLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 60, 61, 62, 63],
        "sex": ["f"] * 4 + ["m"] * 4,
        "ill": ["flu", "none", None, "flu"] * 2,
    }
)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Have the people in a store in memory."""
    monkeypatch.chdir(tmp_path)
    store = fsspec.filesystem("memory")
    store.pipe_file("/places/people.csv", PEOPLE.write_csv().encode())
    yield store
    store.rm("/places", recursive=True)


def release_of(source: str | None) -> vr.Release:
    return vr.anonymize(PEOPLE if source is None else source, keys=["age", "sex"], confidential=["ill"], k=4)


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


def test_a_pattern_of_a_store_is_measured_compared_and_checked(
    store: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        PEOPLE.write_parquet("part.parquet")
        store.pipe_file(f"/places/many/part-{number}.parquet", Path("part.parquet").read_bytes())
    pattern = "memory://places/many/*.parquet"
    assert vr.measure(pattern, keys=["sex"]).risk.k == 8
    for words in (
        ["measure", pattern, "--key", "sex", "--json"],
        ["compare", pattern, "--key", "age", "--json"],
    ):
        monkeypatch.setattr("sys.argv", ["voronym", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err
