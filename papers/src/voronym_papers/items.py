"""The items of a reproduction: marks, tables, charts, pictures of cells, and highlights.

All of them are plain data. The terminal shows marks, and tables on request; the report draws the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym_papers.marks import Mark

Cell = str | int | float | None
Floats = NDArray[np.float64]
Bounds = tuple[float, float, float, float]


@dataclass(frozen=True)
class Table:
    """One table: published figures next to ours; None for an unpublished figure.

    ``formats`` has the number format of each column, two decimals by default. The first ``keys`` columns
    identify the row; they are repeated if a table is too wide for the terminal.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    part: str = ""
    formats: tuple[str, ...] = ()
    keys: int = 1

    @property
    def heading(self) -> str:
        """The title; the name of the part if the title is only "Figures"."""
        return self.part if self.part and self.title == "Figures" else self.title

    def texts(self) -> list[tuple[str, ...]]:
        """Return the rows as text.

        Examples
        --------
        >>> Table("t", ("k", "loss", "published"), ((3, 4.8512, None),)).texts()
        [('3', '4.85', '–')]
        """
        wanted = self.formats or ("",) * len(self.columns)
        return [tuple(_text(v, f) for v, f in zip(row, wanted, strict=True)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        rows = [list(row) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "note": self.note}


@dataclass(frozen=True)
class Curve:
    """Points of one series, by x. Published points are drawn differently from ours."""

    name: str
    points: tuple[tuple[float, float], ...]
    published: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Chart:
    """Curves over common axes; ``log`` names the axes with logarithmic scales ("x", "y", "xy")."""

    title: str
    curves: tuple[Curve, ...]
    x_name: str
    y_name: str
    note: str = ""
    part: str = ""
    log: str = ""
    zero: bool = True
    """Whether the y axis reaches down, or up, to zero."""

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as plain values."""
        series = {curve.name: [list(point) for point in curve.points] for curve in self.curves}
        return {"title": self.title, "x": self.x_name, "y": self.y_name, "series": series, "note": self.note}


@dataclass(frozen=True, eq=False)
class Panel:
    """Points in the plane and their cells.

    ``polygons``: the visible parts of the cells, if they are a power diagram. Without them, colours show
    the cells, and with ``edges`` also lines to the centroids.
    """

    title: str
    points: Floats
    labels: NDArray[np.int64]
    centroids: Floats
    polygons: Sequence[Floats] | None = None
    edges: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """Panels next to each other in one frame; ``bounds`` are its left, bottom, right and top."""

    title: str
    panels: tuple[Panel, ...]
    bounds: Bounds
    note: str = ""
    part: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the picture as plain values, without its many points."""
        panels = [
            {"title": panel.title, "centroids": panel.centroids.tolist(), "note": panel.note}
            for panel in self.panels
        ]
        return {"title": self.title, "panels": panels, "note": self.note}


@dataclass(frozen=True, eq=False)
class Surface:
    """Values on a grid over the plane, its first row the lowest; several surfaces form a row."""

    title: str
    values: Floats
    note: str = ""


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Surfaces over a common frame, drawn from above: the darker, the higher."""

    title: str
    surfaces: tuple[Surface, ...]
    bounds: Bounds
    names: tuple[str, str]
    note: str = ""
    part: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the captions of the surfaces, without the grids."""
        result = [{"title": surface.title, "note": surface.note} for surface in self.surfaces]
        return {"title": self.title, "panels": result, "note": self.note}


@dataclass(frozen=True)
class Highlight:
    """A number for the head of the page, its label, and the published figure."""

    value: str
    label: str
    note: str = ""


Drawn = Table | Chart | Picture | Surfaces
Item = Mark | Highlight | Drawn


def dump(item: Item) -> dict[str, Any] | None:
    """Return a table, chart or highlight as plain values for `load`; None for items that are not kept.

    Marks are stored separately. Pictures are not stored: they have thousands of points, and are drawn
    again in seconds.
    """
    if isinstance(item, Mark | Picture | Surfaces):
        return None
    plain: dict[str, Any] = _rounded(asdict(item))
    return {"kind": type(item).__name__.lower()} | plain


def load(plain: dict[str, Any]) -> Table | Chart | Highlight:
    """Read the result of `dump`.

    Examples
    --------
    >>> chart = Chart("t", (Curve("c", ((1.0, 2.0),)),), "x", "y", log="x")
    >>> load(dump(chart)) == chart
    True
    """
    given = dict(plain)
    kind = given.pop("kind")
    if kind == "highlight":
        return Highlight(**given)
    if kind == "table":
        given |= {name: tuple(given[name]) for name in ("columns", "formats")}
        return Table(**given | {"rows": tuple(tuple(row) for row in given["rows"])})
    curves = (item | {"points": tuple(tuple(point) for point in item["points"])} for item in given["curves"])
    return Chart(**given | {"curves": tuple(Curve(**curve) for curve in curves)})


def _rounded(value: Any) -> Any:
    """Keep six figures of every number: more would be noise, and twice the file."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def frame(points: Floats, *, cut: float = 0.0) -> Bounds:
    """Return a square around the points, without the outermost share ``cut`` at either end.

    It is square because a boundary between cells is perpendicular to the line between their centroids,
    which a stretched picture would hide.

    Examples
    --------
    >>> frame(np.array([[0.0, 0.0], [2.0, 1.0]]))
    (-0.06, -0.56, 2.06, 1.56)
    """
    low, high = np.quantile(points, [cut, 1.0 - cut], axis=0)
    half = 0.53 * float((high - low).max())
    middle = (low + high) / 2
    left, bottom, right, top = np.round([*(middle - half), *(middle + half)], 12).tolist()
    return left, bottom, right, top


def _text(value: Cell, spec: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return format(value, spec or ".2f").replace("-", "−")
    return format(value, ",") if isinstance(value, int) and spec == "," else str(value)
