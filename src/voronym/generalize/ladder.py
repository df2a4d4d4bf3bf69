"""A column as a ladder: the same generalisation for all records, level by level up to "*"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.generalize.columns import Tree
from voronym.generalize.grid import Even, finest, grids
from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.spans import ANY, written
from voronym.table.table import Table
from voronym.table.values import Values

Ints = NDArray[np.int64]
RUNGS = 6
"""Most levels of numbers and dates without a hierarchy."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of a column, from its values (0) to the last level, which hides everything.

    Parameters
    ----------
    name : str
        The column.
    codes : array of int, shape (levels, n)
        The code of each record at each level.
    labels : sequence of sequences
        Their texts, by level and code; None is missing.
    penalty : array, shape (levels, n)
        Certainty penalty of each record at each level.
    """

    name: str
    codes: Ints
    labels: tuple[tuple[str | None, ...], ...]
    penalty: NDArray[np.float64]

    @property
    def height(self) -> int:
        """The last level, which hides everything."""
        return len(self.codes) - 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes at each level."""
        return tuple(map(len, self.labels))


def ladders(table: Table, hierarchies: Mapping[str, Any]) -> list[Ladder]:
    """Return the keys as ladders: by hierarchies, by round widths, or with two levels, value and "*"."""
    trees = {name: Hierarchy.of(given) for name, given in hierarchies.items()}
    made = []
    for name in table.keys:
        values, kind = table[name], table.schema[name].kind
        if name in trees or kind in ("nominal", "ordinal", "text"):
            made.append(_of_tree(Tree.of(name, values, trees.get(name))))
        else:
            made.append(_of_widths(name, values))
    return made


def _of_tree(tree: Tree) -> Ladder:
    codes, labels = [], []
    for level in range(len(tree.above)):
        names: dict[int, str | None] = {}
        for node, label in zip(tree.above[level].tolist(), tree.labels[level], strict=True):
            names.setdefault(node, label)
        codes.append(tree.above[level][tree.codes])
        labels.append(tuple(names[node] for node in range(len(names))))
    penalty = np.array([item[tree.codes] for item in tree.table])
    return Ladder(tree.name, np.array(codes, np.int64), tuple(labels), penalty)


def _of_widths(name: str, values: Values) -> Ladder:
    """Cut numbers or dates into ever wider bins."""
    result, missing = values.numbers, values.missing
    n, span = len(values), float(result.max() - result.min()) if len(result) else 0.0
    rungs = grids(values, result, None)
    chosen = [
        finest(result, rungs[0]),
        *(rung for rung in rungs[1:] if not isinstance(rung, Even) or rung.width <= span),
    ]
    if len(chosen) > RUNGS:  # spread over all widths
        chosen = [chosen[at] for at in np.linspace(0, len(chosen) - 1, RUNGS).round().astype(int)]
    codes: list[Ints] = []
    labels: list[tuple[str | None, ...]] = []
    penalty: list[NDArray[np.float64]] = []
    for grid in chosen:
        bins, back = np.unique(grid.bins(result), return_inverse=True)
        ends = [(grid.low(int(item)), grid.high(int(item))) for item in bins]
        texts: list[str | None] = [written(grid.text(low), grid.text(high)) for low, high in ends]
        code = np.full(n, len(bins), np.int64)
        code[~missing] = back.reshape(-1)
        cost = np.zeros(n)
        inside = np.array([min(high, result.max()) - max(low, result.min()) for low, high in ends])
        if span > 0.0:
            cost[~missing] = inside[back.reshape(-1)] / span
        if codes and len(bins) == len(labels[-1]) - 1:
            continue  # no coarser than the one before
        codes.append(code)
        labels.append((*texts, None))
        penalty.append(cost)
    if len(labels[-1]) > 1:
        codes.append(np.zeros(n, np.int64))
        labels.append((ANY,))
        penalty.append(np.ones(n))
    return Ladder(name, np.array(codes, np.int64), tuple(labels), np.array(penalty))
