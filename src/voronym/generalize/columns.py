"""Keys that are published as ranges: a line of numbers, a tree of categories, or a set of categories.

Every key has a *code* for each record. The range of a group is two whole numbers: on a line the smallest and
the largest code; in a tree the level of the lowest common ancestor and one of its leaves; for a set the codes
as bits. Kernels use the same two numbers, see `voronym._kernels.ranges`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voronym._kernels.ranges import LINE, SET, TREE
from voronym.errors import InputError, hint
from voronym.generalize.atoms import Atoms, atoms_of
from voronym.generalize.hierarchy import Hierarchy
from voronym.generalize.spans import ANY, written
from voronym.generalize.tally import Tally
from voronym.partition import Partition
from voronym.table.schema import Column
from voronym.table.table import Table
from voronym.table.values import Values

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
OTHERS = "others"
"""The joint name of categories that are too rare to be published."""
MOST_CATEGORIES = 62
"""Largest number of categories that a set distinguishes: the bits of a number."""
OR = " or "


@dataclass(frozen=True, eq=False)
class RangeColumn(ABC):
    """A key that is published as ranges.

    Parameters
    ----------
    name : str
        The column.
    codes : array of int, shape (n,)
        The code of each record; missing has its own code.
    table : array, shape (levels, codes)
        The table for kernels: see `voronym._kernels.ranges`.
    """

    name: str
    codes: Ints
    table: Floats

    shape: ClassVar[int]
    way: ClassVar[str]

    @abstractmethod
    def span(self, part: Partition) -> tuple[Ints, Ints]:
        """Return the range of each group."""

    @abstractmethod
    def text(self, item: int, other: int) -> str | None:
        """Return a range as text; None for a missing value."""

    @abstractmethod
    def penalty(self, item: Ints, other: Ints) -> Floats:
        """Return the normalised certainty penalty of ranges: 0 for a single value, 1 for all."""

    @property
    @abstractmethod
    def place(self) -> Floats:
        """A number for each code, close for codes with narrow ranges: to cut along."""

    @abstractmethod
    def says(self) -> str:
        """Describe how the column is published."""

    def texts(self, item: Ints, other: Ints) -> list[str | None]:
        """Return ranges as texts."""
        return [self.text(int(a), int(b)) for a, b in zip(item, other, strict=True)]

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The node above each code at each level of a tree; empty without a tree."""
        return np.zeros((0, 0), np.int64)


def _sorted(part: Partition) -> tuple[Ints, Ints]:
    """Return the records by group, and the start of each group."""
    order = np.argsort(part.labels, kind="stable")
    return order, np.cumsum(part.sizes) - part.sizes


@dataclass(frozen=True, eq=False)
class Line(RangeColumn):
    """Numbers, times or ordered levels, as intervals of atoms. The last code is missing."""

    atoms: Atoms

    shape, way = LINE, "interval"

    @classmethod
    def of(cls, name: str, atoms: Atoms) -> Line:
        """Scale the ends so that the whole range has length 1."""
        low, high = atoms.low, atoms.high
        whole = float(high.max() - low.min()) if len(low) else 0.0
        scaled = [(item - low[0]) / whole if whole > 0.0 else np.zeros(len(item)) for item in (low, high)]
        return cls(name, atoms.codes, np.array([np.append(entry, 0.0) for entry in scaled]), atoms)

    def span(self, part: Partition) -> tuple[Ints, Ints]:
        """Return the least and the greatest code of each group."""
        order, begin = _sorted(part)
        own = self.codes[order]
        return np.minimum.reduceat(own, begin), np.maximum.reduceat(own, begin)

    def penalty(self, item: Ints, other: Ints) -> Floats:
        """Return the width as a share of the whole; 1 if only some values are missing."""
        gone = len(self.atoms)
        width = self.table[1][other] - self.table[0][item]
        return np.where(other == gone, np.where(item == gone, 0.0, 1.0), width)

    def text(self, item: int, other: int) -> str | None:
        """Return the interval."""
        if other == len(self.atoms):
            return None if item == other else ANY
        return written(self.atoms.texts[item][0], self.atoms.texts[other][1])

    @property
    def place(self) -> Floats:
        """The middle of each atom; 2 for missing values, outside the range of 0 to 1."""
        middle = (self.table[0] + self.table[1]) / 2
        middle[-1] = 2.0
        return np.asarray(middle)

    def says(self) -> str:
        """Describe how the column is published."""
        return f"published as the interval of the group’s values, by {len(self.atoms)} steps"


