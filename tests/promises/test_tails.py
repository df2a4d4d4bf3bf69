"""The limit of a top or bottom code that is given as a share is nobody's value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import rounds

K = 5


def incomes(seed: int, n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "income": np.round(rng.lognormal(10, 0.6, n), 2),
            "debt": rng.integers(0, 90_000, n),
        }
    )


def released(frame: pl.DataFrame, step: str, **more: object) -> pl.DataFrame:
    roles = {
        "keys": ["age"],
        "k": K,
        "method": "mdav",
        "other": [c for c in frame.columns if c != "age"],
        **more,
    }
    if "person" in roles:
        roles["other"] = [name for name in roles["other"] if name != roles["person"]]
    return vr.anonymize(frame, steps=[step], **roles).table


@pytest.mark.parametrize("column", ["income", "debt"])
@pytest.mark.parametrize(("step", "end"), [("top", "max"), ("bottom", "min")])
@pytest.mark.filterwarnings("ignore")
def test_no_limit_is_somebodys_value(column: str, step: str, end: str) -> None:
    own, before, after = 0, [], []
    for seed in rounds(6, 20):
        frame = incomes(seed)
        for share in ("1%", "2%", "5%"):
            limit = getattr(released(frame, f"{step} {column}={share}")[column], end)()
            had = int((frame[column] == limit).sum())
            own += 0 < had < K
            beyond = (frame[column] >= limit if step == "top" else frame[column] <= limit).sum()
            before.append(float(share[:-1]) / 100 * len(frame))
            after.append(beyond)
    assert own <= 2  # a round number that somebody happens to have, once or twice by chance
    assert min(after) >= K
    assert all(many >= wanted for many, wanted in zip(after, before, strict=True))
    assert np.mean(after) < 2 * np.mean(before) + 3 * K  # and not much more


@pytest.mark.filterwarnings("ignore")
def test_a_value_that_many_have_may_be_the_limit() -> None:
    frame = pl.DataFrame(
        {"age": np.arange(200) % 50 + 20, "children": [0, 1, 2, 3] * 45 + [4] * 17 + [9] * 3}
    )
    assert released(frame, "top children=2%")["children"].max() == 4


@pytest.mark.filterwarnings("ignore")
def test_people_are_counted_and_not_their_rows() -> None:
    """Ten rows of one rich person are one person."""
    rng = np.random.default_rng(0)
    who = np.r_[np.arange(200), np.full(10, 7)]
    income = np.r_[np.round(rng.lognormal(10, 0.5, 200), 2), np.full(10, 91_234.56)]
    income[7] = 91_234.56
    frame = pl.DataFrame({"age": (who % 50) + 20, "who": who, "income": income})
    top = released(frame, "top income=2%", person="who")["income"].max()
    beyond = set(who[income >= top].tolist())
    assert len(beyond) >= K
    assert top not in income
