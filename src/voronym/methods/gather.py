"""From published values of groups to the rows of a table."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.keyspaces import Published
from voronym.partition import Partition
from voronym.table.table import Table
from voronym.table.units import fresh_names


def gather(
    table: Table,
    published: Published,
    part: Partition,
    bare: NDArray[np.int64] | None = None,
    as_is: NDArray[np.bool_] | None = None,
) -> nw.DataFrame[Any]:
    """Return the table with the published keys of its groups; rows and columns keep their order.

    Requested pseudonyms come first; households in ``bare`` get none. Records in ``as_is`` share all keys
    with their group, and get their exact values back instead of a rounded mean.
    """
    kept = [
        name for name in table.columns if name in table.schema and table.schema[name].role != "identifier"
    ]
    parts = [published.frame[part.labels]]
    rest = [name for name in kept if name not in table.keys]
    if rest:
        parts.append(table.frame.select(rest))
    frame = nw.concat([nw.maybe_reset_index(item) for item in parts], how="horizontal").select(kept)
    if as_is is not None and as_is.any():
        frame = frame.with_columns(**_put_back(table, frame, as_is))
    return with_pseudonyms(table, frame, bare)


def _put_back(table: Table, frame: nw.DataFrame[Any], as_is: NDArray[np.bool_]) -> dict[str, nw.Series[Any]]:
    """Return numeric keys as published, with the table's own values in some rows."""
    rows = np.where(as_is, np.arange(table.n), np.arange(table.n) + table.n)
    made = {}
    for name in table.keys:
        own, new = table.frame.select(name), frame.select(name)
        if own[name].dtype == new[name].dtype and own[name].dtype.is_float():
            both = nw.concat([nw.maybe_reset_index(own), nw.maybe_reset_index(new)])
            made[name] = nw.maybe_reset_index(both[rows.tolist()])[name]
    return made


def with_pseudonyms(
    table: Table, frame: nw.DataFrame[Any], bare: NDArray[np.int64] | None = None
) -> nw.DataFrame[Any]:
    """Return a masked table with pseudonyms in front, if requested; ``bare`` households get none."""
    if not table.schema.pseudonyms or table.units is None:
        return frame
    made = {
        table.schema.units[what]: fresh_names(codes, bare if what == "household" else None)
        for what, codes in table.units.known.items()
    }
    names = nw.from_dict(made, backend=table.frame.implementation)
    both = [nw.maybe_reset_index(part) for part in (names, frame)]
    return nw.concat(both, how="horizontal").select([*made, *frame.columns])
