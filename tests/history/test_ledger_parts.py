"""The same attacks on releases of many files: whoever reads all files of two folders."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

import voronym as vr

pytestmark = pytest.mark.filterwarnings("ignore")
ROLES = {"keys": ["age", "sex", "region"], "identifiers": ["id"], "confidential": ["ill"],
         "other": ["income", "note"], "drop_undeclared": True, "k": 5, "method": "lattice"}  # fmt: skip


def people(m, first, rng):
    return pl.DataFrame(
        {
            "id": [f"P{first + i:04d}" for i in range(m)],
            "home": [f"H{(first + i) // 2:04d}" for i in range(m)],
            "age": rng.integers(18, 90, m) // 20 * 20,
            "sex": rng.choice(["f", "m"], m),
            "region": rng.choice(["n", "s", "e"], m),
            "income": rng.lognormal(10, 0.5, m).round(0),
            "note": rng.integers(0, 3, m),
            "ill": rng.choice(["flu", "hiv", "asthma", "cold"], m),
        }
    )


def released(table, folder, number, **more):
    """Release a table in three files, in leaves of 150 records; return the rows of all files, or None."""
    source = folder / f"in{number}"
    source.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        table[rows.tolist()].write_csv(source / f"{part}.csv")
    asked = {**ROLES, "ledger": folder / "l", "leaf": 150, "workers": 1, **more}
    try:
        release = vr.anonymize(source, output=folder / f"out{number}", **asked)
    except (vr.errors.GuaranteeError, vr.errors.InputError) as error:
        return str(error)
    assert any("known to the ledger" in line or "known yet" in line for line in release.log)
    rows = []
    for path in sorted((folder / f"out{number}").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def test_newcomers_changes_and_spelling(tmp_path):
    rng = np.random.default_rng(0)
    old, new = people(400, 0, rng), people(1, 400, rng)
    first = released(old, tmp_path, 1)
    assert len(first) == 400
    second = released(pl.concat([old, new]), tmp_path, 2)
    single, two = (Counter(tuple(row.values()) for row in rows) for rows in (first, second))
    assert (two - single).total() == 0  # the newcomer waits
    for column in ("ill", "note"):  # one that masking looks at, and one that waits in the parts
        other = (
            {"flu": "hiv", "hiv": "flu", "asthma": "cold", "cold": "asthma"}
            if column == "ill"
            else {0: 1, 1: 2, 2: 0}
        )
        changed = old.with_columns(
            pl.when(pl.col("id") == "P0007")
            .then(pl.col(column).replace(other))
            .otherwise(column)
            .alias(column)
        )
        output = released(changed, tmp_path, f"3{column}")
        assert "changed='publish'" in output
    output = released(old.with_columns(pl.col("id").str.to_lowercase()), tmp_path, 4)
    assert "0 of 400 people are known" in output
    assert len(released(people(400, 900, rng), tmp_path, 5, strangers=True)) == 400


@pytest.mark.parametrize("move", ["comes", "goes"])
def test_tail_means(tmp_path, move):
    rng = np.random.default_rng(1)
    old = people(400, 0, rng)
    new = people(1, 400, rng).with_columns(income=pl.lit(91_234.0))
    gone = old.filter(pl.col("income") > 35_000).row(0, named=True)
    months = [old, pl.concat([old, new]) if move == "comes" else old.filter(pl.col("id") != gone["id"])]
    person = new["income"][0] if move == "comes" else gone["income"]
    sums = []
    for number, table in enumerate(months):
        rows = released(table, tmp_path, number, steps=["top income=35000 publish=mean"])
        sums.append(max(float(row["income"]) for row in rows) * int((table["income"] > 35_000).sum()))
    assert abs(abs(sums[1] - sums[0]) - person) > 0.05 * person


@pytest.mark.parametrize("units", [{}, {"person": "id"}, {"person": "id", "household": "home"}], ids=str)
def test_kept_groups_over_parts(tmp_path, units):
    """Rows are told apart by a tag of their own; every pair of files is compared."""
    rng = np.random.default_rng(2)
    everybody = people(600, 0, rng).with_columns(
        age=pl.Series(rng.integers(18, 90, 600)), note=pl.int_range(600)
    )
    here, seen = np.arange(400), []
    homes = dict(zip(everybody["note"].cast(str), everybody["home"], strict=True))
    for month in range(3):
        table = everybody[here.tolist()]
        ids = {"identifiers": []} if units else {}
        rows = released(table, tmp_path, month, method="mdav", keep_groups=True, **{**units, **ids})
        groups = defaultdict(set)
        for row in rows:
            groups[tuple(row[key] for key in ROLES["keys"])].add(row["note"])
        count = (lambda tags: len({homes[tag] for tag in tags})) if "household" in units else len
        for group in groups.values():
            for before in seen:
                for alike in (group & before, group - before):
                    assert not alike or count(alike) >= 5
        seen.append(set.union(*groups.values()))
        here = np.concatenate([here[20:], np.arange(400 + 60 * month, 460 + 60 * month)])
    assert len(seen[-1] - seen[0]) > 40
