"""The plane of distortion and risk as a drawing: measured points, the limits beside them, both ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from voronym.report.svg import (
    FONT,
    Scale,
    line,
    marker,
    path,
    picture,
    shorten,
    text,
    tick_labels,
    ticks,
    width,
)

WIDE = 380.0
ROW = 14.0
_AXIS = "information loss, % of the keys’ variance"
Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Dot:
    """A measured point: loss in percent, risk in nats, its interval if there is one, a few words."""

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


class RootScale(Scale):
    """A scale of square roots from zero: small losses stand apart, and root mean squared errors are even."""

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value, 0 or more."""
        return self.start + math.sqrt(max(value, 0.0) / self.high) * (self.stop - self.start)


LOOKS = {"floor": "no", "reached": "re", "normal": "nd", "miub": "mi"}


def risk_plane(
    series: Mapping[str, Sequence[Dot]],
    lines: Sequence[Line],
    *,
    title: str,
    desc: str,
    limits: tuple[float, float],
    labels: Sequence[tuple[float, float, str]] = (),
    joined: bool = True,
    root: bool = False,
) -> str:
    """Draw points and limits; names stand below, so that the plane has the whole width.

    Parameters
    ----------
    series : mapping of name to dots
        Points of one method, joined in the order of loss where ``joined``.
    lines : sequence of Line
        Limits; a look of ``no`` fills what is below the line.
    limits : (float, float)
        The right and the upper end of the axes; lines are cut off there.
    labels : sequence of (loss, risk, words)
        Words beside a place of the plane.
    root : bool
        Whether losses are drawn by their square roots.

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
    names = [(one.name, one.look, -1) for one in lines]
    names += [(name, "", i) for i, name in enumerate(series)]
    places, rows = _legend(names)
    plot, h = 262.0, 262.0 + 40 + ROW * rows
    marks = ticks(0, top, 5)
    written = tick_labels(marks)
    left = 10 + max(map(width, written))
    x = (RootScale if root else Scale)(0, right, left + 2, WIDE - 12)
    y = Scale(0, top, plot, 22)
    body = [line(left, y(m), WIDE - 6, y(m)) for m in marks if m > 0]
    for one in lines:
        cut = [(x(a), y(b)) for a, b in _cut(one.points, right, top)]
        if one.look == "no" and cut:
            cut = [(cut[0][0], y(0)), *cut, (cut[-1][0], y(0))]
        if len(cut) > 1:
            body.append(path(cut, one.look, closed=one.look == "no"))
    body += [text(left - 4, y(m) + 4, label, "t q", "end") for m, label in zip(marks, written, strict=True)]
    body.append(line(left, y(0), WIDE - 6, y(0), "ax"))
    body += _across(x, _root_ticks(right) if root else ticks(0, right, 5), plot + 15)
    body.append(text((left + WIDE) / 2, plot + 30, _AXIS + (", root scale" if root else ""), "t", "middle"))
    body.append(text(2, 11, "risk, nats", "t"))
    body += _dots(series, x, y, joined)
    for a, b, words in labels:
        half = width(words) / 2
        at = min(max(x(a), left + half + 2), WIDE - half - 6)
        body.append(text(at, max(y(b) - 9, 20.0), words, "t s", "middle"))
    for (name, look, i), (a, row) in zip(names, places, strict=True):
        at = plot + 44 + ROW * row
        if i >= 0:
            body.append(marker(i, a + 8, at, 3.2))
        elif look == "no":
            body.append(f'<rect class="no" x="{a:.1f}" y="{at - 4:.1f}" width="16" height="8"/>')
        else:
            body.append(line(a, at, a + 17, at, look))
        body.append(text(a + 22, at + 4, shorten(name, WIDE - a - 26), "t s", hint=name))
    return picture(WIDE, h, body, title=title, desc=desc)


def _dots(series: Mapping[str, Sequence[Dot]], x: Scale, y: Scale, joined: bool) -> list[str]:
    out = []
    for i, own in enumerate(series.values()):
        kept = sorted(own, key=lambda dot: dot.loss)
        if joined and len(kept) > 1:
            out.append(path([(x(d.loss), y(d.risk)) for d in kept], f"z c{i % 8}"))
        for dot in kept:
            if dot.interval is not None:
                low, high = (y(v) for v in dot.interval)
                spot = x(dot.loss)
                marks = f"M{spot:.1f} {low:.1f}V{high:.1f}"
                marks += "".join(f"M{spot - 3:.1f} {end:.1f}h6" for end in (low, high))
                out.append(f'<path class="iv c{i % 8}" d="{marks}"/>')
    for i, (name, own) in enumerate(series.items()):
        for dot in own:
            between = "" if dot.interval is None else f" ({dot.interval[0]:.3g} to {dot.interval[1]:.3g})"
            words = f"{name}{', ' if dot.words else ''}{dot.words}"
            hint = f"{words}: loss {dot.loss:.3g} %, risk {dot.risk:.3g} nats{between}"
            out.append(marker(i, x(dot.loss), y(dot.risk), 4.0, hint=hint))
    return out


def _across(x: Scale, values: Sequence[float], at: float) -> list[str]:
    out, free = [], -math.inf
    even = isinstance(x, RootScale)
    for value, label in zip(values, [f"{v:g}" for v in values] if even else tick_labels(values), strict=True):
        half = width(label) / 2
        if x(value) - half >= free:
            out.append(text(x(value), at, label, "t q", "middle"))
            free = x(value) + half + FONT * 0.5
    return out


def _root_ticks(high: float) -> list[float]:
    """Return round numbers up to an end, about evenly spaced by their roots.

    Examples
    --------
    >>> _root_ticks(26)
    [0.0, 2.0, 5.0, 10.0, 20.0]
    """
    out, last = [0.0], math.inf
    rounds = [float(f"{f}e{p}") for p in range(6) for f in (1, 2, 5)] + [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    for value in sorted((v for v in rounds if v <= high), reverse=True):
        at = math.sqrt(value / high)
        if last - at >= 0.14 and at >= 0.1:
            out.append(value)
            last = at
    return sorted(out)


def _legend(names: Sequence[tuple[str, str, int]]) -> tuple[list[tuple[float, int]], int]:
    """Return where each name goes: limits on a row each, methods as many to a row as fit."""
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
