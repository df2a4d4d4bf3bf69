"""Other worlds, against an oracle that goes through all permutations and shares no code with the library."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import rounds
from voronym.attacks import posteriors
from voronym.attacks.worlds import distinct
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.intruder import attack, rerun_of
from voronym.table.table import Table

AGES = [30, 31, 50, 51, 52]
ILL = ["HIV", "HIV", "flu", "ulcer", "cold"]


def merging(table: Table) -> pl.DataFrame:
    """Publish two groups by age, or one where a group would have a single illness: it looks at illnesses."""
    frame = table.frame.to_native()
    young = [ill for age, ill in zip(frame["age"], frame["ill"], strict=True) if age < 40]
    if len(set(young)) == 1:
        return frame.with_columns(age=pl.lit(42))
    return frame.with_columns(age=pl.when(pl.col("age") < 40).then(30).otherwise(51))


def oracle(tool, ages: list[int], ill: list[str]) -> list[dict[str, float]]:
    """Believe every order of the illnesses that gives the same counted rows."""

    def published(order) -> Counter:
        made = tool(
            Table.build(pl.DataFrame({"age": ages, "ill": list(order)}), keys=["age"], confidential=["ill"])
        )
        return Counter(made.select("age", "ill").rows())

    truth = published(ill)
    same = [order for order in permutations(ill) if published(order) == truth]
    return [
        {v: c / len(same) for v, c in Counter(order[i] for order in same).items()} for i in range(len(ages))
    ]


def table_of(ages, ill) -> Table:
    return Table.build(pl.DataFrame({"age": ages, "ill": ill}), keys=["age"], confidential=["ill"])


@pytest.mark.parametrize("ill", [ILL, ["a", "b", "a", "a", "b"], ["a", "a", "a", "b", "b"]])
def test_all_worlds_agree_with_the_oracle(ill):
    table = table_of(AGES, ill)
    result = posteriors(table, merging)[0]
    names = list(dict.fromkeys(ill))  # codes are in order of appearance
    for i, chances in enumerate(oracle(merging, AGES, ill)):
        assert result.posterior[i] == pytest.approx([chances.get(name, 0.0) for name in names])
    assert result.exhaustive
    assert result.truth.tolist() == [names.index(v) for v in ill]


def test_the_tool_that_merges_gives_the_illness_away():
    result = posteriors(table_of(AGES, ILL), merging)[0]
    assert result.posterior[0, 0] == result.posterior[1, 0] == 1.0  # both young ones have HIV, for certain
    assert result.counts[0, 0] == pytest.approx(2 / 5)
    assert result.worst == pytest.approx(3 / 5)
    assert result.certain == 2


def test_a_walk_through_the_worlds_comes_to_what_all_of_them_say():
    ages, ill = [30, 31, 32, 50, 51, 52, 53], ["a", "b", "a", "c", "a", "b", "c"]

    def tool(table: Table) -> pl.DataFrame:  # one more group where illness "a" is frequent among the young
        frame = table.frame.to_native()
        young = frame.filter(pl.col("age") < 40)["ill"].to_list().count("a")
        cut = 40 if young >= 2 else 51
        return frame.with_columns(age=(pl.col("age") < cut).cast(pl.Int64))

    table = table_of(ages, ill)
    exact = posteriors(table, tool)[0]
    drawn = posteriors(table, tool, most=200, ctx=Context(seed=1))[0]
    assert exact.exhaustive
    assert not drawn.exhaustive
    many = np.mean(
        [posteriors(table, tool, most=400, ctx=Context(seed=s))[0].posterior for s in rounds(5, 8)], axis=0
    )
    assert np.abs(many - exact.posterior).max() < 0.08


def test_a_tool_that_draws_is_believed_in_proportion():
    """Published as one group always if the first two are alike, half the time otherwise."""
    rng = np.random.default_rng(5)
    table = table_of([30, 31, 50, 51], ["a", "a", "b", "b"])
    single = table.frame.to_native().with_columns(age=pl.lit(40))

    def tool(there: Table) -> pl.DataFrame:
        frame = there.frame.to_native()
        alike = frame["ill"][0] == frame["ill"][1]
        merge = alike or rng.random() < 0.5
        return frame.with_columns(age=pl.lit(40)) if merge else frame.with_columns(age=pl.col("age") // 10)

    result = posteriors(table, tool, released=single, draws=400)[0]
    # worlds aabb and bbaa weigh 1, the four others 1/2: P(1 is alike 2) = 2 / (2 + 2)
    assert result.posterior[0] == pytest.approx([0.5, 0.5], abs=0.03)
    assert result.consistent == 6
    # who knows that person 0 has "a" would now say "a" of person 1 in half the worlds, not in a third
    assert result.worlds == 6


def test_other_releases_and_refusals():
    table = table_of(AGES, ILL)
    with pytest.raises(InputError, match="right recipe"):
        posteriors(table, merging, released=pl.DataFrame({"age": [1] * 5, "ill": ILL}))
    with pytest.raises(InputError, match="no confidential"):
        posteriors(Table.build(pl.DataFrame({"age": AGES}), keys=["age"]), merging)

    def refusing(there: Table) -> pl.DataFrame:
        frame = there.frame.to_native()
        if frame["ill"][0] == "HIV" and frame["ill"][2] == "flu":
            return frame.with_columns(age=pl.lit(1))
        raise GuaranteeError("no")

    result = posteriors(table, refusing)[0]
    assert result.posterior[0, 0] == result.posterior[2, 1] == 1.0


def test_distinct_orders_are_all_and_once():
    assert sorted(distinct((0, 1, 0, 2))) == sorted(set(permutations((0, 1, 0, 2))))


@pytest.mark.filterwarnings("ignore:all 5 records are in one group")
@pytest.mark.parametrize("model", ["p-sensitive=2", pytest.param("l-diversity=2", marks=pytest.mark.slow)])
def test_the_attack_on_our_own_release(model):
    people = pl.DataFrame({"age": AGES, "w": ILL})
    asked = {"keys": ["age"], "confidential": ["w"], "k": 2, "method": "mdav"}
    bare = attack(vr.anonymize(people, **asked), attacks=["minimality"])["minimality"]
    assert bare.excess == pytest.approx(0.0)
    assert bare.details["worst_excess"] == pytest.approx(0.0)
    release = vr.anonymize(people, **asked, models=[model], enforce="merge")
    result = attack(release, attacks=["minimality"])["minimality"]
    assert result.details["certain"] == 2
    assert result.details["largest_posterior"] == 1.0
    assert result.claims
    assert "2 of 5 people" in result.says
    # from the file and the recipe, without the Release
    again = attack(
        release.table, original=people, recipe=release.recipe, aligned=np.asarray(release._evidence.order),
        attacks=["minimality"],
    )["minimality"]  # fmt: skip
    assert again.details == result.details


def test_too_many_people_are_not_rerun():
    people = pl.DataFrame({"age": list(range(80)), "w": ["a", "b"] * 40})
    release = vr.anonymize(people, keys=["age"], confidential=["w"], k=2, method="mdav")
    result = attack(release, attacks=["minimality"])
    assert "too many" in result.skipped["minimality"]
    assert rerun_of(release.recipe)(release._evidence.table)["age"].to_list()[:2] == [0, 0]


def nulls(tables: int) -> tuple[list[float], int]:
    """Attack tables whose groups are made by keys alone; return excesses, and how many intervals hold 0."""
    rng = np.random.default_rng(3)
    excess, covered = [], 0

    def blind(table: Table) -> pl.DataFrame:
        return table.frame.to_native().with_columns(age=pl.col("age") // 6)

    for seed in range(tables):
        table = table_of(list(range(24)), rng.choice(["a", "b", "c"], 24).tolist())
        result = posteriors(table, blind, most=80, ctx=Context(seed=seed))[0]
        assert not result.exhaustive
        assert result.fair
        excess.append(result.success - result.control)
        covered += abs(excess[-1]) <= 2.26 * result.error  # Student's t of ten walks, 95 %
    return excess, covered


def test_where_nothing_can_be_learned_a_walk_shows_nothing():
    """Groups by keys alone: the counts are all there is, and walks that are too short do not exceed them."""
    excess, covered = nulls(16)
    assert abs(np.mean(excess)) < 0.02
    assert covered >= 16 - 4


@pytest.mark.slow
def test_five_hundred_tables_where_nothing_can_be_learned():
    """Excess 0 on average, and in 95 % of the intervals."""
    excess, covered = nulls(500)
    error = float(np.std(excess, ddof=1)) / 500**0.5
    assert abs(np.mean(excess)) < 3.3 * error
    assert covered >= 460  # 475 expected, three standard deviations


def test_a_walk_that_has_to_begin_at_the_truth_says_so():
    table = table_of(list(range(12)), ["a", "b", "c", "d"] * 3)
    truth = table.frame.to_native()["ill"].to_list()

    def only_the_truth(there: Table) -> pl.DataFrame:
        same = there.frame.to_native()["ill"].to_list() == truth
        return there.frame.to_native().with_columns(age=pl.lit(1 if same else 2))

    result = posteriors(table, only_the_truth, most=120, ctx=Context(seed=1))[0]
    assert not result.fair
    assert result.success == 1.0
