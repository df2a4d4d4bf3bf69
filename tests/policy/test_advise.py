"""Advice: alternatives that satisfy a policy, never worse than the plain run in what they favour."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

import voronym as vr
from voronym.advice import advise
from voronym.cli import main
from voronym.errors import GuaranteeError, InputError
from voronym.policy import Policy, check
from voronym.run.door import completed

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_three_alternatives_pass_and_are_not_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    table = vr.datasets.hospital(160, seed=1)
    once: list[int] = []
    monkeypatch.setattr("voronym.advice.completed", lambda *given: once.append(1) or completed(*given))
    roles = {"keys": ["age", "zip", "weight"], "confidential": ["diagnosis"], "drop_undeclared": True}
    seen: list[float] = []
    outcome = advise(
        table,
        policy="ema-0070",
        seconds=4.0,
        progress=lambda alternative: seen.append(alternative.done),
        **roles,
    )
    assert seen
    assert max(seen) == 1.0
    assert once == [1]  # what the policy adds is the same for all candidates
    assert [alternative.title.split(":")[0] for alternative in outcome.alternatives] == [
        "keeps detail in ages", "keeps detail in places", "leaves nobody out and loses least over all keys",
    ]  # fmt: skip
    for alternative in outcome.alternatives:
        assert alternative.favoured <= alternative.plain
        assert alternative.risk <= 0.09
        words = shlex.split(alternative.command)
        assert words[:3] == ["voronym", "anonymize", "FILE"]
    assert outcome.alternatives[0].spared > 10.0  # where age counts more, much less of it is lost
    assert outcome.alternatives[0].choices != outcome.alternatives[1].choices
    again = vr.anonymize(table, policy="ema-0070", **roles, **outcome.alternatives[0].choices)
    assert again.checklist.passes
    assert check(again.table, "ema-0070", keys=["age", "zip", "weight"], confidential=["diagnosis"]).passes


def test_time_is_bounded_and_the_plain_run_is_always_there() -> None:
    table = vr.datasets.hospital(120, seed=1)
    outcome = advise(
        table, policy="internal-research", keys=["age", "sex"], drop_undeclared=True, seconds=0.001
    )
    assert outcome.tried >= 1
    assert all(alternative.favoured <= alternative.plain for alternative in outcome.alternatives)
    with pytest.raises(InputError, match="seconds must be above 0"):
        advise(table, policy="internal-research", keys=["age"], drop_undeclared=True, seconds=0)


def test_the_verb_and_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vr.datasets.hospital(150, seed=2).write_csv(tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    words = ["voronym", "advise", "patients.csv", "--policy", "internal-research", "--key", "age,sex",
             "--drop-undeclared", "--seconds", "1", "-o", "advice.html", "--json"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end, warnings.catch_warnings():
        main()
    assert not end.value.code
    outcome = json.loads(capsys.readouterr().out)
    assert len(outcome["alternatives"]) == 3
    page = (tmp_path / "advice.html").read_text(encoding="utf-8")
    assert "keeps detail in ages" in page
    assert "<svg" in page
    command = shlex.split(outcome["alternatives"][0]["command"])
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert pl.read_csv("release.csv").height


@pytest.mark.slow
def test_runs_on_large_tables_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run gets the same limit, the plain one, too, and the commands say it."""
    monkeypatch.setattr("voronym.advice.SCREEN", 100)
    table = vr.datasets.hospital(160, seed=1)
    result = advise(
        table,
        policy="internal-research",
        keys=["age", "sex"],
        drop_undeclared=True,
        seconds=2.0,
        method="mdav",
    )
    assert result.alternatives
    assert all("--time-limit 1.0" in item.command for item in (result.plain, *result.alternatives))
    own = advise(
        table,
        policy="internal-research",
        keys=["age"],
        drop_undeclared=True,
        seconds=0.1,
        time_limit=0.5,
        method="mdav",
    )
    assert "--time-limit 0.5" in own.plain.command


def test_trials_need_no_ledger(tmp_path: Path) -> None:
    """A policy that demands one asks a person for it: nothing is published here."""
    policy = tmp_path / "ours.toml"
    text = Policy.load("internal-research").text
    policy.write_text(f'{text}\n[[process]]\ndemand = "ledger"\nsays = "A ledger"\n', encoding="utf-8")
    table = vr.datasets.hospital(60, seed=1)
    roles = {"keys": ["age", "sex"], "drop_undeclared": True}
    assert advise(table, policy=str(policy), seconds=0.001, **roles).plain.k >= 5
    with pytest.raises(GuaranteeError, match="no ledger is given"):
        vr.anonymize(table, policy=str(policy), **roles)
