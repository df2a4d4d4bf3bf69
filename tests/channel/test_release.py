"""Tables masked by channels: what is promised, and what is left alone."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import rounds
from voronym.channel.measured import coarse_confidential
from voronym.channel.pram import recover
from voronym.channel.release import mask_keys
from voronym.errors import GuaranteeError, InputError
from voronym.table import Table


def people(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = rng.random(n) < (age - 10) / 120
    region = np.where(
        ill, rng.choice(["north", "south"], n, p=[0.8, 0.2]), rng.choice(["north", "south", "east"], n)
    )
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "height": np.round(rng.normal(170, 9, n), 1),
            "region": region,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def letters(values):
    """Return the place of each value among the sorted ones, by NumPy."""
    return np.unique(values.to_list(), return_inverse=True)[1]


def schema_of(table, keys=("age", "height", "region")):
    return vr.Schema.build(table, keys=list(keys), confidential=["ill"], drop_undeclared=True)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_any_library_keeps_its_dtypes_and_its_other_columns(library):
    table = people()
    native = {"polars": table, "pandas": table.to_pandas(), "pyarrow": table.to_arrow()}[library]
    masked = mask_keys(native, schema_of(native), max_distortion=0.2, seed=1)
    assert masked.frame.columns == ["age", "height", "region", "ill"]
    before = nw.from_native(native, eager_only=True)
    assert masked.frame.schema == before.select(masked.frame.columns).schema
    assert masked.frame["ill"].to_list() == before["ill"].to_list()
    assert masked.frame["region"].to_list() != before["region"].to_list()
    assert set(masked.frame["region"].to_list()) <= {"north", "south", "east"}
    ages = masked.frame["age"].to_numpy()
    assert 20 <= ages.min() <= ages.max() <= 79
    heights = masked.frame["height"].to_numpy()
    assert np.array_equal(np.round(heights, 1), heights)


def test_the_same_seed_gives_the_same_table():
    table = people()
    first, again, other = (
        mask_keys(table, schema_of(table), max_distortion=0.3, seed=s).frame for s in (1, 1, 2)
    )
    assert first.to_native().equals(again.to_native())
    assert not first.to_native().equals(other.to_native())


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_the_planned_distortion_comes_out(share):
    table = people(6000)
    masked = mask_keys(table, schema_of(table), max_distortion=share, seed=3)
    noise, matrix = masked.rules
    assert (noise.kind, matrix.kind) == ("noise", "pram")
    assert noise.columns == ("age", "height")
    for part in masked.rules:
        assert part.planned <= share * (1 + 1e-9)
        assert part.distortion == pytest.approx(part.planned, rel=0.12, abs=0.003)
        assert part.risk < part.information
        assert part.gap < 1e-5
    assert masked.risk == pytest.approx(sum(part.risk for part in masked.rules))
    assert masked.distortion <= share * 1.1


def test_a_limit_on_the_risk_holds_in_counts():
    table = people(6000)
    schema = schema_of(table, keys=["region"])
    masked = mask_keys(table, schema, max_risk=0.01, seed=4)
    assert masked.risk <= 0.01
    ill = letters(masked.frame["ill"])
    region = letters(masked.frame["region"])
    joint = np.zeros((2, 3))
    np.add.at(joint, (ill, region), 1 / len(ill))
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    counted = float((joint[there] * np.log(joint[there] / outer[there])).sum())
    assert counted == pytest.approx(masked.risk, abs=0.006)  # six thousand draws


def test_more_distortion_never_costs_privacy():
    table = people()
    risks = [mask_keys(table, schema_of(table), max_distortion=s).risk for s in (0.0, 0.1, 0.3, 0.6, 1.0)]
    assert (np.diff(risks) <= 1e-9).all()


def test_perfect_privacy_and_no_privacy():
    table = people()
    secret = mask_keys(table, schema_of(table), max_risk=0.0)
    assert secret.risk < 1e-9
    free = mask_keys(table, schema_of(table), max_distortion=0.0)
    assert free.distortion < 1e-3  # values beyond round limits are brought back to them
    assert free.frame.to_native().equals(table.drop("id"))


def test_an_analyst_can_correct_for_the_matrix():
    table = people(6000)
    masked = mask_keys(table, schema_of(table, keys=["region"]), max_distortion=0.2, seed=5)
    matrix = masked.channels[0].matrix
    original = letters(table["region"])
    seen = letters(masked.frame["region"])
    result = recover(seen, matrix)
    truth = np.bincount(original) / len(original)
    plain = np.abs(np.bincount(seen, minlength=3) / len(seen) - truth)
    assert (np.abs(result.shares - truth) < 5 * result.errors + 1e-12).all()
    assert np.abs(result.shares - truth).max() < plain.max()


def test_missing_values_stay_missing_and_a_missing_category_is_one():
    table = people(800)
    rows = np.arange(800)
    table = table.with_columns(
        pl.when(pl.Series(rows % 10 == 0)).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(pl.Series(rows % 7 == 0)).then(None).otherwise(pl.col("region")).alias("region"),
        pl.when(pl.Series(rows % 9 == 0)).then(None).otherwise(pl.col("ill")).alias("ill"),
    )
    masked = mask_keys(table, schema_of(table), max_distortion=0.3, seed=0).frame.to_native()
    assert np.array_equal(masked["age"].is_null().to_numpy(), rows % 10 == 0)
    assert 0 < masked["region"].null_count() < 800


def test_constant_and_many_keys():
    table = people(800).with_columns(pl.lit(7).alias("height"))
    masked = mask_keys(table, schema_of(table), max_distortion=0.3)
    assert masked.frame["height"].unique().to_list() == [7]
    alone = mask_keys(table, schema_of(table, keys=["height", "region"]), max_distortion=0.3)
    assert [part.kind for part in alone.rules] == ["pram"]
    rng = np.random.default_rng(0)
    wide = people(800).with_columns(
        pl.Series("street", rng.integers(0, 40, 800).astype(str)),
        pl.Series("job", rng.integers(0, 40, 800).astype(str)),
    )
    apart = mask_keys(wide, schema_of(wide, keys=["street", "job"]), max_distortion=0.3)
    assert [part.columns for part in apart.rules] == [("street",), ("job",)]


def test_numbers_as_confidential_columns():
    table = people(800)
    schema = vr.Schema.build(table, keys=["region"], confidential=["age", "ill"], drop_undeclared=True)
    about = coarse_confidential(Table.of(table, schema, only=schema.names), 3, bins=8)
    assert int(about.max()) + 1 <= 16
    few = coarse_confidential(Table.of(table, schema, only=schema.names), 50, bins=8)
    assert int(few.max()) + 1 <= 8  # with so many letters there are too few records for all pairs
    masked = mask_keys(table, schema, max_distortion=0.2)
    assert masked.figures.parts[0].columns == ("region",)
    numeric = vr.Schema.build(table, keys=["age"], confidential=["height", "region"], drop_undeclared=True)
    assert mask_keys(table, numeric, max_distortion=0.2).risk >= 0.0


def test_bad_wishes_are_refused_with_a_reason():
    table = people(200)
    for asked in (
        {},
        {"max_risk": 0.1, "max_distortion": 0.1},
        {"max_risk": -1.0},
        {"max_distortion": np.nan},
        {"max_distortion": 5},
        {"max_distortion": 1.0001},
    ):
        with pytest.raises(InputError):
            mask_keys(table, schema_of(table), **asked)
    with pytest.raises(InputError, match="max_distortion must be a number, 0 to 1, not 5"):
        mask_keys(table, schema_of(table), max_distortion=5)
    lonely = vr.Schema.build(table, keys=["age"], drop_undeclared=True)
    with pytest.raises(InputError, match="confidential"):
        mask_keys(table, lonely, max_distortion=0.1)


def bent(n=2000):
    """The middle ages are well, the others ill: no covariance, and the key tells everything."""
    age = 4 * np.random.default_rng(0).integers(5, 20, n)
    return pl.DataFrame({"age": age, "ill": np.where(np.abs(age - 50) > 15, "ill", "well")})


def either(n=2000):
    """A number and a name, each worthless alone, tell everything together."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return pl.DataFrame({"a": a, "b": np.where(b, "u", "v"), "ill": np.where(a ^ b, "yes", "no")})


