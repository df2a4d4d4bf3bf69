"""Hierarchies of values: towns in provinces in countries, diagnoses in blocks in chapters.

This reader serves all users of hierarchies: t-closeness over a tree, the metric "taxonomy", and
generalisation.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.validate import checked
from voronym.errors import InputError, ReadError

ROOT = "*"
_MARKS = (";", "\t", "|", ",")
_LEVEL_NAMES = re.compile(
    r"(level|lvl|l)[ _-]?\d+|parent|ancestor|group|category|block|chapter|class|region|root", re.IGNORECASE
)

Given = Mapping[Any, Sequence[Any]] | Iterable[Sequence[Any]] | str | os.PathLike[str]


@checked
class Hierarchy:
    """A tree above the values of a column.

    Trees may be unbalanced. A value with fewer ancestors than others is repeated at every level below its
    first ancestor. So "E11", recorded without its fourth digit, stays close to "E11.9", whose parent it
    is.

    Parameters
    ----------
    rows : iterable of sequences of str
        A value and its ancestors each, nearest first. The last ancestor is the root, the same for all;
        otherwise a root "*" is added above. Rows of two entries may also be pairs of child and parent, which
        are followed upwards. Empty entries are skipped.

    Examples
    --------
    >>> tree = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("stroke", "*")])
    >>> tree.height, tree.generalise("flu", 1), tree.generalise("stroke", 1)
    (2, 'lung', 'stroke')
    >>> tree.common("flu", "asthma"), tree.distance("flu", "asthma"), tree.distance("flu", "stroke")
    ('lung', 0.5, 1.0)
    """

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.source = ""
        """The file of the hierarchy; "" if it was not read from a file."""
        listed = list(rows)
        if not all(isinstance(row, Sequence) and not isinstance(row, (str, bytes)) for row in listed):
            raise InputError("a hierarchy is a list of rows, each a list: a value, then its ancestors")
        self._build([(f"row {i}", row) for i, row in enumerate(listed, 1)])

    def _build(self, given: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Make the paths from rows; errors name the place of a row."""
        rows = [(place, tuple(text for entry in row if (text := str(entry).strip()))) for place, row in given]
        rows = [(place, row) for place, row in rows if row]
        if not rows:
            raise InputError("the hierarchy is empty; give each value its ancestors, nearest first")
        short, places = _one_each(_followed(rows))
        short = _rooted(short)
        longest = max(map(len, short.values()))
        self.paths = {value: (value,) * (longest - len(path)) + path for value, path in sorted(short.items())}
        """Every value with its ancestors, the root last; all paths have the same length."""
        _check_tree(short, places, longest)

    @classmethod
    def of(cls, given: Hierarchy | Given) -> Hierarchy:
        """Return a hierarchy from a mapping (value to ancestors), rows, JSON text or the path of a file."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, str) and given.lstrip().startswith("{"):
            try:
                given = json.loads(given)
            except json.JSONDecodeError as error:
                raise InputError(f"the hierarchy is not valid JSON: {error}") from None
        if isinstance(given, (str, os.PathLike)):
            return cls.read(given)
        if isinstance(given, Mapping):
            if any(isinstance(above, str) or not isinstance(above, Sequence) for above in given.values()):
                raise InputError("a hierarchy maps each value to the list of its ancestors, nearest first")
            given = [(value, *above) for value, above in given.items()]
        if not isinstance(given, Iterable):
            raise InputError(f"a hierarchy is a mapping, rows or a file, not {type(given).__name__}")
        return cls(given)

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, delimiter: str | None = None, header: bool | None = None
    ) -> Hierarchy:
        """Read a text file, ``value;level 1;level 2;...;*`` in every line as in ARX, or ``child;parent``.

        Parameters
        ----------
        path : str or Path
            UTF-8 text.
        delimiter : str, optional
            Between the entries; by default the one of ``;``, tab, ``|`` and ``,`` that splits most lines.
        header : bool, optional
            Whether the first line names the columns. By default it does if the other lines share a root that
            it lacks, or if its entries are words such as "level 1" or "parent".
        """
        name = Path(path).name
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
            rows = _split(text, delimiter)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise ReadError(f"cannot read the hierarchy {name!r}: {reason}") from None
        if (_has_header([row for _, row in rows]) if header is None else header) and rows:
            rows = rows[1:]
        made = cls.__new__(cls)
        made.source = str(path)
        try:
            made._build(rows)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        return made

    @property
    def height(self) -> int:
        """Number of steps from the lowest values up to the root."""
        return len(next(iter(self.paths.values()))) - 1

    @property
    def values(self) -> tuple[str, ...]:
        """The values, sorted."""
        return tuple(self.paths)

    @property
    def root(self) -> str:
        """The common ancestor of all values."""
        return next(iter(self.paths.values()))[-1]

    def __len__(self) -> int:
        return len(self.paths)

    def __contains__(self, value: object) -> bool:
        return value in self.paths

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.paths == other.paths

    def __hash__(self) -> int:
        return hash(tuple(self.paths.items()))

    def path(self, value: str) -> tuple[str, ...]:
        """Return a value and its ancestors, a label for each level from 0 to `height`."""
        try:
            return self.paths[value]
        except KeyError:
            raise InputError(f"the hierarchy of {len(self)} values lacks one that was asked for") from None

    def generalise(self, value: str, level: int) -> str:
        """Return the label of a value at a level: 0 is the value itself, `height` the root."""
        if not 0 <= level <= self.height:
            raise InputError(f"the hierarchy has levels 0 to {self.height}, not {level}")
        return self.path(value)[level]

    def above(self, level: int) -> Hierarchy:
        """Return the hierarchy above a level; 0 is the whole hierarchy.

        Examples
        --------
        >>> Hierarchy([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]).above(1).values
        ('x', 'y')
        """
        if not 0 <= level <= self.height:
            raise InputError(f"the hierarchy has levels 0 to {self.height}, not {level}")
        return Hierarchy(sorted({path[level:] for path in self.paths.values()}))

    def depth(self, value: str) -> int:
        """Return the number of steps from a value to the root; less than `height` on short branches."""
        path = self.path(value)
        return self.height - next(h for h in range(len(path)) if h == self.height or path[h + 1] != value)

    def level(self, text: str, other: str) -> int:
        """Return the level of the lowest common ancestor of two values; 0 if they are equal."""
        a, b = self.path(text), self.path(other)
        if text == other:
            return 0
        return next(h for h in range(len(a)) if a[h:] == b[h:])

    def common(self, text: str, other: str) -> str:
        """Return the lowest common ancestor of two values."""
        return self.path(text)[self.level(text, other)]

    def distance(self, text: str, other: str) -> float:
        """Return the level of the lowest common ancestor as a share of the height, from 0 to 1."""
        return self.level(text, other) / self.height

    def nodes(
        self,
        values: Sequence[Any],
        column: str,
        *,
        counts: NDArray[np.int64] | None = None,
        hang: bool = False,
        hint: str = "",
    ) -> NDArray[np.int64]:
        """Return a number for the ancestor of each value at each level, shape (height, values).

        Two values have the same number at a level if they share the ancestor there.

        Parameters
        ----------
        values : sequence
            Distinct values; they are looked up as texts.
        column : str
            The column, for messages.
        counts : array, optional
            Records of each value, for messages.
        hang : bool
            Hang values that the hierarchy lacks directly below the root, instead of refusing them.
        hint : str
            Further advice about them, for the message.
        """
        names = [str(value) for value in values]
        strange = np.array([name not in self.paths for name in names], dtype=bool)
        if strange.any() and not hang:
            rows = "" if counts is None else f", in {int(counts[: len(names)][strange].sum())} rows,"
            raise InputError(
                f"{int(strange.sum())} of {len(names)} distinct values of column {column!r}{rows} are not in "
                f"its hierarchy; add them{hint}"
            )
        out = np.zeros((self.height, len(names)), np.int64)
        for level in range(self.height):
            # A node is known by its label and all that is above it: labels may repeat in other branches.
            known: dict[tuple[str, ...], int] = {}
            for i, name in enumerate(names):
                above = self.paths[name][level:] if name in self.paths else ("", name)
                out[level, i] = known.setdefault(above, len(known))
        return out

    def __str__(self) -> str:
        if self.source:
            return self.source
        shown = {value: path[self.height - self.depth(value) + 1 :] for value, path in self.paths.items()}
        return json.dumps(shown, ensure_ascii=False)

    def __repr__(self) -> str:
        where = f" from {self.source}" if self.source else ""
        return f"Hierarchy({len(self)} values, height {self.height}{where})"


_Rows = Sequence[tuple[str, tuple[str, ...]]]
_Paths = dict[str, tuple[str, ...]]


def _split(text: str, delimiter: str | None) -> list[tuple[str, list[str]]]:
    """Return the entries of every line that is not empty, with the line's number."""

    def parse(mark: str) -> list[tuple[str, list[str]]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        return [(f"line {reader.line_num}", row) for row in reader if any(entry.strip() for entry in row)]

    if delimiter is not None:
        return parse(delimiter)
    # The first of the best: texts with semicolons as delimiter may contain commas, hardly the reverse.
    return max((parse(mark) for mark in _MARKS), key=lambda rows: sum(len(row) > 1 for _, row in rows))


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    first, rest = [entry.strip() for entry in rows[0]] if rows else [], rows[1:]
    if len(first) < 2 or not rest:
        return False
    if all(_LEVEL_NAMES.fullmatch(entry) for entry in first[1:]):
        return True
    ends = {row[-1].strip() for row in rest}
    if len(first) == 2 and ends != {"*"}:  # two columns that share a parent are no sign of a heading
        return False
    above = {entry.strip() for row in rest for entry in row}
    return len(ends) == 1 and len(first) >= max(map(len, rest)) and not above & set(first[1:])


def _followed(rows: _Rows) -> _Rows:
    """Turn pairs of child and parent into whole paths; leave other rows unchanged."""
    parents = {row[0]: row[1] for _, row in rows if len(row) == 2 and row[0] != row[1]}
    if any(len(row) > 2 for _, row in rows) or not set(parents) & set(parents.values()):
        return rows
    out = []
    for place, row in rows:
        path = list(row)
        while path[-1] in parents:
            path.append(parents[path[-1]])
            if len(path) > len(parents) + 1:
                raise InputError(f"{place}: its ancestors lead back to it; a hierarchy has no circles")
        out.append((place, tuple(path)))
    return out


def _one_each(rows: _Rows) -> tuple[_Paths, dict[str, str]]:
    """Return the path of every value, and its place in the file."""
    paths: _Paths = {}
    places: dict[str, str] = {}
    for place, row in rows:
        if paths.setdefault(row[0], row) != row:
            raise InputError(
                f"{places[row[0]]} and {place}: the same value twice, with different ancestors; keep one"
            )
        places.setdefault(row[0], place)
    return paths, places


def _rooted(paths: _Paths) -> _Paths:
    """Return paths that all end in one root."""
    ends = {path[-1] for path in paths.values() if len(path) > 1}
    root = ends.pop() if len(ends) == 1 else ROOT
    return {
        value: path if len(path) > 1 and path[-1] == root else (*path, root) for value, path in paths.items()
    }


def _check_tree(paths: _Paths, places: dict[str, str], longest: int) -> None:
    """Refuse an ancestor with two parents, and name the lines."""
    parents: dict[tuple[int, str], tuple[str, str]] = {}
    inner = {label: value for value, path in paths.items() for label in path[1:-2]}
    for value, path in paths.items():
        for at in range(1, len(path) - 1):
            level = longest - len(path) + at
            above, first = parents.setdefault((level, path[at]), (path[at + 1], value))
            if above != path[at + 1]:
                raise InputError(
                    f"{places[first]} and {places[value]}: the hierarchy is no tree: a label at level "
                    f"{level} has two different parents; rename one, or correct the parent"
                )
        if 2 < len(path) < longest and path[-2] in inner:
            raise InputError(
                f"{places[value]} ends with a label that has a parent in {places[inner[path[-2]]]}: add "
                f"that parent and its ancestors here, too"
            )
