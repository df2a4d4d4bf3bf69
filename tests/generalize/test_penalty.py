"""The measures of generalisation, against plain loops over records."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.evaluate.penalty import penalty
from voronym.table.schema import Schema

TREE = {"a1": ["a", "*"], "a2": ["a", "*"], "b1": ["b", "*"], "b2": ["b", "*"], "b3": ["b", "*"]}


def common(values):
    """Return the lowest common ancestor, by looking."""
    paths = [[value, *TREE[value]] for value in values]
    return next(label for level, label in enumerate(paths[0]) if all(path[level] == label for path in paths))


@given(seed=st.integers(0, 10_000), n=st.integers(4, 40))
def test_against_loops(seed, n):
    rng = np.random.default_rng(seed)
    age, kind = rng.integers(0, 20, n), rng.choice(sorted(TREE), n)
    labels = np.sort(rng.integers(0, max(1, n // 3), n))
    shown, sizes = [], []
    for group in np.unique(labels):
        own = labels == group
        sizes.append(int(own.sum()))
        low, high = age[own].min(), age[own].max()
        text = str(low) if low == high else f"{low}–{high}"
        shown += [(text, common(kind[own].tolist()))] * int(own.sum())
    before = pl.DataFrame({"age": age, "kind": kind})
    after = pl.DataFrame(shown, schema=["age", "kind"], orient="row")
    result = penalty(
        before,
        after,
        Schema.build(before, keys=["age", "kind"]),
        np.arange(n),
        hierarchies={"kind": TREE},
        k=2,
    )
    span, ages, kinds, bits, all_bits = age.max() - age.min(), [], [], 0.0, 0.0
    leaves = {"a": 2, "b": 3, "*": 5}
    for i, (text, label) in enumerate(shown):
        ends = [int(part) for part in text.split("–")]
        ages.append((ends[-1] - ends[0]) / span if span else 0.0)
        kinds.append((leaves.get(label, 1) - 1) / 4)
        inside = ((age >= ends[0]) & (age <= ends[-1])).sum()
        below = sum(label in (item, *TREE[item]) for item in kind)
        bits += math.log2(inside / (age == age[i]).sum()) + math.log2(below / (kind == kind[i]).sum())
        all_bits += math.log2(n / (age == age[i]).sum()) + math.log2(n / (kind == kind[i]).sum())
    assert result.by_key["age"] == pytest.approx(100 * np.mean(ages))
    assert result.by_key["kind"] == pytest.approx(100 * np.mean(kinds))
    assert result.entropy == pytest.approx(100 * bits / all_bits if all_bits else 0.0)
    counts = after.group_by(["age", "kind"]).len()["len"].to_list()
    assert result.discernibility == sum(size**2 for size in counts)
    assert result.average_class == pytest.approx(np.mean(counts))
    assert result.classes_per_k == pytest.approx(np.mean(counts) / 2)


def test_measure_and_release_say_the_same():
    table = vr.datasets.hospital(200, seed=3).select("age", "sex", "diagnosis")
    release = vr.anonymize(
        table, keys=["age", "sex"], confidential=["diagnosis"], k=5, method="mdav", publish="interval"
    )
    order = release._evidence.order
    result = vr.measure(
        release.table, keys=["age", "sex"], confidential=["diagnosis"], original=table, aligned=order
    )
    assert result.penalty.certainty == pytest.approx(release.penalty.certainty)
    assert result.penalty.entropy == pytest.approx(release.penalty.entropy)
    assert "certainty penalty" in str(result)
    assert result.utility.information_loss is not None  # by the middles of the ranges


def test_nothing_lost_and_everything_lost():
    before = pl.DataFrame({"age": [1, 2, 3, 4], "town": ["a", "b", "c", "d"]})
    schema = Schema.build(before, keys=["age", "town"])
    same = penalty(before, before.with_columns(pl.col("age").cast(pl.String)), schema, np.arange(4))
    assert (same.certainty, same.entropy, same.discernibility) == (0.0, 0.0, 4)
    gone = penalty(before, pl.DataFrame({"age": ["*"] * 4, "town": ["*"] * 4}), schema, np.arange(4))
    assert (gone.certainty, gone.entropy, gone.discernibility) == (100.0, 100.0, 16)
