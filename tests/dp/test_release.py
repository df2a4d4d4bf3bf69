"""Private releases through the front door: what is promised, and what is told."""

import json
import math
import re
from collections import Counter

import polars as pl
import pytest

import voronym as vr
from cli.conftest import voronym  # noqa: F401 - a fixture
from dp.samples import BOUNDS, EVERYTHING, HIDDEN, people, release
from voronym.dp import Budget, caught
from voronym.report.html import render

pytestmark = pytest.mark.filterwarnings("ignore:Only the keys are private")


@pytest.mark.parametrize("grouping", ["auto", "individual", "order", "tree"])
@pytest.mark.parametrize("delta", ["", ",delta=1e-6"])
def test_every_grouping_releases(grouping, delta):
    made = release(models=f"dp=1{delta}", options={"grouping": grouping})
    table = made.table
    assert len(table) == 400
    assert table.columns == ["age", "sex", "ill"]
    assert table["age"].dtype == pl.Int64
    assert table["age"].is_between(0, 120).all()
    assert set(table["sex"]) <= {"f", "m"}
    assert sorted(table["ill"]) == sorted(people()["ill"])  # kept, in another order
    assert [finding.model for finding in made.findings] == ["dp"]
    spent = made.figures.private.spent
    total = 1.0 if not delta else Budget(1.0, 1e-6).rho
    assert 0.9 * total < sum(spent.values()) <= total * (1 + 1e-9)


def test_k_is_kept_in_what_is_published():
    for grouping in ("individual", "order", "tree"):
        made = release(k=30, options={"grouping": grouping})
        classes = Counter(made.table.select("age", "sex").rows())
        assert min(classes.values()) >= 30
        assert [finding.model for finding in made.findings] == ["k-anonymity", "dp"]


def test_all_columns_are_masked_where_all_are_asked_for():
    bounds = {
        **BOUNDS,
        "ill": ["flu", "cold", "gout"],
        "born": ("1940-01-01", "2020-12-31"),
        "pay": "0..200000",
    }
    made = release(
        keys=["age", "sex", "born", "grade"],
        confidential=["ill", "pay"],
        orders={"grade": ["low", "mid", "high"]},
        models="dp=2,scope=all",
        bounds=bounds,
    )
    table = made.table
    cells = table.n_unique()
    assert cells <= made.figures.private.cells["groups"]
    assert cells < 40
    assert table["born"].dtype == pl.Date
    assert set(table["grade"]) <= {"low", "mid", "high"}
    assert table["pay"].is_between(0, 200_000).all()
    assert all(round(pay % 1, 6) == 0 or round(pay * 10 % 1, 6) == 0 for pay in table["pay"])  # a public grid
    assert not any("themselves" in note for note in made.warnings)


def test_what_is_published_does_not_follow_one_person():
    """Nobody's own value can be in the release: an outlier at the bound moves a mean, and no more."""
    frame = people().with_columns(pl.when(pl.int_range(pl.len()) == 7).then(120).otherwise(40).alias("age"))
    seen = [release(frame, keys=["age"], bounds={"age": (0, 120)}).table["age"].max() for _ in range(5)]
    assert sorted(seen)[2] < 120  # noise alone takes a mean to the bound now and then


def test_a_release_is_drawn_afresh_each_time():
    recipe = release().recipe
    assert recipe.seed is None
    frame = people().drop("home", "person")
    again = [vr.anonymize(frame, recipe=recipe).table["age"].sum() for _ in range(3)]
    assert len(set(again)) > 1


def test_the_recipe_holds_the_promise(tmp_path):
    made = release(models=vr.DifferentialPrivacy(0.5, delta=1e-6), options={"grouping": "individual"})
    made.recipe.save(tmp_path / "r.toml")
    again = vr.Recipe.load(tmp_path / "r.toml")
    assert again == made.recipe
    assert again.private == vr.DifferentialPrivacy(0.5, delta=1e-6)
    assert again.method == "dp"
    assert again.k is None


def test_numbers_outside_bounds_count_as_the_bound():
    with pytest.warns(UserWarning, match="were outside its bounds"):
        made = release(bounds={"age": (30, 60), "sex": ["f", "m"]})
    assert made.table["age"].is_between(30, 60).all()


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_other_libraries(backend):
    plain = people().drop("home", "person")
    frame = plain.to_pandas() if backend == "pandas" else plain.to_arrow()
    table = release(
        frame, keys=["age", "sex", "born"], bounds={**BOUNDS, "born": ("1940-01-01", "2020-12-31")}
    )
    assert len(pl.DataFrame(table.table)) == 400


# -- units -----------------------------------------------------------------------------------------------


