"""The report's figures: small pure functions, numbers in, one SVG string out.

Every drawing is at most 380 units wide, so that its text stays readable on a phone; a wide page shows several
side by side. Before is grey and after is blue throughout; marks differ in shape as well as in colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.report.columns import bin_sizes
from voronym.report.plane import cell_colours, hull
from voronym.report.svg import (
    FONT,
    Scale,
    date_ticks,
    line,
    marker,
    num,
    path,
    percent,
    picture,
    rect,
    shorten,
    spread,
    text,
    tick_labels,
    ticks,
    width,
)

WIDE = 380.0
NARROW = 300.0


def histogram_pair(
    edges: ArrayLike,
    before: ArrayLike | None,
    after: ArrayLike,
    *,
    title: str,
    desc: str = "",
    dates: bool = False,
) -> str:
    """Draw the counts of a column, after over before; both share the edges.

    Parameters
    ----------
    edges : array, shape (b + 1,)
        Limits of the bins, ascending; seconds since 1970 where ``dates``.
    before, after : array, shape (b,)
        Counts; ``before`` is left out of a public report.

    Examples
    --------
    >>> histogram_pair([0, 1, 2], [3, 1], [2, 2], title="age").count("<rect")
    4
    """
    at = np.asarray(edges, float)
    new = np.asarray(after, float)
    old = None if before is None else np.asarray(before, float)
    w, h = NARROW, 170.0
    top = max(float(new.max(initial=0)), 0.0 if old is None else float(old.max(initial=0)), 1.0)
    marks = ticks(0, top, 4, whole=True)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    x = Scale(float(at[0]), float(at[-1]), left, w - 10)
    y = Scale(0, top, h - 22, 10)
    body = _grid_y(y, marks, labels, left, w - 4)
    for i in range(len(new)):
        x0, x1 = x(at[i]), x(at[i + 1])
        if old is not None and old[i] > 0:
            body.append(rect(x0 + 0.3, y(old[i]), x1 - x0 - 0.6, y(0) - y(old[i]), "b"))
        if new[i] > 0:
            inset = 0.3 if old is None else (x1 - x0) * 0.22
            body.append(rect(x0 + inset, y(new[i]), x1 - x0 - 2 * inset, y(0) - y(new[i]), "a"))
    body.append(line(left, y(0), w - 4, y(0), "ax"))
    if dates:
        body += _labels_x(x, *date_ticks(at[0], at[-1], 4), h - 6)
    else:
        values = ticks(at[0], at[-1], 6)
        body += _labels_x(x, values, tick_labels(values), h - 6)
    return picture(w, h, body, title=title, desc=desc)


def bars(
    names: Sequence[str],
    before: Sequence[float] | None,
    after: Sequence[float],
    *,
    title: str,
    desc: str = "",
) -> str:
    """Draw categories as horizontal bars: after, with before above it where it is given.

    Examples
    --------
    >>> bars(["yes", "no"], None, [3, 4], title="smoker").count("<rect")
    2
    """
    w = NARROW
    row = 26.0 if before is not None else 20.0
    label = min(max((width(str(name)) for name in names), default=0.0), 120.0)
    top = max([1.0, *after, *(before or ())])
    shown = [_count(value) for value in after]
    x = Scale(0, top, label + 10, w - 8 - max(map(width, shown), default=0.0))
    body = []
    for i, name in enumerate(names):
        y = 4 + i * row
        body.append(text(label + 4, y + row / 2 + 2, shorten(name, label + 1), "t", "end", str(name)))
        if before is None:
            body.append(rect(x(0), y + 3, x(after[i]) - x(0), row - 8, "a"))
        else:
            body.append(rect(x(0), y + 2, x(before[i]) - x(0), 9, "b"))
            body.append(rect(x(0), y + 11, x(after[i]) - x(0), 9, "a"))
        end = max(x(after[i]), x(before[i]) if before is not None else 0)
        body.append(text(end + 4, y + row / 2 + 2, shown[i], "t q v"))
    body.append(line(x(0), 2, x(0), 4 + len(names) * row, "ax"))
    return picture(w, 8 + len(names) * row, body, title=title, desc=desc)


def loss_bars(
    names: Sequence[str], losses: Sequence[float], *, total: float | None, title: str, desc: str = ""
) -> str:
    """Draw the loss of each column in percent, with a line at the loss over all of them."""
    w, row = WIDE, 22.0
    label = min(max((width(str(name)) for name in names), default=0.0), 150.0)
    top = max([*losses, total or 0.0, 0.1])
    x = Scale(0, top, label + 10, w - 46)
    foot = 26.0 if total is not None else 6.0
    h = 6 + len(names) * row + foot
    body = []
    for i, (name, loss) in enumerate(zip(names, losses, strict=True)):
        y = 4 + i * row
        body.append(text(label + 4, y + 14, shorten(name, label + 1), "t", "end", str(name)))
        body.append(rect(x(0), y + 4, x(loss) - x(0), row - 8, "a"))
    bottom = 4 + len(names) * row
    body.append(line(x(0), 2, x(0), bottom, "ax"))
    if total is not None:
        body.append(line(x(total), 2, x(total), bottom + 4, "k"))
        words = f"all keys {percent(total, fine=True)}"
        at = min(max(x(total), x(0) + width(words) / 2), w - width(words) / 2 - 4)
        body.append(text(at, bottom + 17, words, "t w", "middle"))
    for i, loss in enumerate(losses):  # after the line, so that it does not cross them
        body.append(text(x(loss) + 5, 18 + i * row, percent(loss), "t q e"))
    return picture(w, h, body, title=title, desc=desc)


def size_histogram(sizes: Mapping[int, int], *, k: int | None, title: str, desc: str = "") -> str:
    """Draw how many cells there are of each size, with a line at k.

    Examples
    --------
    >>> "k = 5" in size_histogram({5: 10, 6: 2}, k=5, title="sizes")
    True
    """
    w, h = WIDE, 190.0
    bins = bin_sizes(sizes)
    top = float(max(b.cells for b in bins)) or 1.0
    marks = ticks(0, top, 3, whole=True)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    x = Scale(0, max(len(bins), 6), left + 4, w - 8)
    y = Scale(0, top, h - 34, 22)
    body = _grid_y(y, marks, labels, left, w - 4)
    for i, b in enumerate(bins):
        gap = min(2.0, (x(1) - x(0)) * 0.1)
        if b.cells:
            bar = (x(i) + gap, y(b.cells), x(i + 1) - x(i) - 2 * gap, y(0) - y(b.cells))
            body.append(rect(*bar, "a", f"{b.label} records: {b.cells:,} cells"))
    body.append(line(left, y(0), w - 4, y(0), "ax"))
    body += _labels_x(x, [i + 0.5 for i in range(len(bins))], [b.label for b in bins], h - 19)
    body.append(text((left + w) / 2, h - 4, "records in the cell", "t", "middle"))
    if k is not None:
        at = x(sum(b.high < k for b in bins))
        body.append(line(at, 14, at, y(0), "k"))
        body.append(text(at, 10, f"k = {k}", "t w", "start" if at < left + 20 else "middle"))
    return picture(w, h, body, title=title, desc=desc)


def scatter_cells(
    points: ArrayLike | None,
    labels: ArrayLike | None,
    centroids: ArrayLike,
    sizes: ArrayLike,
    *,
    title: str,
    desc: str = "",
    axes: tuple[str, str] = ("first axis", "second axis"),
    most_hulls: int = 200,
) -> str:
    """Draw records as dots, their cells as tinted hulls and the published centroids as rings.

    Parameters
    ----------
    points : array, shape (s, 2), optional
        The records to show; none in a public report.
    labels : array of int, shape (s,), optional
        Cell of each record shown.
    centroids : array, shape (m, 2)
        Cells to show; a ring's area grows with the size of the cell where no records are shown.
    sizes : array of int, shape (m,)
        Number of records in each cell.
    """
    w, h, pad = WIDE, 340.0, 12.0
    middle = np.asarray(centroids, float).reshape(-1, 2)
    dots = np.empty((0, 2)) if points is None else np.asarray(points, float).reshape(-1, 2)
    x, y = _plane(np.vstack([dots, middle]), w, h - 18, pad)
    body = [f'<rect class="p" x="1" y="1" width="{num(w - 2)}" height="{num(h - 20)}" rx="3"/>']
    if points is not None and labels is not None:
        own = np.asarray(labels)
        shown, place = np.unique(own, return_inverse=True)
        groups = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
        colours = cell_colours(middle, shown)
        if len(shown) <= most_hulls:
            for cell, members in zip(shown, groups, strict=True):
                drawn = np.array([(x(a), y(b)) for a, b in dots[members]])
                corners = [(float(a), float(b)) for a, b in hull(np.round(drawn, 1))]
                body.append(path(corners, f"h c{colours[int(cell)]}", closed=True))
        for cell, members in zip(shown, groups, strict=True):
            spots = "".join(f"M{num(x(a))} {num(y(b))}h0" for a, b in dots[members])
            body.append(f'<path class="d c{colours[int(cell)]}" d="{spots}"/>')
    largest = float(np.max(sizes, initial=1))
    for (a, b), size in zip(middle, np.asarray(sizes, float), strict=True):
        grow = 5.0 if largest > 3 else 0.8  # hardly any are shared: many small ones
        radius = 1.8 if points is not None else 1.6 + grow * math.sqrt(size / largest)
        body.append(
            f'<circle class="{"o" if points is not None else "u"}" cx="{num(x(a))}" cy="{num(y(b))}" '
            f'r="{num(radius)}"/>'
        )
    body.append(text(w - 4, h - 5, f"{axes[0]} →", "t", "end"))
    body.append(text(4, h - 5, f"↑ {axes[1]}", "t"))
    return picture(w, h, body, title=title, desc=desc)


def dot_ranges(
    rows: Sequence[tuple[str, float | None, float | None, tuple[float, float] | None]],
    *,
    title: str,
    desc: str = "",
    limits: tuple[float, float] = (0.0, 100.0),
    unit: str = "",
    limit: tuple[float, str] | None = None,
    hints: tuple[str, str] = ("before", "after"),
) -> str:
    """Draw figures before and after as two dots on a line, with an interval about the second.

    Parameters
    ----------
    rows : sequence of (label, before, after, interval)
        ``None`` where a figure is not known.
    limits : (float, float)
        Both ends of the axis.
    limit : (float, str), optional
        A value to mark by a line, and what to write beside it.
    hints : (str, str)
        What the two dots are.
    """
    w, row = WIDE, 40.0
    x = Scale(*limits, 14, w - 30)
    h = len(rows) * row + 24 + (16 if limit else 0)
    marks = ticks(*limits, 5)
    body = [line(x(m), 4, x(m), h - 20) for m in marks]
    body += _labels_x(x, marks, tick_labels(marks, unit=unit), h - 5)
    if limit is not None:
        at, words = x(limit[0]), limit[1]
        body.append(line(at, 4, at, len(rows) * row + 6, "k"))
        side = min(max(at, width(words) / 2 + 4), w - width(words) / 2 - 4)
        body.append(text(side, len(rows) * row + 17, words, "t w", "middle"))
    for i, (label, before, after, interval) in enumerate(rows):
        y = i * row + 30
        body.append(text(8, y - 12, shorten(label, w - 20), "t s", hint=label))
        if before is not None and after is not None:
            body.append(line(x(before), y, x(after), y, "r"))
        if interval is not None:
            body.append(line(x(interval[0]), y, x(interval[1]), y, "i"))
            body += [line(x(end), y - 4, x(end), y + 4, "i") for end in interval]
        if before is not None:
            body.append(
                f'<circle class="b" cx="{num(x(before))}" cy="{num(y)}" r="5">'
                f"<title>{hints[0]}</title></circle>"
            )
        if after is not None:
            body.append(
                f'<circle class="a" cx="{num(x(after))}" cy="{num(y)}" r="4">'
                f"<title>{hints[1]}</title></circle>"
            )
    return picture(w, h, body, title=title, desc=desc)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    desc: str = "",
    x_name: str,
    y_name: str,
    joined: bool = True,
    notes: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Draw series of points, joined or not, each named at its end: loss against k, loss against risk.

    Parameters
    ----------
    series : mapping of name to (x, y) pairs
        Not-finite pairs are left out.
    notes : mapping of name to one word per point, optional
        Written beside the points, such as ``"k=3"``.
    """
    kept: dict[str, list[tuple[float, float, str]]] = {}
    for name, pairs in series.items():
        words = notes[name] if notes else [""] * len(pairs)
        told = [(a, b, word) for (a, b), word in zip(pairs, words, strict=True)]
        kept[name] = sorted(p for p in told if math.isfinite(p[0]) and math.isfinite(p[1]))
    every = [p for pairs in kept.values() for p in pairs] or [(0.0, 0.0, "")]
    w, h = WIDE, max(270.0, 58.0 + 14 * len(kept))
    room = min(max((width(str(n)) for n in kept), default=0.0), 110.0) + 22
    top = max(p[1] for p in every) * 1.05 or 1.0
    marks = ticks(0, top, 5)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    low = min(p[0] for p in every) if joined else 0.0
    high = max(p[0] for p in every)
    x = Scale(low, high if high > low else low + 1, left + 8, w - room - 4)
    y = Scale(0, top, h - 36, 22)
    body = _grid_y(y, marks, labels, left, w - room + 4)
    body.append(line(left, y(0), w - room + 4, y(0), "ax"))
    distinct = sorted({p[0] for p in every})
    at = distinct if joined and len(distinct) <= 8 else ticks(low, x.high, 5)
    body += _labels_x(x, at, [f"{v:g}" for v in at] if at is distinct else tick_labels(at), h - 20)
    body.append(text((left + w - room) / 2, h - 4, x_name, "t", "middle"))
    body.append(text(2, 10, y_name, "t"))
    wanted = [y(p[-1][1]) if p and joined else 22.0 for p in kept.values()]
    ends = spread(wanted, 14, 22, h - 36)
    for i, (name, own) in enumerate(kept.items()):
        if joined and len(own) > 1:
            body.append(path([(x(a), y(b)) for a, b, _ in own], f"l c{i % 8}"))
        if joined and own:
            start = (x(own[-1][0]) + 5, y(own[-1][1]))
            body.append(path([start, (w - room + 8, ends[i])], f"z c{i % 8}"))
        body.append(marker(i, w - room + 12, ends[i], 3.2))
        body.append(text(w - room + 19, ends[i] + 4, shorten(name, room - 20), "t s", hint=str(name)))
    for i, (name, own) in enumerate(kept.items()):
        for a, b, word in own:
            hint = f"{name}{', ' if word else ''}{word}: {x_name} {a:.3g}, {y_name} {b:.3g}"
            body.append(marker(i, x(a), y(b), hint=hint))
    for a, b, word in _highest(kept):
        body.append(text(x(a), y(b) - 8, word, "t q", "middle"))
    return picture(w, h, body, title=title, desc=desc)


