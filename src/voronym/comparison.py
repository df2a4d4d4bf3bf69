"""Every method on one table: what each loses, what it risks, how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voronym.context import Context
from voronym.errors import InputError, VoronymError
from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.tradeoff import Plane, plane
from voronym.partitioners import information_loss
from voronym.privacy.information import Estimate
from voronym.problem import Problem, check_k
from voronym.progress import Progress, Step, silent
from voronym.registry import METHODS, algorithms
from voronym.table import Kind, Schema, as_frame, read
from voronym.table.codec import Codec

RISKS = ("linkage", "mutual-information")


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
    information: Estimate | None = None
    """What the cells tell about the confidential column, where that was asked for."""
    beside: Mapping[str, float] | None = None
    """The limits on that risk at the same loss, in nats, by the kind of curve."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without what was not asked for."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison, and the methods that were left out, with the reason."""

    rows: tuple[Row, ...]
    skipped: Mapping[str, str]
    records: int
    keys: tuple[str, ...]
    plane: Plane | None = None
    """The plane of distortion and risk, with its limits, where mutual information was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        out = {
            "records": self.records,
            "keys": list(self.keys),
            "rows": [row.to_dict() for row in self.rows],
            "skipped": dict(self.skipped),
        }
        return out if self.plane is None else out | {"plane": self.plane.to_dict()}

    def best(self, k: int) -> Row:
        """Return the row of least loss at this k."""
        return min((row for row in self.rows if row.k == k), key=lambda row: (row.loss, row.seconds))


def compare(
    data: Any,
    *,
    keys: Sequence[str],
    k: int | Sequence[int] = (3, 5, 10),
    methods: Sequence[str] | None = None,
    confidential: Sequence[str] = (),
    risk: str = "linkage",
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    locations: Sequence[tuple[str, str]] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Partition a table's keys by every method and measure loss, risk and time.

    Parameters
    ----------
    data : dataframe, str or Path
        The table; only its keys are looked at, and the confidential column if there is one.
    keys : sequence of str
        The key columns.
    k : int or sequence of int
        The cell sizes to try.
    methods : sequence of str, optional
        Names from `voronym.algorithms`; all that fit the table by default, except "auto".
    confidential : sequence of str
        The confidential column that ``risk="mutual-information"`` is about; exactly one.
    risk : {"linkage", "mutual-information"}
        "linkage": how many records a nearest-record attack re-identifies. "mutual-information" adds what
        the cells tell about the confidential column, ``I(W; cell)`` in nats, and the limits on it at the same
        loss: a point in the plane of distortion and risk for every method and k.
    kinds, orders, locations, seed, progress
        As in `voronym.anonymize`.

    Returns
    -------
    Comparison
        With ``plane`` and each row's ``information`` and ``beside`` where mutual information was asked for.

    Notes
    -----
    The plug-in figure is the information in the cells of this table. For the population behind it, it is too
    high, the more so the smaller the cells; ``information`` has a correction and an interval
    (see `voronym.privacy.information`). Cells are counted before decoding: where two cells are published
    alike, the release tells a little less.

    Examples
    --------
    >>> import voronym as vr
    >>> result = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3], methods=["mdav", "md"])
    >>> sorted(row.method for row in result.rows)
    ['md', 'mdav']

    What the cells tell about the cost of the stay:

    >>> table = vr.datasets.hospital(300)
    >>> result = vr.compare(
    ...     table, keys=["age"], k=[3, 30], methods=["mdav"], confidential=["cost"], risk="mutual-information"
    ... )
    >>> small, large = (row.information.plug_in for row in result.rows)
    >>> large < small < result.plane.unchanged.entropy
    True
    """
    tell = silent if progress is None else progress
    if not keys:
        raise InputError("name at least one key column to compare methods on")
    if risk not in RISKS:
        raise InputError(f"no risk is called {risk!r}; there are: {', '.join(RISKS)}")
    named = [confidential] if isinstance(confidential, str) else list(confidential)
    if risk == "linkage" and named:
        raise InputError(
            "confidential columns are looked at by risk 'mutual-information' alone; ask for it, or name none"
        )
    if risk == "mutual-information" and len(named) != 1:
        raise InputError(
            "risk 'mutual-information' is about one confidential column at a time; name one"
            + (f" of {', '.join(map(repr, named))}" if named else "")
        )
    frame = as_frame(read(data) if isinstance(data, (str, Path)) else data)
    schema = Schema.build(
        frame,
        keys=keys,
        confidential=named,
        kinds=kinds,
        orders=orders,
        locations=locations,
        drop_undeclared=True,
    )
    codec = Codec.fit(frame, schema)
    X = codec.encode(frame)
    sizes = [check_k(value, len(X)) for value in (k if isinstance(k, Sequence) else [k])]
    if not sizes:
        raise InputError("name at least one k to compare at")
    rows, skipped = [], {}
    if methods is None:
        names = []
        for method in algorithms().values():
            if method.name == "auto" or (method.univariate and X.shape[1] > 1):
                continue
            if method.practical is not None and len(X) > method.practical:
                skipped[method.name] = f"takes long beyond {method.practical:,} records; name it to run it"
            else:
                names.append(method.name)
    else:
        names = [METHODS[name].name for name in methods]
    found = plane(frame, schema, X, ctx=Context(progress=tell)) if named else None
    tasks = [(name, value) for value in sizes for name in names]
    for done, (name, value) in enumerate(tasks):
        tell(Step(f"{name}, k={value}", done / len(tasks)))
        try:
            rows.append(_row(X, value, name, seed, found))
        except VoronymError as error:
            skipped[f"{name}, k={value}"] = str(error)
    tell(Step("compare", 1.0))
    done_rows = tuple(rows)
    if found is not None:
        done_rows, found = _with_limits(done_rows, found)
    return Comparison(done_rows, skipped, len(X), tuple(schema.keys), found)


def _row(X: np.ndarray[Any, np.dtype[np.float64]], k: int, name: str, seed: int, found: Plane | None) -> Row:
    start = time.perf_counter()
    part = METHODS[name].partition(Problem.of(X, k), Context(seed=seed))
    seconds = time.perf_counter() - start
    released = part.centroids(X)[part.labels]
    rate = record_linkage(X, released, truth=np.arange(len(X)), ctx=Context(seed=seed)).rate
    loss = information_loss(X, part)
    return Row(
        name,
        k,
        loss,
        rate.value,
        rate.low,
        rate.high,
        part.n_cells,
        int(part.sizes.max()),
        seconds,
        None if found is None else found.risk(part.labels),
    )


def _with_limits(rows: Sequence[Row], found: Plane) -> tuple[tuple[Row, ...], Plane]:
    """Put the limits beside each row; what the rows reach counts as reached."""
    points = [(row.loss / 100, row.information.plug_in) for row in rows if row.information is not None]
    wider = found.and_also(points)
    return tuple(replace(row, beside=wider.beside(row.loss / 100)) for row in rows), wider
