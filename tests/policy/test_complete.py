"""A run is completed by what the policy demands and nobody chose, or refused with what to change."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import voronym as vr
from policy.tables import zips
from voronym.errors import GuaranteeError, InputError
from voronym.policy.case import Facts
from voronym.policy.complete import Completed, complete
from voronym.policy.policy import Policy
from voronym.request.request import Request


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return vr.datasets.hospital(200, seed=5)


def completed(table: Any, policy: str, facts: dict[str, str] | None = None, **choices: Any) -> Completed:
    chosen = Policy.load(policy)
    return complete(Request.of(choices), table, chosen, Facts.of(chosen, facts))


def made(table: Any, **choices: Any) -> vr.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(table, **choices)


def test_every_choice_is_listed_with_its_reason(patients: pl.DataFrame, tmp_path: Path) -> None:
    result = completed(patients, "hipaa-safe-harbor", {"zip-populations": str(zips(tmp_path))})
    added = {(item.choice, item.value) for item in result.added}
    assert ("--step", "top age=89") in added
    assert ("--step", "recode zip level=2") in added
    assert ("--step", "recode admitted cuts=2025-01-01,2026-01-01") in added
    assert ("--identifier", "name") in added
    assert ("--confidential", "diagnosis") in added
    assert all(item.reason for item in result.added)
    assert result.request.columns.identifiers == ("name", "patient_id")
    again = complete(result.request, patients, Policy.load("hipaa-safe-harbor"),
                     Facts({"zip-populations": str(zips(tmp_path))}))  # fmt: skip
    assert again.added == ()
    assert again.request.given == result.request.given


def test_what_somebody_chose_stays(patients: pl.DataFrame) -> None:
    result = completed(patients, "ema-0070", k=15, keys=["age", "sex"], confidential=["diagnosis"],
                      drop_undeclared=True, steps=["top age=80"])  # fmt: skip
    assert result.added == ()
    assert result.request.release.k == 15
    assert result.request.release.steps == ("top age=80",)


def test_without_the_table_of_populations_zips_go(patients: pl.DataFrame) -> None:
    result = completed(patients, "hipaa-safe-harbor")
    assert "zip" in result.request.columns.identifiers
    assert any("zip-populations" in item.reason for item in result.added if item.value == "zip")
    with pytest.raises(
        GuaranteeError, match=r"column 'zip' is asked for.*To change: leave it out: identifiers=\['zip'\]"
    ):
        completed(patients, "hipaa-safe-harbor", keys=["age", "zip"], drop_undeclared=True)


def test_small_zips_become_000(patients: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "zips.csv"
    path.write_text("zip3,people\n080,1600000\n430,19999\n", encoding="utf-8")
    release = made(patients, policy="hipaa-safe-harbor", facts={"zip-populations": str(path)})
    assert set(release.table["zip"]) == {"080**", "000**"}
    path.write_text("zip3,people\n080,1600000\n430,20001\n", encoding="utf-8")
    release = made(patients, policy="hipaa-safe-harbor", facts={"zip-populations": str(path)})
    assert set(release.table["zip"]) == {"080**", "430**"}


def test_dates_of_birth_and_ages_go_together() -> None:
    import datetime as dt

    year = dt.date.today().year
    born = [dt.date(year - 20 - i % 79, 1 + i % 12, 1 + i % 28) for i in range(200)]
    table = pl.DataFrame({"birth date": born, "sex": ["f", "m"] * 100, "ill": ["a", "b", "c", "d"] * 50})
    release = made(table, policy="hipaa-safe-harbor", keys=["birth date", "sex"], confidential=["ill"])
    output = set(release.table["birth date"])
    oldest = [item for item in output if item.endswith("or less")]
    assert oldest == [f"{year - 90}-12-31 or less"]
    assert not any(item.startswith(str(year - 95)) for item in output)


def test_numbers_of_years_of_birth() -> None:
    import datetime as dt

    year = dt.date.today().year
    table = pl.DataFrame({"birth_year": [year - 20 - i % 79 for i in range(200)], "sex": ["f", "m"] * 100})
    release = made(table, policy="hipaa-safe-harbor", keys=["birth_year", "sex"])
    assert release.table["birth_year"].min() >= year - 89


def test_incomes_are_top_coded() -> None:
    table = pl.DataFrame({"age": list(range(20, 80)) * 5, "income": [1000 + i for i in range(299)] + [10**6]})
    release = made(table, policy="public-use-file", keys=["age"], confidential=["income"])
    assert release.table["income"].max() < 10**6
    assert any(item.value.startswith("top income=") for item in release.checklist.added)


def test_refusals_name_demand_figure_and_change(patients: pl.DataFrame) -> None:
    with pytest.raises(GuaranteeError) as error:
        made(patients, policy="ema-0070", k=11, keys=["age"], drop_undeclared=True)
    text = str(error.value)
    assert "“The largest risk to be found is at most 0.09”" in text
    assert "EMA/90915/2016" in text
    assert "k = 11" in text
    assert "-k 12" in text
    with pytest.raises(GuaranteeError, match="column 'name' is asked for"):
        made(patients, policy="ema-0070", keys=["age"], other=["name"], drop_undeclared=True)


def test_a_step_of_somebody_is_judged_not_mended(patients: pl.DataFrame) -> None:
    with pytest.raises(GuaranteeError, match=r"'admitted' finer than the year.*To change: recode dates"):
        made(patients, policy="hipaa-safe-harbor", keys=["age", "admitted"], drop_undeclared=True,
             steps=["recode admitted cuts=2025-01-01,2025-03-01,2026-01-01"])  # fmt: skip


def test_a_cell_that_nobody_can_complete_is_refused(patients: pl.DataFrame) -> None:
    wards = ["A"] * 199 + ["see ann@example.org"]
    table = patients.with_columns(ward=pl.Series(wards))
    with pytest.raises(GuaranteeError, match=r"No e-mail addresses.*1 cell of 'ward'"):
        made(table, policy="hipaa-safe-harbor", keys=["age"], other=["ward"], drop_undeclared=True)


def test_the_release_has_its_checklist_and_the_recipe_its_policy(patients: pl.DataFrame) -> None:
    release = made(patients, policy="ema-0070", keys=["age", "sex"], confidential=["diagnosis"],
                   drop_undeclared=True)  # fmt: skip
    assert release.checklist.passes
    assert release.k >= 12
    assert release.recipe.policy == "ema-0070"
    again = made(patients, recipe=release.recipe)
    assert again.checklist.passes
    assert again.checklist.added == ()
    assert "What the policy demands" in _report(release)


def _report(release: vr.Release) -> str:
    from voronym.report import render

    return render(release)


def test_a_recipe_is_judged_too(patients: pl.DataFrame) -> None:
    from dataclasses import replace

    recipe = made(patients, keys=["age", "sex"], drop_undeclared=True, k=5).recipe
    with pytest.raises(GuaranteeError, match=r"largest risk 0\.2000"):
        made(patients, recipe=replace(recipe, policy="ema-0070"))


def test_facts_without_a_policy(patients: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="add policy"):
        made(patients, keys=["age"], drop_undeclared=True, facts={"zips": "x.csv"})


def test_a_ledger_that_is_demanded(patients: pl.DataFrame, tmp_path: Path) -> None:
    head = 'format = 1\nname = "x"\ntitle = "x"\nversion = "1"\ndate = 2026-01-01\nsource = "x"\nnote = "x"\n'
    file = tmp_path / "mine.toml"
    file.write_text(head + '[[process]]\ndemand = "ledger"\nsays = "A ledger"\n', encoding="utf-8")
    roles: dict[str, Any] = {"keys": ["age"], "identifiers": ["patient_id"], "drop_undeclared": True}
    with pytest.raises(GuaranteeError, match=r"no ledger is given\. To change: give one: ledger='FILE'"):
        made(patients, policy=file, **roles)
    assert made(patients, policy=file, ledger=tmp_path / "l.ledger", **roles).checklist.passes


def test_weights_strata_and_people() -> None:
    rows = vr.datasets.hospital(240, seed=2).with_columns(
        weight_=pl.Series([1.0, 2.0] * 120), who=pl.Series([f"p{i // 2}" for i in range(240)])
    )
    release = made(rows, policy="ema-0070", keys=["age", "sex"], confidential=["diagnosis"],
                   other=["weight_"], person="who", weights="weight_", strata=["sex"],
                   drop_undeclared=True)  # fmt: skip
    assert release.checklist.passes
    assert release.k >= 12


def test_places_missing_from_the_table_are_called_so(tmp_path: Path) -> None:
    table = tmp_path / "zips.csv"
    table.write_text("zip3,people\n080,900000\n430,12000\n", encoding="utf-8")
    frame = pl.DataFrame({"zip": ["08001", "43001", "99101", "99201"] * 5, "sex": ["f", "m"] * 10})
    result = completed(frame, "hipaa-safe-harbor", {"zip-populations": str(table)})
    (reason,) = (item.reason for item in result.added if "values=" in item.value)
    assert "people or fewer live under 1 of them, 2 of them are missing from the table" in reason
