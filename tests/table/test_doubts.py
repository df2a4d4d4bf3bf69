"""What a steward would be harmed by, and what honest tables must not be bothered with."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError, SchemaError
from voronym.table import Schema, Table
from voronym.table.doubts import DOUBTS
from voronym.table.doubts.numbers import FORMS, national_form
from voronym.table.doubts.sentinels import sentinels

RNG = np.random.default_rng(5)
N = 200
AGES = RNG.integers(18, 90, N)
SEXES = RNG.choice(["m", "f"], N)


@pytest.fixture(autouse=True)
def _same_draws_in_any_order(monkeypatch):
    """What a test draws does not hang on which others came before it."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(6))


def doubts_of(columns, *, keys=(), other=(), confidential=(), kinds=None):
    """Return the doubts about a table as pairs of name and strength, by column."""
    table = Table.build(
        pl.DataFrame({"age": AGES, **columns}),
        keys=["age", *keys],
        other=other,
        confidential=confidential,
        kinds=kinds,
        drop_undeclared=True,
    )
    return {(item.column, item.name): item for item in table.doubts}


UNIQUE = {
    "names": [f"Anna{chr(97 + i % 26)} Berg{chr(97 + i // 26)}" for i in range(N)],
    "mails": [f"p{i}@example.org" for i in range(N)],
    "amounts": [f"{i + 1}.{100 + i},7{i % 10}" for i in range(N)],
    "tokens": [f"x{i:05}" for i in range(N)],
}


@pytest.mark.parametrize("name", UNIQUE)
@pytest.mark.parametrize("role", ["keys", "other", "confidential"])
def test_a_column_of_own_values_is_seen_in_every_role(name, role):
    single = doubts_of({"x": UNIQUE[name]}, **{role: ["x"]})["x", "near-unique"]
    assert single.strength == ("refuse" if role == "keys" else "warn")
    assert "200 distinct values in 200 rows" in single.text
    assert not any(str(value) in single.text for value in UNIQUE[name])


@pytest.mark.parametrize("name", UNIQUE)
def test_such_a_key_is_refused_and_can_be_allowed(name):
    table = pl.DataFrame({"age": AGES, "x": UNIQUE[name]})
    with pytest.raises(SchemaError, match=r"identifiers=\['x'\].*allow_near_unique=\['x'\]"):
        vr.anonymize(table, keys=["age", "x"], k=5, method="mdav")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = vr.anonymize(table, keys=["age", "x"], k=5, method="mdav", allow_near_unique=["x"])
    assert made.recipe.allow_near_unique == ("x",)
    again = vr.Recipe.from_toml(made.recipe.to_toml())
    assert again.allow_near_unique == made.recipe.allow_near_unique
    assert again.allow_loss == made.recipe.allow_loss == ()


def test_amounts_are_told_how_to_be_read():
    assert "decimal and thousands" in str(doubts_of({"x": UNIQUE["amounts"]}, keys=["x"])["x", "near-unique"])
    assert "decimal" not in str(doubts_of({"x": UNIQUE["mails"]}, keys=["x"])["x", "near-unique"])


def test_only_what_exists_can_be_allowed():
    table = pl.DataFrame({"age": AGES, "sex": SEXES})
    with pytest.raises(InputError, match="no key"):
        vr.anonymize(table, keys=["age"], other=["sex"], allow_loss=["sex"])
    recipe = vr.anonymize(table, keys=["age", "sex"]).recipe
    with pytest.raises(InputError, match="does not know: allow_all"):
        vr.Recipe.from_dict({**recipe.to_dict(), "allow_all": ["age"]})
    old = {"format": 1, "schema": recipe.schema.to_dict(), "allow": {"all": ["age"]}}
    with pytest.raises(InputError, match="allows what this version does not know: all"):
        vr.Recipe.from_dict(old)


def test_a_key_with_many_shared_values_passes():
    towns = RNG.choice([f"town {i}" for i in range(60)], N)
    made = vr.anonymize(pl.DataFrame({"age": AGES, "town": towns}), keys=["age", "town"], k=5, method="mdav")
    assert made.risk.k >= 5


@pytest.mark.parametrize("seed", range(8))
def test_no_category_of_one_person_is_published_where_the_group_has_another(seed):
    rng = random.Random(seed)
    towns = [f"own{i}" if rng.random() < 0.4 else rng.choice("abcdefgh") for i in range(120)]
    table = pl.DataFrame({"age": [rng.randrange(20, 80) for _ in towns], "town": towns})
    made = vr.anonymize(table, keys=["age", "town"], k=4, method="mdav", allow_near_unique=["town"])
    alone = {town for town in towns if towns.count(town) == 1}
    part = made._evidence.partition
    shown = made.table["town"][np.argsort(made._evidence.order)].to_list()
    for cell in range(part.n_cells):
        rows = np.flatnonzero(part.labels == cell)
        if any(towns[i] not in alone for i in rows):
            assert shown[rows[0]] not in alone


