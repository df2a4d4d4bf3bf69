"""People, and private releases of them, for the tests of this room."""

import numpy as np
import polars as pl

import voronym as vr
from cli.conftest import voronym  # noqa: F401 - a fixture

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


EVERYTHING = {**BOUNDS, "ill": ["flu", "cold", "gout"]}
HIDDEN = "dp=1,scope=all,neighbours=add-remove"
