"""The page behind `voronym compare`: methods against each other, by loss, risk and time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from voronym.report import figures, tradeoff
from voronym.report.parts import Block, Fact, Page, Section, Table, cell, plural, share, svg
from voronym.report.svg import clean


def page(
    rows: Sequence[Mapping[str, Any]],
    title: str,
    skipped: Mapping[str, str] | None = None,
    plane: Any = None,
) -> Page:
    """Put the page together; rows without a loss (a method that failed) are listed, not drawn."""
    ordered = sorted(rows, key=lambda row: (row["k"], _number(row.get("loss")), str(row["method"])))
    methods = list(dict.fromkeys(clean(row["method"]) for row in ordered))
    levels = sorted({int(row["k"]) for row in ordered})
    best = {
        k: next((r for r in ordered if r["k"] == k and math.isfinite(_number(r.get("loss")))), None)
        for k in levels
    }
    winners = [row for row in best.values() if row is not None]
    sections = [_loss(ordered, methods), _map(ordered, methods), _everything(ordered)]
    if plane is not None:
        sections.insert(0, tradeoff.of_comparison(ordered, plane))
    return Page(
        title=title,
        kind="comparison",
        verdict=_verdict(winners),
        support=(
            f"{plural(len(methods), 'method')} on the same records, for k = {', '.join(map(str, levels))}.",
        )
        if rows
        else (),
        facts=tuple(
            Fact(_loss_text(row["loss"]), f"least loss at k = {row['k']}", clean(row["method"]))
            for row in winners[:4]
        ),
        warnings=tuple(f"{clean(name)} was left out: {clean(why)}" for name, why in (skipped or {}).items()),
        sections=tuple(section for section in sections if section is not None),
    )


def _verdict(winners: Sequence[Mapping[str, Any]]) -> str:
    names = sorted({clean(row["method"]) for row in winners})
    if not names:
        return "No method gave a result."
    if len(names) == 1:
        return f"“{names[0]}” loses least at {'every' if len(winners) > 1 else 'this'} k."
    return (
        "Which method loses least depends on k: "
        + ", ".join(f"“{clean(r['method'])}” at {r['k']}" for r in winners)
        + "."
    )


def _loss(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> Section | None:
    series = {
        m: [(float(r["k"]), _number(r.get("loss"))) for r in rows if clean(r["method"]) == m] for m in methods
    }
    series = {m: [p for p in pairs if math.isfinite(p[1])] for m, pairs in series.items()}
    series = {m: pairs for m, pairs in series.items() if pairs}
    if not series:
        return None
    levels = sorted({int(r["k"]) for r in rows})
    losses = {(clean(r["method"]), int(r["k"])): _number(r.get("loss")) for r in rows}
    title = "Information loss against k" if len(levels) > 1 else f"Information loss at k = {levels[0]}"
    if len(levels) > 1:
        drawing = figures.lines(
            series,
            title=title,
            desc=f"One line for each of {len(series)} methods; the table has the figures.",
            x_name="k",
            y_name="information loss, %",
        )
    else:  # lines need two places
        drawing = figures.loss_bars(
            list(series),
            [pairs[0][1] for pairs in series.values()],
            total=None,
            title=title,
            desc=f"One bar for each of {len(series)} methods; the table has the figures.",
        )
    table = Table.of(
        ("method", *(f"k = {k}" for k in levels)),
        [(m, *(_loss_text(losses.get((m, k))) for k in levels)) for m in series],
    )
    lead = "The share of the keys’ variance that is gone. Lower is better; a larger k costs more."
    return Section("loss", title, lead, (Block(figure=svg(drawing), table=table),))


def _map(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> Section | None:
    usable = [
        r for r in rows if math.isfinite(_number(r.get("loss"))) and math.isfinite(_number(r.get("linkage")))
    ]
    if not usable:
        return None
    kept = [m for m in methods if any(clean(r["method"]) == m for r in usable)]
    own = {m: [r for r in usable if clean(r["method"]) == m] for m in kept}
    drawing = figures.lines(
        {m: [(float(r["loss"]), 100 * float(r["linkage"])) for r in own[m]] for m in kept},
        title="Risk against loss",
        desc=f"One mark for each of {len(usable)} results; the table has the figures.",
        x_name="information loss, %",
        y_name="records linked right, %",
        joined=False,
        notes={m: [f"k={r['k']}" for r in own[m]] for m in kept},
    )
    table = Table.of(
        ("method", "k", "loss", "linked right"),
        [(r["method"], r["k"], _loss_text(r["loss"]), share(r["linkage"])) for r in usable],
    )
    lead = (
        "Down and to the left is better: fewer records that an attacker links to the right person, and "
        "less lost."
    )
    return Section("map", "Risk against loss", lead, (Block(figure=svg(drawing), table=table),))


def _everything(rows: Sequence[Mapping[str, Any]]) -> Section:
    table = Table.of(
        ("method", "k", "loss", "linked right", "cells", "largest cell", "seconds"),
        [
            (
                clean(r["method"]),
                cell(r["k"]),
                _loss_text(r.get("loss")),
                share(_maybe(r.get("linkage"))),
                cell(r.get("cells")),
                cell(r.get("largest")),
                "–" if r.get("seconds") is None else f"{float(r['seconds']):.2f}",
            )
            for r in rows
        ],
    )
    lead = "Sorted by k, then by loss. Times are of this run on this machine."
    return Section("all", "All figures", lead, (Block(table=table),), shape="text")


def _loss_text(value: Any) -> str:
    # two decimals, as in the literature's tables: methods differ in the second
    return "–" if not math.isfinite(_number(value)) else f"{float(value):.2f}\u202f%"


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _maybe(value: Any) -> float | None:
    return None if value is None else float(value)
