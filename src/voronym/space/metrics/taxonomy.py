"""Categories in a hierarchy: countries in regions, diagnoses in chapters."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from voronym._kernels.mixed import TREE
from voronym.errors import InputError, ReadError
from voronym.space.metrics.base import Geometry, metric


class Hierarchy:
    """A tree of categories: each value with its ancestors, nearest first, up to a common root.

    Parameters
    ----------
    rows : iterable of sequences of str
        ``(value, level 1, level 2, ..., root)``, all of one length. A root "*" is added where the last
        entries differ.

    Examples
    --------
    >>> tree = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("stroke", "brain", "*")])
    >>> tree.height, len(tree)
    (2, 3)
    """

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        paths = [tuple(str(entry) for entry in row) for row in rows]
        if not paths:
            raise InputError("the hierarchy has no rows; each is a value and its ancestors")
        if len({len(path) for path in paths}) > 1:
            raise InputError(
                "the rows of a hierarchy must all have as many levels; repeat an entry where one is short"
            )
        if len({path[-1] for path in paths}) > 1 or len(paths[0]) == 1:
            paths = [(*path, "*") for path in paths]
        self.paths: dict[str, tuple[str, ...]] = {}
        parents: dict[tuple[int, str], str] = {}
        for path in paths:
            if self.paths.setdefault(path[0], path) != path:
                raise InputError(
                    "a value stands in the hierarchy twice, with different ancestors; keep one row"
                )
            for level in range(len(path) - 1):
                if parents.setdefault((level, path[level]), path[level + 1]) != path[level + 1]:
                    raise InputError(
                        f"an entry of level {level} has different parents in different rows: that is no tree"
                    )

    @property
    def height(self) -> int:
        """Steps from a value up to the root."""
        return len(next(iter(self.paths.values()))) - 1

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, value: object) -> bool:
        return value in self.paths

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, delimiter: str = ";") -> Hierarchy:
        """Read a file in the layout of ARX: no header, ``value;level 1;level 2;...;*`` in every line."""
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ReadError(f"cannot read the hierarchy {Path(path).name!r}: {reason}") from None
        return cls(rows)


@metric("taxonomy")
@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The steps up to the nearest common ancestor, as a share of the height: 0 for equal values, up to 1.

    It is an ultrametric: values within a radius of each other form a subtree. Its centroid is the value,
    among those of the cell, with the least sum of distances.

    Parameters
    ----------
    hierarchy : Hierarchy, mapping, rows or path
        The tree; a mapping goes from a value to its ancestors; a path leads to a file in the layout of ARX.
    unseen : {"refuse", "root"}
        What to do with values that the hierarchy lacks: refuse the column, or hang each of them directly
        below the root, at distance 1 from all others.

    Examples
    --------
    >>> from voronym.space.metrics import pairwise
    >>> import numpy as np
    >>> tree = {"flu": ("lung", "*"), "asthma": ("lung", "*"), "stroke": ("brain", "*")}
    >>> made = Taxonomy(tree).geometry(["asthma", "flu", "stroke"], "diagnosis")
    >>> pairwise(made, np.arange(3)[:, None], np.arange(3)).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    hierarchy: Hierarchy | Mapping[str, Sequence[str]] | Iterable[Sequence[str]] | str | os.PathLike[str]
    unseen: Literal["refuse", "root"] = "refuse"
    name: ClassVar[str] = "taxonomy"

    def __post_init__(self) -> None:
        tree = self.hierarchy
        if isinstance(tree, (str, os.PathLike)):
            tree = Hierarchy.read(tree)
        elif isinstance(tree, Mapping):
            tree = Hierarchy((value, *above) for value, above in tree.items())
        elif not isinstance(tree, Hierarchy):
            tree = Hierarchy(tree)
        if self.unseen not in ("refuse", "root"):
            raise InputError(f"unseen is 'refuse' or 'root', not {self.unseen!r}")
        object.__setattr__(self, "hierarchy", tree)

    def geometry(self, values: Any, column: str) -> Geometry:
        """Return the ancestors of each value as numbers."""
        tree = self.hierarchy
        assert isinstance(tree, Hierarchy)  # noqa: S101 - set above
        names = [str(value) for value in values]
        strange = sum(name not in tree for name in names)
        if strange and self.unseen == "refuse":
            raise InputError(
                f"{strange} of {len(names)} distinct values of column {column!r} are not in its hierarchy; "
                "add them, or "
                "set unseen='root', which hangs them below the root"
            )
        coords = np.zeros((len(names), tree.height + 1))
        numbers: dict[tuple[int, str], int] = {}
        for i, name in enumerate(names):
            # A value that the tree lacks has ancestors of its own up to the root: no other value meets them.
            path = tree.paths.get(name) or (*[f"\0{name}"] * tree.height, "")
            for level in range(tree.height):
                coords[i, level] = numbers.setdefault((level, path[level]), len(numbers) + 1)
        notes: tuple[str, ...] = ()
        if strange:
            notes = (
                f"{strange} distinct values of {column!r} are not in its hierarchy: they hang below the root",
            )
        return Geometry(TREE, coords, 1.0, float(tree.height), notes=notes)
