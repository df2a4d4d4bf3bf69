"""A town over epochs: people come and go, places are published, and intruders keep everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from voronym.core.context import Context
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.partition import Partition
from voronym.problem import Problem
from voronym_location.intruders import Intruder, Seen
from voronym_location.policies import POLICIES, EpochPlaces, designed
from voronym_location.population import Floats, Ints, points
from voronym_location.rules import Settings
from voronym_location.town import Town

EVERY = 10
"""Epochs between two groupings of everybody; these show the least possible error."""
SETTLED = 10
"""Epochs after which a town has settled: the first ones are close to the first design."""


@dataclass(frozen=True)
class Row:
    """An epoch under a policy. Shares are of active people, metres of served people."""

    epoch: int
    people: int
    served: float
    told: float
    rms: float
    median: float
    pseudonym: Seen
    linking: Seen


@dataclass(frozen=True)
class Point:
    """The result for a budget: means over the epochs after the town has settled.

    ``ratio``: rms distance, relative to grouping everybody at once. ``below``: share of people below k at
    the end, for an intruder who links pseudonyms.
    """

    budget: float
    headroom: int
    told: float
    served: float
    ratio: float
    below: float


@dataclass(frozen=True)
class Trial:
    """The result for a policy with another setting: means over the epochs after the town has settled.

    ``setting``: the headroom of `retire`, or the epochs between two designs of `rerun`. ``below`` and
    ``single``: shares of the served at the end. ``linked``: the share below k for an intruder who links
    pseudonyms.
    """

    policy: str
    setting: int
    told: float
    served: float
    ratio: float
    smallest: int
    below: float
    single: float
    linked: float


@dataclass(frozen=True)
class Simulation:
    """A town over epochs, policy by policy.

    Parameters
    ----------
    settings : Settings
        Settings of the policies.
    people : int
        Number of people in the town.
    change : float
        Share of people who leave at each epoch; equally many join.
    rows : dict
        The epochs of each policy.
    fresh : dict
        The rms metres of a grouping of everybody at some of the epochs, by the best search we have.
    designs : dict
        The rms metres of the first grouping of everybody, by method.
    density : list of (float, float)
        By tenths of the people, the densest first: the median distance to the kth neighbour, and the rms
        metres from home to the cohort's place at the end.
    points : list of Point
        Results for other budgets.
    trials : list of Trial
        Results of `retire` with other headrooms, and of `rerun` with other periods.
    """

    settings: Settings
    people: int
    change: float
    rows: dict[str, list[Row]]
    fresh: dict[int, float]
    designs: dict[str, float]
    density: list[tuple[float, float]]
    points: list[Point]
    trials: list[Trial] = field(default_factory=list)

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
    budgets: Sequence[float] = (),
    headrooms: Sequence[int] = (),
    periods: Sequence[int] = (),
    seed: int = 0,
    ctx: Context | None = None,
) -> Simulation:
    """Simulate people who come and go in a made-up town; record published places and intruders' knowledge.

    Parameters
    ----------
    people : int
        Number of people in the town.
    epochs : int
        Number of epochs; a time limit or a request to finish ends earlier, after a complete epoch.
    change : float
        Share of people who leave at each epoch; equally many join.
    settings : Settings, optional
        Settings of the policies.
    policies : sequence of str
        Which, of `voronym_location.policies.POLICIES`.
    budgets : sequence of float
        Other budgets that cohorts are tried with, each with a headroom that suits it, see `headroom_for`.
    headrooms : sequence of int
        Headrooms that `retire` is tried with.
    periods : sequence of int
        Epochs between two designs that `rerun` is tried with.
    seed : int
        Seed for the town and for the people who leave.
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
    runs = {name: Run(name, chosen) for name in policies}  # refuse an unknown name before the work
    here = Context(seed=seed) if ctx is None else ctx
    town = Town.make(3 * people, seed=seed)
    X = points(*town.homes[:people].T)
    others = [
        *(("cohort", replace(chosen, budget=share, headroom=headroom_for(share))) for share in budgets),
        *(("retire", replace(chosen, headroom=spare)) for spare in headrooms),
        *(("rerun", replace(chosen, redesign=period)) for period in periods),
    ]
    own = 1.0 if not others else 0.5
    first = here.part(0.0, 0.05, stage="designing").unhurried()
    designs = {
        "MDAV": _rms(METHODS["mdav"].partition(Problem.of(X, chosen.k), first), X),
        "PCL": _rms(designed(X, chosen.k, first).partition, X),
        "pairs": _rms(METHODS["pairs"].partition(Problem.of(X, chosen.k), first), X),
    }
    fresh: dict[int, float] = {}
    for epoch, person in _lives(people, epochs, change, seed):
        homes = town.homes[person % len(town.homes)]
        part = here.part(
            0.05 + 0.95 * own * (epoch - 1) / epochs,
            0.05 + 0.95 * own * epoch / epochs,
            stage=f"epoch {epoch}",
        )
        if epoch % EVERY == 1 or epoch == epochs:
            fresh[epoch] = _least(homes, chosen.k, part.part(0.0, 0.3).unhurried())
        for run in runs.values():
            run.step(epoch, person, homes, part.part(0.3, 0.9).unhurried())
        part.tell(1.0)
        if here.over:
            break
    least = float(np.mean(list(fresh.values())))
    result: list[Point] = []
    trials: list[Trial] = []
    for number, (name, other) in enumerate(others):
        part = here.part(0.525 + 0.475 * number / len(others), 0.525 + 0.475 * (number + 1) / len(others))
        if here.over:
            break
        trial = _trial(name, other, town, _lives(people, epochs, change, seed), epochs, least, part)
        if name == "cohort":
            result.append(
                Point(other.budget, other.headroom, trial.told, trial.served, trial.ratio, trial.linked)
            )
        else:
            trials.append(trial)
    density = runs["cohort"].density(town, chosen.k) if "cohort" in runs else []
    rows = {name: run.rows for name, run in runs.items()}
    return Simulation(chosen, people, change, rows, fresh, designs, density, result, trials)


