"""`voronym papers`: the tables and figures of published papers, compared with ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common
from voronym.plugins import verb

if TYPE_CHECKING:
    from voronym_papers import Outcome, Paper


@verb(
    "papers",
    purpose="Look up",
    examples=("voronym papers t-closeness --report page.html",),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("papers")(papers)


def papers(
    name: Annotated[
        str | None,
        typer.Argument(help="The paper by its name or number, or 'all'; without it, the papers are listed."),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick",
            help="Run as many cases as the paper; otherwise about a minute for each paper.",
        ),
    ] = False,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="Run the paper's experiments to the letter only, in full: its algorithm, start, data, runs.",
        ),
    ] = False,
    item: Annotated[
        str | None, typer.Option("--item", help="One table, figure or experiment only: table-2, figure-15.")
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Show every table, not only the verdicts.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with every table and figure (HTML).")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="Keep the results in this folder, as NAME.json.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that exists.")] = False,
    json: common.Json = False,
) -> None:
    """Compute a paper's tables and figures again: published, ours of the kept full run, and ours now."""
    from voronym_papers import PAPERS, reproduce
    from voronym_papers.base import named
    from voronym_papers.cli import verdicts
    from voronym_papers.stored import check_folder, keep

    if name is None:
        if json:
            common.emit({key: entry.reference for key, entry in PAPERS.items()})
        else:
            verdicts.listed(list(PAPERS.values()))
        return
    common.check_outputs([report], source="", overwrite=overwrite)
    if store is not None:
        check_folder(store)
    result: list[tuple[Paper, list[Outcome]]] = []
    with common.ticker(not json) as progress:
        for entry in named(name, item, literal=as_published):
            result.append((entry, []))
            for outcome in reproduce(
                entry.name, full=full or as_published, item=item, literal=as_published,
                watch=store is not None, progress=progress,
            ):  # fmt: skip
                result[-1][1].append(outcome)
                if store is not None:
                    keep(entry, outcome, store)
                if not json:
                    verdicts.show(entry, outcome, tables=tables)
    if report is not None:
        from voronym.report import write_page
        from voronym_papers.page import render_papers

        write_page(render_papers(result), report)
    if json:
        answer = [_results_data(entry, outcomes) for entry, outcomes in result]
        common.emit(answer[0] if len(answer) == 1 else {"papers": answer})
        return
    verdicts.summed(result)
    for path in (report, store):
        if path is not None:
            common.console().print(f"written: {path}")


def _results_data(entry: Paper, outcomes: list[Outcome]) -> dict[str, Any]:
    """Return all results as plain values."""
    from voronym_papers import Highlight, Mark, Table

    items = [item for outcome in outcomes for item in outcome.items]
    return {
        "paper": entry.name,
        "reference": entry.reference,
        "full": any(outcome.full for outcome in outcomes),
        "seconds": sum(outcome.seconds for outcome in outcomes),
        "marks": [
            mark.to_dict() | {"kind": mark.kind, "verdict": mark.verdict}
            for outcome in outcomes
            for mark in outcome.marks
        ],
        "tables": [item.to_dict() for item in items if isinstance(item, Table)],
        "figures": [item.to_dict() for item in items if not isinstance(item, Mark | Table | Highlight)],
    }
