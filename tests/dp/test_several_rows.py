"""A person with several rows: all of them together cost no more than the promise."""

from __future__ import annotations

import numpy as np
import pytest

from dp.oracle import Oracle, answered_by, cost
from voronym.dp import GROUPINGS, BoundedRecords, Budget

N = 12


def spent(monkeypatch, name, rows, budget, k, before, after):
    """The cost of the rows of one person, whose values are those of ``before`` or of ``after``."""
    asked = []
    for own in (before, after):
        ordered = np.concatenate([own, np.full(N - rows, 0.5)])[:, None]
        with answered_by(Oracle(3), monkeypatch) as oracle:
            GROUPINGS[name].function(BoundedRecords(ordered, np.empty((N, 0), np.int64)), k, budget)
        asked.append(oracle)
    return cost(*asked, rows=rows)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("rows", [2, 4])
@pytest.mark.parametrize("name", sorted(GROUPINGS))
def test_all_rows_together_cost_no_more_than_the_promise(name, rows, delta, monkeypatch):
    budget = Budget(1.0, delta, rows)
    promised = budget.rho if delta else budget.epsilon
    rng = np.random.default_rng(rows)
    ends = [(np.zeros(rows), np.ones(rows)), *((rng.random(rows), rng.random(rows)) for _ in range(10))]
    costs = [
        spent(monkeypatch, name, rows, budget, k, before, after) for before, after in ends for k in (2, N)
    ]
    assert max(costs) <= promised * (1 + 1e-9)
    assert max(costs) > 0.3 * promised  # from one end to the other: what the noise is for
