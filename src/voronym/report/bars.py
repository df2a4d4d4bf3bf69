"""Drawings of bars and dots in rows: counts, losses, sizes, shares, risks, matrices.

Before is grey and after is blue throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from voronym.report.axes import NARROW, WIDE, Axes, Axis, name_room
from voronym.report.language import term
from voronym.report.svg import FONT, circle, escape, line, num, rect, shorten, text, tip, width

MOST_LETTERS = 60
"""Largest number of rows of a matrix that is drawn."""


def count(value: float) -> str:
    """Format a whole number with thousands separators."""
    return f"{value:,.0f}"


def bars(
    names: Sequence[str],
    after: Sequence[float],
    before: Sequence[float] | None = None,
    *,
    title: str,
    desc: str = "",
    write: Callable[[float], str] = count,
    limit: tuple[float, str] | None = None,
    across: float = NARROW,
) -> Markup:
    """Draw a horizontal bar for each name; above it, a bar for the value before, if given.

    Parameters
    ----------
    write : callable
        Writes the value at a bar's end.
    limit : (float, str), optional
        A value to mark by a line, and the text below it.

    Examples
    --------
    >>> bars(["yes", "no"], [3, 4], title="smoker").count("<rect")
    2
    """
    row = 26.0 if before is not None else 21.0
    top = max([0.1, *after, *(before or ()), *([] if limit is None else [limit[0]])])
    shown = [write(value) for value in after]
    foot = 6.0 if limit is None else 26.0
    axes = Axes(
        Axis(0, top),
        Axis.of_names(names),
        width=across,
        height=4 + max(len(names), 1) * row + foot,
        top=4,
        bottom=foot,
        left=name_room(names, 0.4 * across),
        right=8 + max(map(width, shown), default=0.0),
    )
    axes.names(row)
    for i, name in enumerate(names):
        y, hint = axes.y(i), f"{name}: {shown[i]}"
        if before is None:
            axes.bar(0, after[i], y + 3, row - 8, "a", hint)
        else:
            axes.bar(0, before[i], y + 2, 9, "b", f"{name}: {write(before[i])} before")
            axes.bar(0, after[i], y + 11, 9, "a", f"{hint} after")
    if limit is not None:
        axes.limit(*limit)
    for i, words in enumerate(shown):  # after the line, so that it does not cross them
        end = axes.x(max(after[i], 0.0 if before is None else before[i]))
        axes.add(text(end + 4, axes.y(i) + row / 2 + 3, words, "t q e" if before is None else "t q v e"))
    return axes.draw(title, desc)


def histogram(
    edges: Sequence[float],
    after: Sequence[float],
    before: Sequence[float] | None = None,
    *,
    title: str,
    desc: str = "",
    names: Sequence[str] | None = None,
    dates: bool = False,
) -> Markup:
    """Draw the counts of a column, after over before; both share the edges.

    Parameters
    ----------
    edges : sequence, length b + 1
        Limits of the bins, ascending; with ``dates``, in seconds since 1970.
    before, after : sequence, length b
        Counts; ``before`` is left out of a public report.
    names : sequence of str, length b, optional
        The texts shown on hover.

    Examples
    --------
    >>> histogram([0, 1, 2], [2, 2], [3, 1], title="age").count("<rect")
    4
    """
    top = max([1.0, *after, *(before or ())])
    axes = Axes(
        Axis.numbers(float(edges[0]), float(edges[-1]), count=4 if dates else 6, dates=dates),
        Axis.numbers(0, top, count=4, whole=True),
        width=NARROW,
        height=170,
        right=10,
    ).grid()
    for i, new in enumerate(after):
        result = names[i] if names else ""
        low, high = float(edges[i]), float(edges[i + 1])
        if before is not None:
            axes.pillar(low, high, before[i], "b", f"{result}: {before[i]:,} before" if result else "")
        inset = 0.3 if before is None else (axes.x(high) - axes.x(low)) * 0.22
        axes.pillar(low, high, new, "a", f"{result}: {new:,}" if result else "", inset)
    return axes.draw(title, desc)


@dataclass(frozen=True)
class SizeBin:
    """Groups with ``low`` to ``high`` records."""

    low: int
    high: int
    label: str

    def groups(self, sizes: Mapping[int, int]) -> int:
        """Count the groups."""
        return sum(many for size, many in sizes.items() if self.low <= size <= self.high)

    def records(self, sizes: Mapping[int, int]) -> int:
        """Count the records in them."""
        return sum(size * many for size, many in sizes.items() if self.low <= size <= self.high)


def size_bins(sizes: Mapping[int, int], limit: int | None = None, most: int = 24) -> list[SizeBin]:
    """Put sizes into bins of whole numbers; one bin below ``limit``, and an open bin for a long tail.

    Examples
    --------
    >>> [one.label for one in size_bins({5: 10, 7: 2})], [one.label for one in size_bins({1: 3, 5: 2}, 5)]
    (['5', '6', '7'], ['1–4', '5'])
    """
    if not sizes:
        return [SizeBin(1, 1, "1")]
    low, high = min(sizes), max(sizes)
    spans = []
    if limit is not None and low < limit:
        spans.append((1, limit - 1))
        low, high = limit, max(high, limit)
    running, usual = 0, high
    for size in sorted(sizes, reverse=True):  # the size that two percent of the groups exceed
        running += sizes[size]
        if running > 0.02 * sum(sizes.values()):
            usual = max(size, low)
            break
    last = usual if high - low + 1 > most and high - low > 2 * (usual - low + 1) else high
    step = max(1, math.ceil((last - low + 1) / most))
    spans += [(a, a + step - 1) for a in range(low, last + 1, step)]
    if spans[-1][1] < high:
        spans.append((spans[-1][1] + 1, high))
    return [
        SizeBin(a, b, f"{a}+" if last < high and b == high else f"{a}" if a == b else f"{a}–{b}")
        for a, b in spans
    ]


def sizes(
    after: Mapping[int, int],
    before: Mapping[int, int] | None = None,
    *,
    limit: int | None,
    words: str,
    what: str = "group",
    counted: str = "records",
    title: str,
    desc: str = "",
) -> Markup:
    """Draw the number of groups of each size, before and after; a line marks the least allowed.

    Examples
    --------
    >>> "k = 5" in sizes({5: 10, 6: 2}, limit=5, words="k = 5", title="sizes")
    True
    """
    both = {size: after.get(size, 0) + (before or {}).get(size, 0) for size in {*after, *(before or {})}}
    bins = size_bins(both) if before is None else size_bins(both, limit, most=18)
    series = [("a", after, "after")] if before is None else [("b", before, "before"), ("a", after, "after")]
    top = float(max(item.groups(own) for item in bins for _, own, _ in series)) or 1.0
    axes = Axes(
        Axis.of_names([element.label for element in bins], name=term(f"{counted} in the {what}"), least=6),
        Axis.numbers(0, top, count=4, whole=True),
        height=195,
        top=22,
        bottom=35,
        inset=4,
    ).grid()
    gap = min(2.0, 0.1 * (axes.x(1) - axes.x(0)) / len(series))
    for i, member in enumerate(bins):
        for side, (look, own, when) in enumerate(series):
            many = member.groups(own)
            hint = f"{member.label} {counted}: {many:,} {what}s{'' if before is None else ' ' + when}"
            low = i + side / len(series)
            axes.pillar(low, low + 1 / len(series), many, look, hint, gap)
    if limit is not None:
        axes.threshold(sum(entry.high < limit for entry in bins), words)
    return axes.draw(title, desc)


def stacked(
    names: Sequence[str],
    shares: Sequence[Sequence[float]],
    kinds: Sequence[tuple[str, str]],
    *,
    title: str,
    desc: str = "",
) -> Markup:
    """Draw the changes of each column's values as parts of a whole bar, below a legend.

    Parameters
    ----------
    shares : sequence of sequences
        For each column, one share per kind, adding up to 1.
    kinds : sequence of (name, class)
        The names of the parts, and their classes.

    Examples
    --------
    >>> stacked(["age"], [[0.25, 0.75]], [("moved", "k1"), ("same", "b")], title="t").count("<rect")
    4
    """
    row, at, y, legend = 24.0, 4.0, 10.0, []
    for name, look in kinds:
        if at + 16 + width(name) > WIDE:
            at, y = 4.0, y + 15
        legend += [rect(at, y - 8, 9, 9, look), text(at + 13, y, name, "t s")]
        at += 24 + width(name)
    axes = Axes(
        Axis.numbers(0, 100, unit=" %", at=[0, 25, 50, 75, 100]),
        Axis.of_names(names),
        height=y + 8 + max(len(names), 1) * row + 20,
        top=y + 8,
        bottom=20,
        left=name_room(names, 130),
        right=12,
    )
    axes.add(*legend)
    axes.names(row)
    for i, parts in enumerate(shares):
        begin = 0.0
        for part, (kind, look) in zip(parts, kinds, strict=True):
            if part > 0:
                axes.bar(
                    100 * begin,
                    100 * (begin + part),
                    axes.y(i) + 3,
                    row - 7,
                    look,
                    f"{kind}: {100 * part:.1f} %",
                )
            begin += part
    axes.columns()
    return axes.draw(title, desc)


@dataclass(frozen=True)
class Range:
    """Figures in a row: before and after (None if unknown), and an interval around the second."""

    label: str
    before: float | None
    after: float | None
    interval: tuple[float, float] | None = None


def ranges(
    rows: Sequence[Range],
    *,
    title: str,
    desc: str = "",
    limits: tuple[float, float] = (0.0, 100.0),
    unit: str = "",
    limit: tuple[float, str] | None = None,
    hints: tuple[str, str] = ("before", "after"),
) -> Markup:
    """Draw figures before and after as two dots on a line, with an interval about the second.

    Parameters
    ----------
    limits : (float, float)
        Both ends of the axis.
    limit : (float, str), optional
        A value to mark by a line, and its label.
    hints : (str, str)
        The meanings of the two dots.
    """
    row, foot = 40.0, 20.0 if limit is None else 36.0
    axes = Axes(
        Axis.numbers(*limits, unit=unit),
        Axis.of_names([item.label for item in rows]),
        height=len(rows) * row + 4 + foot,
        top=4,
        bottom=foot,
        left=14,
        right=30,
    )
    axes.add(*(line(axes.x(m), 4, axes.x(m), axes.bottom) for m in axes.across.marks))
    axes.labels_across(axes.height - 5)
    if limit is not None:
        axes.limit(*limit)
    for i, entry in enumerate(rows):
        y = axes.y(i) + 26
        axes.add(text(8, y - 12, shorten(entry.label, WIDE - 20), "t s", hint=entry.label))
        if entry.before is not None and entry.after is not None:
            axes.add(line(axes.x(entry.before), y, axes.x(entry.after), y, "r"))
        if entry.interval is not None:
            low, high = (axes.x(end) for end in entry.interval)
            axes.add(line(low, y, high, y, "i"), *(line(end, y - 4, end, y + 4, "i") for end in (low, high)))
        for value, look, size, hint in ((entry.before, "b", 5, hints[0]), (entry.after, "a", 4, hints[1])):
            if value is not None:
                axes.add(circle(axes.x(value), y, size, look, f"{hint}: {value:,.3g}{unit}"))
    return axes.draw(title, desc)


def heat_map(names: Sequence[str], rows: Sequence[Sequence[float]], *, title: str, desc: str = "") -> Markup:
    """Draw a transition matrix: a row for each true value, a column for each published value.

    The shade grows with the square root of the probability, so that small probabilities are visible.
    Squares with enough room show the figure.

    Examples
    --------
    >>> drawn = heat_map(["a", "b"], [[0.9, 0.1], [0.0, 1.0]], title="sex")
    >>> drawn.count('class="hm"'), ">0.90<" in drawn
    (3, True)
    """
    n, left = len(names), name_room(names, 110) + 2
    side = min(44.0, (WIDE - left - 26) / n)
    top = 20 + 0.78 * (left - 12)
    axes = Axes(
        Axis.of_names(names),
        Axis.of_names(names),
        height=top + n * side + 8,
        top=top,
        bottom=8,
        left=left,
        right=WIDE - left - n * side,
    )
    axes.add(text(2, 10, "true ↓  published →", "t q"))
    for i in range(0, n, max(1, math.ceil((FONT + 1) / side))):
        axes.add(text(left - 5, axes.y(i + 0.5) + 4, shorten(names[i], left - 11), "t", "end", names[i]))
        x, y = num(axes.x(i + 0.5) + 2), num(top - 5)
        turned = f'<text class="t" x="{x}" y="{y}" transform="rotate(-50 {x} {y})">'
        axes.add(f"{turned}{escape(shorten(names[i], 110.0))}</text>")
    axes.add(rect(left, top, n * side, n * side, "p"))
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value < 0.0005:
                continue
            place = f'x="{num(axes.x(j))}" y="{num(axes.y(i))}" width="{num(side)}" height="{num(side)}"'
            hint = tip(f"{names[i]} → {names[j]}: {value:.4f}") if n <= 16 else ""
            axes.add(f'<rect class="hm" {place} fill-opacity="{math.sqrt(value):.2f}">{hint}</rect>')
            if side >= 30:
                look = "t q hi" if value > 0.3 else "t q"
                axes.add(text(axes.x(j + 0.5), axes.y(i + 0.5) + 4, f"{value:.2f}", look, "middle"))
    return axes.draw(title, desc)
