"""Quantizers of several levels: cells within cells, each level quickly searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.options import whole
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.problem import check_points
from voronym.quantize import _stored
from voronym.quantize.pcl import pcl
from voronym.quantize.quantizer import Quantizer
from voronym.space import Space

Below = tuple["Quantizer | LevelQuantizer", ...]


@dataclass(frozen=True, eq=False, repr=False)
class LevelQuantizer:
    """Cells divided into cells: a quantizer on top, and one for each of its cells.

    A point goes down level by level, so a search among 100 times 100 cells examines 200 cells. Cells of
    the last level have consecutive numbers, beginning with those in the first cell above. Like a
    `Quantizer` it does not guarantee k. Treat its file like the release itself.

    Parameters
    ----------
    top : Quantizer
        The first level.
    below : tuple of Quantizer or LevelQuantizer
        The division of each cell of the first level; all have the same number of levels and the same space.

    Notes
    -----
    `save` writes one JSON object, like `Quantizer.save`, with ``"format": "voronym-quantizer-levels"``;
    ``"centroids"`` and ``"costs"`` are those of the first level, and ``"below"`` is a list of objects with
    the same keys, one for each of its cells.

    Examples
    --------
    >>> halves = Quantizer([[0.0], [10.0]])
    >>> both = LevelQuantizer(halves, (Quantizer([[-1.0], [1.0]]), Quantizer([[9.0], [10.0], [11.0]])))
    >>> both.assign([-2.0, 0.5, 9.9]).tolist(), both.assign([-2.0, 0.5, 9.9], level=1).tolist()
    ([0, 1, 3], [0, 0, 1])
    >>> both
    LevelQuantizer(2 levels, 2 and 5 cells in 1 dimension, euclidean)
    """

    top: Quantizer
    below: Below

    def __post_init__(self) -> None:
        if len(self.below) != self.top.n_cells:
            raise InputError(f"there are {self.top.n_cells} cells on top, and {len(self.below)} divided ones")
        if any(item.space != self.space or item.d != self.top.d for item in self.below):
            raise InputError("all levels must be in one space, with equally many coordinates")
        if len({len(_counts(entry)) for entry in self.below}) != 1:
            raise InputError("every cell must have the same number of levels below it")

    @property
    def space(self) -> Space:
        """The space of all levels."""
        return self.top.space

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return self.top.d

    @property
    def n_cells(self) -> int:
        """Number of cells of the last level."""
        return sum(item.n_cells for item in self.below)

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each level."""
        return _counts(self)

    @property
    def centroids(self) -> NDArray[np.float64]:
        """Centroids of the last level, shape (m, d)."""
        return np.concatenate([item.centroids for item in self.below])

    def assign(self, X: ArrayLike, *, level: int | None = None) -> NDArray[np.int64]:
        """Return the cell of each point on a level, counted from 1; the last level by default."""
        levels = len(self.cells)
        depth = levels if level is None else whole(1)("level", level)
        if depth > levels:
            raise InputError(f"there are {levels} levels; there is no level {depth}")
        points = check_points(X)
        labels = self.top.assign(points)
        if depth == 1:
            return labels
        result, first = np.empty(len(points), np.int64), 0
        for cell, item in enumerate(self.below):
            rows = np.flatnonzero(labels == cell)
            count = _counts(item)[depth - 2]
            if isinstance(item, Quantizer):
                result[rows] = first + (item.assign(points[rows]) if len(rows) else 0)
            elif len(rows):
                result[rows] = first + item.assign(points[rows], level=depth - 1)
            first += count
        return result

    def decode(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Return the centroids of cells of the last level, shape (n, d)."""
        return Quantizer(self.centroids, space=self.space).decode(labels)

    def sizes(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the number of points in each cell of the last level."""
        return np.bincount(self.assign(X), minlength=self.n_cells).astype(np.int64)

    def distortion(self, X: ArrayLike) -> float:
        """Return the mean of ``d(x, centroid of its cell)`` over the points, on the last level."""
        points = check_points(X)
        return float(self.space.paired(points, self.centroids, self.assign(points)).mean())

    def save(self, path: str | Path) -> None:
        """Write all levels to a file, in the format described above."""
        _stored.save_levels(Path(path), _content(self), self.space)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> LevelQuantizer:
        """Read a quantizer of several levels from a file; raise if it has none."""
        content, space = _stored.load_levels(Path(path))
        made = _made(content, space)
        assert isinstance(made, LevelQuantizer)  # noqa: S101 - its reader has seen to that
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LevelQuantizer) and self.top == other.top and self.below == other.below

    def __hash__(self) -> int:
        return hash((self.top, self.cells))

    def __repr__(self) -> str:
        plural = "" if self.d == 1 else "s"
        many = " and ".join([", ".join(map(str, self.cells[:-1])), str(self.cells[-1])])
        return (
            f"LevelQuantizer({len(self.cells)} levels, {many} cells in {self.d} dimension{plural}, "
            f"{self.space.name})"
        )


