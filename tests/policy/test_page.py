"""The policy on the page: a field of shipped names; no file is opened by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import voronym as vr
from voronym.errors import InputError
from voronym.policy import Policy, shipped
from voronym.web.bench import Bench, Wishes
from voronym.web.forms import protection_of
from voronym.web.settings import Settings, refuse_files

ROLES = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_release_by_a_policy(tmp_path: Path) -> None:
    bench = Bench()
    bench._frame = vr.datasets.hospital(120, seed=1)
    names = bench.frame.columns
    chosen = protection_of({"policy": "ema-0070", "k": ""}, Settings(ROLES), names)
    assert chosen.policy == "ema-0070"
    assert "--policy ema-0070" in chosen.command("patients.csv", {})
    wishes = Wishes(lambda _: None)
    assert bench.check(wishes, settings=chosen.plain())["errors"] == {}
    made = bench.run(wishes, settings=chosen.plain(), folder=str(tmp_path), suffix=".csv")
    assert made["figures"]["smallest"] >= 12
    assert any(item["anchor"] == "policy" for item in made["pictures"])
    without = protection_of({"policy": "", "k": ""}, chosen, names)
    assert "k" in bench.check(wishes, settings=without.plain())["errors"]


def test_no_file_is_opened() -> None:
    for choices in ({"policy": "/etc/passwd"}, {"policy": "ema-0070", "facts": {"zips": "x.csv"}}):
        with pytest.raises(InputError, match="opens no files by their names"):
            refuse_files(Settings(choices))
    refuse_files(Settings({"policy": "ema-0070"}))


@pytest.mark.parametrize("name", shipped())
def test_a_guidance_page_has_the_table_of_the_policy(name: str) -> None:
    """The table is made from the policy when the pages are built."""
    text = (Path(__file__).parents[2] / "docs" / f"policies-{name}.md").read_text(encoding="utf-8")
    assert f"```{{policy-table}} {name}\n" in text
    assert all(demand.says and demand.source for demand in Policy.load(name).demands)
    assert "No legal advice" in text
