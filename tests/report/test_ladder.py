"""The ladder of risk: one rung for each kind of intruder, with the figures of `voronym attack`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.attacks import ATTACKS, KNOWLEDGE, Ladder
from voronym.attacks.ladder import REMEDIES, quick_attacks
from voronym.cli import app
from voronym.core.percent import percent
from voronym.errors import Surface, speaking
from voronym.release import Release

KEYS = ["age", "sex"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ladder")
    vr.datasets.hospital(150, seed=3).drop("name", "admitted", "nationality").write_csv(made / "patients.csv")
    return made


@pytest.fixture(scope="module")
def release(folder: Path) -> Release:
    made = vr.anonymize(
        vr.read(folder / "patients.csv"), keys=KEYS, confidential=["diagnosis", "cost"], other=["weight"],
        drop_undeclared=True, k=5, method="mdav",
    )  # fmt: skip
    made.write(folder / "release.csv")
    made.recipe.save(folder / "recipe.toml")
    return made


class _Texts(HTMLParser):
    """The text of a page, without what is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def text_of(page: str) -> str:
    parser = _Texts()
    parser.feed(page)
    return " ".join(" ".join(parser.texts).split())


def test_every_attack_has_a_remedy() -> None:
    assert set(REMEDIES) == set(ATTACKS)


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ("python", "models=['p-sensitive=2']"),
        ("command", "--model p-sensitive=2"),
        ("page", "“Further guarantees” p-sensitive=2"),
    ],
)
def test_remedies_are_in_the_words_of_whoever_reads(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surface: Surface, words: str
) -> None:
    exposure = vr.attack(release, attacks=quick_attacks())
    for name in ATTACKS:
        monkeypatch.setitem(REMEDIES, name, REMEDIES["homogeneous-groups"])
    ladder = Ladder.of(exposure)
    assert ladder.worst is not None
    assert words in ladder.worded(surface)
    with speaking(surface):
        assert words in ladder.sentence
        assert words in ladder.worst.to_dict()["remedy"]
        text = text_of(release.report(tmp_path / "report.html").read_text(encoding="utf-8"))
        shown = release._repr_html_()
    assert words in text
    assert ("voronym attack OUTPUT" in text) == (surface != "page")
    assert words in text_of(shown)
    assert "\ue000" not in text + shown + json.dumps(ladder.to_dict(), ensure_ascii=False)


def test_an_attack_finds_the_same_whoever_comes_with_it(release: Release) -> None:
    alone = vr.attack(release, attacks=["singling-out"])["singling-out"]
    among = vr.attack(release, attacks=quick_attacks())["singling-out"]
    assert alone == among


def test_the_worst_rung_is_the_surest_and_names_its_columns(release: Release) -> None:
    exposure = vr.attack(release, attacks=quick_attacks())
    ladder = Ladder.of(exposure, KEYS)
    assert [rung.knows for rung in ladder.rungs] == list(KNOWLEDGE)
    assert ladder.worst is not None
    assert ladder.worst.outcome == max(exposure.outcomes, key=lambda outcome: outcome.interval[0])
    assert ladder.rungs[0].outcome is not None
    assert set(ladder.rungs[0].columns) <= {"diagnosis", "cost", "weight"}, "kept columns cause it"
    assert ladder.worst.columns
    for name in ladder.worst.columns[:4]:
        assert name in ladder.sentence
    assert percent(ladder.worst.outcome.success, whole=True) in ladder.sentence
    assert ladder.worst.remedy in ladder.sentence