def test_half_a_column_of_own_values_is_refused_by_what_would_be_published():
    rng = random.Random(1)
    firms = [f"own{i}" if rng.random() < 0.85 else "big" for i in range(N)]
    assert not doubts_of({"x": firms}, keys=["x"])
    with pytest.raises(SchemaError, match="values that key 'x' would publish belong to one person only"):
        vr.anonymize(pl.DataFrame({"age": AGES, "x": firms}), keys=["age", "x"], k=3, method="mdav")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"p{i}@x.de" for i in range(N)], "e-mail"),
        ([f"{100 + i}-{10 + i % 80}-{1000 + i}" for i in range(N)], "social security"),
        ([f"+49 30 {1000 + i}" for i in range(N)], "telephone"),
        ([f"10.0.{i // 20}.{i % 20}" for i in range(N)], "network"),
        (UNIQUE["names"], "names of people"),
    ],
)
def test_shapes_that_name_people_warn(values, what):
    assert what in doubts_of({"x": values}, other=["x"])["x", "patterns"].text


def test_towns_are_not_taken_for_people():
    towns = RNG.choice(
        ["New York", "Los Angeles", "San Diego", "Santa Fe"] + [f"Bad {c}a" for c in "ABCDEFGH"], N
    )
    assert not doubts_of({"x": towns}, keys=["x"])
    assert not doubts_of({"x": towns}, other=["x"])


# Written by hand from the published rules, or published examples; none is a person's.
NUMBERS = {
    "international bank account numbers (IBAN)": ["DE89370400440532013000", "GB82WEST12345698765432"],
    "Spanish identity numbers (DNI, NIE)": ["12345678Z", "X1234567L"],
    "Dutch citizen service numbers (BSN)": ["111222333", "123456782"],
    "Polish personal numbers (PESEL)": ["44051401359", "02070803628"],
    "German tax numbers (Steuer-ID)": ["36574261809", "86095742719"],
    "French social security numbers (NIR)": ["255081416802538"],
    "Swiss social security numbers (AHV)": ["7569217076985", "7561234567897"],
    "British patient numbers (NHS)": ["9434765919", "4010232137"],
    "payment card numbers": ["4111111111111111", "5500005555555559", "378282246310005"],
    "Swedish personal numbers (personnummer)": ["8112189876", "196408233234"],
}


def test_every_form_of_number_has_an_example():
    assert set(NUMBERS) == set(FORMS)


@pytest.mark.parametrize("form", NUMBERS)
def test_numbers_with_check_digits(form):
    for text in NUMBERS[form]:
        assert FORMS[form](text)
        wrong = text[:-1] + (
            "ABCDEFGHIJ"[(ord(text[-1]) - 64) % 10] if text[-1].isalpha() else str((int(text[-1]) + 1) % 10)
        )
        assert not FORMS[form](wrong)
    assert national_form([item for item in NUMBERS[form] for _ in range(10)]) == form


def test_random_numbers_have_no_form():
    for digits in (8, 9, 10, 11, 13, 15, 16):
        assert national_form([str(RNG.integers(10 ** (digits - 1), 10**digits)) for _ in range(100)]) is None


CODES = {
    "zipcode": RNG.integers(10000, 99999, N),
    "icd_code": RNG.integers(1, 999, N),
    "REGION": RNG.integers(1, 9, N),
    "MARSTAT": RNG.integers(1, 7, N),
    "nace": RNG.integers(10, 99, N),
    "born": [int(f"{1950 + i % 50}{1 + i % 12:02}{1 + i % 28:02}") for i in range(N)],
    "month": [202001 + 100 * (i % 5) + i % 12 for i in range(N)],
}


@pytest.mark.parametrize("name", CODES)
def test_codes_are_not_averaged_without_a_word(name):
    table = pl.DataFrame({"age": AGES, name: CODES[name]})
    with pytest.raises(SchemaError, match=f"kinds={{'{name}': '(nominal|datetime|ordinal)'}}"):
        vr.anonymize(table, keys=["age", name], k=5, method="mdav")
    assert vr.anonymize(table, keys=["age", name], k=5, method="mdav", kinds={name: "numeric"}).risk.k >= 5
    proposed = vr.Schema.infer(table).schema[name].kind
    assert proposed in ("nominal", "datetime", "ordinal")
    vr.anonymize(
        table, keys=["age", name], k=5, method="mdav", kinds={name: proposed}, allow_near_unique=[name]
    )


