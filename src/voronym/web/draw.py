"""Pictures of the page: the loss at each k, and the small histogram of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from voronym.report.axes import Axes, Axis
from voronym.report.svg import circle, marker, picture, rect, text, tip
from voronym.report.write import fine

WIDTH, HEIGHT = 430.0, 240.0
PLAIN = {"auto": "auto (default)", "mdav": "mdav (quick)", "kd": "kd (quickest)"}


def plain_name(method: str) -> str:
    """Return the name of a method with a word of explanation."""
    return PLAIN.get(method, method)


def cost_by_k(
    points: Sequence[dict[str, Any]], k: int | None, pins: Mapping[str, tuple[int, float]] | None = None
) -> Markup:
    """Draw the loss at each k that was tried, with all other choices in force; a ring marks the chosen k.

    Hollow marks are estimates, from a sample or by a quicker method. A click on or near a mark chooses
    its k. Pinned alternatives appear as letters at their k and loss.
    """
    pins = pins or {}
    most = max([point["loss"] for point in points] + [loss for _, loss in pins.values()])
    sizes = [point["k"] for point in points] + [size for size, _ in pins.values()]
    axes = Axes(
        Axis.numbers(min(sizes), max(sizes), name="k", shape="log", at=[p["k"] for p in points]),
        Axis.numbers(0, 1.15 * most or 1.0, unit=" %", name="detail lost"),
        width=WIDTH, height=HEIGHT, top=26, right=30, bottom=36, inset=12,
    ).grid()  # fmt: skip
    axes.curve([(float(point["k"]), point["loss"]) for point in points], "l c0")
    for point in points:
        x, y = axes.x(point["k"]), axes.y(point["loss"])
        words = f"k = {point['k']}: {'' if point['exact'] else 'about '}{fine(point['loss'])} lost"
        axes.add(marker(0, x, y, 4.2))
        if not point["exact"]:
            axes.add(circle(x, y, 2.0, "hi"))
        axes.add(text(x, y - 10, fine(point["loss"]), "t q e", "middle"))
        if point["k"] == k:
            axes.add(circle(x, y, 9, "here"))
        hit = f'<circle class="hit" data-k="{int(point["k"])}" cx="{x:.1f}" cy="{y:.1f}" r="14">'
        axes.add(f"{hit}{tip(words)}</circle>")
    for letter, (size, loss) in pins.items():
        x, y = axes.x(size), axes.y(loss)
        axes.add(rect(x - 4, y - 4, 8, 8, "pin"))
        axes.add(text(x + 8, y + 14, letter, "t", "start"))
    return picture(
        WIDTH,
        HEIGHT,
        axes.body,
        title="Detail lost at each k",
        desc="The table has the figures, with buttons.",
    )


def histogram(bars: Sequence[int]) -> Markup:
    """Draw counts as small bars; the text next to them has the same information."""
    if not bars or max(bars) <= 0:
        return Markup("")
    wide, tall, most = 84.0, 22.0, max(bars)
    step = wide / len(bars)
    drawn = "".join(
        rect(i * step, tall - tall * count / most, max(step - 1.0, 1.0), tall * count / most, "b")
        for i, count in enumerate(bars)
        if count
    )
    size = f'viewBox="0 0 {wide:g} {tall:g}" width="{wide:g}" height="{tall:g}"'
    return Markup(f'<svg class="fig bars" {size} aria-hidden="true">{drawn}</svg>')  # noqa: S704 - numbers
