"""Uniques after each step: the counts that pandas gives, whatever a step made of the values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import voronym as vr


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "region": [str(integer) for integer in rng.integers(1, 140, n)],
            "sex": rng.choice(["f", "m"], n),
            "pay": 100 * rng.integers(9, 30, n),
        }
    )


def small(frame, keys, k):
    size = frame.groupby(keys, dropna=False)[keys[0]].transform("size")
    return tuple(int((size < least).sum()) for least in (2, 3, k))


def messages_of(exposed):
    return exposed.unique, exposed.below_3, exposed.below_k


def test_a_recoded_value_is_a_value():
    frame, keys, k = people(), ["age", "region", "sex"], 4
    made = vr.anonymize(
        frame,
        keys=keys,
        confidential=["pay"],
        kinds={"region": "nominal"},
        k=k,
        method="local-suppression",
        steps=["round age=10 how=down", "recode region level=1", "recode age cuts=30,50,70"],
    )
    first = frame.assign(age=frame.age // 10 * 10)
    second = first.assign(region=[code[:-1] + "*" for code in first.region])
    third = second.assign(age=pd.cut(second.age, [-1, 29, 49, 69, 999]).astype(str))
    counts = [small(item, keys, k) for item in (frame, first, second, third)]
    assert counts[-1][0] > 0, "the table has to have uniques in the end"
    for effect, before, after in zip(made.effects, counts[:-1], counts[1:], strict=True):
        assert (messages_of(effect.keys[0]), messages_of(effect.keys[1])) == (before, after)
    assert f"unique on the keys: {counts[0][0]:,} → {counts[1][0]:,}" in str(made.effects[0])
    assert f"below 4: {counts[2][2]:,} → {counts[3][2]:,}" in str(made.effects[2])


def test_codes_of_different_lengths_are_cut_from_their_ends():
    frame = people()
    made = vr.anonymize(
        frame, keys=["sex"], other=["region"], kinds={"region": "nominal"}, k=2, drop_undeclared=True,
        steps=["recode region level=1"],
    )  # fmt: skip
    got = pd.Series(made.table["region"]).value_counts().to_dict()
    want = pd.Series([code[:-1] + "*" for code in frame.region]).value_counts().to_dict()
    assert got == want
    assert made.effects[0].changed == 1.0
    assert "the last character of each code" in str(made.effects[0])


def test_what_really_changed_is_counted():
    frame = people()
    kept = frame.region.isin(["5", "6"])
    step = "recode region values=" + ",".join(sorted(set(frame.region[~kept]))) + " to=other"
    made = vr.anonymize(frame, keys=["sex"], other=["region"], k=2, drop_undeclared=True, steps=[step],
                        kinds={"region": "nominal"})  # fmt: skip
    assert made.effects[0].changed == pytest.approx(1 - kept.mean())
    whole = frame.assign(region=frame.region.astype(int))  # numbers become texts; 5 stays 5
    made = vr.anonymize(whole, keys=["sex"], other=["region"], k=2, drop_undeclared=True, steps=[step],
                        kinds={"region": "nominal"})  # fmt: skip
    assert made.effects[0].changed == pytest.approx(1 - kept.mean())


def test_people_and_not_their_rows_make_a_class():
    rows = people(200).assign(who=np.arange(200) // 2)
    rows["age"] = rows.groupby("who").age.transform("first")
    rows["sex"] = rows.groupby("who").sex.transform("first")
    made = vr.anonymize(rows, keys=["age", "sex"], person="who", drop_undeclared=True, k=3,
                        steps=["round age=5"])  # fmt: skip
    after = rows.assign(age=np.floor(rows.age / 5 + 0.5) * 5)
    for frame, result in ((rows, made.effects[0].keys[0]), (after, made.effects[0].keys[1])):
        heads = frame.groupby(["age", "sex"]).who.transform("nunique")
        assert messages_of(result) == tuple(int((heads < least).sum()) for least in (2, 3, 3))


@pytest.mark.filterwarnings("ignore:the 1 keys lost")
def test_drawn_values_are_unique_and_not_true():
    frame = pl.DataFrame({"x": [3 * i for i in range(60)], "y": [i % 2 for i in range(60)]})
    made = vr.anonymize(frame, keys=["x"], other=["y"], k=3, steps=["shuffle x"], allow_loss=["x"])
    effect = made.effects[0]
    assert (effect.keys[0].unique, effect.keys[1].unique) == (60, 60)
    assert effect.true < 12
    assert effect.true == round(60 * (1 - effect.changed))
    assert f"({effect.true} of them with all values true)" in str(effect)
    assert not effect.idle
