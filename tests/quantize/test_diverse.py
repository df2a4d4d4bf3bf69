"""PCL whose groups hold their share of every confidential level."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import voronym as vr
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.partition import group_means
from voronym.privacy.cells import Judge, Levels
from voronym.problem import Problem
from voronym.quantize.diverse import diverse, least_sizes


def problem(n=60, levels=3, k=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    codes = np.sort(rng.integers(0, levels, n))[np.argsort(np.argsort(X[:, 0] + rng.normal(0, 0.5, n)))]
    names = tuple(map(str, range(levels)))
    judge = Judge(Levels("w", codes, False, names), None, 1.0, name="toy")
    whole = Problem.of(X, k)
    return Problem(whole.records, k, [judge]), X, codes


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_every_group_holds_its_share_of_every_level(seed, share):
    whole, _, codes = problem(seed=seed)
    part = diverse(whole, share, Context())
    m, low = least_sizes(codes, 6, share)
    assert part.n_cells == m
    assert part.sizes.min() >= 6
    counts = np.zeros((m, 3), int)
    np.add.at(counts, (part.labels, codes), 1)
    assert (counts >= low).all()
    assert (low >= np.floor(share * np.bincount(codes) / m)).all()


def test_no_other_assignment_to_its_centroids_costs_less():
    """The whole linear programme at once, levels together: it cannot do better."""
    whole, X, codes = problem(n=40, levels=2, k=8, seed=4)
    part = diverse(whole, 1.0, Context())
    m, low = least_sizes(codes, 8, 1.0)
    C = group_means(X, part.labels, m)
    cost = np.square(X[:, None] - C).sum(axis=2)
    rows = np.kron(np.eye(40), np.ones((1, m)))
    cells = np.array([[(codes[i] == level) * (q == cell) for i in range(40) for q in range(m)]
                      for level in range(2) for cell in range(m)], float)  # fmt: skip
    need = np.array([low[level] for level in range(2) for _ in range(m)], float)
    most = np.array([2 * -(-int((codes == level).sum()) // m) for level in range(2) for _ in range(m)], float)
    best = linprog(
        cost.ravel(), A_ub=np.vstack([-cells, cells]), b_ub=np.concatenate([-need, most]), A_eq=rows,
        b_eq=np.ones(40), bounds=(0, 1),
    )  # fmt: skip
    assert part.sse(X) == pytest.approx(best.fun, rel=1e-9)


def test_as_many_groups_as_the_levels_allow():
    for counts, k, share in (((50, 30, 20), 5, 1.0), ((97, 3), 4, 1.0), ((10, 10), 7, 0.5)):
        codes = np.repeat(np.arange(len(counts)), counts)
        m, low = least_sizes(codes, k, share)
        assert low.sum() >= k or m == 1
        assert (low * m <= counts).all()


def test_a_release_has_diversity_by_design():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 400)
    table = pl.DataFrame(
        {"age": age, "size": rng.normal(170, 9, 400), "ill": (age + rng.normal(0, 12, 400) > 50)}
    )
    asked = {"keys": ["age", "size"], "confidential": ["ill"], "k": 10, "method": "pcl", "seed": 0}
    made = vr.anonymize(table, models=["t-closeness=0.15"], options={"diverse": 1.0}, **asked)
    shares = made.table.group_by("age", "size").agg(pl.col("ill").mean(), pl.len())
    assert shares["len"].min() >= 10
    assert (shares["ill"] - table["ill"].mean()).abs().max() <= 0.15 + 1e-9
    with pytest.raises(InputError, match="diverse needs a model"):
        vr.anonymize(table, options={"diverse": 1.0}, **asked)
