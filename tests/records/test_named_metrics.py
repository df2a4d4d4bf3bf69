"""Metrics from texts, as they stand in a recipe or on the command line."""

import json
import warnings

import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError, ReadError
from voronym.records.fields import make_fields
from voronym.table import Table

TABLE = pl.DataFrame(
    {
        "hour": [1, 23, 12],
        "tags": ["a,b", "b", "c"],
        "size": ["s", "l", "m"],
        "ill": ["flu", "asthma", "stroke"],
    }
)
SCHEMA = vr.Schema.build(TABLE, keys=["hour", "tags", "size", "ill"], kinds={"size": "nominal"})
TREE = {"flu": ["lung", "*"], "asthma": ["lung", "*"], "stroke": ["brain", "*"]}


def distances(column, choice):
    (field,), _ = make_fields(Table.of(TABLE, SCHEMA), [column], {column: choice})
    return field.distance(field.codes[[0, 0]], field.codes[[1, 2]]).tolist()


def test_a_name_with_what_it_needs(tmp_path):
    assert distances("hour", "circular=24") == [2.0, 11.0]
    assert distances("tags", "overlap=,") == [0.5, 1.0]
    assert distances("size", "rank=s<m<l") == [2.0, 1.0]
    file = tmp_path / "tree=1.csv"
    file.write_text("flu;lung;*\nasthma;lung;*\nstroke;brain;*\n", encoding="utf-8")
    assert distances("ill", f"taxonomy={file}") == distances("ill", TREE) == [0.5, 1.0]
    labels = ["flu", "asthma", "stroke"]
    assert distances("ill", [labels, [[0, 3, 4], [3, 0, 5], [4, 5, 0]]]) == [3.0, 4.0]


@pytest.mark.parametrize(
    ("column", "choice", "says"),
    [
        ("hour", "circular=often", "period must be a number"),
        ("hour", "circular", "period above 0"),
        ("hour", "absolute=3", "takes nothing after its name"),
        ("ill", "taxonomy", "needs more than its name"),
        ("ill", "fuzzy=1", "no metric is called 'fuzzy'"),
    ],
)
def test_what_cannot_be_meant(column, choice, says):
    with pytest.raises(InputError, match=says):
        distances(column, choice)


def test_a_hierarchy_that_is_not_there():
    with pytest.raises(ReadError, match=r"none\.csv"):
        distances("ill", "taxonomy=none.csv")


def test_a_recipe_keeps_them():
    recipe = vr.Recipe(SCHEMA, k=None, method="records", seed=None,
                       metrics={"ill": TREE, "hour": "circular=24"})  # fmt: skip
    assert vr.Recipe.from_toml(recipe.to_toml()) == recipe


def test_a_metric_that_is_an_object_works_and_a_file_is_named_instead(tmp_path):
    table = vr.datasets.hospital(120, seed=2).select("age", "diagnosis", "cost")
    tree = vr.records.Taxonomy(vr.datasets.hospital_taxonomy())
    roles = {"keys": ["age", "diagnosis"], "confidential": ["cost"]}
    for more in ({"space": "mixed", "method": "mdav"}, {"method": "records", "seed": 1}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a seed is a secret
            release = vr.anonymize(table, **roles, metrics={"diagnosis": tree}, **more)
        assert release.figures.columns["diagnosis"].metric == "taxonomy"
        release.report(tmp_path / "r.html")
        assert json.loads(json.dumps(release.to_dict()))["inside"]["recipe"]["metrics"] == {
            "diagnosis": "Taxonomy object"
        }
        for name in ("r.toml", "r.json"):
            with pytest.raises(
                InputError, match=r"of 'diagnosis' is an object \(Taxonomy\).*'taxonomy=tree.csv'"
            ):
                release.recipe.save(tmp_path / name)
            assert not (tmp_path / name).exists()
