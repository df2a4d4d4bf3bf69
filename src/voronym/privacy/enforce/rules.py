"""Judges in the form of the kernels: numbers for the demands, codes for the records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym._kernels import verdict
from voronym.core.promise import RELATIVE
from voronym.errors import GuaranteeError
from voronym.privacy.cells import Judge, Rule

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Requirements:
    """All requirements on the groups: the judges, and their form as arrays.

    Parameters
    ----------
    judges : sequence of Judge
        One or more, each with a threshold.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = tuple(judges)
        columns: list[Any] = []
        place = []
        for judge in self.judges:
            same = [at for at, known in enumerate(columns) if known is judge.levels]
            same = same or [
                at for at, known in enumerate(columns) if np.array_equal(known.codes, judge.levels.codes)
            ]
            place.append(same[0] if same else len(columns))
            if not same:
                columns.append(judge.levels)
        self.columns = columns
        self.codes: Ints = np.ascontiguousarray([levels.codes for levels in columns], dtype=np.int64)
        self.rules = self._rules(np.array(place, np.int64))

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.codes.shape[1])

    @cached_property
    def foreign(self) -> tuple[bool, ...]:
        """The judges that the kernels do not know."""
        return tuple(bool(kind == verdict.FOREIGN) for kind in self.rules.kind)

    @cached_property
    def profile(self) -> Ints:
        """A number for all confidential values of a record: records with equal numbers may be exchanged."""
        if len(self.codes) == 1:
            return np.asarray(self.codes[0], np.int64)
        inverse = np.unique(self.codes, axis=1, return_inverse=True)[1]
        return np.asarray(inverse.reshape(-1), np.int64)

    @cached_property
    def order(self) -> Ints:
        """The records by confidential values, the first column first."""
        return np.asarray(np.lexsort(self.codes[::-1]), np.int64)

    def _rules(self, column: Ints) -> verdict.Rules:
        sizes = np.array([levels.size for levels in self.columns])
        begin = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]]).astype(np.int64)
        room = int((sizes + 1).sum())
        share, below, area = np.zeros(room), np.zeros(room), np.zeros(room)
        for at, levels in zip(begin, self.columns, strict=True):
            counts = levels.counts
            stop = at + levels.size
            share[at:stop] = counts / levels.n
            below[at:stop] = np.cumsum(counts) / levels.n
            area[at + 1 : stop + 1] = np.cumsum(below[at:stop])
        kinds, needs, factors = [], [], []
        for judge in self.judges:
            rule = judge.rule or Rule(verdict.FOREIGN, float(judge.required or 0.0))
            kind, need = rule.kind, rule.need
            if kind == verdict.ORDERED and judge.levels.size == 2:
                kind = verdict.EQUAL  # the same figure, and quicker
            least = kind in (verdict.DISTINCT, verdict.ENTROPY, verdict.RECURSIVE)
            kinds.append(kind)
            needs.append(need * (1 - RELATIVE / 2 if least else 1 + RELATIVE / 2))
            factors.append(rule.factor)
        need_array = np.array(needs, np.float64)
        return verdict.Rules(
            np.array(kinds, np.int64),
            need_array,
            np.array(factors, np.float64),
            np.maximum(need_array, 1e-3),
            column,
            begin,
            sizes.astype(np.int64),
            share,
            below,
            area,
            self.n,
            np.zeros(int(max([1, *(n for n in needs if n < 1e6)])) + 1, np.int64),
        )

    def severities(self, labels: Ints, n_cells: int) -> Floats:
        """Return each cell's distance from the threshold of each judge, shape (cells, J), by the judges."""
        out = np.empty((n_cells, len(self.judges)))
        for j, judge in enumerate(self.judges):
            out[:, j] = judge.severity(judge.values(labels, n_cells))
        return out

    def failing(self, labels: Ints) -> Ints:
        """Return the cells that a judge does not accept."""
        return np.flatnonzero((self.severities(labels, int(labels.max()) + 1) > 0).any(axis=1))

    def hold(self, labels: Ints) -> bool:
        """Return whether all judges accept all cells."""
        return len(self.failing(labels)) == 0


def refuse_impossible(judges: Sequence[Judge]) -> None:
    """Raise if a judge refuses even a single cell of all records: then no partition can hold.

    A judge that accepts all parts accepts their union. So a violation of the single cell occurs in every
    partition.
    """
    for judge in judges:
        if judge.required is None:
            continue
        n = len(judge.levels.codes)
        result = judge.values(np.zeros(n, np.int64), 1)
        if not np.all(judge.holds(result)):
            raise GuaranteeError(
                f"{judge_name(judge)} cannot be met: with all {n} records in one cell, column "
                f"{judge.levels.column!r} ({judge.levels.size} different values) comes to "
                f"{float(result[0]):g}, and {judge.required:g} is required. Require less, or leave the "
                f"model out"
            )


def judge_name(judge: Judge) -> str:
    """Return the name of the model behind a judge."""
    return getattr(judge, "name", "") or type(judge).__name__
