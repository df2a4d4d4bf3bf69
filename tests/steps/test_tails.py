"""The mean of a tail: of how many it is, and whom it tells about."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.steps.test_columns import done, values

import voronym as vr
from voronym.errors import GuaranteeError
from voronym.table import Table


def test_the_mean_of_a_tail_of_few_is_refused():
    frame = pl.DataFrame({"x": [*range(100), 200, 210, 220, 230], "y": [0] * 104})
    table = Table.of(frame, vr.Schema.build(frame, keys=["x"], other=["y"]))
    with pytest.raises(GuaranteeError, match="only 4 people are above"):
        done(table, "top x=150 publish=mean", least=5)
    made, _, _ = done(table, "top x=150 publish=mean", least=4)
    assert values(made, "x") == [*range(100), 215, 215, 215, 215]
    with pytest.raises(GuaranteeError, match="3 or more"):  # of two people each knows the other
        done(table, "top x=215 publish=mean", least=2)


def messages_of(frame: pl.DataFrame, made: Table, limit: float, sign: float) -> float:
    """Let everybody in a tail take their own rows off its published sum; return the best guess at another.

    They know how many rows are in the tail, that all are beyond the limit, and whose the other rows are; the
    guess is how far off the largest possible value is, as a share of what it is about.
    """
    tail = frame.with_columns(mean=pl.Series(values(made, "x"))).filter(sign * pl.col("x") > sign * limit)
    total = sign * (tail["mean"].sum() - limit * len(tail))
    far = tail.group_by("who").agg(far=(sign * (pl.col("x") - limit)).sum())["far"].to_list()
    return min(
        (total - own - first) / first for i, own in enumerate(far) for j, first in enumerate(far) if i != j
    )


@pytest.mark.parametrize(("word", "sign"), [("top", 1.0), ("bottom", -1.0)])
@pytest.mark.parametrize("person", ["who", None])
def test_the_mean_of_a_tail_tells_nobody_the_largest_value(word: str, sign: float, person: str | None):
    """The one who has the second most, and everybody else, is off by a tenth or more; or it is refused."""
    rng = np.random.default_rng(0)
    released = refused = 0
    for draw in range(120):
        x = np.concatenate([rng.uniform(0.0, 10.0, 30), 10.0 + rng.lognormal(0.0, rng.choice([1, 3]), 6)])
        who = np.arange(36) if person is None else np.r_[:30, rng.integers(30, 34, 6)]
        frame = pl.DataFrame({"x": sign * x, "who": who})
        roles = {"identifiers": ["who"]} if person is None else {"person": "who"}
        table = Table.build(frame, keys=["x"], **roles)
        try:
            made, _, _ = done(table, f"{word} x={sign * 10.0:g} publish=mean", least=3)
        except GuaranteeError:
            refused += 1
        else:
            released += 1
            assert messages_of(frame, made, sign * 10.0, sign) >= 0.1 - 1e-9, draw
    assert min(released, refused) >= 20
    single = pl.DataFrame({"x": [*range(100), 200, 210, 220, 230, 90_000], "y": [0] * 105})
    with pytest.raises(GuaranteeError, match="so far beyond the others"):
        done(
            Table.of(single, vr.Schema.build(single, keys=["x"], other=["y"])),
            "top x=199 publish=mean",
            least=5,
        )
