"""Tables and work folders in Google's and Microsoft's stores, by emulators that this test starts.

Where they are missing: ``pip install gcsfs gcp-storage-emulator adlfs`` and ``npm install -g azurite``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from scale.conftest import ROLES as PARTS
from scale.conftest import people, rows, write
from voronym.core.atomic import placed, together
from voronym.run.parts import afar, spill

fsspec = pytest.importorskip("fsspec", reason="pip install 'voronym[remote]'")
pytestmark = pytest.mark.filterwarnings("ignore")
PEOPLE = pl.DataFrame(
    {"age": [30, 31, 32, 33, 60, 61, 62, 63], "sex": ["f"] * 4 + ["m"] * 4, "ill": ["flu", "none"] * 4}
)
ROLES: dict[str, Any] = {"keys": ["age", "sex"], "confidential": ["ill"], "k": 4}
GOOGLE = """
import sys; from gcp_storage_emulator.server import create_server
s = create_server('127.0.0.1', 0, in_memory=True, default_bucket='places')
s.start(); print('port', s._api._httpd.server_address[1], flush=True); sys.stdin.read(); s.stop()
"""
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of every emulator of Microsoft's store; it is in its manual."""


def started(words: list[str], pattern: str) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return it and the port that it prints."""
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        port = re.search(pattern, line)
        if port is not None:
            return process, port[1]
    raise AssertionError(f"{words[0]} did not start")


@contextmanager
def google() -> Iterator[dict[str, str]]:
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"  # read on import; no emulator speaks gRPC
    for name in ("gcsfs", "gcp_storage_emulator"):
        pytest.importorskip(name, reason="pip install gcsfs gcp-storage-emulator")
    process, port = started([sys.executable, "-c", GOOGLE], r"port (\d+)")
    try:
        yield {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
    finally:
        process.kill()
        process.communicate()


@contextmanager
def microsoft() -> Iterator[dict[str, str]]:
    pytest.importorskip("adlfs", reason="pip install adlfs")
    here = os.pathsep.join([str(Path(sys.prefix) / "node_modules" / ".bin"), os.environ.get("PATH", "")])
    program = shutil.which("azurite-blob", path=here)
    if program is None:
        pytest.skip("the emulator is missing: npm install -g azurite")
    words = [program, "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--blobPort"]
    process, port = started([*words, "0"], r"listens on \S+?:(\d+)$")
    account = f"AccountName=devstoreaccount1;AccountKey={KEY}"
    place = f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
    try:
        yield {"AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;{account};{place}"}
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module", params=["gs", "az"])
def cloud(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a store; give how its addresses begin, and what its owner has in the environment."""
    with {"gs": google, "az": microsoft}[request.param]() as known:
        yield request.param, known


@pytest.fixture
def place(
    cloud: tuple[str, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Have the people in a bucket and nothing else, and a folder for passing files to look into."""
    scheme, known = cloud
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})  # the emulator knows nobody
    (tmp_path / "passing").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "passing"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "passing"))
    monkeypatch.chdir(tmp_path)
    store = fsspec.filesystem(scheme)
    store.clear_instance_cache()
    store = fsspec.filesystem(scheme)
    if scheme == "az" and not store.exists("places"):
        store.mkdir("places")
    for name in store.find("places"):
        store.rm_file(name)
    store.pipe_file("places/people.csv", PEOPLE.write_csv().encode())
    yield f"{scheme}://places"
    store.clear_instance_cache()


def objects(place: str) -> list[str]:
    """Return the names of everything in the bucket, asked without what fsspec remembers."""
    scheme = place.partition(":")[0]
    store = fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=True)
    return sorted(name.removeprefix("places/") for name in store.find("places"))


def nothing_else(place: str, *names: str) -> None:
    """Find only these objects in the bucket, and no copy on this machine."""
    assert objects(place) == sorted(names)
    assert not list(Path("passing").iterdir())


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_read_and_written(place: str, name: str) -> None:
    release = vr.anonymize(vr.read(f"{place}/people.csv"), **ROLES)
    assert release.write(f"{place}/{name}").k_counted == 4
    there, here = vr.read(f"{place}/{name}"), vr.anonymize(PEOPLE, **ROLES).frame().collect()
    assert sorted(there.rows()) == sorted(here.rows())
    with pytest.raises(vr.WriteError, match=f"'{name}' exists already"):
        release.write(f"{place}/{name}")
    release.write(f"{place}/{name}", overwrite=True)
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
    monkeypatch.setattr(type(path), "exists", lambda _: False)
    spill.keep(path, 2)
    assert spill.recall(path) == 1
