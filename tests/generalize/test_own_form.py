"""Ranges are written as the file writes its numbers and dates, and read back as what they are."""

from __future__ import annotations

import csv
import datetime as dt
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.generalize.forms import read_ranges
from voronym.generalize.spans import ends, written
from voronym.table import read, source_of
from voronym.table.moments import Moment
from voronym.table.numerals import Number
from voronym.table.respell import plain_texts, respelled

NUMBERS = [
    Number(",", "."),
    Number(",", ""),
    Number(".", ","),
    Number(",", " ", "", " €"),
    Number(".", "'", "$"),
]
MOMENTS = [Moment(p) for p in ("%d.%m.%Y", "%-d/%-m/%Y", "%m-%d-%Y", "%d.%m.%y", "%Y%m%d", "%b %-d, %Y")]


def people(n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    days = [dt.date(2018, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(0, 900, n)]
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": np.round(rng.normal(0, 12, n), 1),
            "paid": np.round(rng.lognormal(9, 0.6, n), 2),
            "day": days,
            "ill": rng.choice(["flu", "cold", "asthma"], n),
        }
    )


def german(table: pl.DataFrame, path: Path) -> Path:
    """Write a table as an office in Germany would."""
    number = Number(",", ".", least=1, most=2)
    spelled = table.with_columns(
        number.write(table["weight"]), number.write(table["paid"]), table["day"].dt.strftime("%d.%m.%Y")
    )
    spelled.write_csv(path, separator=";")
    return path


def cells(path: Path, delimiter: str = ";") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def released(path: Path, **more: Any) -> vr.Release:
    named = {"keys": ["age", "weight", "paid", "day"], "confidential": ["ill"], "k": 4, "method": "mdav"}
    return vr.anonymize(path, **{**named, **more})


@pytest.mark.parametrize("form", NUMBERS, ids=lambda single: single.says())
def test_ranges_of_numbers_come_back_and_stay_different(form: Number) -> None:
    ends_ = ["0", "-0.5", "12.25", "999", "1000.00", "1234567.5", "-1500"]
    texts = pl.Series("x", [written(a, b) for a in [None, *ends_] for b in [None, *ends_]] + [None])
    made = respelled(texts, form)
    assert made.n_unique() == texts.n_unique()
    assert plain_texts(made, form).equals(texts, null_equal=True)
    assert ("12.25" in "".join(made.drop_nulls())) == (form.decimal == ".")


@pytest.mark.parametrize("form", MOMENTS, ids=lambda item: item.pattern)
def test_ranges_of_dates_come_back_and_stay_different(form: Moment) -> None:
    ends_ = ["0999-01-31", "1899-12-31", "1969-01-02", "1970-01-01", "2069-12-31", "2070-01-01", "2020-02-29"]
    ends_ += ["2020-02-29T10:00:00", "2020-02-29T10:59:59", "2020-02-29T10:59:00"]
    texts = pl.Series("x", [written(a, b) for a in [None, *ends_] for b in [None, *ends_]])
    made = respelled(texts, form)
    assert made.n_unique() == texts.n_unique()
    again = plain_texts(made, form)
    assert [ends(item, times=True) for item in again] == [ends(item, times=True) for item in texts]


def test_a_release_of_a_german_file_has_german_ranges(tmp_path: Path) -> None:
    table = people()
    release = released(german(table, tmp_path / "in.csv"), publish="interval")
    assert release.table["paid"].str.contains(r"\d\.\d\d").any()  # in memory they are as ever
    receipt = release.write(tmp_path / "out.csv")
    assert receipt.k_counted >= 4
    result = cells(tmp_path / "out.csv")
    end = {"weight": r"(\(-\d+,\d\)|\d+,\d)", "paid": r"\d{1,3}(\.\d{3})*,\d\d", "day": r"\d\d\.\d\d\.20\d\d"}
    for name, first in end.items():
        shapes = rf"{first}(–{first})?|{first} or (less|more)|\*"
        assert all(re.fullmatch(shapes, row[name]) for row in result), name
        assert any("–" in row[name] for row in result)
    named: Any = {"keys": ["age", "weight", "paid", "day"], "confidential": ["ill"]}
    there, here = (
        vr.measure(first, original=tmp_path / "in.csv", **named)
        for first in (release.table, read(tmp_path / "out.csv"))
    )
    assert here.utility == there.utility  # what is read back is what was published
    assert any("published as ranges" in note for note in here.notes)


