"""The door to designing quantizers, and the methods that come of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym import registry
from voronym.partition import Partition
from voronym.partitioners._cells import split_large
from voronym.progress import Progress
from voronym.quantize.costs.base import Sizes, equal_sizes
from voronym.quantize.pcl import Design, pcl
from voronym.quantize.quantizer import Quantizer
from voronym.registry import algorithm
from voronym.space import Euclidean, Space

REFERENCE = (
    "D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, A modification of the Lloyd algorithm "
    "for k-anonymous quantization, Information Sciences 222 (2013)"
)


def design(
    X: ArrayLike,
    cells: int | None = None,
    *,
    probabilities: ArrayLike | None = None,
    sizes: Sizes | None = None,
    costs: str = "transport",
    init: str | Partition | ArrayLike | Quantizer = "mdav",
    speed: float = 1.8,
    restarts: int = 1,
    space: Space | None = None,
    seed: int | np.random.Generator | None = 0,
    tolerance: float = 1e-6,
    iterations: int = 300,
    progress: Progress | None = None,
) -> Quantizer:
    """Design a quantizer whose cells have prescribed probabilities, at a small mean distance.

    What `voronym.quantize.pcl` does, with the same arguments; only the quantizer is returned.

    Returns
    -------
    Quantizer
        On the points it was designed with, its cells have the sizes asked for, where the solver is exact, but
        for equal points that had to be divided between cells: a rule sends all of them to one.

    Examples
    --------
    >>> import numpy as np
    >>> quantizer = design(np.arange(12.0), probabilities=[0.25, 0.75], init=[[0.0], [8.0]])
    >>> quantizer.centroids.ravel().tolist()
    [1.0, 7.0]
    >>> np.bincount(quantizer.assign(np.arange(12.0))).tolist()
    [3, 9]
    """
    return pcl(
        X,
        cells,
        probabilities=probabilities,
        sizes=sizes,
        costs=costs,
        init=init,
        speed=speed,
        restarts=restarts,
        space=space,
        seed=seed,
        tolerance=tolerance,
        iterations=iterations,
        progress=progress,
    ).quantizer


@algorithm(
    "pcl",
    guarantee="n // k cells, whose sizes differ by one at most",
    cost="that of MDAV, then some tens of passes; memory O(n d)",
    reference=REFERENCE,
    max_size=lambda k: 2 * k - 1,
    practical=50_000,
)
def pcl_method(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    init: str = "mdav",
    restarts: int = 1,
    speed: float = 1.8,
    tolerance: float = 1e-5,
    iterations: int = 300,
) -> Partition:
    """Alternate centroids and exact assignments to cells of equal sizes (probability-constrained Lloyd).

    Cells are convex in Euclidean space. ``init`` is the method that makes the first cells, or "random".
    """
    m = len(X) // k
    found = pcl(
        X,
        sizes=equal_sizes(len(X), m),
        init=init,
        restarts=restarts,
        speed=speed,
        tolerance=tolerance,
        iterations=iterations,
        space=space,
        seed=rng,
        progress=progress,
    )
    return Partition(found.labels, k=k)


@algorithm(
    "pcl-variable",
    guarantee="every cell has k to 2k-1 records; no more loss than its start",
    cost="that of MDAV, then some tens of passes; memory O(n d)",
    reference=REFERENCE,
    max_size=lambda k: 2 * k - 1,
    practical=50_000,
)
def pcl_variable(
    X: NDArray[np.float64],
    k: int,
    *,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    init: str = "mdav",
    speed: float = 1.8,
    tolerance: float = 1e-5,
    iterations: int = 300,
) -> Partition:
    """Alternate centroids and exact assignments to cells of k to 2k-1 records.

    The number of cells is that of the method ``init``, which makes the first ones; those that it makes larger
    than 2k-1 are divided by MDAV.
    """
    first = registry.get(init).function(X, k, space=Euclidean(), rng=rng, progress=progress)
    begin = split_large(X, k, first.labels)
    bounds = (np.full(begin.n_cells, k), np.full(begin.n_cells, 2 * k - 1))
    found: Design = pcl(
        X,
        sizes=bounds,
        init=begin,
        speed=speed,
        tolerance=tolerance,
        iterations=iterations,
        space=space,
        seed=rng,
        progress=progress,
    )
    return Partition(found.labels, k=k)
