"""The verbs of the ledger, as a person types them."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.cli import app
from voronym.errors import GuaranteeError, InputError
from voronym.history import Ledger

ROLES = ["--key", "age,zip", "--identifier", "patient_id", "--drop-undeclared", "-k", "4"]


def run(*words, fails=None):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if fails is None:
        assert result.exit_code == 0, result.output
    else:
        assert isinstance(result.exception, fails), result.output
    return result


@pytest.fixture
def files(tmp_path):
    people = vr.datasets.hospital(120, seed=5)
    people[:90].write_csv(tmp_path / "march.csv")
    people[6:100].write_csv(tmp_path / "april.csv")
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_retired_people_do_not_wait(files):
    everybody = vr.datasets.hospital(120, seed=5)
    everybody[:90:2].vstack(everybody[90:100]).write_csv(files / "may.csv")
    kept = [*ROLES, "--ledger", files / "l", "--keep-groups", "--dissolved", "retire", "--waiting", "1"]
    run("anonymize", files / "march.csv", "-o", files / "1.csv", *kept)
    with pytest.warns(UserWarning, match="dissolved groups") as warned:
        run("anonymize", files / "may.csv", "-o", files / "2.csv", *kept)
    last = json.loads(run("ledger", "show", files / "l", "--json").stdout)[-1]
    before, now = (entry.people[entry.groups >= 0] for entry in Ledger(files / "l").entries)
    away = set(Ledger(files / "l").entries[-1].people.tolist()) - set(now.tolist())
    retired = len(away & set(before.tolist()))
    assert (last["waiting"], last["retired"]) == (len(away) - retired, retired)
    assert retired > 0
    text = " ".join(str(item.message) for item in warned)
    assert f"{retired} of 55 people of dissolved groups are not published again" in text
    assert f"{len(away) - retired} of 55 people wait" in text


@pytest.mark.filterwarnings("ignore")
def test_headings_are_whole_on_a_narrow_terminal(files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    bounds = ["--bounds", "age=0..120", "--bounds", "sex=female|male"]
    words = ["--model", "dp=1.0,scope=all", *bounds, "--ledger", files / "l"]
    roles = ["--key", "age,sex", "--identifier", "patient_id", "--drop-undeclared"]
    run("anonymize", files / "march.csv", "-o", files / "1.csv", *roles, *words)
    shown = run("ledger", "show", files / "l").output
    heads = {"release", "made", "people", "waiting", "retired", "groups", "epsilon", "delta", "keys", "file"}
    assert heads <= set(" ".join(shown.splitlines()[:2]).split())


@pytest.mark.filterwarnings("ignore")
def test_two_months(files):
    march = run("anonymize", files / "march.csv", "-o", files / "1.csv", *ROLES, "--ledger", files / "l")
    assert "with earlier releases" in march.output
    assert "none of its 90 people is known yet" in " ".join(march.output.split())
    april = ["anonymize", files / "april.csv", "-o", files / "2.csv", *ROLES, "--ledger", files / "l"]
    run(*april, fails=GuaranteeError)
    assert not (files / "2.csv").exists()
    kept = run(*april, "--keep-groups", "--waiting", "0", "--json")
    figures = json.loads(kept.stdout)["ledger"]
    assert figures["known_to_ledger"] == 84
    assert figures["smallest_history"] >= 4
    assert figures["waiting"] < 4

    shown = json.loads(run("ledger", "show", files / "l", "--json").stdout)
    assert [item["people"] for item in shown] == [90, 94 - figures["waiting"]]
    assert shown[0]["named_by"] == ["patient_id"]
    assert "2.csv" in run("ledger", "show", files / "l").output
    checked = json.loads(run("ledger", "check", files / "l", "--unrecognised", "--json").stdout)
    assert [item["below"] for item in checked] == [0, 0]
    assert checked[1]["known"] == 84
    below = checked[1]["recognised_below"]
    assert below > 0
    # It says first what the stronger intruder finds, and the choice; and does not finish well.
    output = CliRunner().invoke(app, ["ledger", "check", str(files / "l")])
    assert output.exit_code == 3
    first = " ".join(output.output.split())
    assert first.startswith(f"release 2: {below} of {checked[1]['people']} people stand in sets of fewer")
    assert "--dissolved retire" in first
    assert "stand in sets" not in run("ledger", "check", files / "l", "--unrecognised").output

    pl.read_csv(files / "march.csv")[:3].write_csv(files / "gone.csv")
    assert "3 people" in run("ledger", "forget", files / "l", "--people", files / "gone.csv").output
    run("ledger", "forget", files / "l", "--release", 2)
    assert len(Ledger(files / "l")) == 1
    run("ledger", "forget", files / "l", fails=InputError)


def test_two_departments(files):
    """Their tables overlap in 84 people; each release is fine alone, both together are not."""
    run("anonymize", files / "march.csv", "-o", files / "1.csv", *ROLES, "--ledger", files / "a")
    run("ledger", "check", files / "a", "--other", files / "a")
    run("ledger", "new", files / "b", "--key-of", files / "a")
    run("anonymize", files / "april.csv", "-o", files / "2.csv", *ROLES, "--ledger", files / "b")
    both = CliRunner().invoke(
        app, ["ledger", "check", str(files / "a"), "--other", str(files / "b"), "--json"]
    )
    assert both.exit_code == 3
    (result,) = json.loads(both.stdout)
    # Counted again, from the ledgers' own groups.
    ours, theirs = (
        dict(zip(item.people.tolist(), item.groups.tolist(), strict=True))
        for item in (Ledger(files / "a").entries[0], Ledger(files / "b").entries[0])
    )
    pairs = [(ours[p], theirs[p]) for p in ours.keys() & theirs.keys()]
    assert result["known"] == len(pairs) == 84
    assert result["below"] == sum(pairs.count(pair) < 4 for pair in pairs)
    assert result["smallest"] == min(map(pairs.count, pairs))
    run("ledger", "new", files / "c")
    run("anonymize", files / "april.csv", "-o", files / "3.csv", *ROLES, "--ledger", files / "c")
    run("ledger", "check", files / "a", "--other", files / "c", fails=InputError)


def test_an_empty_ledger(files):
    run("ledger", "new", files / "l")
    assert "no release" in run("ledger", "show", files / "l").output
    run("ledger", "check", files / "l", fails=InputError)
    run("ledger", "show", files / "none", fails=InputError)
