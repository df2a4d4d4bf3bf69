"""`voronym anonymize` writes a verified release of a file; `voronym plan` estimates its cost in advance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import asking, common, declared, files, recipes, scale
from voronym.cli.chosen import method_options
from voronym.cli.made import show
from voronym.cli.verbs import verb
from voronym.core.grammar import name_of
from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.cli.line import Bar
    from voronym.release import Release
    from voronym.table.write import WriteReceipt


MORE = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Options of a single method, such as --gamma 1.1, are read once the method is known."""


@verb(
    "anonymize",
    purpose="Make a release",
    examples=(
        "voronym anonymize patients.csv -o release.csv --key age,sex,zip --confidential diagnosis "
        "--drop-undeclared -k 5 --report report.html",
        "voronym anonymize patients.csv -o close.csv --key age,zip --confidential diagnosis "
        "--drop-undeclared --model t-closeness=0.4 --save-recipe recipe.toml",
        "voronym anonymize june.csv -o june-release.csv --recipe recipe.toml --ledger releases.ledger",
    ),
    place=1,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(*declared.ALL)
    app.command("anonymize", context_settings=MORE)(files.writes(files.reads(choices(anonymize))))


@verb(
    "plan",
    purpose="Make a release",
    examples=(
        "voronym plan visits/ --key age,zip --confidential diagnosis --drop-undeclared -k 10 --memory 8GB",
    ),
    place=3,
)
def register_plan(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("plan", context_settings=MORE)(files.reads(declared.takes(*declared.ALL)(plan)))


def anonymize(
    more: typer.Context,
    source: common.Source,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file of the release; its suffix chooses the format."),
    ] = None,
    recipe: recipes.Recipes = None,
    save_recipe: Annotated[
        Path | None, typer.Option("--save-recipe", help="Write the recipe (TOML or JSON).")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the internal report (HTML).")] = None,
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Write the report for readers (HTML).")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="The language of both reports.", metavar="en|de|fr|es")
    ] = "en",
    title: Annotated[str | None, typer.Option("--title", help="Title of the reports.")] = None,
    publisher: Annotated[
        str | None, typer.Option("--publisher", help="Publisher of the release, named in the reports.")
    ] = None,
    query: common.Query = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    on_interrupt: Annotated[
        str, typer.Option("--on-interrupt", help="On Ctrl-C: write nothing, or the best release so far.",
                          metavar="nothing|best")
    ] = "nothing",
    progress: common.Progress = "auto",
    format: Annotated[  # noqa: A002 - what everybody calls it
        str | None,
        typer.Option("--format", help="The format of many files: parquet or csv. Default: as the source.",
                     rich_help_panel="Many parts"),
    ] = None,
    json: common.Json = False,
    reading: Any = None,
    writing: Any = None,
    typed: Any = None,
) -> None:  # fmt: skip
    """Make a k-anonymous release of a table.

    Identifiers are dropped, keys are replaced by the centre of a group of at least k records, the rest is
    kept, and the rows are shuffled. Every column needs a role; an undeclared one is an error.

    The methods `channel` and `records` make no groups and promise no k: they mask record by record.

    A folder, or a pattern such as 'people/*.parquet', is a data set of many parts: it need not fit the
    memory, and the release is a folder, too. See `voronym plan`.

    On a terminal and without any role given, voronym proposes one for every column and asks. Then it runs,
    and saves recipe and report next to the release.
    """
    common.show_progress(progress)
    asked = Asked.of(more, source, typed, recipe, reading, query)
    if asking.wanted(typed, recipe=recipe, json=json, output=output) and not asked.many:
        asked, output = _first(asked, output)
        save_recipe = save_recipe or output.with_name(f"{output.stem}-recipe.toml")
        report = report or output.with_name(f"{output.stem}-report.html")
    if output is None:
        raise InputError("missing option '--output' / '-o'. See voronym anonymize -h")
    about = {"title": title, "publisher": publisher, "language": language}
    outputs = Outputs(
        output, report, public_report, save_recipe, writing, overwrite=overwrite, json=json, about=about
    )
    outputs.check(asked)
    if asked.many:
        if on_interrupt != "nothing":
            scale.refuse({"on_interrupt": on_interrupt})
        scale.anonymize(asked, outputs, format)
        return
    if format is not None:
        scale.refuse_single("--format")
    common.on_interrupt(on_interrupt)
    release, receipt, figures = _single(asked, outputs)
    if json:
        common.emit({**figures, "written": _on_disk(receipt)})
    else:
        show(release, receipt, outputs.others, progress=progress)


def plan(
    more: typer.Context,
    source: common.Source,
    recipe: recipes.Recipes = None,
    query: common.Query = None,
    rows: Annotated[int | None, typer.Option(help="Plan for this number of rows like these.")] = None,
    price: Annotated[
        float | None, typer.Option(help="Price of an hour of a worker, to estimate the money.")
    ] = None,
    json: common.Json = False,
    reading: Any = None,
    typed: Any = None,
) -> None:
    """Estimate what anonymizing a data set of many parts would do and cost; change nothing.

    It takes the options of `voronym anonymize`.
    """
    scale.plan(Asked.of(more, source, typed, recipe, reading, query), json=json, rows=rows, price=price)


@dataclass(frozen=True)
class Asked:
    """The command as typed.

    Parameters
    ----------
    source : str
        The table.
    typed : mapping
        Choices, by name.
    own : list of (str, str)
        Options of the method, which no verb declares.
    flags : list of str
        The flags that the verb declares.
    recipe : Recipe, optional
        The recipe that was named.
    reading : mapping
        Reading options of the source.
    query : str, optional
        Query to a database.
    """

    source: str
    typed: Mapping[str, Any]
    own: list[tuple[str, str]]
    flags: list[str]
    recipe: Any
    reading: Mapping[str, Any]
    query: str | None

    @classmethod
    def of(
        cls,
        more: typer.Context,
        source: str,
        typed: Mapping[str, Any],
        recipe: Path | None,
        reading: Mapping[str, Any],
        query: str | None,
    ) -> Asked:
        """Gather the typed options."""
        flags = [flag for parameter in more.command.params for flag in parameter.opts]
        source, own = common.words([source, *more.args], flags)
        return cls(source, typed, own, flags, recipes.load(recipe), reading, query)

    @property
    def many(self) -> bool:
        """Whether the source is a data set of many parts."""
        return scale.many(self.source, self.typed)

    def choices(self, columns: list[str]) -> dict[str, Any]:
        """Return the choices, read with the columns of the table."""
        given = declared.choices_of(self.typed, columns)
        pairs = given.pop("options", None)
        usual = "local-suppression" if given.get("like") == "sdcmicro" else "auto"
        method = given.get("method", usual) if self.recipe is None else self.recipe.method
        if method == "auto" and any(name_of(text) == "dp" for text in given.get("models", ())):
            method = "dp"
        options = method_options(method, pairs or {}, self.own, columns, self.flags)
        return {**given, **({"options": options} if options else {})}


@dataclass(frozen=True)
class Outputs:
    """Paths of the release, its reports and its recipe."""

    release: Path
    report: Path | None
    public_report: Path | None
    save_recipe: Path | None
    writing: Mapping[str, Any]
    overwrite: bool
    json: bool
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def others(self) -> list[Path]:
        """The files written in addition to the release."""
        named = (self.report, self.public_report, self.save_recipe)
        return [path for path in named if path is not None]

    def check(self, asked: Asked) -> None:
        """Refuse outputs that cannot be written, before the work."""
        language = self.about.get("language", "en")
        if language != "en":
            from voronym.report.language import reader

            with reader(language):
                pass
        files.refuse_stdout(
            save_recipe=self.save_recipe, report=self.report, public_report=self.public_report
        )
        paths = self.others
        if not asked.many:
            table = self.writing.get("table")
            made = files.check_release(self.release, json=self.json, overwrite=self.overwrite, table=table)
            paths = [*made, *paths]
        common.check_outputs(paths, source=asked.source, overwrite=self.overwrite)

    def write(self, release: Release, bar: Bar) -> tuple[WriteReceipt, dict[str, Any]]:
        """Write everything; return the receipt of the release, and its figures if they are shown."""
        bar.begin("writing", 0.6)
        receipt = release.write(self.release, overwrite=self.overwrite, **self.writing)
        figures: dict[str, Any] = {}
        if self.json or self.report is not None:
            figures = release.dossier(
                progress=bar.part(0.65, 0.95), attacked=self.report is not None
            ).to_dict()
        bar.begin("drawing", 0.95)
        self.write_others(release)
        if release.booking is not None:
            from voronym.history.figures import figures_of

            figures = {**figures, "ledger": figures_of(release.booking).to_dict()}
        return receipt, figures

    def write_others(self, release: Any) -> None:
        """Write recipe and reports."""
        if self.save_recipe is not None:
            release.recipe.save(self.save_recipe)
        if self.report is not None:
            release.report(self.report, **self.about)
        if self.public_report is not None:
            release.report(self.public_report, audience="public", **self.about)


def _first(asked: Asked, output: Path | None) -> tuple[Asked, Path]:
    """Ask for the columns' roles; return the answers as if typed, and where to write."""
    from voronym.table.read import read

    query = {} if asked.query is None else {"query": asked.query}
    frame = read(asked.source, **asked.reading, **query)
    typed, missing = asking.ask(asked.source, frame, asked.typed)
    target = asking.place(asked.source, output)
    reading = dict(asked.reading)
    if missing:
        reading["missing"] = [*reading.get("missing", ()), *missing]
    asking.show_command(asked.source, target, typed, frame.columns, **query, **reading)
    return replace(asked, typed=typed, reading=reading), target


def _single(asked: Asked, outputs: Outputs) -> tuple[Release, WriteReceipt, dict[str, Any]]:
    """Read a single table, make its release and write it; on failure write nothing."""
    from voronym.run.door import anonymize as make
    from voronym.table.read import fitting, read

    with common.ticker(not outputs.json, search=True) as bar:
        bar.begin("reading", 0.0)
        known = {} if asked.recipe is None else fitting(asked.recipe.reading, asked.source)
        query = {} if asked.query is None else {"query": asked.query}
        frame = read(asked.source, **{**known, **asked.reading, **query})
        release = make(
            frame,
            recipe=asked.recipe,
            progress=bar.part(0.05, 0.6, search=True),
            **asked.choices(frame.columns),
        )
        return release, *outputs.write(release, bar)


def _on_disk(receipt: WriteReceipt) -> dict[str, Any]:
    from voronym.table.places import shown

    return {
        "path": shown(receipt.path),
        "rows": receipt.rows,
        "k_counted": receipt.k_counted,
        "sha256": receipt.sha256,
        "guarded_cells": receipt.guarded_cells,
    }
