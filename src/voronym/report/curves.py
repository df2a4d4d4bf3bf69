"""Drawings of curves: losses against k, figures of papers, and the plane of loss and risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from voronym.report.axes import WIDE, Axes, Axis, Pairs, Shape
from voronym.report.svg import line, marker, rect, shorten, spread, text, width

HIGH = 270.0
ROW = 14.0
LABEL = 150.0  # room for the names of curves, at most
_MANY = 30  # a line of more points needs no marks
_LOSS = "information loss, % of the keys’ variance"


@dataclass(frozen=True)
class Series:
    """A curve to draw: its name, its points, whether it comes from a publication, whether it is a line."""

    name: str
    points: Pairs
    published: bool = False
    joined: bool = True
    words: Sequence[str] = ()
    """A word for each point, written once above the highest point with that word."""


def chart(
    series: Sequence[Series],
    *,
    title: str,
    desc: str = "",
    x_name: str,
    y_name: str,
    log: str = "",
    zero: str = "y",
) -> Markup:
    """Draw curves with their names at the right ends; published curves are hollow and dashed, ours filled.

    Parameters
    ----------
    series : sequence of Series
        Points that are not finite, or not above zero on a logarithmic axis, are left out.
    log : str
        Axes with logarithmic scales: any of "x", "y", "xy".
    zero : str
        Linear axes that include zero: any of "x", "y", "xy".

    Examples
    --------
    >>> drawn = chart([Series("ours", [(1, 2.0), (2, 1.0)])], title="t", x_name="k", y_name="loss")
    >>> drawn.count('class="l c0"'), ">ours<" in drawn
    (1, True)
    """
    kept = [_usable(item, log) for item in series]
    every = [(a, b) for own in kept for a, b, _ in own] or [(1.0, 1.0)]
    room = min(max((width(element.name) for element in series), default=0.0), LABEL) + 24
    places = sorted({a for a, _ in every})
    few = places if len(places) <= 10 and any(member.joined for member in series) else None
    axes = Axes(
        _axis([a for a, _ in every], x_name, "x" in log, zero="x" in zero, at=few, grow=0.0),
        _axis([b for _, b in every], y_name, "y" in log, zero="y" in zero),
        height=max(HIGH, 60 + ROW * len(series)),
        top=24,
        right=room,
        bottom=36,
        inset=8,
    ).grid(WIDE - room + 6)
    led = [bool(own) and (entry.joined or len(own) == 1) for entry, own in zip(series, kept, strict=True)]
    wanted = [axes.y(own[-1][1]) if has else axes.top for own, has in zip(kept, led, strict=True)]
    ends = spread(wanted, ROW, axes.top, axes.bottom)
    for i, (curve, own) in enumerate(zip(series, kept, strict=True)):
        if curve.joined and len(own) > 1:
            axes.curve([p[:2] for p in own], f"{'lp' if curve.published else 'l'} c{i % 8}")
        if led[i]:
            start = (axes.x(own[-1][0]) + 5, axes.y(own[-1][1]))
            axes.add(line(*start, WIDE - room + 8, ends[i], f"z c{i % 8}"))
        axes.add(marker(i, WIDE - room + 13, ends[i], 3.2, look="mp" if curve.published else "m"))
        axes.add(text(WIDE - room + 21, ends[i] + 4, shorten(curve.name, room - 22), "t s", hint=curve.name))
    for i, (curve, own) in enumerate(zip(series, kept, strict=True)):
        for a, b, word in [] if len(own) > _MANY and curve.joined else own:
            hint = f"{curve.name}{', ' if word else ''}{word}: {x_name} {a:g}, {y_name} {b:.4g}"
            axes.add(marker(i, axes.x(a), axes.y(b), 3.3, hint, look="mp" if curve.published else "m"))
    highest = {
        word: max((p for own in kept for p in own if p[2] == word), key=lambda p: p[1])
        for word in sorted({p[2] for own in kept for p in own} - {""})
    }
    for word, (a, b, _) in highest.items():
        axes.add(text(axes.x(a), axes.y(b) - 8, word, "t q", "middle"))
    return axes.draw(title, desc)


def _usable(series: Series, log: str) -> list[tuple[float, float, str]]:
    def fits(value: float, axis: str) -> bool:
        return math.isfinite(value) and (value > 0 or axis not in log)

    words = series.words or [""] * len(series.points)
    result = [(float(a), float(b), word) for (a, b), word in zip(series.points, words, strict=True)]
    return sorted(p for p in result if fits(p[0], "x") and fits(p[1], "y"))


def _axis(
    values: Sequence[float],
    name: str,
    log: bool,
    *,
    zero: bool,
    at: Sequence[float] | None = None,
    grow: float = 0.04,
) -> Axis:
    """Return an axis over values, with room beyond them; a few distinct values become its ticks."""
    low, high = min(values), max(values)
    if zero and not log:
        low, high = min(low, 0.0), max(high, 0.0)
    if not low < high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    if grow and log:
        low, high = low / 1.1, high * 1.1
    elif grow:
        room = grow * (high - low)
        low, high = low - room if low < 0 or not zero else low, high + room if high > 0 or not zero else high
    return Axis.numbers(low, high, name=name, shape="log" if log else "linear", at=at)


@dataclass(frozen=True)
class Dot:
    """A measured point: loss in percent, risk in nats with an optional interval, and a note."""

    loss: float
    risk: float
    interval: tuple[float, float] | None = None
    words: str = ""


@dataclass(frozen=True)
class Line:
    """A limit to draw: its name, its look (a class of the style sheet), its points."""

    name: str
    look: str
    points: Pairs


def risk_plane(
    series: Mapping[str, Sequence[Dot]],
    lines: Sequence[Line],
    *,
    title: str,
    desc: str = "",
    limits: tuple[float, float],
    labels: Sequence[tuple[float, float, str]] = (),
    joined: bool = True,
    shape: Shape = "linear",
) -> Markup:
    """Draw points and limits, with the legend below, so that the plane has the whole width.

    Parameters
    ----------
    series : mapping of name to dots
        Points of one method; with ``joined``, connected in the order of loss.
    lines : sequence of Line
        Limits; the class ``no`` fills the area below the line.
    limits : (float, float)
        The right and the upper end of the axes; lines are cut off there.
    labels : sequence of (loss, risk, words)
        Labels at places of the plane.
    shape : {"linear", "root"}
        The scale of losses; a root scale separates small ones.

    Examples
    --------
    >>> drawn = risk_plane(
    ...     {"mdav": [Dot(5, 0.4, (0.3, 0.5), "k=3")]}, [Line("floor", "no", [(0, 0.3), (50, 0)])],
    ...     title="t", desc="", limits=(50, 0.5),
    ... )
    >>> drawn.count('class="m c0"'), drawn.count('class="no"')  # in the plane and in the legend
    (2, 2)
    """
    right, top = limits
    names = [(item.name, item.look, -1) for item in lines] + [(name, "", i) for i, name in enumerate(series)]
    places, rows = _legend(names)
    axes = Axes(
        Axis.numbers(0, right, name=_LOSS + (", root scale" if shape == "root" else ""), shape=shape),
        Axis.numbers(0, top, name="risk, nats"),
        height=302 + ROW * rows,
        top=22,
        right=12,
        bottom=40 + ROW * rows,
        inset=2,
    )
    axes.grid(WIDE - 6)
    for entry in lines:
        cut = _cut(entry.points, right, top)
        if entry.look == "no" and cut:
            cut = [(cut[0][0], 0.0), *cut, (cut[-1][0], 0.0)]
        if len(cut) > 1:
            axes.curve(cut, entry.look, closed=entry.look == "no")
    _dots(axes, series, joined)
    for a, b, words in labels:
        half = width(words) / 2
        at = min(max(axes.x(a), axes.left + half + 2), WIDE - half - 6)
        axes.add(text(at, max(axes.y(b) - 9, 20.0), words, "t s", "middle"))
    for (name, look, i), (a, row) in zip(names, places, strict=True):
        at = axes.bottom + 44 + ROW * row
        if i >= 0:
            axes.add(marker(i, a + 8, at, 3.2))
        else:
            axes.add(rect(a, at - 4, 16, 8, "no") if look == "no" else line(a, at, a + 17, at, look))
        axes.add(text(a + 22, at + 4, shorten(name, WIDE - a - 26), "t s", hint=name))
    return axes.draw(title, desc)


def _dots(axes: Axes, series: Mapping[str, Sequence[Dot]], joined: bool) -> None:
    for i, own in enumerate(series.values()):
        kept = sorted(own, key=lambda dot: dot.loss)
        if joined and len(kept) > 1:
            axes.curve([(dot.loss, dot.risk) for dot in kept], f"z c{i % 8}")
        for dot in kept:
            if dot.interval is not None:
                x, low, high = axes.x(dot.loss), *(axes.y(end) for end in dot.interval)
                ends = "".join(f"M{x - 3:.1f} {end:.1f}h6" for end in (low, high))
                axes.add(f'<path class="iv c{i % 8}" d="M{x:.1f} {low:.1f}V{high:.1f}{ends}"/>')
    for i, (name, own) in enumerate(series.items()):
        for dot in own:
            between = "" if dot.interval is None else f" ({dot.interval[0]:.3g} to {dot.interval[1]:.3g})"
            words = f"{name}{', ' if dot.words else ''}{dot.words}"
            hint = f"{words}: loss {dot.loss:.3g} %, risk {dot.risk:.3g} nats{between}"
            axes.add(marker(i, axes.x(dot.loss), axes.y(dot.risk), 4.0, hint))


def _legend(names: Sequence[tuple[str, str, int]]) -> tuple[list[tuple[float, int]], int]:
    """Return the place of each name: limits on a row each, as many methods per row as fit."""
    places, at, row = [], 4.0, 0
    for name, _, i in names:
        room = 22 + width(name) + 12
        if at > 4.0 and (i <= 0 or at + room > WIDE):
            at, row = 4.0, row + 1
        places.append((at, row))
        at += WIDE if i < 0 else room
    return places, row + 1


def _cut(points: Pairs, right: float, top: float) -> list[tuple[float, float]]:
    """Cut a falling line off at the upper and the right end of the plane."""
    out: list[tuple[float, float]] = []
    for (a, b), (c, d) in pairwise(points):
        if a >= right:
            break
        if b > top >= d:  # it comes into sight
            a, b = a + (c - a) * (b - top) / (b - d), top
        if b <= top:
            if not out:
                out.append((a, b))
            if c > right:
                c, d = right, b + (d - b) * (right - a) / (c - a)
            out.append((c, min(d, top)))
    return out
