"""A town of 5,000 over 60 epochs: the promise by a checker of its own, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from location.checker import Checker
from location.test_epochs import Pseudonyms, lives
from voronym.core.context import Context
from voronym_location import Settings, check
from voronym_location.simulate import _least
from voronym_location.town import Town

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("change", "settings", "told", "served", "ratio"),
    [
        (0.01, Settings(k=10, budget=0.05), 0.05, 0.94, 1.5),
        (0.01, Settings(k=10, budget=0.30, headroom=0), 0.30, 0.98, 1.05),
        (0.05, Settings(k=10, budget=0.30), 0.30, 0.90, 1.5),
    ],
)
def test_nobody_is_below_k_and_few_are_told_anew(change, settings, told, served, ratio):
    town, checker, names = Town.make(20_000, seed=0), Checker(), Pseudonyms()
    figures, least = [], []
    for population, before, epoch in lives(town, 60, settings, people=5000, change=change, seed=0):
        check(population, epoch, before, 10)
        active = dict(zip(population.person.tolist(), population.household.tolist(), strict=True))
        assert checker.observe(active, names.handed(population, epoch))[0] >= 10
        figures.append(epoch.figures)
        if epoch.figures.epoch % 20 == 0:
            homes = np.stack([population.latitude, population.longitude], axis=1)
            least.append(_least(homes, 10, Context()))
    later = figures[1:]
    assert np.mean([item.told / item.people for item in later]) <= told
    assert np.mean([item.served / item.people for item in later]) >= served
    result = np.sqrt(np.mean([item.rms**2 for item in later])) / np.mean(least)
    assert result <= ratio
    print(  # noqa: T201 - for whoever asks with -s
        f"change {change}: smallest {min(item.smallest for item in figures)}, told "
        f"{np.mean([item.told / item.people for item in later]):.4f}, served "
        f"{np.mean([item.served / item.people for item in later]):.4f} (least "
        f"{min(item.served / item.people for item in later):.3f}), rms {result:.3f} of {np.mean(least):.0f} m"
    )
