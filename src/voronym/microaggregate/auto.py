"""The default choice of method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.partition import Partition
from voronym.progress import Progress
from voronym.registry import algorithm
from voronym.space import Space


@algorithm(
    "auto",
    guarantee="every cell has k to 2k-1 records",
    cost="that of the method chosen",
    reference="this project",
    max_size=lambda k: 2 * k - 1,
)
def auto(
    X: NDArray[np.float64], k: int, *, space: Space, rng: np.random.Generator, progress: Progress
) -> Partition:
    """Choose a method: the optimum for one column, MDAV for more."""
    name = "univariate" if X.shape[1] == 1 else "mdav"
    return registry.get(name).function(X, k, space=space, rng=rng, progress=progress)
