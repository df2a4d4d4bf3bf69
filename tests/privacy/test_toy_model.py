"""A model written here, in one file, is enforced, released, written, reported and measured."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.privacy import Judge, base, parse_model, register
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.contract import check_model
from voronym.privacy.text import number


def majority(runs, levels):
    """Return the share of the most frequent value of each group; 0 for an empty one."""
    del levels
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    return runs.spread(np.maximum.reduceat(runs.count, runs.start) / runs.sizes[runs.occupied], 0.0)


@pytest.fixture(autouse=True)
def no_majority(monkeypatch):
    monkeypatch.setattr(base.MODELS, "_entries", dict(base.MODELS._entries))

    @register("no-majority")
    @dataclass(frozen=True)
    class NoMajority(ConfidentialModel):
        """No value is shared by more than a share of any group."""

        strength: ClassVar[int] = 6
        share: float | None = None
        column: str | None = None

        def __post_init__(self):
            super().__post_init__()
            self._set(share=number(self.name, "share", self.share, above=True))

        def judge(self, levels):
            return Judge(levels, majority, self.share, name=self.name)

    return NoMajority


@pytest.fixture
def patients():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, 90)
    ill = np.where(age > 50, "heart", np.where(rng.random(90) < 0.5, "flu", "cold"))
    return pl.DataFrame({"age": age, "height": rng.integers(150, 200, 90), "ill": ill})


def test_it_keeps_the_contract(no_majority):
    check_model(no_majority(0.7), at=no_majority)
    assert parse_model("no-majority=0.7,column=ill") == no_majority(0.7, column="ill")


def test_it_is_enforced_released_written_and_reported(patients, tmp_path):
    roles = {"keys": ["age", "height"], "confidential": ["ill"], "k": 3, "method": "mdav"}
    before = vr.anonymize(patients, **roles)
    release = vr.anonymize(patients, **roles, models=["no-majority=0.7"])
    (results,) = [finding for finding in release.findings if finding.model == "no-majority"]
    assert results.holds
    assert results.value <= 0.7
    groups = release.table.group_by("age", "height").agg(
        pl.col("ill").value_counts(sort=True).first(), pl.len()
    )
    shares = groups["ill"].struct.field("count") / groups["len"]
    assert shares.max() == pytest.approx(results.value)
    assert release.costs[-1].loss >= before.costs[-1].loss
    release.write(tmp_path / "out.csv")
    assert "no-majority" in release.report(tmp_path / "page.html").read_text(encoding="utf-8")
    again = vr.measure(tmp_path / "out.csv", keys=roles["keys"], confidential=["ill"])
    assert {finding.model: finding.value for finding in again.findings}["no-majority"] == pytest.approx(
        results.value
    )
    assert again.findings[-1].model == "no-majority"


def test_what_cannot_be_met_is_said(patients):
    with pytest.raises(vr.GuaranteeError, match="no-majority cannot be met"):
        vr.anonymize(
            patients, keys=["age"], confidential=["ill"], other=["height"], models=["no-majority=0.2"]
        )