def test_who_is_in_the_file_does_not_drown_what_is_learned(release: Release) -> None:
    made = vr.attack(release, attacks=["singling-out", "linkage"])
    sure = replace(
        made.outcomes[0],
        attack="membership",
        success=1.0,
        control=0.5,
        excess=0.5,
        interval=(0.5, 0.5),
        level=2,
    )
    both = replace(made, outcomes=(*made.outcomes, sure))
    assert both.worst == made.worst
    assert "membership" not in both.summary
    ladder = Ladder.of(both, KEYS)
    assert ladder.worst is not None
    assert ladder.worst.outcome == made.worst
    assert "100 % of the cases" in ladder.presence_sentence
    assert "not if the file is known to hold everybody" in ladder.presence_sentence
    alone = Ladder.of(replace(made, outcomes=(sure,)), KEYS)
    assert "No attack certainly learned more" in alone.sentence
    assert Ladder.of(made, KEYS).presence_sentence == ""


def test_masking_the_cause_lowers_the_rung(release: Release, folder: Path) -> None:
    exposure = vr.attack(release, attacks=["singling-out"])
    cause = Ladder.of(exposure, KEYS).rungs[0].columns
    rest = [name for name in ("diagnosis", "cost", "weight") if name not in cause]
    less = vr.anonymize(
        vr.read(folder / "patients.csv"),
        keys=KEYS,
        confidential=rest,
        drop_undeclared=True,
        k=5,
        method="mdav",
    )
    after = vr.attack(less, attacks=["singling-out"])
    assert after["singling-out"].excess < exposure["singling-out"].excess / 2


def test_report_notebook_and_command_tell_the_same(release: Release, folder: Path) -> None:
    """The files tell who is who by the columns that were kept, as the release in memory does."""
    names = ["attack", str(folder / "release.csv"), "--original", str(folder / "patients.csv"), "--json"]
    only = ",".join(name for name in quick_attacks() if name != "leftovers")  # which is about the file
    answer = CliRunner().invoke(app, [*names, "--recipe", str(folder / "recipe.toml"), "--only", only])
    assert answer.exit_code == 0, answer.output
    printed = {load["attack"]: load for load in json.loads(answer.stdout)["outcomes"]}
    dossier = release.dossier(attacked=True)
    ladder = dossier.ladder
    assert ladder is not None
    assert len(ladder.measured) >= 3
    for rung in ladder.measured:
        assert rung.outcome is not None
        output = printed[rung.outcome.attack]
        assert (rung.outcome.success, rung.outcome.control, rung.outcome.people) == (
            output["success"], output["control"], output["people"],
        )  # fmt: skip
        assert list(rung.outcome.interval) == output["interval"]
    page = text_of(release.report(folder / "report.html").read_text("utf-8"))
    ladder = release.dossier().ladder  # with the two attacks that every report makes
    assert ladder is not None
    assert ladder.sentence in page
    assert ladder.sentence.replace("“", "").split("(")[0].strip() in re.sub(
        "<[^>]+>", "", release._repr_html_()
    )


def test_the_public_report_tells_nothing_of_it(release: Release, folder: Path) -> None:
    release.dossier(attacked=True)
    public = release.report(folder / "public.html", audience="public").read_text("utf-8")
    assert "What an intruder finds" not in public
    assert "singling-out" not in public


def test_a_page_says_what_it_is_about(release: Release, folder: Path) -> None:
    path = release.report(
        folder / "named.html",
        audience="public",
        title="Stays 2025",
        publisher="Town <hall>",
        date="2026-01-02",
    )
    page = path.read_text("utf-8")
    assert "<title>Stays 2025 · voronym</title>" in page
    assert "Stays 2025 · published by Town <hall> · 2026-01-02" in text_of(page)
    assert "patients.csv" not in page  # the name of the originals' file may tell something
    usual = release.report(folder / "usual.html").read_text("utf-8")
    assert "<title>Release of patients.csv · voronym</title>" in usual
    assert re.search(r'<time datetime="\d{4}-\d{2}-\d{2}">', usual)
    bare = vr.anonymize(pl.DataFrame({"age": [30, 31, 32, 33]}), keys=["age"], k=2)
    assert "<title>Release report · voronym</title>" in bare.report(folder / "bare.html").read_text("utf-8")
