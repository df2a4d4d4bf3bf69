"""Releases in folders of text files: the same rows as in Parquet, counted in the cells that were written."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from scale.conftest import KEYS, ROLES, fill_the_disk, people, rows, write
from voronym.cli import app
from voronym.run.parts import texts

ASKED = {**ROLES, "k": 4, "workers": 1}
QUICK = {**ASKED, "method": "mdav", "rounds": 1}


def german(frame: pl.DataFrame, folder: Path, files: int) -> Path:
    """Write a table as text files with semicolons, decimal commas, German dates and Windows letters."""
    folder.mkdir()
    step = -(-len(frame) // files)
    for number in range(files):
        piece = frame[number * step : (number + 1) * step].with_columns(
            pl.col("income").cast(pl.String).str.replace(".", ",", literal=True),
            pl.col("born").dt.strftime("%d.%m.%Y"),
        )
        text = piece.write_csv(separator=";", line_terminator="\r\n")
        (folder / f"{number}.csv").write_bytes(text.encode("cp1252"))
    return folder


def cells(folder: Path, delimiter: str = ",", encoding: str = "utf-8") -> list[dict[str, str]]:
    """Read all cells of a folder with Python's own module, which shares nothing with the library."""
    out: list[dict[str, str]] = []
    for path in sorted(folder.iterdir()):
        with path.open(encoding=encoding, newline="") as file:
            out += csv.DictReader(file, delimiter=delimiter, strict=True)
    return out


def least(outcome: list[dict[str, str]], keys: list[str]) -> int:
    """Count k in cells."""
    return min(Counter(tuple(row[key] for key in keys) for row in outcome).values())


def typed(outcome: list[dict[str, str]], like: pl.DataFrame) -> pl.DataFrame:
    """Return plainly written cells as the types of another table, sorted."""
    frame = pl.DataFrame(outcome)
    plain = [pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in like.columns]
    return (
        frame.select(plain)
        .with_columns(pl.col("born").str.to_date("%Y-%m-%d"))
        .cast({"age": pl.Int64, "income": pl.Float64})
        .sort(pl.all())
    )


def test_the_rows_are_those_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voronym.run.parts.engine.FILE", 400)
    data = write(people(2400), tmp_path / "people", 3)
    asked = {**ASKED, "leaf": 800, "models": ["t-closeness=0.35"]}
    columns = vr.anonymize(data, output=tmp_path / "columns", **asked)
    made = vr.anonymize(data, output=tmp_path / "texts", **asked, format="csv")
    assert sorted(path.name for path in (tmp_path / "texts").iterdir()) == [
        f"part-{i:05d}.csv" for i in range(6)
    ]
    result = cells(tmp_path / "texts")
    assert made.k == least(result, KEYS) >= 4
    assert made.findings == columns.findings
    assert made.recipe == columns.recipe
    held = rows(tmp_path / "columns")
    assert typed(result, held).equals(held)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns", "people", "texts"]


def test_text_comes_out_as_it_came_in(tmp_path: Path) -> None:
    frame = people(900).with_columns(town=pl.col("town").replace("a", "Köln").replace("b", 'Bad "B"; x'))
    german(frame, tmp_path / "texts", 3)
    write(frame, tmp_path / "columns", 3)
    asked = {**ASKED, "leaf": 300, "models": ["t-closeness=0.5"]}
    vr.anonymize(tmp_path / "columns", output=tmp_path / "a", **asked)
    made = vr.anonymize(tmp_path / "texts", output=tmp_path / "b", **asked)
    raw = b"".join(path.read_bytes() for path in (tmp_path / "b").iterdir())
    result = cells(tmp_path / "b", ";", "cp1252")
    assert raw.count(b"\r\n") == raw.count(b"\n") == 901
    assert "Köln".encode("cp1252") in raw
    assert b'"Bad ""B""; x"' in raw
    assert made.k == least(result, KEYS) >= 4
    held = rows(tmp_path / "a")
    back = pl.DataFrame(result).select(
        pl.col("age").cast(pl.Int64),
        pl.col("income").replace("", None).str.replace(",", ".", literal=True).cast(pl.Float64),
        pl.col("sex", "town").replace("", None),
        pl.col("born").str.to_date("%d.%m.%Y"),
        pl.col("grade", "ill"),
    )
    assert back.sort(pl.all()).equals(held)
    asked["style"] = {"delimiter": "\t", "encoding": "utf-8", "decimal": ".", "date_format": "yyyy-mm-dd"}
    vr.anonymize(tmp_path / "texts", output=tmp_path / "c", **asked)
    assert typed(cells(tmp_path / "c", "\t"), held).equals(held)


