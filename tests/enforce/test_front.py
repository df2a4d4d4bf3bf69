"""Enforced releases, counted again by a checker that shares no code with the models."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from repeats import examples, few
from voronym.core.context import Context
from voronym.keyspaces import Coordinates
from voronym.privacy import LDiversity, PSensitive, TCloseness, levels
from voronym.privacy.enforce import WARY, WAYS
from voronym.privacy.enforce import enforce as door
from voronym.problem import Problem
from voronym.records.fields import make_fields
from voronym.space import Mixed
from voronym.table import Table, as_frame

pytestmark = pytest.mark.filterwarnings("ignore")  # small tables have cells of everything, and that is said


def enforce(X, part, *, k, judges, method="auto", seed=0):
    records = Problem.of(X, k).records
    return door(Problem(records, k, judges), part, Context(seed=seed), way=method)


def counted(table, keys, column):
    """Return the confidential values of each class, and of all, as plain Python."""
    classes = defaultdict(list)
    for row in table.rows(named=True):
        classes[tuple(row[key] for key in keys)].append(row[column])
    return list(classes.values()), [value for cell in classes.values() for value in cell]


def emd(cell, everything):
    """The ordered earth mover's distance over distinct values."""
    values = sorted(set(everything))
    if len(values) == 1:
        return 0.0
    total = 0.0
    for value in values[:-1]:
        here = sum(v <= value for v in cell) / len(cell)
        total += abs(here - sum(v <= value for v in everything) / len(everything))
    return total / (len(values) - 1)


def variation(cell, everything):
    mine, whole = Counter(cell), Counter(everything)
    return sum(abs(mine[v] / len(cell) - whole[v] / len(everything)) for v in whole) / 2


def information(classes, everything):
    n, whole = len(everything), Counter(everything)
    total = 0.0
    for cell in classes:
        for value, count in Counter(cell).items():
            total += count / n * math.log(count * n / (len(cell) * whole[value]))
    return total


CHECKS = {
    "t-closeness=0.25,column=pay": lambda classes, all_: max(emd(c, all_) for c in classes) <= 0.25 + 1e-9,
    "t-closeness=0.3,column=ill": lambda classes, all_: (
        max(variation(c, all_) for c in classes) <= 0.3 + 1e-9
    ),
    "p-sensitive=2,column=ill": lambda classes, _: min(len(set(c)) for c in classes) >= 2,
    "l-diversity=entropy:1.7,column=ill": lambda classes, _: (
        min(-sum(k / len(c) * math.log(k / len(c)) for k in Counter(c).values()) for c in classes)
        >= math.log(1.7) - 1e-9
    ),
    "l-diversity=recursive:3:2,column=ill": lambda classes, _: all(
        max(Counter(c).values()) < 3 * (len(c) - max(Counter(c).values())) for c in classes
    ),
    "delta-disclosure=1.5,column=ill": lambda classes, all_: all(
        v in c and abs(math.log(c.count(v) / len(c) * len(all_) / all_.count(v))) <= 1.5 + 1e-9
        for c in classes
        for v in set(all_)
    ),
    "mutual-information=0.2,column=ill": lambda classes, all_: information(classes, all_) <= 0.2 + 1e-9,
}


USUAL = [how for how in WAYS if how not in WARY]  # the wary ones have tests of their own


