"""Two designs of the same points, and the better of them in each region."""

from __future__ import annotations

import numpy as np

from voronym.quantize.costs.base import Floats, Integers
from voronym.space import Space


def mixed(
    X: Floats,
    integers: Integers,
    other: Integers,
    cells: int,
    space: Space,
    *,
    slack: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Integers:
    """Return a grouping from parts of both that costs no more than either; the first if nothing gains.

    Two cells, one of each grouping, are linked if they share a point. Cells that are linked, directly or
    over others, divide the same points in two ways, so each such part can be chosen by itself. The second
    way is taken if it costs less and has the same cell sizes. With few points per cell there are many
    parts, so good parts of several designs are combined.

    This is the partition crossover of the travelling salesman, for groups.

    Parameters
    ----------
    slack, rng : float, Generator
        If the first is above 0, the second way is also taken if it costs a little more: a number drawn for
        each part, on average this multiple of the mean cost of a cell. So a search can leave a local optimum.

    References
    ----------
    D. Whitley, D. Hains and A. Howe, "Tunneling between optima: partition crossover for the traveling
    salesman problem", GECCO (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from voronym.space import Euclidean
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0], [25.0], [26.0]])
    >>> one, other = np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3])
    >>> mixed(X, one, other, 4, Euclidean()).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    from scipy.sparse import coo_array  # takes a while to load
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(X), np.int8), (integers, cells + other)), shape=(2 * cells, 2 * cells))
    parts, part = connected_components(links, directed=False)
    ways = [_Way(X, integers, part[:cells], space), _Way(X, other, part[cells:], space)]
    even = np.ones(parts, bool)
    even[np.bincount(part[:cells], minlength=parts) != np.bincount(part[cells:], minlength=parts)] = False
    here, there = (way.order[even[way.part[way.order]]] for way in ways)  # part by part, then by size
    even[part[here[ways[0].sizes[here] != ways[1].sizes[there]]]] = False
    costs = [np.bincount(way.part, way.costs, parts) for way in ways]
    more = np.full(parts, -1e-12 * costs[0].sum())
    if slack and rng is not None:
        more = slack * costs[0].sum() / cells * rng.exponential(size=parts)
    better = even & (costs[1] < costs[0] + more) & (costs[1] != costs[0])
    names = np.arange(cells)
    names[there] = here
    return np.where(better[part[integers]], names[other], integers)


class _Way:
    """A grouping: the sizes and costs of its cells, the part of each, and their order."""

    def __init__(self, X: Floats, labels: Integers, part: Integers, space: Space) -> None:
        cells = len(part)
        away = space.paired(X, space.centroids(X, labels, cells), labels)
        self.part, self.sizes = part, np.bincount(labels, minlength=cells)
        self.costs = np.bincount(labels, away, cells)
        self.order = np.lexsort((self.sizes, part))
