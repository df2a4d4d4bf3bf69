"""Attacks on people who are in several releases of a ledger: what an intruder reads out of the written files.

Every attack reads the files with a csv reader and sets, and nothing of the library. The intruder knows
everybody's keys, and who was in the table of each month.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import rounds
from voronym.history.figures import figures_of

pytestmark = pytest.mark.filterwarnings("ignore")
REFUSED = (vr.errors.InputError, vr.errors.GuaranteeError)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes(path, keys):
    out = defaultdict(list)
    for row in rows_of(path):
        out[tuple(row[key] for key in keys)].append(row)
    return out


def released(table, path, **asked):
    """Write a release; say whether there is one."""
    try:
        vr.anonymize(table, **asked).write(path, overwrite=True)
    except REFUSED:
        return False
    return True


def workers(n, rng):
    return pl.DataFrame(
        {
            "id": [f"P{i}" for i in range(n)],
            "income": rng.normal(30_000, 8_000, n).round(2),
            "age": rng.integers(18, 90, n) * 1.0,
            "height": rng.normal(170, 9, n).round(1),
            "weight": rng.uniform(1, 40, n).round(2),
            "ill": rng.choice(list("abcdefgh"), n),
        }
    )


def lost_sums(folder, keys, wanted, known, gone, near=0.5):
    """What left: sums of groups of the first file, less those of groups of the second with a row less.

    What the intruder knows of the leaver tells which two groups belong together.
    """
    before, after = (classes(folder / f"{n}.csv", keys) for n in (1, 2))
    old = [
        (len(r), [float(r[0][c]) for c in wanted])
        for key, r in before.items()
        if len(after.get(key, ())) != len(r)
    ]
    new = [
        (len(r), [float(r[0][c]) for c in wanted])
        for key, r in after.items()
        if len(before.get(key, ())) != len(r)
    ]
    right = 0
    for person in gone.rows(named=True):
        best = None
        for (m, a), (n, b) in itertools.product(old, new):
            if n == m - 1:
                guess = [m * x - n * y for x, y in zip(a, b, strict=True)]
                far = abs(guess[wanted.index(known)] - person[known])
                if best is None or far < best[0]:
                    best = (far, guess)
        value = wanted[0]
        right += best is not None and best[0] < near and abs(best[1][0] - person[value]) < near
    return right


@pytest.mark.parametrize("change", ["one key more", "mean weights"])
def test_a_group_that_lives_does_not_tell_what_a_leaver_had(tmp_path, change):
    """Averaged again without the leaver, the difference is the leaver's: income and weight to the cent."""
    right = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table, ledger = workers(200, rng), tmp_path / f"{seed}.ledger"
        gone = table.sample(3, seed=seed)
        asked = {"identifiers": ["id"], "confidential": ["ill"], "drop_undeclared": True, "k": 5,
                 "ledger": ledger, "keep_groups": True, "headroom": 2}  # fmt: skip
        keys, wanted, known, near = ["income", "age"], ["income", "age"], "age", 0.5
        first, second = {"keys": keys}, {"keys": [*keys, "height"]}
        if change == "mean weights":  # the leaver's weight is what is looked for; its mean has all digits
            weighed = {"weights": "weight", "publish_weights": "mean", "other": ["weight"]}
            first = second = {"keys": keys, **weighed}
            wanted, known, near = ["weight", "age"], "weight", 1e-6
        assert released(table, tmp_path / "1.csv", **asked, **first)
        rest = table.filter(~pl.col("id").is_in(gone["id"].to_list()))
        if released(rest, tmp_path / "2.csv", **asked, **second):
            right += lost_sums(tmp_path, keys, wanted, known, gone, near)
    assert right == 0


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"keys": ["age"]}, "keys"),
        ({"kinds": {"age": "ordinal"}}, "kinds"),
        ({"publish": {"age": "median"}}, "publish"),
        ({"weights": "weight", "other": ["weight"]}, "weights"),
        ({"steps": ["round income=1000"]}, "steps"),
        ({"method": "local-suppression"}, "published values"),
    ],
    ids=str,
)
def test_kept_groups_are_not_published_in_another_way(tmp_path, second, words):
    table = workers(80, np.random.default_rng(0)).with_columns(pl.col("age").cast(pl.Int64))
    asked = {"keys": ["income", "age"], "identifiers": ["id"], "confidential": ["ill"],
             "drop_undeclared": True, "k": 4, "ledger": tmp_path / "l", "keep_groups": True}  # fmt: skip
    vr.anonymize(table, **asked).write(tmp_path / "1.csv")
    with pytest.raises(vr.errors.InputError, match=rf"publish their earlier values, and .*{words}"):
        vr.anonymize(table, **{**asked, **second})


