"""Typed hierarchies: each line has a value and its ancestors, nearest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from voronym.errors import VoronymError
from voronym.generalize.hierarchy import Hierarchy
from voronym.report.write import names

MISSING = 5
"""Values without a place in the tree that are named."""


def tree_of(text: str) -> dict[str, list[str]]:
    r"""Read lines such as ``nurse; care; health``: a value, then its levels from fine to coarse.

    Examples
    --------
    >>> tree_of("nurse; care; health\n\nporter;")
    {'nurse': ['care', 'health'], 'porter': []}
    """
    rows = ([part.strip() for part in line.split(";")] for line in text.splitlines() if line.strip())
    return {row[0]: [part for part in row[1:] if part] for row in rows}


def text_of(tree: Any) -> str:
    """Write a hierarchy in lines: `tree_of` gives it back."""
    if not isinstance(tree, Mapping):
        return str(tree)
    return "\n".join("; ".join([str(value), *map(str, above)]) for value, above in tree.items())


def levels(frame: pl.DataFrame, trees: Mapping[str, Any]) -> dict[str, str]:
    """Return for each column with a hierarchy the number and rarity of values at each level."""
    return {
        name: _describe_levels(frame[name], tree) for name, tree in trees.items() if name in frame.columns
    }


def _describe_levels(column: pl.Series, given: Any) -> str:
    try:
        tree = Hierarchy.of(given) if isinstance(given, Mapping) else None
    except VoronymError as error:
        return error.worded("page")
    if tree is None:
        return ""
    count: dict[str, int] = dict(column.drop_nulls().cast(pl.String).value_counts().rows())
    lacking = sorted(str(value) for value in count if value not in tree)
    if lacking:
        return f"not in the tree: {names(lacking, MISSING)}"
    parts = []
    for level in range(tree.height + 1):
        sums: dict[str, int] = {}
        for value, many in count.items():
            label = tree.generalise(value, level)
            sums[label] = sums.get(label, 0) + many
        what = "as it is" if level == 0 else f"level {level}"
        rare = f", the rarest has {min(sums.values()):,} rows" if len(sums) > 1 else ""
        parts.append(f"{what}: {len(sums):,} {'value' if len(sums) == 1 else 'values'}{rare}")
    return "; ".join(parts)