@pytest.mark.parametrize("name", CODES)
def test_codes_with_gaps_are_floats_in_pandas_and_codes_all_the_same(name):
    codes = np.array(CODES[name], float)
    codes[::9] = np.nan
    table = pd.DataFrame({"age": AGES, name: codes})
    with pytest.raises(SchemaError, match=f"kinds={{'{name}': '(nominal|datetime|ordinal)'}}"):
        vr.anonymize(table, keys=["age", name], k=5, method="mdav")
    proposed = vr.Schema.infer(table).schema[name].kind
    release = vr.anonymize(
        table, keys=["age", name], k=5, method="mdav", kinds={name: proposed}, allow_near_unique=[name]
    )
    assert release.risk.k >= 5


def test_codes_with_a_point_are_not_averaged():
    table = pl.DataFrame({"age": AGES, "nace": RNG.choice([47.1, 10.11, 62.01], N)})
    with pytest.raises(SchemaError, match=r"kinds={'nace': 'nominal'}"):
        vr.anonymize(table, keys=["age", "nace"], k=5, method="mdav")


def test_national_numbers_with_gaps_in_pandas_name_people():
    bsn = [n for n in range(100_000_000, 100_009_000) if FORMS["Dutch citizen service numbers (BSN)"](str(n))]
    numbers = np.array(bsn[: 2 * N : 2], float)
    numbers[0] = np.nan
    table = Table.build(pd.DataFrame({"age": AGES, "number": numbers}), keys=["age"], other=["number"])
    assert any("(BSN)" in str(item) for item in table.doubts)


TOWNS = np.array(["Berga", "Calella", "Sort", "Vic"])[RNG.integers(0, 4, N)]
TELLING = {
    "a copy": (AGES, "age"),
    "the year of birth": (2026 - AGES, "age"),
    "years insured": (np.maximum(0, AGES - 20 + RNG.integers(0, 2, N)), "age"),
    "the code of a town": (np.char.add("0", np.char.str_len(TOWNS).astype(str)), "town"),
}


@pytest.mark.parametrize("what", TELLING)
@pytest.mark.parametrize("role", ["other", "confidential"])
def test_a_kept_column_that_tells_a_key_is_not_kept_without_a_word(what, role):
    values, key = TELLING[what]
    doubt = doubts_of({"town": TOWNS, "more": values}, keys=["town"], **{role: ["more"]})["more", "tells"]
    assert f"reveals {key!r} for nearly everybody," in str(doubt)
    assert not doubt.public


@pytest.mark.parametrize(
    "values",
    [
        AGES + RNG.integers(-9, 10, N),  # goes with age, and tells it of few
        RNG.permutation(AGES),
        np.where(RNG.random(N) < 0.9, TOWNS, "elsewhere"),
        [f"house {i}" for i in range(N)],  # everybody's own, which another doubt says
        np.where(TOWNS == "Vic", "mild", RNG.choice(["mild", "grave"], N)),
    ],
)
def test_a_kept_column_that_goes_with_a_key_is_left_alone(values):
    assert ("more", "tells") not in doubts_of({"town": TOWNS, "more": values}, keys=["town"], other=["more"])


@pytest.mark.parametrize(
    "columns",
    [
        {"age": AGES, "kids": RNG.integers(0, 6, N), "income": RNG.integers(10_000, 90_000, N)},
        {"year": RNG.integers(1950, 2020, N), "height": RNG.normal(170, 10, N).round(1), "sex": SEXES},
        {
            "sex": RNG.integers(0, 2, N),
            "region": RNG.choice(["N", "S"], N),
            "weight": RNG.integers(40, 120, N),
        },
        {"grade": RNG.integers(1, 100, N), "age": np.where(AGES > 88, 99, AGES)},
        {"balance": RNG.integers(-5000, 5000, N), "change": RNG.integers(-9, 10, N)},
    ],
)
def test_honest_tables_raise_no_doubt(columns):
    table = pl.DataFrame(columns)
    assert Table.build(table, keys=table.columns).doubts == ()


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(20, 80), -999, -999, -999], {-999.0: 3}),
        ([0, 1, 2, 3, 1, 0, 2, 1, 4, 1, 0, 99, 99, 98, 98], {98.0: 2, 99.0: 2}),
        ([*np.linspace(1000, 90000, 50), -9, -9], {-9.0: 2}),
        ([*range(1000, 2000, 10), 999999, 999999], {999999.0: 2}),
        ([*range(18, 99), 99, 99, 99], {}),
        ([*range(-50, 50), -9, -9, -9], {}),
        ([*range(20, 80), -999], {}),
        ([1.0] * 5, {}),
    ],
)
def test_sentinels(values, codes):
    assert sentinels(np.array(values, float)) == codes