def test_groups_that_are_formed_of_old_people_tell_no_leavers_keys(tmp_path):
    """A group falls below k and is joined with a neighbour: the sums of the three leave one income."""
    right = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n = 1200
        table = workers(n, rng).select("id", "income", "ill")
        asked = {"keys": ["income"], "identifiers": ["id"], "confidential": ["ill"], "k": 5, "method": "mdav",
                 "ledger": tmp_path / f"{seed}.ledger", "keep_groups": True, "waiting": 0.0}  # fmt: skip
        assert released(table, tmp_path / "1.csv", **asked)
        gone = table.sample(1, seed=seed)
        assert released(table.filter(pl.col("id") != gone["id"][0]), tmp_path / "2.csv", **asked)
        single, two = (
            {float(key[0]): len(rows) for key, rows in classes(tmp_path / f"{m}.csv", ["income"]).items()}
            for m in (1, 2)
        )
        old = sum(many * centre for centre, many in single.items() if two.get(centre) != many)
        new = sum(many * centre for centre, many in two.items() if single.get(centre) != many)
        right += abs(old - new - gone["income"][0]) < 1.0
    assert right == 0


def people(m, first, rng):
    return pl.DataFrame(
        {
            "id": [f"P{first + i:04d}" for i in range(m)],
            "age": rng.integers(18, 90, m) // 20 * 20,
            "sex": rng.choice(["f", "m"], m),
            "region": rng.choice(["n", "s", "e"], m),
            "income": rng.lognormal(10, 0.5, m).round(0),
            "ill": rng.choice(["flu", "hiv", "asthma", "cold"], m),
        }
    )


COARSE = {"keys": ["age", "sex", "region"], "identifiers": ["id"], "confidential": ["ill"],
          "drop_undeclared": True, "k": 5}  # fmt: skip


@pytest.mark.parametrize("method", ["lattice", "local-suppression", "mondrian", "cuts"])
@pytest.mark.parametrize("who", ["a newcomer", "somebody who came back"])
def test_the_difference_of_two_releases_is_not_one_person(tmp_path, method, who):
    hits = 0
    for seed in rounds(2, 4):
        rng = np.random.default_rng(seed)
        old, new = people(400, 0, rng), people(1, 400, rng)
        asked = {**COARSE, "method": method, "ledger": tmp_path / f"{seed}.ledger"}
        months = [old, pl.concat([old, new])]
        if who == "somebody who came back":
            months = [months[1], *months]
        files = [tmp_path / f"{m}.csv" for m in range(len(months))]
        if all(released(month, file, **asked) for month, file in zip(months, files, strict=True)):
            a, b = (Counter(tuple(row.values()) for row in rows_of(file)) for file in files[-2:])
            came = b - a
            hits += came.total() == 1 and next(iter(came))[-1] == new["ill"][0]
    assert hits == 0


def test_newcomers_wait_until_there_are_k_of_them(tmp_path):
    rng = np.random.default_rng(1)
    old = people(400, 0, rng)
    group = {"age": 40, "sex": "f", "region": "n"}
    new = people(6, 400, rng).with_columns(*(pl.lit(v).alias(c) for c, v in group.items()))
    new = new.with_columns(pl.col("age").cast(pl.Int64))
    asked = {**COARSE, "method": "lattice", "ledger": tmp_path / "l"}
    assert released(old, tmp_path / "1.csv", **asked)
    few = vr.anonymize(pl.concat([old, new[:2]]), **asked)
    few.write(tmp_path / "2.csv")
    assert len(rows_of(tmp_path / "2.csv")) == 400
    assert any("2 of 402 people wait" in note for note in few.warnings)
    vr.anonymize(pl.concat([old, new]), **asked).write(tmp_path / "3.csv")
    assert len(rows_of(tmp_path / "3.csv")) == 406
    with pytest.raises(vr.errors.GuaranteeError, match=r"17 of 423 people were not .*waiting=0\.05\)"):
        vr.anonymize(pl.concat([old, new, people(17, 500, rng)]), **asked)


