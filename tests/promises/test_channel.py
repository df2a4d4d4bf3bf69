"""What noise and its rules give away: the ends of a column, limits that are not kept, and the counts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.channel import mask_keys
from voronym.errors import GuaranteeError


def incomes(seed: int, n: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(7, 0.8, n), 2)
    days = np.round(income / 100 + rng.normal(0, 5, n)).astype(int)
    ill = np.where(rng.random(n) < 0.2 + 0.6 * (income > np.median(income)), "yes", "no")
    return pl.DataFrame({"income": income, "days": days, "ill": ill})


@pytest.mark.parametrize("distortion", [0.05, 0.1, 0.3, 0.6])
def test_clipping_publishes_nobodys_end(distortion: float) -> None:
    shown = {"income": 0, "days": 0}
    for seed in range(10):
        frame = incomes(seed)
        schema = vr.Schema.build(frame, keys=["income", "days"], confidential=["ill"])
        made = mask_keys(frame, schema, max_distortion=distortion).frame
        for name in shown:
            column, values = frame[name], made[name].to_list()
            for end in (column.min(), column.max()):
                rare = int((column == end).sum()) < 5
                # A published value may fall there by chance; clipping puts several there.
                shown[name] += rare and values.count(end) > 1
            assert min(values) >= column.min()
            assert max(values) <= column.max()
    assert shown["income"] == 0
    assert shown["days"] <= 2


def households(pairs: int = 500, size: int = 2, seed: int = 0) -> pl.DataFrame:
    """People whose household number tells all about their diagnosis, and none of it linearly."""
    rng = np.random.default_rng(seed)
    ill = rng.choice(["flu", "HIV", "ulcer", "asthma"], pairs)
    return pl.DataFrame({"home": np.repeat(rng.permutation(pairs), size), "ill": np.repeat(ill, size)})


@pytest.mark.parametrize("limit", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("size", [2, 3])
def test_household_pairs_are_not_released_under_a_limit(limit: float, size: int) -> None:
    """The truth is ln 4 = 1.39 nats; the limit counts at the upper end of what was measured."""
    frame, released = households(size=size), 0
    for _ in range(3):
        try:
            vr.anonymize(
                frame, keys=["home"], confidential=["ill"], method="channel", options={"max_risk": limit}
            )
        except GuaranteeError as error:
            assert f"max_risk={limit:g} cannot be kept" in str(error)  # noqa: PT017 - it may be released once
        else:
            released += 1
    assert released <= 1  # the limit is tested through noise, which now and then lets a release pass


def test_what_the_model_describes_is_released() -> None:
    """Noise for data that are normal: the limit is kept, and is not refused for the width of an interval."""
    rng, refused = np.random.default_rng(4), 0
    for _ in range(10):
        x = rng.standard_normal(600)
        frame = pl.DataFrame({"x": np.round(x, 3), "w": np.round(x + rng.standard_normal(600), 3)})
        schema = vr.Schema.build(frame, keys=["x"], confidential=["w"])
        try:
            mask_keys(frame, schema, max_risk=0.1)
        except GuaranteeError:
            refused += 1
    assert refused <= 3  # the test draws noise: now and then it refuses what holds
