"""Private releases through the front door: what is promised, what is refused, and what is told."""

import json
import math
import re
from collections import Counter
from threading import Thread

import numpy as np
import polars as pl
import pytest

import voronym as vr
from cli.test_cli import voronym  # noqa: F401 - a fixture
from voronym.dp import Budget, Spent, caught
from voronym.report.html import render

pytestmark = pytest.mark.filterwarnings("ignore:Only the keys by themselves")

BOUNDS = {"age": (0, 120), "sex": ["f", "m"]}


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "born": pl.date_range(pl.date(1950, 1, 1), pl.date(2010, 1, 1), "1d", eager=True).sample(
                n, seed=seed
            ),
            "grade": np.array(["low", "mid", "high"])[rng.integers(0, 3, n)],
            "pay": np.round(rng.gamma(2.0, 15_000.0, n), 2).clip(0, 200_000),
            "ill": np.array(["flu", "cold", "gout"])[rng.integers(0, 3, n)],
            "home": [f"h{i // 3}" for i in range(n)],
            "person": [f"q{i // 2}" for i in range(n)],
        }
    )


def release(frame=None, **choices):
    given = {
        "keys": ["age", "sex"],
        "confidential": ["ill"],
        "drop_undeclared": True,
        "models": "dp=1",
        "bounds": BOUNDS,
    }
    asked = {**given, **choices}
    frame = people() if frame is None else frame
    units = [asked.get("person"), asked.get("household"), *asked.get("identifiers", ())]
    extra = [name for name in ("home", "person") if name not in units]
    if isinstance(frame, pl.DataFrame):  # a column that repeats is asked about
        frame = frame.drop(extra, strict=False)
    return vr.anonymize(frame, **asked)


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
    assert [one.model for one in made.findings] == ["dp"]
    spent = made.figures.private.spent
    total = 1.0 if not delta else Budget(1.0, 1e-6).rho
    assert 0.9 * total < sum(spent.values()) <= total * (1 + 1e-9)


def test_k_is_kept_in_what_is_published():
    for grouping in ("individual", "order", "tree"):
        made = release(k=30, options={"grouping": grouping})
        classes = Counter(made.table.select("age", "sex").rows())
        assert min(classes.values()) >= 30
        assert [one.model for one in made.findings] == ["k-anonymity", "dp"]


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
    one, two = release(), release(person="person", models="dp=1,rows=2")
    facts = two.figures.private
    assert (facts.unit, facts.rows) == ("person", 2)
    assert facts.size == 2 * one.figures.private.size  # half the ε for a row
    assert release(household="home", models="dp=1,rows=3").figures.private.unit == "household"


def test_k_counts_people():
    made = release(person="person", models="dp=4,rows=2", k=10)
    assert made.risk.k >= 10


# -- the number of rows is private, too -------------------------------------------------------------------

EVERYTHING = {**BOUNDS, "ill": ["flu", "cold", "gout"]}
HIDDEN = "dp=1,scope=all,neighbours=add-remove"


@pytest.fixture
def count(monkeypatch):
    """What the noisy count says."""

    def say(rows):
        monkeypatch.setattr("voronym.dp.presence.noisy", lambda *_, **__: (np.array([rows]), 1.0))

    return say


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


# -- what is refused -------------------------------------------------------------------------------------

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
    "rows of people": ({"person": "person"}, "the most that any person may have"),
    "too many rows": ({"person": "person", "models": "dp=1,rows=1"}, "have more than 1 rows"),
    "another method": ({"method": "mdav"}, "leave out the method"),
    "the method alone": ({"models": (), "bounds": None, "method": "dp"}, "needs the model"),
    "bounds alone": ({"models": ()}, "give the model, too"),
    "another model": ({"models": ["dp=1", "l-diversity=2"]}, "cannot be had with other models"),
    "twice": ({"models": ["dp=1", "dp=2"]}, "a release has one ε"),
    "a seed": ({"seed": 3}, "seed cannot be had with dp"),
    "steps": ({"steps": ["top age=1%"]}, "cannot be had with dp: it looks at other rows"),
    "strata": ({"strata": ["sex"], "models": "dp=1,scope=all"}, "a stratum is published as it is"),
    "suppress": ({"suppress": "1%"}, "suppress cannot be had with dp"),
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
    one = people().head(1)
    assert len(release(one).table) == 1
    few = people().head(5)
    for grouping in ("individual", "order", "tree"):
        assert len(release(few, options={"grouping": grouping}).table) == 5


