"""Guess the costs from counts: Newton's method on cells with many points.

If ``c_p - c_q`` rises by t, cell p loses to q those of its points whose next best cell is q within t. Counted
within a margin on both sides of the border, this gives the Jacobian, a graph Laplacian, without smoothing.
Counts are whole numbers, so the guess is off by a few points; the repair by shortest paths corrects this.
"""

from __future__ import annotations

import numpy as np

from voronym.quantize.costs.base import Floats, Integers
from voronym.quantize.costs.sources import Scan, Source

DENSE = 150
"""Number of cells up to which the Jacobian is a dense matrix."""

RIDGE = 1e-9
"""Added to the diagonal: a Laplacian is singular, since a constant on all costs changes nothing."""


def guess(
    source: Source, sizes: Integers, c: Floats, margin: float, scan: Scan, rounds: int = 40
) -> tuple[Floats, float]:
    """Return costs that nearly give the sizes, and their possible error.

    Parameters
    ----------
    source : Source
        The source, with the centroids set.
    sizes : array of int, shape (m,)
        The wanted sizes of the cells.
    c : array, shape (m,)
        Costs to start from.
    margin : float
        Width of the strip along the borders in which points are counted first.
    scan : Scan
        The source's scan for these costs within the margin.
    """
    excess = scan.counts - sizes
    good = max(2 * len(sizes), int(sizes.sum()) // 500)  # a pass takes as long as this number of paths
    for _ in range(rounds):
        off = int(np.abs(excess).sum())
        if off <= good:
            break
        step, width = direction(scan, source.mass, excess, margin)
        if step is None:
            margin *= 4.0
            scan = source.scan(c, margin)
            continue
        share, better = min(1.0, 4.0 * margin / max(width, 1e-300)), None  # the count is of the margin only
        least = 0.02 * share
        while share > least:
            trial = c + share * step
            result = source.scan(trial, max(margin * 0.25, min(4.0 * margin, 2.0 * share * width)))
            if np.abs(result.counts - sizes).sum() < (1.0 - 0.1 * share) * off:
                better = result
                break
            share *= 0.5 if share > 0.3 else 0.3
        if better is None:
            break
        margin = max(margin * 0.25, min(4.0 * margin, 2.0 * share * width))
        c, scan, excess = trial, better, better.counts - sizes
    step, _ = direction(scan, source.mass, excess, margin)
    return c, margin if step is None else float(step.max() - step.min())


def direction(scan: Scan, mass: Integers, excess: Integers, margin: float) -> tuple[Floats | None, float]:
    """Return Newton's step and its largest difference; None if a cell that should change has no border.

    The Jacobian of the counts is minus the Laplacian of the points per unit of cost along each border.
    """
    m = len(excess)
    near = np.flatnonzero(scan.second >= 0)
    pair = scan.labels[near] * m + scan.second[near]
    weight = mass[near] / (2.0 * margin)
    wanted = excess.astype(np.float64)
    if m <= DENSE:
        both = np.bincount(pair, weight, m * m).reshape(m, m)
        both = both + both.T
        degree = both.sum(axis=1)
        if hopeless(degree, excess):
            return None, 0.0
        step = np.linalg.solve(np.diag(degree + RIDGE * degree.max()) - both, wanted)
        row, column = np.nonzero(both)
    else:
        from scipy import sparse  # takes a while to load
        from scipy.sparse.linalg import splu

        once = sparse.coo_matrix((weight, (pair // m, pair % m)), shape=(m, m)).tocsr()
        borders = (once + once.T).tocoo()
        row, column = borders.row, borders.col
        degree = np.bincount(row, borders.data, m).astype(np.float64)
        if hopeless(degree, excess):
            return None, 0.0
        laplacian = (sparse.diags(degree + RIDGE * degree.max()) - borders).tocsc()
        step = splu(laplacian, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(wanted)
    step = step - step.min()
    return step, float(np.abs(step[row] - step[column]).max())


def hopeless(degree: Floats, excess: Integers) -> bool:
    """Return whether a cell that should change has no border in sight."""
    return bool((excess[degree <= 0.0] != 0).any() or degree.max() <= 0.0)
