"""What a step changed, and what it bought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.table.classes import equivalence_classes
from voronym.table.table import Table


@dataclass(frozen=True)
class Effect:
    """What a step did to the records: its cost beside what it bought.

    Parameters
    ----------
    step : str
        The step, as it is written.
    says : str
        The same as a sentence.
    columns : tuple of str
        The columns that it changed.
    changed : float
        Share of the records with another value in one of them than before the step.
    error : float, optional
        Root of the mean squared difference that the step made, in standard deviations of the original
        column; the mean over those of the columns that are numbers or times, None where none is.
    alone : tuple of int
        Before and after: records whose values in these columns are their true ones and nobody else's, so that
        whoever knows the values finds the record, and is right.
    keys_alone : tuple of int, optional
        The same for all keys together, where a key was changed.
    """

    step: str
    says: str
    columns: tuple[str, ...]
    changed: float
    error: float | None
    alone: tuple[int, int]
    keys_alone: tuple[int, int] | None = None

    @property
    def idle(self) -> bool:
        """Whether the step changed values and bought nothing: nobody who was alone is not any more."""
        pairs = [self.alone, *([self.keys_alone] if self.keys_alone is not None else [])]
        return self.changed > 0.0 and all(after >= before > 0 for before, after in pairs)

    def __str__(self) -> str:
        pair = self.alone if self.keys_alone is None else self.keys_alone
        what = "these values" if self.keys_alone is None else "their keys"
        said = f"{self.says}; {100 * self.changed:.1f} % of the records changed"
        if pair == (0, 0):
            return f"{said}; nobody was alone with {what}"
        return f"{said}; alone with {what}: {pair[0]:,} before, {pair[1]:,} after"

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain, JSON-able types."""
        return {**asdict(self), "idle": self.idle}


class Seen:
    """The original records, against which what is still true is judged.

    Parameters
    ----------
    table : Table
        The records before the first step.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._alone: dict[tuple[str, ...], int] = {}

    def effect(self, step: str, says: str, columns: Sequence[str], before: Table, after: Table) -> Effect:
        """Return what a step did."""
        changed = np.zeros(before.n, dtype=bool)
        errors = []
        for name in columns:
            changed |= differ(before, after, name)
            error = self._error(name, before, after)
            if error is not None:
                errors.append(error)
        touched = set(columns) & set(before.keys)
        return Effect(
            step,
            says,
            tuple(columns),
            float(changed.mean()) if before.n else 0.0,
            float(np.mean(errors)) if errors else None,
            (self.alone(before, tuple(columns)), self.alone(after, tuple(columns))),
            (self.alone(before, before.keys), self.alone(after, before.keys)) if touched else None,
        )

    def alone(self, table: Table, columns: tuple[str, ...]) -> int:
        """Count the records that nobody shares these values with, and whose true values they are."""
        if not table.n:
            return 0
        classes = equivalence_classes(table.frame, columns)
        single = classes.sizes[classes.labels] == 1
        for name in columns:
            single &= ~differ(self.table, table, name)
        return int(single.sum())

    def _error(self, name: str, before: Table, after: Table) -> float | None:
        if before.schema[name].kind not in ("numeric", "datetime"):
            return None
        if after[name].form != before[name].form:
            return None
        here = ~before.missing(name) & ~after.missing(name)
        std = float(np.std(self.table.numbers(name).astype(np.float64))) if self.table[name].observed else 0.0
        if std == 0.0 or not here.any():
            return None
        off = _full(before, name)[here] - _full(after, name)[here]
        return float(np.sqrt(np.mean(np.square(off))) / std)


def _full(table: Table, name: str) -> NDArray[np.float64]:
    out = np.zeros(table.n)
    out[~table.missing(name)] = table.numbers(name).astype(np.float64)
    return out


def differ(before: Table, after: Table, name: str) -> NDArray[np.bool_]:
    """Return where two tables of the same rows have different values in a column."""
    gone = before.missing(name) != after.missing(name)
    if before[name].form != after[name].form:
        return np.ones(before.n, dtype=bool)
    mine = np.array([*before.levels(name), None], dtype=object)[before.codes(name)]
    other = np.array([*after.levels(name), None], dtype=object)[after.codes(name)]
    return np.asarray(gone | (mine != other), dtype=bool)