@pytest.mark.parametrize(
    ("table", "kinds", "why"),
    [
        (bent(), {"age": "numeric"}, "age tells 0.6.* The relation is not linear"),
        (either(), {"a": "numeric", "b": "nominal"}, "a, b together tell 0.[4-6].* reveal it together"),
    ],
)
def test_a_limit_on_the_risk_that_the_table_breaks_is_refused(table, kinds, why):
    def build(kinds):
        return vr.Schema.build(table, keys=list(kinds), confidential=["ill"], kinds=kinds)

    def thrice():  # noise that is large by chance keeps the limit
        for _ in range(3):
            mask_keys(table, build(kinds), max_risk=0.3)

    with pytest.raises(GuaranteeError, match=f"max_risk=0.3 cannot be kept.*{why}"):
        thrice()
    # With a limit on the distortion the table comes, and says what it tells.
    masked = mask_keys(table, build(kinds), max_distortion=0.2)
    measured = masked.figures.measured
    assert measured.keys == tuple(kinds)
    assert masked.risk < 0.01 < 0.1 < measured.estimate.low <= measured.excess
    assert "the rules state" in masked.notes[0]
    assert masked.log[-1].startswith(f"Measured in this table: {', '.join(kinds)} tell")
    # What the refusal proposes works: as names, and with more distortion.
    counted = mask_keys(table, build(dict.fromkeys(kinds, "nominal")), max_risk=0.05)
    assert counted.figures.measured.estimate.low <= 0.05
    assert all(note.startswith("by the exact counts") for note in counted.notes)  # rare, and said
    assert mask_keys(table, build(kinds), max_distortion=0.95).measured.excess < 0.02


def test_a_limit_that_holds_is_not_refused():
    """Normal data keep the promise of the normal model: no refusal, and no note."""
    rng = np.random.default_rng(3)
    notes = 0
    for _ in rounds(4, 8):
        x = rng.standard_normal((400, 2))
        w = 0.6 * x[:, 0] - 0.5 * x[:, 1] + 0.6 * rng.standard_normal(400)
        table = pl.DataFrame({"x": x[:, 0].round(2), "y": x[:, 1].round(2), "w": w.round(2)})
        schema = vr.Schema.build(table, keys=["x", "y"], confidential=["w"])
        masked = mask_keys(table, schema, max_risk=0.1, seed=rng)
        notes += len(masked.notes)
        assert masked.figures.measured.estimate.low <= 0.1 <= masked.figures.measured.estimate.entropy
    assert notes == 0
