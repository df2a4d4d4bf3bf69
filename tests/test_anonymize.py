from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import voronym as vr
from voronym.release import Release

SECRET = "Zyxwvu-secret"  # noqa: S105 - a marker to look for


def patients(n=60):
    return vr.datasets.hospital(n, seed=2)


def release(table=None, **changes):
    arguments = {
        "keys": ["age", "sex", "zip", "admitted", "weight"],
        "confidential": ["diagnosis", "days", "cost"],
        "identifiers": ["name", "patient_id"],
        "other": ["nationality"],
        "k": 4,
    }
    return vr.anonymize(patients() if table is None else table, **{**arguments, **changes})


def test_the_straight_line():
    made = release()
    table = made.table
    assert table.columns == [c for c in patients().columns if c not in ("name", "patient_id")]
    assert table.schema == patients().drop("name", "patient_id").schema
    assert table.group_by("age", "sex", "zip", "admitted", "weight").len()["len"].min() >= 4
    assert made.findings[0].holds
    assert made.risk.k >= 4
    assert 0 < made.group_loss <= made.information_loss < 100


def test_published_keys_are_the_means_of_their_groups():
    made = release(
        keys=["age", "cost"], confidential=["diagnosis", "days"], other=["nationality"], drop_undeclared=True
    )
    evidence = made._evidence
    ages = patients()["age"].to_numpy()
    published = made.table["age"].to_numpy()
    for cell in evidence.partition.cells():
        rows = np.flatnonzero(np.isin(evidence.order, cell))
        assert (
            set(published[rows]) == {round(ages[cell].mean())}
            or abs(published[rows][0] - ages[cell].mean()) <= 0.5
        )


def test_rows_follow_their_confidential_values():
    made = release()
    original = patients()
    for r, i in enumerate(made._evidence.order[:20]):
        assert made.table.row(r, named=True)["cost"] == original.row(i, named=True)["cost"]


def test_a_release_that_breaks_its_promise_cannot_be_built():
    made = release()
    frame = made._table.frame
    broken = made._table.like(frame.with_columns(frame["age"] + np.arange(60)))
    with pytest.raises(vr.GuaranteeError, match="does not keep its promise"):
        Release(broken, made.recipe)


def test_identifiers_cannot_slip_through():
    made = release()
    frame = made._table.frame
    with pytest.raises(vr.GuaranteeError, match="identifiers are still"):
        Release(made._table.like(frame.with_columns(frame["zip"].alias("name"))), made.recipe)


def test_undeclared_columns_are_listed_not_passed_through():
    with pytest.raises(vr.SchemaError, match="nationality"):
        release(other=[])
    assert "nationality" not in release(other=[], drop_undeclared=True).table.columns


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"k": 1}, vr.InputError, "hides nobody"),
        ({"k": 2.5}, vr.InputError, "whole number"),
        ({"k": 61}, vr.GuaranteeError, "60 records"),
        ({"keys": [], "drop_undeclared": True}, vr.SchemaError, "key"),
        ({"keys": ["agee"], "drop_undeclared": True}, vr.SchemaError, "agee"),
        ({"other": ["nationality", "age"]}, vr.SchemaError, "age"),
        ({"method": "magic"}, vr.InputError, "magic"),
        ({"models": ["magic=3"]}, vr.InputError, "magic"),
        ({"models": ["k-anonymity=200"]}, vr.GuaranteeError, "cannot be reached"),
    ],
)
def test_wrong_arguments(changes, error, says):
    with pytest.raises(error, match=says):
        release(**changes)


def test_a_recipe_excludes_other_arguments():
    recipe = release().recipe
    for text in (
        {"k": 4},
        {"k": 5},
        {"seed": 0},
        {"method": "auto"},
        {"keys": ["age"]},
        {"drop_undeclared": True},
    ):
        with pytest.raises(vr.InputError, match="use it without"):
            vr.anonymize(patients(), recipe=recipe, **text)


def test_a_recipe_for_another_table():
    with pytest.raises(vr.SchemaError, match="weight"):
        vr.anonymize(patients().drop("weight"), recipe=release().recipe)
    with pytest.raises(vr.SchemaError, match="extra"):
        vr.anonymize(patients().with_columns(extra=1), recipe=release().recipe)


def test_too_few_records_for_two_groups_warns():
    with pytest.warns(UserWarning, match="single group"):
        made = release(patients(7))
    assert made.risk.n_classes == 1
    assert any("single group" in note for note in made.warnings)


