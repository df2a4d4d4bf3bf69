"""`voronym compare`: run every method on one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, complete, declared, files, recipes, scale, signals
from voronym.cli.verbs import verb
from voronym.request.choices import ColumnChoices

if TYPE_CHECKING:
    from rich.console import Console

    from voronym.evaluate.comparison import Comparison, Row


MINUTE = 50.0
"""Seconds for all methods together; reading and drawing then fit into a minute."""
TAKEN = ("keys", "drop_undeclared", "kinds", "orders", "locations", "person")
"""Choices about columns that this verb takes."""
BAR = 6
"""Characters of the longest bar."""


@verb(
    "compare",
    purpose="Make a release",
    examples=(
        "voronym compare patients.csv --key age,sex,zip -k 3,5,10 --report compare.html",
        "voronym compare patients.csv --key age,zip --method mdav,icsm -k 5 -k 20",
    ),
    place=2,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ColumnChoices, only=TAKEN)
    app.command("compare")(files.reads(choices(compare)))


def compare(
    source: common.Source,
    k: Annotated[
        list[str] | None,
        typer.Option("-k", help="Sizes of groups. Repeat, or use commas.", show_default="3,5,10"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="Only these methods.", autocompletion=complete.methods),
    ] = None,
    confidential: Annotated[
        list[str] | None,
        typer.Option("--confidential", help="The column that --risk mutual-information is about."),
    ] = None,
    risk: Annotated[
        str,
        typer.Option(
            "--risk",
            help="The risk to show: linkage, or mutual-information (what groups reveal about a column).",
        ),
    ] = "linkage",
    recipe: recipes.Recipes = None,
    all_methods: Annotated[
        bool, typer.Option("--all", help="Run slow methods, too, which take more than a minute in total.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the table and a plot (HTML).")
    ] = None,
    query: common.Query = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    seed: common.Seed = 0,
    json: common.Json = False,
    reading: Any = None,
    typed: Any = None,
) -> None:
    """Try every method at several k, and compare loss, risk and time: a table and a plot."""
    from voronym.comparison import compare as look
    from voronym.errors import InputError
    from voronym.table.read import read

    files.refuse_stdout(report=report)
    common.check_outputs([report], source=source, overwrite=overwrite)
    try:
        sizes = list(dict.fromkeys(int(part) for part in common.names(k or ["3,5,10"])))
    except ValueError:
        raise InputError(
            f"-k takes whole numbers with commas, such as 3,5,10; not {','.join(k or ())!r}"
        ) from None
    written = recipes.load(recipe)
    methods, rows = common.names(method) or None, _Rows(quiet=json)
    with common.ticker(not json) as progress:
        outcome = recipes.reading(written, source, reading, query=query)
        if scale.many(source, {}):
            frame = scale.sampled(source, outcome, seed, quiet=json)
        else:
            frame = read(source, **outcome)
        about = {"keys": [], **declared.choices_of(typed, frame.columns)}
        about.pop("drop_undeclared", None)  # other columns than the keys are never compared
        columns = recipes.columns(written, about, frame.columns)
        named = common.names(confidential, frame.columns)
        rows.about(len(frame), columns["keys"])
        try:
            result = look(
                frame,
                k=sizes,
                methods=methods,
                risk=risk,
                **{**columns, "confidential": named},
                time_limit=None if all_methods or methods else MINUTE,
                each=rows.add,
                seed=seed,
                progress=progress,
            )
        except signals.Stopped:
            rows.show(json=json)
            raise
        if report is not None:
            from voronym.report import render_comparison, write_page

            write_page(render_comparison(result), report)
    if json:
        common.emit(result.to_dict())
    else:
        _show(result, report)


class _Rows:
    """The finished rows: each is shown when done, and all of them if the user stops the rest."""

    def __init__(self, *, quiet: bool) -> None:
        self._out, self._quiet = common.console(), quiet
        self._rows: list[Row] = []
        self._records, self._keys = 0, tuple[str, ...]()

    def about(self, records: int, keys: Sequence[str]) -> None:
        """Remember the comparison's subject."""
        self._records, self._keys = records, tuple(keys)

    def add(self, row: Row) -> None:
        """Add a row, and print it if progress is shown."""
        self._rows.append(row)
        if not self._quiet and self._out.is_terminal:
            self._out.print(f"{row.method}, k={row.k}: loss {row.loss:.3f} %, {row.seconds:.2f} s")

    def show(self, *, json: bool) -> None:
        """Print the rows so far as a table."""
        from voronym.evaluate.comparison import Comparison

        comparison = Comparison(tuple(self._rows), {"the rest": "stopped"}, self._records, self._keys)
        if json:
            common.emit(comparison.to_dict())
        elif self._rows:
            _show(comparison, None)


