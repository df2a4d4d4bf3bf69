"""When to be hot: temperatures for annealing, and how long to stay at each.

Most of what annealing achieves, it achieves while the loss falls fastest with the temperature, and where that
is differs from table to table. A short pilot run over the whole range records the loss at every
temperature; the main run then spends its proposals where the pilot's loss fell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEPS = 40
HOT, COLD = 1.0, 3e-4
"""First and last temperature, in units of the start's SSE per record."""


def temperatures(
    scale: float, *, hot: float = HOT, cold: float = COLD, steps: int = STEPS
) -> NDArray[np.float64]:
    """Return falling temperatures, in equal ratios."""
    return np.asarray(scale * np.geomspace(hot, cold, steps))


def shares(losses: NDArray[np.float64] | None, steps: int = STEPS) -> NDArray[np.float64]:
    """Return the share of the proposals for each temperature, from the losses of a pilot run.

    Parameters
    ----------
    losses : array, shape (steps,), or None
        Loss at the end of each temperature of the pilot. None spends evenly.

    Examples
    --------
    >>> shares(np.array([9.0, 5.0, 5.0, 5.0]), 4).round(2).tolist()
    [0.5, 0.25, 0.12, 0.12]
    """
    even = np.full(steps, 1.0 / steps)
    if losses is None:
        return even
    fall = np.maximum(losses - np.append(losses[1:], losses[-1]), 0.0)
    weight = np.sqrt(fall)  # damped: the hot end falls furthest, and most of that would fall anyway
    weight = np.convolve(np.pad(weight, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    if weight.sum() <= 0.0:
        return even
    return np.asarray(0.5 * even + 0.5 * weight / weight.sum())
