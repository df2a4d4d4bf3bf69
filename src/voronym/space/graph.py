"""The vertices of a graph: distances along its edges, and the vertex of least cost as centroid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.errors import InputError
from voronym.space.base import Space

Array = NDArray[np.float64]

MOST_VERTICES = 5_000
"""Largest number of vertices of a graph: all shortest paths are kept."""


@dataclass(frozen=True, eq=False)
class Graph(Space):
    """Shortest paths between the vertices of a graph: roads, cables, acquaintances.

    Points are numbers of vertices, shape (n, 1). The cost is the length of the shortest path, to a power. The
    centroid of a cell is the vertex of least total cost, the lowest among ties; it may be any vertex of the
    graph. All paths are computed once (Dijkstra from every vertex), and kept.

    Parameters
    ----------
    edges : sequence of pairs, shape (e, 2)
        Numbers of vertices, from 0 on. Edges go both ways.
    lengths : sequence of float, shape (e,), optional
        Lengths above 0; 1 each by default. Of several edges between two vertices the shortest counts.
    power : float
        Costs are paths to this power: 1 gives the median of a cell, 2 weighs long ways more.

    Examples
    --------
    >>> road = Graph([(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 5.0])
    >>> road.cost(np.array([[0.0]]), np.array([[3.0], [1.0]])).tolist()
    [[7.0, 1.0]]
    >>> road.centroid(np.array([[0.0], [2.0], [3.0]])).tolist()
    [2.0]
    """

    edges: Sequence[tuple[int, int]]
    lengths: Sequence[float] | None = None
    power: float = 1.0
    name: ClassVar[str] = "graph"
    paths: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute all paths."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import shortest_path

        pairs, sizes = _checked(self.edges, self.lengths)
        if not (np.isfinite(self.power) and self.power > 0.0):
            raise InputError(f"power must be above 0, not {self.power!r}")
        n = int(pairs.max()) + 1
        if n > MOST_VERTICES:
            raise InputError(
                f"the graph has {n} vertices; all paths are kept, which is for {MOST_VERTICES} at most"
            )
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        order = np.lexsort((sizes, high, low))  # the shortest of several edges comes first
        _, first = np.unique((low * n + high)[order], return_index=True)
        kept = order[first]
        matrix = coo_matrix((sizes[kept], (low[kept], high[kept])), (n, n)).tocsr()
        paths = shortest_path(matrix, method="D", directed=False)
        apart = int(np.isinf(paths[0]).sum())
        if apart:
            raise InputError(
                f"the graph is in pieces: {apart} of {n} vertices cannot be reached from vertex 0"
            )
        object.__setattr__(self, "paths", paths**self.power)

    def __repr__(self) -> str:
        return f"Graph({len(self.paths):,} vertices, {len(self.edges):,} edges)"

    def cost(self, X: Array, Y: Array) -> Array:
        """Return the lengths of the shortest paths to the power, shape (len(X), len(Y))."""
        return np.asarray(self.paths[np.ix_(self._vertices(X), self._vertices(Y))])

    def centroid(self, X: Array) -> Array:
        """Return the vertex of least total cost, shape (1,)."""
        return self.weighted_centroid(X, np.ones(len(X)))

    def weighted_centroid(self, X: Array, weights: Array) -> Array:
        """Return the vertex of least total cost, each point counted by its weight."""
        held = np.bincount(self._vertices(X), weights, len(self.paths))
        return np.array([float((self.paths @ held).argmin())])

    def parameters(self) -> dict[str, object]:
        """Return the data that rebuild the space, as JSON types."""
        pairs, sizes = _checked(self.edges, self.lengths)
        return {"edges": pairs.tolist(), "lengths": sizes.tolist(), "power": self.power}

    def _vertices(self, X: Array) -> NDArray[np.int64]:
        vertices = np.rint(X[:, 0]).astype(np.int64) if X.shape[1] == 1 else np.empty(0, np.int64)
        if X.shape[1] != 1 or (vertices != X[:, 0]).any():
            raise InputError("points of a graph are whole numbers in one column, the numbers of vertices")
        outside = int(((vertices < 0) | (vertices >= len(self.paths))).sum())
        if outside:
            raise InputError(f"{outside} of {len(X)} points are no vertices, 0..{len(self.paths) - 1}")
        return vertices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and np.array_equal(self.paths, other.paths)

    def __hash__(self) -> int:
        return hash((self.name, self.paths.shape))


def _checked(edges: ArrayLike, lengths: ArrayLike | None) -> tuple[NDArray[np.int64], Array]:
    try:
        pairs = np.asarray(edges)
        sizes = np.ones(len(pairs)) if lengths is None else np.asarray(lengths, np.float64)
    except (TypeError, ValueError):
        raise InputError("edges are pairs of vertices, and lengths are numbers") from None
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(f"edges are pairs of whole numbers; got {pairs.dtype} of shape {pairs.shape}")
    if not len(pairs) or (pairs < 0).any():
        raise InputError("a graph has at least one edge, and vertices are numbered from 0 on")
    if sizes.shape != (len(pairs),) or not (np.isfinite(sizes) & (sizes > 0.0)).all():
        raise InputError(f"lengths are numbers above 0, one for each of the {len(pairs)} edges")
    return pairs.astype(np.int64), sizes
