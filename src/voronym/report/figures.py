"""The report's figures: small pure functions, numbers in, one SVG string out.

Every drawing is at most 420 units wide, so that its text stays readable on a phone; a wide page shows several side by
side. Before is grey and after is blue throughout; marks differ in shape as well as in colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from voronym.report.svg import (
    FONT,
    Scale,
    date_ticks,
    line,
    marker,
    num,
    path,
    picture,
    rect,
    shorten,
    spread,
    text,
    tick_labels,
    ticks,
    width,
)

WIDE = 420.0
NARROW = 340.0


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
    marks = ticks(0, top, 3, whole=True)
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
        values = ticks(at[0], at[-1], 5)
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
        body.append(text(end + 4, y + row / 2 + 2, shown[i], "t q"))
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
        body.append(text(x(loss) + 5, y + 14, percent(loss), "t q"))
    bottom = 4 + len(names) * row
    body.append(line(x(0), 2, x(0), bottom, "ax"))
    if total is not None:
        body.append(line(x(total), 2, x(total), bottom + 4, "k"))
        words = f"all keys {percent(total)}"
        at = min(max(x(total), x(0) + width(words) / 2), w - width(words) / 2 - 4)
        body.append(text(at, bottom + 17, words, "t w", "middle"))
    return picture(w, h, body, title=title, desc=desc)


def size_histogram(sizes: Mapping[int, int], *, k: int | None, title: str, desc: str = "") -> str:
    """Draw how many cells there are of each size, with a line at k.

    Examples
    --------
    >>> "k = 5" in size_histogram({5: 10, 6: 2}, k=5, title="sizes")
    True
    """
    w, h = WIDE, 190.0
    edges, counts = bin_sizes(sizes)
    top = float(max(counts, default=0)) or 1.0
    marks = ticks(0, top, 3, whole=True)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    low = min(edges[0], k) if k else edges[0]
    x = Scale(low - 0.6, edges[-1] - 0.4, left, w - 8)
    y = Scale(0, top, h - 34, 22)
    body = _grid_y(y, marks, labels, left, w - 4)
    for i, count in enumerate(counts):
        x0, x1 = x(edges[i] - 0.5), x(edges[i + 1] - 0.5)
        gap = min(2.0, (x1 - x0) * 0.1)
        span = f"{edges[i]}" if edges[i + 1] - edges[i] == 1 else f"{edges[i]} to {edges[i + 1] - 1}"
        if count:
            body.append(rect(x0 + gap, y(count), x1 - x0 - 2 * gap, y(0) - y(count), "a", f"{span} records: {count} cells"))
    body.append(line(left, y(0), w - 4, y(0), "ax"))
    values = [v for v in ticks(low, edges[-1] - 1, 8, whole=True) if v >= 1]
    body += _labels_x(x, values, tick_labels(values), h - 19)
    body.append(text((left + w) / 2, h - 4, "records in the cell", "t", "middle"))
    if k is not None:
        body.append(line(x(k - 0.5), 14, x(k - 0.5), y(0), "k"))
        body.append(text(max(x(k - 0.5), left), 10, f"k = {k}", "t w", "middle" if x(k - 0.5) > left + 14 else "start"))
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
    most_hulls: int = 400,
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
    w, h, pad = WIDE, 380.0, 12.0
    middle = np.asarray(centroids, float).reshape(-1, 2)
    dots = np.empty((0, 2)) if points is None else np.asarray(points, float).reshape(-1, 2)
    x, y = _plane(np.vstack([dots, middle]), w, h - 18, pad)
    body = [f'<rect class="p" x="1" y="1" width="{num(w - 2)}" height="{num(h - 20)}" rx="3"/>']
    if points is not None and labels is not None:
        own = np.asarray(labels)
        shown, place = np.unique(own, return_inverse=True)
        groups = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
        colours = _cell_colours(middle, shown)
        if len(shown) <= most_hulls:
            for cell, members in zip(shown, groups, strict=True):
                body.append(_hull(dots[members], x, y, f"h c{colours[int(cell)]}"))
        for cell, members in zip(shown, groups, strict=True):
            spots = "".join(f"M{num(x(a))} {num(y(b))}h0" for a, b in dots[members])
            body.append(f'<path class="d c{colours[int(cell)]}" d="{spots}"/>')
    largest = float(np.max(sizes, initial=1))
    for (a, b), size in zip(middle, np.asarray(sizes, float), strict=True):
        radius = 2.0 if points is not None else 1.6 + 5.0 * math.sqrt(size / largest)
        body.append(f'<circle class="{"o" if points is not None else "u"}" cx="{num(x(a))}" cy="{num(y(b))}" r="{num(radius)}"/>')
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
) -> str:
    """Draw figures before and after as two dots on a line, with an interval about the second.

    Parameters
    ----------
    rows : sequence of (label, before, after, interval)
        ``None`` where a figure is not known.
    limits : (float, float)
        Both ends of the axis.
    """
    w, row = WIDE, 40.0
    x = Scale(*limits, 14, w - 30)
    h = len(rows) * row + 24
    marks = ticks(*limits, 5)
    body = [line(x(m), 4, x(m), h - 20) for m in marks]
    body += _labels_x(x, marks, tick_labels(marks, unit=unit), h - 5)
    for i, (label, before, after, interval) in enumerate(rows):
        y = i * row + 30
        body.append(text(8, y - 12, shorten(label, w - 20), "t s", hint=label))
        if before is not None and after is not None:
            body.append(line(x(before), y, x(after), y, "r"))
        if interval is not None:
            body.append(line(x(interval[0]), y, x(interval[1]), y, "i"))
            body += [line(x(end), y - 4, x(end), y + 4, "i") for end in interval]
        if before is not None:
            body.append(f'<circle class="b" cx="{num(x(before))}" cy="{num(y)}" r="5"><title>before</title></circle>')
        if after is not None:
            body.append(f'<circle class="a" cx="{num(x(after))}" cy="{num(y)}" r="4"><title>after</title></circle>')
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
    kept = {n: sorted(p for p in pairs if all(map(math.isfinite, p))) for n, pairs in series.items()}
    words = {n: [w for _, w in sorted(zip(series[n], notes[n], strict=True)) if True] for n in kept} if notes else {}
    every = [p for pairs in kept.values() for p in pairs] or [(0.0, 0.0)]
    w, h = WIDE, 300.0
    room = min(max((width(str(n)) for n in kept), default=0.0), 110.0) + 16
    marks = ticks(0, max(p[1] for p in every) * 1.05 or 1.0, 5)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    high, low = max(p[0] for p in every), min(p[0] for p in every)
    low = 0.0 if not joined else low
    x = Scale(low, high if high > low else low + 1, left + 8, w - room - 4)
    y = Scale(0, max(max(p[1] for p in every) * 1.05, marks[-1]) or 1.0, h - 36, 22)
    body = _grid_y(y, marks, labels, left, w - room + 4)
    body.append(line(left, y(0), w - room + 4, y(0), "ax"))
    distinct = sorted({p[0] for p in every})
    at = distinct if joined and len(distinct) <= 8 else ticks(low, high, 5)
    body += _labels_x(x, at, tick_labels(at) if at != distinct else [f"{v:g}" for v in at], h - 20)
    body.append(text((left + w - room) / 2, h - 4, x_name, "t", "middle"))
    body.append(text(2, 10, y_name, "t"))
    ends = spread([y(p[-1][1]) if p else h for p in kept.values()], 13, 22, h - 36)
    for i, (name, pairs) in enumerate(kept.items()):
        if not pairs:
            continue
        if joined and len(pairs) > 1:
            body.append(path([(x(a), y(b)) for a, b in pairs], f"l c{i % 8}"))
        for j, (a, b) in enumerate(pairs):
            hint = f"{name}: {x_name} {a:g}, {y_name} {b:.3g}"
            body.append(marker(i, x(a), y(b), hint=hint))
            if words and j < len(words[name]) and i == 0:
                body.append(text(x(a), y(b) - 8, words[name][j], "t q", "middle"))
        last = pairs[-1]
        body.append(path([(x(last[0]) + 5, y(last[1])), (w - room + 8, ends[i]), (w - room + 10, ends[i])], f"z c{i % 8}"))
        body.append(text(w - room + 13, ends[i] + 4, shorten(name, room - 14), "t s", hint=str(name)))
    return picture(w, h, body, title=title, desc=desc)


def bin_sizes(sizes: Mapping[int, int], most: int = 40) -> tuple[list[int], list[int]]:
    """Put sizes of cells into at most ``most`` bins of whole numbers: edges (b + 1) and counts (b).

    Examples
    --------
    >>> bin_sizes({5: 10, 7: 2})
    ([5, 6, 7, 8], [10, 0, 2])
    """
    if not sizes:
        return [1, 2], [0]
    low, high = min(sizes), max(sizes)
    step = max(1, math.ceil((high - low + 1) / most))
    edges = list(range(low, high + step + 1, step))
    edges = edges if edges[-1] > high else [*edges, edges[-1] + step]
    while len(edges) > 2 and edges[-2] > high:
        edges.pop()
    counts = [0] * (len(edges) - 1)
    for size, count in sizes.items():
        counts[(size - low) // step] += int(count)
    return edges, counts


def percent(value: float | None) -> str:
    """Write a percentage: two figures below ten, none after the point above.

    Examples
    --------
    >>> percent(7.312), percent(0.0), percent(42.4), percent(0.004)
    ('7.3\u202f%', '0\u202f%', '42\u202f%', '< 0.01\u202f%')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value != 0 and abs(value) < 0.01:
        return f"{'< ' if value > 0 else '> −'}0.01\u202f%"
    digits = 0 if value == 0 or abs(value) >= 10 or value == int(value) else 1 if abs(value) >= 1 else 2
    return f"{value:.{digits}f}\u202f%".replace("-", "−")


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _grid_y(y: Scale, marks: Sequence[float], labels: Sequence[str], left: float, right: float) -> list[str]:
    out = [line(left, y(m), right, y(m)) for m in marks if m > 0]
    return out + [text(left - 4, y(m) + 4, label, "t q", "end") for m, label in zip(marks, labels, strict=True)]


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
    low, high = np.percentile(both, [0.5, 99.5], axis=0) if len(both) > 200 else (both.min(axis=0), both.max(axis=0))
    span = np.where(high > low, high - low, 1.0)
    low, high = np.maximum(low - span * 0.15, both.min(axis=0)), np.minimum(high + span * 0.15, both.max(axis=0))
    both[:] = both  # the caller's points stay; those outside are drawn on the border
    return _Clipped(low[0], high[0], pad, w - pad), _Clipped(low[1], high[1], h - pad, pad)