@pytest.mark.parametrize("more", [{}, {"changed": "publish"}], ids=str)
@pytest.mark.parametrize("move", ["comes", "goes"])
def test_tail_means_do_not_tell_who_came_or_left(tmp_path, move, more):
    hits = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        old = people(400, 0, rng)
        tail = old.filter(pl.col("income") > 35_000)
        new = people(1, 400, rng).with_columns(income=pl.lit(91_234.0))
        months = (
            [old, pl.concat([old, new])]
            if move == "comes"
            else [old, old.filter(pl.col("id") != tail["id"][0])]
        )
        person = new["income"][0] if move == "comes" else tail["income"][0]
        asked = {**COARSE, "other": ["income"], "method": "lattice", "ledger": tmp_path / f"{seed}.ledger",
                 "steps": ["top income=35000 publish=mean"]}  # fmt: skip
        sums = []
        for month, table in enumerate(months):
            if released(table, tmp_path / f"{month}.csv", **asked, **more):
                values = [float(row["income"]) for row in rows_of(tmp_path / f"{month}.csv")]
                many = int((table["income"] > 35_000).sum())
                sums.append(max(values) * many)
        hits += len(sums) == 2 and abs(abs(sums[1] - sums[0]) - person) < 0.01 * person
    assert hits == 0


