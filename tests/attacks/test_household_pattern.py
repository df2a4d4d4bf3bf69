"""Households joined again by what is their own: refused, allowed knowingly, and measured as an attack."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import InputError, SchemaError
from voronym.table.doubts.unit_columns import joining
from voronym.table.frame import as_frame
from voronym.table.values import Columns

ROLES = {"keys": ["age", "sex", "town"], "confidential": ["rent", "ill"], "household": "hid"}


def families(homes: int = 150, seed: int = 0) -> pl.DataFrame:
    """Make up households that pay a rent each."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4, 5], homes, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    hid = np.repeat(np.arange(homes), size)
    n = len(hid)
    return pl.DataFrame(
        {
            "hid": hid,
            "age": rng.integers(0, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Reus", "Valls", "Salou"], homes)[hid],
            "rent": rng.lognormal(6.5, 0.4, homes).round(0).astype(int)[hid],
            "ill": rng.choice(["a", "b", "c"], n),
        }
    )


def recognised(table: pl.DataFrame, released: pl.DataFrame) -> float:
    """Join released rows by rent, and look for the set that fits a family best; plain Python."""
    sets = defaultdict(list)
    for age, sex, town, rent in released.select("age", "sex", "town", "rent").rows():
        sets[rent].append((age, sex, town))
    right, homes = 0.0, table.partition_by("hid")
    for home in homes:
        family = sorted(home.select("age", "sex", "town").rows())

        def apart(rows, family=family):
            if len(rows) != len(family):
                return 99 + abs(len(rows) - len(family))
            both = zip(family, sorted(rows), strict=True)
            return sum(abs(a[0] - b[0]) / 10 + (a[1] != b[1]) + (a[2] != b[2]) for a, b in both) / len(rows)

        costs = {rent: apart(rows) for rent, rows in sets.items()}
        best = [rent for rent in costs if costs[rent] == min(costs.values())]
        right += (home["rent"][0] in best) / len(best)
    return right / len(homes)


def test_a_rent_is_refused():
    with pytest.raises(
        SchemaError,
        match=r"'rent' would join rows of \d+ of \d+ households.*k=5.*allow_unit_columns=\['rent'\]",
    ):
        vr.anonymize(families(), **ROLES, k=5)


@pytest.mark.filterwarnings("ignore")
def test_an_allowed_rent_is_what_the_attack_finds():
    table = families()
    release = vr.anonymize(table, **ROLES, k=5, allow_unit_columns=["rent"], method="mdav")
    by_hand = recognised(table, release.table)
    result = vr.attack(release, attacks=["household-pattern"])["household-pattern"]
    assert by_hand > 0.3  # k promised 1 in 5
    assert result.success >= by_hand - 0.1
    assert result.claims
    assert result.details["columns"] == ["rent"]
    assert release.recipe.allow_unit_columns == ("rent",)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "change",
    [
        {"keys": ["age", "sex", "town", "rent"], "confidential": ["ill"]},
        {"identifiers": ["rent"], "confidential": ["ill"]},
        {"steps": ["round rent=500"]},
        {"pseudonyms": True},
    ],
)
def test_ways_out(change):
    release = vr.anonymize(families(), **{**ROLES, **change}, k=5, method="mdav")
    if "pseudonyms" in change:
        return
    out = vr.attack(release, attacks=["household-pattern"])
    assert "no kept column joins" in out.skipped.get("household-pattern", "") or not out.outcomes[0].claims


@pytest.mark.filterwarnings("ignore")
def test_without_rent_nothing_is_joined():
    table = families().drop("rent")
    release = vr.anonymize(table, **{**ROLES, "confidential": ["ill"]}, k=5, method="mdav")
    out = vr.attack(release, attacks=["household-pattern"])
    assert "no kept column joins" in out.skipped["household-pattern"]


