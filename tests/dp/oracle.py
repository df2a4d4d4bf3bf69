"""Answers in place of noise: they write down what is asked, and do not look at it.

A grouping whose draws are answered alike for two neighbouring tables must publish the same for both: then it
looks at data through its draws alone. What the draws would have cost is added up from what they were asked.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager

import numpy as np

from voronym.dp import individual as individual_room
from voronym.dp import order as order_room
from voronym.dp import tree as tree_room

ROOMS = (individual_room, order_room, tree_room)


class Oracle:
    """Answers by a seed; ``asked`` are the draws, in their order."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.asked = []

    def noisy(self, values, total, length, share, *, pure):
        values = np.asarray(values)
        self.asked.append(("noisy", values.copy(), total, length, share, pure))
        size = max(total, 1) * float(self.rng.choice([0.3, 3.0, 30.0]))
        return np.rint(self.rng.normal(0.0, size, values.shape)).astype(np.int64), size**2

    def largest(self, scores, share, *, sensitivity=1, pure):
        scores = np.asarray(scores)
        self.asked.append(("largest", scores.copy(), sensitivity, None, share, pure))
        return self.rng.integers(0, scores.shape[1], len(scores))


@contextmanager
def answered_by(oracle, monkeypatch):
    with monkeypatch.context() as patch:
        for room in ROOMS:
            patch.setattr(room, "noisy", oracle.noisy)
            if hasattr(room, "largest"):
                patch.setattr(room, "largest", oracle.largest)
        yield oracle


def cost(first, second, rows=1):
    """What the same draws on two tables cost: ε, or ρ; checks what they say about their sensitivity.

    The tables differ in ``rows`` records.
    """
    assert len(first.asked) == len(second.asked)
    spent = 0.0
    for single, other in zip(first.asked, second.asked, strict=True):
        kind, a, limit, length, share, pure = single
        assert other[0] == kind
        assert other[2:] == single[2:]
        assert a.shape == other[1].shape
        change = (other[1] - a).astype(np.float64)
        if kind == "noisy":
            assert np.abs(change).sum() <= rows * limit + 1e-9
            assert math.sqrt(np.square(change).sum()) <= rows * length + 1e-6
            if pure:
                spent += share * np.abs(change).sum() / limit
            else:
                spent += share * np.square(change).sum() / length**2
        else:
            assert np.abs(change).max(initial=0.0) <= rows * limit
            ranges = change.max(axis=1) - change.min(axis=1)
            if pure:  # noise of scale 2 limit / share: a row costs its range of changes by that
                spent += share * (ranges / (2.0 * limit)).sum()
            else:
                spent += share * np.square(ranges / (2.0 * limit)).sum()
    return spent


def swapped(labels, first, other_labels, second):
    """The most records by which a group of one table differs from that of its neighbour."""
    groups = set(labels.tolist()) | set(other_labels.tolist())
    worst = 0
    for group in groups:
        a = Counter(map(tuple, first[labels == group].tolist()))
        b = Counter(map(tuple, second[other_labels == group].tolist()))
        worst = max(worst, sum((a - b).values()), sum((b - a).values()))
    return worst
