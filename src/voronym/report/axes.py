"""The common frame of all drawings: two axes, their ticks and names, and marks placed by value.

An `Axis` maps values to shares of its length. `Axes` joins two of them to a drawing: bars, lines, dots and
texts are given in values and become SVG in its units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from voronym.report.svg import (
    FONT,
    date_ticks,
    line,
    num,
    path,
    picture,
    rect,
    shorten,
    text,
    tick_labels,
    ticks,
)
from voronym.report.svg import width as text_width

WIDE = 380.0
"""Width of a drawing in units: text stays readable on a phone, and a wide page shows several drawings in a
row.
"""
NARROW = 300.0
Shape = Literal["linear", "log", "root"]
Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``, with ticks; ``bands`` are equal places for names, in order."""

    low: float
    high: float
    marks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    name: str = ""
    shape: Shape = "linear"
    bands: bool = False
    clip: bool = False
    """Whether values beyond the ends are drawn at the border."""

    @classmethod
    def numbers(
        cls,
        low: float,
        high: float,
        *,
        count: int = 5,
        name: str = "",
        unit: str = "",
        whole: bool = False,
        dates: bool = False,
        shape: Shape = "linear",
        at: Sequence[float] | None = None,
    ) -> Axis:
        """Return an axis of numbers, or of seconds since 1970 if ``dates``; ``at`` are given ticks."""
        if dates:
            marks, labels = date_ticks(low, high, count)
            return cls(low, high, tuple(marks), tuple(labels), name)
        if at is None:
            rounds = {"log": log_ticks, "root": root_ticks}
            at = rounds[shape](low, high) if shape in rounds else ticks(low, high, count, whole=whole)
            labels = tick_labels(at, unit=unit) if shape == "linear" else [f"{v:,g}{unit}" for v in at]
        else:
            labels = [f"{v:,g}{unit}" for v in at]
        return cls(low, high, tuple(at), tuple(labels), name, shape)

    @classmethod
    def of_names(cls, names: Sequence[str], *, name: str = "", least: int = 0) -> Axis:
        """Return an axis of equal bands, at least a given number."""
        places = tuple(i + 0.5 for i in range(len(names)))
        return cls(0.0, float(max(len(names), least, 1)), places, tuple(names), name, bands=True)

    @classmethod
    def around(cls, values: Iterable[float], name: str = "", *, far: float = 0.15, core: float = 0.5) -> Axis:
        """Return an axis over nearly all values, so that a few outliers do not squeeze the others."""
        all_of = np.fromiter(values, float)
        low, high = float(all_of.min()), float(all_of.max())
        if len(all_of) > 200:
            inner, outer = np.percentile(all_of, [core, 100 - core])
            room = far * (outer - inner if outer > inner else 1.0)
            low, high = max(low, float(inner - room)), min(high, float(outer + room))
        return cls(low, high, name=name, clip=True)

    def share(self, value: float) -> float:
        """Return the position of a value: 0 at the low end, 1 at the high; the middle if they are equal."""
        if self.high == self.low:
            return 0.5
        if self.clip:
            value = min(max(value, self.low), self.high)
        if self.shape == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        if self.shape == "root":
            return math.sqrt(max(value, 0.0) / self.high)
        return (value - self.low) / (self.high - self.low)


