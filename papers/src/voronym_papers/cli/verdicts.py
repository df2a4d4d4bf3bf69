"""The output of `voronym papers`: a line for each published figure, and tables that fit the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

if TYPE_CHECKING:
    from rich.console import Console

    from voronym_papers import Outcome, Paper, Table
    from voronym_papers.overview import Line

NARROW = 16
"""Column width, in characters next to numbers, that is too narrow for a name."""

STYLES = {
    "same": "green", "better": "green", "faster": "green", "holds": "green", "worse": "yellow",
    "slower": "yellow", "differs": "yellow", "not printed": "dim", "ours alone": "dim",
}  # fmt: skip


def listed(known: Sequence[Paper]) -> None:
    """List the papers: their subjects, their sources, and the experiments that can run alone."""
    from voronym_papers.stored import results, stale

    out = _console()
    room = 2 + max(len(entry.name) for entry in known)
    for entry in known:
        runs = f"--item {', '.join(entry.experiments)}"
        about = f"{entry.subject}: {len(entry.exhibits)} tables and figures; also called {entry.number}"
        kept, old = len(results(entry)), len(stale(entry))
        age = f"{kept} results are kept" + (
            f", {old} of them stale: made by other code than today's" if old else ""
        )
        head, *more = (
            line
            for text in (about, entry.reference, age, runs)
            for line in wrap(text, max(24, out.width - room), break_on_hyphens=False)
        )
        typer.echo(f"{entry.name:<{room}}{head}")
        for line in more:
            typer.echo(" " * room + line)


def show(entry: Paper, outcome: Outcome, *, tables: bool) -> None:
    """Show the result of an experiment, next to the published one and the kept full run."""
    from voronym_papers import Table

    out = _console()
    shown = f": {_named(outcome.experiment.shows)}" if outcome.experiment.shows else ""
    took = f"{outcome.seconds:.0f} seconds"
    out.rule(f"[bold]{escape(outcome.experiment.title)}[/]{shown}; {took}", align="left", style="dim")
    order = [exhibit.name for exhibit in entry.exhibits]
    result = sorted(_lines(entry, outcome), key=lambda line: order.index(line.exhibit))
    if result:
        _verdicts(out, entry, result, full=outcome.full)
    for item in outcome.items:
        if isinstance(item, Table) and (tables or not result):
            fitted(out, item)
    out.print()


def _lines(entry: Paper, outcome: Outcome) -> list[Line]:
    """Return the figures of an experiment, from this run and from the kept one."""
    from voronym_papers.overview import lines
    from voronym_papers.stored import results

    kept = results(entry).get((outcome.experiment.name, not outcome.full))
    marks, old = ((), False) if kept is None else (kept.marks, kept.stale)
    if outcome.full:
        return lines(outcome.marks, marks, stale=(False, old))
    return lines(marks, outcome.marks, stale=(old, False))


def _verdicts(out: Console, entry: Paper, lines: list[Line], *, full: bool) -> None:
    """Print a line for each figure, under its table or figure, with numbered reasons below."""
    whys = list(dict.fromkeys(line.why for line in lines if line.why))
    head = ("published", "full, now" if full else "full, kept", "quick, kept" if full else "quick, now")
    rows = []
    for line in lines:
        *cells, _, verdict = line.texts()
        verdict += ", stale" if line.stale else ""
        rows.append((*cells, f"{verdict} [{whys.index(line.why) + 1}]" if line.why else verdict))
    wide = [max(map(len, column)) for column in zip((*head, "verdict"), *rows, strict=True)]
    room = out.width - sum(wide) - 2 * len(wide) - 2
    above = room < NARROW  # then the name stands above its numbers
    room = max(0, room)
    out.print(" " * (room + 2) + _row((*head, "verdict"), wide), style="dim")
    whats = {exhibit.name: exhibit.what for exhibit in entry.exhibits}
    last = ""
    for line, row in zip(lines, rows, strict=True):
        if line.exhibit != last:
            last = line.exhibit
            out.print(f"[bold]{last}[/] {escape(whats.get(last, ''))}")
        first, *rest = _wrapped(line.what, out.width - 2 if above else room) or [""]
        if above:
            out.print(*(f"  {escape(item)}" for item in (first, *rest)), sep="\n")
            first, rest = "", []
        result = _row(row[:-1], wide) + f"  [{STYLES[line.mark.verdict]}]{escape(row[-1])}[/]"
        out.print(f"  {escape(first):<{room}}{result}")
        for more in rest:
            out.print(f"  {escape(more)}")
    for number, why in enumerate(whys, start=1):
        mark = f"  [{number}] "
        for at, text in enumerate(_wrapped(why, out.width - len(mark))):
            out.print(escape(" " * len(mark) + text if at else mark + text), style="dim")


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text without a break inside "k = 3".

    Examples
    --------
    >>> _wrapped("gain over MDAV, k = 3", 18)
    ['gain over MDAV,', 'k = 3']
    """
    kept = text.replace(" = ", "\u00a0=\u00a0")
    return [line.replace("\u00a0", " ") for line in wrap(kept, width, break_on_hyphens=False)]