def load(path: str | Path) -> Quantizer | LevelQuantizer:
    """Read a quantizer of one or several levels from a file."""
    return (LevelQuantizer if _stored.has_levels(Path(path)) else Quantizer).load(path)


def _counts(quantizer: Quantizer | LevelQuantizer) -> tuple[int, ...]:
    """Return the number of cells on each level."""
    if isinstance(quantizer, Quantizer):
        return (quantizer.n_cells,)
    deeper = zip(*(_counts(each) for each in quantizer.below), strict=True)
    return (quantizer.top.n_cells, *(sum(level) for level in deeper))


def _content(quantizer: Quantizer | LevelQuantizer) -> dict[str, Any]:
    """Return the file content of a quantizer and those below it."""
    if isinstance(quantizer, Quantizer):
        return {"centroids": quantizer.centroids.tolist(), "costs": quantizer.costs.tolist()}
    return {**_content(quantizer.top), "below": [_content(each) for each in quantizer.below]}


def _made(content: dict[str, Any], space: Space) -> Quantizer | LevelQuantizer:
    top = Quantizer(content["centroids"], content["costs"], space)
    if "below" not in content:
        return top
    return LevelQuantizer(top, tuple(_made(item, space) for item in content["below"]))


@checked
def design_levels(X: ArrayLike, cells: Sequence[int], **options: Any) -> LevelQuantizer:
    """Design cells within cells: each level of equal sizes, designed by `pcl` within the level above.

    With many cells, this is much faster to design and to search than one level. It loses slightly more,
    because no cell crosses the border of the cell above.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        The points, used as they are.
    cells : sequence of int
        Number of cells into which each cell of the level above is divided: ``(10, 20)`` makes 10, and 200 in
        all.
    **options
        Of `voronym.quantize.pcl`: ``space``, ``seed``, ``init`` by name, ``restarts``, ``cooling`` and more.

    Returns
    -------
    LevelQuantizer
        On the points of the design, sizes of cells within a cell differ by at most one, except for equal
        points that had to be divided.

    References
    ----------
    D. Rebollo-Monedero, J. Forné and M. Soriano, "An algorithm for k-anonymous microaggregation and
    clustering inspired by the design of distortion-optimized quantizers", Data & Knowledge Engineering 70
    (2011), section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> quantizer = design_levels(np.arange(12.0), (2, 3))
    >>> quantizer.sizes(np.arange(12.0)).tolist()
    [2, 2, 2, 2, 2, 2]
    """
    numbers = [whole(1)("cells", cell) for cell in cells]
    if len(numbers) < 2:
        raise InputError("cells within cells need two numbers or more, such as (10, 20); else take `design`")
    points = check_points(X)
    if int(np.prod(numbers)) > len(points):
        raise InputError(f"{int(np.prod(numbers))} cells are more than the {len(points)} points")
    made = _divided(points, numbers, options)
    assert isinstance(made, LevelQuantizer)  # noqa: S101 - there are two levels or more
    return made


def _divided(X: NDArray[np.float64], cells: list[int], options: dict[str, Any]) -> Quantizer | LevelQuantizer:
    result = pcl(X, cells[0], **options)
    if len(cells) == 1:
        return result.quantizer
    members = (X[result.labels == cell] for cell in range(cells[0]))
    return LevelQuantizer(result.quantizer, tuple(_divided(member, cells[1:], options) for member in members))