class Axes:
    """A drawing over two axes.

    Parameters
    ----------
    x, y : Axis
        Across, and up; bands on ``y`` go down, so that the first name is on top.
    width, height : float
        Size of the whole drawing.
    top, right, bottom : float
        Room around the plot.
    left : float, optional
        Left margin; by default as wide as the labels of ``y``.
    inset : float
        Room between the vertical axis and the lowest value across.
    """

    def __init__(
        self,
        x: Axis,
        y: Axis,
        *,
        width: float = WIDE,
        height: float,
        top: float = 10.0,
        right: float = 8.0,
        bottom: float = 22.0,
        left: float | None = None,
        inset: float = 0.0,
    ) -> None:
        self.across, self.up = x, y
        self.width, self.height = width, height
        self.top, self.bottom = top, height - bottom
        self.left = 10 + max(map(text_width, y.labels), default=0.0) if left is None else left
        self.start, self.right = self.left + inset, width - right
        self.body: list[str] = []

    def x(self, value: float) -> float:
        """Return the coordinate of a value across."""
        return self.start + self.across.share(value) * (self.right - self.start)

    def y(self, value: float) -> float:
        """Return the coordinate of a value up."""
        share = self.up.share(value)
        if self.up.bands:
            return self.top + share * (self.bottom - self.top)
        return self.bottom - share * (self.bottom - self.top)

    def at(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return the coordinates of points."""
        return [(self.x(a), self.y(b)) for a, b in points]

    def add(self, *parts: str) -> None:
        """Add drawn parts."""
        self.body.extend(parts)

    # -- the frame -----------------------------------------------------------------------------------------

    def grid(self, end: float | None = None) -> Axes:
        """Draw lines and labels at the ticks up, the base line, labels across, and both names."""
        end = self.width - 4 if end is None else end
        for mark in self.up.marks:
            if self.y(mark) < self.bottom - 0.05:
                self.add(line(self.left, self.y(mark), end, self.y(mark), "ax" if mark == 0 else "g"))
        self.add(line(self.left, self.bottom, end, self.bottom, "ax"))
        self.ticks()
        if self.across.name:
            self.add(text((self.left + self.right) / 2, self.bottom + 30, self.across.name, "t", "middle"))
        if self.up.name:
            self.add(text(2, 10, self.up.name, "t"))
        return self

    def columns(self) -> Axes:
        """Draw lines and labels only for the horizontal axis, for rows that have names."""
        self.add(*(line(self.x(m), self.top, self.x(m), self.bottom) for m in self.across.marks))
        self.labels_across(self.bottom + 15)
        return self

    def ticks(self) -> Axes:
        """Write labels at the ticks of both axes, without lines: for a framed plane."""
        for mark, label in zip(self.up.marks, self.up.labels, strict=True):
            self.add(text(self.left - 4, self.y(mark) + 4, label, "t q", "end"))
        self.labels_across(self.bottom + 15)
        return self

    def panel(self) -> Axes:
        """Draw a plain background for places, with the names of the axes below."""
        size = f'width="{num(self.width - 2)}" height="{num(self.height - 20)}"'
        self.add(f'<rect class="p" x="1" y="1" {size} rx="3"/>')
        self.add(text(self.width - 4, self.height - 5, f"{self.across.name} →", "t", "end"))
        self.add(text(4, self.height - 5, f"↑ {self.up.name}", "t"))
        return self

    def labels_across(self, y: float) -> None:
        """Write labels under the axis, and skip labels that would touch the one before."""
        free = -math.inf
        for mark, label in zip(self.across.marks, self.across.labels, strict=True):
            half = text_width(label) / 2
            at = min(max(self.x(mark), half + 1), self.right + 8 - half)
            if at - half >= free:
                self.add(text(at, y, label, "t q", "middle"))
                free = at + half + FONT * 0.5

    def names(self, row: float) -> None:
        """Write the names of bands at their left, cut to fit, and the base line."""
        room = self.left - 10
        for i, name in enumerate(self.up.labels):
            self.add(text(room + 4, self.y(i) + row / 2 + 3, shorten(name, room + 1), "t", "end", name))
        self.add(line(self.start, self.top - 2, self.start, self.bottom, "ax"))

    def limit(self, value: float, words: str) -> None:
        """Mark a value across by a line, and write its label below."""
        at, half = self.x(value), text_width(words) / 2
        self.add(line(at, 2, at, self.bottom + 4, "k"))
        side = min(max(at, max(self.start, 4) + half), self.width - half - 4)
        self.add(text(side, self.bottom + 17, words, "t w", "middle"))

    def threshold(self, value: float, words: str) -> None:
        """Mark a value across by a line, and write its label above."""
        at = self.x(value)
        self.add(line(at, 14, at, self.bottom, "k"))
        near = at < self.left + max(20.0, text_width(words) / 2)
        self.add(text(at, 10, words, "t w", "start" if near else "middle"))

    # -- marks ---------------------------------------------------------------------------------------------

    def pillar(
        self, low: float, high: float, value: float, look: str, hint: str = "", gap: float = 0.3
    ) -> None:
        """Draw a vertical bar on the base line, from ``low`` to ``high`` across."""
        if value > 0:
            x0, x1 = self.x(low), self.x(high)
            self.add(
                rect(x0 + gap, self.y(value), x1 - x0 - 2 * gap, self.bottom - self.y(value), look, hint)
            )

    def bar(self, low: float, high: float, top: float, tall: float, look: str, hint: str = "") -> None:
        """Draw a horizontal bar from ``low`` to ``high`` across, at height ``top``."""
        self.add(rect(self.x(low), top, self.x(high) - self.x(low), tall, look, hint))

    def curve(self, points: Pairs, look: str, *, closed: bool = False) -> None:
        """Draw a line through points."""
        self.add(path(self.at(points), look, closed=closed))

    def draw(self, title: str, desc: str = "") -> Markup:
        """Return the drawing as SVG; the table next to it has the figures."""
        return picture(
            self.width, self.height, self.body, title=title, desc=desc or "The table has the figures."
        )


def name_room(names: Sequence[str], most: float) -> float:
    """Return the space that names need at the left of their rows, with a gap."""
    return min(max((text_width(name) for name in names), default=0.0), most) + 10


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten inside a range; only powers if there are many.

    Examples
    --------
    >>> log_ticks(0.3, 30)
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    result = [float(f"{f}e{p}") for p in range(first, last + 1) for f in factors]
    return [v for v in result if low <= v <= high]


def root_ticks(low: float, high: float) -> list[float]:
    """Return round numbers from zero up to an end, about evenly spaced by their roots.

    Examples
    --------
    >>> root_ticks(0.0, 26.0)
    [0.0, 2.0, 5.0, 10.0, 20.0]
    """
    out, last = [low], math.inf
    rounds = [float(f"{f}e{p}") for p in range(-2, 6) for f in (1, 2, 5)]
    for value in sorted((v for v in rounds if v <= high), reverse=True):
        at = math.sqrt(value / high)
        if last - at >= 0.14 and at >= 0.1:
            out.append(value)
            last = at
    return sorted(out)
