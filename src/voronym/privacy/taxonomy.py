"""A tree above the values of a column: what generalises what."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym.privacy.cells import Levels


@dataclass(frozen=True)
class Taxonomy:
    """Ancestors of every value, nearest first, in a tree whose leaves are all at the same depth.

    Parameters
    ----------
    lines : tuple of tuple of str
        A value and its ancestors each, all of the same length. Where the last ancestors differ, a root is
        added above them.
    source : str
        The file it was read from, if it was. Two taxonomies are equal when their lines are.

    Examples
    --------
    >>> tree = Taxonomy.of({"flu": ["respiratory", "any"], "ulcer": ["stomach", "any"]})
    >>> tree.height
    2
    """

    lines: tuple[tuple[str, ...], ...]
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.lines:
            raise InputError("the taxonomy is empty; give each value its ancestors, nearest first")
        widths = {len(line) for line in self.lines}
        if len(widths) > 1 or widths == {1}:
            raise InputError(
                "every value of a taxonomy needs the same number of ancestors, one at least; "
                f"these have between {min(widths) - 1} and {max(widths) - 1}. Repeat a value to fill up"
            )
        if len({line[0] for line in self.lines}) < len(self.lines):
            raise InputError("a value occurs twice in the taxonomy; give each value one line")
        # A node is named by its height and label; it may have one parent only.
        for height in range(1, len(self.lines[0]) - 1):
            parents: dict[str, str] = {}
            for line in self.lines:
                if parents.setdefault(line[height], line[height + 1]) != line[height + 1]:
                    raise InputError(
                        f"the taxonomy is no tree: a label at level {height} has two different parents"
                    )
        object.__setattr__(self, "lines", tuple(sorted(self.lines)))

    @classmethod
    def of(cls, given: Mapping[Any, Sequence[Any]] | str | Path) -> Taxonomy:
        """Build a taxonomy from a mapping, from the path of a CSV file, or from JSON text."""
        if isinstance(given, str) and given.lstrip().startswith("{"):
            try:
                given = json.loads(given)
            except json.JSONDecodeError as error:
                raise InputError(f"the taxonomy is not valid JSON: {error}") from None
        if isinstance(given, Mapping):
            rows = []
            for value, above in given.items():
                if isinstance(above, str) or not isinstance(above, Sequence):
                    raise InputError("a taxonomy maps each value to the list of its ancestors, nearest first")
                rows.append((str(value), *map(str, above)))
            return cls(tuple(rows))
        if not isinstance(given, (str, Path)):
            raise InputError(f"a taxonomy is a mapping or a file, not {type(given).__name__}")
        return cls._read(Path(given))

    @classmethod
    def _read(cls, path: Path) -> Taxonomy:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(f"cannot read the taxonomy {path}: {reason}") from None
        mark = ";" if ";" in text.split("\n", 1)[0] else ","
        rows = [tuple(c.strip() for c in row) for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
        return cls(tuple(rows), str(path))

    @property
    def height(self) -> int:
        """Levels above the leaves, the root included."""
        rooted = len({line[-1] for line in self.lines}) == 1
        return len(self.lines[0]) - (1 if rooted else 0)

    def ancestors(self, levels: Levels) -> NDArray[np.int64]:
        """Return the node above each level of a column, a row per height below the root.

        Missing is a branch of its own below the root. A value that the taxonomy lacks is refused.
        """
        line = {row[0]: row for row in self.lines}
        values = levels.values[:-1] if levels.missing else levels.values
        strange = np.array([str(value) not in line for value in values], dtype=bool)
        if strange.any():
            rows = int(levels.counts[: len(values)][strange].sum())
            raise InputError(
                f"column {levels.column!r} has {int(strange.sum())} values, in {rows} rows, that the "
                "taxonomy lacks; add them, or name the column that the taxonomy is for: column=NAME"
            )
        out = np.zeros((self.height, levels.size), np.int64)
        for height in range(self.height):
            nodes: dict[str, int] = {}
            for i, value in enumerate(values):
                out[height, i] = nodes.setdefault(line[str(value)][height], len(nodes))
            out[height, len(values) :] = len(nodes)
        return out

    def __str__(self) -> str:
        if self.source:
            return self.source
        return json.dumps({line[0]: list(line[1:]) for line in self.lines}, ensure_ascii=False)

    def __repr__(self) -> str:
        where = f" from {self.source}" if self.source else ""
        return f"Taxonomy({len(self.lines)} values, height {self.height}{where})"
