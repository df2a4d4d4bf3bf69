"""The records as groupings see them, and the results of groupings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.core.registry import Registry
from voronym.dp.budget import Budget

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

STEPS = 2**15
"""Half the number of steps into which a range is divided, so that sums are whole numbers."""

QUESTIONS: dict[str, Callable[..., Ints]] = {}
"""The questions of groupings about records, by name."""


@dataclass(frozen=True)
class Question:
    """A question about records, and the public figures that it needs.

    Parameters
    ----------
    name : str
        A name of `QUESTIONS`. Counts and sums are whole numbers that add up over any parts of the records; a
        place is a number for each record, which depends on that record alone.
    public : mapping
        Figures that were published, or depend on such figures alone.
    """

    name: str
    public: Mapping[str, Any]

    def of(self, records: BoundedRecords) -> Ints:
        """Return the answer of some records."""
        return QUESTIONS[self.name](records, **self.public)


def question(function: Callable[..., Ints]) -> Callable[..., Question]:
    """Register a question, a function of records and public figures; calling it with the figures asks it."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    QUESTIONS[name] = function

    def ask(**public: Any) -> Question:
        return Question(name, public)

    ask.__doc__ = function.__doc__
    return ask


class Population(Protocol):
    """A grouping's view of records, wherever they are: figures that add up, and public numbers."""

    @property
    def n(self) -> int:
        """Number of records, which is public."""

    @property
    def d(self) -> int:
        """Number of ordered columns."""

    @property
    def e(self) -> int:
        """Number of nominal columns."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values in the domain of each nominal column."""

    @property
    def medians(self) -> tuple[int, ...]:
        """Indices of the ordered columns whose medians are published."""

    @property
    def importance(self) -> Floats:
        """The weight of each column in grouping."""

    def add_up(self, asked: Question) -> Ints:
        """Return the sum of the answers of all records."""

    def place(self, asked: Question) -> Ints | Question:
        """Return the cell of each record; or the question, if records are elsewhere."""

    def together(self) -> BoundedRecords:
        """Return all records in one table."""

    def resized(self, rows: int, salt: int) -> Population:
        """Return the published number of records, see `voronym.dp.presence`."""


@dataclass(frozen=True)
class BoundedRecords:
    """Records in public bounds.

    Parameters
    ----------
    ordered : array of float, shape (n, d)
        Numbers, times and ordered levels, each between 0 and 1 of its public range.
    nominal : array of int, shape (n, e)
        Places in the public domains of the other columns.
    sizes : tuple of int
        Number of values in each of these domains.
    weights : tuple of float
        Weight of each column, ordered columns first; equal weights by default.
    medians : tuple of int
        The ordered columns that publish medians; the others publish means.
    """

    ordered: Floats
    nominal: Ints
    sizes: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()
    medians: tuple[int, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Cached answers about these records."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", {})  # others have their own, where some fields are replaced

    @property
    def importance(self) -> Floats:
        """The public weight of each column in grouping; ordered columns come first."""
        return np.array(self.weights or (1.0,) * (self.d + self.e))

    @property
    def n(self) -> int:
        """Number of records, which is public."""
        return len(self.ordered)

    @property
    def d(self) -> int:
        """Number of ordered columns."""
        return int(self.ordered.shape[1])

    @property
    def e(self) -> int:
        """Number of nominal columns."""
        return int(self.nominal.shape[1])

    def add_up(self, asked: Question) -> Ints:
        """Return the answer of all records."""
        return asked.of(self)

    def place(self, asked: Question) -> Ints:
        """Return the cell of each record."""
        return asked.of(self)

    def together(self) -> BoundedRecords:
        """Return these records."""
        return self

    def resized(self, rows: int, salt: int) -> Population:
        """Return the published number of records, see `voronym.dp.presence`."""
        from voronym.dp.presence import resized  # which stands on this

        return resized(self, rows, salt)[0]


@dataclass(frozen=True)
class Cells:
    """The result of a grouping: each cell's value of every column, and its number of records.

    Parameters
    ----------
    ordered : array of float, shape (cells, d)
        Noisy centres, between 0 and 1.
    nominal : array of int, shape (cells, e)
        Noisy modes.
    counts : array of int
        Rows that publish each cell; they add up to n. Of groups by rank they are known beforehand, of other
        cells they are noisy. These three are all that is published.
    of : array of int, or Question
        The cell of each record before counts were met; the question, where records are elsewhere. Never
        published.
    spent : mapping
        The cost of each part of the work.
    facts : mapping
        Public facts about the cells; they depend only on published numbers.
    """

    ordered: Floats
    nominal: Ints
    counts: Ints
    of: Ints | Question
    spent: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grouping:
    """A way to make groups that one record hardly changes.

    Parameters
    ----------
    name : str
        The name that users type.
    function : callable
        ``(records, k, budget) -> Cells``.
    sensitivity : str
        The effect of one record, in a sentence; proven in the documentation.
    size : callable
        ``(n, d, epsilon) -> k``, the default size of groups; it uses only public numbers.
    """

    name: str
    function: Callable[[Population, int, Budget], Cells]
    sensitivity: str
    size: Callable[[int, int, float], int]
    summary: str = ""


GROUPINGS: Registry[Grouping] = Registry("insensitive grouping")


def grouping(
    name: str, *, sensitivity: str, size: Callable[[int, int, float], int]
) -> Callable[[Callable[[Population, int, Budget], Cells]], Callable[[Population, int, Budget], Cells]]:
    """Register a grouping, a function ``(records, k, budget) -> Cells``."""

    def register(
        function: Callable[[Population, int, Budget], Cells],
    ) -> Callable[[Population, int, Budget], Cells]:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        GROUPINGS.add(name, Grouping(name, function, sensitivity, size, summary))
        return function

    return register


