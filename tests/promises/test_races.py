"""Two runs that go to the same place: what is there afterwards is of one of them, whole, or nothing is.

Run A stops at a step of its protocol, run B goes through, and A goes on. A step is any call of the system
that gives, changes or removes a name. Every step is tried.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.core import atomic
from voronym.core import locks as system_locks
from voronym.core.atomic import together
from voronym.history.ledger import Ledger

CALLS = ("rename", "replace", "link", "mkdir", "unlink", "remove", "rmdir", "chmod")
PATIENCE = 30.0


class Stop:
    """Holds one thread at the n-th of its steps until it may go on."""

    def __init__(self, home: Path, at: int, name: str) -> None:
        self.home, self.at, self.name = str(home), at, name
        self.steps: list[str] = []
        self.reached, self.onwards = threading.Event(), threading.Event()

    def pass_by(self, call: str, path: Any) -> None:
        if threading.current_thread().name != self.name or not isinstance(path, (str, os.PathLike)):
            return
        if not os.fspath(path).startswith(self.home):
            return
        self.steps.append(f"{call} {os.fspath(path)[len(self.home) + 1 :]}")
        if len(self.steps) - 1 == self.at:
            self.reached.set()
            assert self.onwards.wait(PATIENCE)


@contextmanager
def watched(stop: Stop) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for call in CALLS:
            real = getattr(os, call)

            @functools.wraps(real)
            def step(path: Any, *rest: Any, call: str = call, real: Any = real, **more: Any) -> Any:
                stop.pass_by(call, path)
                return real(path, *rest, **more)

            patch.setattr(os, call, step)
        yield


Run = Callable[[], Any]


def race(home: Path, first: Run, second: Run, at: int) -> tuple[Any, Any, list[str]]:
    """Stop the first run at a step, let the second pass, and return what both gave and the steps."""
    stop = Stop(home, at, f"first-{at}")
    gave: list[Any] = [None, None]

    def held() -> None:
        try:
            gave[0] = first()
        except vr.VoronymError as error:
            gave[0] = error

    thread = threading.Thread(target=held, name=stop.name)
    with watched(stop):
        thread.start()
        while thread.is_alive() and not stop.reached.wait(0.005):
            pass
        try:
            if stop.reached.is_set():
                try:
                    gave[1] = second()
                except vr.VoronymError as error:
                    gave[1] = error
        finally:
            stop.onwards.set()
            thread.join(2 * PATIENCE)
    assert not thread.is_alive()
    return gave[0], gave[1], stop.steps


def rows(folder: Path) -> list[tuple[Any, ...]]:
    files = sorted(folder.iterdir())
    assert all(file.suffix == ".parquet" for file in files), files
    return sorted(pl.concat([pl.read_parquet(file) for file in files]).rows())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, home = np.random.default_rng(3), tmp_path_factory.mktemp("race")
    for part in range(2):
        ages = rng.integers(18, 90, 60)
        pl.DataFrame({"age": ages, "ill": rng.choice(["flu", "cold"], 60)}).write_parquet(
            home / f"{part}.parquet"
        )
    return home


def asked(k: int, work: Path) -> dict[str, Any]:
    roles = {"keys": ["age"], "confidential": ["ill"], "method": "mdav"}
    return {**roles, "k": k, "workers": 1, "work": str(work), "overwrite": True}


def every_step(home: Path, first: Run, second: Run) -> Iterator[tuple[Any, Any, str]]:
    """Yield what a race gave, for a stop at each step that the first run makes alone."""
    alone, _, steps = race(home, first, second, -2)
    assert not isinstance(alone, Exception), alone
    for at, step in enumerate(steps):
        gave = race(home, first, second, at)
        yield gave[0], gave[1], step


def test_folders(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    solo = {}
    for k in (5, 2):
        vr.anonymize(data, output=tmp_path / f"solo{k}", **asked(k, tmp_path / "w"))
        solo[k] = rows(tmp_path / f"solo{k}")
    assert solo[2] != solo[5]
    first = functools.partial(vr.anonymize, data, output=out, **asked(5, tmp_path / "w5"))
    second = functools.partial(vr.anonymize, data, output=out, **asked(2, tmp_path / "w2"))
    many = 0
    for a, b, step in every_step(tmp_path, first, second):
        many += 1
        failed = [item for item in (a, b) if isinstance(item, Exception)]
        assert all(isinstance(item, (vr.WriteError, vr.InputError)) for item in failed), (step, failed)
        assert len(failed) < 2, (step, failed)
        assert rows(out) in (solo[5], solo[2]), step
        if not isinstance(a, Exception):  # it ended last
            assert rows(out) == solo[5], step
            assert a.risk.k >= 5
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
        assert not left, (step, left)
    assert many > 10


def table(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    columns = {"id": [f"p{i}" for i in range(n)], "age": rng.integers(18, 90, n)}
    return pl.DataFrame({**columns, "ill": rng.choice(["flu", "cold"], n)})


def make_files(home: Path, k: int, *, overwrite: bool = True, ledger: Path | None = None) -> vr.Release:
    """Write a release with its recipe and report, as one set."""
    books = {} if ledger is None else {"ledger": str(ledger)}
    release = vr.anonymize(
        table(), keys=["age"], identifiers=["id"], confidential=["ill"], k=k, method="mdav", **books
    )
    with together():
        release.write(home / "release.csv", overwrite=overwrite)
        release.recipe.save(home / "recipe.toml")
    return release


def set_of(home: Path) -> int:
    """Return the k of the set of files that is there; raise where they are of two runs."""
    k = vr.Recipe.load(home / "recipe.toml").k
    ages = pl.read_csv(home / "release.csv")["age"].value_counts()["count"]
    assert ages.min() >= k
    assert (ages.min() >= 5) == (k == 5), "the recipe is of another release"
    return k


@pytest.mark.parametrize("locks", [True, False])
def test_sets_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: bool) -> None:
    monkeypatch.setattr(system_locks, "PATIENCE", 0.1)
    if not locks:
        monkeypatch.setattr(system_locks, "fcntl", None)
    first = functools.partial(make_files, tmp_path, 5)
    second = functools.partial(make_files, tmp_path, 2)
    many = 0
    for a, b, step in every_step(tmp_path, first, second):
        many += 1
        failed = [item for item in (a, b) if isinstance(item, Exception)]
        assert all(isinstance(item, vr.WriteError) for item in failed), (step, failed)
        there = (tmp_path / "release.csv").exists()
        assert there or not locks, step
        if there:
            assert set_of(tmp_path) in ((5, 2) if isinstance(a, Exception) else (5,)), step
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
        assert not left, (step, left)
    assert many > 5


def test_a_name_that_is_taken_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_locks, "PATIENCE", 0.1)
    steps = race(tmp_path, lambda: make_files(tmp_path, 5), lambda: None, -2)[2]
    for at in range(len(steps)):
        for path in tmp_path.iterdir():
            path.unlink()
        runs = [functools.partial(make_files, tmp_path, k, overwrite=False) for k in (5, 2)]
        a, b, _ = race(tmp_path, *runs, at)
        assert isinstance(a, Exception) != isinstance(b, Exception) or b is None, steps[at]
        assert set_of(tmp_path) == (5 if not isinstance(a, Exception) else 2)


def test_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs that were checked against the same entries: the ledger has one of them, that of the file."""
    monkeypatch.setattr(system_locks, "PATIENCE", 0.1)
    ledger, many = tmp_path / "ledger.db", 0

    def steps() -> Iterator[int]:
        names = race(tmp_path, lambda: make_files(tmp_path, 5, ledger=ledger), lambda: None, -2)[2]
        yield from range(len(names))

    for at in steps():
        for path in tmp_path.iterdir():
            path.unlink()
        runs = [functools.partial(make_files, tmp_path, k, ledger=ledger) for k in (5, 2)]
        a, b, _ = race(tmp_path, *runs, at)
        entries = Ledger.open(ledger).entries
        good = [item for item in (a, b) if item is not None and not isinstance(item, Exception)]
        assert len(good) < 2  # both were checked against an empty ledger
        there = (tmp_path / "release.csv").exists()
        assert there == bool(good)
        assert [entry.k for entry in entries] == ([set_of(tmp_path)] if there else [])
        many += 1
    assert many > 5


