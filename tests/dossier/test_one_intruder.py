"""Report, page, JSON, `measure` and `attack` show the same figures about one release."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.attacks.interval import excess
from voronym.core.rate import Share
from voronym.evaluate.disclosed import Disclosed, near_all, near_by_chance
from voronym.report import render
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
    results = {outcome.attack: outcome for outcome in vr.attack(release, attacks=["linkage"]).outcomes}
    attacked = results["linkage"]
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


def _same_everywhere(release: vr.Release, page: dict[str, object]) -> Disclosed:
    """Check that report, ladder, page and attack show one figure, and return it."""
    dossier = release.dossier()
    (reported,) = dossier.inside.disclosed
    attacked = vr.attack(release, attacks=["homogeneous-groups"]).outcomes[0]
    assert attacked.details["people"] == reported.people
    assert attacked.success == pytest.approx(reported.share, abs=1e-12)
    assert attacked.control == pytest.approx(reported.chance, abs=1e-12)
    climbed = release.dossier(attacked=True).inside.exposure["homogeneous-groups"]  # the ladder reads it
    assert climbed.success == pytest.approx(reported.share, abs=1e-12)
    assert page["figures"]["certain"] == {reported.column: pytest.approx(100 * reported.share)}
    return reported


def test_groups_of_one_value_are_the_same_everywhere(people, release, tmp_path) -> None:
    groups = release.table.group_by("age", "pay").agg(pl.col("ill").n_unique(), pl.len())
    by_hand = groups.filter(pl.col("ill") == 1)["len"].sum()
    page = release_view(release, release.dossier(), release.write(tmp_path / "r.csv"), people)
    reported = _same_everywhere(release, page)
    assert by_hand == reported.people > 0


def test_groups_of_nearly_one_number_are_the_same_everywhere(people, tmp_path) -> None:
    table = people.drop("ill").with_columns(
        cost=(100.0 * (people["age"] // 12) + people["pay"] / 900).round(0)
    )
    asked = {"keys": ["age"], "confidential": ["cost"], "drop_undeclared": True}
    release = vr.anonymize(table, **asked, k=4, method="mdav")
    page = release_view(release, release.dossier(), release.write(tmp_path / "r.csv"), table)
    reported = _same_everywhere(release, page)
    width = 0.1 * table["cost"].std(ddof=0)
    spread = release.table.group_by("age").agg(pl.col("cost").max() - pl.col("cost").min(), pl.len())
    by_hand = spread.filter(pl.col("cost") <= width)["len"].sum()
    assert reported.width == pytest.approx(width)
    assert by_hand == reported.people > 0
    assert "within a tenth of a standard deviation" in render(release.dossier())


@pytest.mark.parametrize("secret", ["ill", "cost"])
def test_people_with_several_rows_count_once_everywhere(secret, tmp_path) -> None:
    rng = np.random.default_rng(3)
    who = rng.integers(0, 120, 260)
    ill = rng.choice(["flu", "gout"], 260, p=[0.9, 0.1])
    cost = np.where(ill == "flu", who % 2, rng.uniform(0, 90, 260)) + rng.integers(0, 3, 260) / 10
    cost = cost.round(1)
    table = pl.DataFrame({"id": [f"P{i}" for i in who], "age": who % 9 * 5, "ill": ill, "cost": cost})
    table = table.select("id", "age", secret)
    release = vr.anonymize(table, keys=["age"], confidential=[secret], person="id", k=3, method="mdav")
    page = release_view(release, release.dossier(), release.write(tmp_path / "r.csv"), table)
    reported = _same_everywhere(release, page)
    assert 0 < reported.people < len(set(who.tolist()))


def test_an_interval_reaches_everybody_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        persons = np.sort(rng.integers(0, 6, 12))
        labels, values = persons % 2, rng.uniform(0, 4, 12).round(1)
        known = near_all(values, labels, persons, 0.8)
        for group in np.unique(labels).tolist():
            own = [values[persons == person] for person in np.unique(persons[labels == group])]
            starts = values[labels == group]
            reached = any(all(((v >= x) & (v - x <= 0.8)).any() for v in own) for x in starts)
            assert known[group] == reached


def test_near_by_chance_is_the_mean_over_all_ways_to_deal() -> None:
    values, sizes = np.array([0.0, 0.1, 0.3, 1.0, 1.0]), (2, 3)
    labels, shares = np.repeat([0, 1], sizes), []
    for order in itertools.permutations(values):
        near = [np.ptp(np.array(order)[labels == group]) <= 0.3 for group in (0, 1)]
        shares.append(sum(size for size, held in zip(sizes, near, strict=True) if held) / 5)
    assert near_by_chance(np.array(sizes), values, 0.3) == pytest.approx(np.mean(shares), abs=1e-12)
