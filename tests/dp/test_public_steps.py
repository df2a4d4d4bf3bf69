"""Steps, strata, importance and medians beside differential privacy cost nothing that ε does not count."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import voronym as vr
from dp.test_sensitivity import attack, neighbour, table
from voronym.dp import GROUPINGS, Budget
from voronym.errors import InputError
from voronym.steps import parse_step
from voronym.steps import run as run_steps
from voronym.table.schema import Schema
from voronym.table.table import Table

pytestmark = pytest.mark.filterwarnings("ignore")

STEPS = [
    "top age=60",
    "bottom age=30",
    "round height=5",
    "recode age cuts=30,50,70",
    "recode height cuts=150,180",
    "recode town values=a,b to=z",
    "recode town level=1",
]
BOUNDS = {"age": (0, 100), "height": (100.0, 220.0), "town": ["a", "b", "c", "d"]}


def people(seed=1, n=400):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "age": rng.integers(18, 90, n),
        "height": np.round(rng.normal(170.0, 10.0, n), 1),
        "town": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
        "cost": rng.integers(0, 1000, n),
    })  # fmt: skip


def test_tree_order_and_individual_pay_for_importance_and_medians(monkeypatch):
    rng = np.random.default_rng(31)
    for pair in range(150):
        name = sorted(GROUPINGS)[pair % 3]
        n, d, e = int(rng.integers(2, 13)), int(rng.integers(1, 4)), int(rng.integers(0, 3))
        first = table(rng, n, d, e)
        second = neighbour(rng, first, int(rng.integers(n)))
        weights = tuple(rng.choice([0.0, 0.5, 3.0], d + e).tolist())
        medians = tuple(c for c in range(d) if rng.random() < 0.5) if name == "tree" else ()
        single, two = (replace(item, weights=weights, medians=medians) for item in (first, second))
        budget = Budget(float(rng.choice([0.1, 1.0, 100.0])), 0.0 if rng.random() < 0.6 else 1e-6)
        attack(monkeypatch, name, single, two, int(rng.integers(1, max(n // 2, 2))), budget, pair)


@pytest.mark.parametrize("text", STEPS)
def test_a_step_by_row_changes_no_other_row(text):
    # A value with more decimals, or a category that nobody else has, must not show in other rows.
    frame = people()
    other = pl.concat([frame.head(1).with_columns(
        age=pl.lit(99, pl.Int64), height=pl.lit(199.1234), town=pl.lit("d")), frame[1:]])  # fmt: skip
    step = parse_step(text).in_public()
    assert step.by_row
    made = []
    for item in (frame, other):
        schema = Schema.build(item, keys=["age", "height", "town"], confidential=["cost"])
        after, _, _ = run_steps(Table.of(item, schema), [step], least=5)
        made.append((after.frame.to_native()[1:], after.schema))
    assert made[0][0].equals(made[1][0])
    assert made[0][1] == made[1][1]


def test_ranges_by_decimals_of_the_data_are_seen_by_that_test():
    frame = people()
    other = frame.with_columns(height=pl.when(pl.int_range(pl.len()) == 0).then(199.1234).otherwise("height"))
    made = []
    for item in (frame, other):
        schema = Schema.build(item, keys=["age", "height", "town"], confidential=["cost"])
        step = parse_step("recode height cuts=150,180")
        made.append(run_steps(Table.of(item, schema), [step], least=5)[0].frame.to_native()[1:])
    assert not made[0].equals(made[1])


@pytest.mark.parametrize("text", STEPS)
def test_steps_by_row_work_and_keep_to_their_domain(text):
    release = vr.anonymize(
        people(), keys=["age", "height", "town"], confidential=["cost"], models="dp=5", bounds=BOUNDS,
        steps=text,
    )  # fmt: skip
    if "values=" in text:
        assert set(release.table["town"]) <= {"z", "c", "d"}
    if "level=1" in text:
        assert set(release.table["town"]) == {"*"}
    if text == "top age=60":
        assert release.table["age"].max() <= 100


@pytest.mark.parametrize("text", ["top age=5%", "noise age=0.1", "pram town=0.2", "top age=80 publish=mean"])
def test_steps_that_look_at_others_are_refused_before_and_fine_after_or_elsewhere(text):
    asked = {"keys": ["age", "height", "town"], "confidential": ["cost"], "models": "dp=5", "bounds": BOUNDS}
    with pytest.raises(InputError, match="it looks at other rows"):
        vr.anonymize(people(), steps=text, **asked)
    vr.anonymize(people(), steps=f"after {text}", **asked)
    numeric = text.replace("age", "cost")
    if "cost" in numeric:
        vr.anonymize(people(), steps=numeric.replace("cost=80", "cost=500"), **asked)


def test_with_scope_all_no_column_is_outside_the_promise():
    with pytest.raises(InputError, match="it looks at other rows"):
        vr.anonymize(people(), keys=["age", "town"], confidential=["cost"], other=["height"],
                     models="dp=5,scope=all", bounds={**BOUNDS, "cost": (0, 1000)},
                     steps="noise cost=0.1")  # fmt: skip


def test_strata_are_private_one_by_one(monkeypatch):
    # What is published of a stratum is drawn from its own rows, whatever others do.
    frame = people()
    seen = []
    from voronym.methods import mask as module

    plain = module.mask_private

    def watched(some, ctx, **given):
        seen.append(sorted(map(str, some.frame.to_native().rows())))
        return plain(some, ctx, **given)

    monkeypatch.setattr(module, "mask_private", watched)
    asked = {
        "keys": ["age", "height", "town"],
        "confidential": ["cost"],
        "models": "dp=5",
        "strata": ["town"],
    }
    bounds = {name: value for name, value in BOUNDS.items() if name != "town"}
    release = vr.anonymize(frame, bounds=bounds, **asked)
    assert [len({row.split("'")[1] for row in rows}) for rows in seen] == [1, 1, 1, 1]
    assert sorted(release.table["town"]) == sorted(frame["town"])
    facts = release.figures.private
    assert facts.not_private[0].startswith("town: the stratum of every row")
    with pytest.raises(InputError, match="a stratum is published as it is"):
        vr.anonymize(frame, bounds={**BOUNDS, "cost": (0, 1000)}, **asked | {"models": "dp=5,scope=all"})


def test_rows_of_a_person_count_in_all_strata_together():
    frame = people().with_columns(person=pl.int_range(pl.len()) // 4)
    with pytest.raises(InputError, match="have more than 3 rows"):
        vr.anonymize(frame, keys=["age", "height", "town"], confidential=["cost"], person="person",
                     models="dp=5,rows=3", strata=["town"], bounds=BOUNDS)  # fmt: skip


def test_medians_come_near_true_ones_where_epsilon_is_large():
    frame = people(n=3000)
    release = vr.anonymize(frame, keys=["age", "town"], confidential=["cost"], other=["height"], k=3000,
                           models="dp=500", bounds=BOUNDS, publish={"age": "median"})  # fmt: skip
    assert abs(release.table["age"][0] - frame["age"].median()) <= 2
    with pytest.raises(InputError, match="no medians"):
        vr.anonymize(frame, keys=["age", "town"], confidential=["cost"], other=["height"], models="dp=5",
                     bounds=BOUNDS, publish={"age": "median"}, options={"grouping": "order"})  # fmt: skip
