"""Measure the information of a masked table's keys about the confidential columns.

A channel states the risk under a model: normal data for numbers, and independent rules. Keys may reveal more,
in non-linear ways or together. So the masked table is measured without a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.privacy.cells import count_runs
from voronym.privacy.information import Estimate, estimate
from voronym.privacy.level import Levels, joint, levels
from voronym.privacy.mutual_information import MutualInformation
from voronym.table.table import Table

Ints = NDArray[np.int64]

_EACH = 5  # records per cell and level of W, on average: as for a chi-square test
_FEWEST, _MOST = 4, 1000  # cells
_FINE = (8, 4, 3, 2)  # records per cell
_EXACT = 0  # as a number of cells: as many as there are combinations
_PAIRED = 10  # keys, above which pairs are not looked at
_SURE = 0.95


@dataclass(frozen=True)
class Revealed:
    """The information of some published keys about some confidential columns.

    Parameters
    ----------
    keys, about : tuple of str
        The columns.
    cells : int
        Cells that the keys were cut into.
    levels : int
        Levels of the confidential columns.
    estimate : Estimate
        The mutual information of cells and levels, in nats. Its interval is so wide that all looks together
        are wrong with 5 % at most.
    looks : int
        Number of views that were tried; this one reveals most.
    """

    keys: tuple[str, ...]
    about: tuple[str, ...]
    cells: int
    levels: int
    estimate: Estimate
    looks: int
    confidence: float = _SURE
    """Joint coverage of the intervals of all views."""

    @property
    def excess(self) -> float:
        """The information above chance."""
        return self.estimate.excess

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        result = self.estimate
        return {
            "keys": list(self.keys),
            "about": list(self.about),
            "cells": self.cells,
            "levels": self.levels,
            "looks": self.looks,
            "plug_in": result.plug_in,
            "chance": result.chance,
            "excess": result.excess,
            "corrected": result.corrected,
            "interval": [result.low, result.high],
            "confidence": self.confidence,
            "entropy": result.entropy,
        }

    def __str__(self) -> str:
        verb = "tells" if len(self.keys) == 1 else "tell"
        return (
            f"{', '.join(self.keys)} {verb} {self.excess:.3g} nats above chance about "
            f"{', '.join(self.about)} ({self.estimate.low:.3g} to {self.estimate.high:.3g}; {self.cells} "
            f"cells{', the most of ' + str(self.looks) + ' looks' if self.looks > 1 else ''})"
        )


def measure_revealed(table: Table, ctx: Context, *, bins: int) -> Revealed:
    """Measure a lower bound of I(W; X̂) in a masked table; return the view that reveals most.

    A view is a choice of keys (each alone, each pair, all) and of confidential columns (each, all). The
    keys are cut jointly into cells: numbers and ordered levels into bins of about equal frequency,
    nominal ones into their most frequent categories and a rest. Each key in turn gets another bin, until
    there are 5 records per cell and level of W on average, or 1,000 cells. So the information by chance
    is small, and it is subtracted. Single keys, and all keys together, are also cut into cells of about
    8, 4, 3 and 2 records; all keys also by equal values, because a household number reveals the
    household's values in pairs. Cells are functions of the keys, so the keys reveal at least as much.

    Parameters
    ----------
    table : Table
        Masked keys and confidential columns.
    ctx : Context
        Gets a report after each look.
    bins : int
        Numeric confidential columns are cut into this number of bins of about equal frequency.

    Returns
    -------
    Revealed
        Takes O(n) per view. The lower end of its interval exceeds the information in the population with a
        probability of at most 2.5 %, as far as the asymptotic error is right.
    """
    keys = [levels(table, name) for name in table.keys]
    secret = [MutualInformation(column=name, bins=bins).levels(table)[0] for name in table.confidential]
    targets: list[tuple[tuple[str, ...], Levels]] = [((item.column,), item) for item in secret]
    if len(secret) > 1:
        targets.append((table.confidential, joint(secret)))
    looks = [(about, w, chosen, room) for about, w in targets for chosen, room in _looks(keys, w)]
    result: list[Revealed] = []
    for about, w, chosen, room in looks:
        labels = table.classes.labels if room == _EXACT else _cells([keys[i] for i in chosen], room)
        size = int(labels.max()) + 1
        sure = 1.0 - (1.0 - _SURE) / len(looks)
        outcome = estimate(count_runs(labels, w.codes, size, w.size), w, confidence=sure)
        ctx.tell(len(result) / len(looks))
        result.append(
            Revealed(tuple(keys[i].column for i in chosen), about, size, w.size, outcome, len(looks))
        )
    return max(result, key=lambda entry: (entry.estimate.low, entry.excess, -len(entry.keys)))


def _looks(keys: Sequence[Levels], w: Levels) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield sets of keys to measure, each with the largest number of cells to cut them into."""
    usual = _room(w)
    for chosen in _choices(len(keys)):
        yield chosen, usual
        finest = int(np.prod([float(keys[i].size) for i in chosen]).clip(0.0, float(w.n)))
        if finest <= usual or len(chosen) not in (1, len(keys)):
            continue
        yield from ((chosen, w.n // each) for each in _FINE if w.n // each > usual)
        if len(chosen) == len(keys):
            yield chosen, _EXACT


def coarse_confidential(table: Table, letters: int, *, bins: int) -> Ints:
    """Return all confidential columns as one column of classes, as fine as the number of records allows.

    There are 5 records per letter and class on average, but at least as many classes as the column with
    most levels has.
    """
    secret = [MutualInformation(column=name, bins=bins).levels(table)[0] for name in table.confidential]
    room = int(np.clip(table.n // (_EACH * letters), max(item.size for item in secret), _MOST))
    return _cells(secret, room)


def _choices(d: int) -> Iterator[tuple[int, ...]]:
    yield from ((i,) for i in range(d))
    if d <= _PAIRED:
        yield from combinations(range(d), 2)
    if d > 2:
        yield tuple(range(d))


def cells_of(table: Table, w: Levels) -> Ints:
    """Return the cell 0..m-1 of each record by all its keys, with 5 records per cell and level on average."""
    return _cells([levels(table, name) for name in table.keys], _room(w))


def _room(w: Levels) -> int:
    """Return the largest number of cells."""
    return int(np.clip(w.n // (_EACH * w.size), _FEWEST, _MOST))


def _cells(keys: Sequence[Levels], room: int) -> Ints:
    """Return a cell 0..m-1 for each record: a grid over the keys of at most ``room`` cells."""
    bins = [1] * len(keys)
    grows = [key.size > 1 for key in keys]
    while any(grows):
        for i, key in enumerate(keys):
            if not grows[i]:
                continue
            others = int(np.prod(bins[:i] + bins[i + 1 :]))
            if len(keys) == 1:
                bins[i], grows[i] = min(room, key.size), False
            elif others * (bins[i] + 1) <= room:
                bins[i] += 1
                grows[i] = bins[i] < key.size
            else:
                grows[i] = False
    code = np.zeros(keys[0].n, np.int64)
    for key, at_most in zip(keys, bins, strict=True):
        if at_most > 1:
            coarse = _coarse(key, at_most)
            code = code * (int(coarse.max()) + 1) + coarse
    occupied = np.bincount(code) > 0  # at most ``room`` numbers: no need to sort
    return np.asarray((np.cumsum(occupied) - 1)[code], dtype=np.int64)


def _coarse(key: Levels, at_most: int) -> Ints:
    """Return a limited number of levels of a key."""
    if key.size <= at_most:
        return key.codes
    if key.ordered:
        return key.binned(at_most - key.missing).codes if at_most - key.missing > 1 else _gone(key)
    rank = np.empty(key.size, np.int64)
    rank[np.argsort(-key.counts, kind="stable")] = np.arange(key.size)
    return np.asarray(np.minimum(rank, at_most - 1)[key.codes], np.int64)


def _gone(key: Levels) -> Ints:
    """Return whether a value is missing: two levels if there is no room for more."""
    return np.asarray(key.codes == key.size - 1, dtype=np.int64)
