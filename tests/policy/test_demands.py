"""Every demand of every shipped policy fails when a single cell breaks it, and holds before."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from policy.tables import ZIPS, zips
from voronym.policy import Policy, check, shipped
from voronym.policy.base import Demand

ROWS = 40
COLUMNS: dict[str, Any] = {
    "name": ("name", "Ann"), "email": ("remark", "write to ann@example.org"),
    "phone": ("remark", "+1 212 5550100"),
    "fax": ("fax", "5550100"), "ssn": ("remark", "078-05-1120"), "plan": ("insurance number", "A1"),
    "account": ("account", "99"), "licence": ("license number", "L1"), "vehicle": ("license plate", "B-A 1"),
    "device": ("serial number", "S1"), "url": ("remark", "see http://example.org/ann"),
    "ip": ("remark", "10.1.2.3"),
    "biometric": ("fingerprint", "f1"), "photo": ("photo", "ann.jpg"), "record": ("patient id", "P1"),
    "place": ("city", "Ulm"), "zip": ("zip", "10115"),
    "text": ("comment", "A long remark about somebody who came in with her neighbour on a cold day."),
}  # fmt: skip
"""For kinds that must be absent: a column, and the cell that breaks the demand."""


def table(policy: Policy) -> pl.DataFrame:
    """Return a table that every shipped policy lets pass."""
    made = pl.DataFrame(
        {
            "age": [40] * ROWS,
            "sex": ["f"] * ROWS,
            "admitted": ["2024"] * ROWS,
            "birth_year": [1986] * ROWS,
            "income": [2_000] * ROWS,
            "ill": ["flu", "cold"] * (ROWS // 2),
            "remark": ["none"] * ROWS,
        }
    )
    if any(demand.name == "digits" for demand in policy.demands):
        made = made.with_columns(zip=pl.lit("101**" if "hipaa" in policy.name else "10***"))
    return made


def broken(frame: pl.DataFrame, one: Any) -> pl.DataFrame:
    """Return the table with a single cell changed so that a demand does not hold."""
    if one.name == "absent":
        if one.holds == "code":
            codes = [f"c{i}x" for i in range(ROWS - 1)]
            before = frame.with_columns(tag=pl.Series([*codes[:38], None, None]))
            assert before["tag"].null_count() == 2
            return before.with_columns(tag=pl.Series([*codes, "c99x"]))
        name, cell = COLUMNS[one.holds]
        old = frame[name].to_list() if name in frame.columns else [None] * ROWS
        return frame.with_columns(pl.Series(name, [cell, *old[1:]], dtype=pl.String))
    columns = {
        "top": {"age": int(getattr(one, "most", 0)) + 1, "birth": dt.date.today().year - 100}.get(
            getattr(one, "holds", "")
        ),
        "period": "2024-03-05" if getattr(one, "holds", "") == "date" else "1986-03-05",
        "digits": "9902*"[: getattr(one, "digits", 3) + 1] + "*",
        "extremes": 9_000,
        "risk": "m",
        "k": "m",
    }
    where = {
        "age": "age", "birth": "birth_year", "date": "admitted", "zip": "zip", "income": "income",
    }.get(getattr(one, "holds", ""), "sex")  # fmt: skip
    old = [str(cell) if one.name in ("period", "digits") else cell for cell in frame[where].to_list()]
    return frame.with_columns(pl.Series(where, [columns[one.name], *old[1:]]))


JUDGED = [
    pytest.param(name, number, id=f"{name}:{one.name}:{getattr(one, 'holds', '')}{number}")
    for name in shipped()
    for number, one in enumerate(Policy.load(name).demands)
    if one.section in ("columns", "groups") and one.name not in ("model", "sample")
]


@pytest.mark.parametrize(("name", "number"), JUDGED)
def test_one_cell_breaks_a_demand(name: str, number: int, tmp_path: Any) -> None:
    policy = Policy.load(name)
    single = policy.demands[number]
    about: dict[str, Any] = {"keys": ["sex"], "confidential": ["ill"]}
    if policy.facts:
        about["facts"] = {"zip-populations": str(zips(tmp_path))}
    frame = table(policy)
    before = check(frame, policy, **about)
    assert before.passes, [item.figure for item in before.of("fails")]
    after = check(broken(frame, single), policy, **about)
    assert after.items[number].verdict == "fails"
    assert after.items[number].change
    assert after.items[number].source
    others = [item for item in after.of("fails") if item is not after.items[number]]
    assert {item.demand for item in others} <= {single.name, "period", "top", "absent", "model"}


def verdict(frame: pl.DataFrame, policy: Any, name: str, **about: Any) -> tuple[str, str]:
    made = check(frame, policy, **about)
    item = next(item for item in made.items if item.demand == name)
    return item.verdict, item.figure


@pytest.mark.parametrize(
    ("cell", "fine"),
    [(89, True), (90, False), ("90+", True), ("90 or older", True), (">= 90", True), ("91+", False),
     ("[80, 90[", True), ("[80, 90]", False), ("85-89", True), ("*", True), (None, True), ("85+", True)],
)  # fmt: skip
def test_ages(cell: Any, fine: bool) -> None:
    ages = pl.Series("age", [str(single) if single is not None else None for single in [cell, *[40] * 9]])
    result = verdict(pl.DataFrame([ages]), "hipaa-safe-harbor", "top", keys=["age"])[0]
    assert (result == "holds") == fine


@pytest.mark.parametrize(
    ("cell", "fine"),
    [("101**", True), ("101", True), ("990**", False), ("000", True), ("000**", True), ("1011*", False),
     ("10115", False), ("10***", True), ("*", True), ("555**", False)],
)  # fmt: skip
def test_zips_of_small_districts(cell: str, fine: bool, tmp_path: Any) -> None:
    assert ZIPS["990"] < 20_000 < ZIPS["101"]
    frame = pl.DataFrame({"zip": [cell, *["100**"] * 9]})
    facts = {"zip-populations": str(zips(tmp_path))}
    assert (verdict(frame, "hipaa-safe-harbor", "digits", keys=["zip"], facts=facts)[0] == "holds") == fine
    alone = check(frame, "hipaa-safe-harbor", keys=["zip"])  # without the table every place counts as small
    assert [item.demand for item in alone.of("fails")] == ["digits"]


@pytest.mark.parametrize(
    ("cell", "fine"),
    [("2024", True), ("2024-03-05", False), ("2024-01-01", False), ("2024-03", False), ("05.03.2024", False),
     ("2024-01-01–2024-12-31", True), ("01.01.2024–31.12.2024", True), ("2023-12-31 or less", True),
     ("2024-01-01–2024-12-30", False), ("2020-2024", True), ("2024-01-01–2025-01-01", True), ("*", True)],
)  # fmt: skip
def test_dates(cell: str, fine: bool) -> None:
    frame = pl.DataFrame({"admitted": [cell, *["2023"] * 9], "sex": ["f"] * 10})
    assert (verdict(frame, "hipaa-safe-harbor", "period", keys=["sex"])[0] == "holds") == fine


def test_a_date_in_a_column_of_other_things() -> None:
    frame = pl.DataFrame({"ward": ["A"] * 9 + ["A since 2024-03-05"], "sex": ["f"] * 10})
    assert verdict(frame, "hipaa-safe-harbor", "period", keys=["sex"])[0] == "fails"


@pytest.mark.parametrize(("size", "fine"), [(12, True), (11, False)])
def test_a_risk_of_0_091_is_above_0_09(size: int, fine: bool) -> None:
    frame = pl.DataFrame({"sex": ["f"] * size + ["m"] * 20})
    result = verdict(frame, "ema-0070", "risk", keys=["sex"])
    assert result == ("holds" if fine else "fails", f"largest risk {1 / size:.4f}")


def test_a_model_breaks_by_one_cell() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 12, "ill": ["flu"] * 11 + ["cold"]})
    about = {"keys": ["sex"], "confidential": ["ill"]}
    assert verdict(frame, "wp29-2014", "model", **about)[0] == "holds"
    frame = frame.with_columns(ill=pl.lit("flu"))
    assert verdict(frame, "wp29-2014", "model", **about)[0] == "fails"


def test_a_sample_and_records_that_are_left_out() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 38})
    original = pl.DataFrame({"sex": ["f"] * 40})
    about: dict[str, Any] = {"keys": ["sex"], "original": original}
    assert verdict(frame, "public-use-file", "records-lost", **about) == ("holds", "5 % of the records")
    about["original"] = pl.DataFrame({"sex": ["f"] * 41})
    assert verdict(frame, "public-use-file", "records-lost", **about)[0] == "fails"
    assert verdict(frame, "public-use-file", "sample", sampling_fraction=0.1, keys=["sex"])[0] == "holds"
    assert verdict(frame, "public-use-file", "sample", sampling_fraction=0.11, keys=["sex"])[0] == "fails"
    assert verdict(frame, "public-use-file", "sample", keys=["sex"])[0] == "person"


def test_a_population_lowers_the_risk_of_a_journalist() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 5})
    assert verdict(frame, "public-use-file", "risk", keys=["sex"])[0] == "fails"
    people = pl.DataFrame({"sex": ["f"] * 20})
    assert verdict(frame, "public-use-file", "risk", keys=["sex"], population=people)[0] == "holds"
    people = pl.DataFrame({"sex": ["f"] * 19})
    assert verdict(frame, "public-use-file", "risk", keys=["sex"], population=people)[0] == "fails"


def test_attacks_need_the_original_and_see_a_bare_table() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    bare = pl.DataFrame(
        {"age": rng.permutation(200), "weight": rng.normal(70, 9, 200), "ill": ["a", "b"] * 100}
    )
    about: dict[str, Any] = {"keys": ["age", "weight"], "confidential": ["ill"]}
    made = check(bare, "wp29-2014", **about)
    assert {item.verdict for item in made.items if item.section == "attacks"} == {"open"}
    made = check(bare, "wp29-2014", original=bare, **about)
    attacks = {item.says: item.verdict for item in made.items if item.section == "attacks"}
    assert attacks["Few records are linked to the right person"] == "fails"


def policy_with(*sections: str) -> Policy:
    head = 'format = 1\nname = "x"\ntitle = "x"\nversion = "1"\ndate = 2026-01-01\nsource = "x"\nnote = "x"\n'
    return Policy.parse(head + "\n".join(sections))


def test_demands_that_no_shipped_policy_has() -> None:
    policy = policy_with(
        '[[columns]]\ndemand = "frequent"\ncolumn = "job"\nleast = 3\nsays = "x"',
        '[[loss]]\ndemand = "cells-suppressed"\nmost = 0.25\nsays = "x"',
        '[[loss]]\ndemand = "information-loss"\nmost = 40\nsays = "x"',
        '[[process]]\ndemand = "ledger"\nsays = "x"',
        '[[groups]]\ndemand = "k"\nleast = 2\nsays = "x"',
    )
    frame = pl.DataFrame({"job": ["nurse"] * 3 + ["cook"] * 3, "age": ["*", "30", "30", "*", "40", "40"]})
    frame = frame.with_columns(age=pl.Series(["*", "30", "30", "*", "40", "40"]))
    made = {item.demand: item for item in check(frame, policy, keys=["age", "job"]).items}
    assert made["frequent"].verdict == "holds"
    assert (made["cells-suppressed"].verdict, made["cells-suppressed"].value) == (
        "holds",
        pytest.approx(2 / 12),
    )
    assert made["information-loss"].verdict == "open"
    assert made["ledger"].verdict == "person"
    assert made["k"].verdict == "fails"
    rare = frame.with_columns(job=pl.Series(["nurse"] * 4 + ["cook"] * 2))
    assert verdict(rare, policy, "frequent", keys=["age"])[0] == "fails"
    gone = frame.with_columns(age=pl.lit("*"))
    assert verdict(gone, policy, "cells-suppressed", keys=["age"])[0] == "fails"


def test_every_demand_says_what_it_demands_and_where_that_stands() -> None:
    for name in shipped():
        policy = Policy.load(name)
        assert "no legal advice" in policy.note
        assert policy.source
        assert policy.source_date
        for demand in policy.demands:
            assert isinstance(demand, Demand)
            assert demand.says
            assert demand.source
            line = policy.text.splitlines()[demand.line - 1]
            assert line == f"[[{demand.section}]]"
