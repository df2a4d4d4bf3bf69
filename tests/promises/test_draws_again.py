"""Noise that is drawn again for the same people is averaged away, so a ledger refuses it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import GuaranteeError
from voronym.history.ledger import Entry
from voronym.history.marks import DRAWN
from voronym.history.means import check_drawn

MONTHS = 12


@pytest.fixture
def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(2, 9, 200) * 10
    pay = rng.gamma(3.0, 900.0, 200).round(-2)
    job = rng.choice(["cook", "nurse", "smith"], 200)
    return pl.DataFrame({"id": [f"p{i}" for i in range(200)], "age": age, "job": job, "pay": pay})


def publish(table: pl.DataFrame, folder: Path, **asked: Any) -> pl.DataFrame:
    """Publish a table with a ledger, and return what is published in the order of the table."""
    asked = {
        "keys": ["age"],
        "confidential": ["pay", "job"],
        "identifiers": ["id"],
        "k": 5,
        "method": "lattice",
        **asked,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = vr.anonymize(table, ledger=folder / "ledger", **asked)
        number = len(list(folder.glob("*.csv")))
        made.write(folder / f"{number}.csv")
    order = made._evidence.order
    return made.table[np.argsort(order)]


def attack(table: pl.DataFrame, folder: Path, **asked: Any) -> float:
    """Return how near the mean of a year of draws is to the truth, in those of one draw."""
    drawn = [publish(table, folder, **asked)["pay"].to_numpy() for _ in range(MONTHS)]
    truth = table["pay"].to_numpy()
    mean = np.mean(drawn, axis=0)
    return float(np.abs(mean - truth).mean() / np.abs(drawn[0] - truth).mean())


STEPS = {"noise": "noise pay=0.5", "swap": "rank-swap pay=20", "after": "after noise pay=0.5"}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_year_of_draws_is_refused(people, tmp_path, step, monkeypatch) -> None:
    publish(people, tmp_path, steps=[step])
    with pytest.raises(GuaranteeError, match="200 people have the same pay as in an earlier release"):
        publish(people, tmp_path, steps=[step])
    publish(people, tmp_path, steps=[step], changed="publish")  # who insists
    monkeypatch.setattr("voronym.history.booking.check_drawn", lambda *_: None)
    assert attack(people, tmp_path, steps=[step]) < 0.7  # what the refusal is good for; drawn, so with room


def test_categories_and_methods_that_draw(people, tmp_path) -> None:
    for number, asked in enumerate(
        [
            {"steps": ["pram job=0.3"]},
            {"method": "channel", "options": {"max_distortion": 0.3}, "k": None, "confidential": ["job"]},
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        table = people if number == 0 else people.drop("pay")
        publish(table, folder, **asked)
        with pytest.raises(GuaranteeError, match="drew its published values at random"):
            publish(table, folder, **asked)


def test_another_name_of_the_column(people, tmp_path) -> None:
    publish(people, tmp_path, steps=["noise pay=0.5"])
    with pytest.raises(GuaranteeError, match="200 people have the same wage"):
        publish(
            people.rename({"pay": "wage"}), tmp_path, steps=["noise wage=0.5"], confidential=["wage", "job"]
        )


def test_a_column_called_like_a_mark(people, tmp_path) -> None:
    table = people.rename({"pay": "before pay"})
    publish(table, tmp_path, confidential=["before pay", "job"])
    changed = pl.when(pl.int_range(pl.len()) == 7).then(1.0).otherwise("before pay")
    with pytest.raises(GuaranteeError, match="1 of 200 people would be told apart"):
        publish(table.with_columns(changed.alias("before pay")), tmp_path, confidential=["before pay", "job"])


def test_other_values_are_drawn_for(people, tmp_path) -> None:
    rng = np.random.default_rng(1)
    publish(people, tmp_path, steps=["noise pay=0.5"], changed="refuse")
    later = people.with_columns(pay=people["pay"] + rng.integers(1, 9, 200) * 100)
    publish(later, tmp_path, steps=["noise pay=0.5"])


def test_over_parts(people, tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(2):
        people[part * 100 : part * 100 + 100].write_csv(folder / f"{part}.csv")
    asked: dict[str, Any] = {"keys": ["age"], "confidential": ["pay", "job"], "identifiers": ["id"], "k": 5}
    asked |= {
        "method": "mdav",
        "leaf": 100,
        "workers": 1,
        "ledger": tmp_path / "ledger",
        "steps": ["noise pay=0.5"],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vr.anonymize(folder, output=tmp_path / "one", **asked)
        with pytest.raises(GuaranteeError, match="drew its published values at random"):
            vr.anonymize(folder, output=tmp_path / "two", **asked)


def test_marks_that_agree_by_chance_refuse_nothing() -> None:
    many = 20_000
    people, zero = np.array([f"{i:016}".encode() for i in range(many)]), np.zeros(many, np.int64)
    marks, marked = np.zeros((many, 1), np.uint16), [f"{DRAWN}pay"]
    entry = Entry(1, "", 5, {"marked": marked}, people, zero, zero, zero, marks=marks)
    now = np.ones((many, 1), np.uint16)
    now[:3] = 0
    check_drawn([entry], people, marked, now)
    now[:4] = 0
    with pytest.raises(GuaranteeError):
        check_drawn([entry], people, marked, now)