def _show(result: Comparison, report: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from voronym.comparison import LATE

    out = Console(highlight=False)
    table = Table(
        title=f"{result.records:,} {result.counted}, keys {', '.join(result.keys)}",
        title_justify="left",
        box=None,
        padding=(0, 1),
    )
    informed = result.plane is not None  # eighty columns hold either the bars or the information
    risk = ("tells", "corrected", "95 % interval") if informed else ("", "linked %")
    rest = ("groups", "seconds") if informed else ("groups", "largest", "seconds")
    for heading in ("k", "method", "loss %", "published", *risk, *rest):
        table.add_column(heading, justify="left" if heading in ("method", "") else "right")
    worst = max((row.loss for row in result.rows), default=0.0) or 1.0
    last = None
    for row in sorted(result.rows, key=lambda row: (row.k, row.loss)):
        if last not in (None, row.k):
            table.add_section()
        bar = "█" * max(1, round(BAR * row.loss / worst))
        table.add_row(
            str(row.k) if row.k != last else "",
            row.method,
            f"{row.loss:.3f}",
            "–" if row.published is None else f"{row.published:.2f}",
            *(_information(row) if informed else (f"[cyan]{bar:<{BAR}}[/]", f"{100 * row.linkage:.2f}")),
            f"{row.groups:,}",
            *(() if informed else (f"{row.largest:,}",)),
            f"{row.seconds:.2f}",
        )
        last = row.k
    out.print(table)
    _explain_loss(result, out)
    _explain(result, out)
    late = [what for what, why in result.skipped.items() if why == LATE]
    for what, why in result.skipped.items():
        if why != LATE:
            out.print(f"left out: {what}: {why}")
    if late:
        out.print(
            f"left out because they take more than a minute; --all runs them: {'; '.join(late)}",
            soft_wrap=True,
        )
    if report is not None:
        common.console().print(f"written: {report}")


def _information(row: Row) -> tuple[str, ...]:
    result = row.information
    if result is None:
        return ()
    return f"{result.plug_in:.3f}", f"{result.corrected:.3f}", f"{result.low:.3f}–{result.high:.3f}"


def _explain_loss(result: Comparison, out: Console) -> None:
    """Explain the unit of the loss."""
    whose = ". People were grouped; the loss is that of their rows" if result.counted == "people" else ""
    out.print(
        "loss: percent of the keys' variance that the groups lose; published: the loss after centres are "
        f"rounded to possible values{whose}.",
        soft_wrap=True,
    )


def _explain(result: Comparison, out: Console) -> None:
    """Explain the risk and its limits."""
    outcome = result.plane
    if outcome is None:
        return
    name, most = outcome.levels.column, outcome.unchanged
    out.print(
        f"tells: nats about {name} in the groups of this table, of {most.entropy:.3f} that could be "
        f"learned; the keys unchanged tell {most.plug_in:.3f}. Small groups seem to tell much by chance; "
        f"'corrected' and its interval estimate the value in the population. {name}: {outcome.levels.how}.",
        soft_wrap=True,
    )
    for note in outcome.notes:
        out.print(f"note: {note}", soft_wrap=True)
