"""A work folder in a store, for workers that share no disk: the same release, and nothing is left there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

import voronym as vr
from scale.conftest import ROLES, people, rows, write
from table.clouds import client_of, open_amazon
from voronym.run.parts import afar, spill

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("upath", reason="pip install 'voronym[remote]'")
pytestmark = pytest.mark.filterwarnings("ignore")
ASKED: dict[str, Any] = {**ROLES, "k": 4, "leaf": 300, "workers": 1}
WORK = "memory://work/here"


@pytest.fixture(autouse=True)
def _empty_store() -> None:
    """Begin with an empty store: all tests of a process share it."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def there() -> list[str]:
    """Return what is in the store."""
    return list(fsspec.filesystem("memory").find("/"))


def texts(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_csv(file, infer_schema=False) for file in folder.glob("*.csv")]).sort(pl.all())


def _parquet(home: Path) -> dict[str, Any]:
    """Two folders that name a column, rows of people who have two, and a ledger."""
    frame = people(900).with_columns(name=pl.Series([f"person {i // 2}" for i in range(900)]))
    (home / "data").mkdir()
    for year, piece in ((2020, frame[:450]), (2021, frame[450:])):
        write(piece, home / "data" / f"year={year}", 1)
    return {"keys": [*ROLES["keys"], "year"], "person": "name", "identifiers": None}


def _csv(home: Path) -> dict[str, Any]:
    (home / "data").mkdir()
    for part in range(2):
        people(450, seed=part).write_csv(home / "data" / f"part-{part}.csv")
    return {"report": True}


def _duckdb(home: Path) -> dict[str, Any]:
    import duckdb

    frame = people(900)  # noqa: F841 - read by its name
    with duckdb.connect(str(home / "data")) as base:
        base.sql("create table t as select * from frame")
    (home / "data").rename(home / "data.duckdb")
    return {"source": home / "data.duckdb", "reading": {"query": "select * from t"}}