def hospital(n, rng, first=0):
    return pl.DataFrame(
        {
            "id": [f"P{first + i:05d}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "height": rng.normal(170, 9, n).round(0),
            "cost": (first + np.arange(n)) * 7 + 100,  # everybody's own: rows are recognised by it
        }
    )


def test_kept_groups_have_no_unseen_rows_of_fewer_than_k(tmp_path):
    """The intruder has all files, and looks for rows of a group that a file before did not have."""
    rng = np.random.default_rng(3)
    everybody = hospital(500, rng)
    here = np.arange(300)
    asked = {"keys": ["age", "height"], "identifiers": ["id"], "confidential": ["cost"], "k": 4,
             "ledger": tmp_path / "l", "keep_groups": True}  # fmt: skip
    away, seen, came, fresh = np.empty(0, int), [], 0, 300
    for month in range(6):
        if month:
            gone = rng.choice(here, 12, replace=False)
            back = away[:4]
            new = np.arange(fresh, fresh + 15)
            fresh += 15
            here = np.concatenate([np.setdiff1d(here, gone), back, new])
            away = np.concatenate([away[4:], gone])
        assert released(everybody[here.tolist()], tmp_path / f"{month}.csv", **asked)
        groups = [
            {row["cost"] for row in rows}
            for rows in classes(tmp_path / f"{month}.csv", ["age", "height"]).values()
        ]
        for count in (1, 2):
            for before in itertools.combinations(seen, count):
                for group in groups:
                    for inside in itertools.product([True, False], repeat=count):
                        left = {
                            c
                            for c in group
                            if all((c in file) == i for file, i in zip(before, inside, strict=True))
                        }
                        assert len(left) == 0 or len(left) >= 4
        came += len(set.union(*groups) - set.union(set(), *seen)) if month else 0
        seen.append(set.union(*groups))
    assert came > 30  # newcomers are published all the same


BASE = {"identifiers": ["id"], "confidential": ["ill"], "k": 5, "drop_undeclared": True, "method": "mdav"}
SPELLINGS = {
    "lower case": pl.col("id").str.to_lowercase(),
    "a dash": pl.col("id").str.replace("P", "P-"),
    "zero-width space": pl.col("id") + "\u200b",
    "full width": pl.col("id").str.replace("P", "\uff30"),
    "a number": pl.col("id").str.slice(1).cast(pl.Int64),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_people_whose_names_are_spelled_otherwise_are_no_strangers(tmp_path, spelling):
    table = people(200, 0, np.random.default_rng(0))
    if spelling == "a number":
        table = table.with_columns(pl.col("id").str.slice(1))
        other = table.with_columns(pl.col("id").cast(pl.Int64))
    else:
        other = table.with_columns(SPELLINGS[spelling].alias("id"))
    vr.anonymize(table, ledger=tmp_path / "l", keys=["age", "region"], **BASE).write(tmp_path / "1.csv")
    with pytest.raises(REFUSED, match=r"known to the ledger.*another spelling"):
        vr.anonymize(other, ledger=tmp_path / "l", keys=["age", "sex"], **BASE)
    # Some of them: they are released as newcomers, and it is said.
    some = pl.concat(
        [table[:120].with_columns(pl.col("id").cast(str)), other[120:].with_columns(pl.col("id").cast(str))]
    )
    output = vr.anonymize(some, ledger=tmp_path / "l", keys=["age", "region"], keep_groups=True, **BASE)
    assert any("120 of 200 people are known" in line for line in output.log)
    assert any("80 people are not known" in note for note in output.warnings)
    assert figures_of(output.booking).known_by_other_spelling == 80


def test_other_people_are_released_if_somebody_says_so(tmp_path):
    rng = np.random.default_rng(0)
    vr.anonymize(people(100, 0, rng), ledger=tmp_path / "l", keys=["age"], **BASE).write(tmp_path / "1.csv")
    other = people(100, 500, rng)
    with pytest.raises(REFUSED, match=r"0 of 100 people are known.*strangers"):
        vr.anonymize(other, ledger=tmp_path / "l", keys=["age"], **BASE)
    release = vr.anonymize(other, ledger=tmp_path / "l", keys=["age"], strangers=True, **BASE)
    assert any("0 of 100 people are known" in line for line in release.log)


def test_a_changed_value_is_not_the_difference_of_two_releases(tmp_path):
    """Whoever knows that a person's record was changed reads the old value and the new one."""
    hits = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        old = people(400, 0, rng)
        other = {"flu": "hiv", "hiv": "cold", "cold": "asthma", "asthma": "flu"}
        new = old.with_columns(
            ill=pl.when(pl.col("id") == "P0007").then(pl.col("ill").replace(other)).otherwise(pl.col("ill"))
        )
        asked = {**COARSE, "method": "lattice", "ledger": tmp_path / f"{seed}.ledger"}
        assert released(old, tmp_path / "1.csv", **asked)
        if released(new, tmp_path / "2.csv", **asked):
            a, b = (Counter(tuple(row.values()) for row in rows_of(tmp_path / f"{n}.csv")) for n in (1, 2))
            hits += [key[-1] for key in b - a] == [new.row(7)[-1]]
    assert hits == 0
    assert released(new, tmp_path / "2.csv", **asked, changed="publish")


def test_corrected_keys_are_said(tmp_path):
    rng = np.random.default_rng(0)
    old = hospital(100, rng)
    new = old.with_columns(
        age=pl.when(pl.int_range(pl.len()) < 3).then(99 - pl.col("age")).otherwise(pl.col("age"))
    )
    asked = {"keys": ["age", "height"], "identifiers": ["id"], "confidential": ["cost"], "k": 4,
             "ledger": tmp_path / "l", "keep_groups": True}  # fmt: skip
    first = vr.anonymize(old, **asked)
    assert any("dissolved='retire' does not publish" in note for note in first.warnings)  # in words, no marks
    first.write(tmp_path / "1.csv")
    release = vr.anonymize(new, **asked)
    changed = int((old["age"] != new["age"]).sum())
    [note] = [note for note in release.warnings if f"{changed} people have other keys now" in note]
    assert f"voronym ledger forget {tmp_path / 'l'} --release NUMBER" in note  # the remedy
    assert "another ledger" in note
    assert not any("other keys now" in note for note in vr.anonymize(old, **asked).warnings)


def test_more_rows_of_a_person_are_no_corrected_keys(tmp_path):
    rng = np.random.default_rng(0)
    people = hospital(60, rng)
    asked = {"keys": ["age", "height"], "person": "id", "drop_undeclared": True, "k": 4, "keep_groups": True,
             "ledger": tmp_path / "l"}  # fmt: skip
    vr.anonymize(people[rng.integers(0, 30, 45).tolist() + list(range(60))], **asked).write(
        tmp_path / "1.csv"
    )
    more = people[rng.integers(0, 60, 80).tolist() + list(range(60))]
    assert not any("other keys now" in note for note in vr.anonymize(more, **asked).warnings)
    older = more.with_columns(age=pl.when(pl.col("id") == more["id"][0]).then(99).otherwise(pl.col("age")))
    assert any("1 person has other keys now" in note for note in vr.anonymize(older, **asked).warnings)


@pytest.mark.parametrize("figure", ["centre", "mean weight"])
def test_without_kept_groups_a_mean_does_not_tell_what_a_leaver_had(tmp_path, figure):
    """Small strata are a group each: somebody leaves, and the mean of the others tells the rest."""
    rng = np.random.default_rng(0)
    n = 140
    table = workers(n, rng).with_columns(region=pl.Series([f"r{i // 7:02d}" for i in range(n)]))
    asked = {"identifiers": ["id"], "confidential": ["ill"], "drop_undeclared": True, "k": 5,
             "ledger": tmp_path / "l"}  # fmt: skip
    if figure == "centre":
        value = "income"
        asked |= {"keys": ["region", "income"], "strata": ["region"], "method": "mdav"}
    else:
        value = "weight"
        asked |= {"keys": ["region"], "method": "lattice", "weights": "weight", "publish_weights": "mean",
                  "other": ["weight"]}  # fmt: skip
    assert released(table, tmp_path / "1.csv", **asked)
    gone = table.row(10, named=True)
    if released(table.filter(pl.col("id") != gone["id"]), tmp_path / "2.csv", **asked):
        sums = [sum(float(row[value]) for row in rows_of(tmp_path / f"{m}.csv")) for m in (1, 2)]
        assert abs(sums[0] - sums[1] - gone[value]) > 1.0