def _highest(kept: Mapping[str, Sequence[tuple[float, float, str]]]) -> list[tuple[float, float, str]]:
    """Return for each note the point furthest up, so that it is written once, above its cluster."""
    out: dict[str, tuple[float, float, str]] = {}
    for own in kept.values():
        for point in own:
            if point[2] and (point[2] not in out or point[1] > out[point[2]][1]):
                out[point[2]] = point
    return list(out.values())


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _grid_y(y: Scale, marks: Sequence[float], labels: Sequence[str], left: float, right: float) -> list[str]:
    out = [line(left, y(m), right, y(m)) for m in marks if m > 0]
    return out + [
        text(left - 4, y(m) + 4, label, "t q", "end") for m, label in zip(marks, labels, strict=True)
    ]


def _labels_x(x: Scale, values: Sequence[float], labels: Sequence[str], y: float) -> list[str]:
    """Write labels under an axis and leave out those that would touch the one before."""
    out, free = [], -math.inf
    for value, label in zip(values, labels, strict=True):
        half = width(label) / 2
        at = min(max(x(value), half + 1), max(x.start, x.stop) + 8 - half)
        if at - half < free:
            continue
        out.append(text(at, y, label, "t q", "middle"))
        free = at + half + FONT * 0.5
    return out


def _plane(both: NDArray[np.float64], w: float, h: float, pad: float) -> tuple[Scale, Scale]:
    """Return scales over nearly all points; the outermost half percent may not squeeze the rest."""
    low, high = (
        np.percentile(both, [0.5, 99.5], axis=0) if len(both) > 200 else (both.min(axis=0), both.max(axis=0))
    )
    span = np.where(high > low, high - low, 1.0)
    low, high = (
        np.maximum(low - span * 0.15, both.min(axis=0)),
        np.minimum(high + span * 0.15, both.max(axis=0)),
    )
    return _Clipped(low[0], high[0], pad, w - pad), _Clipped(low[1], high[1], h - pad, pad)


class _Clipped(Scale):
    """A scale that holds values outside its limits at the border."""

    def __call__(self, value: float) -> float:
        return super().__call__(min(max(value, self.low), self.high))