def people(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    ill = np.where(rng.random(n) < age / 90, "yes", np.where(rng.random(n) < 0.5, "no", "old"))
    pay = age * 10 + rng.integers(0, 400, n)
    return pl.DataFrame({"age": age, "hours": rng.integers(0, 30, n), "ill": ill, "pay": pay})


@pytest.mark.parametrize("how", [*USUAL, "blind", "auto"])
@pytest.mark.parametrize("model", CHECKS)
@examples(2, 20)
@given(n=st.integers(12, 90), seed=st.integers(0, 1000), k=st.integers(2, 5))
def test_releases_hold_what_an_independent_count_says(how, model, n, seed, k):
    table = people(n, seed)
    try:
        release = vr.anonymize(
            table, keys=["age", "hours"], confidential=["ill", "pay"], k=k, method="mdav", models=[model],
            enforce=how)  # fmt: skip
    except vr.GuaranteeError as error:
        message = str(error)
        if how == "blind" and re.search(r"no (other size|others) may be", message):
            return
        assert message.startswith(f"{model.partition('=')[0]} cannot be met")
        assert not CHECKS[model]([table["ill"].to_list()], table["ill"].to_list())
        return
    classes, all_ = counted(release.table, ["age", "hours"], model.rpartition("=")[2])
    assert min(map(len, classes)) >= k
    assert CHECKS[model](classes, all_)
    assert sorted(all_) == sorted(table[model.rpartition("=")[2]].to_list())


@cache
def grouped(method):
    return vr.microaggregate(np.random.default_rng(4).normal(size=(72, 2)), 3, method=method)


@pytest.mark.parametrize("method", sorted(set(vr.algorithms()) - {"exact", "univariate"}))
@pytest.mark.parametrize("how", USUAL)
def test_every_partitioning_method_can_be_enforced(method, how):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(72, 2))
    part = grouped(method)
    frame = as_frame(pl.DataFrame({"c": (X[:, 0] > 0).astype(int) + (rng.random(72) < 0.2)}))
    judges = [TCloseness(0.25).judge(levels(frame, "c")), PSensitive(2).judge(levels(frame, "c"))]
    done = enforce(X, part, k=3, judges=judges, method=how)
    assert done.partition.sizes.min() >= 3
    for judge in judges:
        assert np.all(judge.holds(judge.values(done.partition.labels, done.partition.n_cells)))
    assert done.cost_after == pytest.approx(done.partition.sse(X))
    assert done.cost_before == pytest.approx(part.sse(X))


def adult_like(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    codes = (X[:, 0] + rng.normal(size=n) > 1).astype(np.int64)
    return X, levels(as_frame(pl.DataFrame({"c": codes})), "c")


@pytest.mark.parametrize("t", few([0.2, 0.1], 1))
def test_spreading_and_swapping_lose_less_than_merging(t):
    X, column = adult_like()
    part = vr.microaggregate(X, 5, method="mdav")
    judge = TCloseness(t).judge(column)
    lost = {how: enforce(X, part, k=5, judges=[judge], method=how).cost_after for how in [*USUAL, "auto"]}
    assert lost["confidential-first"] < 0.6 * lost["merge"]
    assert lost["swap"] < 0.8 * lost["merge"]
    assert lost["auto"] == min(lost["swap"], lost["confidential-first"])


@pytest.mark.parametrize("how", USUAL)
def test_a_threshold_that_is_met_exactly_is_met(how):
    """Halves of two values each: every cell of two with both values has distance 0, and 0 is asked."""
    X = np.repeat(np.arange(6.0), 2)[:, None]
    codes = levels(as_frame(pl.DataFrame({"c": ["a", "b"] * 6})), "c")
    part = vr.Partition(np.repeat(np.arange(6), 2))
    done = enforce(X, part, k=2, judges=[TCloseness(0.0).judge(codes)], method=how)
    assert done.way == "none"
    assert done.partition == part
    crossed = vr.Partition([0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5])
    done = enforce(X, crossed, k=2, judges=[TCloseness(0.0).judge(codes)], method=how)
    values = [sorted(codes.codes[cell]) for cell in done.partition.cells()]
    assert all(v.count(0) == v.count(1) for v in values)
    if how != "merge":
        assert done.cost_after == 0.0


def test_nothing_asked_is_nothing_done():
    part = vr.Partition([0, 0, 1, 1])
    codes = levels(as_frame(pl.DataFrame({"c": [1, 1, 2, 2]})), "c")
    done = enforce([1.0, 2.0, 8.0, 9.0], part, k=2, judges=[PSensitive(None).judge(codes)])
    assert done.way == "none"
    assert done.partition == part


def test_the_same_seed_gives_the_same_cells_and_the_order_of_rows_no_other_verdict():
    X, column = adult_like(400)
    part = vr.microaggregate(X, 4, method="mdav")
    judge = TCloseness(0.15).judge(column)
    first, again = (enforce(X, part, k=4, judges=[judge], seed=3) for _ in range(2))
    assert first.partition == again.partition
    turned = np.random.default_rng(0).permutation(400)
    frame = as_frame(pl.DataFrame({"c": column.codes[turned]}))
    other = TCloseness(0.15).judge(levels(frame, "c"))
    done = enforce(X[turned], vr.Partition(part.labels[turned]), k=4, judges=[other])
    assert other.holds(other.values(done.partition.labels, done.partition.n_cells)).all()


@pytest.mark.parametrize("how", USUAL)
def test_judges_unknown_to_the_kernels_are_obeyed(how):
    tree = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]}
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    kind = np.where(X[:, 0] > 0, "a", "c").astype("U1")
    kind[rng.random(120) < 0.3] = "d"
    column = levels(as_frame(pl.DataFrame({"c": kind})), "c")
    judge = TCloseness(0.2, taxonomy=tree).judge(column)
    done = enforce(X, vr.microaggregate(X, 3, method="mdav"), k=3, judges=[judge], method=how)
    assert judge.holds(judge.values(done.partition.labels, done.partition.n_cells)).all()
    assert done.partition.n_cells > 1


