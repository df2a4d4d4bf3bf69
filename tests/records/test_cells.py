from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import voronym as vr
from records.mixtures import mixtures
from repeats import examples, few
from voronym.cli import app
from voronym.errors import GuaranteeError, InputError
from voronym.records.cells import MixedKeys
from voronym.records.figures import MixedColumn
from voronym.table import as_frame
from voronym.testing import assert_k_anonymous

KEYS = ["age", "sex", "nationality", "diagnosis"]


def patients(n=120):
    return vr.datasets.hospital(n, seed=2).select(*KEYS, "cost")


def released(**more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(
            patients(), **{"keys": KEYS, "confidential": ["cost"], "k": 5, "space": "mixed"} | more
        )


@examples(12, 75)
@given(drawn=mixtures(24), k=st.integers(2, 4), method=st.sampled_from(["mdav", "vmdav", "exchange"]))
def test_cells_of_any_mixture_publish_equal_rows_of_real_values(drawn, k, method):
    table, schema, metrics, _ = drawn
    keys = MixedKeys.fit(as_frame(table), schema, metrics=metrics)
    if len(table) < k:
        return
    options = {"iterations": 5} if method == "exchange" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = vr.microaggregate(keys.space.codes, k, method=method, space=keys.space, **options)
    made = keys.publish(part)
    frame = made.frame.to_native()
    assert frame.columns == list(schema.keys)
    assert frame.schema == table.select(schema.keys).schema
    assert_k_anonymous(frame[part.labels.tolist()].rows(), k)
    for name in schema.keys:
        assert set(frame[name].to_list()) <= set(table[name].to_list())
    assert 0.0 <= made.figures.mixed_loss <= 100.0 + 1e-9
    for field, first in zip(keys.space.fields, made.figures.columns.values(), strict=True):
        if field.levels == 1:
            assert first == MixedColumn(field.metric, loss=0.0, kept=1.0)


def test_a_place_without_coordinates_publishes_neither():
    table = pl.DataFrame({"lat": [5.0, None, None, 40.0, 41.0], "lon": [None, None, None, 1.0, 2.0]})
    schema = vr.Schema.build(table, keys=["lat", "lon"], locations=[("lat", "lon")])
    made = MixedKeys.fit(as_frame(table), schema).publish(vr.Partition([0, 0, 0, 1, 1]))
    assert made.frame.to_native().rows()[0] == (None, None)


@pytest.mark.parametrize("method", few(["auto", "mdav", "exchange", "vmdav", "anneal"], 3))
def test_a_release_in_a_mixed_space(method, tmp_path):
    options = {"anneal": {"sweeps": 50}, "exchange": {"iterations": 10}}.get(method, {})
    release = released(method=method, options=options)
    assert_k_anonymous(release.table.select(KEYS).rows(), 5)
    assert release.gap is None
    assert release.group_loss == pytest.approx(release.figures.mixed_loss)
    figures = release.figures
    assert figures.space == "mixed"
    assert 0 < figures.mixed_loss < 100
    # Measured on what is published, row by row, by another way than the method's.
    space = MixedKeys.fit(as_frame(patients()), release.schema).space
    original, order = patients(), release._evidence.order
    whole = space.cost(space.codes, space.centroid(space.codes)[None, :]).sum()
    cost = 0.0
    for name, first, bend in zip(KEYS, space.fields, space.maps, strict=True):
        level = dict(zip(original[name].to_list(), first.codes, strict=True))
        new = np.array([level[value] for value in release.table[name].to_list()])
        cost += bend(first.distance(first.codes[order], new)).sum()
    assert figures.mixed_loss == pytest.approx(100 * cost / whole)
    kept = (original["sex"][order.tolist()] == release.table["sex"]).mean()
    assert figures.columns["sex"].kept == pytest.approx(kept)
    again = vr.anonymize(patients(), recipe=vr.Recipe.from_toml(release.recipe.to_toml()))
    assert sorted(again.table.rows()) == sorted(release.table.rows())
    page = release.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "metric nominal" in page
    release.report(tmp_path / "b.html", audience="public")
    assert release.to_dict()["inside"]["figures"]["mixed_loss"] == figures.mixed_loss


@pytest.mark.slow
def test_models_are_enforced_on_mixed_cells():
    table = patients(150).with_columns(cost=pl.Series(["low", "high", "middle"] * 50))
    release = vr.anonymize(
        table, keys=KEYS, confidential=["cost"], k=5, space="mixed", method="mdav", models=["p-sensitive=3"]
    )
    assert all(finding.holds for finding in release.findings)
    for _, rows in release.table.group_by(KEYS):
        assert rows["cost"].n_unique() == 3


def test_metrics_and_weights_count():
    tree = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]}
    table = pl.DataFrame({"tree": list("abcd") * 5, "size": [1, 5, 2, 6] * 5})
    plain = {"keys": ["tree", "size"], "k": 10, "space": "mixed", "method": "mdav"}
    release = vr.anonymize(table, **plain, metrics={"tree": tree}, importance={"size": 0})
    assert release.figures.columns["tree"].metric == "taxonomy"
    by_tree = {frozenset(table["tree"][rows.tolist()]) for rows in release._evidence.partition.cells()}
    assert by_tree == {frozenset("ab"), frozenset("cd")}
    release = vr.anonymize(table, **plain, importance={"tree": 0})
    by_size = {frozenset(table["size"][rows.tolist()]) for rows in release._evidence.partition.cells()}
    assert by_size == {frozenset([1, 2]), frozenset([5, 6])}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"space": "odd"}, "no space of keys is called 'odd'; there are: euclidean, mixed"),
        (
            {"method": "icsm"},
            "'icsm' works on Euclidean coordinates only.* without coordinates: anneal, auto, .*mdav",
        ),
        ({"method": "odd"}, "no method is called 'odd'"),
        ({"method": "records", "k": None}, "records would lose"),
        ({"space": None, "metrics": {"age": "nominal"}}, "metrics belong to the space 'mixed'"),
        ({"space": None, "weights": {"age": 2}}, r"take importance \(--importance age=2\)"),
        ({"metrics": {"zip": "nominal"}}, "columns that are not used: 'zip'"),
        ({"metrics": {"age": "odd"}}, "no metric is called 'odd'"),
        ({"weights": {"age": 1}}, r"keys that count more take importance \(--importance age=2\)"),
        ({"importance": {"age": -1}}, "importance of 'age' must be a number, 0 or more, not -1"),
        ({"importance": {"cost": 1}}, "'cost'"),
        ({"metrics": 3}, "metrics must be a mapping"),
    ],
)
def test_what_is_refused(more, words):
    with pytest.raises((InputError, GuaranteeError), match=words):
        released(**more)


