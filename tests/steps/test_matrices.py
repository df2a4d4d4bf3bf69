"""PRAM by a matrix, invariant, by strata, once per unit; means of single confidential numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voronym.errors import InputError
from voronym.steps import parse_step, run
from voronym.steps.pram import invariant
from voronym.table.table import Table

N = 6000


def people(seed=1):
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south"], N)
    pilots = np.where(region == "north", 0.3, 0.02)
    job = np.where(rng.random(N) < pilots, "pilot", rng.choice(["clerk", "nurse"], N))
    return pl.DataFrame(
        {
            "hid": np.arange(N) // 3,
            "region": region,
            "job": job,
            "income": np.round(rng.lognormal(10, 0.5, N)),
            "rent": np.round(rng.lognormal(7, 0.5, N)),
        }
    )


def done(step, frame=None, **units):
    table = Table.build(people() if frame is None else frame, keys=["region"], drop_undeclared=True,
                        other=["job", "income", "rent"], **units)  # fmt: skip
    return run(table, [parse_step(step)], least=3, rng=np.random.default_rng(5))[0].frame.to_native()


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "chances.csv"
    path.write_text(";clerk;nurse;pilot\nclerk;0.8;0.2;0\nnurse;0.1;0.9;0\npilot;0.3;0.3;0.4\n")
    return path


def test_values_are_drawn_by_the_matrix(matrix):
    before, after = people(), done(f"pram job matrix={matrix}")
    pairs = before.with_columns(new=after["job"])
    chance = {"clerk": {"clerk": 0.8, "nurse": 0.2}, "pilot": {"clerk": 0.3, "nurse": 0.3, "pilot": 0.4}}
    for own, row in chance.items():
        some = pairs.filter(pl.col("job") == own)
        for new, p in row.items():
            assert abs((some["new"] == new).mean() - p) < 4 * np.sqrt(p * (1 - p) / len(some))
        assert set(some["new"]) == set(row)


def test_an_invariant_matrix_keeps_shares_and_a_plain_one_does_not(matrix):
    share = {job: (people()["job"] == job).mean() for job in ("clerk", "nurse", "pilot")}
    kept, plain = done(f"pram job matrix={matrix} invariant=true"), done(f"pram job matrix={matrix}")
    for job, p in share.items():
        assert abs((kept["job"] == job).mean() - p) < 5 * np.sqrt(p * (1 - p) / N)
    assert abs((plain["job"] == "pilot").mean() - share["pilot"]) > 0.05
    assert (kept["job"] != people()["job"]).mean() > 0.1
    P = np.array([[0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]])
    q = np.array([0.5, 0.3, 0.2])
    assert q @ invariant(P, q) == pytest.approx(q)


def test_strata_keep_their_own_shares():
    together, apart = done("pram job=0.9"), done("pram job=0.9 by=region")
    own = people().group_by("region").agg((pl.col("job") == "pilot").mean()).sort("region")["job"]
    for frame, kept in ((together, False), (apart, True)):
        result = frame.group_by("region").agg((pl.col("job") == "pilot").mean()).sort("region")["job"]
        assert bool((result - own).abs().max() < 0.04) is kept


def test_equal_values_of_a_household_are_drawn_once(matrix):
    frame = people().with_columns(job=pl.col("job").first().over("hid"))
    after = done(f"pram job matrix={matrix}", frame, household="hid")
    spread = frame.select("hid").with_columns(new=after["job"]).group_by("hid").agg(pl.col("new").n_unique())
    assert spread["new"].max() == 1


def test_means_of_a_single_number():
    before, after = people(), done("microaggregate income=5")
    assert after.group_by("income").len()["len"].min() >= 5
    assert abs(after["income"].sum() / before["income"].sum() - 1) < 1e-4
    assert np.corrcoef(before["income"], after["income"])[0, 1] > 0.99
    both = before.with_columns(new=after["income"]).group_by("new").agg(pl.col("income").mean())
    assert (both["new"] - both["income"]).abs().max() <= 1.0


def test_means_together_and_by_strata():
    after = done("microaggregate income,rent=4 together=true by=region")
    sizes = after.group_by("region", "income", "rent").len()["len"]
    assert sizes.min() >= 4
    alone = done("microaggregate income,rent=4")
    assert alone.group_by("income", "rent").len()["len"].min() == 1  # each column by itself


def test_refusals(matrix, tmp_path):
    with pytest.raises(InputError, match="give either a chance"):
        parse_step(f"pram job=0.2 matrix={matrix}")
    with pytest.raises(InputError, match="give either a chance"):
        parse_step("pram job")
    with pytest.raises(InputError, match="goes with a matrix"):
        parse_step("pram job=0.2 invariant=true")
    with pytest.raises(InputError, match="cannot be read"):
        done(f"pram job matrix={tmp_path / 'no.csv'}")
    (tmp_path / "few.csv").write_text(",clerk,nurse\nclerk,0.5,0.5\nnurse,0.5,0.5\n")
    with pytest.raises(InputError, match="a line of chances for each"):
        done(f"pram job matrix={tmp_path / 'few.csv'}")
    (tmp_path / "sum.csv").write_text(",clerk,nurse,pilot\nclerk,1,1,0\nnurse,0,1,0\npilot,0,0,1\n")
    with pytest.raises(InputError, match="add up to 1"):
        done(f"pram job matrix={tmp_path / 'sum.csv'}")
    with pytest.raises(InputError, match="fewer than 7000"):
        done("microaggregate income=7000")
