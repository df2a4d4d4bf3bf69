"""Sampling weights: totals by hand, loss by hand, and what weights cannot be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError


def survey(n=240, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["a", "b"], n),
            "x": rng.normal(50, 9, n),
            "y": rng.lognormal(3, 1, n),
            "w": rng.choice([10.0, 25.5, 60.0], n),
            "ill": rng.choice(["no", "yes"], n),
        }
    )


def made(frame, **choices):
    asked = {"keys": ["region", "x", "y"], "confidential": ["ill"], "other": ["w"], "weights": "w"}
    return vr.anonymize(frame, k=4, method="mdav", **{**asked, **choices})


def totals(table):
    return {
        row[0]: row[1:]
        for row in table.group_by("region")
        .agg((pl.col("x") * pl.col("w")).sum(), (pl.col("y") * pl.col("w")).sum())
        .rows()
    }


def test_weighted_totals_are_kept_in_every_stratum():
    frame = survey()
    release = made(frame, strata=["region"])
    before, after = totals(frame), totals(release.table)
    for region, sums in before.items():
        assert after[region] == pytest.approx(sums, rel=1e-9)
    plain = vr.anonymize(
        frame, keys=["region", "x", "y"], confidential=["ill"], other=["w"], k=4, method="mdav",
        strata=["region"])  # fmt: skip
    assert totals(plain.table)["a"] != pytest.approx(before["a"], rel=1e-9)  # the test can fail
    changes = {item.column: item for item in release.dossier().inside.weighted}
    assert changes["x"].total[0] == pytest.approx(sum(item[0] for item in before.values()))
    assert changes["x"].moved < 1e-6
    order = frame.sort("x")
    half = order["w"].cum_sum() >= order["w"].sum() / 2
    assert changes["x"].quantiles[1][0] == order.filter(half)["x"][0]


def test_the_loss_is_weighted_by_hand():
    frame = survey(60)
    release = vr.anonymize(
        frame, keys=["x", "y"], confidential=["ill"], other=["w", "region"], k=4, method="mdav",
        weights="w")  # fmt: skip
    X = vr.standardize(frame.select("x", "y").to_numpy())
    w = frame["w"].to_numpy()
    labels = release._evidence.partition.labels
    lost = 0.0
    for item in range(labels.max() + 1):
        here = labels == item
        mean = np.average(X[here], axis=0, weights=w[here])
        lost += (w[here] * np.square(X[here] - mean).sum(axis=1)).sum()
    total = (w * np.square(X - np.average(X, axis=0, weights=w)).sum(axis=1)).sum()
    assert release.group_loss == pytest.approx(100 * lost / total)
    assert release.gap is None


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("anneal", "pairs")]  # to compile


@pytest.mark.parametrize("method", ["auto", "exchange", "kd", *SLOW])
def test_methods_heed_them(method):
    frame = survey(120, seed=2).drop("y")
    release = vr.anonymize(
        frame, keys=["x"], confidential=["ill"], other=["w", "region"], k=5, method=method,
        weights="w", time_limit=None if method in ("kd", "exchange") else 0.5)  # fmt: skip
    assert (release.table["x"] * release.table["w"]).sum() == pytest.approx((frame["x"] * frame["w"]).sum())


def test_what_weights_cannot_be():
    frame = survey()
    with pytest.raises(InputError, match="the table has no column 'v'"):
        made(frame, weights="v")
    with pytest.raises(InputError, match="has no numbers"):
        made(frame, weights="ill")
    with pytest.raises(InputError, match="'x' is a key"):
        made(frame, weights="x")
    with pytest.raises(InputError, match="3 of 240 weights are missing"):
        made(frame.with_columns(pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("w").alias("w")))
    with pytest.warns(UserWarning, match="groups records as if all counted alike"):
        vr.anonymize(frame, keys=["x", "y"], other=["w", "region", "ill"], method="vmdav", weights="w")