def test_a_recipe_states_the_space_alone():
    recipe = released(method="mdav").recipe
    assert recipe.to_dict()["space"] == "mixed"
    for more in ({"space": "mixed"}, {"importance": {"age": 1}}):
        with pytest.raises(InputError, match="use it without"):
            vr.anonymize(patients(), recipe=recipe, **more)


def test_from_the_command_line(tmp_path):
    patients().write_csv(tmp_path / "in.csv")
    out = tmp_path / "out.csv"
    words = [
        "anonymize",
        str(tmp_path / "in.csv"),
        "-o",
        str(out),
        "--key",
        ",".join(KEYS),
        "--other",
        "cost",
    ]
    words += [
        "--space",
        "mixed",
        "--metrics",
        "diagnosis=nominal",
        "--importance",
        "sex=3",
        "--method",
        "mdav",
    ]
    result = CliRunner().invoke(app, [*words, "--save-recipe", str(tmp_path / "r.toml")])
    assert result.exit_code == 0, result.output
    assert_k_anonymous(pl.read_csv(out).select(KEYS).rows(), 5)
    recipe = vr.Recipe.load(tmp_path / "r.toml")
    assert recipe.space == "mixed"
    assert recipe.metrics == {"diagnosis": "nominal"}
    assert recipe.importance == {"sex": 3}
    assert recipe.options is None
