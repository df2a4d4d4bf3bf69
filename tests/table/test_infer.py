from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from table.samples import LIBRARIES, everything
from voronym import datasets
from voronym.errors import SchemaError
from voronym.table import Codec, Schema, as_frame


def people(n: int = 100) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "patientId": np.arange(n),
            "Full Name": [f"P{i}" for i in range(n)],
            "badge": [f"b{i:04}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 10, n),
            "town": rng.choice(["Tarragona", "Reus"], n),
            "diagnosis": rng.choice(["flu", "cold"], n),
            "notes": [f"patient {i} was seen again on a Monday" for i in range(n)],
            "latitude": rng.uniform(40, 42, n),
            "longitude": rng.uniform(0, 3, n),
            "colour": rng.choice(["red", "blue"], n),
        }
    )


def test_proposal() -> None:
    proposal = Schema.infer(people())
    schema = proposal.schema
    assert schema.identifiers == ("patientId", "Full Name", "badge", "notes")
    assert schema.confidential == ("diagnosis",)
    assert schema["latitude"].partner == "longitude"
    assert schema.keys == ("age", "weight", "town", "latitude", "longitude", "colour")
    assert set(proposal.reasons) == set(schema.names)
    Codec.fit(people(), schema)
    text = str(proposal)
    assert "near-unique: 100 distinct values in 100" in text
    assert "check every role" in text
    assert len(text.splitlines()) >= len(schema.names) + 2


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_column_is_ever_called_safe(library: str) -> None:
    schema = Schema.infer(everything(library)).schema
    assert schema.other == ()
    assert set(schema.names) == set(as_frame(everything(library)).columns)


def test_a_key_is_always_proposed() -> None:
    proposal = Schema.infer(pl.DataFrame({"name": ["a", "b"], "email": ["c", "d"]}))
    assert len(proposal.schema.keys) == 1
    assert "no column looks like a key" in str(proposal)
    with pytest.raises(SchemaError, match="no rows"):
        Schema.infer(pl.DataFrame({"a": []}))


@pytest.mark.data
def test_adult() -> None:
    schema = Schema.infer(datasets.adult()).schema
    assert {"age", "sex", "race"} <= set(schema.keys)
    assert "income" in schema.confidential
    assert schema.other == ()


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("identifier", ["Vorname", "Nachname", "Straße", "Telefon", "Apellidos", "Nom", "Patientennummer"]),
        ("confidential", ["Einkommen", "Bruttolohn", "Krankheit", "diag", "sueldo"]),
        ("key", ["Alter", "Geschlecht", "PLZ", "Ort", "Fecha_ingreso", "Nominal", "Zuckergehalt_mg"]),
    ],
)
def test_names_in_other_languages(role: str, names: list[str]) -> None:
    """A column of first names has few values, and only its name tells what it is."""
    table = pl.DataFrame({name: [f"v{i % 12}" for i in range(60)] for name in (*names, "age")})
    result = Schema.infer(table).schema
    assert {name: result[name].role for name in names} == dict.fromkeys(names, role)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y", "%Y-%m-%d 10:20"])
def test_texts_that_are_dates_are_proposed_as_the_same_dates_in_a_text_file(form: str) -> None:
    days = pl.select(pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 4, 9))).to_series()
    table = people().with_columns(admitted=days.dt.strftime(form))
    proposal = Schema.infer(table)
    column = proposal.schema["admitted"]
    assert (column.role, column.kind) == ("key", "datetime")
    assert "--kind admitted=datetime" in proposal.command("people.xlsx")
    Codec.fit(table, proposal.schema)
    ambiguous = table.with_columns(admitted=pl.lit("01/02/") + (pl.int_range(1900, 2000)).cast(pl.String))
    assert Schema.infer(ambiguous).schema["admitted"].role == "identifier"  # days and months may be swapped


def test_infinite_values_are_counted_and_the_command_makes_them_missing() -> None:
    weights = [float("inf"), -float("inf"), *range(98)]
    table = people().with_columns(pl.Series("weight", weights), pl.Series("a,b", [float("inf"), *range(99)]))
    proposal = Schema.infer(table)
    assert "key 'weight' has 2 infinite values" in str(proposal)
    assert "--missing weight=inf,weight=-inf" in proposal.command("people.csv")
    assert "--missing inf" in proposal.command("people.csv")  # a name with a comma cannot be said there
    assert proposal.infinite == {"weight": ("inf", "-inf"), "a,b": ("inf",)}
    assert "infinite" not in str(Schema.infer(people()))
    assert "--missing" not in Schema.infer(people()).command("people.csv")
