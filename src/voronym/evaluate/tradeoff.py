"""The plane of distortion and risk of a table: measured points, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.channel.bounds import information_bound
from voronym.channel.limits import Floor, NormalCurve, Reached, reached
from voronym.core.context import Context
from voronym.core.jsonable import plain
from voronym.errors import InputError
from voronym.privacy.cells import count_runs
from voronym.privacy.information import Estimate, estimate
from voronym.privacy.level import Levels
from voronym.privacy.mutual_information import MutualInformation
from voronym.table.classes import check_columns
from voronym.table.schema import Schema
from voronym.table.table import Table

Ints = NDArray[np.int64]

_LEAST_DISTINCT = 8
"""Ordered columns with fewer distinct values get no curve of normal data: they are far from normal."""


class Limit(Protocol):
    """Risks in nats at distortions, as shares of the keys' variance."""

    def __call__(self, shares: ArrayLike) -> NDArray[np.float64]:
        """Return the risks."""
        ...


@dataclass(frozen=True)
class Curve:
    """A line in the plane.

    Parameters
    ----------
    kind : {"floor", "reached", "normal"}
        "floor": no rule on this table is below. "reached": rules on this table come down to here, so the
        least risk is no greater; some are randomised and do not keep k. "normal": the least risk of normal
        data with the same covariances; a bound for such data, a reference for others.
    function : callable
        Risks at shares of the variance.
    """

    kind: str
    function: Limit = field(repr=False)

    @property
    def bound(self) -> bool:
        """Whether the limit holds for this table without any assumption."""
        return self.kind != "normal"

    def at(self, share: float) -> float:
        """Return the risk in nats at a distortion."""
        return float(self.function([share])[0])

    def points(self, shares: ArrayLike) -> list[tuple[float, float]]:
        """Return pairs to draw."""
        at = np.asarray(shares, float)
        return list(zip(at.tolist(), self.function(at).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Plane:
    """The information of a table's keys about one confidential column, and the limits of masking.

    Made by `plane`. Distortion is the mean squared error of the encoded keys, each with variance 1, as a
    share of their variance: the information loss divided by 100. Risk is ``I(W; class)`` in nats.

    Parameters
    ----------
    levels : Levels
        The confidential column as it is measured.
    unchanged : Estimate
        The risk of publishing the keys as they are, at distortion 0.
    curves : tuple of Curve
        Limits on the risk at a distortion.
    notes : tuple of str
        Missing curves, with reasons.
    """

    levels: Levels
    unchanged: Estimate
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()

    def risk(self, labels: Ints) -> Estimate:
        """Measure the risk of published classes, given the class 0..m-1 of each record."""
        return class_information(self.levels, labels)

    def curve(self, kind: str) -> Curve | None:
        """Return a curve by its kind; None if it is missing."""
        return next((curve for curve in self.curves if curve.kind == kind), None)

    def and_also(self, points: Sequence[tuple[float, float]]) -> Plane:
        """Return the plane with more measured rules as reached: pairs of distortion and plug-in risk."""
        curves = [
            replace(curve, function=curve.function.and_also(points))
            if isinstance(curve.function, Reached)
            else curve
            for curve in self.curves
        ]
        return replace(self, curves=tuple(curves))

    def upper(self, share: float) -> float:
        """Return the mutual-information upper bound (9) on the least risk: unchanged times 1 - d."""
        return information_bound(self.unchanged.plug_in, share)

    def limits(self, share: float) -> dict[str, float]:
        """Return every limit at a distortion, in nats."""
        return {curve.kind: curve.at(share) for curve in self.curves} | {"by_lot": self.upper(share)}

    def to_dict(self, shares: ArrayLike | None = None) -> dict[str, Any]:
        """Return plain data: the ends, the curves as pairs, the notes; without values of any person."""
        at = np.linspace(0.0, 1.0, 51) if shares is None else np.asarray(shares, float)
        return {
            "column": self.levels.column,
            "discretisation": self.levels.how,
            "unit": "nats",
            "distortion": "mean squared error of the standardised keys as a share of their variance",
            "entropy": self.unchanged.entropy,
            "unchanged": plain(self.unchanged),
            "curves": [
                {"kind": curve.kind, "bound": curve.bound, "points": curve.points(at)}
                for curve in self.curves
            ],
            "notes": list(self.notes),
        }


def plane(
    table: Table,
    X: NDArray[np.float64],
    *,
    column: str | None = None,
    ctx: Context | None = None,
    rules: bool = True,
) -> Plane:
    """Measure the information of unchanged keys about a confidential column, and compute the limits.

    Parameters
    ----------
    table : Table
        The original records.
    X : array, shape (n, d)
        The encoded keys.
    column : str, optional
        The confidential column; required if there are several.
    ctx : Context, optional
        Hears how far the work is and may stop it.
    rules : bool
        Whether to look for randomised rules, by convex programmes: "reached".

    Returns
    -------
    Plane
        Takes O(n log n + 48 n d), and at most some seconds for the randomised rules.

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(400, seed=1)
    >>> schema = vr.Schema.build(patients, keys=["age"], confidential=["cost"], drop_undeclared=True)
    >>> from voronym.table.codec import Codec
    >>> table = Table.of(patients, schema)
    >>> found = plane(table, Codec.fit(table).encode(table))
    >>> [curve.kind for curve in found.curves]
    ['floor', 'reached', 'normal']
    >>> found.risk(np.zeros(400, dtype=int)).plug_in  # one class for all
    0.0
    """
    name = _the_one(table.frame, table.schema, column)
    ctx = Context() if ctx is None else ctx
    levels = MutualInformation(column=name).levels(table)[0]
    ctx.tell(0.0, whole=True)
    unchanged = class_information(levels, table.classes.labels)
    ctx.tell(0.05, whole=True)
    curves = [Curve("floor", Floor(X, levels.codes))]
    if rules:
        result = reached(X, levels.codes, unchanged.plug_in, ctx=ctx.part(0.1, 0.95))
        curves.append(Curve("reached", result))
    notes: list[str] = []
    normal = _normal(MutualInformation(column=name, bins="distinct").levels(table)[0], levels, X)
    if isinstance(normal, str):
        notes.append(normal)
    else:
        curves.append(Curve("normal", normal))
    return Plane(levels, unchanged, tuple(curves), tuple(notes))


def class_information(levels: Levels, labels: Ints) -> Estimate:
    """Return the information of classes about a confidential column; ``labels`` has each record's class.

    Examples
    --------
    >>> ill = Levels("ill", np.array([0, 0, 1, 1]), False, ("a", "b"))
    >>> round(class_information(ill, np.array([0, 0, 1, 1])).plug_in, 4)  # all of it: ln 2
    0.6931
    """
    labels = np.asarray(labels, np.int64)
    if labels.shape != levels.codes.shape:
        raise InputError(f"there are {levels.n} records but {labels.size} labels")
    return estimate(count_runs(labels, levels.codes, int(labels.max()) + 1, levels.size), levels)


def letters(plane: Plane) -> int:
    """Return the number of cells for the randomised rules of ``reached``; 0 without such rules."""
    curve = plane.curve("reached")
    return curve.function.letters if curve is not None and isinstance(curve.function, Reached) else 0


def _the_one(frame: nw.DataFrame[Any], schema: Schema, column: str | None) -> str:
    if column is not None:
        check_columns(frame, [column], "confidential")
        return column
    if len(schema.confidential) != 1:
        given = ", ".join(map(repr, schema.confidential))
        raise InputError(
            "the plane of distortion and risk is about one confidential column at a time; name one"
            + (f" of {given}" if given else "")
        )
    return schema.confidential[0]


def _normal(fine: Levels, levels: Levels, X: NDArray[np.float64]) -> NormalCurve | str:
    """Return the curve for normal data, or the reason why there is none."""
    name = repr(levels.column)
    if not fine.ordered:
        return f"{name} has no order, so there is no curve of normal data"
    known = fine.codes < fine.size - fine.missing
    if fine.size - fine.missing < _LEAST_DISTINCT:
        return f"{name} has fewer than {_LEAST_DISTINCT} distinct values, so there is no curve of normal data"
    if not np.ptp(X[known], axis=0).any():
        return "the keys do not vary, so there is no curve of normal data"
    normal_curve = NormalCurve(X[known], fine.codes[known], levels.codes[known])
    if normal_curve.information == inf:
        return f"the keys determine {name}, so the curve of normal data has no end"
    return normal_curve
