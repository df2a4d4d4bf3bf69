"""Releases to write reports about."""

import warnings

import numpy as np
import polars as pl
import pytest

import voronym as vr


def make(frame, *, k=5, **roles):
    """Make a release by mdav; warnings about odd tables are not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(frame, **roles, k=k, method="mdav")


@pytest.fixture
def patients():
    """A small hospital: numbers, categories, dates, missing values, a long tail."""
    rng = np.random.default_rng(7)
    n = 300
    ages = rng.integers(18, 95, n)
    days = rng.integers(0, 700, n)
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": ages,
            "sex": rng.choice(["f", "m"], n),
            "weight (kg)": np.where(rng.random(n) < 0.05, np.nan, np.round(rng.normal(72, 12, n), 1)),
            "admitted": pl.Series(days).cast(pl.Int32) + 18600,
            "ward": rng.choice(["surgery", "medicine", "eyes", None], n, p=[0.4, 0.4, 0.1, 0.1]),
            "cost": np.round(rng.lognormal(7, 1.2, n), 2),
            "diagnosis": rng.choice(["A", "B", "C"], n),
        }
    ).with_columns(pl.col("admitted").cast(pl.Date))


@pytest.fixture
def release(patients):
    return make(
        patients,
        keys=["age", "sex", "weight (kg)", "admitted", "ward", "cost"],
        confidential=["diagnosis"],
        identifiers=["name"],
    )


@pytest.fixture
def make_release():
    return make
