"""A 95 % interval of mutual information must cover what it estimates, also where exceptions are rare."""

from __future__ import annotations

import numpy as np
import pytest

from repeats import few
from voronym.privacy.cells import count_runs
from voronym.privacy.information import estimate
from voronym.privacy.level import Levels

TRIALS = 400


def law(classes, levels, noise):
    """Return the joint law of a class and a level: the class says the level, except for a share of noise."""
    within = np.full((classes, levels), noise / levels)
    within[np.arange(classes), np.arange(classes) % levels] += 1.0 - noise
    return within / classes


def information(joint):
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / outer[there])).sum())


@pytest.mark.parametrize(
    ("classes", "n", "levels", "noise"),
    few(
        [
            (4, 100, 2, 0.01),
            (20, 100, 2, 0.1),
            (4, 20, 2, 0.1),
            (20, 200, 2, 0.5),
            (10, 1000, 5, 0.01),
            (20, 100, 2, 0.01),
            (4, 1000, 2, 0.01),
            (4, 400, 2, 0.01),
            (50, 250, 4, 1.0),
        ],
        5,
    ),
)
def test_the_interval_covers_the_truth(classes, n, levels, noise):
    joint = law(classes, levels, noise)
    truth = max(0.0, information(joint))
    rng = np.random.default_rng(classes * n + levels)
    covered = 0
    for _ in range(TRIALS):
        drawn = rng.multinomial(n, joint.ravel()).reshape(joint.shape)
        drawn = drawn[drawn.sum(axis=1) > 0][:, drawn.sum(axis=0) > 0]
        c, w = (np.repeat(at, drawn.ravel()) for at in np.divmod(np.arange(drawn.size), drawn.shape[1]))
        column = Levels("w", w.astype(np.int64), False, tuple(range(drawn.shape[1])))
        result = estimate(count_runs(c.astype(np.int64), column.codes, len(drawn), column.size), column)
        covered += result.low <= truth <= result.high
    assert covered >= 0.93 * TRIALS
