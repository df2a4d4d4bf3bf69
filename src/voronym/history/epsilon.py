"""The ε in a ledger: the cost of every release for its people, the sums, and the budget.

Entries of differentially private releases store ε, δ and ρ with their groups, so the file knows each person's
cost. Releases without ε are not in the sum, because their cost is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.promise import meets
from voronym.dp.budget import Spent
from voronym.errors import GuaranteeError, InputError, hint
from voronym.history.ledger import Entry, Ledger, _opened
from voronym.history.people import Prints

Floats = NDArray[np.float64]

PRIVATE = "dp"
"""The field of an entry that holds its cost."""
DELTA = 1e-6
"""The δ for which sums are stated if there is no budget."""


@dataclass(frozen=True)
class Limit:
    """The joint cost that all releases may have for a person.

    Parameters
    ----------
    epsilon, delta : float
        With a δ, costs are added up as ρ if that is less.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon > 0.0 or not np.isfinite(self.epsilon):
            raise InputError(f"a budget is an ε above 0, not {self.epsilon!r}")
        if not 0.0 <= self.delta < 1.0:
            raise InputError(f"the δ of a budget is a probability below 1, not {self.delta!r}")

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}" + (f" at δ = {self.delta:g}" if self.delta else "")


def limit_of(ledger: Ledger) -> Limit | None:
    """Return the budget of a ledger; None if it has none."""
    with _opened(ledger.path) as base:
        row = base.execute("select value from facts where name = 'budget'").fetchone()
    return None if row is None else Limit(**json.loads(row[0]))


def set_limit(ledger: Ledger, limit: Limit) -> None:
    """Give a ledger a budget; earlier costs count."""
    with _opened(ledger.path) as base:
        text = json.dumps({"epsilon": limit.epsilon, "delta": limit.delta})
        base.execute("insert or replace into facts values ('budget', ?)", (text,))


def costs(entries: Sequence[Entry], people: Prints) -> tuple[Floats, Floats, Floats]:
    """Return the sums of ε, of δ and of ρ that each person has spent so far."""
    sums = np.zeros((3, len(people)))
    for entry in entries:
        cost = entry.about.get(PRIVATE)
        if cost is not None:
            inside = entry.of(entry.groups, people) >= 0
            sums += np.outer([cost["epsilon"], cost["delta"], cost["rho"]], inside)
    return sums[0], sums[1], sums[2]


def most_spent(entries: Sequence[Entry], people: Prints, delta: float) -> float:
    """Return the most that any of these people has spent, as an ε at a δ."""
    sums = np.unique(np.stack(costs(entries, people), axis=1), axis=0) if len(people) else np.zeros((1, 3))
    return max(Spent(*row).at(delta) for row in sums.tolist())


def everybody(entries: Sequence[Entry]) -> Prints:
    """Return all people of private releases."""
    named = [entry.people for entry in entries if PRIVATE in entry.about]
    return np.unique(np.concatenate(named)) if named else np.empty(0, "S16")


def check_spending(ledger: Ledger, entries: Sequence[Entry], rows: Prints, cost: Mapping[str, Any]) -> None:
    """Refuse a release that would spend more than the budget of the ledger, or that does not know its people.

    Parameters
    ----------
    ledger : Ledger
        The ledger, with or without a budget.
    entries : sequence of Entry
        The releases before.
    rows : array
        The fingerprint behind each row.
    cost : mapping
        ``epsilon``, ``delta`` and ``rho`` of the new release, and the most ``rows`` of a unit.
    """
    people, many = np.unique(rows, return_counts=True)
    if int(many.max(initial=0)) > int(cost["rows"]):
        raise InputError(
            f"the ledger knows people with {int(many.max())} rows in this table, and the release protects "
            f"{cost['rows']} together: say whose they are ({hint('person')}) and the most of them "
            "(dp=...,rows=N)"
        )
    limit = limit_of(ledger)
    if limit is None:
        return
    sums = np.stack(costs(entries, people), axis=1)
    before = most_spent(entries, people, limit.delta)
    new = np.unique(sums, axis=0) + np.array([cost["epsilon"], cost["delta"], cost["rho"]])
    after = max(Spent(*row).at(limit.delta) for row in new.tolist())
    if not meets(after, limit.epsilon):
        spent = "infinite" if not np.isfinite(after) else f"{after:.4g}"
        raise GuaranteeError(
            f"the budget of the ledger is {limit}; its people have spent up to {before:.4g}, and with this "
            f"release it would be {spent}. Nothing was released, and nothing was booked. Choose a smaller "
            f"ε, or people who are in fewer releases"
        )
