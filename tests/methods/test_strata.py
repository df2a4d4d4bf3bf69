"""Groups that do not cross strata: k and models within each, by code of its own."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.cli import app
from voronym.errors import GuaranteeError, InputError


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
    age = rng.integers(20, 80, n)
    ill = np.where(rng.random(n) < (0.6 * (region == "west") + 0.2), "flu", rng.choice(["none", "asthma"], n))
    return pl.DataFrame({"region": region, "age": age, "pay": rng.integers(1, 100, n), "ill": ill})


def made(frame=None, **more):
    roles = {"keys": ["region", "age", "pay"], "confidential": ["ill"], "k": 4, "method": "mdav", **more}
    return vr.anonymize(people() if frame is None else frame, strata=["region"], **roles)


def test_groups_are_those_of_each_stratum_alone():
    frame = people()
    release = made(frame)
    rows = sorted(release.table.select("region", "age", "pay").rows())
    assert Counter(release.table["region"]) == Counter(frame["region"])
    sizes = Counter(rows)
    assert min(sizes.values()) >= 4
    by = defaultdict(set)
    for size in sizes:
        by[size[0]].add(size)
    assert set(by) == {"north", "south", "west"}
    output = release.dossier().inside.strata
    assert {size.label: size.records for size in output} == dict(Counter(frame["region"]))
    X = vr.standardize(frame.select("age", "pay").to_numpy())  # of the whole table, as the release does
    for size in output:
        here = X[(frame["region"] == size.label).to_numpy()]
        part = vr.microaggregate(here, 4, method="mdav")
        assert size.loss == pytest.approx(vr.information_loss(here, part))
        assert size.groups == part.n_cells
        assert size.smallest == part.sizes.min()


def test_closeness_holds_in_every_stratum_by_hand():
    release = made(models=["t-closeness=0.35"])
    table = release.table
    worst = 0.0
    for region in table["region"].unique():
        here = table.filter(pl.col("region") == region)
        shares = Counter(here["ill"])
        for _, group in here.group_by("age", "pay"):
            own = Counter(group["ill"])
            off = sum(abs(own[cost] / len(group) - shares[cost] / len(here)) for cost in shares) / 2
            worst = max(worst, off)
    assert worst <= 0.35 + 1e-9
    match = next(cost for cost in release.findings if cost.model == "t-closeness")
    assert match.value == pytest.approx(worst)
    assert "the worst of 3 strata" in match.about
    X, part = release._evidence.X, release._evidence.partition
    costs = {cost.guarantee: cost.loss for cost in release.costs}
    assert costs["t-closeness=0.35"] == pytest.approx(vr.information_loss(X, part))
    assert 0 < costs["k-anonymity=4"] <= costs["t-closeness=0.35"]


@pytest.mark.filterwarnings("ignore:key .* changes from row to row")
def test_what_strata_cannot_be():
    with pytest.raises(InputError, match="'ill' is no key"):
        vr.anonymize(people(), keys=["age"], confidential=["ill"], other=["pay", "region"], strata=["ill"])
    few = people().with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("isle")).otherwise("region").alias("region")
    )
    with pytest.raises(GuaranteeError, match="1 of the 4 strata by region have fewer than k=4"):
        made(few)  # k - 1 records
    several = people().with_columns((pl.int_range(pl.len()) // 2).alias("who"))
    release = made(several, person="who")
    assert all(rows["region"].n_unique() == 1 for _, rows in release.table.group_by("region", "age", "pay"))


def test_the_command_line_and_the_recipe(tmp_path):
    people().write_csv(tmp_path / "p.csv")
    words = ["anonymize", str(tmp_path / "p.csv"), "-o", str(tmp_path / "r.csv"), "--key", "region,age,pay",
             "--confidential", "ill", "-k", "4", "--method", "mdav", "--strata", "region",
             "--save-recipe", str(tmp_path / "r.toml"), "--report", str(tmp_path / "r.html")]  # fmt: skip
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert vr.Recipe.load(tmp_path / "r.toml").strata == ("region",)
    assert "Each stratum by itself" in (tmp_path / "r.html").read_text()
    assert "within each of 3 strata" in " ".join(result.output.split())


def test_importance_is_a_scale_of_the_coordinates():
    frame = people(200, seed=3)
    X = vr.standardize(frame.select("age", "pay").to_numpy())
    plain, weighed = (
        vr.anonymize(frame.drop("region", "ill"), keys=["age", "pay"], k=5, method="mdav", **more)
        for more in ({}, {"importance": {"age": 25}})
    )
    part = vr.microaggregate(X * [5.0, 1.0], 5, method="mdav")
    wanted = sorted(np.round([frame["age"].to_numpy()[part.labels == loss].mean() for loss in part.labels]))
    assert sorted(weighed.table["age"].to_list()) == wanted
    losses = [
        {loss.key: loss.published for loss in made.dossier().inside.losses} for made in (plain, weighed)
    ]
    assert losses[1]["age"] < 0.5 * losses[0]["age"]
    assert losses[1]["pay"] > losses[0]["pay"]
    with pytest.raises(InputError, match="'aeg' is no key"):
        vr.anonymize(frame, keys=["age"], other=["region", "pay", "ill"], importance={"aeg": 2})
    with pytest.raises(InputError, match="above 0"):
        vr.anonymize(frame, keys=["age"], other=["region", "pay", "ill"], importance={"age": 0})
