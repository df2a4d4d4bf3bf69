"""Drawings of many figures: correlations as squares, methods as rows of dots, losses at other k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from voronym.report.axes import WIDE, Axes, Axis, name_room
from voronym.report.language import numeral, term
from voronym.report.svg import circle, line, marker, num, percent, shorten, text, tip, width

MOST_SQUARES = 14
"""Largest number of columns whose correlations are drawn."""
Matrix = Sequence[Sequence[float | None]]


def triangles(names: Sequence[str], before: Matrix, after: Matrix, *, title: str, desc: str = "") -> Markup:
    """Draw correlations, below the diagonal before, above it after; a darker shade means a larger one.

    Examples
    --------
    >>> drawn = triangles(["a", "b"], [[1, 0.5], [0.5, 1]], [[1, -0.4], [-0.4, 1]], title="t")
    >>> drawn.count('class="hm"'), drawn.count('class="hn"')
    (1, 1)
    """
    n, left = len(names), name_room(names, 120) + 2
    side = min(44.0, (WIDE - left - 8) / max(n, 1))
    head = 18.0
    axes = Axes(
        Axis.of_names(names),
        Axis.of_names(names),
        height=head + n * side + 6,
        top=head,
        bottom=6,
        left=left,
        right=WIDE - left - n * side,
    )
    axes.add(text(2, 11, term("lower left: before · upper right: after"), "t"))
    for i, name in enumerate(names):
        axes.add(text(left - 5, axes.y(i + 0.5) + 4, shorten(name, left - 11), "t", "end", name))
        for j in range(n):
            value = (before if j < i else after)[i][j]
            if i == j or value is None:
                continue
            pair = f"{names[j]} and {name}: " if j < i else f"{name} and {names[j]}: "
            hint = pair + f"{value:+.2f} {'before' if j < i else 'after'}".replace("-", "−")
            place = f'x="{num(axes.x(j))}" y="{num(axes.y(i))}" width="{num(side)}" height="{num(side)}"'
            look = "hn" if value < 0 else "hm"
            axes.add(
                f'<rect class="{look}" {place} fill-opacity="{min(1.0, abs(value)):.2f}">{tip(hint)}</rect>'
            )
            if side >= 26:
                shown = numeral(f"{value:.2f}".replace("-", "−"))
                axes.add(text(axes.x(j + 0.5), axes.y(i + 0.5) + 4, shown, "t q hl", "middle"))
    for i in range(n + 1):
        at = left + i * side
        axes.add(
            line(at, head, at, head + n * side), line(left, head + i * side, left + n * side, head + i * side)
        )
    return axes.draw(title, desc)


def dots(
    rows: Mapping[str, Mapping[int, float]], *, title: str, desc: str = "", x_name: str, unit: str = " %"
) -> Markup:
    """Draw a row for each name and a dot for each k; names go on the left, so that many fit.

    Examples
    --------
    >>> dots({"mdav": {3: 2.0, 5: 4.0}}, title="t", x_name="loss").count("<path")  # with a legend
    4
    """
    sizes = sorted({k for own in rows.values() for k in own})
    top = max((value for own in rows.values() for value in own.values()), default=1.0) or 1.0
    row, head = 18.0, 22.0
    axes = Axes(
        Axis.numbers(0, 1.04 * top, unit=unit, name=x_name),
        Axis.of_names(list(rows)),
        height=head + max(len(rows), 1) * row + 40,
        top=head,
        bottom=40,
        left=name_room(list(rows), 120),
        right=14,
    )
    at = axes.left
    for i, k in enumerate(sizes):
        word = f"k = {k}"
        axes.add(marker(i, at + 4, 8, 3.6), text(at + 12, 12, word, "t s"))
        at += 24 + width(word)
    axes.columns()
    axes.add(text((axes.left + axes.right) / 2, axes.bottom + 32, x_name, "t", "middle"))
    axes.names(row)
    for number, (name, own) in enumerate(rows.items()):
        y = axes.y(number + 0.5)
        places = [axes.x(value) for value in own.values()]
        if len(places) > 1:
            axes.add(line(min(places), y, max(places), y, "r"))
        for k, value in own.items():
            hint = f"{name}, k = {k}: {value:.3g}{unit}"
            axes.add(marker(sizes.index(k), axes.x(value), y, 4.0, hint))
    return axes.draw(title, desc)


def ladder(points: Sequence[tuple[int, float]], here: int, *, title: str, desc: str = "") -> Markup:
    """Draw the loss at several k, and the place of the release.

    Examples
    --------
    >>> "you are here" in ladder([(2, 1.0), (5, 3.0)], 5, title="t")
    True
    """
    top = max(value for _, value in points)
    axes = Axes(
        Axis.numbers(points[0][0], points[-1][0], name="k", shape="log", at=[k for k, _ in points]),
        Axis.numbers(0, 1.15 * top or 1.0, unit=" %", name="information loss"),
        height=230,
        top=26,
        right=26,
        bottom=36,
        inset=10,
    ).grid()
    axes.curve([(float(k), value) for k, value in points], "l c0")
    for k, value in points:
        axes.add(marker(0, axes.x(k), axes.y(value), 3.6, f"k = {k}: {percent(value)}"))
    own = dict(points)[here]
    x, y = axes.x(here), axes.y(own)
    axes.add(circle(x, y, 8, "here", f"this release: {percent(own)}"))
    words = f"you are here: k = {here}, {percent(own)}"
    beside = x - 6 - width(words) > axes.left  # above the curve at its left, or below it at its right
    axes.add(text(x - 6, y - 12, words, "t w e", "end") if beside else text(x + 12, y + 14, words, "t w e"))
    return axes.draw(title, desc)
