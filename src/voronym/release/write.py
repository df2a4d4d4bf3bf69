"""Write a release to a file, and count everything again in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from voronym.core.atomic import accompany, together
from voronym.errors import WriteError
from voronym.privacy import measure_within
from voronym.release.figures import ReleaseFigures
from voronym.table.frame import as_frame
from voronym.table.mark import refuse_changed
from voronym.table.places import place_of
from voronym.table.read import read
from voronym.table.source import read_again
from voronym.table.table import Table
from voronym.table.typeset import with_plain_ranges
from voronym.table.write import WriteReceipt, dialect_for, reading_back, write


def refuse_ledger(path: object) -> None:
    """Refuse a place for a release that a ledger knows."""
    if place_of(path) is not None:
        raise WriteError(
            "a release with a ledger gets its name and its entry together, which a store cannot promise: "
            "write it to a file of this machine, and copy it"
        )


def write_release(
    release: ReleaseFigures,
    path: str | Path,
    *,
    overwrite: bool,
    delimiter: str | None,
    guard: bool,
    table: str | None,
    style: Mapping[str, Any],
) -> WriteReceipt:
    """Write a release; give the file its name if k and all models hold in it.

    Parameters
    ----------
    release : ReleaseFigures
        The release, in memory.
    path, overwrite, delimiter, guard, table, style
        As for `voronym.Release.write`.
    """
    held = release._held
    if release.booking is not None:
        refuse_ledger(path)
    refuse_changed(path, held.frame, release._mark)
    units = held.units
    if units is None and release.schema.units:
        raise WriteError(
            "this release was stored and no longer knows which rows belong together, so it cannot be "
            "counted again in a file; write it where it is made"
        )
    models = [
        m
        for m in release.recipe.required
        if m.required is not None and (m.needs != "sizes" or units is not None)
    ]
    counted: list[int] = []

    def verify(file: Path) -> None:
        """Measure the other models in the file, as its reader would see them."""
        again = read_again(read(file, **reading), held.columns, release.schema.keys)
        result = as_frame(again if dialect is None else with_plain_ranges(again, dialect, source))
        kept = [name for name in held.columns if name not in release.schema.identifiers]
        table = Table.of(result, release.schema, only=kept)
        table = table.like(table.frame, units=units)
        counted.append(int(table.heads.min()))
        broken = [
            f
            for f in (measure_within(model, table, release.recipe.strata) for model in models)
            if not f.holds
        ]
        if broken:
            raise WriteError(
                f"read back from the written file, {'; '.join(map(str, broken))}: values that differ in "
                "the table look alike in this format, such as '1' and '1.0', or an empty text and a "
                "missing one. Make them alike in the table, or write Parquet. Nothing was left behind"
            )

    source = held.source
    reading = reading_back(Path(path), source, table, delimiter=delimiter, **style)
    dialect = (
        dialect_for(Path(path), source, delimiter=delimiter, **style) if "delimiter" in reading else None
    )
    with together():
        receipt = write(
            held.frame,
            path,
            keys=release.schema.keys,
            k=release.recipe.required_k,
            overwrite=overwrite,
            delimiter=delimiter,
            labels=held.labels,
            source=source,
            style=style,
            guard=guard,
            table_name=table,
            verify=verify if models else None,
        )
        if release.booking is not None:
            accompany(release.booking.companion(receipt.path, receipt.sha256))
    return replace(receipt, k_counted=counted[-1]) if counted else receipt