def test_units_share_the_budget():
    first, second = release(), release(person="person", models="dp=1,rows=2")
    facts = second.figures.private
    assert (facts.unit, facts.rows) == ("person", 2)
    assert facts.size == 2 * first.figures.private.size  # half the ε for a row
    assert release(household="home", models="dp=1,rows=3").figures.private.unit == "household"


def test_k_counts_people():
    made = release(person="person", models="dp=4,rows=2", k=10)
    assert made.risk.k >= 10


# -- the number of rows is private, too -------------------------------------------------------------------


@pytest.mark.parametrize("rows", [383, 400, 417])
@pytest.mark.parametrize("grouping", ["individual", "order", "tree"])
def test_as_many_rows_as_the_count_says(rows, grouping, count):
    count(rows)
    made = release(models=HIDDEN, bounds=EVERYTHING, k=20, options={"grouping": grouping})
    assert len(made.table) == made.rows == rows
    assert min(Counter(made.table.select("age", "sex").rows()).values()) >= 20
    spent = made.figures.private.spent
    assert spent["number of rows"] == pytest.approx(0.05)
    assert sum(spent.values()) <= 1.0 + 1e-9
    assert made.figures.private.relation == "add-remove"


def test_the_public_page_does_not_tell_the_number_of_rows(count):
    count(1219)
    made = release(people(1237), models=HIDDEN, bounds=EVERYTHING)
    public = " ".join(re.sub(r"<[^>]+>", " ", render(made, audience="public")).split())
    assert "1,219" in public
    assert not re.search("1,?237", public)
    assert "one row is added, removed, or has other values" in public
    assert not any(
        "400" in json.dumps(item, default=str)
        for item in (made.figures.to_dict(), made.public_warnings, made.log)
    )
    inside = " ".join(re.sub(r"<[^>]+>", " ", render(made)).split())
    assert "on releases of halves of this table" not in public
    assert "What ε means here" in inside


def test_people_come_and_go_with_all_their_rows(count):
    count(431)
    given = {
        "person": "person",
        "models": "dp=2,rows=2,scope=all,neighbours=add-remove",
        "bounds": EVERYTHING,
    }
    made = release(k=10, **given)
    assert made.rows == 431
    assert made.risk.k >= 10
    assert made.figures.private.spent["number of rows"] == pytest.approx(0.1)
    assert "that no person has more than 2 rows" in made.figures.private.not_private


@pytest.mark.parametrize("rows", [371, 420])
def test_everybody_is_booked_whoever_is_left_out(rows, count, tmp_path):
    count(rows)
    ledger = tmp_path / "l.ledger"
    release(
        models=HIDDEN, bounds=EVERYTHING, identifiers=["name"], ledger=ledger,
        output=tmp_path / "1.csv",
    )  # fmt: skip
    (entry,) = vr.history.Ledger(ledger).entries
    assert len(entry.people) == 400
    assert entry.about["dp"]["relation"] == "add-remove"
    assert len(pl.read_csv(tmp_path / "1.csv")) == rows


@pytest.mark.parametrize("rows", [371, 420])
def test_a_noisy_count_over_parts(rows, count, tmp_path):
    count(rows)
    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    vr.anonymize(
        data, output=tmp_path / "out", keys=["age", "sex"], confidential=["ill"], drop_undeclared=True,
        models=HIDDEN, bounds=EVERYTHING, leaf=100, workers=1,
    )  # fmt: skip
    assert len(pl.read_parquet(tmp_path / "out" / "*.parquet")) == rows


# -- what is told ----------------------------------------------------------------------------------------


def test_pages_name_the_promise():
    made = release(people(1000), models="dp=1,delta=1e-6")
    public = " ".join(re.sub(r"<[^>]+>", " ", render(made, audience="public")).split())
    for text in (
        "What ε means here", "ε = 1, δ = 1e-06", "for each row", "are replaced, and the number of rows stays",
        "0 to 120", "f, m", "declared", "What is not private", "the number of rows, 1,000", "odds move",
        "ill: published unchanged",
    ):  # fmt: skip
        assert text in public, text
    assert "lost" not in re.findall(r"What ε means here.*What is not private", public)[0]
    inside = " ".join(re.sub(r"<[^>]+>", " ", render(made)).split())
    assert "found" in inside
    assert "on releases of halves of this table" in inside
    assert "on releases of halves" not in public


def test_the_bound_on_tests():
    assert caught(1.0, 0.0) == pytest.approx(0.01 * math.e)
    assert caught(100.0, 0.0) <= 1.0
    assert caught(1e-9, 0.0) == pytest.approx(0.01)


def test_the_attack_stays_below_the_bound():
    made = release(people(2000), models="dp=1,scope=all", bounds={**BOUNDS, "ill": ["flu", "cold", "gout"]})
    result = made.dossier().inside.membership
    assert result < caught(1.0, 0.0) + 0.02  # a chance of 80 records in 4 halves
