"""Membership: what is known beforehand about releases that tell all, nothing, and something."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import rounds
from voronym.attacks import ATTACKS, Scene
from voronym.attacks.membership import Placed
from voronym.core.context import Context
from voronym.table.schema import Schema
from voronym.table.table import Table

ROLES = {"keys": ["age", "weight"], "confidential": ["ill"]}


def people(rng: np.random.Generator, n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": rng.normal(50, 15, n).round(3),
            "weight": rng.normal(75, 12, n).round(3),
            "ill": rng.choice(["a", "b", "c"], n),
        }
    )


def scene(table: pl.DataFrame, tool, **beside) -> Scene:
    schema = Schema.build(table, **ROLES)
    whole = Table.of(table, schema)
    own = np.arange(len(table))
    return Scene.of(tool(whole), schema, original=table, own=own, table=whole, rerun=tool, **beside)


def as_it_is(table: Table) -> pl.DataFrame:
    return table.frame.to_native()


def about_nobody(table: Table) -> pl.DataFrame:
    return people(np.random.default_rng(99), table.n)


def outcome_of(there: Scene, seed: int = 0):
    return ATTACKS["membership"].run(there, Context(seed=seed))


def test_a_table_published_as_it_is_hides_no_member():
    out = outcome_of(scene(people(np.random.default_rng(0), 200), as_it_is))
    assert out.success == 1.0
    assert out.details["true_positives"] == 1.0
    assert out.interval[0] > 0.4
    assert out.details["by_keys"]["auc"] == 1.0


def test_a_release_about_nobody_tells_nobody():
    """The interval holds 0 in about 19 of 20 tables, and never claims much."""
    rng = np.random.default_rng(1)
    claims, covered, means = 0, 0, []
    for seed in rounds(20, 40):
        out = outcome_of(scene(people(rng, 120), about_nobody), seed)
        claims += out.claims
        covered += out.interval[0] <= 0.0 <= out.interval[1]
        means.append(out.success)
        low, high = out.details["true_positives_interval"]
        assert low <= 0.01 <= high
    assert claims <= 0.075 * len(means)
    assert covered >= 0.9 * len(means)
    assert abs(np.mean(means) - 0.5) < 0.02


def test_threads_change_nothing():
    there = scene(people(np.random.default_rng(3), 120), as_it_is)
    alone, both = (ATTACKS["membership"].run(there, Context(seed=0, threads=many)) for many in (1, 2))
    assert alone == both


def test_a_half_is_searched_like_the_whole_table(monkeypatch):
    """A small sample would be searched longer, and a large release by pairs of groups."""
    from voronym import intruder

    table = people(np.random.default_rng(4), 120)
    release = vr.anonymize(table, **ROLES, k=3, method="mdav")
    sizes = []
    made = intruder.make_release

    def noting(half, recipe, ctx):
        sizes.append((half.n, ctx.stands_for))
        return made(half, recipe, ctx)

    monkeypatch.setattr(intruder, "make_release", noting)
    vr.attack(release, attacks=["membership"])
    assert set(sizes) == {(60, 120)}


def test_control_people_tell_the_same():
    rng = np.random.default_rng(2)
    table, strangers = people(rng, 300), people(rng, 300)
    assert outcome_of(scene(table, as_it_is, control=strangers)).success == 1.0
    nothing = outcome_of(scene(table, about_nobody, control=strangers))
    assert not nothing.claims
    assert "not in the table" in nothing.details["basis"]


def test_the_area_and_its_influence_by_hand():
    placed = Placed.of(
        np.array([3.0, 1.0, 2.0, 1.0]), np.array([True, True, False, False]), np.arange(4)
    )  # pairs: 3>2, 3>1, 1<2, 1=1
    assert placed.auc == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert placed.influence.sum() == pytest.approx(0.0)


@pytest.mark.filterwarnings("ignore")
def test_smaller_groups_tell_more():
    patients = vr.datasets.hospital(300, seed=1)
    made = {"keys": ["age", "zip"], "confidential": ["diagnosis"], "drop_undeclared": True, "method": "mdav"}
    auc = [
        vr.attack(vr.anonymize(patients, k=k, **made), attacks=["membership"])["membership"].details[
            "by_keys"
        ]
        for k in (2, 30)
    ]
    assert auc[0]["auc_interval"][0] > auc[1]["auc"]


@pytest.mark.filterwarnings("ignore")
def test_households_go_in_or_out_as_a_whole():
    rng = np.random.default_rng(3)
    table = people(rng, 240).with_columns(home=np.arange(240) // 3)
    release = vr.anonymize(table, **ROLES, household="home", k=3, method="mdav")
    out = vr.attack(release, attacks=["membership"])["membership"]
    assert out.details["people_in_a_table"] == 40
    assert out.people == 40


def test_what_it_needs_is_told():
    table = people(np.random.default_rng(0), 100)
    bare = Scene.of(table, Schema.build(table, **ROLES), original=table, own=np.arange(100))
    with pytest.raises(vr.errors.InputError, match="control='FILE'"):
        outcome_of(bare)
    with pytest.raises(vr.errors.InputError, match="too few"):
        outcome_of(scene(table[:30], as_it_is))
