"""Turn the keys of a table into records of a space, and turn groups back into published values.

A *space of keys* is a function ``(table, ctx, choices) -> Keys`` under the decorator `key_space`, which gives
it a name in recipes and on the command line. "euclidean" is here: keys become numbers. "mixed" is in
`voronym.records`: every key has its own metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core import numerics
from voronym.core.context import Context
from voronym.core.figures import NOTHING, Figures
from voronym.core.registry import Registry, meant
from voronym.errors import InputError, hint
from voronym.partition import Partition
from voronym.request.choices import ReleaseChoices
from voronym.space import Euclidean
from voronym.space.records import Records
from voronym.space.weighted import WeightedPoints, check_weights
from voronym.table.codec import Codec
from voronym.table.frame import NUMBERS
from voronym.table.schema import Schema
from voronym.table.table import Table


@dataclass(frozen=True, eq=False)
class Published:
    """The published values of groups.

    Parameters
    ----------
    frame : narwhals DataFrame
        The keys, one row for each group, in the order of their numbers.
    centroids : array, shape (m, d)
        The centroids in the coordinates of the space.
    figures : Figures
        Figures measured on the way, without any record.
    log : tuple of str
        Sentences about the work.
    published_as : mapping
        The way to publish each key, if not by the codec.
    schema : Schema, optional
        The published schema, if kinds changed: ranges are texts.
    """

    frame: nw.DataFrame[Any]
    centroids: NDArray[Any]
    figures: Figures = NOTHING
    log: tuple[str, ...] = ()
    published_as: Mapping[str, str] = field(default_factory=dict)
    schema: Schema | None = None


class Keys(ABC):
    """The keys of a table as records of a space, and the published values of groups."""

    records: Records
    notes: tuple[str, ...] = ()

    def at(self, k: int) -> Keys:  # noqa: ARG002 - for spaces whose published values depend on it
        """Return the keys for groups of at least k."""
        return self

    @abstractmethod
    def publish(self, part: Partition) -> Published:
        """Return one row of key values for each group.

        All records of a group get this row, so that its k records are equal.
        """


@dataclass(frozen=True)
class KeySpace:
    """A registered space of keys."""

    name: str
    function: Callable[..., Keys]


KEY_SPACES: Registry[KeySpace] = Registry("space of keys")
DEFAULT_SPACE = "euclidean"


def key_space(name: str) -> Callable[[Callable[..., Keys]], Callable[..., Keys]]:
    """Register a space of keys, a function ``(table, ctx, choices) -> Keys``."""

    def register(function: Callable[..., Keys]) -> Callable[..., Keys]:
        KEY_SPACES.add(name, KeySpace(name, function))
        return function

    return register


class Coordinates(Keys):
    """Keys as numbers, including categories, times and places.

    Parameters
    ----------
    table : Table
        The records.
    """

    def __init__(self, table: Table) -> None:
        totals = table.totals
        self.codec = Codec.fit(table) if totals is None else totals.codec.bound(table)
        self.X = self.codec.encode(table)
        self.records = Euclidean().records(self.X)

    @classmethod
    def given(cls, table: Table, X: NDArray[np.float64]) -> Coordinates:
        """Return, and remember, the known coordinates of a part of a data set."""
        made = cls.__new__(cls)
        assert table.totals is not None  # noqa: S101 - a part
        made.codec, made.X = table.totals.codec.bound(table), X
        made.records = Euclidean().records(X)
        _MADE[table] = made
        return made

    @staticmethod
    def known(table: Table) -> Coordinates | None:
        """Return the cached coordinates of a table; None without them."""
        return _MADE.get(table)

    @classmethod
    def of(cls, table: Table) -> Coordinates:
        """Return the coordinates of a table, computed once: for making groups and for measuring losses."""
        if table not in _MADE:
            _MADE[table] = cls(table)
        return _MADE[table]

    def publish(self, part: Partition) -> Published:
        """Return the means of the groups as values of the table.

        The m means are decoded once, then gathered by label: a mean computed again for each row could differ
        in its last bits.
        """
        centroids = self.records.centroids(part)
        return Published(self.codec.decode(centroids, part.labels), centroids)

    def loss(self, frame: Any) -> float:
        """Return the loss of publishing a table in place of the original, row by row: 100 SSE / SST.

        At least the loss of the groups: whole numbers and real categories are not the mean.
        """
        return self.percent(self.errors(frame))

    def errors(self, frame: Any, original: Table | None = None) -> NDArray[np.float64]:
        """Return the squared error of a published table for each coordinate.

        With the original given, a blanked value counts as if the mean of all records had been
        published.
        """
        result = np.empty(self.codec.width)
        for block, Y in self.codec.parts(frame):
            here = slice(block.start, block.stop)
            X = self.X[:, here]
            if original is not None and isinstance(frame, Table):
                gone = np.zeros(len(Y), bool)
                for name in block.columns:
                    gone |= frame.missing(name) & ~original.missing(name)
                Y = np.where(gone[:, None], X.mean(axis=0), Y) if gone.any() else Y
            result[here] = numerics.error(X, Y)
        return result

    def percent(self, errors: NDArray[np.float64]) -> float:
        """Return the loss in percent of the variance, from the result of `errors`."""
        error, total = float(errors.sum()), float(numerics.spread(self.X).sum())
        return 100 * error / total if total else 100.0 * bool(error)  # constant keys: nothing to lose

    def losses(self, errors: NDArray[np.float64], table: Table) -> dict[str, tuple[float, float]]:
        """Return two losses of each key, in percent of its variance and of the most it can lose.

        A key can lose more than its variance, because no category is a mean. The most it can lose is
        the loss of one record for everybody: the mean of numbers and the most frequent category. The
        second loss is computed only if a key lost more than its variance.
        """
        there = numerics.spread(self.X)
        out = {}
        for block in self.codec.blocks:
            here = slice(block.start, block.stop)
            lost, had = float(errors[here].sum()), float(there[here].sum())
            out[block.name] = (100 * lost / had if had else 100.0 * bool(lost), 0.0)
        if all(loss <= 100.0 for loss, _ in out.values()):
            return out
        part = Partition(np.zeros(len(self.X), np.int64))
        row = table.like(self.publish(part).frame)
        worst = numerics.error(self.X, self.codec.encode(row), part.labels)
        for block in self.codec.blocks:
            here = slice(block.start, block.stop)
            lost, had = float(errors[here].sum()), float(worst[here].sum())
            out[block.name] = (out[block.name][0], 100 * lost / had if had else 100.0 * bool(lost))
        return out


class Weighed(Keys):
    """Coordinates in which some keys or records count more than others.

    Groups publish their mean, weighted if records have weights. So weighted totals are kept, apart from
    rounding to possible values.

    Parameters
    ----------
    plain : Coordinates
        The keys, each with a variance of about 1.
    importance : mapping
        Factor on a key's squared differences; 1 for other keys.
    weights : array, optional
        Number of people behind each record.
    """

    def __init__(
        self,
        plain: Coordinates,
        importance: Mapping[str, float],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.plain, self.weights = plain, weights
        scale = np.ones(plain.X.shape[1])
        for block in plain.codec.blocks:
            named = [importance[name] for name in block.columns if name in importance]
            scale[block.start : block.stop] = np.sqrt(max(named, default=1.0))
        self.scale = scale
        """Factor on each coordinate."""
        self.records: Records = self._records(plain.X * scale)

    def _records(self, X: NDArray[np.float64]) -> Records:
        if self.weights is None:
            return Euclidean().records(X)
        return WeightedPoints(Euclidean(), X, None, self.weights)

    def publish(self, part: Partition) -> Published:
        """Return the means of the groups as values of the table."""
        if self.weights is None:
            return self.plain.publish(part)
        centroids = self._records(self.plain.X).centroids(part)
        own = dominated(self.weights, part)
        log: tuple[str, ...] = ()
        if own.any():
            centroids[own] = self.plain.records.centroids(part)[own]
            log = (
                f"In {int(own.sum()):,} of {part.n_cells:,} groups one record weighs so much that "
                "the weighted mean would tell its values (rule of p percent, p = 10): these groups publish "
                "the mean of their records, all counted alike, and weighted totals are not kept there.",
            )
        return Published(self.plain.codec.decode(centroids, part.labels), centroids, log=log)


DOMINANCE = 0.1
"""Least sum of all but the two largest weights of a group, as a share of the largest."""


def dominated(weights: NDArray[np.float64], part: Partition) -> NDArray[np.bool_]:
    """Return, for each group, whether its weighted mean would reveal the values of its heaviest record.

    This is the p-percent rule with p = 10 for similar records. The person with the second largest weight
    can subtract their own part; the remainder must be wrong by at least a tenth.

    Examples
    --------
    >>> dominated(np.array([500.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0]), Partition([0, 0, 0, 0, 1, 1, 1])).tolist()
    [True, False]
    """
    order = np.lexsort((-weights, part.labels))
    begin = np.searchsorted(part.labels[order], np.arange(part.n_cells))
    first = weights[order][begin]
    total = np.bincount(part.labels, weights, minlength=part.n_cells)
    several = part.sizes > 2  # of two, each knows the other's, whatever the weights
    second = weights[order][np.minimum(begin + 1, len(weights) - 1)]
    return np.asarray(several & (total - first - second < DOMINANCE * first))


@key_space("euclidean")
def euclidean(table: Table, ctx: Context, choices: ReleaseChoices) -> Keys:  # noqa: ARG001 - at once
    """Turn every key into numbers, and compare records by squared distance."""
    made = Coordinates.of(table)
    importance = importance_of(table, choices, zero=False)
    if not importance and choices.weights is None:
        return made
    return Weighed(made, importance, weights_of(table, choices.weights))


def importance_of(table: Table, choices: ReleaseChoices, *, zero: bool = True) -> dict[str, float]:
    """Return the importance of each key, 1 by default; refuse columns that are no keys.

    ``zero``: whether an importance of 0 is allowed.
    """
    given = dict(choices.importance or {})
    strange = [name for name in given if name not in table.keys]
    if strange:
        raise InputError(
            f"importance: {', '.join(map(repr, strange))} is no key{meant(strange[0], table.keys)}"
        )
    naught = [name for name, times in given.items() if times == 0.0 and not zero]
    if naught:
        raise InputError(
            f"importance of {naught[0]!r} must be a number, above 0, not 0; drop a key that should not "
            f"count ({hint('identifiers', [naught[0]])})"
        )
    return given


def weights_of(table: Table, name: str | None) -> NDArray[np.float64] | None:
    """Return the weights of the records of a table; raise if they are invalid."""
    if name is None:
        return None
    if name not in table.columns:
        raise InputError(
            f"weights: there is no column {name!r} in what is released{meant(name, table.columns)}; keep "
            "it, as confidential or other, so that readers can use the weights"
        )
    if name in table.keys:
        raise InputError(f"weights: {name!r} is a key, and keys are masked: make it other")
    values = table[name]
    if values.form not in NUMBERS:
        raise InputError(f"weights: column {name!r} has no numbers")
    full = np.zeros(table.n)  # missing weights are refused like 0
    full[~values.missing] = values.numbers
    return check_weights(full, table.n)


_MADE: WeakKeyDictionary[Table, Coordinates] = WeakKeyDictionary()
