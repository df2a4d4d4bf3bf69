"""The door to enforcement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import GuaranteeError, InputError
from voronym.partition import Partition
from voronym.partitioners.front import check_k, check_points, check_seed
from voronym.privacy.cells import Judge
from voronym.privacy.enforce.first import confidential_first, least_size
from voronym.privacy.enforce.merge import merge
from voronym.privacy.enforce.rules import Asked, refuse_impossible
from voronym.privacy.enforce.swap import swap
from voronym.progress import Progress, silent

FEW = 0.3
"""Share of failing cells up to which exchanges are worth trying in any table."""

SMALL = 5_000
"""Records up to which they are worth trying in any case."""

Method = Callable[[NDArray[np.float64], Partition, Asked, int, np.random.Generator, Progress], Partition]


@dataclass(frozen=True)
class Enforced:
    """A partition that every judge accepts, and what that cost.

    Parameters
    ----------
    partition : Partition
        With cells of at least k.
    method : str
        How it was made; "none" where the partition given was accepted as it was.
    sse_before, sse_after : float
        Sum of squared distances to the cells' means before and after.
    tried : mapping
        The sum of squares that each method came to.
    """

    partition: Partition
    method: str
    sse_before: float
    sse_after: float
    tried: Mapping[str, float] = field(default_factory=dict)


def enforce(
    X: ArrayLike,
    part: Partition,
    *,
    k: int,
    judges: Sequence[Judge],
    method: str = "auto",
    progress: Progress | None = None,
    seed: int | np.random.Generator | None = 0,
) -> Enforced:
    """Make a partition obey privacy models at the least loss.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` over partitions into cells of at least k records
    that every judge accepts.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The keys as numbers, used as they are.
    part : Partition
        A partition into cells of at least k, from any method.
    k : int
        Least number of records in a cell.
    judges : sequence of Judge
        What is asked; one for each model and confidential column. Those without a threshold ask nothing.
    method : {"auto", "merge", "swap", "confidential-first"}
        "auto" tries confidential-first and, where few cells fail or the table is small, swapping, and takes
        what loses less. Where ``part`` is accepted as it is, every method returns it.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then; it may raise to stop the work.
    seed : int, Generator or None
        For ties in the confidential values. The same seed gives the same partition.

    Returns
    -------
    Enforced
        Whose partition every judge accepts, checked by the judges themselves.

    Raises
    ------
    GuaranteeError
        A judge does not accept even a single cell of all records.

    Examples
    --------
    >>> import numpy as np, voronym as vr
    >>> from voronym.privacy.cells import Levels
    >>> from voronym.privacy.enforce import enforce
    >>> X = [[1.0], [1.1], [1.2], [5.0], [5.1], [5.2]]
    >>> ill = Levels("ill", np.array([0, 0, 0, 1, 1, 1]), False, ("no", "yes"))
    >>> judge = vr.privacy.p_sensitive.PSensitive(2).judge(ill)
    >>> done = enforce(X, vr.Partition([0, 0, 0, 1, 1, 1]), k=3, judges=[judge])
    >>> float(judge.values(done.partition.labels, done.partition.n_cells).min())
    2.0
    """
    points = check_points(X)
    k = check_k(k, len(points))
    if part.n != len(points):
        raise InputError(f"the partition is of {part.n} records, X has {len(points)}")
    part = Partition(part.labels, k=k)
    if method != "auto" and method not in METHODS:
        raise InputError(f"no way of enforcing is called {method!r}; there are: auto, {', '.join(METHODS)}")
    before = part.sse(points)
    judges = [judge for judge in judges if judge.required is not None]
    if not judges:
        return Enforced(part, "none", before, before)
    asked = Asked(judges)
    if asked.n != len(points):
        raise InputError(f"X has {len(points)} records, the confidential columns have {asked.n}")
    refuse_impossible(asked.judges)
    if asked.hold(part.labels):
        return Enforced(part, "none", before, before)
    rng = check_seed(seed)
    tell = silent if progress is None else progress
    names = choose(part, asked) if method == "auto" else (method,)
    found = {name: METHODS[name](points, part, asked, k, rng, tell) for name in names}
    tried = {name: result.sse(points) for name, result in found.items()}
    best = min(names, key=lambda name: tried[name])
    result = Partition(found[best].labels, k=k)
    if not asked.hold(result.labels):  # never seen; the promise is checked, not trusted
        raise GuaranteeError(f"{best} left {len(asked.failing(result.labels))} cells that a model refuses")
    return Enforced(result, best, before, tried[best], tried)


def choose(part: Partition, asked: Asked) -> tuple[str, ...]:
    """Return what is worth trying: confidential-first, and exchanges where few cells or records are in need.

    Where most cells fail, exchanges take longer and, on the tables that we measured, lose more.
    """
    few = len(asked.failing(part.labels)) <= FEW * part.n_cells
    return ("swap", "confidential-first") if few or part.n <= SMALL else ("confidential-first",)


def _merge(
    X: NDArray[np.float64],
    part: Partition,
    asked: Asked,
    k: int,  # noqa: ARG001 - sizes only grow
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
    progress: Progress,
) -> Partition:
    return merge(X, part, asked, progress=progress)


def _swap(
    X: NDArray[np.float64],
    part: Partition,
    asked: Asked,
    k: int,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
    progress: Progress,
) -> Partition:
    from voronym.partitioners.front import partition  # the registry, when it is needed

    size = least_size(asked, k)
    if size > part.sizes.min() and size > k:  # no cell of k could be accepted, whatever it holds
        part = partition(X, size, method="mdav", progress=progress)
    return swap(X, part, asked, k=k, progress=progress)


def _first(
    X: NDArray[np.float64],
    part: Partition,  # noqa: ARG001 - it starts afresh
    asked: Asked,
    k: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Partition:
    return confidential_first(X, asked, k=k, rng=rng, progress=progress)


METHODS: Mapping[str, Method] = {"merge": _merge, "swap": _swap, "confidential-first": _first}
"""The ways of enforcing, by name."""
