"""The page behind `voronym papers`: every table and figure of a paper, beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from voronym.papers.base import Paper
from voronym.papers.items import Chart, Highlight, Item, Picture, Table
from voronym.report import write
from voronym.report.curves import Series, chart
from voronym.report.html import fill, part
from voronym.report.maps import cells, panels


@dataclass(frozen=True)
class Block:
    """A figure with a heading, a sentence and a table beside it."""

    title: str = ""
    figure: Markup | None = None
    table: write.Table | None = None
    note: str = ""
    whole: bool = False


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
    shown = [item for item in told if not isinstance(item, Highlight)]
    return fill(
        "paper.html",
        paper=paper,
        full=full,
        seconds=seconds,
        highlights=[item for item in told if isinstance(item, Highlight)],
        sections=[
            *(
                part(f"part-{i}", name, "paper/part.html", {"blocks": blocks})
                for i, (name, blocks) in enumerate(in_parts(shown), start=1)
            ),
            part("sources", "Sources", "paper/sources.html", {"points": paper.reference.split("; ")}, "text"),
        ],
    )


def in_parts(items: list[Table | Chart | Picture]) -> list[tuple[str, list[Block]]]:
    """Put items of one part together under its name; a table right after a chart stands beside it."""
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
    return out


def _block(item: Table | Chart | Picture, *, alone: bool) -> Block:
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
    return Block(title, _panels(item), note=item.note, whole=True)


def _table(item: Table, caption: str = "") -> write.Table:
    return write.Table(item.columns, tuple(item.texts()), caption)


def _long(table: write.Table) -> bool:
    """Say whether a table is too wide to stand beside a figure."""
    columns = zip(table.head, *table.rows, strict=True)
    return sum(max(map(len, column)) + 2 for column in columns) > 66


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
