"""Temperatures for annealing, and the time at each.

Annealing achieves most while the loss falls fastest with the temperature, and this range differs between
tables. A short pilot run over the whole range records the loss at every temperature; the main run then spends
its proposals where the pilot's loss fell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEPS = 60
COLD = 3e-4
"""Last temperature of a search by squares, in units of the start's loss per record."""


def temperatures(mean: float, worst: float, *, heat: float = 1.0, cold: float = COLD) -> NDArray[np.float64]:
    """Return falling temperatures, in equal ratios.

    Parameters
    ----------
    mean, worst : float
        SSE per record, over all records and in the worst cell. Outliers are in the worst cells, and they only
        move while the temperature is about their loss.
    heat : float
        Factor for the first temperature.
    cold : float
        The last temperature, in units of ``mean``.
    """
    return np.geomspace(max(heat * worst, 2 * cold * mean), cold * mean, STEPS)


def shares(heat: NDArray[np.float64], losses: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the share of the proposals for each temperature.

    With constant thermodynamic speed the time for a step in log T grows with the square root of the heat
    capacity dE/dT: with how much there is to decide at T, not with how much the decision is worth.

    Parameters
    ----------
    heat : array, shape (steps,)
        The temperatures.
    losses : array, shape (steps,), optional
        Loss at the end of each temperature of a pilot run; without it the shares are equal.

    References
    ----------
    Salamon, P., Nulton, J., Robinson, J., Petersen, J., Ruppeiner, G., Liao, L.: Simulated annealing with
    constant thermodynamic speed. Computer Physics Communications 49, 1988.

    Examples
    --------
    >>> shares(np.array([4.0, 2.0, 1.0, 0.5]), np.array([9.0, 5.0, 4.0, 4.0])).round(2).tolist()
    [0.47, 0.33, 0.14, 0.06]
    """
    even = np.full(len(heat), 1.0 / len(heat))
    if losses is None:
        return even
    fall = np.maximum(losses - np.append(losses[1:], losses[-1]), 0.0)
    weight = np.sqrt(fall / heat)
    weight = np.convolve(np.pad(weight, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    if weight.sum() <= 0.0:
        return even
    return np.asarray(0.25 * even + 0.75 * weight / weight.sum())