@question
def count_found(records: BoundedRecords, *, cells: Question, many: int) -> Ints:
    """Count the records of each cell."""
    return np.bincount(cells.of(records), minlength=many)


def steps_of(inside: Floats) -> Ints:
    """Convert positions from -1 to 1 to whole numbers of steps, clipped to the ends.

    It depends on each value alone, so it needs no budget.
    """
    return np.rint(np.clip(inside, -1.0, 1.0) * STEPS).astype(np.int64)


def sums_of(of: Ints, cells: int, steps: Ints) -> Ints:
    """Return the exact sum of the steps of each cell's records, for each column."""
    out = np.zeros((cells, steps.shape[1]), np.int64)
    for column in range(steps.shape[1]):
        # floats hold whole numbers up to 2**53 exactly: 2**38 records of 2**15 steps
        out[:, column] = np.rint(np.bincount(of, steps[:, column], cells)).astype(np.int64)
    return out


def shrunk(means: Floats, variance: Floats, weights: Floats) -> Floats:
    """Shrink noisy means towards their common mean, as far as the noise explains their spread.

    Post-processing: it uses only published numbers. The variance of the true means is estimated as the
    variance of the noisy means less that of the noise (empirical Bayes).

    Parameters
    ----------
    means : array of float, shape (cells, columns)
        Noisy means.
    variance : array of float, shape (cells, columns)
        Variance of the noise.
    weights : array of float
        Weight of each cell.
    """
    if len(means) < 3:
        return means
    reliable = weights[:, None] / np.maximum(variance, 1e-300)
    centre = np.sum(means * reliable, axis=0) / reliable.sum(axis=0)
    share = weights / weights.sum()
    spread = np.sum(share[:, None] * (np.square(means - centre) - variance), axis=0)
    kept = np.maximum(spread, 0.0) / (np.maximum(spread, 0.0) + variance + 1e-300)
    return np.asarray(centre + kept * (means - centre))


def whole_counts(noisy: Floats | Ints, n: int, least: int = 0) -> Ints:
    """Return whole counts of at least ``least`` that add up to n, as near to the noisy counts as possible.

    The same amount is subtracted from all counts, and none falls below the minimum (the nearest point of
    a simplex); then the largest remainders are rounded up. Post-processing: n is public.

    Examples
    --------
    >>> whole_counts(np.array([5.0, -3.0, 4.0]), 8).tolist()
    [5, 0, 3]
    >>> whole_counts(np.array([5.0, -3.0, 4.0]), 8, 2).tolist()
    [4, 2, 2]
    """
    least = min(least, n // len(noisy))
    given, n = np.asarray(noisy, np.float64) - least, n - least * len(noisy)
    order = np.sort(given)[::-1]
    excess = (np.cumsum(order) - n) / np.arange(1, len(given) + 1)
    above = np.flatnonzero(order - excess > 0.0)
    fit = np.maximum(given - excess[above[-1] if len(above) else 0], 0.0)
    whole = np.floor(fit + 1e-9).astype(np.int64)
    left = n - int(whole.sum())
    if left > 0:
        whole[np.argsort(-(fit - whole), kind="stable")[:left]] += 1
    return np.asarray(whole + least, np.int64)


def meet(of: Ints, counts: Ints, rng: np.random.Generator) -> Ints:
    """Return a cell for each record, so that each cell has its published number of rows.

    Most records keep their cell. From a cell with too many records some move to a cell with too few, if
    possible the next one in order. The published numbers of rows do not depend on which records move.
    """
    (going,) = moves(np.bincount(of, minlength=len(counts))[None, :], counts, rng)
    return moved(of, *going, rng)


def moves(have: Ints, counts: Ints, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """Return the moves between cells, for each part, that give each cell its published number of rows.

    Parameters
    ----------
    have : array of int, shape (parts, cells)
        BoundedRecords of each cell in each part.
    counts : array of int
        Rows that each cell publishes.
    rng : numpy Generator
        Chooses the parts from which records go. Nothing that is published depends on it.

    Returns
    -------
    list of (array, array)
        For each part, the cells that records leave, in ascending order, and the cells they go to.
    """
    total = have.sum(axis=0)
    lack = np.repeat(np.arange(len(counts)), np.maximum(counts - total, 0))
    leave: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in have]
    enter: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in have]
    at = 0
    for cell in np.flatnonzero(total > counts).tolist():
        over = int(total[cell] - counts[cell])
        shares = [over] if len(have) == 1 else rng.multivariate_hypergeometric(have[:, cell], over).tolist()
        for part, many in enumerate(shares):
            leave[part].append(np.full(many, cell, np.int64))
            enter[part].append(lack[at : at + many])
            at += many
    return [(np.concatenate(a), np.concatenate(b)) for a, b in zip(leave, enter, strict=True)]


def moved(of: Ints, leave: Ints, enter: Ints, rng: np.random.Generator) -> Ints:
    """Return the cells of records after the given numbers moved from cell to cell, chosen at random."""
    if not len(leave):
        return of
    cells = int(max(of.max(initial=0), leave.max())) + 1
    have, going = np.bincount(of, minlength=cells), np.bincount(leave, minlength=cells)
    shuffled = rng.permutation(len(of))
    order = shuffled[np.argsort(of[shuffled], kind="stable")]
    start = np.concatenate([[0], np.cumsum(have)[:-1]])
    place = np.arange(len(of)) - np.repeat(start, have)
    out = of.copy()
    out[order[place < np.repeat(going, have)]] = enter
    return out
