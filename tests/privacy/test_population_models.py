"""k-map, delta-presence, beta-likeness and (alpha, k)-anonymity by their definitions, on small tables."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from privacy import oracles
from voronym.errors import GuaranteeError, InputError
from voronym.privacy import AlphaK, BetaLikeness, DeltaDisclosure, DeltaPresence, KMap, parse_model
from voronym.privacy.contract import check_model
from voronym.table import Table

words = st.one_of(st.none(), st.sampled_from("abcd"))
rows = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from("pq"), words), min_size=1, max_size=30
)


def records(given):
    names = ("age", "place", "secret")
    columns = {name: [row[i] for row in given] for i, name in enumerate(names)}
    frame = pl.DataFrame(columns, schema={"age": pl.Int64, "place": pl.String, "secret": pl.String})
    return columns, Table.build(frame, keys=["age", "place"], confidential=["secret"])


@given(rows)
def test_likeness_and_shares(given):
    columns, table = records(given)
    groups = oracles.classes(columns, ("age", "place"), "secret")
    everybody = Counter(value for group in groups for value in group)
    n = sum(everybody.values())
    gains, limited, shares = [0.0], [0.0], []
    for group in groups:
        for value, count in Counter(group).items():
            p, q = count / len(group), everybody[value] / n
            shares.append(p)
            gains.append((p - q) / q)
            limited.append((p - q) / q if (p - q) / q <= -math.log(q) + 1e-9 else math.inf)
    assert AlphaK().measure(table).value == pytest.approx(max(shares))
    assert BetaLikeness().measure(table).value == pytest.approx(max(gains), abs=1e-12)
    assert BetaLikeness(kind="enhanced").measure(table).value == pytest.approx(max(limited), abs=1e-12)
    # A gain of beta is a log-ratio of ln(1 + beta), which delta-disclosure limits, too.
    assert math.log1p(max(gains)) <= DeltaDisclosure().measure(table).value + 1e-12


@given(rows, rows, st.randoms(use_true_random=False))
def test_people_of_the_population(tmp_path_factory, given, others, random):
    everybody = [row[:2] for row in given + others]
    random.shuffle(everybody)
    path = str(tmp_path_factory.getbasetemp() / "everybody.parquet")
    schema = {"age": pl.Int64, "place": pl.String}
    pl.DataFrame(everybody, schema=schema, orient="row").write_parquet(path)
    _, table = records(given)
    here, there = Counter(row[:2] for row in given), Counter(everybody)
    result = KMap(3, population=path).measure(table)
    assert result.value == min(there[keys] for keys in here)
    assert result.holds == (result.value >= 3)
    shares = [here[keys] / there[keys] for keys in there]
    presence = DeltaPresence(0.5, population=path).measure(table)
    assert presence.value == pytest.approx(max(shares))
    assert presence.holds == (max(shares) <= 0.5)
    assert presence.detail["least"] == pytest.approx(min(shares))
    both = DeltaPresence(0.9, least=0.2, population=path).measure(table)
    assert both.holds == (max(shares) <= 0.9 and min(shares) >= 0.2)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 40)), min_size=1, max_size=30))
def test_people_by_weights(given):
    frame = pl.DataFrame({"age": [a for a, _ in given], "w": [w / 4 for _, w in given]})
    table = Table.build(frame, keys=["age"], other=["w"])
    sums = Counter()
    for age, weight in given:
        sums[age] += weight / 4
    result = KMap(6, weights="w").measure(table)
    assert result.value == pytest.approx(min(sums.values()))
    assert result.holds == (min(sums.values()) >= 6)
    assert result.detail["classes_below"] == sum(total < 6 for total in sums.values())


def test_weighted_models_keep_the_contract_where_groups_merge():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"age": rng.integers(0, 9, 60), "w": rng.uniform(1, 9, 60)})
    table = Table.build(frame, keys=["age"], other=["w"])
    (judge,) = KMap(20, weights="w").judges(table)
    labels = np.arange(60) // 3
    before = judge.values(labels, 20)
    merged = judge.values(np.where(labels == 7, 2, labels), 20)
    assert merged[2] == pytest.approx(before[2] + before[7])
    assert np.isinf(merged[7])
    assert judge.value(judge.levels.codes[labels == 4]) == pytest.approx(before[4])


def test_a_population_only_adds_people():
    """The population has at least the people of a group's own combinations of keys: merging never hurts."""
    model = KMap(2)
    check_model(model)
    rng = np.random.default_rng(1)
    people = pl.DataFrame({"age": rng.integers(0, 9, 300)})
    table = Table.build(people[:60], keys=["age"])
    assert KMap().measure(table).value == table.heads.min()


def test_the_contract_beside_a_population(tmp_path):
    """One cell as all cells, merging never hurts, the finding is what judges say, and no value is told."""
    path = str(tmp_path / "everybody.csv")
    pl.DataFrame({"key": [f"secret-key-{i}" for i in range(8) for _ in range(1 + 2 * i)]}).write_csv(path)
    check_model(KMap(3, population=path), at=lambda v: KMap(int(v), population=path))
    check_model(DeltaPresence(0.5, population=path), at=lambda v: DeltaPresence(v, population=path))


