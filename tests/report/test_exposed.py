"""Every internal report has the figures of membership and reconstruction, and no public one."""

from __future__ import annotations

import os
import stat

import polars as pl
import pytest

import voronym as vr
from voronym import intruder

PEOPLE = vr.datasets.hospital(120, seed=3).select("age", "sex", "diagnosis")


NAMES = ("membership", "reconstruction")


@pytest.fixture(autouse=True)
def _both(monkeypatch):
    monkeypatch.setattr(intruder, "FIRST", NAMES)


@pytest.fixture(scope="module")
def release():
    return vr.anonymize(PEOPLE, keys=["age", "sex"], confidential=["diagnosis"], k=5, method="mdav")


def test_the_page_and_the_dossier_have_both_with_intervals(release, tmp_path):
    page = release.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Of two people, one of them in the table" in page
    assert "An intruder who knows all other cells and runs the method again" in page
    outcomes = {outcome.attack: outcome for outcome in release.dossier().inside.exposure.outcomes}
    assert {"membership", "reconstruction"} <= set(outcomes)
    for outcome in outcomes.values():
        assert outcome.interval[0] <= outcome.excess <= outcome.interval[1]
    public = release.report(tmp_path / "public.html", audience="public").read_text(encoding="utf-8")
    assert "Of two people, one of them" not in public
    assert "runs the method again" not in public


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_an_internal_page_is_for_its_owner(release, tmp_path):
    """It has rows of the originals; other users of the machine get nothing."""
    mine = release.report(tmp_path / "mine.html").stat().st_mode
    everybodys = release.report(tmp_path / "public.html", audience="public").stat().st_mode
    assert stat.S_IMODE(mine) == 0o600
    assert stat.S_IMODE(everybodys) & 0o400


def test_what_was_attacked_before_is_not_attacked_again(release, monkeypatch, tmp_path):
    intruder.expose(release)
    before = release.exposure
    monkeypatch.setattr(intruder, "assault", lambda *_: pytest.fail("attacked again"))
    release.report(tmp_path / "again.html")
    for name in NAMES:  # the report adds the quick attacks
        assert release.exposure[name] is before[name]


def test_a_large_table_is_sampled_and_the_page_says_so(monkeypatch, tmp_path):
    people = (
        pl.concat([PEOPLE] * 4)
        .with_row_index("number")
        .with_columns(age=pl.col("age") + pl.col("number") % 7)
    )
    made = vr.anonymize(
        people.drop("number"), keys=["age", "sex"], confidential=["diagnosis"], k=5, method="mdav"
    )
    monkeypatch.setattr(intruder, "SECONDS", 0.0)
    intruder.expose(made)
    outcome = made.exposure["reconstruction"]
    assert outcome.details["records"] == 150
    assert "150 of the 480 records" in outcome.says
    assert outcome.details["cells"] == 2  # one of each key: the time was over
