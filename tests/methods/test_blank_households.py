"""How few gaps will do where k counts households or records are left out, against programmes of its own."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from voronym.core.context import Context
from voronym.methods.blank_leaving import Coded
from voronym.methods.local_suppression import suppress_locally


def optimum(codes, homes, k):
    """Return the fewest gaps: every record in a class of its values, a class with k households or none."""
    n, d = codes.shape
    names, entries = {}, []
    for u in range(n):
        for kept in itertools.product((False, True), repeat=d):
            name = tuple(int(v) if keep else None for v, keep in zip(codes[u], kept, strict=True))
            entries.append((u, names.setdefault(name, len(names)), d - sum(kept)))
    lives = sorted({(c, int(homes[u])) for u, c, _ in entries})
    place = {pair: at for at, pair in enumerate(lives)}
    e, y, z = len(entries), len(names), len(lives)
    rows, low, high = [], [], []

    def constrain(parts, least, most):
        row = np.zeros(e + y + z)
        for at, value in parts:
            row[at] += value
        rows.append(row)
        low.append(least)
        high.append(most)

    for u in range(n):
        constrain([(at, 1) for at, (v, _, _) in enumerate(entries) if v == u], 1, 1)
    for at, (_, c, _) in enumerate(entries):
        constrain([(at, 1), (e + c, -1)], -np.inf, 0)
    for (c, home), at in place.items():  # a household is there where one of its records is
        mine = [(i, -1) for i, (u, own, _) in enumerate(entries) if own == c and homes[u] == home]
        constrain([(e + y + at, 1), *mine], -np.inf, 0)
    for c in range(y):
        constrain([(e + y + at, 1) for (own, _), at in place.items() if own == c] + [(e + c, -k)], 0, np.inf)
    cost = np.concatenate([[price for _, _, price in entries], np.zeros(y + z)])
    result = milp(
        cost, integrality=np.ones(len(cost)), bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.array(rows), low, high),
    )  # fmt: skip
    return round(result.fun)


def fewest_homes(labels, homes):
    return min(len({int(home) for home in homes[labels == label]}) for label in set(labels.tolist()))


@pytest.mark.parametrize("seed", range(6))
def test_no_choice_is_below_what_is_proven(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (12, 3))
    homes = np.sort(rng.integers(0, 6, 12))
    k = 2 + seed % 2
    best = optimum(codes, homes, k)
    result = suppress_locally(codes, k, Context(seed=0), homes=homes)
    plain = suppress_locally(codes, k, Context(seed=0), solve=False)
    assert result.cost == result.least == best  # small: solved
    searched = suppress_locally(codes, k, Context(seed=0), homes=homes, solve=False)
    assert best <= searched.cost <= best + 2
    assert plain.least - 1e-6 <= searched.least <= best + 1e-6  # households need no fewer gaps than records
    assert searched.least >= 0.85 * best
    assert fewest_homes(result.labels, homes) >= k


def test_households_need_more_than_records_and_the_proof_knows():
    codes = np.array([[0, 0]] * 4 + [[1, 1]] * 4)
    homes = np.array([0, 0, 0, 0, 1, 1, 1, 1])  # one household has all records of a combination
    result = suppress_locally(codes, 2, Context(seed=0), homes=homes)
    assert result.cost == 16.0
    assert result.least == pytest.approx(16.0)
    assert suppress_locally(codes, 2, Context(seed=0)).cost == 0.0


@pytest.mark.parametrize("seed", range(2))
def test_leaving_out_saves_gaps_and_no_choice_saves_more_than_is_proven(seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, (14, 2), p=[0.6, 0.3, 0.1])
    everybody, many = np.arange(14), 2
    outside, before, after, least = Coded(codes, 2, np.ones(2)).chosen(many, Context(seed=0), everybody >= 0)
    assert len(outside) <= many
    best = min(
        optimum(np.delete(codes, gone, axis=0), np.delete(everybody, gone), 2)
        for gone in map(list, itertools.combinations(range(14), many))
    )
    assert least <= best <= after <= before
    assert after <= best + 2


def test_who_leaves_is_whoever_would_have_gaps():
    codes = np.array([[0, 0]] * 20 + [[1, 1]] * 20 + [[0, 2], [2, 1]])
    outside, before, after, least = Coded(codes, 3, np.ones(2)).chosen(2, Context(), np.ones(42, bool))
    assert outside.tolist() == [40, 41]
    assert (before, after, least) == (6.0, 0.0, 0.0)  # two join each of them, with the same gap
