"""Tables and work folders in the stores of three makers: read, written, refused, nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from scale.conftest import ROLES as PARTS
from scale.conftest import people, rows, write
from table.clouds import CLOUDS, MISSING, PEOPLE, ROLES, bucket, nothing_else
from voronym.core.atomic import placed, together
from voronym.run.parts import afar, spill

fsspec = pytest.importorskip("fsspec", reason=MISSING)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=list(CLOUDS))
def cloud(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a store; give how its addresses begin, and what its owner has in the environment."""
    with CLOUDS[request.param]() as known:
        yield request.param, known


@pytest.fixture
def place(
    cloud: tuple[str, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    with bucket(*cloud, tmp_path, monkeypatch) as address:
        yield address


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_read_and_written(place: str, name: str) -> None:
    address = f"{place}/{name}"
    release = vr.anonymize(vr.read(f"{place}/people.csv"), **ROLES)
    assert release.write(address).k_counted == 4
    there, here = vr.read(address), vr.anonymize(PEOPLE, **ROLES).frame().collect()
    assert sorted(there.rows()) == sorted(here.rows())
    nothing_else(place, name, "people.csv")
    store = fsspec.filesystem(place.partition(":")[0])
    before = store.cat_file(f"places/{name}")
    with pytest.raises(vr.WriteError, match=f"'{name}' exists already"):
        release.write(address)
    assert store.cat_file(f"places/{name}") == before
    release.write(address, overwrite=True)
    nothing_else(place, name, "people.csv")


def test_what_is_not_there(place: str) -> None:
    for address in (f"{place}/none.csv", place.replace("places", "nowhere") + "/people.csv"):
        with pytest.raises(vr.ReadError, match=r"could not be fetched|nothing at the address"):
            vr.read(address)
    with pytest.raises(vr.WriteError, match=r"does not answer|could not write"):
        vr.anonymize(PEOPLE, **ROLES).write(place.replace("places", "nowhere") + "/out.csv")
    nothing_else(place, "people.csv")


@pytest.mark.parametrize("earlier", [None, b"as it was"])
def test_a_run_that_fails_leaves_the_address_as_it_was(place: str, earlier: bytes | None) -> None:
    store = fsspec.filesystem(place.partition(":")[0])
    if earlier is not None:
        store.pipe_file("places/out.csv", earlier)

    def write_beside_a_taken_name() -> None:
        with together():
            vr.anonymize(PEOPLE, **ROLES).write(f"{place}/out.csv", overwrite=True)
            with placed(Path("taken.html"), overwrite=False) as file:
                file.write_text("a report", encoding="utf-8")
            Path("taken.html").write_text("of somebody else", encoding="utf-8")

    with pytest.raises(vr.WriteError, match=r"taken\.html"):
        write_beside_a_taken_name()
    nothing_else(place, *(["out.csv"] if earlier is not None else []), "people.csv")
    assert earlier is None or store.cat_file("places/out.csv") == earlier


def test_many_files(place: str, tmp_path: Path) -> None:
    """A pattern in the store is the source, one file in it the sink."""
    data = write(people(900), tmp_path / "data", 2)
    store = fsspec.filesystem(place.partition(":")[0])
    for file in data.iterdir():
        store.put_file(str(file), f"places/data/{file.name}")
    asked: dict[str, Any] = {**PARTS, "k": 4, "leaf": 300, "workers": 1}
    vr.anonymize(data, output=tmp_path / "near", **asked)
    vr.anonymize(f"{place}/data/*.parquet", output=f"{place}/out.parquet", engine="local", **asked)
    assert vr.read(f"{place}/out.parquet").sort(pl.all()).equals(rows(tmp_path / "near"))
    nothing_else(place, "people.csv", "out.parquet", *(f"data/{file.name}" for file in data.iterdir()))


def test_a_work_folder(place: str, tmp_path: Path) -> None:
    data = write(people(900), tmp_path / "data", 2)
    asked: dict[str, Any] = {**PARTS, "k": 4, "leaf": 300, "workers": 1}
    vr.anonymize(data, output=tmp_path / "near", **asked)
    vr.anonymize(data, output=tmp_path / "far", work=f"{place}/work", **asked)
    assert rows(tmp_path / "far").equals(rows(tmp_path / "near"))
    nothing_else(place, "people.csv")


def test_of_two_files_the_first_one_counts(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where both looked before either was there."""
    if place.startswith("gs"):
        pytest.skip("the emulator puts a file whatever condition the request names")
    path = afar.path_of(f"{place}/file")
    spill.keep(path, 1)
    monkeypatch.setattr(afar, "exists", lambda _: False)
    spill.keep(path, 2)
    assert spill.recall(path) == 1