def test_degenerate_tables():
    same = pl.DataFrame({"a": [1.5] * 8, "b": ["x"] * 8})
    made = vr.anonymize(same, keys=["a", "b"], k=4)
    assert made.table.equals(same)
    assert made.information_loss == 0.0
    single = vr.anonymize(pl.DataFrame({"a": range(20)}), keys=["a"], k=3)
    assert single.table["a"].dtype == pl.Int64


@pytest.mark.parametrize(
    "empty",
    [
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pd.DataFrame({"a": []}),
        pa.table({"a": pa.array([], pa.int64())}),
    ],
)
def test_empty_tables(empty):
    with pytest.raises(vr.InputError, match=r"no (rows|column)"):
        vr.anonymize(empty, keys=["a"], k=2)


def test_things_that_are_not_tables():
    for thing in (None, 3, [1, 2]):
        with pytest.raises(vr.InputError, match="table"):
            vr.anonymize(thing, keys=["a"])


def test_repeated_and_numbered_column_names():
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(vr.SchemaError, match="repeated: 'a'"):
        vr.anonymize(twice, keys=["a"], k=2)
    arrow = pa.Table.from_arrays([pa.array([1, 2]), pa.array([1, 2])], names=["a", "a"])
    with pytest.raises(vr.SchemaError, match="repeated: 'a'"):
        vr.anonymize(arrow, keys=["a"], k=2)
    with pytest.raises(vr.SchemaError, match="not strings"):
        vr.anonymize(pd.DataFrame({0: [1, 2]}), keys=[0], k=2)


@pytest.mark.filterwarnings("ignore:the 2 keys lost")
def test_no_category_and_no_index_of_the_original_survive():
    table = pd.DataFrame(
        {"city": pd.Categorical([SECRET, *(["Reus", "Salou"] * 6)][:12]), "age": range(12)},
        index=[f"{SECRET}{i}" for i in range(12)],
    )
    table.attrs["source"] = SECRET
    made = vr.anonymize(table, keys=["city", "age"], k=6, allow_loss=["city"])
    assert list(made.table.index) == list(range(12))
    assert not made.table.attrs
    assert SECRET not in list(made.table["city"].cat.categories)
    polars_table = pl.DataFrame(
        {
            "city": pl.Series(table["city"].astype(str).tolist(), dtype=pl.Enum([SECRET, "Reus", "Salou"])),
            "age": range(12),
        }
    )
    assert (
        SECRET
        not in vr.anonymize(polars_table, keys=["city", "age"], k=6, allow_loss=["city"])
        .table["city"]
        .dtype.categories.to_list()
    )
    arrow = pa.table(
        {"city": pa.array(table["city"].astype(str).tolist()).dictionary_encode(), "age": range(12)}
    ).replace_schema_metadata({"source": SECRET})
    out = vr.anonymize(arrow, keys=["city", "age"], k=6, allow_loss=["city"]).table
    assert SECRET not in out["city"].chunk(0).dictionary.to_pylist()
    assert not out.schema.metadata


def test_no_message_holds_a_value():
    rows = [SECRET, "1", "2", "3"]
    attempts = [
        lambda: vr.anonymize(pl.DataFrame({"a": rows}), keys=["a"], kinds={"a": "numeric"}, k=2),
        lambda: vr.anonymize(
            pl.DataFrame({"a": rows}), keys=["a"], kinds={"a": "ordinal"}, orders={"a": ["1", "2", "3"]}, k=2
        ),
        lambda: vr.anonymize(pd.DataFrame({"a": [SECRET, 1, 2.5, None]}), keys=["a"], k=2),
        lambda: vr.anonymize(pl.DataFrame({"a": [1.0, float("inf"), 2.0]}), keys=["a"], k=2),
        lambda: vr.anonymize(pl.DataFrame({"a": rows}), keys=["a"], kinds={"a": "datetime"}, k=2),
    ]
    for attempt in attempts:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(vr.VoronymError) as caught:
                attempt()
        assert SECRET not in str(caught.value)
        assert "a" in str(caught.value)


def test_wide_tables():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.standard_normal(40) for j in range(300)})
    made = vr.anonymize(table, keys=table.columns, k=5)
    assert made.risk.k >= 5


def test_progress_is_told_and_may_stop():
    messages = []
    release(progress=messages.append, models=["t-closeness=0.3,column=days"])
    stages = [step.stage for step in messages]
    wanted = {"grouping", "enforcing t-closeness=0.3,column=days", "measuring"}
    assert wanted <= set(stages) <= wanted | {"reading", "improving", "proving"}
    shares = [step.done for step in messages]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert shares.count(1.0) == 1  # never at the end while work goes on

    def stop(step):
        if step.stage == "measuring":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(progress=stop)


