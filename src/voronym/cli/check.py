"""`voronym check`: whether a table of any tool meets the demands of a policy."""

from __future__ import annotations

import json as _json
from pathlib import Path
from typing import Annotated, Any

import typer

from voronym.cli import common, declared, files, recipes, scale
from voronym.cli.verbs import verb
from voronym.errors import InputError, WriteError
from voronym.request.choices import ColumnChoices, ReleaseChoices

TAKEN = ("keys", "confidential", "kinds", "orders", "locations", "person", "household", "sampling_fraction",
         "population", "policy", "facts")  # fmt: skip
"""Choices of `voronym anonymize` that this verb also takes."""
SUFFIXES = (".html", ".json", ".txt")


@verb(
    "check",
    purpose="Judge a release",
    examples=(
        "voronym check release.csv --policy hipaa-safe-harbor -o checklist.html",
        "voronym check release.csv --policy ema-0070 --key age,sex,zip --original patients.csv",
    ),
    place=3,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    choices = declared.takes(ColumnChoices, ReleaseChoices, only=TAKEN)
    app.command("check")(files.reads(files.reads(choices(check)), prefix="original"))


@verb("policies", purpose="Look up", examples=("voronym policies", "voronym policies ema-0070"))
def register_policies(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("policies")(policies)


def check(
    source: common.Source,
    original: Annotated[
        str | None, typer.Option("--original", help="The table it was made from, for attacks and losses.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the checklist: .html to print and sign, .json, .txt."),
    ] = None,
    holds: Annotated[
        list[str] | None,
        typer.Option("--holds", help="The content of a column, if its name does not show it.",
                     metavar="COLUMN=WORD"),
    ] = None,
    recipe: recipes.Recipes = None,
    query: common.Query = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.")] = False,
    json: common.Json = False,
    reading: Any = None,
    original_reading: Any = None,
    typed: Any = None,
) -> None:  # fmt: skip
    """Judge a table of any tool by a policy, and write the checklist.

    Each demand gets its figure, a verdict and the evidence; a person must judge the demands that no
    program can decide. Masked cells of other tools, such as *, 08*** and [20, 40[, are understood. The
    exit code is 3 if a demand fails.
    """
    from voronym.policy.judge import check as judge
    from voronym.policy.policy import Policy

    if "policy" not in typed:
        raise InputError("name the policy: --policy NAME or --policy FILE. `voronym policies` lists them")
    policy = Policy.load(typed["policy"])
    outputs = list(output or ())
    odd = [path for path in outputs if path.suffix not in SUFFIXES]
    if odd:
        raise InputError(
            f"a checklist is written as {', '.join(SUFFIXES)}, by its suffix: {odd[0]} is none of them"
        )
    also = [item for item in (original, typed.get("population")) if item]
    common.check_outputs(outputs, source=source, overwrite=overwrite, also=also)
    written = recipes.load(recipe)
    known = {} if written is None else dict(written.reading)
    with common.ticker(not json) as bar:
        bar.begin("reading", 0.0)
        frame = _table(source, recipes.reading(written, source, reading, query=query))
        before = (
            None
            if original is None
            else files.read_beside(original, "original", **{**known, **original_reading})
        )
        given = declared.choices_of(typed, frame.columns)
        given.pop("policy")
        about = {name: given.pop(name, None) for name in ("facts", "sampling_fraction", "population")}
        columns = {name: given[name] for name in ColumnChoices.names() if name in given}
        if written is not None:
            columns = recipes.columns(written, columns, frame.columns)
        made = judge(
            frame,
            policy,
            original=before,
            holds=common.pairs(holds or (), "--holds"),
            label=source,
            progress=bar.part(0.1, 0.9),
            **about,
            **columns,
        )
        for path in outputs:
            write_checklist(made, path)
    if json:
        common.emit(made.to_dict())
    else:
        common.print_lines(str(made))
    if not made.passes:
        raise typer.Exit(3)


def _table(source: str, reading: dict[str, Any]) -> Any:
    """Read a table; join the files of a data set into one."""
    from voronym.table.read import read

    if not scale.many(source, {}):
        return read(source, **reading)
    from voronym.run.parts.source import find, load_whole
    from voronym.run.source import as_files

    with as_files(source, None, reading) as files:
        return load_whole(find(files), reading)


def write_checklist(made: Any, path: Path) -> None:
    """Write a checklist by the suffix of its file."""
    from voronym.core.atomic import placed
    from voronym.core.formats import program_version
    from voronym.report.checklist import render_checklist

    by = {"voronym": program_version()}
    texts = {
        ".html": lambda: render_checklist(made),
        ".json": lambda: _json.dumps(by | made.to_dict(), indent=2, ensure_ascii=False),
        ".txt": lambda: f"{made}\n\nMade with voronym {by['voronym']}.\n",
    }
    try:
        with placed(path) as temporary:
            temporary.write_text(texts[path.suffix](), encoding="utf-8")
    except OSError as error:
        raise WriteError(f"cannot write the checklist {path}: {error.strerror}") from None


def policies(
    name: Annotated[str | None, typer.Argument(help="A policy to print as a file.")] = None,
    json: common.Json = False,
) -> None:
    """List the policies that are shipped, or print one as a file to copy and change."""
    from voronym.policy.policy import Policy, shipped

    if name is not None:
        policy = Policy.load(name)
        if json:
            common.emit(_described(policy))
        else:
            typer.echo(policy.text, nl=False)
        return
    known = [Policy.load(item) for item in shipped()]
    if json:
        common.emit([_described(element) for element in known])
        return
    wide = max(len(entry.name) for entry in known)
    common.print_lines(
        "\n".join(f"{member.name:<{wide}}  {member.title}. {member.source}" for member in known)
    )


def _described(policy: Any) -> dict[str, Any]:
    return {
        "name": policy.name,
        "title": policy.title,
        "version": policy.version,
        "date": policy.date.isoformat(),
        "source": policy.source,
        "link": policy.link,
        "facts": dict(policy.facts),
        "note": policy.note,
        "demands": [
            {
                "section": demand.section,
                "demand": demand.name,
                "says": demand.says,
                "source": demand.source,
                "line": demand.line,
            }
            for demand in policy.demands
        ],
    }
