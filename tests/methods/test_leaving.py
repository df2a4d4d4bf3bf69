"""Records that are left out: never worse than none, near the best choice, and the bound is true."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voronym as vr
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.methods.leaving import leave_out
from voronym.problem import Problem


def least_loss(X, k):
    """The least SSE of groups of k or more, by trying all of them."""
    n = len(X)
    best = {0: 0.0}
    cost = {}

    def sse(mask):
        if mask not in cost:
            rows = X[[i for i in range(n) if mask >> i & 1]]
            cost[mask] = float(np.square(rows - rows.mean(axis=0)).sum())
        return cost[mask]

    def of(mask):
        if mask in best:
            return best[mask]
        if mask.bit_count() < k:
            return np.inf
        first = mask & -mask
        rest = [i for i in range(n) if (mask ^ first) >> i & 1]
        result = np.inf
        for size in range(k - 1, 2 * k - 1):
            for others in combinations(rest, size):
                group = first | sum(1 << i for i in others)
                left = of(mask ^ group)
                if left < np.inf:
                    result = min(result, sse(group) + left)
        best[mask] = result
        return result

    return of, sse


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 3), st.integers(8, 10), st.integers(1, 2))
def test_against_every_choice(seed, k, n, many):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n, 2)).astype(float)
    X[0] *= 6
    result = leave_out(Problem.of(X, k), (many + 0.01) / n, Context())
    assert (~result.kept).sum() <= many
    of, _ = least_loss(X, k)
    everybody = (1 << n) - 1
    choices = (out for few in range(many + 1) for out in combinations(range(n), few))  # fewer may be better
    truth = min(of(everybody ^ sum(1 << i for i in out)) for out in choices)
    total = float(np.square(X - X.mean(axis=0)).sum())
    if total == 0.0:
        return
    assert result.least <= 100 * truth / total + 1e-9
    of_kept = of(sum(1 << int(i) for i in np.flatnonzero(result.kept)))
    assert 100 * of_kept / total - 1e-9 <= result.after <= result.before + 1e-9
    assert result.after >= 100 * truth / total - 1e-9


def test_the_bound_is_true_with_weights():
    """One record of little weight: against every choice of who leaves, and every grouping of the others."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, weights = rng.normal(size=(8, 2)), rng.choice([0.5, 20.0], 8, p=[0.8, 0.2])
        weights[0], weights[1] = 0.5, 20.0
        problem = Problem.of(X, 3, weights=weights)
        result = leave_out(problem, 0.13, Context())
        truth = np.inf
        for out in range(8):
            rows = [i for i in range(8) if i != out]
            for size in (0, 3):  # all in one group, or three and four
                for few in combinations(rows, size):
                    groups = [g for g in (few, [i for i in rows if i not in few]) if g]
                    truth = min(truth, sum(weighted(X[list(g)], weights[list(g)]) for g in groups))
        assert 0 < result.least <= 100 * truth / problem.total + 1e-9
        assert result.after >= 100 * truth / problem.total - 1e-9


def weighted(X, weights):
    return float((weights[:, None] * np.square(X - np.average(X, axis=0, weights=weights))).sum())


