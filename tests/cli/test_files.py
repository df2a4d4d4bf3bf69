"""Files on the command line: how they are read, written and refused."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import re
import shlex
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from voronym.cli.declared import kinds_of, orders_of
from voronym.errors import InputError
from voronym.table import read, write

GERMAN = "Alter;Größe;Tag;Wert\r\n" + "".join(
    f"{20 + i % 7};1,{60 + i % 30};{13 + i % 9}.05.2020;{'-999' if i % 9 == 0 else f'1.23{i % 10},50'}\r\n"
    for i in range(40)
)
MAKE = ["anonymize", "in.csv", "-o", "out.csv", "--key", "Alter,Größe", "--other", "Tag,Wert", "-k", 4]


def save(name: str, text: str, encoding: str = "cp1252") -> None:
    Path(name).write_bytes(text.encode(encoding))


def test_a_german_file_stays_german_and_is_measured(voronym):
    save("in.csv", GERMAN)
    code, _, err = voronym(*MAKE, "--missing", "-999", "--save-recipe", "r.toml")
    assert code == 0, err
    assert "delimiter ';', CP1252, CRLF" in " ".join(err.split())
    text = Path("out.csv").read_bytes().decode("cp1252")
    before, after = (
        Counter(line.split(";", 2)[-1] for line in item.split("\r\n")) for item in (GERMAN, text)
    )
    assert before == after
    assert tomllib.loads(Path("r.toml").read_text())["reading"] == {"missing": ["-999"]}
    look = ["measure", "out.csv", "--key", "Alter,Größe", "--original", "in.csv", "--json"]
    code, out, err = voronym(*look, "--original-encoding", "cp1252")
    assert code == 0, err
    assert not any("written differently" in note for note in json.loads(out)["notes"])
    Path("in.csv").rename("again.csv")
    code, _, err = voronym("anonymize", "again.csv", "-o", "more.csv", "--recipe", "r.toml")
    assert code == 0, err
    code, _, err = voronym("measure", "out.csv", "--key", "Alter", "--encoding", "utf-16")
    assert (code, "is not utf-16 text" in err) == (1, True)


def test_a_folder_that_is_closed_is_said_before_the_work(voronym, monkeypatch, tmp_path):
    access, mkdir = os.access, os.mkdir
    shut = (tmp_path / "shut").resolve()
    shut.mkdir()
    work = ["--key", "Alter,Größe", "--other", "Tag,Wert", "-k", 4]
    message = f"error: cannot write to the folder {shut}: you have no permission\n"
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda path, mode: Path(path) != shut and access(path, mode))
        for more in (["-o", "shut/out.csv"], ["-o", "out.csv", "--report", "shut/report.html"]):
            code, _, err = voronym("anonymize", "in.csv", *work, *more)  # there is none: it is not looked for
            assert (code, err) == (1, message)

    def refused(path: Any, *given: Any, **named: Any) -> None:
        if Path(path).parent == shut:
            raise PermissionError(13, "Permission denied")
        mkdir(path, *given, **named)

    (tmp_path / "parts").mkdir()
    save("parts/in.csv", GERMAN)
    with monkeypatch.context() as patch:
        patch.setattr("os.mkdir", refused)
        code, _, err = voronym("anonymize", "parts", *work, "-o", "shut/out")
    assert (code, err) == (1, f"error: cannot write to the folder '{shut}': Permission denied\n")
    assert list(shut.iterdir()) == []


def test_another_tool_rewrites_and_measure_sees_it(voronym):
    save("in.csv", "age,nace,tel\n" + "".join(f"{20 + i % 4},47.{i % 3}0,+49 {i % 5}\n" for i in range(30)))
    ours = ["anonymize", "in.csv", "-o", "out.csv", "--key", "age", "--other", "nace,tel"]
    code, _, err = voronym(*ours)
    assert code == 0, err
    assert "an apostrophe was put before 30 texts" in " ".join(err.split())
    assert ",'+49" in Path("out.csv").read_text()
    look = ["measure", "out.csv", "--key", "age", "--original", "in.csv", "--json"]
    result = json.loads(voronym(*look)[1])
    assert not any("written differently" in note for note in result["notes"])
    tel = next(item for item in result["utility"]["columns"] if item["name"] == "tel")
    assert (tel["categories_lost"], tel["total_variation"]) == (0, 0)
    text = Path("out.csv").read_text()
    Path("out.csv").write_text(text.replace("47.10", "47.1").replace("47.20", "47.2"))
    notes = json.loads(voronym(*look)[1])["notes"]
    assert any("written differently than in the original: 'nace' in 20 of 30 cells" in note for note in notes)
    code, _, err = voronym(*ours, "--no-guard", "--overwrite")
    assert code == 0, err
    assert ",+49" in Path("out.csv").read_text()


def test_what_cannot_be_written_is_refused_before_the_work(voronym, monkeypatch):
    def never(*_, **__):
        raise AssertionError("the table was read")

    monkeypatch.setattr(sys.modules["voronym.table.read"], "read", never)
    start = ["anonymize", "patients.csv", "--key", "age"]
    for words, code, message in [
        (["-o", "x.xpt"], 1, "can be read but not written"),
        (["-o", "x.gz"], 1, "no suffix that says its format"),
        (["-o", "x.docx"], 1, ".docx files cannot be written; use one of .csv"),
        (["-o", "x.parquet.gz"], 1, "only text files are packed"),
        (["-o", "nowhere/x.csv"], 1, "does not exist; make it first"),
        (["-o", ""], 2, "names no file"),
        (["-o", "x.csv", "--report", "-"], 2, "--report needs the name of a file"),
        (["-o", "-", "--json"], 2, "cannot both go to standard output"),
    ]:
        result, _, err = voronym(*start, *words)
        assert (result, message in " ".join(err.split())) == (code, True), err
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["patients.csv"]


def test_standard_input_and_output(voronym, monkeypatch):
    class Pipe:
        buffer = io.BytesIO(GERMAN.encode("utf-16"))

    monkeypatch.setattr(sys, "stdin", Pipe)
    written = io.BytesIO()

    class Out(io.StringIO):
        buffer = written

    monkeypatch.setattr(sys, "stdout", Out())
    code, _, err = voronym("anonymize", "-", "-o", "-", *MAKE[4:], "--header")
    assert code == 0, err
    lines = written.getvalue().decode("utf-16").split("\r\n")
    assert lines[0] == "Alter;Größe;Tag;Wert"
    assert min(Counter(line.rsplit(";", 2)[0] for line in lines[1:-1]).values()) >= 4
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["patients.csv"]


def test_no_header(voronym):
    save("in.csv", "".join(f"{20 + i % 9},{'mf'[i % 2]},{i % 5}.0\n" for i in range(40)))
    words = ["anonymize", "in.csv", "-o", "out.csv", "--key", "column_1,column_2", "--other", "column_3"]
    code, _, err = voronym(*words)
    assert (code, "looks like data" in err) == (1, True)
    code, _, err = voronym(*words, "--no-header")
    assert code == 0, err
    after = Path("out.csv").read_text().splitlines()
    assert len(after) == 40
    assert Counter(line.split(",")[2] for line in after) == Counter([f"{i % 5}.0" for i in range(40)])
    code, _, err = voronym("inspect", "in.csv", "--no-header", "--header")
    assert (code, "exclude each other" in err) == (2, True)


def test_kinds_and_orders_of_columns_with_odd_names():
    assert kinds_of(["a=nominal,b=numeric"], "ab") == {"a": "nominal", "b": "numeric"}
    assert kinds_of(["a,b=nominal", "c=numeric"], "abc") == {"a": "nominal", "b": "nominal", "c": "numeric"}
    odd = ["x=y", "a,b", "x"]
    assert kinds_of(["x=y=nominal", "a,b=numeric"], odd) == {"x=y": "nominal", "a,b": "numeric"}
    assert kinds_of(["x=nominal"], odd) == {"x": "nominal"}
    assert orders_of(["x=y=low<high"], odd) == {"x=y": ["low", "high"]}
    for wrong in ("a", "a=", "=nominal", "a,b", "a=nominal,b"):
        with pytest.raises(InputError, match="--kind takes NAME=VALUE, such as age=numeric"):
            kinds_of([wrong], "ab")
    with pytest.raises(InputError, match="--order 'a=low<mid<high'"):
        orders_of(["a=low,mid,high"], "ab")
    with pytest.raises(InputError, match="'a' twice"):
        kinds_of(["a=nominal", "a=numeric"], "ab")


def test_the_loss_of_groups_that_publish_ranges_has_its_name(voronym):
    save("in.csv", GERMAN)
    code, _, err = voronym(*MAKE, "--publish", "interval", "--method", "mdav")
    assert code == 0, err
    assert re.search(r"^information loss +[\d.]+ % of the keys' variance in the groups", err, re.MULTILINE)
    assert "values that can occur" not in err


def proposed(voronym: Any, file: str) -> tuple[int, str]:
    """Do what `voronym inspect` proposes for a file; return its exit code and what it said."""
    code, out, err = voronym("inspect", file, "--json")
    assert code == 0, err
    code, _, err = voronym(*shlex.split(json.loads(out)["command"])[1:])
    return code, err


def test_the_command_proposed_for_infinite_values_makes_a_release(voronym):
    rows = "".join(f"{20 + i % 40},{'-Infinity' if i % 50 == 0 else i / 10}\n" for i in range(100))
    save("in.csv", "age,ratio\n" + rows)
    code, _, err = voronym("anonymize", "in.csv", "-o", "out.csv", "--key", "age,ratio")
    assert (code, "2 infinite values out of 100; make them missing (--missing inf,-inf)" in err) == (2, True)
    assert proposed(voronym, "in.csv")[0] == 0


def test_the_command_proposed_for_dates_in_a_spreadsheet_makes_means_of_dates(voronym):
    pytest.importorskip("fastexcel")
    days = [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(60)]
    table = pl.DataFrame({"age": range(20, 80), "day": [f"{day:%d.%m.%Y}" for day in days]})
    write(table, "in.xlsx", keys=["age"], k=1)
    code, err = proposed(voronym, "in.xlsx")
    assert code == 0, err
    result = read("release.csv")["day"]
    assert result.dtype == pl.Date
    assert result.n_unique() < 60