def _row(cells: Sequence[str], wide: Sequence[int]) -> str:
    """Align numbers to the right, and the fourth column, the verdict, to the left."""
    return "".join(
        f"  {escape(cell):>{width}}" if at < 3 else f"  {cell}"
        for at, (cell, width) in enumerate(zip(cells, wide, strict=False))
    )


def _named(shows: Sequence[str]) -> str:
    """Name exhibits in a few words.

    Examples
    --------
    >>> _named(["Table 1", "Table 2"]), _named([f"Figure {i}" for i in range(21, 29)])
    ('Table 1, Table 2', 'Figure 21 to Figure 28')
    """
    return ", ".join(shows) if len(shows) < 5 else f"{shows[0]} to {shows[-1]}"


def summed(values: Sequence[tuple[Paper, Sequence[Outcome]]]) -> None:
    """Report how many of the shown figures agree, and the time."""
    from voronym_papers.overview import WORDS, count

    seconds = sum(outcome.seconds for _, outcomes in values for outcome in outcomes)
    result = count(line for entry, outcomes in values for item in outcomes for line in _lines(entry, item))
    total = sum(result.values())
    words = ", ".join(f"{number} {WORDS[verdict]}" for verdict, number in result.items())
    took = f"{total} numbers: {words}; {seconds:.0f} seconds" if total else f"{seconds:.0f} seconds"
    width = max(24, _console().width)
    aged = sum(line.stale for entry, outcomes in values for item in outcomes for line in _lines(entry, item))
    note = f"{aged} of them stale: kept from code older than today's (--store keeps new ones)" if aged else ""
    for text in (took, *filter(None, [note]), *(entry.reference for entry, _ in values)):
        for line in _wrapped(text, width):
            typer.echo(line)


def fitted(out: Console, table: Table) -> None:
    """Print a table without breaking numbers; cut a wide table between columns, and repeat its keys."""
    from rich.table import Table as Grid

    texts = table.texts()
    columns = list(zip(*texts, strict=True)) or [()] * len(table.columns)
    longest = [max(map(len, column), default=0) for column in columns]
    heads = [max(map(len, head.split()), default=0) for head in table.columns]
    least = [max(pair) for pair in zip(longest, heads, strict=True)]
    for number, group in enumerate(cut([2 + item for item in least], out.width, table.keys)):
        title = table.heading if number == 0 else f"{table.heading}, further columns"
        out.print(escape(title), style="italic")  # by itself: a grid cuts its title at its own width
        grid = Grid(box=None, padding=(0, 1))
        left = out.width - sum(2 + least[at] for at in group)
        for at in group:
            wish = max(0, len(table.columns[at]) - least[at])
            more = wish if wish <= left else 0
            left -= more
            lines = wrap(table.columns[at], max(1, least[at] + more))
            grid.add_column("\n".join(lines), justify="right", width=least[at] + more, no_wrap=True)
        for row in texts:
            grid.add_row(*(row[at] for at in group))
        out.print(grid)
    if table.note:
        out.print(table.note, style="dim")


def cut(widths: Sequence[int], width: int, keys: int) -> list[list[int]]:
    """Split columns into groups that fit a width, each with the first ``keys`` columns.

    Examples
    --------
    >>> cut([4, 10, 10, 10], 25, 1)
    [[0, 1, 2], [0, 3]]
    """
    first = list(range(min(keys, len(widths))))
    groups, used = [list(first)], sum(widths[at] for at in first)
    for at in range(len(first), len(widths)):
        if used + widths[at] > width and len(groups[-1]) > len(first):
            groups.append(list(first))
            used = sum(widths[key] for key in first)
        groups[-1].append(at)
        used += widths[at]
    return groups


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)
