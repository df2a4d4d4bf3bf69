"""Means of tails in two releases: their difference must not be what one person has."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr

K, LIMIT = 5, 100_000


def firms(rng, n=300):
    return pl.DataFrame(
        {
            "id": [f"F{i:04d}" for i in range(n)],
            "size": rng.integers(1, 4, n),
            "income": np.round(np.exp(rng.normal(10.3, 0.8, n)), 2),
        }
    )


def published(table, ledger, **more):
    release = vr.anonymize(
        table, keys=["size"], identifiers=["id"], confidential=["income"], k=K, method="lattice",
        steps=[f"top income={LIMIT} publish=mean"], ledger=ledger, changed="publish", **more,
    )  # fmt: skip
    release.write(ledger.with_suffix(".csv"), overwrite=True)
    tail = pl.Series(release.table["income"]).max()
    return float(tail)


def tail_of(table):
    return table.filter(pl.col("income") > LIMIT)


@pytest.mark.filterwarnings("ignore")
def test_one_giant_among_k_newcomers(tmp_path):
    """k people join the tail, one of whom has nearly all that they have: the difference is that one's income."""
    rng, close = np.random.default_rng(4), 0
    for month in range(6):
        ledger = tmp_path / f"{month}.ledger"
        old = firms(rng)
        giant = float(rng.integers(3e5, 6e5))
        new = pl.DataFrame(
            {
                "id": [f"N{i}" for i in range(K)],
                "size": rng.integers(1, 4, K),
                "income": [giant, *(LIMIT + rng.uniform(1, 900, K - 1))],
            }
        )
        both = pl.concat([old, new])
        first, second = published(old, ledger), published(both, ledger)
        told = second * len(tail_of(both)) - first * len(tail_of(old)) - (K - 1) * (LIMIT + 450)
        close += abs(told / giant - 1) < 0.01
    assert close == 0  # 6 of 6 before


@pytest.mark.filterwarnings("ignore")
def test_a_corrected_income(tmp_path):
    """The same people, one of whom has another income: the difference of the sums is the correction."""
    rng, close = np.random.default_rng(5), 0
    for month in range(6):
        ledger = tmp_path / f"{month}.ledger"
        old = firms(rng)
        who = tail_of(old)["id"][0]
        change = float(rng.integers(20_000, 90_000))
        moved = old.with_columns(
            income=pl.when(pl.col("id") == who).then(pl.col("income") + change).otherwise("income")
        )
        first, second = published(old, ledger), published(moved, ledger)
        close += abs((second - first) * len(tail_of(old)) / change - 1) < 0.01
    assert close == 0  # 6 of 6 before


@pytest.mark.filterwarnings("ignore")
def test_an_even_group_of_newcomers_changes_the_mean(tmp_path):
    """The rule is no reason to stand still: k who have about the same are counted in."""
    rng, ledger = np.random.default_rng(6), tmp_path / "a.ledger"
    old = firms(rng)
    new = pl.DataFrame(
        {
            "id": [f"N{i}" for i in range(2 * K)],
            "size": rng.integers(1, 4, 2 * K),
            "income": rng.uniform(3e5, 5e5, 2 * K),
        }
    )
    assert published(pl.concat([old, new]), ledger) == pytest.approx(
        float(tail_of(pl.concat([old, new]))["income"].mean()), rel=1e-3
    )
    both = pl.concat([old, new, new.with_columns(id=pl.col("id") + "b")])
    assert published(both, ledger) == pytest.approx(float(tail_of(both)["income"].mean()), rel=1e-3)