def test_no_table_shows_it():
    found = vr.measure(people(), keys=["age"], models="dp=1")
    (finding,) = [one for one in found.findings if one.model == "dp"]
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


# -- over parts, and by the command line -----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:other column 'pay'")
@pytest.mark.parametrize("scope", ["keys", "all"])
def test_over_parts(scope, tmp_path):
    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    bounds = {**BOUNDS, "ill": ["flu", "cold", "gout"], "pay": (0, 200_000)}
    made = vr.anonymize(
        data, output=tmp_path / "out", keys=["age", "sex"], confidential=["ill"], other=["pay"],
        drop_undeclared=True, models=f"dp=1,scope={scope}", bounds=bounds, leaf=100, workers=1,
    )  # fmt: skip
    table = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert len(table) == 400
    assert [one.model for one in made.findings] == ["dp"]
    true = set(frame["pay"].to_list())
    kept = [pay in true for pay in table["pay"]]
    assert all(kept) if scope == "keys" else not any(kept)


def fixed_noise(monkeypatch, seed=5):
    """Noise that is the same in every run: a fixed row of numbers on what is true."""
    from dp.oracle import ROOMS

    def noisy(values, total, length, share, *, pure):
        values = np.asarray(values)
        return values + np.random.default_rng(seed).integers(-9, 10, values.shape), 30.0

    def largest(scores, share, *, sensitivity=1, pure):
        return np.argmax(np.asarray(scores), axis=1)

    for room in ROOMS:
        monkeypatch.setattr(room, "noisy", noisy)
        if hasattr(room, "largest"):
            monkeypatch.setattr(room, "largest", largest)


ALIKE = {
    "individual": {"files": 3},
    "order": {"files": 4},
    "tree by two workers": {"files": 4, "workers": 2},
    "tree of medians": {"files": 7, "publish": {"age": "median"}},
    "tree, fewer rows": {"files": 5, "rows": 371},
    "order, fewer rows": {"files": 2, "rows": 371},
    "individual, more rows": {"files": 4, "rows": 420},
    "tree on Dask": {"files": 4, "engine": "dask", "workers": 2},
}


@pytest.mark.filterwarnings("ignore:Dask's dashboard")
@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[pytest.mark.slow] if "Dask" in name else []) for name in ALIKE]
)
def test_over_parts_it_is_the_release_of_memory(case, monkeypatch, tmp_path, count):
    """With the same noise a table in some files publishes row for row what it publishes in memory."""
    how = {"workers": 1, **ALIKE[case]}
    files, rows = how.pop("files"), how.pop("rows", None)
    fixed_noise(monkeypatch)
    if rows is not None:
        count(rows)
        monkeypatch.setattr("voronym.dp.presence.secrets.randbits", lambda _: 12345)
    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(files):
        frame[part::files].write_parquet(data / f"{part}.parquet")
    frame.head(0).write_parquet(data / "empty.parquet")
    asked = {
        "keys": ["age", "sex"], "confidential": ["ill"], "drop_undeclared": True,
        "models": "dp=1,scope=all" if rows is None else HIDDEN, "bounds": EVERYTHING,
        "options": {"grouping": case.split()[0].rstrip(",")}, "k": 20, "publish": how.pop("publish", None),
    }  # fmt: skip
    memory = vr.anonymize(frame, **asked)
    made = vr.anonymize(data, output=tmp_path / "out", leaf=50, **how, **asked)
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert sorted(written.rows()) == sorted(memory.table.rows())
    assert written.n_unique() > 3
    assert made.figures.private == memory.figures.private
    # who goes to another cell is drawn in each run, and the loss with it
    assert made.information_loss == pytest.approx(memory.information_loss, rel=0.3)
    assert [change.records for change in made.changes] == [change.records for change in memory.changes]


