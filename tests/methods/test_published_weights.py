"""What is published of sampling weights, and weighted regressions, against plain loops."""

from __future__ import annotations

import csv
import warnings
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voronym as vr
from voronym.errors import InputError
from voronym.evaluate.regression import weighted_fit


def survey(n=150, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.normal(50, 9, n), 1), np.round(rng.lognormal(3, 1, n), 1)
    w = rng.integers(100, 90_000, n) if whole else np.round(rng.uniform(10, 900, n), 2)
    return pl.DataFrame(
        {
            "region": rng.choice(["a", "b"], n), "x": x, "y": y, "w": w,
            "pay": np.round(2 * x - y + rng.normal(0, 5, n)), "ill": rng.choice(["no", "yes"], n),
        }
    )  # fmt: skip


def made(frame, k=4, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(
            frame, keys=["region", "x", "y"], confidential=["pay", "ill"], other=["w"], k=k, method="mdav",
            weights="w", **choices,
        )  # fmt: skip


@pytest.mark.parametrize("whole", [False, True])
def test_weights_that_single_out_become_the_mean_of_their_group(whole, tmp_path):
    frame = survey(whole=whole)
    frame.write_csv(tmp_path / "in.csv")  # numbers of files travel as texts where nothing changed them
    release = made(tmp_path / "in.csv", strata=["region"])
    release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    of = defaultdict(set)
    for row in rows:
        of[row["region"], row["x"], row["y"]].add(row["w"])
    assert all(len(weights) == 1 for weights in of.values())  # a weight tells no more than the group does
    for region in "ab":
        here = frame.filter(pl.col("region") == region)
        mine = [row for row in rows if row["region"] == region]
        off = 0.005 * len(mine)  # files have as many decimals as they had
        assert sum(float(row["w"]) for row in mine) == pytest.approx(here["w"].sum(), abs=off)
        total = sum(float(row["w"]) * float(row["x"]) for row in mine)
        assert total == pytest.approx((here["w"] * here["x"]).sum(), rel=2e-3)  # x is rounded to its decimals
    assert any("averaged in each group" in item for item in release.log)
    assert not any("'w'" in item for item in release.warnings)
    for part in (release.dossier().public, release.dossier().inside):
        fates = {item.name: item.fate for item in part.columns}
        assert fates["w"] == "the mean of all with the same keys"
        assert fates["pay"] == "kept as it was"


def test_a_weight_of_fewer_than_k_is_enough():
    frame = survey().with_columns(w=pl.Series([10.0] * 147 + [30.0] * 3))
    assert any("averaged in each group" in item for item in made(frame).log)


def test_weights_are_kept_where_k_share_each_or_somebody_asks():
    frame = survey().with_columns(w=pl.Series([10.0, 20.0, 30.0] * 50))
    assert sorted(made(frame).table["w"]) == sorted(frame["w"])
    assert made(frame, publish_weights="mean").table["w"].n_unique() > 3
    own = made(survey(), publish_weights="own")
    assert sorted(own.table["w"]) == sorted(survey()["w"])
    assert any("150 of 150 records are shared by fewer than k=4" in warning for warning in own.warnings)
    with pytest.raises(InputError, match="publish_weights must be"):
        made(frame, publish_weights="some")
    with pytest.raises(InputError, match="needs the column of weights"):
        vr.anonymize(frame, keys=["x", "y"], drop_undeclared=True, publish_weights="mean")


def by_hand(X, y, w):
    """Normal equations and sandwich, sum by sum."""
    Z = [[1.0, *row] for row in X]
    p = len(Z[0])
    A = np.array([[sum(w[i] * Z[i][a] * Z[i][b] for i in range(len(y))) for b in range(p)] for a in range(p)])
    v = np.array([sum(w[i] * Z[i][a] * y[i] for i in range(len(y))) for a in range(p)])
    beta = np.linalg.solve(A, v)
    off = [y[i] - sum(beta[a] * Z[i][a] for a in range(p)) for i in range(len(y))]
    M = np.array([[sum((w[i] * off[i]) ** 2 * Z[i][a] * Z[i][b] for i in range(len(y))) for b in range(p)]
                  for a in range(p)])  # fmt: skip
    return beta, np.sqrt(np.diag(np.linalg.solve(A, np.linalg.solve(A, M).T)))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_fit_is_that_of_plain_sums(seed, columns):
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(3, 2, (12, columns)), rng.normal(size=12), rng.uniform(0.1, 9, 12)
    result, expected = weighted_fit(X, y, w), by_hand(X.tolist(), y.tolist(), w.tolist())
    assert result[0] == pytest.approx(expected[0], rel=1e-6, abs=1e-8)
    assert result[1] == pytest.approx(expected[1], rel=1e-6, abs=1e-8)


def test_regressions_before_and_after_say_what_moved():
    frame = survey()
    release = made(frame)
    results = {first.target: first for first in release.dossier().inside.regressions}
    assert set(results) == {"pay", "ill"}
    pay = results["pay"]
    assert [first.name for first in pay.coefficients] == ["(constant)", "x", "y"]
    before = by_hand(frame.select("x", "y").rows(), frame["pay"].to_list(), frame["w"].to_list())
    table = release.table
    after = by_hand(table.select("x", "y").rows(), table["pay"].to_list(), table["w"].to_list())
    for place, first in enumerate(pay.coefficients):
        assert (first.before, first.error) == pytest.approx((before[0][place], before[1][place]), rel=1e-6)
        assert first.after == pytest.approx(after[0][place], rel=1e-6)
        assert (first.name in pay.far) == (abs(after[0][place] - before[0][place]) > before[1][place])
    coarse = {first.target: first.far for first in made(frame, k=70).dossier().inside.regressions}
    assert coarse["pay"]  # two groups: hardly anything is left


def test_the_report_says_it(tmp_path):
    page = made(survey()).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Weighted regressions" in page
    assert "moved, in standard errors" in page
