"""Lists and ends of intervals count households where households are declared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr

K = 3


def families(seed: int) -> pl.DataFrame:
    """Families of one to five; one large family has a zip, and an age, of its own."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 5], 80)
    home = np.repeat(np.arange(80), size)
    n = len(home)
    frame = pl.DataFrame(
        {
            "home": home,
            "age": rng.integers(20, 60, n),
            "zip": rng.choice(["43001", "43002", "43003", "43004"], 80)[home],
            "ill": rng.choice(["a", "b", "c"], n),
        }
    )
    lonely = pl.DataFrame(
        {"home": [80] * 6, "age": [71, 72, 73, 74, 75, 76], "zip": ["43999"] * 6, "ill": list("abcabc")}
    )
    return pl.concat([frame, lonely.cast(frame.schema)])


@pytest.mark.parametrize("method", ["mdav", "mondrian", "cuts"])
@pytest.mark.filterwarnings("ignore")
def test_a_zip_of_one_household_is_not_named(method: str) -> None:
    for seed in range(4):
        frame = families(seed)
        made = vr.anonymize(
            frame, keys=["age", "zip"], confidential=["ill"], household="home", k=K, method=method,
            publish="interval",
        ).table  # fmt: skip
        homes = frame.group_by("zip").agg(pl.col("home").n_unique())
        few = set(homes.filter(pl.col("home") < K)["zip"])
        assert few == {"43999"}
        named = {part for text in made["zip"].drop_nulls() for part in text.split(" or ")}
        assert not few & named
        for text in made["age"].drop_nulls().unique():
            for end in text.replace("≥", "–").replace("≤", "–").split("–"):
                if end.strip().isdigit() and int(end) > 60:
                    lies = frame.filter(pl.col("age") >= int(end))["home"].n_unique()
                    assert lies >= K or int(end) % 10 == 9, (text, end)
