"""The page of an advice: alternatives side by side."""

from __future__ import annotations

from voronym.advice import Advice, Alternative
from voronym.report import bars
from voronym.report.html import fill, part
from voronym.report.svg import percent
from voronym.report.write import Table, share


def render_advice(advice: Advice) -> str:
    """Return a page that shows the alternatives beside the plain run as HTML text."""
    everything = (advice.plain, *advice.alternatives)
    rows = [
        (
            one.title,
            one.k,
            f"{one.risk:.4f}",
            share(one.left_out),
            percent(one.favoured),
            percent(one.plain),
            percent(one.overall),
        )
        for one in everything
    ]
    head = (
        "alternative",
        "k",
        "largest risk",
        "left out",
        "loss of what it favours",
        "in the plain run",
        "all keys",
    )
    sections = [
        part(
            f"alternative-{number}",
            f"{number}. {one.title[:1].upper()}{one.title[1:]}",
            "advice/alternative.html",
            {"one": one, "figure": _figure(one, advice.plain), "table": _table(one, advice.plain)},
        )
        for number, one in enumerate(advice.alternatives, 1)
    ]
    sections.append(part("all", "All of them", "advice/all.html", {"table": Table.of(head, rows)}))
    return fill("advice.html", made=advice, sections=sections)


def _figure(one: Alternative, plain: Alternative) -> object:
    names = list(one.penalties)
    return bars.bars(
        names,
        [one.penalties[name] for name in names],
        [plain.penalties.get(name, 0.0) for name in names],
        title=f"Loss of each key: {one.title}",
        desc="A bar for each key, and the plain run above it; the table has the figures.",
        write=percent,
    )


def _table(one: Alternative, plain: Alternative) -> Table:
    rows = [
        (name, percent(plain.penalties.get(name)), percent(value)) for name, value in one.penalties.items()
    ]
    return Table.of(("key", "plain run", "here"), rows)
