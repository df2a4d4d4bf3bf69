"""Prepartition: macrocells by PCL, then any method within each, in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.errors import InputError
from voronym.partition import Partition
from voronym.partitioners._run import check_space, share
from voronym.partitioners.front import check_options, partition
from voronym.progress import Progress, Step
from voronym.quantize.costs.transport import transport
from voronym.registry import algorithm
from voronym.space import Space

ROUNDS = 10
"""Rounds of PCL for the macrocells: their borders cost little, so they need not be the best."""

SAMPLE = 100
"""Records per macrocell in the sample that their first centroids come from."""


@algorithm(
    "hierarchy",
    guarantee="every cell has at least k records, and no more than the inner method allows",
    cost="n/size times that of the inner method on size records, over the threads",
    reference="Rebollo-Monedero, Forné, Soriano: k-anonymous microaggregation and clustering, 2011",
)
def hierarchy(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    inner: str = "mdav",
    size: int = 2000,
    threads: int = 2,
    inner_options: Mapping[str, object] | None = None,
) -> Partition:
    """Cut the records into macrocells of equal size by PCL, and partition each by any method, in parallel.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` with cells of at least k, where no cell crosses
    the border of a macrocell. What is quadratic in n becomes linear, and the parts are independent. The
    price is what the borders cost: little where a macrocell has many cells, more in many columns.

    Macrocells have multiples of k records, one of them also what is left over: no inner method has to make
    its cells larger because of a rest. The result does not depend on the number of threads.

    Parameters
    ----------
    inner : str
        The method within the macrocells: any of `voronym.algorithms` but this one.
    size : int
        Records in a macrocell, about; 2k or more. With fewer than 1.5 times as many records there is one.
    threads : int
        Macrocells that are worked on at a time.
    inner_options : mapping, optional
        Options of the inner method. A time limit is then one for each macrocell.

    References
    ----------
    D. Rebollo-Monedero, J. Forné and M. Soriano, "An algorithm for k-anonymous microaggregation and
    clustering inspired by the design of distortion-optimized quantizers", Data & Knowledge Engineering 70
    (2011), section 3.5.

    Examples
    --------
    >>> import voronym as vr
    >>> X = vr.datasets.gaussian(1000, 2)
    >>> part = vr.microaggregate(X, 5, method="hierarchy", size=250, inner="mdav")
    >>> part
    Partition(1000 records in 200 cells of 5..5, k=5)
    """
    check_space(space, "hierarchy")
    if not isinstance(inner_options, Mapping | None) or not all(
        isinstance(name, str) for name in inner_options or ()
    ):
        raise InputError(
            f"inner_options must be options by name, such as {{'init': 'random'}}, not {inner_options!r:.40}"
        )
    if not isinstance(inner, str):
        raise InputError(f"inner must be the name of a method, not {inner!r:.40}")
    options: dict[str, Any] = dict(inner_options or {})
    chosen = registry.get(inner)
    if inner == "hierarchy":
        raise InputError("hierarchy takes another method than itself as inner")
    check_options(chosen, options)
    for name, value, least in (("size", size, 2 * k), ("threads", threads, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    n = len(X)
    cells = max(1, min(round(n / size), n // k))
    if cells == 1:
        return partition(X, k, method=inner, space=space, seed=rng, progress=progress, **options)
    macro = macrocells(X, multiples(n, k, cells), rng, share(progress, 0.0, 0.3))
    rows = np.split(np.argsort(macro, kind="stable"), np.cumsum(np.bincount(macro))[:-1])
    seeds = rng.spawn(cells)
    parts = _in_threads(X, k, rows, seeds, inner, options, threads, share(progress, 0.3, 1.0))
    labels, first = np.empty(n, np.int64), 0
    for members, part in zip(rows, parts, strict=True):
        labels[members] = first + part.labels
        first += part.n_cells
    return Partition(labels, k=k)


def multiples(n: int, k: int, cells: int) -> NDArray[np.int64]:
    """Return sizes that sum to n, multiples of k as equal as can be; the first also has the rest.

    Examples
    --------
    >>> multiples(23, 3, 2).tolist()
    [14, 9]
    """
    groups = n // k
    sizes = k * (groups // cells + (np.arange(cells) < groups % cells))
    sizes[0] += n - sizes.sum()
    return sizes


def macrocells(
    X: NDArray[np.float64], sizes: NDArray[np.int64], rng: np.random.Generator, progress: Progress
) -> NDArray[np.int64]:
    """Return labels of macrocells of exact sizes: a few rounds of PCL from the cells of a sample."""
    m = len(sizes)
    sample = X[np.sort(rng.permutation(len(X))[: SAMPLE * m])]
    few = len(sample) // m
    centroids = sample[:m] if few < 2 else partition(sample, few, method="mdav").centroids(sample)[:m]
    costs, before, labels = None, np.inf, np.zeros(0, np.int64)
    for step in range(ROUNDS):
        tell = share(progress, step / ROUNDS, (step + 1) / ROUNDS)
        found = transport(X, centroids, sizes, start=costs, progress=_as_partition(tell))
        labels, costs = found.labels, found.costs
        if found.cost >= 0.99 * before:
            break
        before = found.cost
        sums = np.stack([np.bincount(labels, column, m) for column in X.T], axis=1)
        centroids = sums / sizes[:, None]
    return labels


def _as_partition(progress: Progress) -> Progress:
    def tell(step: Step) -> None:
        progress(Step("partition", step.done))

    return tell


class _EndedError(Exception):
    """Raised in a thread whose work is not wanted any more."""


def _in_threads(
    X: NDArray[np.float64],
    k: int,
    rows: list[NDArray[np.int64]],
    seeds: list[np.random.Generator],
    inner: str,
    options: Mapping[str, Any],
    threads: int,
    progress: Progress,
) -> list[Partition]:
    """Partition the macrocells; progress is told from this thread, and what it raises ends the others."""
    ended = Event()

    def watch(_: Step) -> None:
        if ended.is_set():
            raise _EndedError

    def work(cell: int) -> Partition:
        points = np.ascontiguousarray(X[rows[cell]])
        return partition(points, k, method=inner, seed=seeds[cell], progress=watch, **options)

    with ThreadPoolExecutor(threads) as pool:
        futures: list[Future[Partition]] = [pool.submit(work, cell) for cell in range(len(rows))]
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()  # an error in one is the error of all
                progress(Step("partition", 1.0 - len(waiting) / len(rows)))
        except BaseException:
            ended.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]
