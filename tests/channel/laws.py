"""Joint laws that the tests of channels share."""

from __future__ import annotations

import numpy as np


def normal_grid(points, reach=3.0, rho=0.95):
    """Return the grid, a discretised normal law of W and X, and squared differences."""
    x = np.linspace(-reach, reach, points)
    W, X = np.meshgrid(x, x, indexing="ij")
    p = np.exp(-(W**2 - 2 * rho * W * X + X**2) / (2 * (1 - rho**2)))
    return x, p / p.sum(), np.square(x[:, None] - x)


def random_law(seed, largest=6):
    """Return a random joint law and random distortions."""
    rng = np.random.default_rng(seed)
    k, n, m = rng.integers(2, largest + 1, 3)
    return rng.dirichlet(np.full(k * n, 0.5)).reshape(k, n), rng.random((n, m))


def measured(p_wx, matrix, d):
    """Return distortion and risk of a rule by plain loops."""
    p_x, p_w = p_wx.sum(axis=0), p_wx.sum(axis=1)
    joint = p_wx @ matrix
    p_y = joint.sum(axis=0)
    D = sum(p_x[x] * matrix[x, y] * d[x, y] for x in range(len(p_x)) for y in range(len(p_y)))
    R = sum(
        joint[w, y] * np.log(joint[w, y] / (p_w[w] * p_y[y]))
        for w in range(len(p_w))
        for y in range(len(p_y))
        if joint[w, y] > 0
    )
    return D, R