def test_a_folder_and_a_ledger(data: Path, tmp_path: Path) -> None:
    """An entry whose maker opened the way for somebody else is lost: then the folder gets no name, either."""
    more = {"identifiers": ["id"], "ledger": str(tmp_path / "ledger.db")}
    (tmp_path / "src").mkdir()
    table().write_parquet(tmp_path / "src" / "0.parquet")
    out = tmp_path / "out"

    def run(k: int) -> Any:
        return vr.anonymize(tmp_path / "src", output=out, **asked(k, tmp_path / f"w{k}"), **more)

    steps = race(tmp_path, lambda: run(5), lambda: None, -2)[2]
    close = [
        at for at, step in enumerate(steps) if step.startswith(("rename", "link")) or at > len(steps) - 14
    ]
    for at in close:
        shutil.rmtree(out, ignore_errors=True)
        (tmp_path / "ledger.db").unlink()
        race(tmp_path, lambda: run(5), lambda: Ledger.open(tmp_path / "ledger.db"), at)
        ks = [entry.k for entry in Ledger.open(tmp_path / "ledger.db").entries]
        assert ks == ([5] if out.exists() else []), steps[at]


def test_what_was_counted_gets_the_name(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that change between the count and the name are not released: a folder, and a single file."""
    real = atomic.turn

    def change(folders: set[Path]) -> Any:
        for path in [*tmp_path.glob(".out.new-*/*"), *tmp_path.glob(".voronym-*/*")]:
            if path.is_file():
                path.write_bytes(path.read_bytes() + b"\n")
        return real(folders)

    monkeypatch.setattr(atomic, "turn", change)
    with pytest.raises(vr.WriteError, match="changed after it was counted"):
        vr.anonymize(data, output=tmp_path / "out", **asked(5, tmp_path / "w"))
    with pytest.raises(vr.WriteError, match="changed after it was counted"):
        make_files(tmp_path, 5)
    assert list(tmp_path.iterdir()) == []


def test_resumed_runs(data: Path, tmp_path: Path) -> None:
    """Of two runs that go on with the same folder, one does."""

    def interrupted(_: vr.Progress) -> None:
        raise KeyboardInterrupt

    out, more = tmp_path / "out", {**asked(5, tmp_path / "w"), "resume": True}

    def leave() -> None:
        shutil.rmtree(out, ignore_errors=True)
        with pytest.raises(KeyboardInterrupt):
            vr.anonymize(data, output=out, **more, progress=interrupted)

    def resume() -> Any:
        return vr.anonymize(data, output=out, **more)

    leave()
    steps = race(tmp_path, resume, lambda: None, -2)[2]
    alone = rows(out)
    for at in range(0, len(steps), 3):
        leave()
        a, b, _ = race(tmp_path, resume, resume, at)
        assert any(not isinstance(item, Exception) for item in (a, b))
        assert rows(out) == alone
        assert sorted(path.name for path in tmp_path.iterdir()) in (["out"], ["out", "w"]), steps[at]
        assert not list((tmp_path / "w").glob("*"))


KILLED = """
import os, signal, sys
import voronym as vr
data, out, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = 0
def step(real):
    def call(*given, **more):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **more)
    return call
for name in ("rename", "replace", "link", "mkdir", "unlink", "rmdir", "chmod"):
    setattr(os, name, step(getattr(os, name)))
vr.anonymize(data, output=out, keys=["age"], confidential=["ill"], method="mdav", k=5, workers=1)
print(calls)
"""


@pytest.mark.slow
def test_a_dead_run_holds_nothing(data: Path, tmp_path: Path) -> None:
    """A run is killed at every step; the next one ends well, leaves nothing of the dead, and is its own."""
    words = [sys.executable, "-c", KILLED, str(data), str(tmp_path / "out")]
    steps = int(subprocess.run([*words, "0"], capture_output=True, text=True, check=True).stdout)
    for at in range(1, steps + 1, 3):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert subprocess.run([*words, str(at)], capture_output=True, check=False).returncode == -9
        vr.anonymize(data, output=tmp_path / "out", **asked(2, tmp_path))
        assert pl.concat([pl.read_parquet(f) for f in (tmp_path / "out").iterdir()])["age"].n_unique() > 24
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
