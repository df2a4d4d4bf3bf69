"""Prepartition: macrocells by PCL, then any method within each, in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options, option, whole
from voronym.errors import InputError
from voronym.method import METHODS, algorithm
from voronym.partition import Partition
from voronym.problem import Problem
from voronym.quantize.costs.transport import transport

ROUNDS = 10
"""Rounds of PCL for the macrocells: their borders cost little, so they need not be optimal."""

SAMPLE = 100
"""Records per macrocell in the sample that gives their first centroids."""


def _by_name(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{name} must be options by name, such as {{'init': 'random'}}, not {value!r:.40}")
    return dict(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be the name of a method, not {value!r:.40}")
    return value


@dataclass(frozen=True)
class PrepartitionOptions(Options):
    """Options of the prepartition."""

    inner: str = option("mdav", "the method within the macrocells", check=_text)
    size: int = option(
        2000,
        "records in a macrocell, about; with fewer than 1.5 times as many records there is one",
        check=whole(1),
    )
    inner_options: Mapping[str, Any] | None = option(None, "options of the inner method", check=_by_name)


@algorithm(
    "prepartition",
    guarantee="every group has at least k records, and no more than the inner method allows",
    cost="n/size times that of the inner method on size records, over the threads",
    reference="Rebollo-Monedero, Forné, Soriano: k-anonymous microaggregation and clustering, 2011",
    options=PrepartitionOptions,
)
def prepartition(problem: Problem, ctx: Context, options: PrepartitionOptions) -> Partition:
    """Cut the records into macrocells of equal size by PCL, and partition each by any method, in parallel.

    The problem: minimise ``sum_i |x_i - mean(cell of i)|²`` with cells of at least k that do not cross
    the border of a macrocell. Work that is quadratic in n becomes linear, and the parts are independent.
    The price is the loss at the borders: small if a macrocell has many cells, larger in many columns.

    Macrocells have multiples of k records, and one also takes the rest, so that no inner method needs
    larger cells. The inner method may be this one again, with a smaller ``size``: several levels. The
    result does not depend on the number of threads.

    References
    ----------
    D. Rebollo-Monedero, J. Forné and M. Soriano, "An algorithm for k-anonymous microaggregation and
    clustering inspired by the design of distortion-optimized quantizers", Data & Knowledge Engineering 70
    (2011), section 3.5.

    Examples
    --------
    >>> import voronym as vr
    >>> X = vr.datasets.gaussian(1000, 2)
    >>> part = vr.microaggregate(X, 5, method="prepartition", size=250, inner="mdav")
    >>> part
    Partition(1000 records in 200 groups of 5..5, k=5)
    """
    X, k, n = problem.points, problem.k, problem.n
    inner = METHODS[options.inner]
    settings = inner.options.of(options.inner, options.inner_options or {})
    if isinstance(settings, PrepartitionOptions) and settings.size >= options.size:
        raise InputError(
            f"a prepartition within a prepartition makes smaller macrocells: its size must be below "
            f"{options.size:,}, not {settings.size:,}; set it by inner_options={{'size': …}}"
        )
    whole(2 * k)("size", options.size)
    cells = max(1, min(round(n / options.size), n // k))
    if cells == 1:
        return inner.partition(problem, ctx, settings)
    macro = macrocells(X, multiples(n, k, cells), ctx.part(0.0, 0.3))
    rows = np.split(np.argsort(macro, kind="stable"), np.cumsum(np.bincount(macro))[:-1])
    seeds = ctx.rng.spawn(cells)

    rest = ctx.part(0.3, 1.0)

    def work(cell: int) -> Partition:
        share = min(1.0, rest.threads / (cells - cell))  # of the time that is left
        here = rest.quiet(rng=seeds[cell]).part(0.0, 0.0, time=share)
        return inner.partition(problem.subset(rows[cell]), here, settings)

    parts = rest.map(work, range(cells))
    labels, first = np.empty(n, np.int64), 0
    for members, part in zip(rows, parts, strict=True):
        labels[members] = first + part.labels
        first += part.n_cells
    return Partition(labels, k=k)


def multiples(n: int, k: int, cells: int) -> NDArray[np.int64]:
    """Return sizes that sum to n: multiples of k, as equal as possible; the first also takes the rest.

    Examples
    --------
    >>> multiples(23, 3, 2).tolist()
    [14, 9]
    """
    groups = n // k
    sizes = k * (groups // cells + (np.arange(cells) < groups % cells))
    sizes[0] += n - sizes.sum()
    return sizes


def macrocells(X: NDArray[np.float64], sizes: NDArray[np.int64], ctx: Context) -> NDArray[np.int64]:
    """Return labels of macrocells of exact sizes: a few rounds of PCL from the cells of a sample."""
    m = len(sizes)
    sample = X[np.sort(ctx.rng.permutation(len(X))[: SAMPLE * m])]
    few = len(sample) // m
    centroids = sample[:m] if few < 2 else _centroids(sample, few, ctx)[:m]
    costs, before, labels = None, np.inf, np.zeros(0, np.int64)
    for step in range(ROUNDS):
        here = ctx.part(step / ROUNDS, (step + 1) / ROUNDS)
        result = transport(X, centroids, sizes, start=costs, ctx=here)
        labels, costs = result.labels, result.costs
        if result.cost >= 0.99 * before:
            break
        before = result.cost
        sums = np.stack([np.bincount(labels, column, m) for column in X.T], axis=1)
        centroids = sums / sizes[:, None]
    return labels


def _centroids(X: NDArray[np.float64], k: int, ctx: Context) -> NDArray[np.float64]:
    return METHODS["mdav"].partition(Problem.of(X, k), ctx.quiet()).centroids(X)
