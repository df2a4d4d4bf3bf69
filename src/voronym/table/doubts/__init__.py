"""Doubts about columns that a person should check before, or instead of, a release.

Each file holds doubts of one sort, functions registered in `DOUBTS`. A doubt has a strength:

- ``refuse``: going on would harm somebody, or make nonsense; the user can say that it is meant.
- ``warn``: the release is made, and the sentence is printed with it.
- ``hint``: only `voronym inspect` shows it.

Sentences name columns and counts, never a value of a person.
"""

from voronym.table.doubts import (
    codes,
    exposed,
    gaps,
    header,
    patterns,
    repeats,
    sentinels,
    tells,
    thousands,
    unique,
    unit_columns,
    variants,
)
from voronym.table.doubts.base import DOUBTS, Doubt, Seen, about_columns, about_table, refuse
from voronym.table.doubts.exposed import check_published

__all__ = [
    "DOUBTS",
    "Doubt",
    "Seen",
    "about_columns",
    "about_table",
    "check_published",
    "codes",
    "exposed",
    "gaps",
    "header",
    "patterns",
    "refuse",
    "repeats",
    "sentinels",
    "tells",
    "thousands",
    "unique",
    "unit_columns",
    "variants",
]
