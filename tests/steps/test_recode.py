"""Recoding to ranges by cuts, and by the hierarchies of the recipe, against plain loops."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.errors import InputError, SchemaError
from voronym.steps import parse_step, run
from voronym.table import Table

LIBRARIES = ["polars", "pandas", "pyarrow"]


def recoded(values, cuts, library="polars"):
    frame = pl.DataFrame({"x": values})
    native = {"polars": lambda: frame, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}[library]()
    table = Table.build(native, keys=["x"])
    text = f"recode x cuts={','.join(map(str, cuts))}"
    made, effects, _ = run(table, [parse_step(text)], least=2)
    return made, effects


def inside(text, value, number):
    """Whether a value is in a range, read by code of its own."""
    single = r"\(?(-?\d[\d.\-]*)\)?"
    if match := re.fullmatch(rf"{single} or less", text):
        return value <= number(match[1])
    if match := re.fullmatch(rf"{single} or more", text):
        return value >= number(match[1])
    if match := re.fullmatch(r"<(-?[\d.]+)", text):
        return value < number(match[1])
    match = re.fullmatch(rf"{single}–{single}", text)
    if not match:
        return value == number(text)
    return number(match[1]) <= value <= number(match[2])


@pytest.mark.parametrize("library", LIBRARIES)
def test_ranges_of_whole_numbers(library):
    made, effects = recoded([3, 19, 20, 39, 40, 59, 60, 97, None], [20, 40, 60], library)
    expected = ["19 or less"] * 2 + ["20–39"] * 2 + ["40–59"] * 2 + ["60 or more"] * 2
    assert [made.frame["x"][i] for i in range(8)] == expected
    assert made.missing("x").tolist() == [False] * 8 + [True]
    assert made.schema["x"].kind == "ordinal"
    assert made.schema["x"].categories == ("19 or less", "20–39", "40–59", "60 or more")
    assert effects[0].says == "x: recoded to 4 ranges"


def test_ranges_of_decimals_dates_and_any_numbers():
    assert recoded([1.25, 9.99, 10.0], [5, 10])[0].levels("x") == [
        "10.00 or more",
        "4.99 or less",
        "5.00–9.99",
    ]
    days = [dt.date(1959, 12, 31), dt.date(1960, 1, 1), dt.date(1999, 5, 5)]
    assert recoded(days, ["1960-01-01", "1990-01-01"])[0].frame["x"].to_list() == [
        "1959-12-31 or less", "1960-01-01–1989-12-31", "1990-01-01 or more"
    ]  # fmt: skip
    odd = list(np.random.default_rng(0).normal(size=50))
    assert set(recoded(odd, [-1, 1])[0].levels("x")) == {"<-1", "(-1)–1", "1 or more"}


@given(st.data())
def test_every_value_is_in_its_range(data):
    kind = data.draw(st.sampled_from(["int", "decimal", "date"]))
    values, number = {
        "int": (st.integers(-50, 50), float),
        "decimal": (st.integers(-5000, 5000).map(lambda n: n / 100), float),
        "date": (st.dates(dt.date(1950, 1, 1), dt.date(2020, 1, 1)), dt.date.fromisoformat),
    }[kind]
    column = data.draw(st.lists(st.none() | values, min_size=2, max_size=30))
    if len({item for item in column if item is not None}) < 2:
        return
    cuts = sorted(data.draw(st.sets(values, min_size=1, max_size=4)))
    made, _ = recoded(column, cuts)
    order = made.schema["x"].categories
    places = []
    for value, text in zip(column, made.frame["x"].to_list(), strict=True):
        assert (value is None) == (text is None)
        if text is not None:
            assert inside(text, value, number)
            places.append((value, order.index(text)))
    assert [place for _, place in sorted(places)] == sorted(place for _, place in places)


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        ("recode x cuts=40,20", InputError, "ascending order"),
        ("recode x cuts=20.2,20.5,30", InputError, "no value that 'x' can have"),
        ("recode x cuts=a", InputError, "needs a number"),
        ("recode t cuts=1", SchemaError, "cuts are for numbers and dates"),
        ("recode x cuts=20 level=1", InputError, "needs one of"),
        ("recode x level=1", SchemaError, "Take cuts"),
    ],
)
def test_refusals(step, error, message):
    table = Table.build(pl.DataFrame({"x": [10, 30, 20], "t": ["a", "b", "a"]}), keys=["x", "t"])
    with pytest.raises(error, match=message):
        run(table, [parse_step(step)], least=2)


def people(n=200):
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {"age": rng.integers(0, 95, n), "zip": rng.choice(["0801", "0802", "4301", "4302"], n),
         "pay": 100 * rng.integers(0, 90, n)}
    )  # fmt: skip


TREE = {code: [code[:2], "*"] for code in ("0801", "0802", "4301", "4302")}


@pytest.mark.parametrize("method", ["mdav", "lattice", "local-suppression"])
def test_k_of_ranges_in_the_file_and_the_same_from_a_recipe(method, tmp_path):
    given = {} if method == "local-suppression" else {"hierarchies": {"zip": TREE}}
    release = vr.anonymize(
        people(), keys=["age", "zip"], confidential=["pay"], k=5, method=method, **given,
        steps=["recode age cuts=20,40,60", "recode zip level=1", "after recode pay cuts=1000,5000"],
    )  # fmt: skip
    release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert min(Counter((row["age"], row["zip"]) for row in rows).values()) >= 5
    assert {row["age"] for row in rows} <= {"19 or less", "20–39", "40–59", "60 or more", ""}
    assert {row["pay"] for row in rows} <= {"999 or less", "1000–4999", "5000 or more"}
    zips = {row["zip"] for row in rows}
    assert zips <= ({"080*", "430*", ""} if method == "local-suppression" else {"08", "43", "*"})
    release.recipe.save(tmp_path / "recipe.toml")
    again = vr.anonymize(people(), recipe=vr.Recipe.load(tmp_path / "recipe.toml"))
    assert Counter(again.table.rows()) == Counter(release.table.rows())
    assert release.dossier().public.steps[0] == "age: recoded to 4 ranges"
    assert ("level 1 of the hierarchy" in release.dossier().public.steps[1]) == bool(given)


def test_a_hierarchy_goes_on_from_the_level_of_the_step():
    release = vr.anonymize(
        people(), keys=["age", "zip"], confidential=["pay"], k=30, method="mdav",
        publish={"zip": "hierarchy"}, hierarchies={"zip": TREE}, steps=["recode zip level=1"],
    )  # fmt: skip
    assert set(release.table["zip"].unique()) <= {"08", "43", "*"}
