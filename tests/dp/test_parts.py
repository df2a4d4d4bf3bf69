"""Private releases over parts, and by the command line."""

from threading import Thread

import numpy as np
import polars as pl
import pytest

import voronym as vr
from cli.conftest import voronym  # noqa: F401 - a fixture
from dp.samples import BOUNDS, EVERYTHING, HIDDEN, people

pytestmark = pytest.mark.filterwarnings("ignore:Only the keys are private")


@pytest.mark.filterwarnings("ignore:other column 'pay'")
@pytest.mark.parametrize("scope", ["keys", "all"])
def test_over_parts(scope, tmp_path):
    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    bounds = {**BOUNDS, "ill": ["flu", "cold", "gout"], "pay": (0, 200_000)}
    made = vr.anonymize(
        data, output=tmp_path / "out", keys=["age", "sex"], confidential=["ill"], other=["pay"],
        drop_undeclared=True, models=f"dp=1,scope={scope}", bounds=bounds, leaf=100, workers=1,
    )  # fmt: skip
    table = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert len(table) == 400
    assert [finding.model for finding in made.findings] == ["dp"]
    true = set(frame["pay"].to_list())
    kept = [pay in true for pay in table["pay"]]
    assert all(kept) if scope == "keys" else not any(kept)


def fixed_noise(monkeypatch, seed=5):
    """Noise that is the same in every run: a fixed row of numbers on what is true."""
    from dp.oracle import ROOMS

    def noisy(values, total, length, share, *, pure):
        values = np.asarray(values)
        return values + np.random.default_rng(seed).integers(-9, 10, values.shape), 30.0

    def largest(scores, share, *, sensitivity=1, pure):
        return np.argmax(np.asarray(scores), axis=1)

    for room in ROOMS:
        monkeypatch.setattr(room, "noisy", noisy)
        if hasattr(room, "largest"):
            monkeypatch.setattr(room, "largest", largest)


ALIKE = {
    "individual": {"files": 3},
    "order": {"files": 4},
    "tree by two workers": {"files": 4, "workers": 2},
    "tree of medians": {"files": 7, "publish": {"age": "median"}},
    "tree, fewer rows": {"files": 5, "rows": 371},
    "order, fewer rows": {"files": 2, "rows": 371},
    "individual, more rows": {"files": 4, "rows": 420},
    "tree on Dask": {"files": 4, "engine": "dask", "workers": 2},
}


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[pytest.mark.slow] if "Dask" in name else []) for name in ALIKE]
)
def test_over_parts_it_is_the_release_of_memory(case, monkeypatch, tmp_path, count):
    """With the same noise a table in some files publishes row for row what it publishes in memory."""
    how = {"workers": 1, **ALIKE[case]}
    files, rows = how.pop("files"), how.pop("rows", None)
    fixed_noise(monkeypatch)
    if rows is not None:
        count(rows)
        monkeypatch.setattr("voronym.dp.presence.secrets.randbits", lambda _: 12345)
    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(files):
        frame[part::files].write_parquet(data / f"{part}.parquet")
    frame.head(0).write_parquet(data / "empty.parquet")
    asked = {
        "keys": ["age", "sex"], "confidential": ["ill"], "drop_undeclared": True,
        "models": "dp=1,scope=all" if rows is None else HIDDEN, "bounds": EVERYTHING,
        "options": {"grouping": case.split()[0].rstrip(",")}, "k": 20, "publish": how.pop("publish", None),
    }  # fmt: skip
    memory = vr.anonymize(frame, **asked)
    made = vr.anonymize(data, output=tmp_path / "out", leaf=50, **how, **asked)
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert sorted(written.rows()) == sorted(memory.table.rows())
    assert written.n_unique() > 3
    assert made.figures.private == memory.figures.private
    # who goes to another cell is drawn in each run, and the loss with it
    assert made.information_loss == pytest.approx(memory.information_loss, rel=0.3)
    assert [change.records for change in made.changes] == [change.records for change in memory.changes]


@pytest.mark.parametrize("after", [0, 2], ids=["before rows were sent", "between pieces"])
def test_what_goes_on_publishes_one_draw(after, monkeypatch, tmp_path):
    """A run that was broken off and goes on never mixes two draws: both together would tell more than ε."""
    from voronym.run.parts import private

    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    asked = {
        "keys": ["age", "sex"], "confidential": ["ill"], "drop_undeclared": True,
        "models": "dp=1,scope=all", "bounds": EVERYTHING, "k": 20,
    }  # fmt: skip
    fixed_noise(monkeypatch, seed=5)
    memory = vr.anonymize(frame, **asked)
    sent, send = [], private.send

    def broken(*given):
        if len(sent) == after:
            raise KeyboardInterrupt
        sent.append(send(*given))

    with monkeypatch.context() as patch:
        patch.setattr(private, "send", broken)
        with pytest.raises((KeyboardInterrupt, vr.VoronymError)):
            vr.anonymize(data, output=tmp_path / "out", leaf=50, workers=1, resume=True, **asked)
    assert len(sent) == after
    assert not (tmp_path / "out").exists()
    fixed_noise(monkeypatch, seed=6)
    vr.anonymize(data, output=tmp_path / "out", leaf=50, workers=1, resume=True, **asked)
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert sorted(written.rows()) == sorted(memory.table.rows())


@pytest.mark.parametrize("private", [True, False], ids=["dp", "k"])
def test_no_other_release_comes_between_the_check_and_the_entry(private, monkeypatch, tmp_path):
    """A release over parts was checked against a ledger in which another one was entered meanwhile."""
    from voronym.run.parts.engine import Engine

    ledger, frame, data = tmp_path / "l.ledger", people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    asked = {"keys": ["age", "sex"], "confidential": ["ill"], "identifiers": ["name"], "ledger": ledger}
    asked |= {"drop_undeclared": True}
    asked |= {"models": "dp=1,scope=all", "bounds": EVERYTHING} if private else {"k": 5}
    written = Engine._written

    def late(self, *given):
        other = Thread(
            target=vr.anonymize, args=[frame], kwargs={"output": tmp_path / "meanwhile.csv", **asked}
        )
        other.start()
        other.join()
        return written(self, *given)

    monkeypatch.setattr(Engine, "_written", late)
    with pytest.raises(vr.VoronymError, match="was entered in the ledger meanwhile"):
        vr.anonymize(data, output=tmp_path / "out", leaf=100, workers=1, **asked)
    assert len(vr.history.Ledger(ledger).entries) == 1
    assert not (tmp_path / "out").exists()


def test_on_the_command_line(tmp_path, voronym):  # noqa: F811
    people().drop("home", "person").write_csv(tmp_path / "t.csv")
    words = [
        "anonymize", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.csv"), "--key", "age,sex",
        "--confidential", "ill", "--drop-undeclared", "--model", "dp=1.0", "--bounds", "age=0..120",
        "--bounds", "sex=f|m", "--grouping", "individual",
    ]  # fmt: skip
    code, out, err = voronym(*words)
    assert code == 0, err
    assert "ε = 1" in out + err
    assert len(pl.read_csv(tmp_path / "o.csv")) == 400
    code, _, err = voronym(*words[:-4], "--overwrite")
    assert code == 2
    assert "values that 'sex' may have are not declared" in err
