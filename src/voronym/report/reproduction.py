"""The page behind `voronym papers`: every table and figure of a paper, beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from voronym.papers.base import Paper
from voronym.papers.items import Chart, Highlight, Item, Picture, Table
from voronym.report import parts
from voronym.report.cells import cells
from voronym.report.chart import Series, chart
from voronym.report.html import fill
from voronym.report.parts import Block, Fact, Page, Section, svg
from voronym.report.svg import escape


def render_paper(paper: Paper, items: Iterable[Item], *, full: bool = False, seconds: float = 0.0) -> str:
    """Return the page about a reproduction as HTML text.

    Parameters
    ----------
    paper : Paper
        Whose figures they are.
    items : iterable of Table, Chart, Picture and Highlight
        What `voronym.papers.reproduce` gave.
    full : bool
        Whether it went as far as the paper.
    seconds : float
        How long it took; 0 is not told.

    Examples
    --------
    >>> from voronym.papers import PAPERS
    >>> page = render_paper(PAPERS["icsm"], [Table("Table 2", ("k", "loss"), ((3, 4.85),))])
    >>> "Mortazavi" in page and "4.85" in page
    True
    """
    told = list(items)
    facts = [Fact(item.value, item.label, item.note) for item in told if isinstance(item, Highlight)]
    went = "As far as the paper went." if full else "The quick run: smaller or fewer cases in places."
    took = f" It took {seconds:,.0f} seconds on this machine." if seconds else ""
    sources = Section("sources", "Sources", points=tuple(paper.reference.split("; ")), shape="text")
    page = Page(
        title=f"Paper: {paper.name}",
        kind="comparison",
        verdict=f"{paper.subject}: what was published, and what we measure",
        support=(went + took,),
        facts=tuple(facts),
        sections=(*sections([item for item in told if not isinstance(item, Highlight)]), sources),
    )
    return fill("report.html", page)


def sections(items: list[Table | Chart | Picture]) -> list[Section]:
    """Put items of one part into one section; a table right after a chart stands beside it."""
    out: list[tuple[str, list[Block]]] = []
    waiting: Block | None = None
    for item in items:
        name = item.part or item.title
        if not out or out[-1][0] != name:
            out.append((name, []))
            waiting = None
        blocks = out[-1][1]
        made = _block(item, alone=not item.part)
        if isinstance(item, Table) and waiting is not None:
            note = f"{waiting.note} {item.note}".strip()
            beside = _table(item, item.title)
            blocks[-1] = replace(waiting, table=beside, note=note, whole=_long(beside))
            waiting = None
            continue
        blocks.append(made)
        waiting = made if isinstance(item, Chart) else None
    return [Section(f"part-{i + 1}", name, blocks=tuple(blocks)) for i, (name, blocks) in enumerate(out)]


def _block(item: Table | Chart | Picture, *, alone: bool) -> Block:
    title = "" if alone else item.title
    if isinstance(item, Table):
        return Block(title=title, table=_table(item), note=item.note)
    if isinstance(item, Chart):
        drawn = chart(
            [Series(c.name, c.points, c.published, c.joined) for c in item.curves],
            title=item.title,
            desc=f"{len(item.curves)} curves: {', '.join(c.name for c in item.curves)}.",
            x_name=item.x_name,
            y_name=item.y_name,
            log=item.log,
            zero=item.zero,
        )
        return Block(title=title, figure=svg(drawn), note=item.note)
    return Block(title=title, figure=svg(_panels(item)), note=item.note, whole=True)


def _table(item: Table, caption: str = "") -> parts.Table:
    return parts.Table(item.columns, tuple(item.texts()), caption)


def _long(table: parts.Table) -> bool:
    """Say whether a table is too wide to stand beside a figure."""
    columns = zip(table.head, *table.rows, strict=True)
    return sum(max(map(len, column)) + 2 for column in columns) > 66


def _panels(item: Picture) -> str:
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
        words = f"<strong>{escape(panel.title)}</strong> {escape(panel.note)}"
        drawn.append(f'<div class="panel">{figure}<p>{words}</p></div>')
    return f'<div class="panels">{"".join(drawn)}</div>'
