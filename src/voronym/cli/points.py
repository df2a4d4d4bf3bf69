"""Shared parts of the verbs about cells: columns as points, and maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, complete
from voronym.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voronym.quantize import LevelQuantizer, Quantizer
    from voronym.space import Space

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Columns of numbers that are the coordinates, used as they are.",
        autocompletion=complete.columns,
    ),
]
Place = Annotated[
    str | None, typer.Option("--place", help="LAT,LON: Two columns in degrees, instead of --column.")
]
Weight = Annotated[
    str | None, typer.Option("--weight", help="The column with the weight of each point, such as people.")
]
Map = Annotated[Path | None, typer.Option("--map", help="Write a map of the cells, SVG.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


def numbers(frame: Any, name: str) -> NDArray[np.float64]:
    """Return a column as numbers without gaps; raise if there are any."""
    import numpy as np

    if name not in frame.columns:
        known = [repr(item) if "," in item else item for item in frame.columns]
        raise InputError(f"there is no column {name!r}; there are: {', '.join(known)}")
    column = frame[name]
    if not column.dtype.is_numeric():
        raise InputError(f"the column {name!r} is not numeric; coordinates, weights and room are numbers")
    values = np.asarray(column.cast(float).to_numpy(), dtype=np.float64)
    for gone, what in ((np.isnan(values), "missing"), (np.isinf(values), "infinite")):
        if gone.any():
            raise InputError(
                f"{int(gone.sum())} of {len(values)} values of {name!r} are {what}; leave those records out"
            )
    return values


def points(frame: Any, columns: list[str] | None, place: str | None) -> tuple[NDArray[np.float64], Space]:
    """Return the points and their space: coordinates, or places on the globe."""
    import numpy as np

    from voronym.space import Euclidean, Sphere

    if columns is not None and place is not None:
        raise InputError("the points are given twice: give --column or --place, not both")
    if columns is None and place is None:
        raise InputError("say where the points are: --column X,Y, or --place LAT,LON")
    if place is not None:
        both = common.names([place], frame.columns)
        if len(both) != 2:
            raise InputError(f"--place takes two columns, LAT,LON, not {place!r}")
        return Sphere.from_degrees(*(numbers(frame, name) for name in both)), Sphere()
    chosen = common.names(columns, frame.columns)
    twice = [name for name in dict.fromkeys(chosen) if chosen.count(name) > 1]
    if twice:
        raise InputError(f"--column names {twice[0]!r} twice")
    return np.column_stack([numbers(frame, name) for name in chosen]), Euclidean()


def metres(
    X: NDArray[np.float64], quantizer: Quantizer | LevelQuantizer, labels: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the mean and the largest distance of places from their centroids, in metres along the globe."""
    from voronym.evaluate.ways import metres_between

    ways = metres_between(X, quantizer.centroids[labels])
    return float(ways.mean()), float(ways.max())


def far(
    X: NDArray[np.float64], quantizer: Quantizer | LevelQuantizer, labels: NDArray[np.int64]
) -> dict[str, float]:
    """Return the distance of points from their centroids: in metres for places, otherwise the mean cost."""
    import numpy as np

    if quantizer.space.name == "sphere":
        mean, most = metres(X, quantizer, labels)
        return {"mean_metres": mean, "largest_metres": most}
    return {"distortion": float(np.mean(quantizer.space.paired(X, quantizer.centroids, labels)))}


def check_map(path: Path | None) -> None:
    """Refuse a map file that does not end in .svg."""
    if path is not None and path.suffix.lower() != ".svg":
        named = path.with_suffix(".svg").name
        raise InputError(f"a map is written as SVG: call the file {named!r}, not {path.name!r}")


def flat(path: Path | None, X: NDArray[np.float64], space: Space) -> NDArray[np.float64]:
    """Return points in map order, x before y; refuse points that cannot be drawn, before the work is done."""
    import numpy as np

    from voronym.space import Sphere

    if space.name == "sphere":
        latitude, longitude = Sphere.to_degrees(X)
        return np.column_stack([longitude, latitude])
    if path is not None and X.shape[1] != 2:
        raise InputError("a map has two coordinates: give two columns, or --place LAT,LON")
    return X


def write_map(
    path: Path | None, shown: NDArray[np.float64], quantizer: Quantizer, title: str, *, first: int = 0
) -> None:
    """Write a map of the cells around the first places, if a path is given.

    Parameters
    ----------
    path : Path, optional
        The file.
    shown : array, shape (n, 2)
        Points that must be on the map, as returned by `flat`.
    quantizer : Quantizer
        The cells.
    title : str
        Title of the map.
    first : int
        The number of the first cell.
    """
    if path is None:
        return
    import numpy as np

    from voronym.quantize.picture import cell_map

    low, high = shown.min(axis=0), shown.max(axis=0)
    room = 0.05 * np.where(high > low, high - low, 1.0)
    low, high = low - room, high + room
    if quantizer.space.name == "sphere":
        low, high = np.maximum(low, [-180.0, -90.0]), np.minimum(high, [180.0, 90.0])
    box = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
    path.write_text(cell_map(quantizer, box, title=title, first=first), encoding="utf-8")


def count(number: int, word: str) -> str:
    """Return a number with its noun, in the singular or plural.

    Examples
    --------
    >>> count(1, "cell"), count(1200, "place")
    ('1 cell', '1,200 places')
    """
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def between(least: float, most: float) -> str:
    """Return a range of sizes in words; one number if both ends are equal.

    Examples
    --------
    >>> between(3, 3), between(3, 4.5)
    ('3', '3 to 4.5')
    """
    return f"{least:,.6g}" if least == most else f"{least:,.6g} to {most:,.6g}"
