"""A table that is k-anonymous already, and records that need no masking."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import voronym as vr

KEYS = ["sex", "region", "band"]


def survey(n=1200, seed=0):
    """Every combination has many people."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "west"], n),
            "band": rng.choice([20, 30, 40, 50, 60], n),
            "ill": rng.choice(["a", "b", "c", "d"], n),
        }
    )


def counted(frame, keys=KEYS):
    return frame.fillna("gone").astype(str).groupby(keys).size().to_dict()


@pytest.mark.parametrize("method", ["auto", "mdav", "pairs", "lattice", "local-suppression"])
def test_nothing_is_changed_where_k_holds_already(method):
    frame = survey()
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5, method=method)
    assert counted(made.table) == counted(frame)
    assert made.k == frame.groupby(KEYS).size().min() > 5
    if method in ("auto", "mdav", "pairs"):
        assert any(f"k = {made.k} holds already" in item for item in made.log)
        assert made.information_loss == 0.0


def test_numbers_stay_to_the_last_digit():
    rng = np.random.default_rng(3)
    values = rng.uniform(0, 1e6, 40)
    frame = pl.DataFrame({"x": np.repeat(values, 6), "y": np.arange(240) % 3})
    made = vr.anonymize(frame, keys=["x"], other=["y"], k=5)
    assert sorted(made.table["x"].to_list()) == sorted(frame["x"].to_list())


def test_a_model_may_ask_for_more():
    frame = survey()
    frame.loc[(frame.sex == "f") & (frame.region == "west"), "ill"] = "a"
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5, models=["l-diversity=3"])
    assert counted(made.table) != counted(frame)
    varied = made.table.groupby(KEYS).ill.nunique()
    assert varied.min() >= 3
    frame = survey()
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5, models=["l-diversity=2"])
    assert counted(made.table) == counted(frame)


def test_few_strangers_change_few_records():
    """Where 9 of 1,209 records are rare, the classes of the others stay whole but for near company."""
    frame = survey()
    odd = survey(9, seed=5).assign(band=[21, 22, 23, 31, 33, 41, 43, 51, 55])
    whole = pd.concat([frame, odd], ignore_index=True)
    made = vr.anonymize(whole, keys=KEYS, confidential=["ill"], k=5, method="mdav")
    before, after = counted(whole), counted(made.table)
    lost = sum(max(count - after.get(key, 0), 0) for key, count in before.items())
    assert lost <= 9 * 5
    assert any("were left as they are" in item for item in made.log)


def test_fewer_than_k_strangers_find_company():
    frame = pd.concat([survey(), survey(2, seed=8).assign(band=61)], ignore_index=True)
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5)
    before, after = counted(frame), counted(made.table)
    assert made.k >= 5
    assert sum(max(count - after.get(key, 0), 0) for key, count in before.items()) <= 5


def test_strata_and_people():
    frame = survey(1500)
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5, strata=["region"])
    assert counted(made.table) == counted(frame)
    rows = frame.loc[frame.index.repeat(2)].assign(who=np.repeat(np.arange(len(frame)), 2))
    made = vr.anonymize(rows.reset_index(drop=True), keys=KEYS, confidential=["ill"], k=5, person="who")
    assert counted(made.table) == counted(rows)


def test_nobody_is_left_out_for_nothing():
    frame = survey()
    made = vr.anonymize(frame, keys=KEYS, confidential=["ill"], k=5, suppress=0.01)
    assert counted(made.table) == counted(frame)
