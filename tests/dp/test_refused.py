"""What a private release refuses, and what several of them cost together."""

import json
import math
import re

import polars as pl
import pytest

import voronym as vr
from cli.conftest import voronym  # noqa: F401 - a fixture
from dp.samples import BOUNDS, people, release
from voronym.dp import Spent

pytestmark = pytest.mark.filterwarnings("ignore:Only the keys are private")


BAD = {
    "bounds missing": ({"bounds": {"sex": ["f", "m"]}}, "bounds of 'age' are not declared"),
    "a domain missing": ({"bounds": {"age": (0, 120)}}, "values that 'sex' may have are not declared"),
    "ε of 0": ({"models": "dp=0"}, "epsilon must be a number above 0"),
    "ε below 0": ({"models": "dp=-1"}, "epsilon must be a number above 0"),
    "ε infinite": ({"models": "dp=inf"}, "epsilon must be a number above 0"),
    "no ε": ({"models": "dp"}, "say how much is promised"),
    "δ of 1": ({"models": "dp=1,delta=1"}, "below 1"),
    "δ below 0": ({"models": "dp=1,delta=-1"}, "delta must be a number"),
    "no scope": ({"models": "dp=1,scope=some"}, "scope must be 'keys' or 'all'"),
    "ends turned": ({"bounds": {**BOUNDS, "age": (120, 0)}}, "the lower first"),
    "ends alike": ({"bounds": {**BOUNDS, "age": (5, 5)}}, "two different ends"),
    "one end": ({"bounds": {**BOUNDS, "age": [5]}}, "two ends"),
    "ends as words": ({"bounds": {**BOUNDS, "age": "young..old"}}, "must be numbers"),
    "an infinite end": ({"bounds": {**BOUNDS, "age": (0, math.inf)}}, "two different ends"),
    "a column that is not there": ({"bounds": {**BOUNDS, "zip": (0, 9)}}, "no such column"),
    "a category outside": ({"bounds": {**BOUNDS, "sex": ["f"]}}, "not in its declared domain"),
    "rows of people": ({"person": "person"}, "state the largest number of rows of a person"),
    "too many rows": ({"person": "person", "models": "dp=1,rows=1"}, "have more than 1 rows"),
    "another method": ({"method": "mdav"}, "leave out the method"),
    "the method alone": ({"models": (), "bounds": None, "method": "dp"}, "needs the model"),
    "bounds alone": ({"models": ()}, "give the model, too"),
    "another model": ({"models": ["dp=1", "l-diversity=2"]}, "does not go with other models"),
    "twice": ({"models": ["dp=1", "dp=2"]}, "a release has one ε"),
    "a seed": ({"seed": 3}, "seed does not go with dp"),
    "steps": ({"steps": ["top age=1%"]}, "does not go with dp: it looks at other rows"),
    "strata": ({"strata": ["sex"], "models": "dp=1,scope=all"}, "a stratum is published as it is"),
    "suppress": ({"suppress": "1%"}, "suppress does not go with dp"),
    "publish": ({"publish": "median", "options": {"grouping": "order"}}, "publishes means, and no medians"),
    "pseudonyms": ({"person": "person", "pseudonyms": True, "models": "dp=1,rows=2"}, "pseudonyms show"),
    "an unknown relation": ({"models": "dp=1,neighbours=remove"}, "neighbours must be"),
    "a row more beside true values": ({"models": "dp=1,neighbours=add-remove"}, "show it (ill)"),
    "a noisy count of nothing": (
        {
            "models": "dp=1e-5,scope=all,neighbours=add-remove",
            "bounds": {**BOUNDS, "ill": ["flu", "cold", "gout"]},
        },
        "noise on the number of rows",
    ),
    "a grouping": ({"options": {"grouping": "mdav"}}, "no insensitive grouping is called"),
    "k of too many": ({"k": 4000}, "cannot be reached"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(name, tmp_path):
    choices, message = BAD[name]
    with pytest.raises(vr.VoronymError, match=re.escape(message)) as caught_:
        release(output=tmp_path / "out.csv", identifiers=["name"], ledger=tmp_path / "l.ledger", **choices)
    assert "\n" not in str(caught_.value)
    assert not (tmp_path / "out.csv").exists()
    if (tmp_path / "l.ledger").exists():
        assert len(vr.history.Ledger(tmp_path / "l.ledger")) == 0


@pytest.mark.parametrize(
    ("value", "message"), [(None, "are missing"), (math.nan, "are missing"), (math.inf, "infinite")]
)
def test_gaps_and_infinities(value, message, tmp_path):
    frame = people().with_columns(pl.Series("pay", [value, *people()["pay"][1:]], dtype=pl.Float64))
    given = {"output": tmp_path / "out.csv", "identifiers": ["name"], "ledger": tmp_path / "l.ledger"}
    with pytest.raises(vr.VoronymError, match=message):
        release(frame, keys=["pay", "sex"], bounds={"pay": (0, 2e5), "sex": ["f", "m"]}, **given)
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "l.ledger").exists() or not len(vr.history.Ledger(tmp_path / "l.ledger"))


def test_one_row_and_many_columns():
    single = people().head(1)
    assert len(release(single).table) == 1
    few = people().head(5)
    for grouping in ("individual", "order", "tree"):
        assert len(release(few, options={"grouping": grouping}).table) == 5


def test_no_table_shows_it():
    measured = vr.measure(people(), keys=["age"], models="dp=1")
    (finding,) = [item for item in measured.findings if item.model == "dp"]
    assert not finding.holds
    assert finding.value == math.inf


# -- adding up -------------------------------------------------------------------------------------------


def test_costs_add_up_and_a_budget_refuses(tmp_path, voronym):  # noqa: F811
    ledger = tmp_path / "l.ledger"
    everything = {"models": "dp=1,scope=all", "bounds": {**BOUNDS, "ill": ["flu", "cold", "gout"]}}
    given = {**everything, "identifiers": ["name"], "ledger": ledger}
    release(output=tmp_path / "1.csv", **given)
    assert voronym("ledger", "budget", str(ledger), "--epsilon", "2")[0] == 0
    release(output=tmp_path / "2.csv", **given)
    with pytest.raises(vr.GuaranteeError, match=r"budget of the ledger is ε = 2.*would be 3"):
        release(output=tmp_path / "3.csv", **given)
    assert not (tmp_path / "3.csv").exists()
    new = people(seed=9).with_columns(pl.format("new {}", "name").alias("name"))
    release(new, output=tmp_path / "4.csv", strangers=True, **given)  # other people have spent nothing
    code, out, err = voronym("ledger", "show", str(ledger))
    assert code == 0
    assert "spent: up to ε = 2 by a person; the budget is ε = 2" in " ".join((out + err).split())
    rows = json.loads(voronym("ledger", "show", str(ledger), "--json")[1])
    assert [row["epsilon"] for row in rows] == [1.0, 1.0, 1.0]
    assert rows[0]["rho"] == 0.5


def test_rho_adds_up_to_less_than_epsilon(tmp_path):
    from voronym.history.epsilon import Limit, set_limit

    many = Spent.of([(0.1, 0.0, 0.1**2 / 2)] * 100)
    assert many.at(0.0) == pytest.approx(10.0)
    assert many.at(1e-6) < 6.0
    ledger = vr.history.Ledger.open(tmp_path / "l.ledger")
    set_limit(ledger, Limit(1.0))
    with pytest.raises(vr.GuaranteeError, match="would be infinite"):  # a δ is never in a budget without one
        release(models="dp=0.5,delta=1e-6", identifiers=["name"], ledger=ledger.path)


def test_a_release_and_groups_are_in_one_ledger(tmp_path):
    ledger = tmp_path / "l.ledger"
    given = {"identifiers": ["name"], "ledger": ledger}
    release(models=(), bounds=None, k=5, output=tmp_path / "1.csv", **given)
    bounds = {**BOUNDS, "ill": ["flu", "cold", "gout"]}
    release(models="dp=1,scope=all", bounds=bounds, output=tmp_path / "2.csv", **given)
    entries = vr.history.Ledger(ledger).entries
    assert [entry.about.get("dp", {}).get("epsilon") for entry in entries] == [None, 1.0]
    assert [entry.k for entry in entries] == [5, 1]


def test_a_person_with_more_rows_than_are_protected_is_not_booked(tmp_path):
    with pytest.raises(vr.InputError, match="protects 1 together"):
        release(identifiers=["person"], ledger=tmp_path / "l.ledger")
