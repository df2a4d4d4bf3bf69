"""Reconstruction, against an oracle that tries every value and shares no code with the library."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.attacks import ATTACKS, Scene
from voronym.core.context import Context
from voronym.table.schema import Schema
from voronym.table.table import Table

AGES = [21, 24, 33, 35, 36, 52, 58, 61, 64, 67]
ILL = ["a", "b", "a", "c", "b", "a", "c", "b", "a", "c"]
PEOPLE = pl.DataFrame({"age": AGES, "ill": ILL})


def decades(table: Table) -> pl.DataFrame:
    """Publish decades: what fits is every age of the same one."""
    return table.frame.to_native().with_columns(age=pl.col("age") // 10)


def means(table: Table) -> pl.DataFrame:
    """Publish the mean of all: what fits is the true age alone."""
    return table.frame.to_native().with_columns(age=pl.col("age").mean())


def nothing(table: Table) -> pl.DataFrame:
    """Publish one age for everybody: all fit."""
    return table.frame.to_native().with_columns(age=pl.lit(50))


def scene(tool, **beside) -> Scene:
    schema = Schema.build(PEOPLE, keys=["age"], confidential=["ill"])
    table = Table.of(PEOPLE, schema)
    own = np.arange(len(PEOPLE))
    return Scene.of(tool(table), schema, original=PEOPLE, own=own, table=table, rerun=tool, **beside)


def run(tool, **beside):
    return ATTACKS["reconstruction"].run(scene(tool, **beside), Context(seed=1))


def by_hand(tool) -> list[int]:
    """Count for each person the ages of the table that give the same counted rows."""

    def published(ages) -> Counter:
        frame = pl.DataFrame({"age": ages, "ill": ILL})
        made = tool(Table.build(frame, keys=["age"], confidential=["ill"]))
        return Counter(made.select("age", "ill").rows())

    truth = published(AGES)
    return [
        sum(published([*AGES[:i], age, *AGES[i + 1 :]]) == truth for age in AGES) for i in range(len(AGES))
    ]


@pytest.mark.parametrize("tool", [decades, means, nothing])
def test_it_counts_the_values_that_fit(tool):
    out, fits = run(tool), by_hand(tool)
    assert out.details["cells"] == len(AGES)  # everybody
    assert out.details["mean"] == pytest.approx(np.mean(fits))
    assert out.details["worst"] == min(fits)
    assert out.details["only_the_true_value"] == pytest.approx(np.mean([many == 1 for many in fits]))
    assert out.success == pytest.approx(np.mean([1 / many for many in fits]))  # all ages occur once
    assert out.control == pytest.approx(1 / len(AGES))
    assert out.details["kept"] == ["ill"]  # published as it is: the others taken away, one is left


def test_a_method_that_depends_on_no_key_gives_nothing_away():
    out = run(nothing)
    assert out.excess == 0.0
    assert not out.claims


def test_figures_of_a_public_report_are_looked_at():
    """The table tells nothing, the report the sum of all ages: one value fits."""

    def messages_of(table: Table):
        return nothing(table), str(table.frame["age"].sum())

    assert run(nothing, remake=messages_of).details["mean"] == 1.0


def test_a_method_that_draws_is_not_made_again():
    rng = np.random.default_rng(0)

    def draws(table: Table) -> pl.DataFrame:
        return table.frame.to_native().with_columns(age=pl.Series(rng.normal(size=table.n)))

    with pytest.raises(vr.errors.InputError, match="the method is random"):
        run(draws)


@pytest.mark.filterwarnings("ignore")
def test_our_own_release(monkeypatch):
    # Of each of them some dozen releases are made.
    monkeypatch.setitem(ATTACKS["reconstruction"].function.__globals__, "PEOPLE", 5)
    patients = vr.datasets.hospital(60, seed=2)
    release = vr.anonymize(
        patients, keys=["age", "sex"], confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav"
    )
    out = vr.attack(release, attacks=["reconstruction"])["reconstruction"]
    assert set(out.details["columns"]) == {"age", "sex"}
    assert out.details["kept"] == ["diagnosis"]
    assert out.details["worst"] >= 1.0
    assert out.claims  # means of groups are exact: whoever knows all others knows the last
    assert "values of a key on average" in out.says