def test_a_person_with_several_rows_is_one():
    frame = pl.DataFrame({"age": [30, 30, 30, 40], "w": [4.0, 4.0, 2.0, 9.0], "who": ["a", "a", "b", "c"]})
    table = Table.build(frame, keys=["age"], other=["w"], person="who")
    assert KMap(weights="w").measure(table).value == 6.0
    (judge,) = KMap(3, weights="w").judges(table)
    assert judge.values(np.array([0, 0, 1]), 2).tolist() == [6.0, 9.0]  # a and b, then c


@pytest.mark.parametrize("text", ["alpha-k=0.6", "beta-likeness=1", "beta-likeness=0.8,kind=enhanced"])
def test_groups_are_merged_until_it_holds(text):
    rng = np.random.default_rng(6)
    age = rng.integers(20, 80, 240)
    ill = np.where(rng.random(240) < 0.6, age // 20, rng.integers(1, 4, 240))
    frame = pl.DataFrame({"age": age, "pay": rng.normal(0, 1, 240), "ill": [f"d{i}" for i in ill]})
    roles = {"keys": ["age", "pay"], "confidential": ["ill"], "k": 3, "method": "mdav"}
    bare = vr.anonymize(frame, **roles)
    assert (
        not parse_model(text)
        .measure(Table.build(bare.table, keys=["age", "pay"], confidential=["ill"]))
        .holds
    )
    release = vr.anonymize(frame, models=[text], **roles)
    groups = release.table.group_by("age", "pay").agg("ill")["ill"].to_list()
    everybody = Counter(frame["ill"])
    model = parse_model(text)
    for group in groups:
        assert len(group) >= 3
        for value, count in Counter(group).items():
            p, q = count / len(group), everybody[value] / 240
            if model.name == "alpha-k":
                assert p <= 0.6 + 1e-9
            else:
                limit = min(model.beta, -math.log(q)) if model.kind == "enhanced" else model.beta
                assert (p - q) / q <= limit + 1e-9


def test_groups_are_merged_until_their_weights_suffice():
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {"age": rng.normal(40, 9, 200), "pay": rng.normal(0, 1, 200), "w": rng.integers(1, 30, 200)}
    )
    release = vr.anonymize(
        frame, keys=["age", "pay"], other=["w"], k=2, method="mdav", models=["k-map=60,weights=w"]
    )
    sums = release.table.group_by("age", "pay").agg(pl.col("w").sum(), n=pl.len())
    assert sums["w"].min() >= 60
    assert sums["n"].min() >= 2
    assert len(sums) > 10
    assert vr.Recipe.from_toml(release.recipe.to_toml()).models == ("k-map=60,weights=w",)


def test_what_cannot_be_is_refused(tmp_path):
    for wrong, words in (
        ("alpha-k=0", "above 0"),
        ("alpha-k=1.5", "promises nothing"),
        ("beta-likeness=-1", "above 0"),
        ("beta-likeness=1,kind=odd", "no kind is called 'odd'"),
        ("k-map=1", "of 2 or more"),
        ("k-map=3,weights=w,population=p.csv", "not both"),
        ("delta-presence=2", "promises nothing"),
        ("delta-presence=0.5,least=3", "promises nothing"),
    ):
        with pytest.raises(InputError, match=words):
            parse_model(wrong)
    frame = pl.DataFrame({"age": [1, 2, 2], "w": [1.0, 0.0, 3.0], "ill": ["a", "a", "b"]})
    table = Table.build(frame, keys=["age"], confidential=["ill"], other=["w"])
    with pytest.raises(InputError, match="must be numbers above 0"):
        KMap(2, weights="w").measure(table)
    with pytest.raises(InputError, match="no column 'v'"):
        KMap(2, weights="v").measure(table)
    with pytest.raises(GuaranteeError, match="alpha-k cannot be met"):
        vr.anonymize(frame, keys=["age"], confidential=["ill"], other=["w"], k=2, models=["alpha-k=0.5"])
    # Means are no values of the population: a release by means cannot hold, and is not written.
    path = str(tmp_path / "everybody.csv")
    pl.DataFrame({"age": [i + 0.5 for i in range(50)] * 9}).write_csv(path)
    ages = pl.DataFrame({"age": np.arange(40) + 0.4})
    with pytest.raises(GuaranteeError, match="k-map"):
        vr.anonymize(ages, keys=["age"], k=3, method="mdav", models=[f"k-map=6,population={path}"])


def test_texts_build_them_again():
    for model in (
        AlphaK(0.25, column="ill"),
        BetaLikeness(1.5, kind="enhanced", column="a,b"),
        KMap(5, weights="my weight"),
        KMap(5, population="some where/people.csv"),
        DeltaPresence(0.5, least=0.1, population="p.csv"),
    ):
        assert parse_model(str(model)) == model
