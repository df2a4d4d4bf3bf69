"""A surface over the plane, drawn from above: the darker, the higher."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from voronym.report.axes import Axes, Axis
from voronym.report.svg import num, rect, text

SHADES = 10
_SIDE = 340.0


def surface(
    values: ArrayLike,
    *,
    bounds: tuple[float, float, float, float],
    top: float,
    names: tuple[str, str],
    title: str,
    desc: str = "",
) -> Markup:
    """Draw values on a grid as shades, from none at 0 to full at ``top``; join equal neighbours to bars.

    Parameters
    ----------
    values : array, shape (rows, columns)
        The first row is the lowest.
    bounds : (left, bottom, right, top)
        Ends of the grid.
    top : float
        The value of the darkest shade.
    names : (str, str)
        Names of the axes, across and up.

    Examples
    --------
    >>> drawn = surface([[0.0, 0.0, 1.0]], bounds=(0, 0, 3, 1), top=1.0, names=("a", "b"), title="t")
    >>> drawn.count('class="hm"')
    1
    """
    grid = np.asarray(values, float)
    x0, y0, x1, y1 = bounds
    axes = Axes(
        Axis.numbers(x0, x1, count=4, name=names[0]),
        Axis.numbers(y0, y1, count=4, name=names[1]),
        width=_SIDE + 50,
        height=_SIDE + 40,
        top=16,
        right=10,
        bottom=24,
        left=40,
    )
    frame = (axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top)
    wide, tall = frame[2] / grid.shape[1], frame[3] / grid.shape[0]
    axes.add(rect(*frame, "p"))
    shades = np.ceil(SHADES * np.clip(grid / top, 0.0, 1.0) - 1e-9).astype(int)
    for row, own in enumerate(shades):
        y = frame[1] + frame[3] - (row + 1) * tall
        at = 0
        for shade, same in groupby(own.tolist()):
            count = len(list(same))
            if shade:
                place = f'x="{num(frame[0] + at * wide)}" y="{num(y)}" width="{num(count * wide)}"'
                look = (
                    f'height="{num(tall)}" fill-opacity="{shade / SHADES:.1f}" shape-rendering="crispEdges"'
                )
                axes.add(f'<rect class="hm" {place} {look}/>')
            at += count
    axes.add(rect(*frame, "pf"))
    axes.add(text(4, 11, names[1], "t"), text(axes.right, axes.height - 2, names[0], "t", "end"))
    axes.ticks()
    return axes.draw(title, desc)
