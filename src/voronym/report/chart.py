"""Curves over axes that may be logarithmic: published ones hollow and dashed, ours filled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from voronym.report.svg import (
    FONT,
    MARKERS,
    Scale,
    escape,
    line,
    path,
    picture,
    shorten,
    spread,
    text,
    tick_labels,
    ticks,
    width,
)

WIDE = 380.0
HIGH = 270.0


@dataclass(frozen=True)
class Series:
    """A curve to draw: its name, its points, whether somebody else published it, whether it is a line."""

    name: str
    points: Sequence[tuple[float, float]]
    published: bool = False
    joined: bool = True


class LogScale(Scale):
    """A scale of logarithms."""

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value above zero."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.stop - self.start)


def chart(
    series: Sequence[Series],
    *,
    title: str,
    desc: str = "",
    x_name: str,
    y_name: str,
    log: str = "",
    zero: bool = True,
) -> str:
    """Draw curves, each named at its right end.

    Parameters
    ----------
    series : sequence of Series
        Points that are not finite, or not above zero on a logarithmic axis, are left out.
    log : str
        Axes with logarithmic scales: any of "x", "y", "xy".
    zero : bool
        Whether a linear y axis includes zero.

    Examples
    --------
    >>> drawn = chart([Series("ours", [(1, 2.0), (2, 1.0)])], title="t", x_name="k", y_name="loss")
    >>> drawn.count('class="l c0"'), ">ours<" in drawn
    (1, True)
    """
    kept = [(one, _usable(one.points, log)) for one in series]
    every = [p for _, own in kept for p in own] or [(1.0, 1.0)]
    room = min(max((width(one.name) for one, _ in kept), default=0.0), 120.0) + 24
    top, bottom = 24.0, HIGH - 36
    y, y_marks, y_labels = _axis([b for _, b in every], bottom, top, "y" in log, zero=zero, few=[])
    left = 10 + max((width(label) for label in y_labels), default=0.0)
    places = sorted({a for a, _ in every})
    x, x_marks, x_labels = _axis([a for a, _ in every], left + 8, WIDE - room, "x" in log, few=places)
    body = []
    for mark, label in zip(y_marks, y_labels, strict=True):
        body.append(line(left, y(mark), WIDE - room + 6, y(mark), "ax" if mark == 0 else "g"))
        body.append(text(left - 4, y(mark) + 4, label, "t q", "end"))
    body.append(line(left, bottom, WIDE - room + 6, bottom, "ax"))
    free = -math.inf
    for mark, label in zip(x_marks, x_labels, strict=True):
        half = width(label) / 2
        if x(mark) - half >= free:
            body.append(line(x(mark), bottom, x(mark), bottom + 3, "ax"))
            body.append(text(x(mark), HIGH - 20, label, "t q", "middle"))
            free = x(mark) + half + FONT * 0.5
    body.append(text((left + WIDE - room) / 2, HIGH - 4, x_name, "t", "middle"))
    body.append(text(2, 11, y_name, "t"))
    ends = spread([y(own[-1][1]) if own else top for _, own in kept], 14, top, bottom)
    for i, (one, own) in enumerate(kept):
        if own and one.joined:
            body.append(path([(x(a), y(b)) for a, b in own], f"{'lp' if one.published else 'l'} c{i % 8}"))
        if own:
            start = (x(own[-1][0]) + 5, y(own[-1][1]))
            body.append(path([start, (WIDE - room + 8, ends[i])], f"z c{i % 8}"))
        body.append(_mark(i, WIDE - room + 13, ends[i], one.published))
        name = shorten(one.name, room - 22)
        body.append(text(WIDE - room + 21, ends[i] + 4, name, "t s", hint=one.name))
    for i, (one, own) in enumerate(kept):
        if len(own) > 30 and one.joined:  # a line of so many points needs no marks
            continue
        for a, b in own:
            body.append(_mark(i, x(a), y(b), one.published, f"{one.name}: {x_name} {a:g}, {y_name} {b:.4g}"))
    return picture(WIDE, HIGH, body, title=title, desc=desc)


def _usable(points: Sequence[tuple[float, float]], log: str) -> list[tuple[float, float]]:
    def fits(value: float, axis: str) -> bool:
        return math.isfinite(value) and (value > 0 or axis not in log)

    return sorted((float(a), float(b)) for a, b in points if fits(a, "x") and fits(b, "y"))


def _axis(
    values: Sequence[float],
    start: float,
    stop: float,
    log: bool,
    *,
    few: Sequence[float],
    zero: bool = False,
) -> tuple[Scale, list[float], list[str]]:
    """Return a scale over values, its ticks and their labels; a few distinct values are their own ticks."""
    low, high = min(values), max(values)
    if zero and not log:
        low, high = min(low, 0.0), max(high, 0.0)
    if not low < high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    if not few:  # room above and below the curves
        grow = 0.04 * (high - low)
        low, high = (
            (low / 1.1, high * 1.1)
            if log
            else (low - grow if low < 0 or not zero else low, high + grow if high > 0 or not zero else high)
        )
    scale = (LogScale if log else Scale)(low, high, start, stop)
    if 0 < len(few) <= 10:
        return scale, list(few), [f"{v:,g}" for v in few]
    marks = log_ticks(low, high) if log else ticks(low, high, 5)
    return scale, marks, [f"{v:,g}" for v in marks] if log else tick_labels(marks)


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten inside a range; powers alone where there are many.

    Examples
    --------
    >>> log_ticks(0.3, 30)
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    found = [float(f"{f}e{p}") for p in range(first, last + 1) for f in factors]
    return [v for v in found if low <= v <= high]


def _mark(series: int, x: float, y: float, published: bool, hint: str = "") -> str:
    title = f"<title>{escape(hint)}</title>" if hint else ""
    shape = MARKERS[series % len(MARKERS)](x, y, 3.2)
    return f'<path class="{"mp" if published else "m"} c{series % 8}" d="{shape}">{title}</path>'
