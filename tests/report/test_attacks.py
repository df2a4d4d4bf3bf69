"""What intruders got stands on the internal report, and is computed by the attacks themselves."""

from __future__ import annotations

import pickle

import pytest

import voronym as vr
from voronym.core.percent import percent


@pytest.fixture
def release():
    patients = vr.datasets.hospital(120, seed=3)
    return vr.anonymize(
        patients, keys=["age", "sex"], confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav"
    )


def test_the_report_shows_the_attacks_that_were_made(release, tmp_path):
    assert release.dossier().inside.exposure is None
    result = vr.attack(release, attacks=["membership", "reconstruction"])
    vr.attack(release, attacks=["linkage"])
    shown = [outcome.attack for outcome in release.dossier().inside.exposure.outcomes]
    assert shown == ["linkage", "membership", "reconstruction"]
    page = " ".join(release.report(tmp_path / "page.html").read_text(encoding="utf-8").split())
    assert "What intruders got" in page
    assert "members are recognised" in page
    assert percent(result["membership"].success, whole=True) in page
    assert "only the true one fits" in page
    public = release.report(tmp_path / "public.html", audience="public").read_text(encoding="utf-8")
    assert "What intruders got" not in public
    assert pickle.loads(pickle.dumps(release)).exposure is None  # noqa: S301 - our own


def test_report_and_attack_tell_one_linkage(release):
    attacked = vr.attack(release, attacks=["linkage"])["linkage"]
    output = release.dossier().inside.linkage
    assert output.value == pytest.approx(attacked.success)
    assert output.low - attacked.control == pytest.approx(attacked.interval[0])
    assert output.high - attacked.control == pytest.approx(attacked.interval[1])
