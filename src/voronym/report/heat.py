"""Drawings for masks: transition matrices, shares of changed values, sizes before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from voronym.report.svg import (
    FONT,
    Scale,
    escape,
    line,
    num,
    picture,
    rect,
    shorten,
    text,
    tick_labels,
    ticks,
    width,
)

WIDE = 380.0
MOST_LETTERS = 60


def heat_map(names: Sequence[str], rows: Sequence[Sequence[float]], *, title: str, desc: str = "") -> str:
    """Draw a transition matrix: a row for each true letter, a column for each published one.

    The shade grows with the square root of the probability, so that small ones can be seen. Figures stand in
    the squares where there is room.

    Examples
    --------
    >>> drawn = heat_map(["a", "b"], [[0.9, 0.1], [0.0, 1.0]], title="sex")
    >>> drawn.count('class="hm"'), ">0.90<" in drawn
    (3, True)
    """
    n = len(names)
    label = min(max(map(width, names)), 110.0)
    top = 8 + min(label, 110.0) * 0.78 + 12
    side = min(44.0, (WIDE - label - 14 - 24) / n)
    left = label + 12
    body = [text(2, 10, "true ↓  published →", "t q")]
    every = max(1, math.ceil((FONT + 1) / side))
    for i in range(0, n, every):
        body.append(
            text(left - 5, top + (i + 0.5) * side + 4, shorten(names[i], label + 1), "t", "end", names[i])
        )
        x, y = left + (i + 0.5) * side + 2, top - 5
        body.append(
            f'<text class="t" x="{num(x)}" y="{num(y)}" transform="rotate(-50 {num(x)} {num(y)})">'
            f"{escape(shorten(names[i], 110.0))}</text>"
        )
    body.append(
        f'<rect class="p" x="{num(left)}" y="{num(top)}" width="{num(n * side)}" height="{num(n * side)}"/>'
    )
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value < 0.0005:
                continue
            hint = f"<title>{escape(names[i])} → {escape(names[j])}: {value:.4f}</title>" if n <= 16 else ""
            body.append(
                f'<rect class="hm" x="{num(left + j * side)}" y="{num(top + i * side)}" width="{num(side)}" '
                f'height="{num(side)}" fill-opacity="{math.sqrt(value):.2f}">{hint}</rect>'
            )
            if side >= 30:
                look = "t q hi" if value > 0.3 else "t q"
                at = (left + (j + 0.5) * side, top + (i + 0.5) * side + 4)
                body.append(text(*at, f"{value:.2f}", look, "middle"))
    return picture(WIDE, top + n * side + 8, body, title=title, desc=desc)


def stacked(
    names: Sequence[str],
    shares: Sequence[Sequence[float]],
    kinds: Sequence[tuple[str, str]],
    *,
    title: str,
    desc: str = "",
) -> str:
    """Draw for each column what became of its values, as parts of a whole bar; a legend stands above.

    Parameters
    ----------
    shares : sequence of sequences
        For each column, one share per kind, adding up to 1.
    kinds : sequence of (name, class)
        What the parts are, and their look.

    Examples
    --------
    >>> stacked(["age"], [[0.25, 0.75]], [("moved", "k1"), ("same", "b")], title="t").count("<rect")
    4
    """
    row, label = 22.0, min(max((width(str(name)) for name in names), default=0.0), 130.0)
    x = Scale(0, 1, label + 10, WIDE - 12)
    body, at, y = [], 4.0, 10.0
    for name, look in kinds:
        if at + 16 + width(name) > WIDE:
            at, y = 4.0, y + 15
        body.append(rect(at, y - 8, 9, 9, look))
        body.append(text(at + 13, y, name, "t s"))
        at += 24 + width(name)
    top = y + 8
    for i, (name, parts) in enumerate(zip(names, shares, strict=True)):
        y = top + i * row
        body.append(text(label + 4, y + 14, shorten(name, label + 1), "t", "end", str(name)))
        begin = 0.0
        for part, (kind, look) in zip(parts, kinds, strict=True):
            if part > 0:
                box = (x(begin), y + 3, x(begin + part) - x(begin), row - 7)
                body.append(rect(*box, look, f"{kind}: {100 * part:.1f} %"))
            begin += part
    bottom = top + len(names) * row + 2
    marks = [0.0, 0.25, 0.5, 0.75, 1.0]
    body += [line(x(m), top, x(m), bottom, "g") for m in marks[1:]]
    body += [text(x(m), bottom + 13, f"{100 * m:.0f} %", "t q", "middle") for m in marks[:-1]]
    body.append(text(x(1) + 8, bottom + 13, "100 %", "t q", "end"))
    return picture(WIDE, bottom + 18, body, title=title, desc=desc)


def size_pair(
    before: Mapping[int, int], after: Mapping[int, int], *, limit: int, title: str, desc: str = ""
) -> str:
    """Draw how many clusters there are of each size, before beside after; a line marks the least allowed.

    Examples
    --------
    >>> drawn = size_pair({1: 3, 8: 2}, {8: 2, 9: 1}, limit=5, title="sizes")
    >>> "5 or more" in drawn
    True
    """
    bins = _bins({*before, *after}, limit)
    counts = [
        [sum(c for size, c in one.items() if low <= size <= high) for low, high in bins]
        for one in (before, after)
    ]
    h, top = 200.0, float(max(map(max, counts))) or 1.0
    marks = ticks(0, top, 4, whole=True)
    labels = tick_labels(marks)
    left = 10 + max(map(width, labels))
    x, y = Scale(0, max(len(bins), 6), left + 4, WIDE - 8), Scale(0, top, h - 34, 24)
    body = [line(left, y(m), WIDE - 4, y(m)) for m in marks if m > 0]
    body += [text(left - 4, y(m) + 4, label, "t q", "end") for m, label in zip(marks, labels, strict=True)]
    half = (x(1) - x(0)) / 2
    for i, (low, high) in enumerate(bins):
        for side, (count, look, when) in enumerate(
            ((counts[0][i], "b", "before"), (counts[1][i], "a", "after"))
        ):
            if count:
                hint = f"{_span(low, high)} records: {count:,} clusters {when}"
                body.append(rect(x(i) + side * half + 0.7, y(count), half - 1.2, y(0) - y(count), look, hint))
    body.append(line(left, y(0), WIDE - 4, y(0), "ax"))
    free = -math.inf
    for i, (low, high) in enumerate(bins):
        label = _span(low, high)
        at, wide = x(i + 0.5), width(label)
        if at - wide / 2 >= free:
            body.append(text(at, h - 19, label, "t q", "middle"))
            free = at + wide / 2 + 5
    body.append(text((left + WIDE) / 2, h - 4, "records in the cluster", "t", "middle"))
    at = x(sum(high < limit for _, high in bins))
    body.append(line(at, 14, at, y(0), "k"))
    words = f"{limit} or more"
    body.append(text(at, 10, words, "t w", "start" if at < left + width(words) / 2 else "middle"))
    return picture(WIDE, h, body, title=title, desc=desc)


def _bins(sizes: set[int], limit: int, most: int = 18) -> list[tuple[int, int]]:
    """Return bins of sizes, one of which begins at the limit; those below it are one."""
    high = max(*sizes, limit)
    step = max(1, math.ceil((high - limit + 1) / most))
    below = [(1, limit - 1)] if limit > 1 and min(sizes) < limit else []
    return below + [(low, low + step - 1) for low in range(limit, high + 1, step)]


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"