class _Clipped(Scale):
    """A scale that holds values outside its limits at the border."""

    def __call__(self, value: float) -> float:
        return super().__call__(min(max(value, self.low), self.high))


def _cell_colours(middle: NDArray[np.float64], shown: NDArray[np.int64]) -> dict[int, int]:
    """Give neighbouring cells different tints: each takes one that its nearest coloured neighbours lack."""
    colours: dict[int, int] = {}
    for cell in shown:
        near = [int(c) for c in shown if int(c) in colours]
        if len(shown) > 1500 or not near:
            colours[int(cell)] = int(cell) % 8
            continue
        distance = np.square(middle[near] - middle[cell]).sum(axis=1)
        taken = [colours[near[i]] for i in np.argsort(distance, kind="stable")[:7]]
        colours[int(cell)] = next((c for c in range(8) if c not in taken), int(cell) % 8)
    return colours


def _hull(points: NDArray[np.float64], x: Scale, y: Scale, cls: str) -> str:
    """Draw the convex hull of a cell; of points on a line, the line."""
    drawn = np.unique(np.round([(x(a), y(b)) for a, b in points], 1), axis=0)
    if len(drawn) < 2:
        return ""
    try:
        corners = drawn[ConvexHull(drawn).vertices] if len(drawn) > 2 else drawn
    except QhullError:
        corners = drawn[[0, -1]]  # sorted by np.unique, so these are the ends
    return path([(float(a), float(b)) for a, b in corners], cls, closed=True)
