"""Draw the ladder of risk: a bar for each kind of intruder, next to its control."""

from __future__ import annotations

from markupsafe import Markup

from voronym.attacks import Ladder
from voronym.report.axes import WIDE, Axes, Axis
from voronym.report.language import term
from voronym.report.svg import line, percent, shorten, text


def rungs(made: Ladder, *, title: str, desc: str = "") -> Markup:
    """Draw a row for each kind of intruder: their success, its interval, and the control below it.

    A row in the colour of warnings is the worst; on rows without a bar no attack was made.
    """
    row, worst = 46.0, made.worst
    names = [rung.knows for rung in made.rungs]
    axes = Axes(
        Axis.numbers(0.0, 100.0, unit=" %", at=[0, 25, 50, 75, 100]),
        Axis.of_names(names),
        height=len(names) * row + 26,
        top=2,
        bottom=24,
        left=10,
        right=46,
    )
    axes.columns()
    for number, rung in enumerate(made.rungs):
        y = axes.y(number)
        knows = term(rung.knows)
        name = f"{knows[:1].upper()}{knows[1:]}"
        axes.add(text(6, y + 13, shorten(name, WIDE - 12), "t s", hint=name))
        outcome = rung.outcome
        if outcome is None:
            axes.add(text(axes.x(0) + 2, y + 30, term("not tried"), "t e"))
            continue
        look = "rw" if rung is worst and outcome.claims else "a"
        hint = f"{outcome.attack}: {percent(100 * outcome.success)}, control {percent(100 * outcome.control)}"
        axes.bar(0, 100 * outcome.success, y + 19, 11, look, hint)
        axes.bar(0, 100 * outcome.control, y + 31, 7, "b", f"control: {percent(100 * outcome.control)}")
        low, high = (axes.x(100 * end) for end in rung.between)
        axes.add(line(low, y + 24.5, high, y + 24.5, "wh"))
        axes.add(*(line(end, y + 21, end, y + 28, "wh") for end in (low, high)))
        end = max(high, axes.x(100 * outcome.success))
        most = "≤ " if outcome.kind == "at most" else ""
        axes.add(text(end + 5, y + 29, f"{most}{percent(100 * outcome.success)}", "t q e"))
    return axes.draw(title, desc)