@pytest.mark.parametrize("make", [_parquet, _csv, _duckdb])
def test_the_release_is_the_same(tmp_path: Path, make: Callable[[Path], dict[str, Any]]) -> None:
    asked = {**ASKED, **make(tmp_path)}
    source = asked.pop("source", tmp_path / "data")
    for name, more in (("near", {}), ("far", {"work": WORK})):
        ledger = {"ledger": tmp_path / f"{name}.ledger"} if make is _parquet else {}
        vr.anonymize(source, output=tmp_path / name, **asked, **more, **ledger)
    read = texts if make is _csv else rows
    assert read(tmp_path / "far").equals(read(tmp_path / "near"))
    assert not there()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_source_in_a_store_has_its_work_there_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voronym.cli import main

    data = write(people(900), tmp_path / "data", 2)
    vr.anonymize(data, output=tmp_path / "near", **ASKED)
    for file in data.iterdir():
        fsspec.filesystem("memory").put_file(str(file), f"/data/{file.name}")
    words = ["--key", ",".join(ROLES["keys"]), "--confidential", "ill", "--identifier", "name", "-k", "4"]
    words += ["--order", "grade=low<mid<high", "--leaf", "300", "--workers", "1", "--work", WORK]
    monkeypatch.setattr(
        "sys.argv",
        ["voronym", "anonymize", "memory://data/*.parquet", "-o", str(tmp_path / "out"), *words],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert rows(tmp_path / "out").equals(rows(tmp_path / "near"))
    assert there() == [f"/data/{file.name}" for file in sorted(data.iterdir())]


def test_a_measurement_is_the_same(data: Path) -> None:
    asked: dict[str, Any] = {"keys": ROLES["keys"], "confidential": ["ill"], "workers": 1}
    assert str(vr.measure(data, work=WORK, **asked)) == str(vr.measure(data, **asked))
    assert not there()


@pytest.mark.parametrize("error", [KeyboardInterrupt, afar.AwayError])
def test_an_interrupted_run_goes_on_and_tidies_up(tmp_path: Path, error: type[BaseException]) -> None:
    data = write(people(900), tmp_path / "data", 2)
    vr.anonymize(data, output=tmp_path / "near", **ASKED)

    def stop(step: vr.Progress) -> None:
        if "round 2" in step.stage:
            raise error

    for resume, more in ((True, {"resume": True}), (False, {})):
        with pytest.raises(error):
            vr.anonymize(data, output=tmp_path / "out", work=WORK, resume=True, progress=stop, **ASKED)
        assert any(name.endswith(".done") for name in there())
        assert not (tmp_path / "out").exists()
        stages: list[str] = []
        vr.anonymize(data, output=tmp_path / "out", work=WORK, **more, **ASKED,
                     progress=lambda step, stages=stages: stages.append(step.stage))  # fmt: skip
        assert any("round 1" in stage and ": 0 of" in stage for stage in stages) != resume
        assert rows(tmp_path / "out").equals(rows(tmp_path / "near"))
        assert not there()
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
        shutil.rmtree(tmp_path / "out")


class GoneError(Exception):
    """An error of a store's own, which Python does not know."""


def test_a_store_that_is_lost_at_any_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, store = write(people(900), tmp_path / "data", 2), fsspec.get_filesystem_class("memory")
    requests, most = 0, 10**9

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def request(*words: Any, **more: Any) -> Any:
            nonlocal requests
            requests += 1
            if requests > most:
                raise GoneError
            return real(*words, **more)

        return request

    for name in ("info", "ls", "cat_file", "put_file", "get_file", "rm_file"):
        monkeypatch.setattr(store, name, counted(getattr(store, name)))
    vr.anonymize(data, output=tmp_path / "near", work=WORK, **ASKED)
    for most in range(0, requests - 5, requests // 12):  # the last ones only tidy up  # noqa: B007
        requests = 0
        with pytest.raises(vr.VoronymError, match=r"the store of the work folder does not .*\(GoneError\)"):
            vr.anonymize(data, output=tmp_path / "out", work=WORK, **ASKED)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "near"]
    most = 10**9
    vr.anonymize(data, output=tmp_path / "out", work=WORK, **ASKED)
    assert rows(tmp_path / "out").equals(rows(tmp_path / "near"))
    assert not there()


def test_of_two_files_the_first_one_counts() -> None:
    path = afar.path_of(f"{WORK}/file")
    for value in (1, 2):
        spill.keep(path, value)
    assert spill.recall(path) == 1
    path.unlink()


def test_a_disk_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(people(900), tmp_path / "data", 2)
    vr.anonymize(data, output=tmp_path / "near", **ASKED)

    def link(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    vr.anonymize(data, output=tmp_path / "out", **ASKED)
    assert rows(tmp_path / "out").equals(rows(tmp_path / "near"))
    for value in (1, 2):
        spill.keep(tmp_path / "file", value)
    assert spill.recall(tmp_path / "file") == 1


def test_the_folder_of_another_machine_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(people(900), tmp_path / "data", 2)

    def stop(step: vr.Progress) -> None:
        if "round 1" in step.stage:
            raise KeyboardInterrupt

    with monkeypatch.context() as other:
        other.setattr(afar.socket, "gethostname", lambda: "elsewhere")
        with pytest.raises(KeyboardInterrupt):
            vr.anonymize(data, output=tmp_path / "out", work=WORK, resume=True, progress=stop, **ASKED)
    before = there()
    vr.anonymize(data, output=tmp_path / "out", work=WORK, **ASKED)
    assert there() == before
    fsspec.filesystem("memory").rm("/", recursive=True)


@pytest.mark.parametrize("outputs", [["one/out", "other/out"], ["memory://out/one.parquet"] * 2])
def test_another_run_in_the_same_place_is_left_alone(tmp_path: Path, outputs: list[str]) -> None:
    """Work folders are called by the name of the output, and all of them `release` if that is an address."""
    data, asked = write(people(900), tmp_path / "data", 2), {**ASKED, "work": WORK, "engine": "local"}
    places = [str(tmp_path / name) if ":" not in name else name for name in outputs]
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    others: list[Any] = []

    def release(number: int, **more: Any) -> None:
        others.append(vr.anonymize(data, output=places[number], overwrite=True, **more, **asked))

    def meanwhile(step: vr.Progress) -> None:
        if "round 2" in step.stage and not others:
            thread = threading.Thread(target=release, args=[1], kwargs={"resume": ":" not in places[1]})
            thread.start()
            thread.join()

    release(0, progress=meanwhile)
    assert len(others) == 2
    assert not [name for name in there() if "/work/" in name]


@pytest.mark.parametrize(
    ("work", "more", "message"),
    [("memory://work", {"workers": 2}, "memory of one process"), ("sftp://host/work", {}, "sftp:// is none")],
)  # fmt: skip
def test_stores_that_will_not_do(data: Path, tmp_path: Path, work: str, more: Any, message: str) -> None:
    with pytest.raises(vr.VoronymError, match=message):
        vr.anonymize(data, output=tmp_path / "out", work=work, **{**ASKED, **more})
    assert not (tmp_path / "out").exists()


# -- machines of their own ---------------------------------------------------------------------------------

HIDE = 'mount -t tmpfs none "$1" && cd "$2" && shift 2 && exec "$@"'
"""Run a command that does not see a folder of this machine."""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any]]:
    """An S3 server, and a bucket."""
    with open_amazon() as known:
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()  # it keeps the address of another test's server
        for name, value in known.items():
            monkeypatch.setenv(name, value)
        client = client_of(known)
        client.create_bucket(Bucket="work-of-all")
        yield "s3://work-of-all/runs", client