def test_what_cannot_be_is_refused_with_its_reason():
    codes = levels(as_frame(pl.DataFrame({"ill": ["a", "a", "b", "b"]})), "ill")
    X, part = [1.0, 2.0, 3.0, 4.0], vr.Partition([0, 0, 1, 1])
    for how in WAYS:
        with pytest.raises(vr.GuaranteeError, match=r"p-sensitive.*4 records.*'ill'.*2.*3 is required"):
            enforce(X, part, k=2, judges=[PSensitive(3).judge(codes)], method=how)
    with pytest.raises(vr.GuaranteeError, match="l-diversity"):
        enforce(X, part, k=2, judges=[LDiversity(2.5, kind="entropy").judge(codes)])
    with pytest.raises(vr.InputError, match="magic"):
        enforce([1.0, 2.0], vr.Partition([0, 0]), k=2, judges=[], method="magic")


def release(**changes):
    given = {"keys": ["age", "hours"], "confidential": ["ill", "pay"], "k": 3, "method": "mdav"} | changes
    return vr.anonymize(people(120, 1), **given)


def test_costs_are_told_in_the_order_given():
    result = release(models=["p-sensitive=2,column=ill", TCloseness(0.2, column="pay")], enforce="merge")
    assert [cost.guarantee for cost in result.costs] == [
        "k-anonymity=3", "p-sensitive=2,column=ill", "t-closeness=0.2,column=pay",
    ]  # fmt: skip
    losses = [cost.loss for cost in result.costs]
    assert losses == sorted(losses)
    assert losses[0] < losses[-1] == pytest.approx(result.group_loss)
    assert result.to_dict()["inside"]["costs"][-1]["method"] == "merge"


def test_the_report_shows_the_costs(tmp_path):
    result = release(models=["t-closeness=0.2,column=pay"])
    text = result.report(tmp_path / "r.html").read_text()
    assert "What each guarantee cost" in text
    assert "t-closeness=0.2" in text
    assert "What each guarantee cost" not in release().report(tmp_path / "s.html").read_text()


def test_k_in_a_model_raises_k_and_a_model_without_threshold_only_measures():
    assert release(models=["k-anonymity=9"]).risk.k >= 9
    result = release(models=["t-closeness"])
    assert result.costs[-1].guarantee == "k-anonymity=3"
    assert [finding.model for finding in result.findings] == ["k-anonymity", "t-closeness"]


def test_recipes_carry_the_way_of_enforcing():
    result = release(models=["p-sensitive=2,column=ill"], enforce="swap")
    again = vr.Recipe.from_toml(result.recipe.to_toml())
    assert again == result.recipe
    assert again.enforce == "swap"
    same = vr.anonymize(people(120, 1), recipe=again)
    assert same.information_loss == result.information_loss
    with pytest.raises(vr.InputError, match="magic"):
        release(enforce="magic")


@pytest.mark.parametrize("way", few(["blind", "swap"], 1))  # to compile the second takes long
def test_in_a_mixed_space_the_cost_is_that_of_the_space(way):
    """Enforcing by squares of an encoding, as it once was, ends with groups that cost more there."""
    table = vr.datasets.hospital(300, seed=3).select("age", "sex", "nationality", "diagnosis", "admitted")
    keys = ["age", "sex", "nationality", "admitted"]
    schema = vr.Schema.build(table, keys=keys, confidential=["diagnosis"])
    made = Table.of(table, schema)
    space = Mixed.fit(make_fields(made, keys)[0])
    judge = TCloseness(0.35).judge(levels(made, "diagnosis"))
    part = vr.microaggregate(space.codes, 4, method="mdav", space=space)
    points = Coordinates.of(made).records
    records = space.records(space.codes)
    costs = [
        records.cost(door(Problem(space, 4, [judge]), part, Context(), way=way).partition)
        for space in (records, points)
    ]
    assert costs[0] < costs[1]