def test_sentinels_are_warned_of_with_counts_and_an_option():
    ages = np.where(np.arange(N) % 20 == 0, -999, AGES)
    with pytest.warns(UserWarning, match=r"10 values of -999.*missing='age=-999'"):
        vr.anonymize(pl.DataFrame({"age": ages, "sex": SEXES}), keys=["age", "sex"], k=5, method="mdav")


def test_variants_of_a_category():
    sexes = np.where(np.arange(N) % 40 == 0, " m", SEXES)
    assert "by spaces only" in doubts_of({"sex": sexes}, keys=["sex"])["sex", "variants"].text
    towns = np.where(np.arange(N) % 2 == 0, "Reus", "reus")
    assert "200 rows" in doubts_of({"town": towns}, keys=["town"])["town", "variants"].text


def test_a_first_line_that_is_data_is_refused():
    rows = [
        (i, int(AGES[i]), str(SEXES[i]), 1000.5 + i, f"19{50 + i % 40}-01-0{1 + i % 9}") for i in range(N)
    ]
    table = pl.DataFrame(rows[1:], schema=[str(value) for value in rows[0]], orient="row")
    with pytest.raises(SchemaError, match="header=False"):
        vr.anonymize(table, keys=[table.columns[1]], drop_undeclared=True)


def test_years_as_headings_are_no_data():
    wide = pl.DataFrame(
        {"town": list("abcdefghij"), **{str(y): RNG.normal(100, 5, 10) for y in range(2015, 2025)}}
    )
    assert Table.build(wide, keys=["town"], other=wide.columns[1:], kinds={"town": "nominal"})._early == ()


def test_an_identifier_that_repeats_is_warned_of():
    visits = pl.DataFrame(
        {
            "patient": np.repeat(np.arange(50), 4),
            "age": np.repeat(AGES[:50], 4),
            "sex": np.repeat(SEXES[:50], 4),
        }
    )
    with pytest.warns(UserWarning, match=r"50 different values in 200 rows.*person='patient'"):
        vr.anonymize(visits, keys=["age", "sex"], identifiers=["patient"], k=5, method="mdav")
    renamed = visits.rename({"patient": "x"})  # its name says nothing, the keys do
    with pytest.warns(UserWarning, match="person='x'"):
        vr.anonymize(renamed, keys=["age", "sex"], identifiers=["x"], k=5, method="mdav")


@pytest.mark.parametrize("several", [True, False])
def test_names_are_people_only_where_their_rows_agree(several):
    """Of a name that many share, rows differ as any two do; of a person with several rows they do not."""
    names = [f"{first} {last}" for first in ("Ann", "Béla", "Zoë", "Jo") for last in ("Weiß", "O'Hara", "Li")]
    at = np.arange(N) % len(names) if several else RNG.integers(0, len(names), N)
    whose = np.arange(len(names)) if several else np.arange(N)
    table = pl.DataFrame(
        {
            "patient": [names[i] for i in at],
            "born": [1930 + 3 * int(whose[i]) for i in (at if several else range(N))],
            "sex": [SEXES[i] for i in (at if several else range(N))],
            "ill": RNG.choice(["flu", "cold", "gout"], N),
        }
    )
    proposal = Schema.infer(table)
    assert proposal.schema.person == ("patient" if several else None)
    assert proposal.schema["patient"].role == "identifier"
    assert ("--person patient" in proposal.command("people.csv")) == several
    messages = [warning for warning in proposal.warnings if "'patient' repeats" in warning]
    assert len(messages) == (not several), "advice that the proposal took is none any more"
    assert [("They look like names" in text) for _, text in proposal.several] == [not several]
    assert ("it repeats: a person may have several rows" in proposal.reasons["patient"]) == several


def test_dropped_columns_that_repeat_by_nature_are_not():
    towns = RNG.choice([f"town {i}" for i in range(30)], N)
    table = pl.DataFrame(
        {
            "age": AGES,
            "sex": SEXES,
            "zip": [f"0{8000 + 37 * int(t.split()[1])}" for t in towns],
            "town": towns,
            "surname": RNG.choice([f"n{i}" for i in range(90)], N),
        }
    )
    vr.anonymize(table, keys=["age", "sex", "zip"], drop_undeclared=True, k=5, method="mdav")


@pytest.mark.parametrize("name", DOUBTS)
def test_every_doubt_says_no_value_of_a_person(name):
    canary = [f"CANARY{i:04} Secretowna" for i in range(N)]
    numbers = np.where(np.arange(N) % 50 == 0, -999, 7_654_321 + np.arange(N))
    table = Table.build(
        pl.DataFrame({"age": AGES, "a": canary, "b": canary, "n": numbers}),
        keys=["age", "a", "n"],
        other=["b"],
        kinds={"a": "nominal"},
    )
    for item in table.doubts:
        assert "CANARY" not in item.text
        assert "7654" not in item.text