def test_a_pickled_release_leaves_the_originals_behind():
    table = patients().with_columns(name=pl.format("{} {}", pl.lit(SECRET), pl.int_range(pl.len())))
    made = release(table)
    assert made.utility is not None
    kept = pickle.dumps(made)
    assert SECRET.encode() not in kept
    back = pickle.loads(kept)  # noqa: S301 - our own bytes
    assert back.table.equals(made.table)
    assert back.risk == made.risk
    assert back.utility is None


def test_threads_do_not_disturb_each_other_or_the_warnings_of_the_process():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = warnings.showwarning
        filters = list(warnings.filters)
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda _: release(), range(8)))
        assert warnings.showwarning is shown
        assert warnings.filters == filters
    assert {r._evidence.partition for r in made} == {made[0]._evidence.partition}


def test_the_gap_is_said_where_it_is_known():
    assert 0 < release().gap < 1000
    tiny = vr.anonymize(
        pl.DataFrame({"a": [1.0, 2.0, 5.0, 6.0, 9.0], "b": [0.0, 1.0, 0.0, 3.0, 1.0]}), keys=["a", "b"], k=2
    )
    assert tiny.gap == pytest.approx(0.0, abs=1e-6)
    assert vr.anonymize(patients(100), keys=["sex"], drop_undeclared=True, k=5).gap == 0.0
    with pytest.warns(UserWarning, match="single group"):
        assert release(patients(7)).gap == 0.0


def test_options_of_the_default_method_are_checked():
    with pytest.raises(vr.InputError, match="method 'auto' has no option 'gamma'; it has: none"):
        release(options={"gamma": 1})


def test_the_time_limit_reaches_the_method():
    granted = release(time_limit=0.5)
    assert granted.information_loss <= release(method="mdav").information_loss


PAIRS = pl.DataFrame({"a": [1, 1, 2, 2, 3, 3, 4, 4], "w": ["x", "y"] * 4})


@pytest.mark.parametrize("values", [["=x", "'=x"], ["", None], ["1", "1.0"]])
def test_a_file_that_merges_confidential_values_is_not_written(tmp_path, values):
    table = PAIRS.with_columns(w=pl.Series(values * 4))
    release = vr.anonymize(
        table, keys=["a"], confidential=["w"], kinds={"w": "nominal"}, k=2, models=["p-sensitive=2"]
    )
    with pytest.raises(vr.WriteError, match="look alike"):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    assert release.write(tmp_path / "out.parquet").rows == 8


def test_the_file_is_counted_against_the_largest_k(tmp_path, monkeypatch):
    release = vr.anonymize(PAIRS, keys=["a"], confidential=["w"], k=2, models=["k-anonymity=4"])
    assert release.risk.k >= 4
    asked = []
    monkeypatch.setattr("voronym.release.write.write", lambda *_, k, **__: asked.append(k))
    release.write(tmp_path / "out.csv")
    assert asked == [4]


@pytest.mark.parametrize("models", [vr.PSensitive(2), "p-sensitive=2", ["p-sensitive=2"]])
def test_a_single_model_needs_no_list(models):
    release = vr.anonymize(PAIRS, keys=["a"], confidential=["w"], k=2, models=models)
    assert release.findings[1].holds


def test_a_model_of_a_key_is_refused_before_the_work():
    with pytest.raises(vr.InputError, match="'a' is not declared as one; these are: w"):
        vr.anonymize(PAIRS, keys=["a"], confidential=["w"], k=2, models=["p-sensitive=2,column=a"])


NOISE = {"keys": ["a"], "confidential": ["w"], "method": "channel", "options": {"max_distortion": 0.5}}


@pytest.mark.parametrize(
    ("idle", "says"),
    [
        (
            {"enforce": "swap", "options": {"max_distortion": 0.5}},
            "'channel' makes no groups and does not use enforce: leave it out",
        ),
        ({"max_distortion": 0.5}, "unexpected keyword argument 'max_distortion'"),
        ({"sensitive": ["ill"]}, "'sensitive'; it is called 'confidential' here"),
    ],
)
def test_masks_refuse_what_they_would_ignore(idle, says):
    with pytest.raises((vr.InputError, TypeError), match=says):
        vr.anonymize(PAIRS, **{**NOISE, **idle})


def test_a_mask_keeps_its_noise_to_itself():
    release = vr.anonymize(PAIRS, **NOISE)
    assert release.recipe.seed is None
    assert "seed" not in release.recipe.to_dict()
    assert vr.Recipe.from_toml(release.recipe.to_toml()) == release.recipe
    with pytest.warns(UserWarning, match="drawn from the given seed"):
        vr.anonymize(PAIRS, **NOISE, seed=1)