@dataclass(frozen=True, eq=False)
class Tree(RangeColumn):
    """Categories below a hierarchy, as lowest common ancestors. ``labels[h][code]`` are their names."""

    labels: Sequence[Sequence[str | None]]
    above: Ints

    shape, way = TREE, "hierarchy"

    @classmethod
    def of(cls, name: str, column: Values, tree: Hierarchy | None) -> Tree:
        """Attach the values of a column to a hierarchy; without one, directly to "*"."""
        names = [str(value) for value in column.levels]
        if tree is None:
            trails: dict[str, tuple[str, ...]] = {value: (value, ANY) for value in names}
        else:
            often = np.bincount(column.codes[column.codes >= 0], minlength=len(names))
            tree.nodes(names, name, counts=often)  # refuses values that the hierarchy lacks
            trails = tree.paths
        height, root = (1, ANY) if tree is None else (tree.height, tree.root)
        leaves: dict[tuple[str, ...], int] = {}
        for path in trails.values():
            for level in range(height + 1):
                leaves[path[level:]] = leaves.get(path[level:], 0) + 1
        whole = max(len(trails) - 1, 1)
        labels: list[list[str | None]] = []
        above = np.empty((height + 1, len(names) + 1), np.int64)
        table = np.zeros((height + 1, len(names) + 1))
        for level in range(height + 1):
            known: dict[tuple[str, ...], int] = {}
            paths = [trails[value][level:] for value in names]
            above[level, :-1] = [known.setdefault(path, len(known)) for path in paths]
            above[level, -1] = len(known) if level < height else 0  # missing shares nothing but the root
            table[level, :-1] = [(leaves[path] - 1) / whole for path in paths]
            labels.append([*(path[0] for path in paths), None if level < height else root])
        table[0], table[height] = 0.0, 1.0
        codes = np.where(column.codes < 0, len(names), column.codes)
        return cls(name, codes, table, labels, above)

    @property
    def nodes(self) -> Ints:
        """The node above each code at each level."""
        return self.above

    def span(self, part: Partition) -> tuple[Ints, Ints]:
        """Return the level of the lowest common ancestor of each group, and one of its leaves."""
        order, begin = _sorted(part)
        own = self.codes[order]
        level = np.full(part.n_cells, len(self.above) - 1, np.int64)
        for h in range(len(self.above) - 2, -1, -1):
            at = self.above[h][own]
            same = np.minimum.reduceat(at, begin) == np.maximum.reduceat(at, begin)
            level[same] = h
        return level, own[begin]

    def penalty(self, item: Ints, other: Ints) -> Floats:
        """Return the leaves below the ancestor, as a share of all."""
        return np.asarray(self.table[item, other])

    def text(self, item: int, other: int) -> str | None:
        """Return the label of the ancestor."""
        return self.labels[item][other]

    @property
    def place(self) -> Floats:
        """Leaves in the order of the tree, from 0 to 1."""
        count = self.above.shape[1]
        order = np.lexsort(self.above)
        out = np.empty(count)
        out[order] = np.arange(count) / max(count - 1, 1)
        return out

    def says(self) -> str:
        """Describe how the column is published."""
        return "published as the lowest common ancestor of the group’s values"


