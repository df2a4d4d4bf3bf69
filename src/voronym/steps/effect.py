"""The change by a step, and its benefit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from voronym.core.percent import percent
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Exposed:
    """Records that share some columns with few others, as any holder of the table counts them.

    A recoded, rounded or missing value is a value like any other. If people or households are declared, class
    sizes count these, and the figures still count the records in small classes.

    Parameters
    ----------
    unique : int
        Records that are unique in these columns.
    below_3 : int
        Records in classes of one or two: how many violate 3-anonymity.
    below_k : int
        Records in classes of fewer than k.
    k : int
        The k of the release.
    """

    unique: int
    below_3: int
    below_k: int
    k: int

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], k: int) -> Exposed:
        """Count the records of a table."""
        size = class_sizes(table, columns)
        unique, below_3, below_k = (int((size < least).sum()) for least in (2, 3, k))
        return cls(unique, below_3, below_k, k)


def class_sizes(table: Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of records, people or households with each record's values, including itself."""
    if not table.n or not columns:
        return np.full(table.n, table.n, np.int64)
    same = tuple(columns) == tuple(table.keys)
    classes = table.classes if same else equivalence_classes(table.frame, columns)
    sizes = classes.sizes
    if table.units is not None:
        sizes = table.units.heads(classes.labels, len(sizes))
    return sizes[classes.labels]


@dataclass(frozen=True)
class Effect:
    """The change by a step: its cost and its benefit.

    Parameters
    ----------
    step : str
        The step, as it is written.
    says : str
        The step as a sentence.
    columns : tuple of str
        The columns that it changed.
    changed : float
        Share of the records whose value changed in one of these columns.
    error : float, optional
        Root of the mean squared difference that the step made, in standard deviations of the original column;
        the mean over the numeric and time columns, None without any.
    unique : tuple of int
        Before and after: records that are unique in these columns.
    keys : tuple of Exposed, optional
        Before and after: records in small classes of all keys, if a key was changed.
    true : int
        Number of records that are unique afterwards (by all keys if a key was changed, otherwise by these
        columns) and have no randomly drawn value: an intruder who finds one of these is right.
    counted : str
        The unit of class sizes: "records", "people" or "households".
    """

    step: str
    says: str
    columns: tuple[str, ...]
    changed: float
    error: float | None
    unique: tuple[int, int]
    keys: tuple[Exposed, Exposed] | None = None
    true: int = 0
    counted: str = "records"

    @property
    def idle(self) -> bool:
        """Whether the step changed values without making any unique record safer.

        If a key was changed, the effect on classes below k counts, too.
        """
        pairs = [self.unique]
        if self.keys is not None:
            before, after = self.keys
            pairs += [(before.unique, after.unique), (before.below_k, after.below_k)]
        drawn = self.true < pairs[min(len(pairs) - 1, 1)][1]
        return self.changed > 0.0 and not drawn and all(after >= before > 0 for before, after in pairs)

    def __str__(self) -> str:
        cost = f"{self.says}; {percent(self.changed)} of the records changed"
        head = {"people": "person", "households": "household"}.get(self.counted)
        if self.keys is None:
            alone = "unique" if head is None else f"values of one {head} only"
            bought = f"{alone} in {_these(self.columns)}: {_arrow(*self.unique)}"
            return f"{cost}; {bought}{self._truth(self.unique[1])}"
        before, after = self.keys
        alone = "unique on the keys" if head is None else f"in classes of one {head}"
        parts = [f"{alone}: {_arrow(before.unique, after.unique)}{self._truth(after.unique)}"]
        parts += [f"below 3: {_arrow(before.below_3, after.below_3)}"] if after.k != 2 else []
        parts += [f"below {after.k}: {_arrow(before.below_k, after.below_k)}"] if after.k > 3 else []
        return f"{cost}; {', '.join(parts)}"

    def _truth(self, unique: int) -> str:
        """Return words for the number of unique records with only true values; "" if all have."""
        return "" if self.true == unique else f" ({self.true:,} of them with all values true)"

    def to_dict(self) -> dict[str, object]:
        """Return the effect as plain, JSON-able types."""
        return {**asdict(self), "idle": self.idle}


def _these(columns: Sequence[str]) -> str:
    return "this column" if len(columns) == 1 else "these columns"


def _arrow(before: int, after: int) -> str:
    return f"{before:,} → {after:,}"


class Seen:
    """The original records, with which a step's result is compared.

    Parameters
    ----------
    table : Table
        The records before the first step.
    least : int
        The k of the release.
    start : Table, optional
        The input of the first of these steps, if it is the result of grouping. A key that differs
        from ``grouped`` is not the true value.
    grouped : Table, optional
        The records from which groups were made.
    """

    def __init__(
        self, table: Table, least: int, *, start: Table | None = None, grouped: Table | None = None
    ) -> None:
        self.table, self.least = table, least
        self.untrue: dict[str, Bools] = {}
        if start is not None and grouped is not None:
            both = set(start.columns) & set(grouped.columns)
            self.untrue = {name: differ(grouped, start, name) for name in start.keys if name in both}
        self._last: tuple[Table, Exposed] | None = None

    def effect(
        self, step: str, says: str, columns: Sequence[str], before: Table, after: Table, *, draws: bool
    ) -> Effect:
        """Return the change that a step made; ``draws`` says whether the step is random."""
        changed = np.zeros(before.n, dtype=bool)
        errors = []
        for name in columns:
            new = differ(before, after, name)
            changed |= new
            if draws:
                self.untrue[name] = new | self.untrue.get(name, np.zeros(before.n, dtype=bool))
            error = self._error(name, before, after)
            if error is not None:
                errors.append(error)
        judged = before.keys if set(columns) & set(before.keys) else tuple(columns)
        single = class_sizes(after, judged) < 2
        for name in judged:
            single &= ~self.untrue.get(name, np.zeros(before.n, dtype=bool))
        return Effect(
            step,
            says,
            tuple(columns),
            float(changed.mean()) if before.n else 0.0,
            float(np.mean(errors)) if errors else None,
            tuple(int((class_sizes(item, columns) < 2).sum()) for item in (before, after)),  # type: ignore[arg-type]
            self._keys(before, after) if judged == before.keys else None,
            int(single.sum()),
            "records" if before.units is None else before.units.counted,
        )

    def _keys(self, before: Table, after: Table) -> tuple[Exposed, Exposed]:
        """Count unique records by all keys before and after a step; reuse the last count."""
        known = self._last is not None and self._last[0] is before
        was = self._last[1] if known and self._last else Exposed.of(before, before.keys, self.least)
        now = Exposed.of(after, before.keys, self.least)
        self._last = (after, now)
        return was, now

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
    """Return where two tables of the same rows differ in a column."""
    gone = before.missing(name) != after.missing(name)
    sides = [[*item.levels(name)] for item in (before, after)]
    if before[name].form != after[name].form:  # a code 36 that became the text 36 has not changed
        sides = [[str(level) for level in levels] for levels in sides]
    mine, other = (
        np.array([*levels, None], dtype=object)[entry.codes(name)]
        for levels, entry in zip(sides, (before, after), strict=True)
    )
    return np.asarray(gone | (mine != other), dtype=bool)