def test_ranges_with_commas_are_quoted_between_commas_and_other_signs_are_kept(tmp_path: Path) -> None:
    release = released(german(people(), tmp_path / "in.csv"), publish="interval")
    release.write(tmp_path / "comma.csv", delimiter=",")
    text = (tmp_path / "comma.csv").read_text("utf-8")
    assert re.search(r'"[\d.]+,\d\d–[\d.]+,\d\d"', text)
    assert len(cells(tmp_path / "comma.csv", ",")[0]) == 5
    release.write(tmp_path / "plain.csv", decimal=".", thousands="", date_format="yyyy-mm-dd")
    plain = sorted((row["paid"], row["day"]) for row in cells(tmp_path / "plain.csv"))
    assert plain == sorted(release.table.select("paid", "day").rows())
    release.write(tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").equals(release.table)


def test_recoded_columns_and_the_lattice_are_german_and_hierarchies_stay_as_written(tmp_path: Path) -> None:
    path = german(people(), tmp_path / "in.csv")
    cuts = "recode paid cuts=5000,10000.5"
    recode = released(
        path, keys=["age", "weight", "day"], confidential=["paid"], other=["ill"], steps=[cuts],
        models=["t-closeness=0.9"],
    )  # fmt: skip
    recode.write(tmp_path / "recode.csv")  # the model is measured on the file, in the order of the ranges
    shown = {row["paid"] for row in cells(tmp_path / "recode.csv")}
    assert shown == {"4.999,99 or less", "5.000,00–10.000,49", "10.000,50 or more"}
    lattice = released(path, keys=["paid", "day"], drop_undeclared=True, method="lattice")
    lattice.write(tmp_path / "lattice.csv")
    ranged = {row[name] for row in cells(tmp_path / "lattice.csv") for name in ("paid", "day")}
    assert not any(re.search(r"\d{4}-\d\d|\d{4,}\.\d", leave) for leave in ranged)
    leaves = sorted(set(map(str, people()["weight"])))
    tree = "".join(f"{leave};{'1.000–2.000' if leave < '1' else '2.5'};*\n" for leave in leaves)
    (tmp_path / "tree.csv").write_text(tree, encoding="utf-8")
    by_tree = released(
        path, keys=["weight"], drop_undeclared=True, publish={"weight": "hierarchy"},
        hierarchies={"weight": str(tmp_path / "tree.csv")},
    )  # fmt: skip
    by_tree.write(tmp_path / "tree-out.csv")
    assert {row["weight"] for row in cells(tmp_path / "tree-out.csv")} & {"1.000–2.000", "2.5"}


def test_days_written_as_digits_are_published_so(tmp_path: Path) -> None:
    table = people().with_columns(pl.col("day").dt.strftime("%Y%m%d"))
    table.write_csv(tmp_path / "in.csv")
    for way, shape in (("mean", r"20\d{6}"), ("interval", r"20\d{6}( or (more|less)|–20\d{6})?")):
        release = released(tmp_path / "in.csv", kinds={"day": "datetime"}, publish=way)
        release.write(tmp_path / f"{way}.csv")
        assert all(re.fullmatch(shape, row["day"]) for row in cells(tmp_path / f"{way}.csv", ","))
        result = vr.measure(
            tmp_path / f"{way}.csv", keys=["day"], original=tmp_path / "in.csv", kinds={"day": "datetime"}
        )
        assert not any("different types" in note for note in result.notes)


def test_whose_thousands_a_range_has_is_taken_from_the_files(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("n;x\n" + "1.500;1,5\n12.345.678;2,5\n" * 3, encoding="utf-8")
    (tmp_path / "out.csv").write_text("n;x\n" + "1.000–2.000;1,5\n" * 3, encoding="utf-8")
    original, other = source_of(read(tmp_path / "in.csv")), source_of(read(tmp_path / "out.csv"))
    texts = pl.Series("n", ["1.000–2.000"])
    assert read_ranges(texts, times=False, original=original, released=other).item() == "1000–2000"
    assert read_ranges(texts, times=False, original=original).item() == "1.000–2.000"  # from no text file
    message = source_of(read(tmp_path / "out.csv", thousands=".", decimal=","))
    assert read_ranges(texts, times=False, released=message).item() == "1000–2000"
    commas = pl.Series("n", ["21,000–30,999"])
    (tmp_path / "us.csv").write_text("n,x\n" + '"21,000–30,999",1\n' * 2, encoding="utf-8")
    theirs = source_of(read(tmp_path / "us.csv"))
    assert read_ranges(commas, times=False, original=original, released=theirs).item() == "21000–30999"
    strange = pl.Series("n", ["low", "high"])
    assert read_ranges(strange, times=False, original=original, released=other).equals(strange)


def test_ranges_of_other_tools_with_decimal_commas_are_read(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("n\n1,5\n2,5\n", encoding="utf-8")
    original = source_of(read(tmp_path / "in.csv", delimiter=";"))
    for text, plain in {
        "[20,5, 30,5[": (20.5, 30.5),
        "20,5-30": (20.5, 30.0),
        ">=80,5": (80.5, None),
    }.items():
        got = read_ranges(pl.Series("n", [text]), times=False, original=original)
        assert ends(got.item()) == plain
    got = read_ranges(pl.Series("n", ["[20,30["]), times=False, original=original)
    assert ends(got.item()) == (20.0, 30.0)  # two whole numbers, not one with a comma


def test_the_attack_on_ends_and_the_penalty_are_the_same_on_the_written_file(tmp_path: Path) -> None:
    table = people().select("paid", "day").sort("paid")
    groups = [slice(i, i + 4) for i in range(0, len(table), 4)]
    shown = {
        name: [
            written(str(min(part)), str(max(part)))
            for at in groups
            for part in [table[name][at]]
            for _ in part
        ]
        for name in table.columns
    }
    plain = pl.DataFrame(shown)
    german(people().with_columns(table), tmp_path / "in.csv")
    forms = {"paid": Number(",", "."), "day": Moment("%d.%m.%Y")}
    spelled = plain.with_columns(respelled(plain[name], form) for name, form in forms.items())
    spelled.write_csv(tmp_path / "out.csv", separator=";")
    named: Any = {"keys": ["paid", "day"], "original": tmp_path / "in.csv", "aligned": True}
    before, after = (
        vr.attack(item, attacks=["range-ends"], **named)["range-ends"]
        for item in (plain, tmp_path / "out.csv")
    )
    assert before.success == after.success > after.control + 0.1  # the intruder reads commas, too
    losses = [vr.measure(item, **named).penalty for item in (plain, tmp_path / "out.csv")]
    assert losses[0] == losses[1]
