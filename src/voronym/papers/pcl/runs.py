"""One run of MDAV or PCL with its distortion and time, and the parts that several figures share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from voronym.papers.items import Bounds, Floats, Panel
from voronym.partition import Partition
from voronym.partitioners import microaggregate
from voronym.quantize.costs.transport import transport
from voronym.quantize.pcl import pcl
from voronym.quantize.quantizer import Quantizer


@dataclass(frozen=True)
class Run:
    """What came out, and how long it took. ``distortion`` is SSE / (n d), as in both papers."""

    partition: Partition
    distortion: float
    seconds: float
    quantizer: Quantizer | None = None
    labels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Cells, numbered as the quantizer's, where there is one."""
    trace: tuple[float, ...] = ()


def mdav(X: Floats, k: int) -> Run:
    """Run MDAV: what the papers compare with, and start from."""
    return timed(X, lambda: microaggregate(X, k, method="mdav"))


def method(X: Floats, k: int, name: str, **options: Any) -> Run:
    """Run another microaggregation method."""
    return timed(X, lambda: microaggregate(X, k, method=name, **options))


def design(X: Floats, start: Run, **options: Any) -> Run:
    """Run PCL from a partition, with its sizes; the time of the start is counted in."""
    return _pcl(X, start.seconds, init=start.partition, **options)


def design_anew(X: Floats, sizes: NDArray[np.int64], seed: int, **options: Any) -> Run:
    """Run PCL from points drawn among the data."""
    return _pcl(X, 0.0, sizes=sizes, init="random", seed=seed, **options)


def best_of_five(X: Floats, start: Run, **options: Any) -> tuple[Run, list[Run]]:
    """Run PCL as in 2011: once from MDAV, four times from random points. Return the best, and all."""
    sizes = np.sort(start.partition.sizes)[::-1]
    runs = [design(X, start, **options)]
    runs += [design_anew(X, sizes, seed, **options) for seed in range(1, 5)]
    return min(runs, key=lambda run: run.distortion), runs


def cooled(X: Floats, start: Run, *, rounds: int = 40, noise: float = 2.0, seed: int = 0) -> Run:
    """Run PCL on points that are shaken, ever less: the noisy variant of 2011, with exact assignments.

    Where cells are small, PCL stops at the first arrangement that neither step improves. Noise carries it
    past. The paper draws thousands of copies of each point, to have derivatives; an exact assignment needs
    none, so one copy will do. Its deviation falls geometrically, from ``noise`` times the distance to the
    nearest neighbour.
    """
    before = perf_counter()
    rng = np.random.default_rng(seed)
    apart = np.square(cKDTree(X).query(X, 2)[0][:, 1]).mean() / X.shape[1]
    middle, sizes, costs = start.partition.centroids(X), start.partition.sizes, None
    labels = start.partition.labels
    for deviation in np.sqrt(apart) * np.geomspace(noise, 0.05, rounds):
        shaken = X + deviation * rng.standard_normal(X.shape)
        found = transport(shaken, middle, sizes, start=costs)
        labels, costs = found.labels, found.costs
        sums = [np.bincount(labels, column, len(sizes)) for column in X.T]
        middle = np.stack(sums, axis=1) / sizes[:, None]  # of the points themselves, not of the shaken ones
    spent = start.seconds + perf_counter() - before
    part = Partition(labels)
    return design(X, Run(part, part.sse(X) / X.size, spent))


def timed(X: Floats, work: Callable[[], Partition]) -> Run:
    """Run a partitioner by the clock."""
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
    """Run once on a few points, so that no figure's time has the compilation in it."""
    X = np.random.default_rng(0).standard_normal((200, 2))
    design(X, mdav(X, 20))


def panel(title: str, X: Floats, run: Run, bounds: Bounds, note: str = "", *, edges: bool = False) -> Panel:
    """Return a run as a picture: with polygons where there is a quantizer."""
    middle = run.partition.centroids(X)
    polygons = None
    if run.quantizer is not None:  # its cells may be numbered otherwise than those of the partition
        drawn = run.quantizer.diagram(bounds)
        polygons = [drawn[run.labels[members[0]]] for members in run.partition.cells()]
    return Panel(title, X, run.partition.labels, middle, polygons, edges, note)


def change(run: Run, reference: Run) -> float:
    """Return by how much the distortion differs, in percent; negative is better."""
    return 100.0 * (run.distortion / reference.distortion - 1.0)


def told(value: float) -> str:
    """Write a change in percent with its sign.

    Examples
    --------
    >>> told(-16.04)
    '−16.0 %'
    """
    return f"{'−' if value < 0 else '+'}{abs(value):.1f} %"


def exact(run: Run, start: Run) -> bool:
    """Say whether the cells have the sizes that were asked for."""
    return bool(np.array_equal(np.sort(run.partition.sizes), np.sort(start.partition.sizes)))
