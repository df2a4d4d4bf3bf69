"""The quantizer: a centroid and an additive cost for each cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points
from voronym.quantize import _assign, _diagram, _stored
from voronym.quantize.costs.base import Floats, numbers
from voronym.space import Euclidean, Space


@dataclass(frozen=True, eq=False, repr=False)
class Quantizer:
    """Cells ``q(x) = argmin_q d(x, centroid_q) + cost_q``, ties to the lowest index.

    With the squared Euclidean distance this is a power diagram: every cell is a convex polytope. With
    other distances cells need not be convex. A common constant added to all costs changes nothing.

    A quantizer is a rule, not a table: it also applies to new points. It does not guarantee k: a cell
    that had k records of one table may have none of the next. To release a table use
    `voronym.microaggregate` or `voronym.anonymize`, which count.

    Parameters
    ----------
    centroids : array, shape (m, d) or (m,)
        The point that stands for each cell.
    costs : array, shape (m,), optional
        The cost of each cell, added to the distance; 0 for all cells gives the Voronoi diagram.
    space : Space, optional
        The distance d; squared Euclidean by default.

    Notes
    -----
    `save` writes one JSON object (UTF-8), and nothing that could run::

        {"format": "voronym-quantizer", "version": 1,
         "space": {"name": "euclidean"},
         "centroids": [[0.25, 1.5], ...],
         "costs": [0.0, ...]}

    ``space`` has the space's name and, next to it, its parameters: ``"matrix"`` for "mahalanobis". Numbers
    are the shortest decimals that give back the same float64, so a quantizer that was loaded equals the one
    that was saved, and assigns alike. `load` refuses another format or version, missing, unknown or repeated
    keys, ragged or mismatched shapes, values that are no finite numbers, unknown spaces, and centroids
    outside their space. A file is written under a temporary name in the same folder and then renamed: it is
    complete or missing. The centroids of small cells reveal something about the people in them: treat the
    file like the release itself.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, "A modification of the Lloyd algorithm for
    k-anonymous quantization", Information Sciences 222 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> quantizer = Quantizer([[0.0], [1.0]], [0.0, 0.5])
    >>> quantizer.assign([[0.6], [0.8]]).tolist()  # the border is at 0.75, not at 0.5
    [0, 1]
    >>> quantizer.decode([1, 0]).tolist()
    [[1.0], [0.0]]
    >>> quantizer
    Quantizer(2 cells in 1 dimension, euclidean, costs spread over 0.5)
    """

    centroids: NDArray[np.float64]
    costs: NDArray[np.float64] = None  # type: ignore[assignment] # zeros, once the number of cells is known
    space: Space = field(default_factory=Euclidean)

    def __post_init__(self) -> None:
        centroids = _finite("centroids", self.centroids)
        if centroids.ndim == 1:
            centroids = np.ascontiguousarray(centroids[:, None])
        if centroids.ndim != 2 or centroids.size == 0:
            raise InputError(f"centroids must be cells by columns; got shape {np.shape(self.centroids)}")
        costs = np.zeros(len(centroids)) if self.costs is None else _finite("costs", self.costs)
        if costs.shape != (len(centroids),):
            raise InputError(f"there are {len(centroids)} centroids and costs of shape {costs.shape}")
        if not isinstance(self.space, Space):
            raise InputError(f"space must be a Space, not {type(self.space).__name__}")
        centroids.flags.writeable = costs.flags.writeable = False
        object.__setattr__(self, "centroids", centroids)
        object.__setattr__(self, "costs", costs)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.costs)

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.centroids.shape[1])

    def assign(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each point, shape (n,): the least ``d + cost``, the lowest index among ties.

        It guarantees no cell sizes, and no k. Cost: O(n m d) at worst; many cells in few dimensions
        are searched by a tree in d+1 dimensions, with the same result.
        """
        return _assign.assign(self._points(X), self.centroids, self.costs, self.space)

    def decode(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Return the centroids of the cells, shape (n, d)."""
        cells = np.asarray(labels)
        if cells.ndim != 1 or not np.issubdtype(cells.dtype, np.integer):
            raise InputError(f"labels must be a vector of integers, not {cells.dtype} of shape {cells.shape}")
        outside = int(((cells < 0) | (cells >= self.n_cells)).sum())
        if outside:
            raise InputError(f"{outside} of {len(cells)} labels are not among the {self.n_cells} cells")
        return np.asarray(self.centroids[cells])

    def distortion(self, X: ArrayLike) -> float:
        """Return the mean of ``d(x, centroid of its cell)`` over the points."""
        points = self._points(X)
        return float(self.space.paired(points, self.centroids, self.assign(points)).mean())

    def sizes(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the number of points in each cell, shape (m,)."""
        return np.bincount(self.assign(X), minlength=self.n_cells).astype(np.int64)

    def probabilities(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the share of the points in each cell, shape (m,)."""
        sizes = self.sizes(X)
        return np.asarray(sizes / sizes.sum())

    def diagram(self, bounds: tuple[float, float, float, float]) -> list[NDArray[np.float64]]:
        """Return each cell, within a rectangle of the plane, as the corners of a convex polygon.

        Parameters
        ----------
        bounds : (left, bottom, right, top)
            The rectangle.

        Returns
        -------
        list of arrays, shape (corners, 2)
            Counter-clockwise, one for each cell; a cell that is empty there has no corners.

        Examples
        --------
        >>> Quantizer([[0.0, 0.0], [1.0, 0.0]]).diagram((0, 0, 1, 1))[1].tolist()
        [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
        """
        return _diagram.polygons(self.centroids, self.costs, self.space, bounds)

    def save(self, path: str | Path) -> None:
        """Write the quantizer to a file, in the format described above."""
        _stored.save(Path(path), self.centroids, self.costs, self.space)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Quantizer:
        """Read a quantizer from a file; raise if it is none."""
        return cls(*_stored.load(Path(path)))

    def _points(self, X: ArrayLike) -> NDArray[np.float64]:
        points = check_points(X)
        if points.shape[1] != self.d:
            raise InputError(f"X has {points.shape[1]} columns, the quantizer {self.d}")
        return points

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Quantizer)
            and np.array_equal(self.centroids, other.centroids)
            and np.array_equal(self.costs, other.costs)
            and self.space == other.space
        )

    def __hash__(self) -> int:
        return hash((self.centroids.shape, self.space.name))

    def __repr__(self) -> str:
        plural = "" if self.d == 1 else "s"
        return (
            f"Quantizer({self.n_cells} cells in {self.d} dimension{plural}, {self.space.name}, "
            f"costs spread over {np.ptp(self.costs):.3g})"
        )


def _finite(what: str, values: object) -> Floats:
    """Return values as finite float64; raise if they are not."""
    array = numbers(values, f"{what} must be numbers, as many in every row")
    if not np.isfinite(array).all():
        raise InputError(f"{what} have {int((~np.isfinite(array)).sum())} missing or infinite values")
    return array