class Run:
    """A policy over epochs, with the intruders that watch it."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.policy, self.k = POLICIES[name](settings), settings.k
        self.pseudonym, self.linking = Intruder(linking=False), Intruder(linking=True)
        self.rows: list[Row] = []
        self.last: tuple[Ints, EpochPlaces] | None = None

    def step(self, epoch: int, person: Ints, homes: Floats, ctx: Context) -> None:
        """Advance by an epoch."""
        result = self.policy.step(person, homes, ctx)
        away = result.metres[result.place >= 0]
        self.last = person, result
        self.rows.append(
            Row(
                epoch,
                len(person),
                float((result.place >= 0).mean()),
                float(result.told.mean()),
                float(np.sqrt(np.square(away).mean())) if len(away) else 0.0,
                float(np.median(away)) if len(away) else 0.0,
                self.pseudonym.see(person, result.place, result.fresh, self.k),
                self.linking.see(person, result.place, result.fresh, self.k),
            )
        )

    def density(self, town: Town, k: int) -> list[tuple[float, float]]:
        """Return the distances of the kth neighbour and of the place, by tenths of the people."""
        if self.last is None:
            return []
        person, result = self.last
        X = points(*town.homes[person % len(town.homes)].T)
        apart = cKDTree(X).query(X, min(k + 1, len(X)))[0][:, -1]
        out = []
        for rows in np.array_split(np.argsort(apart, kind="stable"), 10):
            away = result.metres[rows]
            if np.isfinite(away).any():
                out.append((float(np.median(apart[rows])), float(np.sqrt(np.nanmean(np.square(away))))))
        return out


def headroom_for(budget: float) -> int:
    """Return the headroom for a budget: a large budget needs little of it.

    Examples
    --------
    >>> [headroom_for(budget) for budget in (0.05, 0.15, 0.3)]
    [2, 1, 0]
    """
    return 2 if budget < 0.12 else 1 if budget < 0.2 else 0


def _trial(
    name: str, settings: Settings, town: Town, lives: Iterator[tuple[int, Ints]], epochs: int, least: float,
    ctx: Context,
) -> Trial:  # fmt: skip
    """Run a policy with other settings."""
    run = Run(name, settings)
    setting = settings.redesign if name == "rerun" else settings.headroom
    for epoch, person in lives:
        part = ctx.part((epoch - 1) / epochs, epoch / epochs, stage=f"{name} {setting}")
        run.step(epoch, person, town.homes[person % len(town.homes)], part.unhurried())
        part.tell(1.0)
        if ctx.over:
            break
    rows = run.rows[min(SETTLED, len(run.rows) - 1) :]
    return Trial(
        name,
        setting,
        float(np.mean([row.told for row in rows])),
        float(np.mean([row.served for row in rows])),
        float(np.sqrt(np.mean([row.rms**2 for row in rows]))) / least,
        min(row.linking.smallest if name == "retire" else row.pseudonym.smallest for row in run.rows),
        rows[-1].pseudonym.below,
        rows[-1].pseudonym.single,
        rows[-1].linking.below,
    )


def _lives(people: int, epochs: int, change: float, seed: int) -> Iterator[tuple[int, Ints]]:
    """Yield the epochs with the active people of each, ascending."""
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
    """Return the rms metres of a separate grouping of everybody."""
    X = points(*homes.T)
    return _rms(METHODS["pairs"].partition(Problem.of(X, k), ctx), X)


def _rms(part: Partition, X: Floats) -> float:
    return float(np.sqrt(part.sse(X) / len(X)))