@contextmanager
def apart(hidden: Path, home: Path, *commands: list[str]) -> Iterator[None]:
    """Run commands, each in a folder of its own and without the folder that the lead has."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("hiding a folder from a process needs the superuser")
    started = []
    for number, command in enumerate(commands):
        (home / str(number)).mkdir(parents=True)
        words = ["unshare", "-m", "bash", "-c", HIDE, "-", str(hidden), str(home / str(number)), *command]
        with (home / f"{number}.log").open("w") as log:
            started.append(subprocess.Popen(words, stdout=log, stderr=log))
    try:
        yield
    finally:
        for process in started:
            for child in (*psutil.Process(process.pid).children(recursive=True), process):
                child.kill()
            process.wait()


@pytest.mark.slow
def test_dask_workers_without_a_common_folder(
    data: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, bucket: Any
) -> None:
    from distributed import Client, LocalCluster

    work, client = bucket
    vr.anonymize(data, output=tmp_path / "near", **{**ASKED, "leaf": 800})
    with LocalCluster(n_workers=0, dashboard_address=None, host="127.0.0.1") as cluster:
        address = cluster.scheduler_address
        plain = ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *plain]
        with apart(tmp_path, tmp_path_factory.mktemp("apart"), command, command):
            with Client(address) as seen:
                seen.wait_for_workers(2, timeout=60)
                assert set(seen.run(os.path.exists, str(data)).values()) == {False}
            asked = {**ASKED, "leaf": 800, "engine": "dask", "address": address, "workers": 2}
            vr.anonymize(data, output=tmp_path / "far", work=work, **asked)
            with pytest.raises(vr.VoronymError):
                vr.anonymize(data, output=tmp_path / "no", work=tmp_path / "work", **asked)
    assert rows(tmp_path / "far").equals(rows(tmp_path / "near"))
    assert "Contents" not in client.list_objects_v2(Bucket="work-of-all")


@pytest.mark.slow
def test_spark_executors_without_a_common_folder(
    data: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, bucket: Any
) -> None:
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'voronym[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    work, client = bucket
    vr.anonymize(data, output=tmp_path / "near", **{**ASKED, "leaf": 800})
    launch = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), "org.apache.spark.deploy"]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    place = ["--host", "127.0.0.1", "--webui-port", "0", "--port"]
    master = [launch[0], f"{launch[1]}.master.Master", *place, "17077"]
    worker = [launch[0], f"{launch[1]}.worker.Worker", *place, "0", "--cores", "1", "--memory", "1g",
              "spark://127.0.0.1:17077"]  # fmt: skip
    home = tmp_path_factory.mktemp("apart")
    with apart(tmp_path, home, master, worker, worker):
        ends = time.monotonic() + 60
        while "Registering worker" not in (home / "0.log").read_text() and time.monotonic() < ends:
            time.sleep(0.5)
        asked = {**ASKED, "leaf": 800, "engine": "spark", "address": "spark://127.0.0.1:17077", "workers": 2}
        vr.anonymize(data, output=tmp_path / "far", work=work, **asked)
    assert rows(tmp_path / "far").equals(rows(tmp_path / "near"))
    assert "Contents" not in client.list_objects_v2(Bucket="work-of-all")
