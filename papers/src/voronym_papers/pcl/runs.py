"""One run of MDAV or PCL with its distortion and time, and the parts that several figures share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.partition import Partition, group_means
from voronym.partitioners import microaggregate
from voronym.quantize.costs.base import equal_sizes
from voronym.quantize.costs.transport import transport
from voronym.quantize.pcl import pcl
from voronym.quantize.quantizer import Quantizer
from voronym_papers.items import Bounds, Floats, Panel
from voronym_papers.solvers.levenberg_marquardt import levenberg_marquardt


@dataclass(frozen=True)
class Run:
    """The result, and how long it took. ``distortion`` is SSE / (n d), as in both papers."""

    partition: Partition
    distortion: float
    seconds: float
    quantizer: Quantizer | None = None
    labels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Cells, with the numbers of the quantizer if there is one."""
    trace: tuple[float, ...] = ()


def mdav(X: Floats, k: int) -> Run:
    """Run MDAV, the papers' baseline and start."""
    return timed(X, lambda: microaggregate(X, k, method="mdav"))


def method(X: Floats, k: int, name: str, **options: Any) -> Run:
    """Run another microaggregation method."""
    return timed(X, lambda: microaggregate(X, k, method=name, **options))


def design(X: Floats, start: Run, **options: Any) -> Run:
    """Run PCL from a partition, with its sizes; the time includes that of the start."""
    return _pcl(X, start.seconds, init=start.partition, **options)


def design_anew(X: Floats, sizes: NDArray[np.int64], seed: int, **options: Any) -> Run:
    """Run PCL from points drawn among the data."""
    return _pcl(X, 0.0, sizes=sizes, init="random", seed=seed, **options)


def as_published(X: Floats, start: Run, *, rounds: int) -> tuple[Run, int]:
    """Run PCL step by step as in 2013, with the paper's own solver, s = 1/2 and up to 300 inner iterations.

    Costs begin at 0, centroids at MDAV's. Cells are off by a point or two at the end, and these points are
    reassigned. Return the run after that, and by how many points a cell was off before.
    """
    before = perf_counter()
    sizes, centroids = start.partition.sizes, start.partition.centroids(X)
    costs, trace = np.zeros(len(sizes)), []
    for last in (*(False,) * (rounds - 1), True):
        inner = {"tolerance": 0.0 if last else 0.001, "iterations": 300}
        result = levenberg_marquardt(X, centroids, sizes, start=costs, **inner)
        costs, labels = np.array(result.costs), result.labels
        means = group_means(X, labels, len(sizes))
        trace.append(float(np.square(X - means[labels]).sum() / X.size))
        if not last:
            centroids = centroids + 0.5 * (means - centroids)
    off = int(np.abs(result.sizes - sizes).max())
    part = Partition(transport(X, centroids, sizes, start=costs).labels)
    spent = start.seconds + perf_counter() - before
    return Run(part, part.sse(X) / X.size, spent, trace=tuple(trace)), off


def best_of_five(X: Floats, start: Run, **options: Any) -> tuple[Run, list[Run]]:
    """Run PCL as in 2011: once from MDAV, four times from random points. Return the best, and all."""
    sizes = np.sort(start.partition.sizes)[::-1]
    runs = [design(X, start, **options)]
    runs += [design_anew(X, sizes, seed, **options) for seed in range(1, 5)]
    return least(runs), runs


def best_of_five_equal(X: Floats, k: int, start: Run) -> Run:
    """Run exact PCL from five starts, with cells of n/k points and the remainder shared equally."""
    sizes = equal_sizes(len(X), len(X) // k)
    first = _pcl(X, start.seconds, sizes=sizes, init=start.partition.centroids(X))
    return least([first, *(design_anew(X, sizes, seed) for seed in range(1, 5))])


def noisy(X: Floats, k: int, starts: int, *, size: int | None = None, **options: Any) -> list[Run]:
    """Run noisy PCL as in 2011: once from MDAV, then from random points; in prepartitions if ``size``."""
    runs = []
    for seed in range(starts):
        own = options | {"init": "random" if seed else "mdav"}
        if size is None:
            runs.append(method(X, k, "noisy-pcl", seed=seed, **own))
        else:
            inner = {"inner": "noisy-pcl", "inner_options": own}
            runs.append(method(X, k, "prepartition", seed=seed, size=size, **inner))
    return runs


def least(runs: Sequence[Run]) -> Run:
    """Return the run with the least distortion."""
    return min(runs, key=lambda run: run.distortion)


def timed(X: Floats, work: Callable[[], Partition]) -> Run:
    """Run a partitioner and measure its time."""
    before = perf_counter()
    part = work()
    return Run(part, part.sse(X) / X.size, perf_counter() - before)


def _pcl(X: Floats, spent: float, **options: Any) -> Run:
    before = perf_counter()
    made = pcl(X, **options)
    seconds = spent + perf_counter() - before
    trace = tuple(float(value) / X.shape[1] for value in made.distortions)
    return Run(made.partition, made.partition.sse(X) / X.size, seconds, made.quantizer, made.labels, trace)


def warm_up() -> None:
    """Run once on a few points, so that no figure's time includes compilation."""
    X = np.random.default_rng(0).standard_normal((200, 2))
    design(X, mdav(X, 20))


def panel(title: str, X: Floats, run: Run, bounds: Bounds, note: str = "", *, edges: bool = False) -> Panel:
    """Return a run as a picture: with polygons if there is a quantizer."""
    middle = run.partition.centroids(X)
    polygons = None
    if run.quantizer is not None:  # its cells may be numbered otherwise than those of the partition
        drawn = run.quantizer.diagram(bounds)
        polygons = [drawn[run.labels[members[0]]] for members in run.partition.cells()]
    return Panel(title, X, run.partition.labels, middle, polygons, edges, note)


def change(run: Run, reference: Run) -> float:
    """Return the change of the distortion in percent; negative is better."""
    return 100.0 * (run.distortion / reference.distortion - 1.0)


def signed(value: float) -> str:
    """Write a change in percent with its sign.

    Examples
    --------
    >>> signed(-16.04)
    '−16.0 %'
    """
    return f"{'−' if value < 0 else '+'}{abs(value):.1f} %"


def exact(run: Run, start: Run) -> bool:
    """Return whether the cells have the requested sizes."""
    return bool(np.array_equal(np.sort(run.partition.sizes), np.sort(start.partition.sizes)))
