"""Risk of every record, counted again by pandas; and recodings that are worth it."""

from __future__ import annotations

import stat
import sys
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import voronym as vr
from voronym.cli import main
from voronym.errors import InputError, WriteError
from voronym.evaluate.by_record import propose_recodings, write_by_record

KEYS = ["sex", "job", "age"]


def survey(n=300, seed=2):
    rng = np.random.default_rng(seed)
    jobs = ["clerk", "nurse", "pilot", "judge", "vet", "monk"]
    return pd.DataFrame(
        {
            "hid": np.arange(n) // 2,
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(jobs, n, p=[0.5, 0.4, 0.04, 0.03, 0.02, 0.01]),
            "age": rng.integers(18, 90, n),
            "weight": rng.integers(10, 40, n).astype(float),
        }
    )


def test_class_sizes_and_risks_are_those_of_the_table():
    table = survey()
    result = vr.risk_by_record(table, keys=KEYS, weights="weight", household="hid").to_pandas()
    groups = table.groupby(KEYS)
    assert (result["class_size"] == groups["sex"].transform("size")).all()
    assert (result["class_households"] == groups["hid"].transform("nunique")).all()
    assert (result["unique"] == ~table.duplicated(KEYS, keep=False)).all()
    assert result["row"].tolist() == list(range(1, len(table) + 1))
    whole = vr.population_risk(table, keys=KEYS, weights="weight", household="hid")
    assert result["individual_risk"].sum() == pytest.approx(whole.matches.expected)
    none = 1 - result.groupby(table["hid"])["individual_risk"].transform(lambda risks: (1 - risks).prod())
    assert result["household_risk"].to_numpy() == pytest.approx(none.to_numpy())
    special = vr.suda(table, keys=KEYS, size=3)
    assert result["suda_score"].to_numpy() == pytest.approx(special.scores)
    assert set(result["suda_column"].dropna()) <= set(KEYS)


def test_without_a_population_there_is_no_individual_risk():
    result = vr.risk_by_record(survey(), keys=KEYS)
    assert "individual_risk" not in result.columns
    assert "dis_suda" in vr.risk_by_record(survey(), keys=["sex", "job"], sampling_fraction=0.1).columns


def test_the_file_is_for_its_owner(tmp_path):
    result = vr.risk_by_record(survey(40), keys=KEYS)
    path = tmp_path / "risk.csv"
    write_by_record(result, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(WriteError, match="exists already"):
        write_by_record(result, path)
    with pytest.raises(InputError, match="as CSV"):
        write_by_record(result, tmp_path / "risk.xlsx")


def test_a_proposal_does_what_it_says():
    table = survey()
    special = vr.suda(table, keys=KEYS, size=3)
    made = propose_recodings(table, special)
    assert {item.column for item in made} == {"job", "age"}
    for item in made:
        new = table.copy()
        if item.column == "age":
            width = float(item.step.split("=")[1].split()[0])
            new["age"] = np.floor(new["age"] / width)
        else:
            rare = item.step.split("values=")[1].split()[0].split(",")
            new["job"] = new["job"].where(~new["job"].isin(rare), "other")
        assert int((~new.duplicated(KEYS, keep=False)).sum()) == item.after < item.before
        vr.anonymize(table.drop(columns="hid"), keys=KEYS, drop_undeclared=True, k=2, steps=[item.step])


def test_codes_of_which_all_are_rare_lose_their_last_signs():
    rng = np.random.default_rng(0)
    zips = [f"{rng.choice([8, 9])}{rng.integers(0, 30):03d}" for _ in range(300)]
    table = pd.DataFrame({"zip": zips, "age": rng.integers(20, 40, 300)})
    outcome = propose_recodings(table, vr.suda(table, keys=["zip", "age"], size=2))
    [made] = [item for item in outcome if item.column == "zip"]
    assert made.step == "recode zip level=1"
    new = table.assign(zip=table["zip"].str[:-1] + "*")
    assert int((~new.duplicated(keep=False)).sum()) == made.after < made.before
    words = table.assign(zip=[text.translate(str.maketrans("0123456789", "abcdefghij")) for text in zips])
    outcome = propose_recodings(words, vr.suda(words, keys=["zip", "age"], size=2))
    assert [item.column for item in outcome] == ["age"]  # one category for everybody would tell nothing


def test_the_command_line_writes_and_proposes(tmp_path, capsys):
    survey().to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "risk.csv"
    about = ["--key", ",".join(KEYS), "--weights", "weight", "--household", "hid"]
    words = ["voronym", "measure", str(tmp_path / "in.csv"), *about, "--suda", "3", "--records-out", str(out)]
    with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
        main()
    text = capsys.readouterr()
    assert not ended.value.code, text.err
    assert {"row", "class_size", "individual_risk", "household_risk", "suda_score"} <= set(pd.read_csv(out))
    assert "--step 'recode job values=" in " ".join(text.out.split())
    assert "never for publication" in text.err.replace("\n", " ")
