"""A limit on what the keys tell: a table whose truth is above it is not released under it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import GuaranteeError
from voronym.report import render


def households(pairs=500, *, size=2, jitter=0.0, seed=0):
    """Return people whose household number tells all about their diagnosis, and none of it linearly."""
    rng = np.random.default_rng(seed)
    ill = rng.choice(["flu", "HIV", "ulcer", "asthma"], pairs)
    number = np.repeat(rng.permutation(pairs), size) + jitter * rng.random(pairs * size)
    return pl.DataFrame({"household": number, "diagnosis": np.repeat(ill, size)})


def release(table, limit, **options):
    return vr.anonymize(
        table, keys=["household"], confidential=["diagnosis"], method="channel",
        options={"max_risk": limit, **options},
    )  # fmt: skip


def refused_or_noisy(table, limit):
    """Return whether a release is refused; if one comes, its noise must hide housemates."""
    try:
        made = release(table, limit).table.sort("household")
    except GuaranteeError as error:
        assert f"max_risk={limit:g} cannot be kept" in str(error)  # noqa: PT017 - a release may come, too
        return True
    ill = made["diagnosis"].to_numpy()
    equal, chance = (ill[1:] == ill[:-1]).mean(), sum((ill == name).mean() ** 2 for name in set(ill))
    assert equal < chance + 4 / math.sqrt(len(ill))
    return False


@pytest.mark.parametrize("limit", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("size", [2, 3])
def test_pairs_of_a_household_are_not_released_under_a_limit_they_break(limit, size):
    """Where something comes out, its noise is so large that housemates are no longer neighbours."""
    assert refused_or_noisy(households(size=size), limit) or limit < 0.3, "0.3 asks for little noise"


def test_neighbours_that_are_not_equal_tell_as_much():
    """Two of a household have numbers beside each other, and nobody else's: order is enough."""
    outcomes = [refused_or_noisy(households(jitter=0.4), 0.1) for _ in range(9)]
    assert sum(outcomes) >= 5


def test_the_stated_figure_is_not_below_what_is_measured():
    """With a limit on the distortion the table comes; then its page says what it tells."""
    table = households()
    with pytest.warns(UserWarning, match="household tells"):
        made = vr.anonymize(
            table, keys=["household"], confidential=["diagnosis"], method="channel",
            options={"max_distortion": 0.0},
        )  # fmt: skip
    # The truth: the household says the diagnosis. Half of it is what pairs show by chance.
    output = made.dossier().public.channel
    assert output.measured.excess > 0.3 * math.log(4)
    assert output.tells >= output.measured.excess
    page = render(made, audience="public")
    head = page[page.index("<h1>") : page.index("</h1>")]
    assert f"{output.tells:.3g} nats" in head


def test_independent_keys_are_released():
    """The finer looks do not refuse what is innocent: no more than one table in twenty."""
    rng = np.random.default_rng(1)
    refused = 0
    for seed in range(30):
        table = households(300, seed=seed).with_columns(
            pl.Series("diagnosis", rng.choice(["flu", "HIV", "ulcer", "asthma"], 600))
        )
        schema = vr.Schema.build(table, keys=["household"], confidential=["diagnosis"])
        try:
            vr.channel.mask_keys(table, schema, max_risk=0.1, seed=seed)
        except GuaranteeError:
            refused += 1
    assert refused <= 2
