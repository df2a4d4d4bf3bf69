"""l-diversity: confidential values in every class are "well represented"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from voronym._kernels import verdict
from voronym.core.promise import RELATIVE
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.privacy.base import register
from voronym.privacy.cells import Judge, Rule, Runs
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.level import Floats, Levels
from voronym.privacy.p_sensitive import distinct
from voronym.privacy.text import number, read_options, short, whole, write_options
from voronym.table.classes import Classes

KINDS = ("distinct", "entropy", "recursive")


def effective(runs: Runs, levels: Levels) -> Floats:
    """Return exp(H) of each cell: the number of equally frequent values with its entropy; inf if empty."""
    del levels
    if not len(runs.cell):
        return np.full(len(runs.sizes), np.inf)
    size = runs.sizes[runs.occupied]
    entropy = np.log(size) - np.add.reduceat(runs.count * np.log(runs.count), runs.start) / size
    return runs.spread(np.exp(entropy), np.inf)


def recursive(runs: Runs, levels: Levels, *, l: int) -> Floats:  # noqa: E741 - the name of the model
    """Return r_1 / (r_l + ... + r_m) of each cell, with counts r_1 >= r_2 >= ...; infinite below l values."""
    del levels
    if not len(runs.cell):
        return np.zeros(len(runs.sizes))
    order = np.lexsort((-runs.count, runs.cell))
    count = runs.count[order]
    rank = np.arange(len(count)) - np.repeat(runs.start, np.diff(runs.start, append=len(count)))
    rest = np.add.reduceat(np.where(rank >= l - 1, count, 0), runs.start)
    with np.errstate(divide="ignore"):
        return runs.spread(count[runs.start] / rest, 0.0)


@partial(checked, texts=True)
@register("l-diversity")
@dataclass(frozen=True)
class LDiversity(ConfidentialModel):
    """Every class has at least l "well represented" values of each confidential column.

    Parameters
    ----------
    l : float or None
        Number of values. A whole number of 2 or more, or any number above 1 for ``entropy``. None only
        measures.
    kind : {"distinct", "entropy", "recursive"}
        ``distinct``: at least l different values, the same as p-sensitivity. ``entropy``: exp(H) >= l, where
        H is the entropy of the values of the class in nats: the class is as diverse as l equally frequent
        values. ``recursive``: r_1 < c (r_l + ... + r_m), where r_1 >= r_2 >= ... are the counts of the class:
        the most frequent value is not too frequent, even after others are ruled out.
    c : float, optional
        For ``recursive``, above 0.
    column : str, optional
        The confidential column; by default each of them.

    Notes
    -----
    The value of a finding is the compared figure: the least number of values, the least exp(H), or the
    greatest r_1 / (r_l + ... + r_m), which must be *below* c: the published definition is strict, and so is
    this one. Missing counts as a value. Entropy l-diversity implies distinct l-diversity.

    References
    ----------
    Machanavajjhala, A., Kifer, D., Gehrke, J., Venkitasubramaniam, M.: l-Diversity: privacy beyond
    k-anonymity. ACM TKDD 1(1), 2007.

    Examples
    --------
    >>> import polars as pl
    >>> from voronym.table import Table
    >>> patients = pl.DataFrame({"age": [30] * 4 + [40] * 4, "ill": list("aaabbbcc")})
    >>> table = Table.build(patients, keys=["age"], confidential=["ill"])
    >>> print(LDiversity(2).measure(table))
    l-diversity: 2 (ill, distinct), required 2: holds
    >>> print(LDiversity(2, "entropy").measure(table))
    l-diversity: 1.75477 (ill, entropy), required 2: does not hold
    >>> print(LDiversity(2, "recursive", c=3).measure(table))
    l-diversity: 3 (ill, recursive with l = 2), required below 3: does not hold
    """

    strength: ClassVar[int] = 2
    knows: ClassVar[bool] = True
    l: float | None = None  # noqa: E741 - the name of the model
    kind: str = "distinct"
    c: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            raise InputError(f"{self.name}: no kind is called {self.kind!r}; there are: {', '.join(KINDS)}")
        if self.kind == "entropy":
            self._set(l=number(self.name, "l", self.l, least=1, above=True))
        else:
            self._set(l=whole(self.name, "l", self.l, least=2))
        self._set(c=number(self.name, "c", self.c, above=True))
        if self.kind == "recursive" and (self.l is None or self.c is None):
            raise InputError(f"{self.name}: recursive needs c and l, such as {self.name}=recursive:3:2")
        if self.kind != "recursive" and self.c is not None:
            raise InputError(f"{self.name}: c belongs to kind 'recursive', not to {self.kind!r}")

    @property
    def required(self) -> float | None:
        """The requested l; for recursive (c, l)-diversity the c."""
        wanted = self.c if self.kind == "recursive" else self.l
        return None if wanted is None else float(wanted)

    def judge(self, levels: Levels) -> Judge:
        """Return a judge for the cells of one column."""
        if self.kind == "recursive":
            least = int(self.l or 2)
            rule = Rule(verdict.RECURSIVE, float(least), (self.required or 0.0) * (1 - 2 * RELATIVE))
            measure: Any = partial(recursive, l=least)
            return Judge(levels, measure, self.required, strict=True, name=self.name, rule=rule)
        if self.kind == "entropy":
            measure, rule = effective, Rule(verdict.ENTROPY, math.log(self.required or 1.0))  # exp(H) >= l
        else:
            measure, rule = distinct, Rule(verdict.DISTINCT, self.required or 0.0)
        return Judge(levels, measure, self.required, at_most=False, name=self.name, rule=rule)

    def about(self, judge: Judge) -> str:
        """Return a few words on the value, for the printed finding."""
        kind = f"recursive with l = {self.l}" if self.kind == "recursive" else self.kind
        return f"{judge.levels.column}, {kind}"

    def describe(self, judge: Judge, classes: Classes, values: Floats) -> dict[str, object]:
        """Return the figures of one column as plain types, always for all three kinds."""
        every = {
            "distinct": Judge(judge.levels, distinct),
            "entropy": Judge(judge.levels, effective),
            "recursive_l2": Judge(judge.levels, partial(recursive, l=2)),
        }
        n_cells = len(classes.sizes)
        result = {name: item.values(classes.labels, n_cells) for name, item in every.items()}
        return super().describe(judge, classes, values) | {
            "kind": self.kind,
            "distinct": int(result["distinct"].min()),
            "entropy": float(result["entropy"].min()),
            "recursive_l2": float(result["recursive_l2"].max()),
        }

    def __str__(self) -> str:
        value = None if self.l is None else short(self.l)
        if self.kind == "recursive" and self.c is not None:
            value = f"recursive:{short(self.c)}:{value}"
        elif self.kind == "entropy":
            value = "entropy" if value is None else f"entropy:{value}"
        return write_options(self.name, value, column=self.column)

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text after ``l-diversity=``.

        ``3`` for distinct, ``entropy:2.5``, ``recursive:3:2`` for c = 3 and l = 2; then ``,column=NAME``.
        """
        value, result = read_options("l-diversity", text, ["column"])
        options: dict[str, Any] = dict(result)
        if value is None:
            return cls(**options)
        kind, *rest = (part.strip() for part in value.split(":"))
        given: Any = rest
        if kind == "recursive" and len(rest) == 2:
            return cls(given[1], "recursive", given[0], **options)
        if kind == "entropy" and len(rest) <= 1:
            return cls(given[0] if rest else None, "entropy", **options)
        if kind == "distinct" and len(rest) == 1:
            return cls(given[0], **options)
        if kind in KINDS or rest:
            raise InputError(
                f"l-diversity={text}: write l-diversity=3, l-diversity=entropy:2.5 or "
                "l-diversity=recursive:3:2 for c = 3 and l = 2"
            )
        wanted: Any = kind
        return cls(wanted, **options)
