"""Keys with noise are matched to people of the population no more often than the original keys."""

import numpy as np
import polars as pl
import pytest

import voronym as vr

ASKED = {"keys": ["age", "sex", "zip"], "confidential": ["ill"], "other": ["who"]}
NOISY = {
    "channel": {"method": "channel", "options": {"max_distortion": 0.1}},
    "dp": {"models": "dp=50", "bounds": {"age": (0, 100), "sex": ["f", "m"], "zip": ["a", "b", "c", "d"]}},
}


def matched(published, population):
    """Count the rows whose nearest people, one of whom is drawn, are theirs: the mean over all draws."""
    keys = [frame.select(
        pl.col("age").cast(pl.Float64) / 5.0, *(pl.col("sex") == sex for sex in "f"),
        *((pl.col("zip") == zip_).alias(zip_) for zip_ in "abcd"),
    ).to_numpy().astype(float) for frame in (published, population)]  # fmt: skip
    far = np.square(keys[0][:, None, :] - keys[1][None, :, :]).sum(axis=2)
    near = far <= far.min(axis=1, keepdims=True) + 1e-9
    true = population["who"].to_numpy()[None, :] == published["who"].to_numpy()[:, None]
    return float(((near & true).sum(axis=1) / near.sum(axis=1)).sum())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NOISY)
def test_noise_finds_no_more_people_than_the_report_says(name, tmp_path):
    rng = np.random.default_rng(5)
    n = 2000
    population = pl.DataFrame({
        "who": np.arange(n),
        "age": rng.integers(20, 80, n),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "zip": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
        "ill": np.array(["no", "flu"])[rng.integers(0, 2, n)],
    })  # fmt: skip
    population.write_parquet(tmp_path / "population.parquet")
    sample = population.sample(400, seed=3)
    release = vr.anonymize(sample, population=str(tmp_path / "population.parquet"), **ASKED, **NOISY[name])
    inside = release.dossier().inside.population
    assert inside.bound
    assert inside.after == inside.before
    # The figure is what the originals give, exactly; noise gives less.
    assert inside.before.matches.expected == pytest.approx(matched(sample, population))
    assert matched(release.table, population) <= inside.after.matches.expected
