"""Every method on one table: what each loses, what it risks, how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voronym import registry
from voronym.errors import InputError, VoronymError
from voronym.evaluate.attacks import record_linkage
from voronym.microaggregate import information_loss
from voronym.microaggregate.front import check_k, partition
from voronym.progress import Progress, Step, silent
from voronym.table import Kind, Schema, as_frame, read
from voronym.table.codec import Codec


@dataclass(frozen=True)
class Row:
    """One method at one k."""

    method: str
    k: int
    loss: float
    """Information loss in percent."""
    linkage: float
    """Share of records that a nearest-record attack re-identifies."""
    linkage_low: float
    linkage_high: float
    cells: int
    largest: int
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison, and the methods that were left out, with the reason."""

    rows: tuple[Row, ...]
    skipped: Mapping[str, str]
    records: int
    keys: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "records": self.records,
            "keys": list(self.keys),
            "rows": [asdict(row) for row in self.rows],
            "skipped": dict(self.skipped),
        }

    def best(self, k: int) -> Row:
        """Return the row of least loss at this k."""
        return min((row for row in self.rows if row.k == k), key=lambda row: (row.loss, row.seconds))


def compare(
    data: Any,
    *,
    keys: Sequence[str],
    k: int | Sequence[int] = (3, 5, 10),
    methods: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    locations: Sequence[tuple[str, str]] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Partition a table's keys by every method and measure loss, linkage risk and time.

    Parameters
    ----------
    data : dataframe, str or Path
        The table; only its keys are looked at.
    keys : sequence of str
        The key columns.
    k : int or sequence of int
        The cell sizes to try.
    methods : sequence of str, optional
        Names from `voronym.algorithms`; all that fit the table by default, except "auto".
    kinds, orders, locations, seed, progress
        As in `voronym.anonymize`.

    Examples
    --------
    >>> import voronym as vr
    >>> result = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3], methods=["mdav", "md"])
    >>> sorted(row.method for row in result.rows)
    ['md', 'mdav']
    """
    tell = silent if progress is None else progress
    if not keys:
        raise InputError("name at least one key column to compare methods on")
    frame = as_frame(read(data) if isinstance(data, (str, Path)) else data)
    schema = Schema.build(
        frame, keys=keys, kinds=kinds, orders=orders, locations=locations, drop_undeclared=True
    )
    codec = Codec.fit(frame, schema)
    X = codec.encode(frame)
    sizes = [check_k(value, len(X)) for value in (k if isinstance(k, Sequence) else [k])]
    if not sizes:
        raise InputError("name at least one k to compare at")
    rows, skipped = [], {}
    if methods is None:
        names = []
        for method in registry.algorithms().values():
            if method.name == "auto" or (method.univariate and X.shape[1] > 1):
                continue
            if method.practical is not None and len(X) > method.practical:
                skipped[method.name] = f"takes long beyond {method.practical:,} records; name it to run it"
            else:
                names.append(method.name)
    else:
        names = [registry.get(name).name for name in methods]
    tasks = [(name, value) for value in sizes for name in names]
    for done, (name, value) in enumerate(tasks):
        tell(Step(f"{name}, k={value}", done / len(tasks)))
        try:
            rows.append(_row(X, value, name, seed))
        except VoronymError as error:
            skipped[f"{name}, k={value}"] = str(error)
    tell(Step("compare", 1.0))
    return Comparison(tuple(rows), skipped, len(X), tuple(schema.keys))


def _row(X: np.ndarray[Any, np.dtype[np.float64]], k: int, name: str, seed: int) -> Row:
    start = time.perf_counter()
    part = partition(X, k, method=name, seed=seed)
    seconds = time.perf_counter() - start
    released = part.centroids(X)[part.labels]
    rate = record_linkage(X, released, truth=np.arange(len(X)), seed=seed).rate
    return Row(
        name,
        k,
        information_loss(X, part),
        rate.value,
        rate.low,
        rate.high,
        part.n_cells,
        int(part.sizes.max()),
        seconds,
    )
