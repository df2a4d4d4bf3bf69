"""Match known keys with records that publish sets of values, such as ranges or codes with stars.

For an intruder who knows a postcode, 08*** stands for all codes that begin with 08. So records are matched
first by the sets they publish, then by the distance in the other keys.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.evaluate.pair import Floats, Pair, numbers
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.codec import Codec
from voronym.table.frame import as_frame

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

WORK = 4e9
"""Largest number of class keys to look at: beyond it, targets are sampled."""
_TIE = 1e-9
_BLOCK = 128


class Matcher:
    """Finds the released records that may belong to a person whose keys are known.

    Parameters
    ----------
    pair : Pair
        Both tables, with the sets that published texts stand for.
    points : tuple
        Keys of both tables as points, and how they became these.
    """

    def __init__(self, pair: Pair, points: tuple[Floats, Floats, Codec]) -> None:
        X, Y, codec = points
        keys = [name for name in pair.schema.keys if name in pair.sets]
        self.classes: Classes = equivalence_classes(as_frame(pair.published), list(pair.schema.keys))
        first = self.classes.first
        plain = [
            at
            for block in codec.blocks
            if not set(block.columns) & set(keys)
            for at in range(block.start, block.stop)
        ]
        self.X, self.Y = np.ascontiguousarray(X[:, plain]), np.ascontiguousarray(Y[first][:, plain])
        self.whole_X, self.whole_Y = X, Y[first]
        self.own: list[Ints] = []
        """By key, the place of the value of each original; the last is missing."""
        self.shown: list[Ints] = []
        """By key, the place of the text of each class; the last is missing."""
        self.member: list[Bools] = []
        self.width = np.zeros(len(first))
        for name in keys:
            self._add(pair, name, first)

    def _add(self, pair: Pair, name: str, first: Ints) -> None:
        """Add a key: the value of each original, the published set of each class, and which of them fit."""
        sets, before, after = pair.sets[name], pair.original[name], pair.published[name]
        line = numbers(before) if name in pair.texts else None
        if line is not None:
            places = np.searchsorted(np.array(sets.values, np.float64), line)
            own = np.where(np.isnan(line), len(sets.values), places)
        else:
            place = {str(value): at for at, value in enumerate(sets.values)}
            own = np.array([place.get(str(value), len(place)) if value is not None else len(place)
                            for value in before.cast(pl.String).to_list()])  # fmt: skip
        row = {text: at for at, text in enumerate(sets.texts)}
        texts = [after[int(at)] for at in first]
        shown = np.array([len(row) if text is None else row[text] for text in texts])
        member = np.zeros((len(row) + 1, len(sets.values) + 1), bool)
        member[:-1, :-1] = np.where(sets.understood[:, None], sets.member, True)  # nothing is known of others
        member[-1, :] = True  # a gap may be anybody's
        often = np.bincount(own, minlength=len(sets.values) + 1)
        self.own.append(own.astype(np.int64))
        self.shown.append(shown.astype(np.int64))
        self.member.append(member)
        share = np.maximum(member @ often, 1) / len(own)
        self.width += np.log(share)[shown]

    @property
    def work(self) -> int:
        """Number of comparisons for one target: classes times keys."""
        return len(self.classes.sizes) * (len(self.own) + int(self.X.shape[1]) + 1)

    def affordable(self, targets: int) -> int:
        """Return the number of targets to attack."""
        return int(min(targets, max(500, WORK // self.work)))

    def fitting(self, rows: Ints) -> list[Ints]:
        """Return the classes that fit some originals in all keys; keys without sets must be equal."""
        out = []
        for row in rows.tolist():
            fits = self._violations(row) == 0
            if self.X.shape[1]:
                fits &= (np.abs(self.Y - self.X[row]) <= 1e-9).all(axis=1)
            out.append(np.flatnonzero(fits))
        return out

    def nearest(self, row: int) -> Ints:
        """Return the best-fitting classes of an original: by sets, then by distance, then the narrowest."""
        violated = self._violations(row)
        best = np.flatnonzero(violated == violated.min())
        if violated[best[0]]:  # nothing fits: take the nearest in all keys
            return _least(np.square(self.whole_Y[best] - self.whole_X[row]).sum(axis=1), best)
        if self.X.shape[1]:
            best = _least(np.square(self.Y[best] - self.X[row]).sum(axis=1), best)
        return _least(self.width[best] - self.width[best].min(), best)

    def _violations(self, row: int) -> Ints:
        """Count the keys of each class that contradict an original."""
        out = np.zeros(len(self.classes.sizes), np.int64)
        for own, shown, member in zip(self.own, self.shown, self.member, strict=True):
            out += ~member[shown, own[row]]
        return out

    def link(self, rows: Ints, own: Ints | None, ctx: Context) -> tuple[Floats, Bools, Classes]:
        """Return the same as `voronym.evaluate.attacks.link`, for some originals."""
        credit, near = np.empty(len(rows)), np.zeros(len(rows), bool)

        def attack(start: int) -> None:
            for at in range(start, min(start + _BLOCK, len(rows))):
                nearest = self.nearest(int(rows[at]))
                credit[at] = 1.0 / int(self.classes.sizes[nearest].sum())
                if own is not None:
                    near[at] = own[at] >= 0 and self.classes.labels[own[at]] in nearest

        ctx.map(attack, range(0, len(rows), _BLOCK))
        return credit, near, self.classes


def _least(distance: Floats, among: Ints) -> Ints:
    """Return the classes at the least distance."""
    least = float(distance.min())
    return among[distance <= least * (1.0 + _TIE) + _TIE]


def matcher(pair: Pair, points: tuple[Floats, Floats, Codec]) -> Matcher | None:
    """Return a matcher for sets, if a key is published as sets."""
    return Matcher(pair, points) if set(pair.sets) & set(pair.schema.keys) else None
