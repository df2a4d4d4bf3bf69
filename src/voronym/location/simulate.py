"""A town over epochs: people come and go, places are told, and intruders keep everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from voronym.context import Context
from voronym.errors import InputError
from voronym.location.epochs import Settings
from voronym.location.intruders import Intruder, Seen
from voronym.location.policies import POLICIES, Told
from voronym.location.population import Floats, Ints, points
from voronym.location.town import Town
from voronym.problem import Problem
from voronym.registry import METHODS

EVERY = 10
"""Epochs between two groupings of everybody, which say what the least error would be."""


@dataclass(frozen=True)
class Row:
    """An epoch under a policy. Shares are of the people who are active, metres of those who are served."""

    epoch: int
    people: int
    served: float
    told: float
    rms: float
    median: float
    pseudonym: Seen
    linking: Seen


@dataclass(frozen=True)
class Simulation:
    """A town over epochs, policy by policy.

    Parameters
    ----------
    settings : Settings
        Of the policies.
    people : int
        Who live in the town.
    change : float
        The share of them who leave at each epoch; as many join.
    rows : dict
        The epochs of each policy.
    fresh : dict
        The rms metres of a grouping of everybody at some of the epochs, by the best search we have.
    """

    settings: Settings
    people: int
    change: float
    rows: dict[str, list[Row]]
    fresh: dict[int, float]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as JSON has them."""
        return asdict(self)


def simulate(
    *,
    people: int = 5000,
    epochs: int = 60,
    change: float = 0.01,
    settings: Settings | None = None,
    policies: Sequence[str] = ("cohort", "reuse", "afresh"),
    seed: int = 0,
    ctx: Context | None = None,
) -> Simulation:
    """Let people come and go in a made-up town, and see what each policy tells and what intruders learn.

    Parameters
    ----------
    people : int
        How many live there.
    epochs : int
        How many there are; a time limit or a wish to finish ends earlier, after a whole epoch.
    change : float
        The share of people who leave at each epoch; as many others join.
    settings : Settings, optional
        Of the policies.
    policies : sequence of str
        Which, of `voronym.location.policies.POLICIES`.
    seed : int
        Of the town and of who leaves.
    ctx : Context, optional
        Progress, deadline and wishes.

    Examples
    --------
    >>> found = simulate(people=60, epochs=3, settings=Settings(k=5), policies=["cohort"])
    >>> [row.pseudonym.smallest >= 5 for row in found.rows["cohort"]]
    [True, True, True]
    """
    chosen = Settings() if settings is None else settings
    if people < chosen.k:
        raise InputError(f"{people} people are fewer than k={chosen.k}: make the town larger")
    if not 0.0 <= change < 1.0 or epochs < 1:
        raise InputError("change is a share from 0 to below 1, and there is at least one epoch")
    here = Context(seed=seed) if ctx is None else ctx
    town = Town.make(3 * people, seed=seed)
    made = {name: POLICIES[name](chosen) for name in policies}
    watch = {name: (Intruder(linking=False), Intruder(linking=True)) for name in policies}
    rows: dict[str, list[Row]] = {name: [] for name in policies}
    fresh: dict[int, float] = {}
    for epoch, person in _lives(people, epochs, change, seed):
        homes = town.homes[person % len(town.homes)]
        part = here.part((epoch - 1) / epochs, epoch / epochs, stage=f"epoch {epoch}")
        if epoch % EVERY == 1 or epoch == epochs:
            fresh[epoch] = _least(homes, chosen.k, part.part(0.0, 0.3).unhurried())
        for name, policy in made.items():
            told = policy.step(person, homes, part.part(0.3, 0.9).unhurried())
            rows[name].append(_row(epoch, person, told, watch[name], chosen.k))
        part.tell(1.0)
        if here.over:
            break
    return Simulation(chosen, people, change, rows, fresh)


def _lives(people: int, epochs: int, change: float, seed: int) -> Any:
    """Yield the epochs, and who is active in each, ascending."""
    rng = np.random.default_rng([seed, 1])
    person: Ints = np.arange(people)
    after = people
    for epoch in range(1, epochs + 1):
        if epoch > 1:
            leave = rng.choice(len(person), round(change * len(person)), replace=False)
            person = np.concatenate([np.delete(person, leave), after + np.arange(len(leave))])
            after += len(leave)
        yield epoch, person


def _least(homes: Floats, k: int, ctx: Context) -> float:
    """Return the rms metres of a grouping of everybody by itself."""
    X = points(*homes.T)
    part = METHODS["pairs"].partition(Problem.of(X, k), ctx)
    return float(np.sqrt(part.sse(X) / len(X)))


def _row(epoch: int, person: Ints, told: Told, watch: tuple[Intruder, Intruder], k: int) -> Row:
    away = told.metres[told.place >= 0]
    return Row(
        epoch,
        len(person),
        float((told.place >= 0).mean()),
        float(told.told.mean()),
        float(np.sqrt(np.square(away).mean())) if len(away) else 0.0,
        float(np.median(away)) if len(away) else 0.0,
        watch[0].see(person, told.place, told.fresh, k),
        watch[1].see(person, told.place, told.fresh, k),
    )
