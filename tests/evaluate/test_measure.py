"""Measuring a whole table: what joins, what is refused, what never changes the result."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repeats import examples
from voronym.errors import InputError, SchemaError
from voronym.evaluate.measure import Attacks, measure
from voronym.privacy import Finding, KAnonymity, base, register

RNG = np.random.default_rng(0)
BEFORE = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, 60),
        "pay": RNG.exponential(1000, 60).round(2),
        "sex": np.where(RNG.random(60) < 0.5, "f", "m"),
        "ill": RNG.choice(["flu", "cold", "none"], 60),
        "name": [f"person {i}" for i in range(60)],
    }
)
# Sorted by age, cells of five at their mean; sex is published as the cell's first.
CELL = np.empty(60, int)
CELL[np.argsort(BEFORE["age"].to_numpy(), kind="stable")] = np.arange(60) // 5
AFTER = BEFORE.drop("name").with_columns(
    age=pl.Series([BEFORE["age"].to_numpy()[c == CELL].mean() for c in CELL]),
    pay=pl.Series([BEFORE["pay"].to_numpy()[c == CELL].mean() for c in CELL]),
    sex=pl.Series([BEFORE["sex"].to_list()[np.flatnonzero(c == CELL)[0]] for c in CELL]),
)
KEYS = ["age", "pay", "sex"]


def test_a_table_alone():
    result = measure(AFTER, keys=KEYS, confidential=["ill"])
    assert result.risk.k == 5
    assert [f.model for f in result.findings] == [
        "k-anonymity",
        "p-sensitive",
        "alpha-k",
        "l-diversity",
        "t-closeness",
        "beta-likeness",
        "delta-disclosure",
        "mutual-information",
    ]
    assert result.holds
    assert result.utility is result.linkage is result.basis is None
    assert repr(result) == "Measurement(60 records, k=5, keys age, pay, sex)"
    assert "k = 5" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)  # a measure may be infinite; JSON knows no such number


def test_without_a_confidential_column_one_note_says_what_is_not_measured():
    result = measure(AFTER, keys=KEYS)
    assert [f.model for f in result.findings] == ["k-anonymity"]
    (note,) = (note for note in result.notes if "not measured" in note)
    assert (
        "p-sensitive, alpha-k, l-diversity, t-closeness, beta-likeness, delta-disclosure, mutual-information"
        in note
    )
    with pytest.raises(InputError, match="t-closeness needs a confidential column"):
        measure(AFTER, keys=KEYS, models=["t-closeness=0.2"])


def test_every_confidential_column_is_shown():
    result = measure(AFTER, keys=["age", "pay"], confidential=["sex", "ill"], models=["t-closeness=0.1"])
    assert not result.holds
    assert result.findings[0].model == "t-closeness"  # what was asked comes first
    shown = str(result)
    assert shown.count("    sex: ") == shown.count("    ill: ") == 7
    assert "required 0.1: does not hold" in shown
    assert "corrected" in shown


def test_the_order_of_an_ordinal_column_is_used():
    frame = pl.DataFrame({"k": ["u"] * 3 + ["v"] * 3, "w": ["low", "mid", "top", "low", "mid", "top"]})
    worse = frame.with_columns(w=pl.Series(["low", "mid", "low", "mid", "top", "top"]))
    given = {"keys": ["k"], "confidential": ["w"], "orders": {"w": ["low", "mid", "top"]}}
    assert measure(frame, **given, models=["t-closeness=0"]).holds
    # P = (2/3, 1, 1), Q = (1/3, 2/3, 1): (1/3 + 1/3) / 2
    result = measure(worse, **given, models=["t-closeness=0.3"]).findings[0]
    assert result.value == pytest.approx(1 / 3)
    assert not result.holds
    with pytest.raises(InputError, match="has 1 level that its order of 2 lacks"):
        measure(worse, **{**given, "orders": {"w": ["low", "mid"]}}, models=["t-closeness=0.3"])


def test_required_models_decide_and_others_are_only_measured():
    assert measure(AFTER, keys=KEYS, models=["k-anonymity=5"]).holds
    result = measure(AFTER, keys=KEYS, models=[KAnonymity(6), "k-anonymity=2"])
    assert not result.holds
    assert [f.holds for f in result.findings] == [False, True]


def test_a_registered_model_joins(monkeypatch):
    monkeypatch.setattr(base.MODELS, "_entries", dict(base.MODELS._entries))

    @register("classes")
    class ByClass:
        """Measures something about the confidential column."""

        name = "classes"
        required = None

        def measure(self, table):
            if not table.confidential:
                raise InputError("it needs a confidential column")
            return Finding("classes", float(len(table.levels(table.confidential[0]))), None, True)

        @classmethod
        def parse(cls, text):
            assert text is None
            return cls()

    result = measure(AFTER, keys=KEYS, confidential=["ill"])
    values = {f.model: f.value for f in result.findings}
    assert (values["k-anonymity"], values["classes"]) == (5.0, 3.0)
    without = measure(AFTER, keys=KEYS)
    assert [f.model for f in without.findings] == ["k-anonymity"]
    assert any("classes: not measured" in note for note in without.notes)


def test_beside_the_original():
    result = measure(AFTER, keys=KEYS, confidential=["ill"], original=BEFORE, aligned=True)
    assert result.original_risk.k == 1
    assert result.linkage.kind == "measured"
    assert result.basis == "aligned"
    assert 0 < result.linkage.rate.value <= 1 / 5
    assert [i.column for i in result.intervals] == ["age", "pay"]
    assert 0 < result.utility.information_loss < 100
    assert "ill" in [c.name for c in result.utility.columns]
    json.dumps(result.to_dict(), allow_nan=False)
    for part in ("Privacy", "record linkage", "information loss", "(the original: k = 1"):
        assert part in str(result)


def test_shuffled_rows_give_a_bound_and_the_same_utility():
    aligned = measure(AFTER, keys=KEYS, original=BEFORE, aligned=True)
    order = np.random.default_rng(1).permutation(60)
    known = measure(AFTER[order], keys=KEYS, original=BEFORE, aligned=order)
    assert known.linkage.rate.value == pytest.approx(aligned.linkage.rate.value)
    assert known.utility.information_loss == pytest.approx(aligned.utility.information_loss)
    assert [i.sd.value for i in known.intervals] == [i.sd.value for i in aligned.intervals]
    blind = measure(AFTER[order], keys=KEYS, original=BEFORE)
    assert blind.linkage.kind == "upper bound"
    assert blind.basis == "nearest"
    assert blind.linkage.rate.value >= aligned.linkage.rate.value
    assert blind.utility.information_loss is None
    assert blind.utility["age"].variance_ratio == pytest.approx(aligned.utility["age"].variance_ratio)


def test_a_part_of_the_original_was_released():
    rows = np.arange(0, 60, 2)
    result = measure(AFTER[rows], keys=KEYS, original=BEFORE, aligned=rows)
    assert result.linkage.rate.population == 60
    assert result.intervals[0].sd.n == 30
    assert result.utility.information_loss is not None


@examples(4, 20)
@given(st.permutations(range(60)), st.permutations(range(60)))
def test_order_index_and_library_change_nothing(rows, lines):
    expected = measure(AFTER, keys=KEYS, confidential=["ill"], original=BEFORE)
    table = AFTER[list(rows)].to_pandas().set_axis(np.zeros(60))
    result = measure(table, keys=KEYS, confidential=["ill"], original=BEFORE[list(lines)].to_arrow())
    assert result.risk == expected.risk
    assert result.findings == expected.findings
    assert result.linkage == expected.linkage
    assert result.intervals == expected.intervals
    assert result.utility.pmse.value == pytest.approx(expected.utility.pmse.value, rel=1e-6)


def test_progress_is_told():
    messages = []
    measure(AFTER, keys=KEYS, original=BEFORE, progress=messages.append)
    assert {step.stage for step in messages} >= {"counting", "attacking", "comparing"}
    done = [step.done for step in messages]
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_a_wish_to_cancel_is_heard_in_every_stage():
    for stage in ("counting", "attacking", "comparing"):

        def stop(step, stage=stage):
            if step.stage == stage:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            measure(AFTER, keys=KEYS, original=BEFORE, progress=stop)


def test_kinds_orders_and_places_reach_the_schema():
    frame = pl.DataFrame(
        {
            "lat": [41.0, 41.2, 41.0, 41.2],
            "lon": [2.0, 2.1, 2.0, 2.1],
            "level": ["lo", "hi", "lo", "hi"],
            "c": [1, 2, 1, 2],
        }
    )
    result = measure(
        frame,
        keys=["lat", "lon", "level", "c"],
        original=frame,
        aligned=True,
        kinds={"c": "nominal"},
        orders={"level": ["lo", "hi"]},
        locations=[("lat", "lon")],
    )
    assert result.utility["c"].total_variation == 0.0
    assert set(result.utility.loss_by_key) == {"lat, lon", "level", "c"}
    assert result.linkage.rate.value == 0.5
    with pytest.raises(SchemaError):
        measure(frame, keys=["lat"], kinds={"c": "no such kind"})


def test_keys_that_cannot_be_encoded_are_counted_and_the_rest_is_noted():
    frame = pd.DataFrame({"v": pd.Series([1, "1", None, 1], dtype=object), "w": [1, 2, 3, 1]})
    result = measure(frame, keys=["v", "w"], original=frame)
    assert result.risk.histogram == {1: 2, 2: 1}
    assert result.linkage is None
    assert result.notes
    assert result.utility["w"].wasserstein == 0.0


def test_suppressed_keys_are_measured():
    table = AFTER.with_columns(age=pl.when(pl.arange(60) < 3).then(None).otherwise(pl.col("age")))
    result = measure(table, keys=KEYS, original=BEFORE, aligned=True)
    assert result.linkage is not None
    assert result.utility["age"].missing_after == 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ["agee"]}, "no column 'agee'"),
        ({"keys": "age"}, "list of names"),
        ({"keys": []}, "no key column"),
        ({"confidential": ["illness"]}, "no column 'illness'"),
        ({"confidential": ["age"]}, "one role"),
        ({"original": BEFORE.drop("pay")}, "different columns.*'pay'"),
        ({"original": BEFORE[:50], "aligned": True}, "50 rows, the table 60"),
        ({"aligned": True}, "no original was given"),
        ({"models": ["k-anonymity=0"]}, "whole number"),
        ({"original": BEFORE, "attack": Attacks(percent=0)}, "percent"),
        ({"original": BEFORE, "attack": Attacks(confidence=1.5)}, "confidence"),
    ],
)
def test_bad_input_gets_one_clear_sentence(change, message):
    with pytest.raises(InputError, match=message) as caught:
        measure(AFTER, **{"keys": KEYS, **change})
    assert "person" not in str(caught.value)


def test_nothing_is_changed_and_the_same_call_gives_the_same_figures():
    before, after = BEFORE.clone(), AFTER.clone()
    single = measure(AFTER, keys=KEYS, original=BEFORE, attack=Attacks(targets=20), seed=4)
    assert (
        single.to_dict()
        == measure(AFTER, keys=KEYS, original=BEFORE, attack=Attacks(targets=20), seed=4).to_dict()
    )
    assert single.linkage.rate.n == 20
    assert before.equals(BEFORE)
    assert after.equals(AFTER)


def test_files_are_read(tmp_path):
    before, after = tmp_path / "before.parquet", tmp_path / "after.csv"
    BEFORE.write_parquet(before)
    AFTER.write_csv(after)
    result = measure(after, keys=["age"], original=str(before), aligned=True, population=before)
    same = measure(AFTER, keys=["age"], original=BEFORE, aligned=True, population=BEFORE)
    assert result.to_dict() == same.to_dict()


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_a_seed_that_is_none(seed):
    with pytest.raises(InputError, match=r"seed (is|must be) a whole number"):
        measure(AFTER, keys=["age"], original=BEFORE, seed=seed)


@pytest.mark.parametrize("power", [1015, -1060])
def test_numbers_at_the_ends_of_the_range(power):
    unit, rng = 2.0**power, np.random.default_rng(1)
    kept = {"low": rng.permutation(60) / 8 - 4, "other": rng.permutation(60) / 8}
    before = BEFORE.with_columns(**kept)
    far = before.with_columns(pl.col("low", "other") * unit)
    plain = measure(AFTER.with_columns(**kept), keys=["age"], original=before, aligned=True).utility
    result = measure(
        AFTER.hstack(far.select("low", "other")), keys=["age"], original=far, aligned=True
    ).utility
    assert result.correlation == plain.correlation
    assert result.pmse == plain.pmse
    for name in ("low", "other"):
        assert result[name].sd_before == pytest.approx(plain[name].sd_before * unit)
        assert result[name].mean_after == pytest.approx(plain[name].mean_after * unit)
        assert result[name].quantiles_before[95] == pytest.approx(plain[name].quantiles_before[95] * unit)
        assert result[name].wasserstein == 0.0
        assert result[name].variance_ratio == 1.0
    json.dumps(result.to_dict(), allow_nan=False)