@dataclass(frozen=True, eq=False)
class Set(RangeColumn):
    """Categories without a hierarchy, published as lists of a group's categories; ``names[code]``."""

    names: tuple[str | None, ...]

    shape, way = SET, "interval"

    @classmethod
    def of(cls, name: str, column: Values, k: int, whose: Ints | None = None) -> Set:
        """Give a code to every value of at least k records or units, and one code to all other values."""
        tally = Tally(column.codes + 1, len(column.levels) + 1, whose)  # the first: missing
        often = tally.counts
        by_rarity = np.argsort(often, kind="stable")
        rare, held = np.zeros(len(often), bool), tally.begin()
        for at in by_rarity:
            few = often[at] < k or 0 < held.count < k
            if often[at] and (few or (often > 0).sum() - rare.sum() >= MOST_CATEGORIES):
                rare[at] = True
                held.add(int(at))
        kept = [at for at in range(len(often)) if often[at] and not rare[at]]
        names = [None if at == 0 else str(column.levels[at - 1]) for at in kept]
        code = np.full(len(often), len(kept), np.int64)
        code[kept] = np.arange(len(kept))
        if rare.any():
            names.append(OTHERS if OTHERS not in names else f"{OTHERS} ")
        table = np.full((1, len(names)), 1.0 / max(len(names) - 1, 1))
        return cls(name, code[column.codes + 1], table, tuple(names))

    def span(self, part: Partition) -> tuple[Ints, Ints]:
        """Return the codes of each group as bits."""
        order, begin = _sorted(part)
        bits = np.bitwise_or.reduceat(np.left_shift(np.int64(1), self.codes[order]), begin)
        return bits, np.zeros(len(bits), np.int64)

    def penalty(self, item: Ints, other: Ints) -> Floats:
        """Return the number of categories beyond one, as a share of all."""
        del other
        return np.asarray((np.bitwise_count(item) - 1.0) / max(len(self.names) - 1, 1))

    def text(self, item: int, other: int) -> str | None:
        """Return the names, in their order."""
        del other
        result = [name for code, name in enumerate(self.names) if item >> code & 1]
        if result == [None]:
            return None
        if len(result) == len(self.names) > 1:
            return ANY
        return OR.join("missing" if name is None else name for name in result)

    @property
    def place(self) -> Floats:
        """The codes, from 0 to 1."""
        return np.linspace(0.0, 1.0, len(self.names)) if len(self.names) > 1 else np.zeros(1)

    def says(self) -> str:
        """Describe how the column is published."""
        rare = f"; categories of too few people become {OTHERS!r}" if OTHERS in self.names else ""
        return f"published as the list of the group’s categories{rare}"


def range_columns(
    table: Table,
    ways: Mapping[str, str],
    k: int,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    widths: Mapping[str, float] | None = None,
    exact: bool = False,
) -> list[RangeColumn]:
    """Return keys as lines, trees and sets.

    Parameters
    ----------
    table : Table
        The records.
    ways : mapping
        From keys to "interval" or "hierarchy".
    k : int
        Smallest number of people behind an end of a range, or behind a name in a list.
    hierarchies : mapping, optional
        For each column, an argument of `Hierarchy.of`.
    widths : mapping, optional
        Widths of bins, see `voronym.generalize.atoms.atoms_of`.
    exact : bool
        Publish the exact ends, which are somebody's values.
    """
    trees = {name: Hierarchy.of(given) for name, given in (hierarchies or {}).items()}
    _refuse_strange(table, ways, trees, dict(widths or {}))
    units = table.units
    whose = None if units is None else units.person if units.household is None else units.household
    made = []
    for name, way in ways.items():
        column, values, tree = table.schema[name], table[name], trees.get(name)
        width = (widths or {}).get(name)
        if way == "hierarchy":
            made.append(_tree(column, values, tree))
        elif column.kind in ("nominal", "text"):
            made.append(Set.of(name, values, 1 if exact else k, whose))
        else:
            order = _order(column, values) if column.kind == "ordinal" else None
            atoms = atoms_of(values, k, order=order, width=width, exact=exact, whose=whose)
            made.append(Line.of(name, atoms))
    return made


def _tree(column: Column, values: Values, tree: Hierarchy | None) -> RangeColumn:
    if tree is None and column.kind not in ("nominal", "text", "ordinal"):
        raise InputError(
            f"key {column.name!r} is a {column.kind} column, and publishing it by a hierarchy needs one: "
            f"give it ({hint('hierarchies', {column.name: 'FILE'})}), or publish intervals "
            f"({hint('publish', {column.name: 'interval'})})"
        )
    return Tree.of(column.name, values, tree)


def _order(column: Column, values: Values) -> tuple[str, ...]:
    return tuple(map(str, values.levels)) if column.categories is None else column.categories


def _refuse_strange(table: Table, ways: Mapping[str, str], *given: Mapping[str, Any]) -> None:
    for name in {name for item in (ways, *given) for name in item}:
        if name not in table.keys:
            raise InputError(f"{name!r} is no key of the table; these are: {', '.join(table.keys)}")
