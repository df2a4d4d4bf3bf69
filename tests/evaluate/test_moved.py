"""What became of each key; and that one missing cell is one missing cell."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import voronym as vr
from voronym.evaluate.moved import joined, key_changes


def people(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["n", "s", "w", "e"], n),
            "band": rng.choice([20, 30, 40, 50, 60], n),
            "level": rng.choice(["low", "mid", "top"], n),
            "same": ["x"] * n,
            "ill": rng.choice(["a", "b"], n),
        }
    )


@pytest.mark.parametrize(
    ("column", "more"),
    [
        ("band", {}),
        pytest.param("region", {}, marks=pytest.mark.slow),
        ("level", {"orders": {"level": ["low", "mid", "top"]}}),
        pytest.param("same", {}, marks=pytest.mark.slow),
    ],
)
def test_one_missing_cell_is_next_to_no_loss(column, more):
    frame = people()
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 11).then(None).otherwise(pl.col(column)).alias(column)
    )
    keys = ["sex", "region", "band", *({column} - {"sex", "region", "band"})]
    made = vr.anonymize(frame, keys=keys, confidential=["ill"], drop_undeclared=True, k=5, **more)
    assert made.information_loss < 0.5
    changed = {change.key: change.records - change.kept for change in made.changes}
    assert sum(changed.values()) <= 5
    assert changed[column] >= 1


@pytest.mark.filterwarnings("ignore:other column")
def test_counts_are_those_of_pandas():
    rng = np.random.default_rng(4)
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 400, 90)]
    frame = pd.DataFrame(
        {"age": rng.integers(20, 80, 90), "town": rng.choice(list("abc"), 90), "day": pd.to_datetime(days),
         "row": np.arange(90).astype(str)}
    )  # fmt: skip
    made = vr.anonymize(frame, keys=["age", "town", "day"], other=["row"], k=4, method="mdav")
    both = made.table.merge(frame, on="row", suffixes=("", "_was"))
    for change in made.changes:
        same = both[change.key] == both[f"{change.key}_was"]
        assert (change.records, change.kept) == (90, int(same.sum()))
        if change.key != "town":
            away = (both[change.key] - both[f"{change.key}_was"])[~same].abs()
            away = away.dt.total_seconds() / 86_400 if change.key == "day" else away
            assert change.moved == len(away)
            assert (change.distance, change.farthest) == pytest.approx((away.mean(), away.max()))
        else:
            assert change.other == int((~same).sum())
    assert "days on average" in str(made.changes[2])


def test_ranges_and_gaps_are_counted_as_such():
    frame = people(300)
    made = vr.anonymize(frame, keys=["sex", "band"], confidential=["ill"], drop_undeclared=True, k=40,
                        publish={"band": "interval"})  # fmt: skip
    band = next(change for change in made.changes if change.key == "band")
    wide = sum(not str(value).isdigit() for value in made.table["band"])
    assert (band.kept, band.coarser) == (300 - wide, wide)
    made = vr.anonymize(frame, keys=["sex", "region", "band", "level"], confidential=["ill"], k=5,
                        drop_undeclared=True, method="local-suppression")  # fmt: skip
    for change in made.changes:
        assert change.gone == made.table[change.key].null_count() == change.records - change.kept


def test_parts_add_up():
    frame = people(400)
    roles = {"keys": ["band"], "drop_undeclared": True, "k": 30, "method": "mdav"}
    whole = [vr.anonymize(part, **roles).changes for part in (frame[:150], frame[150:])]
    (both,) = joined(whole)
    assert both.records == 400
    assert both.kept == sum(item[0].kept for item in whole)
    assert both.moved == sum(item[0].moved for item in whole)


def test_pram_is_not_called_true():
    frame = people(400)
    roles = {"keys": ["sex", "region"], "confidential": ["ill"], "drop_undeclared": True, "k": 5}
    made = vr.anonymize(frame, method="local-suppression", steps=["pram region=0.3"], **roles)
    text = " ".join(made.log)
    assert "All published keys are true" not in text
    assert "true except for: region, which a step drew at random" in text
    made = vr.anonymize(frame, method="local-suppression", **roles)
    assert "All published keys are true." in " ".join(made.log)


def in_range(text, age):
    """Return whether an age is within a published range, read by other code than the library's."""
    low, _, high = text.replace(" or more", "–999").replace(" or less", "").rpartition("–")
    return (int(low) if low else -999) <= age <= int(high)


@pytest.mark.filterwarnings("ignore:other column")
def test_a_range_without_the_person_s_value_is_not_called_coarser():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"age": rng.integers(1, 95, 200), "sex": rng.choice(["f", "m"], 200), "row": map(str, range(200))}
    )
    steps = ["recode age cuts=10,20,30,40,50,60,70,80,90"]
    made = vr.anonymize(frame, keys=["age", "sex"], other=["row"], k=5, method="mdav", steps=steps)
    both = made.table.join(frame, on="row", suffix="_was")
    true = sum(map(in_range, both["age"], both["age_was"]))
    assert 0 < true < 200  # groups publish one range for all members
    (age,) = (change for change in made.changes if change.key == "age")
    assert (age.coarser, age.other) == (true, 200 - true)
    assert f"{true} became coarser, {200 - true} with another category" in str(age)
    rows = made.table["row"].cast(pl.Int64).to_numpy()
    measured = vr.measure(made.table, keys=["age", "sex"], original=frame, aligned=rows)
    (age,) = (change for change in measured.utility.changes if change.key == "age")
    assert (age.coarser, age.other) == (true, 200 - true)


def test_a_level_of_another_branch_is_another_category():
    towns = ["08001", "08002", "08003", "25001", "25002", "17001"]
    tree = {
        town: (f"{town[:2]}***", {"08": "coast", "17": "coast", "25": "inland"}[town[:2]]) for town in towns
    }
    before = nw.from_native(pl.DataFrame({"zip": towns}), eager_only=True)
    shown = ["08***", "25***", "inland", "inland", "*", None]
    after = nw.from_native(pl.DataFrame({"zip": shown}), eager_only=True)
    schema = vr.Schema.build(before, keys=["zip"])
    (change,) = key_changes(before, after, schema, np.arange(6), {"zip": tree})
    assert (change.coarser, change.other, change.gone) == (3, 2, 1)


def test_the_search_s_penalty_is_told_from_the_release_s():
    frame = people(300).with_columns(age=np.random.default_rng(1).integers(1, 95, 300))
    made = vr.anonymize(frame, keys=["age", "sex"], k=5, method="lattice", drop_undeclared=True,
                        suppress="5%", steps=["recode age cuts=20,40,60,80"])  # fmt: skip
    assert "without earlier steps the certainty penalty is" in " ".join(made.log)
