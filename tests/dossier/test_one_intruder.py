"""Report, page, JSON, `measure` and `attack` show the same figures about one release."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.attacks.interval import excess
from voronym.core.rate import Share
from voronym.web.shown import release_view


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, 240)
    ill = np.where(age > 70, "heart", rng.choice(["flu", "hip", "asthma"], 240, p=[0.8, 0.1, 0.1]))
    return pl.DataFrame({"age": age, "pay": rng.gamma(2.0, 900.0, 240).round(2), "ill": ill})


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> vr.Release:
    return vr.anonymize(people, keys=["age", "pay"], confidential=["ill"], k=4, method="mdav")


def test_linkage_is_the_same_everywhere(people, release, tmp_path) -> None:
    rate = release.dossier().inside.linkage
    found = {one.attack: one for one in vr.attack(release, attacks=["linkage"]).outcomes}
    attacked = found["linkage"]
    assert attacked.success == pytest.approx(rate.value, abs=1e-12)
    assert attacked.interval == pytest.approx(
        excess(Share(rate.value, rate.low, rate.high), 1 / len(people)), abs=1e-12
    )
    receipt = release.write(tmp_path / "release.csv")
    page = release_view(release, release.dossier(), receipt, people)
    assert page["figures"]["linked"] == pytest.approx(100 * rate.value)
    plain = json.loads(json.dumps(release.dossier().to_dict(), default=str))
    assert plain["inside"]["linkage"]["value"] == pytest.approx(rate.value)
    assert plain["inside"]["linkage"]["interval"] == "Korn-Graubard"
    keys = ["age", "pay"]
    measured = vr.measure(release.table, keys=keys, original=people, aligned=True, confidential=["ill"])
    assert measured.linkage.rate.method == rate.method


def test_groups_of_one_value_are_the_same_everywhere(people, release, tmp_path) -> None:
    reported = release.dossier().inside.disclosed[0]
    groups = release.table.group_by("age", "pay").agg(pl.col("ill").n_unique(), pl.len())
    by_hand = groups.filter(pl.col("ill") == 1)["len"].sum()
    attacked = vr.attack(release, attacks=["homogeneous-groups"]).outcomes[0]
    assert reported.people > 0
    assert by_hand == reported.people
    assert attacked.details["people"] == reported.people
    assert attacked.success == pytest.approx(reported.share, abs=1e-12)
    assert attacked.control == pytest.approx(reported.chance, abs=1e-12)
    page = release_view(release, release.dossier(), release.write(tmp_path / "r.csv"), people)
    assert page["figures"]["certain"] == {"ill": pytest.approx(100 * reported.share)}


def test_people_with_several_rows_count_once_everywhere() -> None:
    rng = np.random.default_rng(3)
    who = rng.integers(0, 120, 260)
    ill = rng.choice(["flu", "gout"], 260, p=[0.9, 0.1])
    table = pl.DataFrame({"id": [f"P{i}" for i in who], "age": who % 9 * 5, "ill": ill})
    release = vr.anonymize(table, keys=["age"], confidential=["ill"], person="id", k=3, method="mdav")
    reported = release.dossier().inside.disclosed[0]
    attacked = vr.attack(release, attacks=["homogeneous-groups"]).outcomes[0]
    assert 0 < reported.people < len(set(who.tolist()))
    assert attacked.details["people"] == reported.people
    assert attacked.success == pytest.approx(reported.share, abs=1e-12)
    assert attacked.control == pytest.approx(reported.chance, abs=1e-12)
