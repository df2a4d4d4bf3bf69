"""Points that may separate thousands: 7.989 next to 308."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from voronym.errors import hint
from voronym.table.doubts.base import TABLE_DOUBTS, Doubt
from voronym.table.source import source_of
from voronym.table.values import Columns

if TYPE_CHECKING:
    from voronym.table.schema import Schema


@TABLE_DOUBTS.register("thousands")
def grouped_by_points(table: Columns, schema: Schema) -> Iterator[Doubt]:
    """Ask whether points separate thousands, if neither file nor user says so."""
    source = source_of(table.frame)
    for name in () if source is None else source.grouped:
        if name in schema and schema[name].role == "identifier":
            continue
        text = (
            f"every point in {name!r} stands before three last digits: is 7.989 nearly eight, or nearly "
            f"eight thousand? It was read as nearly eight. Say {hint('thousands', f'{name}=.')} if points "
            f"separate thousands there, or {hint('decimal', '.')} if they do not"
        )
        yield Doubt("thousands", name, text)
