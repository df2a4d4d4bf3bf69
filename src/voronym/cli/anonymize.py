"""`voronym anonymize`: a file in, a verified file out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, complete, files, scale
from voronym.cli.chosen import method_options
from voronym.cli.made import show
from voronym.cli.verbs import verb

if TYPE_CHECKING:
    from voronym.cli.line import Bar
    from voronym.recipe import Recipe
    from voronym.release import Release
    from voronym.table.write import WriteReceipt


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
    flags = [flag for one in more.command.params for flag in one.opts]
    source, own = common.words([source, *more.args], flags)
    outputs = Outputs(output, report, public_report, save_recipe, writing, overwrite=overwrite, json=json)
    roles = {"keys": key, "confidential": confidential, "identifiers": identifier, "other": other,
             "allow_near_unique": allow_near_unique, "allow_loss": allow_loss}  # fmt: skip
    columns = {"kind": kind, "order": order, "location": location}
    facts = {"drop_undeclared": drop_undeclared, "person": person, "household": household,
             "pseudonyms": pseudonyms}  # fmt: skip
    typed = {"option": option, "own": own, "flags": flags}
    wishes: dict[str, Any] = {"k": k, "method": method, "seed": seed, "recipe": _recipe(recipe)}
    alone = {"space": space, "time_limit": time_limit, "device": device, "intruder": intruder,
             "ledger": ledger, "keep_groups": keep_groups}  # fmt: skip
    if scale.many(source, scaling):
        scale.anonymize(
            source,
            output,
            scaling,
            roles=roles,
            columns={**columns, **facts},
            said={**wishes, **typed, "model": model, "step": step,
                  "reading": scale.with_query(reading, query)},
            refused={**alone, "publish": publish, "hierarchy": hierarchy,
                     "on_interrupt": None if on_interrupt == "nothing" else on_interrupt},
            reports=(report, public_report),
            writing=writing,
            save_recipe=save_recipe,
            overwrite=overwrite,
            json=json,
        )  # fmt: skip
        return
    from voronym.privacy import split_models

    outputs.check(source)
    common.on_interrupt(on_interrupt)
    wishes |= alone | facts | {"models": split_models(model or ()), "steps": step or (),
                               "publish": ways(publish),
                               "hierarchies": common.pairs(hierarchy, "--hierarchy") or None}  # fmt: skip
    release, receipt, figures = _single(source, outputs, (query, reading), roles, columns, typed, wishes)
    if json:
        common.emit({**figures, "written": _on_disk(receipt)})
    else:
        show(release, receipt, outputs.others)


@dataclass(frozen=True)
class Outputs:
    """Where a release of a single table is written, and what about it."""

    release: Path
    report: Path | None
    public_report: Path | None
    save_recipe: Path | None
    writing: Mapping[str, Any]
    overwrite: bool
    json: bool

    @property
    def others(self) -> list[Path]:
        """What is written beside the release."""
        named = (self.report, self.public_report, self.save_recipe)
        return [path for path in named if path is not None]

    def check(self, source: str) -> None:
        """Refuse what cannot be written, before the work."""
        files.refuse_stdout(
            save_recipe=self.save_recipe, report=self.report, public_report=self.public_report
        )
        paths = [*files.check_release(self.release, json=self.json), *self.others]
        common.check_outputs(paths, source=source, overwrite=self.overwrite)

    def write(self, release: Release, bar: Bar) -> tuple[WriteReceipt, dict[str, Any]]:
        """Write everything; return the receipt of the release, and the figures where they are shown."""
        bar.begin("writing", 0.6)
        receipt = release.write(self.release, overwrite=self.overwrite, **self.writing)
        if self.save_recipe is not None:
            release.recipe.save(self.save_recipe)
        figures: dict[str, Any] = {}
        if self.json or self.report is not None:
            figures = release.dossier(progress=bar.part(0.65, 0.95)).to_dict()
        bar.begin("drawing", 0.95)
        if self.report is not None:
            release.report(self.report)
        if self.public_report is not None:
            release.report(self.public_report, audience="public")
        told = {} if release.booking is None else {"ledger": release.booking.figures}
        return receipt, {**figures, **told}


def _recipe(path: Path | None) -> Recipe | None:
    from voronym.recipe import Recipe

    return None if path is None else Recipe.load(path)


def _single(
    source: str,
    outputs: Outputs,
    reading: tuple[str | None, Mapping[str, Any]],
    roles: Mapping[str, Sequence[str] | None],
    columns: Mapping[str, Sequence[str] | None],
    typed: Mapping[str, Any],
    wishes: Mapping[str, Any],
) -> tuple[Release, WriteReceipt, dict[str, Any]]:
    """Read a single table, make its release and write it: all of it, or nothing."""
    from voronym.pipeline import anonymize as make
    from voronym.table.read import read

    query, how = reading
    recipe: Recipe | None = wishes["recipe"]
    with common.ticker(not outputs.json, search=True) as bar:
        bar.begin("reading", 0.0)
        frame = read(source, query=query, **{**({} if recipe is None else recipe.reading), **how})
        if recipe is None:
            method, space = wishes["method"] or "auto", wishes["space"]
        else:
            method, space = recipe.method, recipe.space
        named: dict[str, Any] = {name: common.names(one, frame.columns) for name, one in roles.items()}
        release = make(
            frame,
            **named,
            **common.column_options(columns["kind"], columns["order"], columns["location"], frame.columns),
            **wishes,
            options=method_options(
                method, space, typed["option"] or (), typed["own"], frame.columns, typed["flags"]
            ),
            progress=bar.part(0.05, 0.6, search=True),
        )
        return release, *outputs.write(release, bar)


def _on_disk(receipt: WriteReceipt) -> dict[str, Any]:
    return {
        "path": str(receipt.path),
        "rows": receipt.rows,
        "k_counted": receipt.k_counted,
        "sha256": receipt.sha256,
        "guarded_cells": receipt.guarded_cells,
    }


def ways(given: Sequence[str] | None) -> dict[str, str] | None:
    """Read ``--publish WAY`` and ``--publish COLUMN=WAY``."""
    if not given:
        return None
    return common.pairs([one if "=" in one else f"*={one}" for one in given], "--publish")
