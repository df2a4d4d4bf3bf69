"""Bad inputs: one sentence that names file and column, and nothing is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from scale.conftest import ROLES, people, write
from voronym.cli import app

ASKED: dict[str, Any] = {**ROLES, "k": 4, "leaf": 200, "workers": 1}


def last(folder: Path) -> Path:
    return folder / "part-2.parquet"


def change(made: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], None]:
    """Change the last file."""
    return lambda folder: made(pl.read_parquet(last(folder))).write_parquet(last(folder))


def column(name: str, value: Any) -> Callable[[Path], None]:
    return change(lambda frame: frame.with_columns(value.alias(name)))


def cut(folder: Path) -> None:
    last(folder).write_bytes(last(folder).read_bytes()[:-20])


def spoil(folder: Path) -> None:
    data = bytearray(last(folder).read_bytes())
    data[8:400] = b"\x00" * 392
    last(folder).write_bytes(bytes(data))


def many_levels(folder: Path) -> None:
    """Give each file few enough towns, and all of them too many."""
    for number, file in enumerate(sorted(folder.iterdir())):
        frame = pl.concat([pl.read_parquet(file)] * 250)
        towns = [f"t{number * 4000 + i % 4000}" for i in range(len(frame))]
        frame.with_columns(town=pl.Series(towns)).write_parquet(file)


FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "another column": (column("extra", pl.lit(1)), r"'part-2.parquet' has 'extra' besides"),
    "a column less": (change(lambda f: f.drop("age")), r"'part-2.parquet' lacks 'age'"),
    "a column renamed": (change(lambda f: f.rename({"age": "Age"})), r"lacks 'age' and has 'Age'"),
    "an identifier less": (change(lambda f: f.drop("name")), r"'part-2.parquet' lacks 'name'"),
    "text for a number": (column("age", pl.lit("old")), r"column 'age' is String in 'part-2.parquet'"),
    "a number for text": (column("sex", pl.lit(1)), r"column 'sex' is Int32 in 'part-2.parquet'"),
    "a date for a number": (column("income", pl.lit(dt.date(2020, 1, 1))), r"column 'income' is Date in"),
    "a number for a date": (column("born", pl.lit(1.5)), r"column 'born' is Float64 in 'part-2.parquet'"),
    "a list for text": (column("town", pl.concat_list("sex")), r"column 'town' is List"),
    "a time for a date": (column("born", pl.lit(dt.datetime(2020, 1, 1))), r"column 'born' is Datetime"),
    "true for text": (column("ill", pl.lit(True)), r"column 'ill' is Boolean in 'part-2.parquet'"),
    "no end": (cut, r"'part-2.parquet' is not a readable Parquet file"),
    "no beginning": (spoil, r"'part-2.parquet' could not be read"),
    "no bytes": (lambda folder: last(folder).write_bytes(b""), r"'part-2.parquet' is not a readable Parquet"),
    "not Parquet": (
        lambda folder: last(folder).write_text("age,sex\n1,f\n"),
        r"'part-2.parquet' is not a read",
    ),
    "another format": (lambda folder: (folder / "x.sav").write_text("x"), r"'x.sav': only Parquet, text"),
    "two formats": (lambda folder: (folder / "x.csv").write_text("x"), r"there are Parquet and text files"),
    "infinite": (column("income", pl.lit(float("inf"))), r"'part-2.parquet': numeric key 'income' has"),
    "too large": (column("income", pl.lit(1e200)), r"'part-2.parquet': the values of key 'income' are too"),
    "a level without a place": (column("grade", pl.lit("top")), r"'part-2.parquet': .*'grade'"),
    "no rows at all": (
        lambda folder: [pl.read_parquet(f).clear().write_parquet(f) for f in folder.iterdir()],
        r"the files have no rows",
    ),
    "an empty folder": (lambda folder: [f.unlink() for f in folder.iterdir()], r"there are no files at"),
    "more categories than a table has": (
        many_levels,
        r"'town' has (more than|12000) .*10,?000",
    ),
}
WISHES: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"keys": [], "drop_undeclared": True, "orders": None}, r"no column has the role 'key'"),
    "an unknown key": ({"keys": ["age", "shoe"]}, r"'shoe'"),
    "a key twice": ({"confidential": ["ill", "age"]}, r"age"),
    "an undeclared column": ({"identifiers": []}, r"'name'"),
    "k of one": ({"k": 1}, r"k must be a whole number of 2 or more, not 1"),
    "k of text": ({"k": "five"}, r"k"),
    "k above all": ({"k": 601}, r"k=601 cannot be reached with 600 records"),
    "a small leaf": ({"leaf": 60}, r"a leaf of 60 records is too small for k=4: take 80"),
    "a leaf of nothing": ({"leaf": 0}, r"leaf must be a whole number, 20 or more, not 0"),
    "no rounds": ({"rounds": 0}, r"rounds must be a whole number, 1 or more, not 0"),
    "no workers": ({"workers": 0}, r"workers must be a whole number, 1 or more, not 0"),
    "no memory": ({"memory": "much"}, r"memory is a size such as 4GB"),
    "memory of nothing": ({"memory": "0GB"}, r"memory is a size such as 4GB"),
    "an unknown engine": ({"engine": "hadoop"}, r"engine"),
    "an unknown method": ({"method": "magic"}, r"magic"),
    "a method of records": ({"method": "records", "k": None}, r"records would lose"),
    "an unknown option": ({"method": "pairs", "options": {"speed": 3}}, r"speed"),
    "an unknown model": ({"models": ["x-factor=3"]}, r"x-factor"),
    "a model of no column": ({"models": ["t-closeness=0.2,column=age"]}, r"'age' is not declared as one"),
    "no confidential": (
        {"confidential": [], "identifiers": ["name", "ill"], "models": ["t-closeness=0.2"]},
        r"needs a confidential column",
    ),
    "too close": ({"models": ["t-closeness=0.0001"]}, r"neighbouring records cannot keep the promise"),
    "too diverse": ({"models": ["l-diversity=9"]}, r"l-diversity"),
    "a kind that does not fit": ({"kinds": {"sex": "numeric"}}, r"sex"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_bad_file_is_named(what: str, tmp_path: Path) -> None:
    write(people(600), tmp_path / "data", 3)
    spoiled, text = FILES[what]
    spoiled(tmp_path / "data")
    with pytest.raises(vr.VoronymError, match=text) as result:
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, allow_near_unique=["town"])
    assert "\n" not in str(result.value)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("what", WISHES)
def test_a_bad_wish_is_answered(what: str, tmp_path: Path) -> None:
    write(people(600), tmp_path / "data", 3)
    wish, text = WISHES[what]
    with pytest.raises((vr.VoronymError, TypeError), match=text):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **{**ASKED, **wish})
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_is_odd_and_yet_right(tmp_path: Path) -> None:
    """Take an empty file, whole numbers in one file and others in the next, a category in the last."""
    data = write(people(600), tmp_path / "data", 3)
    people(600).clear().write_parquet(data / "part-3.parquet")
    column("age", pl.lit(40.5))(data)
    column("town", pl.lit("zz"))(data)
    vr.anonymize(data, output=tmp_path / "out", **ASKED)
    out = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert len(out) == 600
    assert out["age"].dtype == pl.Float64
    assert "zz" in set(out["town"])


def test_folders_may_say_columns(tmp_path: Path) -> None:
    frame = people(600)
    for half, year in enumerate((2023, 2024)):
        (tmp_path / "data" / f"year={year}").mkdir(parents=True)
        frame[300 * half : 300 * half + 300].write_parquet(
            tmp_path / "data" / f"year={year}" / "part.parquet"
        )
    vr.anonymize(tmp_path / "data", output=tmp_path / "out", **{**ASKED, "other": ["year"]})
    out = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert out["year"].value_counts().sort("year").rows() == [(2023, 300), (2024, 300)]


def test_equal_records_fill_many_leaves(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "m"] * 1000, "ill": np.arange(2000) % 3})
    write(frame, tmp_path / "data", 2)
    made = vr.anonymize(
        tmp_path / "data", output=tmp_path / "out", keys=["sex"], other=["ill"], k=4, leaf=100, workers=1
    )
    out = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert made.information_loss == 0.0
    assert out["sex"].value_counts()["count"].to_list() == [1000, 1000]


@pytest.mark.parametrize(
    ("log", "kind"),
    [("_delta_log/0.json", "a Delta table"), ("metadata/v1.metadata.json", "an Iceberg table")],
)
@pytest.mark.parametrize("pattern", ["table", "table/*.parquet", "table/data/part-0.parquet"])
def test_a_table_with_earlier_versions(tmp_path: Path, log: str, kind: str, pattern: str) -> None:
    """Rows that were deleted from the table are in its files still: they must not be released."""
    (tmp_path / "table").mkdir()
    write(people(300), tmp_path / "table" / "data", 1)
    people(300).write_parquet(tmp_path / "table" / "part-0.parquet")
    (tmp_path / "table" / log).parent.mkdir()
    (tmp_path / "table" / log).write_text("{}")
    whole = (
        pattern == "table" and "Delta" in kind
    )  # the table itself: its library reads the log, or is missing
    says = "Delta table" if whole else f"'table' is {kind}.*rows of earlier versions"
    with pytest.raises(vr.VoronymError, match=says):
        vr.anonymize(f"{tmp_path}/{pattern}", output=tmp_path / "out", **ASKED)
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_options_that_many_files_do_not_have(tmp_path: Path) -> None:
    write(people(300), tmp_path / "data", 2)
    messages = [
        "anonymize",
        str(tmp_path / "data"),
        "-o",
        str(tmp_path / "out"),
        "--key",
        "age",
        "--drop-undeclared",
    ]

    def answer(*words: str) -> str:
        done = CliRunner().invoke(app, [*messages, *words])
        assert done.exit_code == 1, words
        return " ".join(done.output.split()) + str(done.exception)

    for option, value in {"--on-interrupt": ["best"], "--out-table": ["x"]}.items():
        assert f"{option} is for single tables" in answer(option, *value), option
    assert "device 'cuda' cannot be used" in answer("--device", "cuda")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    "words", [["--space", "mixed"], ["--publish", "interval"], ["--intruder", "method"], ["--strata", "sex"]]
)
def test_what_a_single_leaf_can(words: list[str], tmp_path: Path) -> None:
    data = write(people(300), tmp_path / "data", 2)
    roles = ["--key", "age,sex", "--drop-undeclared", "-k", "4", "--method", "mdav", "--workers", "1"]
    done = CliRunner().invoke(app, ["anonymize", str(data), "-o", str(tmp_path / "out"), *roles, *words])
    assert done.exit_code == 0, (done.output, done.exception)
    out = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert len(out) == 300
    assert out.group_by("age", "sex").len()["len"].min() >= 4
    if words[0] == "--publish":
        assert any("–" in age for age in out["age"])
    if words[0] == "--strata":
        assert sorted(out["sex"]) == sorted(people(300)["sex"])


def test_a_place_that_cannot_be_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the data that is closed is never left out in silence; whoever runs this may be root."""
    write(people(300), tmp_path / "data", 3)
    plain = Path.is_file

    def closed(path: Path) -> bool:
        if path.name == "part-2.parquet":
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path)

    monkeypatch.setattr(Path, "is_file", closed)
    with pytest.raises(vr.ReadError, match=r"parts of .*data' cannot be read: Permission denied"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED)
    assert not (tmp_path / "out").exists()


def test_too_long_a_name_is_no_defect() -> None:
    done = CliRunner().invoke(app, ["measure", "a" * 300, "--key", "age"])
    assert isinstance(done.exception, vr.ReadError)