def test_a_rent_that_a_household_swaps_as_a_whole_still_joins_it():
    with pytest.raises(SchemaError, match="'rent' would join rows"):
        vr.anonymize(families(), **ROLES, k=5, steps=["rank-swap rent=20"])


def test_people_with_several_rows_too():
    rng = np.random.default_rng(1)
    visits = np.repeat(np.arange(120), rng.geometric(0.4, 120))
    table = pl.DataFrame(
        {
            "pid": visits,
            "age": rng.integers(20, 90, 120)[visits],
            "salary": rng.integers(1000, 9000, 120)[visits],
            "ill": rng.choice(["a", "b", "c"], len(visits)),
        }
    )
    roles = {"keys": ["age"], "confidential": ["salary", "ill"], "person": "pid"}
    with pytest.raises(SchemaError, match=r"'salary' would join rows of .* people"):
        vr.anonymize(table, **roles, k=5)
    vr.anonymize(table, **{**roles, "confidential": ["ill"]}, drop_undeclared=True, k=5)


def test_two_columns_join_together():
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(200), 2)
    table = pl.DataFrame(
        {
            "hid": home,
            "age": rng.integers(0, 90, 400),
            "rooms": rng.integers(1, 12, 200)[home],
            "built": rng.integers(1950, 1962, 200)[home],
        }
    )
    asked = {"keys": ["age"], "household": "hid", "k": 5}
    with pytest.raises(SchemaError, match="together, columns 'rooms', 'built'"):
        vr.anonymize(table, **asked, other=["rooms", "built"])
    vr.anonymize(table, **asked, other=["rooms"], drop_undeclared=True)
    with pytest.raises(InputError, match="'town' is not a column"):
        vr.anonymize(table, **asked, other=["rooms"], drop_undeclared=True, allow_unit_columns=["town"])


def test_chance_is_not_refused():
    """Values dealt at random join a few rows of some households, and that is no pattern."""
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(200):
        home = np.repeat(np.arange(30), rng.integers(1, 6, 30))
        table = pl.DataFrame(
            {"ill": rng.choice(8, len(home), p=[0.4, 0.3, 0.1, 0.08, 0.06, 0.03, 0.02, 0.01])}
        )
        refused += bool(joining(Columns(as_frame(table)), ["ill"], home, 5))
    assert refused <= 4


def test_over_many_files(tmp_path):
    table = families(400)
    (tmp_path / "data").mkdir()
    for number in range(3):
        table[number::3].write_parquet(tmp_path / "data" / f"{number}.parquet")
    with pytest.raises(InputError, match="'rent' would join rows"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ROLES, k=5)
    with pytest.raises(InputError, match="'rent' would join rows"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "out", **ROLES, k=5, steps=["top age=80"])


def test_a_sample_of_the_rows_estimates_how_many_share():
    rng = np.random.default_rng(4)
    home = np.repeat(np.arange(20_000), 2)
    own, shared = rng.integers(0, 10**6, 20_000)[home], rng.integers(0, 400, 20_000)[home]
    rows = np.arange(4_000)
    table = Columns(as_frame(pl.DataFrame({"own": own[rows], "shared": shared[rows]})))
    result = joining(table, ["own", "shared"], home[rows], 5, looked_at=0.1)
    assert [item.columns for item in result] == [("own",)]  # 50 households share each of the others


@pytest.mark.filterwarnings("ignore")
def test_files_of_any_tool_are_attacked(tmp_path):
    table = families(100)
    release = vr.anonymize(table, **ROLES, k=5, allow_unit_columns=["rent"], method="mdav")
    known = {"keys": ROLES["keys"], "confidential": ROLES["confidential"], "household": "hid"}
    order = np.asarray(release._evidence.order)
    result = vr.attack(release.table, original=table, aligned=order, **known, attacks=["household-pattern"])[
        "household-pattern"
    ]
    own = vr.attack(release, attacks=["household-pattern"])["household-pattern"]
    assert result.success == pytest.approx(own.success)
