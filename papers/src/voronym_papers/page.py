"""The page of `voronym papers`: every table and figure of a paper, next to ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from voronym.report import write
from voronym.report.curves import Series, chart
from voronym.report.html import Part, add_templates, fill, part
from voronym.report.maps import cells, panels
from voronym_papers.base import Outcome, Paper
from voronym_papers.items import Chart, Drawn, Highlight, Item, Picture, Surfaces, Table
from voronym_papers.marks import Mark
from voronym_papers.overview import WORDS, Line, count, lines
from voronym_papers.stored import Kept, results
from voronym_papers.surface import surface

add_templates("voronym_papers")


@dataclass(frozen=True)
class Block:
    """A figure with a heading, a sentence and a table."""

    title: str = ""
    figure: Markup | None = None
    table: write.Table | None = None
    note: str = ""
    whole: bool = False


def render_papers(papers: Sequence[tuple[Paper, Sequence[Outcome]]]) -> str:
    """Return the page about reproductions as HTML text: verdicts first, then every figure.

    After a quick run with a kept full one, verdicts show both, tables and charts come from the full run,
    and pictures of cells from the quick one.

    Parameters
    ----------
    papers : sequence of (Paper, sequence of Outcome)
        The result of `voronym_papers.reproduce`.

    Examples
    --------
    >>> from voronym_papers import Experiment, Mark, Outcome, Paper
    >>> paper = Paper("toy", "A. Author: Toys", "Toys")
    >>> mark = Mark("Table 1", "D", 0.2, 0.19, better="less", why="Ours is exact.")
    >>> done = Outcome(Experiment("toys", "Toys", lambda full, ctx: iter(())), False, (mark,), 1.0)
    >>> page = render_papers([(paper, [done])])
    >>> "Toys" in page and "0.1900" in page and "Ours is exact." in page
    True
    """
    sections, highlights = [], []
    for number, (paper, outcomes) in enumerate(papers):
        kept = results(paper)
        mine = f"p{number}-"
        sections.append(_verdicts(mine, paper, outcomes, kept, alone=len(papers) == 1))
        shown = [item for outcome in outcomes for item in _shown(outcome, kept)]
        highlights += [item for item in shown if isinstance(item, Highlight)]
        drawn = [item for item in shown if not isinstance(item, Mark | Highlight)]
        sections += [
            part(f"{mine}part-{i}", name, "voronym_papers/part.html", {"blocks": blocks})
            for i, (name, blocks) in enumerate(in_parts(joined(drawn)), start=1)
        ]
    sources = [paper.reference for paper, _ in papers]
    sections.append(part("sources", "Sources", "voronym_papers/sources.html", {"points": sources}, "text"))
    return fill(
        "voronym_papers/papers.html",
        name=", ".join(paper.name for paper, _ in papers),
        subject="; ".join(paper.subject for paper, _ in papers[:2]) if len(papers) < 3 else "Five papers",
        full=any(outcome.full for _, outcomes in papers for outcome in outcomes),
        seconds=sum(outcome.seconds for _, outcomes in papers for outcome in outcomes),
        highlights=highlights[:6],
        sections=sections,
    )


def _verdicts(
    mine: str,
    paper: Paper,
    outcomes: Sequence[Outcome],
    kept: Mapping[tuple[str, bool], Kept],
    *,
    alone: bool,
) -> Part:
    """Return the section that lists for every figure the published value, ours, and why it differs."""
    result: list[Line] = []
    for outcome in outcomes:
        other = kept.get((outcome.experiment.name, not outcome.full))
        marks, old = ((), False) if other is None else (other.marks, other.stale)
        if outcome.full:
            result += lines(outcome.marks, marks, stale=(False, old))
        else:
            result += lines(marks, outcome.marks, stale=(old, False))
    whys = list(dict.fromkeys(line.why for line in result if line.why))
    groups = []
    whats = {item.name: item.what for item in paper.exhibits}
    for exhibit in sorted({line.exhibit for line in result}, key=list(whats).index if whats else str):
        rows = [
            {
                "what": line.what,
                "cells": line.texts()[:4],
                "verdict": line.mark.verdict,
                "stale": line.stale,
                "note": whys.index(line.why) + 1 if line.why else 0,
            }
            for line in result
            if line.exhibit == exhibit
        ]
        groups.append((exhibit, whats.get(exhibit, ""), rows))
    both = [(_seconds(entry, kept, full=True), _seconds(entry, kept, full=False)) for entry in outcomes]
    times = tuple(
        (outcome.experiment.title, *("–" if element is None else f"{element:,.1f}" for element in pair))
        for outcome, pair in zip(outcomes, both, strict=True)
    )
    counts = ", ".join(f"{number} {WORDS[verdict]}" for verdict, number in count(result).items())
    data = {
        "mine": mine,
        "counted": f"{write.plural(len(result), 'number')}: {counts}." if result else "",
        "groups": groups,
        "whys": [_coded(why) for why in whys],
        "times": write.Table(("experiment", "full run, s", "quick run, s"), times),
        "made": _made(kept),
    }
    title = "Published, and ours" if alone else f"{paper.subject}: published, and ours"
    return part(f"{mine}verdicts", title, "voronym_papers/verdicts.html", data, "text")


def _seconds(outcome: Outcome, kept: Mapping[tuple[str, bool], Kept], *, full: bool) -> float | None:
    if outcome.full == full:
        return outcome.seconds
    other = kept.get((outcome.experiment.name, full))
    return None if other is None else other.seconds


def _made(kept: Mapping[tuple[str, bool], Kept]) -> str:
    """Return a sentence about the versions behind the kept runs; "" without any."""
    versions = {", ".join(f"{name} {item}" for name, item in run.versions.items()) for run in kept.values()}
    return f"Runs that were kept: {'; '.join(sorted(versions))}." if versions else ""


def _shown(outcome: Outcome, kept: Mapping[tuple[str, bool], Kept]) -> list[Item]:
    """Return the items to draw: pictures of this run, and other items of the full run if there is one."""
    whole = None if outcome.full else kept.get((outcome.experiment.name, True))
    if whole is None:
        return list(outcome.items)
    return [*(item for item in outcome.items if isinstance(item, Picture | Surfaces)), *whole.items]


def joined(items: list[Drawn]) -> list[Drawn]:
    """Join tables that share their columns and the beginning of their titles, up to a colon.

    The text after the colon becomes the first column: twelve runs of one table of a paper are one table
    again.

    Examples
    --------
    >>> one, two = (Table(f"Table 4: k = {k}", ("loss",), ((k / 2,),)) for k in (3, 5))
    >>> [(table.title, table.columns, table.rows) for table in joined([one, two])]
    [('Table 4', ('case', 'loss'), (('k = 3', 1.5), ('k = 5', 2.5)))]
    """
    runs: dict[tuple[object, ...], list[Table]] = {}
    for item in items:
        if isinstance(item, Table) and not item.part and ": " in item.title:
            runs.setdefault((item.title.partition(": ")[0], item.columns), []).append(item)
    out: list[Drawn] = []
    for item in items:
        alike = next((run for run in runs.values() if len(run) > 1 and item in run), [])
        if not alike:
            out.append(item)
        elif isinstance(item, Table) and item is alike[0]:
            rows = tuple((entry.title.partition(": ")[2], *row) for entry in alike for row in entry.rows)
            notes = " ".join(dict.fromkeys(element.note for element in alike if element.note))
            formats = ("", *item.formats) if item.formats else ()
            name = item.title.partition(": ")[0]
            out.append(Table(name, ("case", *item.columns), rows, notes, "", formats))
    return out


def _coded(text: str) -> Markup:
    """Format text between backticks as code."""
    odd = (
        Markup("<code>{}</code>").format(item) if at % 2 else item for at, item in enumerate(text.split("`"))
    )
    return Markup("").join(odd)


def in_parts(items: list[Drawn]) -> list[tuple[str, list[Block]]]:
    """Group items of one part under its name; a table that follows a chart is put next to it."""
    out: list[tuple[str, list[Block]]] = []
    waiting: Block | None = None
    names = list(dict.fromkeys(item.part or item.title for item in items))
    for item in sorted(items, key=lambda item: names.index(item.part or item.title)):
        name = item.part or item.title
        if not out or out[-1][0] != name:
            out.append((name, []))
            waiting = None
        blocks = out[-1][1]
        made = _block(item, alone=not item.part)
        if isinstance(item, Table) and waiting is not None:
            note = f"{waiting.note} {item.note}".strip()
            beside = _table(item, item.title if item.heading == item.title else "")
            blocks[-1] = replace(waiting, table=beside, note=note, whole=_long(beside))
            waiting = None
            continue
        blocks.append(made)
        waiting = made if isinstance(item, Chart) else None
    return out


def _block(item: Drawn, *, alone: bool) -> Block:
    title = "" if alone else item.title
    if isinstance(item, Table):
        return Block(title, table=_table(item), note=item.note)
    if isinstance(item, Chart):
        drawn = chart(
            [Series(c.name, c.points, c.published, c.joined) for c in item.curves],
            title=item.title,
            desc=f"{len(item.curves)} curves: {', '.join(c.name for c in item.curves)}.",
            x_name=item.x_name,
            y_name=item.y_name,
            log=item.log,
            zero="y" if item.zero else "",
        )
        return Block(title, drawn, note=item.note)
    made = _surfaces(item) if isinstance(item, Surfaces) else _panels(item)
    return Block(title, made, note=item.note, whole=True)


def _table(item: Table, caption: str = "") -> write.Table:
    return write.Table(item.columns, tuple(item.texts()), caption)


def _long(table: write.Table) -> bool:
    """Return whether a table is too wide to be put next to a figure."""
    columns = zip(table.head, *table.rows, strict=True)
    return sum(max(map(len, column)) + 3 for column in columns) > 66


def _panels(item: Picture) -> Markup:
    drawn = []
    for panel in item.panels:
        figure = cells(
            panel.points,
            panel.labels,
            panel.centroids,
            bounds=item.bounds,
            polygons=panel.polygons,
            edges=panel.edges,
            title=f"{item.title}: {panel.title}",
            desc=f"{len(panel.points):,} points in {len(panel.centroids)} cells. {panel.note}",
        )
        drawn.append((figure, panel.title, panel.note))
    return panels(drawn)


def _surfaces(item: Surfaces) -> Markup:
    top = max(float(element.values.max()) for element in item.surfaces)
    drawn = [
        (
            surface(
                entry.values,
                bounds=item.bounds,
                top=top,
                names=item.names,
                title=f"{item.title}: {entry.title}",
                desc=entry.note,
            ),
            entry.title,
            entry.note,
        )
        for entry in item.surfaces
    ]
    return panels(drawn)
