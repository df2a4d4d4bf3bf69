"""The picture of risk against loss: one curve for each method, one mark for each k, and where you are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from voronym.report.axes import Axes, Axis
from voronym.report.svg import MARKERS, circle, escape, line, picture, spread, text, tip
from voronym.report.svg import width as text_width
from voronym.report.write import fine, share

WIDTH, HEIGHT = 430.0, 300.0
LABELLED = (2, 3, 5, 10, 20)
PLAIN = {"auto": "auto (default)", "mdav": "mdav (quick)", "kd": "kd (quickest)"}


def plain_name(method: str) -> str:
    """Return the name of a method with a word on it."""
    return PLAIN.get(method, method)


def risk_loss(rows: Sequence[dict[str, Any]], *, k: int | None, method: str) -> Markup:
    """Draw the points so far; the chosen one has a ring. Marks carry ``data-k`` and ``data-method``."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    top = max((row["linkage"] for row in rows), default=0.3) * 108
    far = max((row["loss"] for row in rows), default=30.0) * 1.06
    room = max((text_width(plain_name(name)) for name in names), default=0.0) + 26
    axes = Axes(
        Axis.numbers(0.0, far, name="detail lost, % of the keys’ variance", unit=""),
        Axis.numbers(0.0, top, name="people an attack finds, %"),
        width=WIDTH, height=HEIGHT, top=26, right=room, bottom=38,
    ).grid(WIDTH - room + 6)  # fmt: skip
    series = {name: sorted((r for r in rows if r["method"] == name), key=lambda r: r["k"]) for name in names}
    ends = spread([axes.y(100 * own[-1]["linkage"]) for own in series.values()], 15, axes.top, axes.bottom)
    for i, ((name, own), end) in enumerate(zip(series.items(), ends, strict=True)):
        points = [(row["loss"], 100 * row["linkage"]) for row in own]
        axes.curve(points, f"l c{i}")
        axes.add(line(axes.x(points[-1][0]) + 6, axes.y(points[-1][1]), WIDTH - room + 8, end, f"z c{i}"))
        axes.add(text(WIDTH - room + 12, end + 4, plain_name(name), "t s"))
    here = chosen(rows, k, method)
    for i, own in enumerate(series.values()):
        for row in own:
            axes.add(_mark(axes, i, row))
            if i == 0 and row["k"] in LABELLED:
                axes.add(
                    text(axes.x(row["loss"]) + 7, axes.y(100 * row["linkage"]) - 6, f"k={row['k']}", "t q e")
                )
    if here is not None:
        axes.add(circle(axes.x(here["loss"]), axes.y(100 * here["linkage"]), 9, "here"))
    return picture(
        WIDTH,
        HEIGHT,
        axes.body,
        title="Risk against loss",
        desc="The table below has the figures, with buttons.",
    )


def chosen(rows: Sequence[dict[str, Any]], k: int | None, method: str) -> dict[str, Any] | None:
    """Return the point of what is chosen, or of the quick method at the same k."""
    at = [row for row in rows if row["k"] == k]
    return next((row for row in at if row["method"] == method), at[0] if at else None)


def said(row: dict[str, Any]) -> str:
    """Say in words what a point costs and risks."""
    return (
        f"k = {row['k']}, {row['method']}: loses {fine(row['loss'])}, an attack finds {share(row['linkage'])}"
    )


def _mark(axes: Axes, series: int, row: dict[str, Any]) -> str:
    shape = MARKERS[series % len(MARKERS)](axes.x(row["loss"]), axes.y(100 * row["linkage"]), 4.2)
    data = f'data-k="{int(row["k"])}" data-method="{escape(row["method"])}"'
    return f'<path class="m c{series % 8} pick" {data} d="{shape}">{tip(said(row))}</path>'
