"""A bound on the risk for any law: theorem 2 of the paper with the regression in place of a straight line.

The paper's bound holds if E[W|X] is linear in X (see `voronym.channel.bounds.gaussian_bound`). Here ``g(x) =
E[W | X = x]`` may be any function, and the rule sees X alone. Given the published value, the variance of W
has two parts, its variance given X and the remaining variance of g: ``E Var(W | X̂) = Var W - Var g + E Var(g
| X̂)``. For two independent copies of X given X̂, ``Var g = E (g - g')² / 2`` and ``Var X = E |x - x'|² /
2``. So for every λ >= 0

    E Var(g | X̂) <= λ D + max over x, x' of ((g - g')² - λ |x - x'|²) / 2,

with D at least ``E |X - X̂|²``. If λ is the square of the steepest slope of g, the last term is 0. The
paper's own step from variances to information then gives the bound. For normal data g is a line and λ the
square of its slope; the bound is the paper's formula (8), and rules reach it.
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import ArrayLike

from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points

_LAMBDAS = 65


def regression_error(points: ArrayLike, means: ArrayLike, distortion: float) -> float:
    """Return the largest remaining variance of g, given any rule of that distortion.

    Parameters
    ----------
    points : array, shape (n, d)
        The values of X that occur.
    means : array, shape (n,)
        g at each of them.
    distortion : float
        The most that ``E |X - X̂|²`` may be.

    Examples
    --------
    >>> regression_error([[0.0], [1.0], [2.0]], [0.0, 0.5, 1.0], 0.1)  # a slope of a half
    0.025
    """
    X, g = check_points(points), np.asarray(means, float)
    i, j = np.triu_indices(len(X), 1)
    apart, rise = np.square(X[i] - X[j]).sum(axis=1), np.square(g[i] - g[j])
    if not len(i) or not rise.any():
        return 0.0
    ratio = np.divide(rise, apart, out=np.full(len(rise), inf), where=apart > 0.0)
    steep = float(ratio[np.isfinite(ratio)].max(initial=0.0))
    lambdas = steep * np.linspace(0.0, 1.0, _LAMBDAS) ** 2
    most = np.array([max(0.0, float((rise - value * apart).max())) for value in lambdas[:-1]])
    last = float(rise[np.isinf(ratio)].max(initial=0.0))  # equal x with different g: no slope helps
    return float((lambdas * distortion + np.append(most, last) / 2.0).min())


@checked
def regression_bound(
    points: ArrayLike,
    p: ArrayLike,
    means: ArrayLike,
    distortion: float,
    *,
    variance: float,
    negentropy: float = 0.0,
    proxy: float | None = None,
) -> float:
    """Return a lower bound on ``I(W; X̂)`` in nats for every rule that sees only X, for any law.

    Parameters
    ----------
    points : array, shape (n, d)
        The values of X that occur.
    p : array, shape (n,)
        Their probabilities.
    means : array, shape (n,)
        ``E[W | X]`` at each of them.
    distortion : float
        The most that ``E |X - X̂|²`` may be.
    variance : float
        Variance of W.
    negentropy : float
        The entropy of a normal law with the variance of W, less the entropy of W; 0 if W is normal.
    proxy : float, optional
        A variance proxy of W (`voronym.channel.limits.proxy_variance`), for W without a density: then the
        bound is ``I(W; X̂) >= Var E[W | X̂] / (2 proxy)``.

    Examples
    --------
    The counterexample to the paper's formula, which asks for 0.016 nats where 0 is reached:

    >>> X, p = [[-2.0], [-1.0], [1.0], [2.0]], [0.1, 0.4, 0.4, 0.1]
    >>> g = [-0.798, 0.0, 0.0, 0.798]
    >>> regression_bound(X, p, g, 0.8, variance=1.0), round(regression_bound(X, p, g, 0.1, variance=1.0), 4)
    (0.0, 0.0329)
    """
    weights, g = np.asarray(p, float), np.asarray(means, float)
    if weights.shape != g.shape or len(g) != len(check_points(points)):
        raise InputError("give one point, one probability and one mean for each value of X")
    if not variance > 0.0:
        raise InputError(f"the variance of W is above 0, not {variance}")
    weights = weights / weights.sum()
    spread = float(weights @ np.square(g - weights @ g))
    if spread > variance * (1.0 + 1e-9):
        raise InputError(f"means of W cannot vary by {spread:.4g} where W varies by {variance:.4g}")
    error = min(spread, regression_error(points, g, distortion))
    if proxy is not None:
        return (spread - error) / (2.0 * proxy)
    left = variance - spread + error
    return inf if left <= 0.0 else max(0.0, 0.5 * log(variance / left) - negentropy)
