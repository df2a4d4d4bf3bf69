"""The page of an advice: alternatives side by side."""

from __future__ import annotations

from voronym.policy.alternatives import Advice, Alternative
from voronym.report import bars
from voronym.report.html import fill, part
from voronym.report.svg import percent
from voronym.report.write import Table, share


def render_advice(advice: Advice) -> str:
    """Return a page that compares the alternatives with the plain run, as HTML text."""
    everything = (advice.plain, *advice.alternatives)
    rows = [
        (
            item.title,
            item.k,
            f"{item.risk:.4f}",
            share(item.left_out),
            percent(item.favoured),
            percent(item.plain),
            percent(item.overall),
        )
        for item in everything
    ]
    head = (
        "alternative",
        "k",
        "largest risk",
        "left out",
        "loss of the favoured keys",
        "in the plain run",
        "all keys",
    )
    sections = [
        part(
            f"alternative-{number}",
            f"{number}. {entry.title[:1].upper()}{entry.title[1:]}",
            "advice/alternative.html",
            {"one": entry, "figure": _figure(entry, advice.plain), "table": _table(entry, advice.plain)},
        )
        for number, entry in enumerate(advice.alternatives, 1)
    ]
    sections.append(part("all", "All of them", "advice/all.html", {"table": Table.of(head, rows)}))
    return fill("advice.html", made=advice, sections=sections)


def _figure(alternative: Alternative, plain: Alternative) -> object:
    names = list(alternative.penalties)
    return bars.bars(
        names,
        [alternative.penalties[name] for name in names],
        [plain.penalties.get(name, 0.0) for name in names],
        title=f"Loss of each key: {alternative.title}",
        desc="A bar for each key, and the plain run above it; the table has the figures.",
        write=percent,
    )


def _table(alternative: Alternative, plain: Alternative) -> Table:
    rows = [
        (name, percent(plain.penalties.get(name)), percent(value))
        for name, value in alternative.penalties.items()
    ]
    return Table.of(("key", "plain run", "here"), rows)
