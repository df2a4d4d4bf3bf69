"""Judges: how a model sees the cells of a partition.

A model that limits the information of a class examines one confidential column at a time, as `Levels`: a
whole number 0..m-1 for every record. A `Judge` measures every cell of a partition from these numbers alone,
in O(n log n) and without a table of cells x levels, which may be large.

Merging cells never makes the measure of a judge worse: see `Judge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from voronym.core.promise import meets
from voronym.errors import InputError
from voronym.privacy.level import Floats, Ints, Levels

_FARTHEST = 1e12  # of infinite measures: searches take differences


@dataclass(frozen=True, eq=False)
class Runs:
    """The pairs of cell and level that occur, by cell, then by level, with their counts."""

    cell: Ints
    level: Ints
    count: Ints
    sizes: Ints
    """Number of records of each cell, shape (n_cells,)."""

    @cached_property
    def start(self) -> Ints:
        """Position of the first pair of each non-empty cell."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @cached_property
    def occupied(self) -> Ints:
        """The cells that are not empty."""
        return self.cell[self.start]

    def spread(self, per_cell: NDArray[Any], empty: float) -> Floats:
        """Return a value per cell from values of the occupied cells."""
        out = np.full(len(self.sizes), empty)
        out[self.occupied] = per_cell
        return out


def count_runs(labels: Ints, codes: Ints, n_cells: int, m: int) -> Runs:
    """Count the records of each pair of cell and level that occurs."""
    pair = labels * np.int64(m) + codes
    if n_cells * m <= max(4 * len(pair), 1 << 16):
        full = np.bincount(pair, minlength=n_cells * m)
        places = np.flatnonzero(full)
        count = full[places]
    else:
        places, count = np.unique(pair, return_counts=True)
    sizes = np.bincount(labels, minlength=n_cells)
    cell = places // m
    return Runs(cell, places - cell * m, count.astype(np.int64), sizes.astype(np.int64))


@dataclass(frozen=True)
class Rule:
    """A rule with which the kernels compute a judge's measure.

    A judge without a rule is enforced by merging groups, and by exchanging records with equal
    confidential values. With a rule, any exchange that the measure allows is possible.

    Parameters
    ----------
    kind : int
        The measure, one of the constants of `voronym._kernels.verdict`.
    need : float
        The threshold, in the kernel's own terms.
    factor : float
        The c of recursive l-diversity.
    """

    kind: int
    need: float
    factor: float = 0.0


@dataclass(frozen=True, eq=False)
class Judge:
    """The demand of a model on one confidential column: a measure of cells, and its threshold.

    A threshold met exactly counts as met, unless the model's definition is strict. Measures
    that differ from the threshold by rounding count as equal to it: see `voronym.core.promise`. An empty cell
    reveals nothing and holds.

    **Merging never hurts.** Let cells A and B hold; their union is C, with distribution
    p_C = a p_A + (1 - a) p_B, where a = |A| / |C|.

    - A distance f(p) = d(p, q) to the distribution q of the whole table that is convex in p (any earth
      mover's distance: a linear programme whose right-hand side is p; total variation: a norm;
      Kullback-Leibler: convex) has f(p_C) <= a f(p_A) + (1 - a) f(p_B) <= max(f(p_A), f(p_B)).
    - Entropy is concave: H(p_C) >= min(H(p_A), H(p_B)). The number of distinct values cannot fall.
    - Recursive (c, l): the greatest count of C is at most the sum of the greatest counts of A and B, and the
      l - 1 greatest counts of C at most those of A plus those of B, so the rest is at least the sum of the
      rests. The ratio is at most the greater of the two ratios.
    - ``|ln p_C / q|`` of a value lies between those of A and B before the absolute value is taken, hence is
      at most the greater.
    - Contributions (|C| / n) KL(p_C || q) are at most the sum of those of A and B, by convexity, so
      their total falls.

    Parameters
    ----------
    levels : Levels
        The confidential column.
    measure : callable
        ``measure(runs, levels)``: a value per cell.
    required : float or None
        The threshold; None only measures.
    at_most : bool
        Whether values must stay at or below the threshold, rather than at or above.
    strict : bool
        Whether the threshold itself is refused.
    additive : bool
        Whether the sum over cells is compared.
    name : str
        The model, for messages.
    rule : Rule, optional
        The same measure in the form of the enforcement kernels, if they know it.

    Examples
    --------
    >>> from voronym.privacy.distances import ordered
    >>> salary = Levels("salary", np.array([0, 1, 2, 3]), True, (3, 4, 5, 6))
    >>> judge = Judge(salary, ordered, 0.5)
    >>> judge.values(np.array([0, 0, 1, 1]), 2).round(3)
    array([0.333, 0.333])
    >>> judge.value(np.array([0])), judge.holds(0.5)
    (0.5, True)
    """

    levels: Levels
    measure: Callable[[Runs, Levels], Floats] = field(repr=False)
    required: float | None = None
    at_most: bool = True
    strict: bool = False
    additive: bool = False
    name: str = ""
    rule: Rule | None = None

    @property
    def total(self) -> Ints:
        """Number of records of each level in the whole table, shape (m,)."""
        return self.levels.counts

    def subset(self, records: Ints) -> Judge:
        """Return the judge for partitions of some records; they are still compared with the whole table."""
        return replace(self, levels=self.levels.subset(records))

    def value(self, codes: Ints) -> float:
        """Measure one cell from the levels of its records; O(c log m) for c records."""
        codes = np.asarray(codes, np.int64)
        return float(self.measure(_one(codes), self.levels)[0])

    def values(self, labels: Ints, n_cells: int) -> Floats:
        """Measure every cell of a partition, shape (n_cells,); O(n log n)."""
        labels = np.asarray(labels, np.int64)
        if labels.shape != self.levels.codes.shape:
            raise InputError(f"there are {self.levels.n} records but {labels.size} labels")
        return self.measure(count_runs(labels, self.levels.codes, n_cells, self.levels.size), self.levels)

    @overload
    def holds(self, values: float) -> bool: ...
    @overload
    def holds(self, values: Floats) -> Any: ...
    def holds(self, values: float | Floats) -> Any:
        """Whether each measure meets the threshold; a single answer for an additive judge."""
        result = np.asarray(values, np.float64)
        if self.additive:
            result = np.asarray(
                math.fsum(result.ravel())
            )  # exactly rounded: the order of cells cannot matter
        good = meets(result, self.required, at_most=self.at_most, strict=self.strict)
        return bool(good) if np.ndim(good) == 0 else good

    def severity(self, values: float | Floats) -> Any:
        """How far each measure is from the threshold: 0 if it holds, larger is worse.

        For an additive judge these are the contributions, while the sum is too large: the largest
        contribution is reduced first.
        """
        result = np.asarray(values, np.float64)
        if self.required is None:
            far = np.zeros(result.shape)
        elif self.additive:
            far = np.zeros(result.shape) if self.holds(result) else np.maximum(result, 0.0)
        else:
            far = result - self.required if self.at_most else self.required - result
            # A strict threshold is missed when it is met: by nothing, which must not look like 0.
            far = np.where(self.holds(result), 0.0, np.clip(far, np.finfo(float).tiny, _FARTHEST))
        return float(far) if far.ndim == 0 else far


def _one(codes: Ints) -> Runs:
    level, count = np.unique(codes, return_counts=True)
    return Runs(np.zeros(len(level), np.int64), level, count.astype(np.int64), np.array([len(codes)]))
