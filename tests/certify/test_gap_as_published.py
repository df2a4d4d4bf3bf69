"""The gap of a release is true of the table as published: the loss of all partitions is counted again."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import voronym as vr

pytestmark = pytest.mark.filterwarnings("ignore:.*further from the truth")

LEVELS = ["low", "m1", "m2", "m3", "high", "top"]
"""The order of a column in which only some of these occur."""


def numbers(values: list[float], *, median: bool = False) -> tuple[Callable[[list[int]], float], float]:
    """Return the loss of a group that publishes a rounded mean or median, and the total."""
    spread = float(np.var(values))

    def loss(group: list[int]) -> float:
        own = np.array([values[i] for i in group], float)
        centre = float(np.median(own) if median else own.mean()) - min(values)
        return float(np.square(own - min(values) - np.rint(centre)).sum()) / spread if spread else 0.0

    return loss, float(len(values)) if spread else 0.0


def levels(values: list[str]) -> tuple[Callable[[list[int]], float], float]:
    """Return the loss of a group that publishes the level of the column nearest to its mean rank."""
    ranks = [LEVELS.index(value) for value in values]
    spread = float(np.var(ranks))

    def loss(group: list[int]) -> float:
        own = np.array([ranks[i] for i in group], float)
        nearest = min(sorted(set(ranks)), key=lambda rank: abs(rank - own.mean()))
        return float(np.square(own - nearest).sum()) / spread if spread else 0.0

    return loss, float(len(values)) if spread else 0.0


def categories(values: list[str]) -> tuple[Callable[[list[int]], float], float]:
    """Return the loss of a group that publishes its most frequent category, and the total."""
    shares = [count / len(values) for count in Counter(values).values()]
    apart, variance = 2.0, 1.0 - sum(share * share for share in shares)
    if len(shares) == 2:
        apart, variance = 1.0, variance / 2.0
    least = max(variance, apart / 16.0)

    def loss(group: list[int]) -> float:
        top = max(Counter(values[i] for i in group).values())
        return apart / least * (len(group) - top) if variance else 0.0

    return loss, len(values) * variance / least


def optimum(losses: list[tuple[Callable[[list[int]], float], float]], n: int, k: int) -> float:
    """Return the least loss of all partitions into groups of at least k, in percent of the total."""
    cost = {mask: sum(loss([i for i in range(n) if mask >> i & 1]) for loss, _ in losses)
            for mask in range(1 << n) if mask.bit_count() >= k}  # fmt: skip
    best = [0.0] + [np.inf] * ((1 << n) - 1)
    for mask in range(1, 1 << n):
        rest = first = mask & -mask  # the group with the first record
        others = part = mask ^ first
        while True:
            rest = part | first
            if rest.bit_count() >= k:
                best[mask] = min(best[mask], cost[rest] + best[mask ^ rest])
            if not part:
                break
            part = (part - 1) & others
    return 100.0 * best[-1] / sum(total for _, total in losses)


@pytest.mark.parametrize("seed", range(40))
def test_no_partition_loses_less_than_the_gap_allows(seed: int) -> None:
    draw = np.random.default_rng(seed)
    k = int(draw.integers(2, 4))
    n = int(draw.integers(2 * k, 9))
    median = bool(draw.integers(2))
    data = {
        "x": draw.integers(0, 5, n).tolist(),
        "rank": [LEVELS[rank] for rank in draw.choice([0, 1, 4, 5], n)],
        "town": draw.choice(["a", "b", "c"], n).tolist(),
    }
    keys = [name for name in data if draw.random() < 0.7] or ["x"]
    made = {"x": numbers(data["x"], median=median), "rank": levels(data["rank"]),
            "town": categories(data["town"])}  # fmt: skip
    if not any(made[name][1] for name in keys):
        return
    release = vr.anonymize(
        pl.DataFrame(data).select(keys),
        keys=keys,
        k=k,
        allow_loss=keys,
        orders={"rank": LEVELS} if "rank" in keys else {},
        publish={"x": "median"} if median and "x" in keys else {},
    )
    least = optimum([made[name] for name in keys], n, k)
    assert release.information_loss >= least - 1e-9
    if release.gap is not None:
        assert release.information_loss <= least * (1.0 + release.gap / 100.0) + 1e-6
    if release.least is not None:
        assert release.least <= least + 1e-6


def test_a_group_of_2k_records_may_lose_less_by_medians_than_its_halves() -> None:
    """In every half, a column has two equal values and the other one, which is far from the median."""
    halves = [half for half in combinations(range(6), 3) if 0 in half]
    table = pl.DataFrame({f"x{j}": [0.25 + (i in half) for i in range(6)] for j, half in enumerate(halves)})
    keys = table.columns
    release = vr.anonymize(table, keys=keys, k=3, allow_loss=keys, publish={"*": "median"})
    whole = 100.0  # the median is the mean: all variance is lost
    assert release.information_loss is not None
    assert release.information_loss > whole + 1.0
    assert release.gap is None or release.information_loss <= whole * (1.0 + release.gap / 100.0) + 1e-6
    assert release.least is None or release.least <= whole + 1e-6


@pytest.mark.parametrize("again", [False, True])
def test_missing_values_and_importance_are_named_beside_the_gap(again: bool) -> None:
    """Groups that publish these as missing would lose less than the groups that are called the best."""
    table = pl.DataFrame({"x": [2, 1, None, 1, 2, None, None]})
    release = vr.anonymize(table, keys=["x"], k=3, allow_loss=["x"])
    release = pickle.loads(pickle.dumps(release)) if again else release  # noqa: S301 - our own
    assert release.closeness == "the best possible if a missing value counts as a value of its own"
    assert release.least is None
    table = pl.DataFrame({"b": [True, False, True, False, False, False, True, False], "x": [*range(7), 40]})
    release = vr.anonymize(table, keys=["b", "x"], k=3, allow_loss=["b", "x"], importance={"x": 25})
    release = pickle.loads(pickle.dumps(release)) if again else release  # noqa: S301 - our own
    assert release.closeness == "the best possible by the importance of keys"
    assert release.least is None
    table = vr.datasets.hospital(60, seed=1)
    release = vr.anonymize(table, keys=["age", "zip"], k=3, drop_undeclared=True, steps=["round age=20"])
    release = pickle.loads(pickle.dumps(release)) if again else release  # noqa: S301 - our own
    assert "of the best possible after the steps" in release.closeness
    assert release.least is None


def test_a_constant_column_with_gaps_has_its_importance() -> None:
    values = [15, 7, 16, 15, 17, 35, 37, 16, 36]
    table = pl.DataFrame({"a": values, "b": [7, 7, 7, None, None, None, None, 7, 7]})
    keys = ["a", "b"]
    release = vr.anonymize(table, keys=keys, k=3, allow_loss=keys, importance={"b": 1e-4})
    alone = vr.anonymize(table.select("a"), keys=["a"], k=3)
    assert sorted(release.table["a"]) == sorted(alone.table["a"])


def test_the_advice_of_a_longer_search_compares_like_with_like() -> None:
    table = vr.datasets.hospital(60, seed=1)
    release = vr.anonymize(table, keys=["age", "sex"], k=3, drop_undeclared=True)
    assert release.least is not None
    assert release.least <= release.information_loss
    assert release.dossier().public.least == release.least
