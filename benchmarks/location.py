"""The location anonymizer, without server and database.

``epoch``: seconds and peak memory of the first design and of an ordinary epoch, by people and change.
``town``: what the issue of budgets comes to over 60 epochs: the smallest set, served, told, metres.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from benchmarks.base import Benchmark, Case, Row


class Location(Benchmark):
    """Epochs by people and change, and towns by budget."""

    name: ClassVar[str] = "location"
    title: ClassVar[str] = "location: epochs, and towns over epochs"
    columns: ClassVar[dict[str, str]] = {
        "what": "what",
        "people": "people",
        "change": "change",
        "budget": "budget",
        "seconds": "first, s",
        "epoch_seconds": "epoch, s",
        "check_seconds": "check, s",
        "megabytes": "peak MB",
        "smallest": "smallest",
        "single": "alone %",
        "served": "served %",
        "told": "told %",
        "ratio": "rms, fresh=1",
        "linked": "linked: below k %",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return sizes, then budgets."""
        for people in (2_000,) if quick else (100_000, 1_000_000):
            for change in (0.001, 0.01):
                yield {"what": "epoch", "people": people, "change": change, "budget": 5 * change}
        epochs = 5 if quick else 60
        people = 500 if quick else 5_000
        for change, budgets in ((0.01, (0.03, 0.05, 0.1, 0.2, 0.3)), (0.05, (0.1, 0.2, 0.3, 0.5))):
            for budget in budgets[:1] if quick else budgets:
                yield {"what": "town", "people": people, "change": change, "budget": budget, "epochs": epochs}
        for policy in ("reuse", "afresh"):
            yield {"what": policy, "people": people, "change": 0.01, "budget": 0.0, "epochs": epochs}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Measure a case."""
        return _epoch(**case) if case["what"] == "epoch" else _town(**case)


def _epoch(what: str, people: int, change: float, budget: float) -> Row:  # noqa: ARG001
    from voronym_location import Population, Settings, Standing, check, plan
    from voronym_location.town import Town

    town = Town.make(2 * people, seed=1, side=10_000.0 * np.sqrt(people / 5_000))
    settings = Settings(k=10, budget=budget)
    small = Population.of(np.arange(2000), *town.homes[:2000].T)  # compile, and see nothing of it
    plan(small, plan(small, Standing.empty(), settings).standing, settings)
    person = np.arange(people)
    begun = time.perf_counter()
    first = plan(Population.of(person, *town.homes[:people].T), Standing.empty(), settings)
    seconds = time.perf_counter() - begun
    group, since, standing = first.group, first.since, first.standing
    rng, times, checks = np.random.default_rng(0), [], []
    for turn in range(3):
        leave = rng.choice(people, int(change * people), replace=False)
        person = np.r_[np.delete(person, leave), people * (turn + 1) + np.arange(len(leave))]
        group = np.r_[np.delete(group, leave), np.full(len(leave), -1)]
        since = np.r_[np.delete(since, leave), np.full(len(leave), standing.epoch + 1)]
        homes = town.homes[person % len(town.homes)]
        now = Population.of(person, *homes.T, group=group, since=since)
        begun = time.perf_counter()
        epoch = plan(now, standing, settings)
        times.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        check(now, epoch, standing, settings.k)
        checks.append(time.perf_counter() - begun)
        group, since, standing = epoch.group, epoch.since, epoch.standing
    return {
        "seconds": seconds,
        "epoch_seconds": float(np.median(times)),
        "check_seconds": float(np.median(checks)),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "smallest": epoch.figures.smallest,
        "served": 100.0 * epoch.figures.served / people,
        "told": 100.0 * epoch.figures.told / people,
    }


def _town(what: str, people: int, change: float, budget: float, epochs: int) -> Row:
    from voronym_location import Settings
    from voronym_location.simulate import headroom_for, simulate

    policy = "cohort" if what == "town" else what
    settings = Settings(k=10, budget=budget, headroom=headroom_for(budget))
    begun = time.perf_counter()
    found = simulate(
        people=people, epochs=epochs, change=change, settings=settings, policies=[policy], seed=0
    )
    rows = found.rows[policy]
    later = rows[1:]
    least = float(np.mean(list(found.fresh.values())))
    return {
        "seconds": time.perf_counter() - begun,
        "smallest": min(row.pseudonym.smallest for row in rows),
        "single": 100.0 * max(row.pseudonym.single for row in rows),
        "served": 100.0 * float(np.mean([row.served for row in later])),
        "told": 100.0 * float(np.mean([row.told for row in later])),
        "ratio": float(np.sqrt(np.mean([row.rms**2 for row in later]))) / least,
        "linked": 100.0 * rows[-1].linking.below,
        "designs": found.designs,
    }