@pytest.mark.parametrize(("sizes", "share", "out"), [((5, 5), 0.1, 0), ((5, 6), 0.2, 1), ((8, 8), 0.2, 3)])
def test_nobody_leaves_whom_a_group_needs(sizes, share, out):
    """Two towns far apart: who leaves one of k people sends the others to the other town."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(size, 2)) + 100 * at for at, size in enumerate(sizes)])
    problem = Problem.of(X, 5)
    result = leave_out(problem, share, Context())
    assert (~result.kept).sum() == out
    kept = np.flatnonzero(result.kept)
    part = vr.microaggregate(X[kept], 5, method="mdav")
    assert part.sse(X[kept]) <= vr.microaggregate(X, 5, method="mdav").sse(X) + 1e-9
    assert ("nobody was left out" in result.sentence) == (out == 0)


def test_the_search_is_near_the_best_choice():
    """Over fifty small tables what it gains is most of what the best choice gains."""
    gained = possible = proven = least = 0.0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10, 2))
        X[:2] *= 5
        result = leave_out(Problem.of(X, 3), 0.2, Context())
        of, _ = least_loss(X, 3)
        total = np.square(X - X.mean(axis=0)).sum()
        truth = min(of(1023 ^ (1 << a) ^ (1 << b)) for a, b in combinations(range(10), 2))
        everybody = 100 * of(1023) / total
        gained += everybody - result.after
        possible += everybody - 100 * truth / total
        proven += result.least
        least += 100 * truth / total
    assert gained > 0.93 * possible
    assert proven > 0.3 * least


def test_outliers_go_first_and_the_release_says_so(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"x": rng.normal(size=300).round(3), "y": rng.normal(size=300).round(3), "z": ["a", "b"] * 150}
    )
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(40.0 + pl.int_range(pl.len()) * 30).otherwise("x").alias("x")
    )
    how = {"keys": ["x", "y"], "confidential": ["z"], "k": 5, "method": "mdav"}
    plain = vr.anonymize(frame, **how)
    less = vr.anonymize(frame, suppress="1%", **how)
    assert less.table.height == 297
    assert less.table["x"].max() < 10
    sizes = less.table.group_by("x", "y").len()["len"]
    assert sizes.min() >= 5
    assert "3 of 300 records (1 %) were left out" in less.log[0]
    assert plain.table.height == 300
    less.write(tmp_path / "r.csv")
    assert vr.Recipe.from_toml(less.recipe.to_toml()).suppress == 0.01
    again = vr.anonymize(frame, recipe=less.recipe)
    assert sorted(again.table.rows()) == sorted(less.table.rows())
    assert less.dossier().inside is not None


def test_in_strata_each_gives_its_share():
    rng = np.random.default_rng(3)
    X, of = rng.normal(size=(200, 2)), np.repeat([0, 1], [150, 50])
    X[of == 0] *= 20  # all that costs most is there
    problem = Problem.of(X, 4)
    result = leave_out(problem, 0.04, Context(), of)
    assert [(~result.kept & (of == s)).sum() for s in (0, 1)] == [6, 2]
    alone = [leave_out(Problem.of(X[of == s], 4), 0.04, Context()) for s in (0, 1)]
    total = [np.square(X[of == s] - X[of == s].mean(axis=0)).sum() for s in (0, 1)]
    for name in ("before", "after", "least"):  # percent of all, added up
        sums = sum(getattr(single, name) * t for single, t in zip(alone, total, strict=True)) / problem.total
        assert getattr(result, name) == pytest.approx(sums)
    assert "in each of 2 strata" in result.sentence


def test_households_weights_strata_and_steps_at_once(tmp_path):
    rng = np.random.default_rng(4)
    members = rng.integers(1, 5, 90)
    n = members.sum()
    homes = np.repeat(np.arange(90), members)
    frame = pl.DataFrame(
        {
            "hid": homes, "region": np.repeat(rng.choice(["n", "s"], 90), members),
            "age": rng.integers(1, 95, n), "sex": rng.choice(["f", "m"], n),
            "pay": 10 * rng.integers(100, 300, n), "w": np.round(rng.uniform(200, 900, n), 1),
            "row": [f"r{i}" for i in range(n)],
        }
    )  # fmt: skip
    how = {
        "household": "hid", "keys": ["age", "sex", "region"], "confidential": ["pay"], "k": 3,
        "method": "mdav", "steps": ["top age=85", "round pay=100", "recode sex values=f,m to=x"],
        "weights": "w", "strata": ["region"], "suppress": "2%"
    }  # fmt: skip
    with pytest.warns(UserWarning, match="'row' has"):
        release = vr.anonymize(frame, other=["w", "row"], **how)
    out = release.table.join(frame.select("row", "hid"), on="row")
    by_group = out.group_by("age", "sex", "region").agg(pl.col("hid").n_unique(), pl.col("w").n_unique())
    assert by_group["hid"].min() >= 3  # households, counted with the original file
    assert by_group["w"].max() == 1
    for region in ("n", "s"):
        old, new = (table.filter(pl.col("region") == region) for table in (frame, out))
        assert 0 < len(old) - len(new) <= 0.02 * len(old)
        stayed = old.filter(pl.col("row").is_in(new["row"].to_list()))
        assert new["w"].sum() == pytest.approx(stayed["w"].sum())
    with pytest.raises(InputError, match="pseudonyms show how many live in a household"):
        vr.anonymize(frame.drop("row"), other=["w"], pseudonyms=True, **how)


def test_what_it_cannot():
    frame = vr.datasets.hospital(100, seed=1)
    how = {"keys": ["age", "sex"], "identifiers": ["name"], "drop_undeclared": True}
    for wrong in ("60%", -0.1, "many", True):
        with pytest.raises(InputError, match="share of the records below a half"):
            vr.anonymize(frame, suppress=wrong, **how)
    assert len(vr.anonymize(frame, suppress=0.1, space="mixed", **how).table) < 100
