"""Uniform coding against brute force over all combinations of levels, by code that shares nothing with it."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.errors import GuaranteeError, InputError

MODELS = ("", "l-diversity=2", "l-diversity=entropy:1.6", "t-closeness=0.35", "delta-disclosure=1.2")


COARSER_IS_WORSE = [
    ("l-diversity=entropy:1.6", 144, None),
    ("l-diversity=entropy:1.6", 260, None),
    ("t-closeness=0.25", 424, 0.45),
    ("t-closeness=0.25", 764, 0.45),
    ("t-closeness=0.25", 814, 0.45),
]
"""Tables on which a search errs that takes these models for monotone under suppression; share to suppress."""


def holds(model: str, group: list[str], everybody: list[str]) -> bool:
    """Judge the confidential values of a class."""
    name, _, value = model.partition("=")
    share, whole = Counter(group), Counter(everybody)
    p = {v: share[v] / len(group) for v in whole}
    q = {v: whole[v] / len(everybody) for v in whole}
    if not name:
        return True
    if name == "l-diversity" and value.startswith("entropy"):
        need = math.log(float(value.split(":")[1]))
        return -sum(x * math.log(x) for x in p.values() if x) >= need - 1e-9
    if name == "l-diversity":
        return len(share) >= int(value)
    if name == "t-closeness":
        return sum(abs(p[v] - q[v]) for v in whole) / 2 <= float(value) + 1e-9
    return all(x > 0 and abs(math.log(x / q[v])) < float(value) - 1e-12 for v, x in p.items())


def brute(columns, trees, secret, k, model, limit):
    """Return the least loss for every number of suppressed records, over all combinations of levels."""
    heights = {name: len(next(iter(tree.values()))) for name, tree in trees.items()}
    leaves = {}
    for name, tree in trees.items():
        count = defaultdict(set)
        for value, above in tree.items():
            for level, label in enumerate((value, *above)):
                count[level, label].add(value)
        leaves[name] = {at: (len(result) - 1) / max(len(tree) - 1, 1) for at, result in count.items()}
    n, front = len(secret), {}
    for node in itertools.product(*(range(height + 1) for height in heights.values())):
        rows = [
            tuple((v, *trees[name][v])[level] for name, v, level in zip(columns, row, node, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        members = defaultdict(list)
        for i, row in enumerate(rows):
            members[row].append(i)
        gone = [row for row, own in members.items()
                if len(own) < k or not holds(model, [secret[i] for i in own], secret)]  # fmt: skip
        hidden = [i for row in gone for i in members[row]]
        rest = sorted((row for row in members if row not in gone), key=lambda row: len(members[row]))
        while hidden and (len(hidden) < k or not holds(model, [secret[i] for i in hidden], secret)):
            if not rest or len(hidden) > limit:
                hidden = list(range(n + 1))
                break
            hidden += members[rest.pop(0)]
        if len(hidden) > limit:
            continue
        lost = 0.0
        for i, row in enumerate(rows):
            for name, label, level in zip(columns, row, node, strict=True):
                lost += (
                    1.0 if i in set(hidden) else 1.0 if level == heights[name] else leaves[name][level, label]
                )
        loss = 100 * lost / (n * len(columns))
        front[len(hidden)] = min(loss, front.get(len(hidden), math.inf))
    best, kept = math.inf, {}
    for count in sorted(front):
        if front[count] < best - 1e-9:
            best = kept[count] = front[count]
    return kept


def made_up(seed: int):
    """Draw a table, hierarchies, a secret and what is asked for."""
    rng = np.random.default_rng(seed)
    n, columns, trees = int(rng.integers(12, 40)), {}, {}
    for at in range(int(rng.integers(1, 4))):
        many = int(rng.integers(2, 7))
        groups = rng.integers(0, 3, many)
        deep = bool(rng.integers(0, 2))
        trees[f"c{at}"] = {f"v{i}": [f"g{groups[i]}", "*"] if deep else ["*"] for i in range(many)}
        columns[f"c{at}"] = [f"v{i}" for i in rng.integers(0, many, n)]
    secret = [f"s{i}" for i in rng.choice(3, n, p=[0.6, 0.25, 0.15])]
    return columns, trees, secret, int(rng.integers(2, 5)), float(rng.choice([0.0, 0.1, 0.3]))


@pytest.mark.parametrize("model", MODELS)
def test_the_frontier_is_that_of_brute_force(model):
    """100 tables in all, 20 for each model."""
    for seed in range(20):
        check(model, *made_up(seed))


def test_whom_the_suppressed_need_counts_in_the_budget():
    """Two are alone and need a third to hide with; the next class has three, and four may be suppressed."""
    tree = {"c0": {"v0": ["*"], "v1": ["*"], "v2": ["*"]}}
    check("", {"c0": ["v0"] * 2 + ["v1"] * 3 + ["v2"] * 20}, tree, ["s0", "s1"] * 12 + ["s0"], 3, 0.16)


@pytest.mark.parametrize(("model", "seed", "share"), COARSER_IS_WORSE)
def test_models_that_are_not_monotone_under_suppression(model, seed, share):
    *table, usual = made_up(seed)
    check(model, *table, usual if share is None else share)


def check(model, columns, trees, secret, k, share):
    """Compare the method with brute force."""
    wanted = brute(columns, trees, secret, k, model, int(share * len(secret) + 1e-9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            release = vr.anonymize(
                pl.DataFrame({**columns, "secret": secret}),
                keys=list(columns),
                confidential=["secret"],
                k=k,
                method="lattice",
                hierarchies=trees,
                models=[model] if model else [],
                suppress=share,
                allow_near_unique=list(columns),
            )
        except GuaranteeError:
            assert not wanted
            return
    results = {item.suppressed: item.loss for item in release.figures.lattice.frontier}
    assert results == pytest.approx(wanted)
    assert release.penalty.certainty == pytest.approx(min(wanted.values()))
    counts = Counter(map(tuple, release.table.select(list(columns)).rows()))
    assert min(counts.values()) >= k
    assert sum(counts.values()) == len(secret)  # suppressed records stay, without their keys


def test_levels_are_the_same_for_everybody_and_the_file_keeps_k(tmp_path):
    table = vr.datasets.hospital(300, seed=2).select("age", "sex", "admitted", "weight", "diagnosis")
    release = vr.anonymize(
        table,
        keys=["age", "sex", "admitted", "weight"],
        confidential=["diagnosis"],
        k=4,
        method="lattice",
        models=["t-closeness=0.5"],
        suppress=0.1,
    )
    release.write(tmp_path / "out.csv")
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert min(Counter(tuple(row[:4]) for row in rows).values()) >= 4
    widths = defaultdict(set)
    for row in rows:
        if row[0] != "*":
            ends = [int(end) for end in row[0].split("–")]
            widths["age"].add(ends[-1] - ends[0])
    assert len(widths["age"]) <= 1  # one step for all
    chosen = [item for item in release.figures.lattice.frontier if item.chosen]
    assert len(chosen) == 1
    stars = sum(set(row[:4]) == {"*"} for row in rows)
    assert stars == chosen[0].suppressed or stars == len(rows)
    page = tmp_path / "report.html"
    release.report(page)
    assert "Other levels" in page.read_text()
    public = tmp_path / "public.html"
    release.report(public, audience="public")
    assert "Other levels" not in public.read_text()  # it tells how many would be in small classes


def test_mistakes_are_told():
    table = vr.datasets.hospital(60, seed=1).select("age", "sex")
    with pytest.raises(InputError, match="leave out the space"):
        vr.anonymize(table, keys=["age", "sex"], method="lattice", space="mixed")
    with pytest.warns(UserWarning, match="the time limit was not needed"):
        vr.anonymize(table, keys=["age", "sex"], method="lattice", time_limit=3)
    with pytest.raises(InputError, match="no key"):
        vr.anonymize(table, keys=["age", "sex"], method="lattice", importance={"x": 1})
    with pytest.raises(InputError, match="suppress"):
        vr.anonymize(table, keys=["age", "sex"], method="lattice", suppress=2)


@pytest.mark.slow
@pytest.mark.skipif(not vr.datasets.available(), reason="Adult is not here: set VORONYM_DATA")
def test_five_columns_of_adult_are_those_of_brute_force():
    from benchmarks.adult_trees import COLUMNS, trees

    columns, k, share = COLUMNS[:5], 5, 0.02
    adult = vr.datasets.adult().select(pl.col(columns).cast(pl.String))
    given, n, limit = trees(adult, columns), len(adult), int(share * len(adult) + 1e-9)
    made, costs = {}, {}
    for name in columns:
        levels = max(map(len, given[name].values()))
        for level in range(levels + 1):
            to = {value: (value, *above)[level] for value, above in given[name].items()}
            under = Counter(to.values())
            made[name, level] = adult[name].replace_strict(to).alias(name)
            costs[name, level] = adult[name].replace_strict(
                {value: (under[label] - 1) / (len(to) - 1) for value, label in to.items()},
                return_dtype=pl.Float64,
            )
    front = {}
    for node in itertools.product(*(range(1 + max(map(len, given[name].values()))) for name in columns)):
        at = list(zip(columns, node, strict=True))
        table = pl.DataFrame([made[item] for item in at]).with_columns(
            cost=pl.sum_horizontal(*(costs[item] for item in at))
        )
        result = table.group_by(columns).agg(pl.len().alias("size"), pl.col("cost").sum()).sort("size")
        sizes, cost = result["size"].to_numpy(), result["cost"].to_numpy()
        hidden = int((sizes < k).sum())
        while 0 < sizes[:hidden].sum() < k:
            hidden += 1
        gone = int(sizes[:hidden].sum())
        if gone <= limit:
            loss = 100 * (cost[hidden:].sum() + len(columns) * gone) / (n * len(columns))
            front[gone] = min(loss, front.get(gone, math.inf))
    best, wanted = math.inf, {}
    for count in sorted(front):
        if front[count] < best - 1e-9:
            best = wanted[count] = front[count]
    release = vr.anonymize(
        vr.datasets.adult().select(columns),
        keys=list(columns),
        k=k,
        method="lattice",
        hierarchies=given,
        suppress=share,
    )
    assert {item.suppressed: item.loss for item in release.figures.lattice.frontier} == pytest.approx(wanted)
