"""`voronym anonymize`: a file in, a verified file out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, complete, files, scale
from voronym.cli.chosen import method_options

if TYPE_CHECKING:
    from voronym.release import Release
    from voronym.table.write import WriteReceipt


SHOWN = 8
"""Solutions of uniform coding that are printed, at most."""


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    # What a method alone understands, as --gamma 1.1, is read when the method is known.
    app.command("anonymize", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
        scale.scales(files.writes(files.reads(anonymize)))
    )


def anonymize(
    more: typer.Context,
    source: common.Source,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where to write the release; the suffix chooses the format."),
    ],
    key: common.Keys = None,
    confidential: common.Confidential = None,
    identifier: common.Identifiers = None,
    other: common.Others = None,
    drop_undeclared: common.DropUndeclared = False,
    kind: common.Kinds = None,
    order: common.Orders = None,
    location: common.Locations = None,
    person: common.Person = None,
    household: common.Household = None,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms", help="Keep these two columns, as fresh random names: rows can be joined."
        ),
    ] = False,
    allow_near_unique: Annotated[
        list[str] | None,
        typer.Option("--allow-near-unique", help="Keys that may publish what one person alone has."),
    ] = None,
    allow_loss: Annotated[
        list[str] | None,
        typer.Option("--allow-loss", help="Keys of which next to nothing need be left."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="Least number of records that share a combination of keys.", show_default="5"
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", help="See `voronym methods`.", show_default="auto", autocompletion=complete.methods
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="NAME=VALUE: An option of the method. `--NAME VALUE` does the same."),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            "--space",
            help="euclidean; mixed: each key has a metric of its own; ranges: groups for narrow ranges.",
            show_default="euclidean",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="NAME=VALUE: A further guarantee, such as t-closeness=0.2.",
            autocompletion=complete.models,
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            "--step",
            help="What is done to columns before groups are made, such as 'top age=90'; 'after ...' to what "
            "they publish. Repeat for several.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Seconds, for methods that take a limit.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Take roles, method and models from a recipe.")
    ] = None,
    save_recipe: Annotated[
        Path | None, typer.Option("--save-recipe", help="Write the recipe (TOML or JSON).")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the internal report (HTML).")] = None,
    public_report: Annotated[
        Path | None, typer.Option("--public-report", help="Write the report for readers (HTML).")
    ] = None,
    intruder: Annotated[
        str | None,
        typer.Option(
            "--intruder", help="keys, or method: who knows how groups were made, too.", show_default="keys"
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Remember who was released with whom; refuse what tells them apart."),
    ] = None,
    keep_groups: Annotated[
        bool, typer.Option("--keep-groups", help="Build on the groups of the releases in the ledger.")
    ] = False,
    publish: Annotated[
        list[str] | None,
        typer.Option(
            "--publish",
            help="What a group publishes: mean, median, interval or hierarchy. Repeat for several columns.",
            show_default="mean",
        ),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", help="COLUMN=FILE: The hierarchy of a key. Repeat for several."),
    ] = None,
    query: common.Query = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    on_interrupt: Annotated[
        str, typer.Option("--on-interrupt", help="What Ctrl-C takes: nothing, or the best so far (best).")
    ] = "nothing",
    device: Annotated[
        str | None,
        typer.Option(
            "--device", help="cpu, cuda (a GPU), or auto: a GPU where there is one.", show_default="cpu"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="Seed of the random choices.",
            show_default="0; drawn afresh for channel and records",
        ),
    ] = None,
    json: common.Json = False,
    reading: Any = None,
    writing: Any = None,
    scaling: Any = None,
) -> None:
    """Make a k-anonymous release of a table.

    Identifiers are dropped, keys are replaced by the centre of a group of at least k records, the rest is
    kept, and the rows are shuffled. Every column needs a role; an undeclared one is an error.

    The methods `channel` and `records` make no groups and promise no k: they mask record by record.

    More options are the method's, such as --suppress 1%, --strata region, --weights weight or --importance
    age=2: `voronym methods auto` tells them, and `voronym methods NAME` those of another.

    A folder, or a pattern such as 'people/*.parquet', is a data set of many files: it need not fit the
    memory, and the release is a folder, too. See `voronym plan`.
    """
    from voronym.pipeline import anonymize as make
    from voronym.privacy import split_models
    from voronym.recipe import Recipe
    from voronym.table.read import read

    flags = [flag for one in more.command.params for flag in one.opts]
    source, own = common.words([source, *more.args], flags)
    if scale.many(source, scaling):
        scale.anonymize(
            source,
            output,
            scaling,
            roles={"keys": key, "confidential": confidential, "identifiers": identifier, "other": other,
                   "allow_near_unique": allow_near_unique, "allow_loss": allow_loss},
            columns={"kind": kind, "order": order, "location": location, "drop_undeclared": drop_undeclared,
                     "person": person, "household": household, "pseudonyms": pseudonyms},
            said={"k": k, "method": method, "option": option, "own": own, "flags": flags, "seed": seed,
                  "model": model, "step": step, "reading": scale.with_query(reading, query),
                  "recipe": None if recipe is None else Recipe.load(recipe)},
            refused={"space": space, "time_limit": time_limit, "device": device,
                     "intruder": intruder, "ledger": ledger, "keep_groups": keep_groups,
                     "publish": publish, "hierarchy": hierarchy,
                     "on_interrupt": None if on_interrupt == "nothing" else on_interrupt},
            reports=(report, public_report),
            writing=writing,
            save_recipe=save_recipe,
            overwrite=overwrite,
            json=json,
        )  # fmt: skip
        return
    files.refuse_stdout(save_recipe=save_recipe, report=report, public_report=public_report)
    outputs = [*files.check_release(output, json=json), save_recipe, report, public_report]
    common.check_outputs(outputs, source=source, overwrite=overwrite)
    common.on_interrupt(on_interrupt)
    written = None if recipe is None else Recipe.load(recipe)
    with common.ticker(not json, search=True) as bar:
        bar.begin("reading", 0.0)
        known = {} if written is None else written.reading
        frame = read(source, query=query, **{**known, **reading})
        name, where = (method or "auto", space) if written is None else (written.method, written.space)
        chosen = method_options(name, where, option or (), own, frame.columns, flags)
        release = make(
            frame,
            keys=common.names(key, frame.columns),
            confidential=common.names(confidential, frame.columns),
            identifiers=common.names(identifier, frame.columns),
            other=common.names(other, frame.columns),
            drop_undeclared=drop_undeclared,
            **common.column_options(kind, order, location, frame.columns),
            person=person,
            household=household,
            pseudonyms=pseudonyms,
            allow_near_unique=common.names(allow_near_unique, frame.columns),
            allow_loss=common.names(allow_loss, frame.columns),
            k=k,
            method=method,
            options=chosen,
            space=space,
            models=split_models(model or ()),
            time_limit=time_limit,
            seed=seed,
            device=device,
            recipe=written,
            intruder=intruder,
            steps=step or (),
            ledger=ledger,
            keep_groups=keep_groups,
            publish=ways(publish),
            hierarchies=common.pairs(hierarchy, "--hierarchy") or None,
            progress=bar.part(0.05, 0.6, search=True),
        )
        bar.begin("writing", 0.6)
        receipt = release.write(output, overwrite=overwrite, **writing)
        if save_recipe is not None:
            release.recipe.save(save_recipe)
        figures: dict[str, Any] = {}
        if json or report is not None:
            figures = release.dossier(progress=bar.part(0.65, 0.95)).to_dict()
        bar.begin("drawing", 0.95)
        if report is not None:
            release.report(report)
        if public_report is not None:
            release.report(public_report, audience="public")
    if json:
        on_disk = {
            "path": str(receipt.path),
            "rows": receipt.rows,
            "k_counted": receipt.k_counted,
            "sha256": receipt.sha256,
            "guarded_cells": receipt.guarded_cells,
        }
        told = {} if release.booking is None else {"ledger": release.booking.figures}
        common.emit({**figures, **told, "written": on_disk})
    else:
        show(release, receipt, [path for path in (report, public_report, save_recipe) if path is not None])


def ways(given: Sequence[str] | None) -> dict[str, str] | None:
    """Read ``--publish WAY`` and ``--publish COLUMN=WAY``."""
    if not given:
        return None
    return common.pairs([one if "=" in one else f"*={one}" for one in given], "--publish")


def show(release: Release, receipt: WriteReceipt, others: list[Path]) -> None:
    """Print what a release promises and what it cost."""
    from rich.table import Table

    from voronym.registry import METHODS

    out = common.console()
    risk = release.risk
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()

    def line(name: str, text: Any) -> None:
        grid.add_row(name, str(text))

    loss = release.group_loss
    units = release.schema.units
    counted = "" if not units else " households" if "household" in units else " people"
    classes = "1 class" if risk.n_classes == 1 else f"{risk.n_classes:,} classes"
    line("records", f"{receipt.rows:,} in {classes} of {risk.k}{counted} or more")
    if not release.recipe.makes_groups:
        line("method", f"{release.recipe.method}, which promises: {METHODS[release.recipe.method].guarantee}")
    if "linkage" in release.figures:
        now = release.figures["linkage"]["after"]
        words = (
            f"{100 * now['low']:.1f} to {100 * now['high']:.1f} %, {100 * now['confidence']:.0f} % confidence"
        )
        line("an attack", f"links {100 * now['value']:.1f} % of the records to the right one ({words})")
    for finding in release.findings:
        line("holds" if finding.required is not None else "measured", str(finding).removesuffix(": holds"))
    if release.information_loss is not None:
        line("information loss", f"{release.information_loss:.2f} % of the keys' variance, as published")
    if release.information_loss is not None and release.information_loss > 100:
        line("", "above 100 %: a wrong category is further from the truth than the average of all records is")
    if loss is not None:
        line("", f"{loss:.2f} % in the groups, before their centres became values that can occur")
    for cost in release.costs[:-1] if len(release.costs) > 1 else ():
        line(
            "",
            f"{cost.loss:.2f} % with {cost.guarantee} alone"
            if cost is release.costs[0]
            else f"{cost.loss:.2f} % with {cost.guarantee} added",
        )
    if release.schema != release.recipe.schema:  # ranges are published
        line("ranges", release.penalty)
    if release.gap is not None:
        line("", f"the groups lose at most {release.gap:.2f} % more than the best possible ones")
    for number, effect in enumerate(release.effects):
        line("" if number else "steps", effect)
    for number, done in enumerate(release.steps):
        line("" if number else "what was done", done)
    for number, one in enumerate(release.figures.get("lattice", {}).get("frontier", ())[::-1][1:SHOWN]):
        levels = ", ".join(f"{name} {level}" for name, level in one["levels"].items())
        text = f"{one['suppressed']:,} suppressed, penalty {one['loss']:.2f} %: {levels}"
        line("" if number else "other levels", text)
    if release.booking is not None:
        told = release.booking.figures
        line(
            "with earlier releases",
            f"{told['known']:,} people are in the {told['earlier_releases']} before it; "
            f"{told['smallest_history']} or more share all groups of each since they were formed"
            if told["earlier_releases"]
            else "none yet: this is the first in the ledger",
        )
    line(
        "counted in the file",
        f"k = {receipt.k_counted}{counted}" + (", none promised" if release.recipe.k is None else ""),
    )
    if receipt.guarded_cells:
        line(
            "guarded",
            f"{receipt.guarded_cells:,} text cells that a spreadsheet might run got an apostrophe",
        )
    if release.source is not None and (said := release.source.says()):
        line("read", said)
    line("written", "to standard output" if str(receipt.path) == "-" else receipt.path)
    for path in others:
        line("", path)
    out.print(grid)
