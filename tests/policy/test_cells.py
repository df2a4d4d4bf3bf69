"""Cells of any tool are understood."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest

from voronym.policy import check
from voronym.policy.cells import read_cell
from voronym.policy.recognise import recognise


@pytest.mark.parametrize("text", ["*", "***", "", "NA", "n/a", "?", "nan", "missing"])
def test_suppressed(text: str) -> None:
    assert read_cell(text).sort == "gone"


@pytest.mark.parametrize(
    ("text", "low", "top"),
    [
        ("[20, 40[", 20, 39), ("[20,40)", 20, 39), ("[20, 40]", 20, 40), ("20-39", 20, 39), ("20–39", 20, 39),
        ("(-5)–(-2)", -5, -2), ("90+", 90, math.inf), (">=90", 90, math.inf), (">89", 90, math.inf),
        ("90 or more", 90, math.inf), ("90 and older", 90, math.inf), ("12,5–14,9", 12.5, 14.9),
        ("≤ 17", -math.inf, 17), ("<18", -math.inf, 17), ("44", 44, 44),
    ],
)  # fmt: skip
def test_numbers(text: str, low: float, top: float) -> None:
    cell = read_cell(text)
    assert cell.sort == "number"
    assert (cell.bottom, cell.top) == (low, top)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2019-01-01–2019-12-31", "2019-01-01", "2019-12-31"),
        ("01.01.2019–31.12.2019", "2019-01-01", "2019-12-31"),
        ("2019-03", "2019-03-01", "2019-03-31"),
        ("2019-03-05 12:30", "2019-03-05", "2019-03-05"),
        ("12/31/2019", "2019-12-31", "2019-12-31"),
    ],
)
def test_dates(text: str, low: str, high: str) -> None:
    cell = read_cell(text)
    assert cell.sort == "date"
    assert (cell.low, cell.high) == (dt.date.fromisoformat(low), dt.date.fromisoformat(high))


def test_codes_show_what_is_not_masked() -> None:
    assert [read_cell(item).text for item in ("08***", "080xx", "K3*")] == ["08", "080", "K3"]
    assert read_cell("flu").sort == "text"
    assert read_cell("1.234,5").sort == "text"  # no range from 1.234 to 5


def test_a_table_of_another_tool() -> None:
    """Stars, ranges and masked codes, as ARX and sdcMicro write them."""
    rows = [("[20, 40[", "08***", "f", "flu"), ("[40, 60[", "08***", "*", "cold")] * 12
    table = pl.DataFrame(rows, schema=["age", "zip", "sex", "ill"], orient="row")
    made = check(table, "ema-0070", keys=["age", "zip", "sex"])
    risk = next(item for item in made.items if item.demand == "risk")
    assert (risk.verdict, risk.value) == ("holds", 1 / 12)
    assert check(table, "scientific-use-file", keys=["age", "zip", "sex"]).passes
    gaps = table.with_columns(pl.when(pl.int_range(24) == 1).then(None).otherwise("sex").alias("sex"))
    assert check(gaps, "ema-0070", keys=["age", "zip"]).passes


def test_stars_and_gaps_are_one_class() -> None:
    table = pl.DataFrame({"age": ["*"] * 6 + [None] * 6, "sex": ["f"] * 12})
    risk = next(item for item in check(table, "ema-0070", keys=["age", "sex"]).items if item.demand == "risk")
    assert risk.verdict == "holds"


@pytest.mark.parametrize(
    ("name", "cell", "what"),
    [
        ("Nachname", "Abel", "name"), ("prénom", "Léa", "name"), ("PLZ", "10115", "zip"),
        ("code postal", "75001", "zip"), ("Alter", "44", "age"), ("âge", "44", "age"), ("edad", "44", "age"),
        ("Geburtsdatum", "01.02.1950", "birth"), ("date de naissance", "01/02/1950", "birth"),
        ("Aufnahme", "01.02.2020", "date"), ("x", "2020-02-01", "date"), ("Wohnort", "Ulm", "place"),
        ("Straße", "Weg 1", "place"), ("contact", "a@b.org", "email"), ("when", "a", None),
        ("percentage", "44", None), ("weight", "70.5", None), ("state", "Ohio", None),
        ("age_group", "30-39", "age"),
    ],
)  # fmt: skip
def test_columns_are_recognised(name: str, cell: str, what: str | None) -> None:
    assert recognise(pl.DataFrame({name: [cell] * 3}))[name].what == what


def test_what_somebody_says_goes_before_names() -> None:
    table = pl.DataFrame({"box": ["10115", "10117"], "name": ["drug a", "drug b"]})
    seen = recognise(table, {"box": "zip", "name": "none"})
    assert (seen["box"].what, seen["name"].what) == ("zip", None)