@pytest.mark.parametrize("after", [0, 2], ids=["before rows were sent", "between pieces"])
def test_what_goes_on_publishes_one_draw(after, monkeypatch, tmp_path):
    """A run that was broken off and goes on never mixes two draws: both together would tell more than ε."""
    from voronym.run.parts import private

    frame, data = people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    asked = {
        "keys": ["age", "sex"], "confidential": ["ill"], "drop_undeclared": True,
        "models": "dp=1,scope=all", "bounds": EVERYTHING, "k": 20,
    }  # fmt: skip
    fixed_noise(monkeypatch, seed=5)
    memory = vr.anonymize(frame, **asked)
    sent, send = [], private.send

    def broken(*given):
        if len(sent) == after:
            raise KeyboardInterrupt
        sent.append(send(*given))

    with monkeypatch.context() as patch:
        patch.setattr(private, "send", broken)
        with pytest.raises((KeyboardInterrupt, vr.VoronymError)):
            vr.anonymize(data, output=tmp_path / "out", leaf=50, workers=1, resume=True, **asked)
    assert len(sent) == after
    assert not (tmp_path / "out").exists()
    fixed_noise(monkeypatch, seed=6)
    vr.anonymize(data, output=tmp_path / "out", leaf=50, workers=1, resume=True, **asked)
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert sorted(written.rows()) == sorted(memory.table.rows())


@pytest.mark.parametrize("private", [True, False], ids=["dp", "k"])
def test_no_other_release_comes_between_the_check_and_the_entry(private, monkeypatch, tmp_path):
    """A release over parts was checked against a ledger in which another one was entered meanwhile."""
    from voronym.run.parts.engine import Engine

    ledger, frame, data = tmp_path / "l.ledger", people().drop("home", "person"), tmp_path / "data"
    data.mkdir()
    for part in range(4):
        frame[part::4].write_parquet(data / f"{part}.parquet")
    asked = {"keys": ["age", "sex"], "confidential": ["ill"], "identifiers": ["name"], "ledger": ledger}
    asked |= {"drop_undeclared": True}
    asked |= {"models": "dp=1,scope=all", "bounds": EVERYTHING} if private else {"k": 5}
    written = Engine._written

    def late(self, *given):
        other = Thread(
            target=vr.anonymize, args=[frame], kwargs={"output": tmp_path / "meanwhile.csv", **asked}
        )
        other.start()
        other.join()
        return written(self, *given)

    monkeypatch.setattr(Engine, "_written", late)
    with pytest.raises(vr.VoronymError, match="was entered in the ledger meanwhile"):
        vr.anonymize(data, output=tmp_path / "out", leaf=100, workers=1, **asked)
    assert len(vr.history.Ledger(ledger).entries) == 1
    assert not (tmp_path / "out").exists()


def test_on_the_command_line(tmp_path, voronym):  # noqa: F811
    people().drop("home", "person").write_csv(tmp_path / "t.csv")
    words = [
        "anonymize", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.csv"), "--key", "age,sex",
        "--confidential", "ill", "--drop-undeclared", "--model", "dp=1.0", "--bounds", "age=0..120",
        "--bounds", "sex=f|m", "--grouping", "individual",
    ]  # fmt: skip
    code, out, err = voronym(*words)
    assert code == 0, err
    assert "ε = 1" in out + err
    assert len(pl.read_csv(tmp_path / "o.csv")) == 400
    code, _, err = voronym(*words[:-4], "--overwrite")
    assert code == 2
    assert "values that 'sex' may have are not declared" in err


# -- what is told ----------------------------------------------------------------------------------------


def test_pages_name_the_promise():
    made = release(people(1000), models="dp=1,delta=1e-6")
    public = " ".join(re.sub(r"<[^>]+>", " ", render(made, audience="public")).split())
    for text in (
        "What ε means here", "ε = 1, δ = 1e-06", "for each row", "are replaced, and the number of rows stays",
        "0 to 120", "f, m", "declared", "What is not private", "the number of rows, 1,000", "odds move",
        "ill: published as they were",
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
    found = made.dossier().inside.membership
    assert found < caught(1.0, 0.0) + 0.02  # a chance of 80 records in 4 halves