def test_one_leaf_in_text_is_the_release_in_memory(tmp_path: Path) -> None:
    german(people(600), tmp_path / "texts", 2)
    asked = {**ROLES, "k": 4, "models": ["t-closeness=0.4"], "method": "mdav"}
    made = vr.anonymize(tmp_path / "texts", output=tmp_path / "out", **asked, workers=1)
    whole = b"".join(
        path.read_bytes() if not number else path.read_bytes().split(b"\r\n", 1)[1]
        for number, path in enumerate(sorted((tmp_path / "texts").iterdir()))
    )
    (tmp_path / "whole.csv").write_bytes(whole)
    held = vr.anonymize(vr.read(tmp_path / "whole.csv"), **asked)
    held.write(tmp_path / "memory.csv")
    lines = [sorted(path.read_bytes().split(b"\r\n")) for path in
             (tmp_path / "memory.csv", tmp_path / "out" / "part-00000.csv")]  # fmt: skip
    assert lines[0] == lines[1]
    assert [str(finding) for finding in made.findings] == [str(finding) for finding in held.findings]


ODD = ['x"y', "a,b", "line\nbreak", "=1+1", "'quoted", "\r", "-", "@home", "ü", "naïve;", "tab\there"]


@pytest.mark.parametrize("leaf", [300, 250_000])
def test_odd_cells_come_back(tmp_path: Path, leaf: int) -> None:
    frame = people(900).with_columns(
        town=pl.Series([ODD[i % len(ODD)] for i in range(900)]),
        ill=pl.Series([ODD[i // 11 % len(ODD)] if i % 5 else None for i in range(900)]),
    )
    write(frame, tmp_path / "data", 2)
    asked = {**QUICK, "leaf": leaf, "models": ["t-closeness=0.7"], "format": "csv"}
    made = vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked)
    result = cells(tmp_path / "out")
    bare = Counter(row["ill"] for row in result)
    want = Counter("'" + item if item and item[0] in "=+-@\t\r" else item or "" for item in frame["ill"])
    assert bare == want
    assert made.folder.guarded_cells > 0
    assert made.k == least(result, KEYS) >= 4


@pytest.mark.parametrize("leaf", [300, 250_000])
@pytest.mark.parametrize("pair", [("1", "1.0"), ("", None)])
def test_values_that_look_alike_in_text(tmp_path: Path, leaf: int, pair: tuple[str, str | None]) -> None:
    """Two values that readers of text take for one would leave a group with a single value."""
    frame = people(900).with_columns(ill=pl.Series([pair[i % 2] for i in range(900)]))
    write(frame, tmp_path / "data", 2)
    asked = {**QUICK, "leaf": leaf, "models": ["p-sensitive=2"]}
    with pytest.raises(vr.VoronymError, match="look alike in text files"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked, format="csv")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_count_in_the_text_that_is_too_small_releases_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Break the writer on purpose: one cell of a key is another."""
    write(people(900), tmp_path / "data", 2)
    real = texts.write_frame

    def wrong(table: Any, path: Path, *rest: Any, **more: Any) -> int:
        out = real(table, path, *rest, **more)
        head, first, tail = path.read_text().split("\n", 2)
        path.write_text("\n".join([head, "7" + first, tail]))  # an age that nobody else has
        return out

    monkeypatch.setattr(texts, "write_frame", wrong)
    for leaf in (300, 250_000):
        with pytest.raises(vr.VoronymError, match="promise is not kept"):
            vr.anonymize(tmp_path / "data", output=tmp_path / "out", **QUICK, leaf=leaf, format="csv")
        assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("after", [24, 26, 28])
def test_a_full_disk_while_text_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    write(people(900), tmp_path / "data", 2)
    fill_the_disk(monkeypatch, after)
    with pytest.raises(vr.WriteError, match="No space left on device"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ASKED, leaf=300, format="csv")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_wishes_that_cannot_be(data: Path, tmp_path: Path) -> None:
    messages = [
        "anonymize",
        str(data),
        "-o",
        str(tmp_path / "out"),
        "--key",
        "age,income",
        "--drop-undeclared",
    ]
    wrong = {
        ("--format", "xml"): "the files of a release can be parquet or csv, not 'xml'",
        ("--out-delimiter", ";"): "delimiter: this is about text files, and the release is Parquet",
        ("--format", "csv", "--out-table", "x"): "--out-table is for single tables",
        ("--format", "csv", "--out-delimiter", "::"): "the delimiter must be a single ASCII character",
        ("--format", "csv", "--out-encoding", "wide"): "no encoding is called 'wide'",
    }
    for words, sentence in wrong.items():
        done = CliRunner().invoke(app, [*messages, *words])
        assert done.exit_code == 1, words
        assert sentence in " ".join(done.output.split()) + str(done.exception), words
    assert [path.name for path in tmp_path.iterdir()] == ["people"]
