"""The privacy-distortion curve of a table: the least information at each distortion; a release's point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from voronym.core.context import Context, ProgressCallback
from voronym.errors import InputError, SchemaError
from voronym.evaluate.encode import encode, without_gaps
from voronym.evaluate.measure import Columns
from voronym.evaluate.pair import make_pair
from voronym.evaluate.tradeoff import Plane, class_information, plane
from voronym.privacy.mutual_information import MutualInformation
from voronym.table import Table
from voronym.table.codec import Codec
from voronym.table.frame import as_frame

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Distortions of the table that is shown, as shares of the keys' variance."""


@dataclass(frozen=True)
class Operating:
    """The point of a release: its distortion, its information, and limits on the least information.

    Parameters
    ----------
    distortion : float
        Mean squared error of the encoded keys, as a share of their variance.
    aligned : bool
        Whether rows were known to correspond. Otherwise the distortion is the variance that is gone, which
        is the error where every class publishes its mean.
    risk, corrected : float
        Information of its classes about the column in this table, and in the population, in nats.
    proven, reached : float
        The least risk at this distortion is no less than ``proven``, and no greater than ``reached``.
    """

    distortion: float
    aligned: bool
    risk: float
    corrected: float
    proven: float
    reached: float

    @property
    def excess(self) -> float:
        """Information above the best known rule, in nats; 0 if no known rule reveals less."""
        return max(0.0, self.risk - self.reached)


@dataclass(frozen=True, eq=False)
class Frontier:
    """The curve of a table, proven from both sides, and the point of a release.

    Made by `frontier`. At every distortion the least information of any rule lies between `proven`, a
    lower bound for all rules on this table, and `reached`, which known rules reach.
    """

    plane: Plane
    point: Operating | None = None

    def proven(self, share: float) -> float:
        """Return a lower bound on the information of every rule, in nats, without assumptions."""
        curve = self.plane.curve("floor")
        return 0.0 if curve is None else max(0.0, curve.at(share))

    def reached(self, share: float) -> float:
        """Return the least known information, in nats; some of these rules are random and do not keep k."""
        curve = self.plane.curve("reached")
        return self.plane.upper(share) if curve is None else curve.at(share)

    def rows(self, shares: Sequence[float] = SHARES) -> list[dict[str, float | None]]:
        """Return the curve at some distortions: proven, reached, and for normal data (None if unknown)."""
        normal = self.plane.curve("normal")
        return [
            {
                "distortion": share,
                "proven": self.proven(share),
                "reached": self.reached(share),
                "normal": None if normal is None else normal.at(share),
            }
            for share in shares
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without values of any person."""
        point = None if self.point is None else vars(self.point) | {"excess": self.point.excess}
        return self.plane.to_dict() | {"rows": self.rows(), "release": point}


def frontier(
    data: Any,
    *,
    keys: Sequence[str],
    confidential: str,
    release: Any = None,
    aligned: bool = False,
    progress: ProgressCallback | None = None,
    **columns: Unpack[Columns],
) -> Frontier:
    """Find the least that the keys of a table must reveal about a column, at every distortion.

    Parameters
    ----------
    data : DataFrame
        The original records: pandas, Polars or PyArrow.
    keys : sequence of str
        The columns that are published.
    confidential : str
        The confidential column.
    release : DataFrame, optional
        A masked table of the same records, with the confidential column: its point in the plane.
    aligned : bool
        Whether row i of the release is row i of the data; releases of voronym are shuffled.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    **columns
        ``kinds``, ``orders``, ``locations``, as for `voronym.anonymize`.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(300, seed=1)
    >>> made = vr.anonymize(patients, keys=["age"], confidential=["cost"], k=5, drop_undeclared=True)
    >>> curve = frontier(patients, keys=["age"], confidential="cost", release=made.table)
    >>> curve.proven(0.0) <= curve.reached(0.0)
    True
    >>> curve.point.proven <= curve.point.risk <= curve.reached(0.0)
    True
    """
    if not keys:
        raise InputError("name at least one key column")
    ctx = Context(progress=progress)
    table = Table.build(data, keys=keys, confidential=[confidential], drop_undeclared=True, **columns)
    known = plane(table, Codec.fit(table).encode(table), ctx=ctx)
    result = Frontier(known)
    if release is not None:
        result = _with_release(result, table, release, aligned)
    ctx.done()
    return result


def _with_release(result: Frontier, table: Table, release: Any, aligned: bool) -> Frontier:
    """Return the frontier with the point of a release added; the point counts as reached."""
    masked = as_frame(release)
    name, keys = result.plane.levels.column, list(table.keys)
    lacking = [column for column in (*keys, name) if column not in masked.columns]
    if lacking:
        raise InputError(f"the release lacks the column {lacking[0]!r}, so its point is not known")
    if aligned and len(masked) != len(table.frame):
        raise InputError(
            f"the release has {len(masked):,} records and the original {len(table.frame):,}: corresponding "
            "rows must be equally many"
        )
    pair = make_pair(table.frame, masked.select([*keys, name]), table.schema)
    try:
        X, Y, codec, _ = encode(pair)
    except SchemaError as error:
        raise InputError(f"the distortion of the release cannot be measured: {error}") from error
    total = float(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    if aligned:
        near = without_gaps(pair, X, Y, np.arange(len(X)), codec)
        share = float(np.square(near - X).sum(axis=1).mean()) / total
    else:
        share = max(0.0, 1.0 - float(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean()) / total)
    masked_table = Table.build(pair.published, keys=keys, confidential=[name], drop_undeclared=True)
    levels = MutualInformation(column=name).levels(masked_table)[0]
    measured = class_information(levels, masked_table.classes.labels)
    inside = min(share, 1.0)
    point = Operating(
        share, aligned, measured.plug_in, measured.corrected, result.proven(inside), result.reached(inside)
    )
    return Frontier(result.plane.and_also([(share, measured.plug_in)]), point)
