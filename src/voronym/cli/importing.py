"""`voronym import`: turn settings of other programs into a recipe."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from voronym.cli import common
from voronym.cli.verbs import verb
from voronym.errors import InputError, worded

app = typer.Typer(name="import", help="Turn settings of other programs into a recipe.", no_args_is_help=True)


@verb(
    "import",
    purpose="Make a release",
    examples={
        "": ("voronym import arx clinic.deid",),
        "arx": (
            "voronym import arx clinic.deid -o clinic --data",
            "voronym import arx age-hierarchy.csv",
        ),
    },
    place=5,
)
def register(parent: typer.Typer) -> None:
    """Add the verbs to the application."""
    parent.add_typer(app)


@app.callback()
def root() -> None:
    """Take settings of other programs as a recipe."""


@app.command()
def arx(
    file: Annotated[Path, typer.Argument(help="A project of ARX (.deid), or a hierarchy of it (CSV).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to write to; by default the file's name."),
    ] = None,
    data: Annotated[bool, typer.Option("--data", help="Write the table of the project, too.")] = False,
    groups: Annotated[
        bool,
        typer.Option("--groups", help="Let each group publish its own ranges, instead of one level for all."),
    ] = False,
    json: common.Json = False,
) -> None:
    """Translate a project of ARX into a recipe and hierarchies; list what has no counterpart."""
    import zipfile

    if not file.is_file():
        raise InputError(f"there is no file {str(file)!r}")
    if zipfile.is_zipfile(file) or file.suffix == ".deid":
        _project(file, file.with_suffix("") if output is None else output, data, groups, json)
    elif data or groups:
        raise InputError("--data and --groups are for projects (.deid); this is a hierarchy alone")
    else:
        _hierarchy(file, output, json)


def _project(file: Path, folder: Path, data: bool, groups: bool, json: bool) -> None:
    from voronym.arx import import_project
    from voronym.arx.translate import copy_data

    made = import_project(file)
    table = folder / "data.csv"
    if data and not made.project.has_data:
        raise InputError(f"{file.name!r} has no table in it: leave out --data")
    if data and table.exists():
        raise InputError(f"{str(table)!r} exists already; name another folder")
    paths = list(made.write(folder, groups=groups))
    if data:
        copy_data(file, table)
        paths.append(table)
    if json:
        common.emit(
            {
                "project": made.project.name,
                "version": made.project.version,
                "written": list(map(str, paths)),
                "taken": made.taken,
                "left": list(map(worded, made.left)),
            }
        )
        return
    out = common.console()
    version = f", written by ARX {made.project.version}" if made.project.version else ""
    roles = ", ".join(
        f"{len([column for column in made.schema.columns if column.role == role])} {role}"
        for role in ("identifier", "key", "confidential", "other")
    )
    out.print(f"{len(made.schema.columns)} columns ({roles}){version}", markup=False)
    for title, lines in (
        ("taken", made.taken),
        ("not taken", map(worded, made.left)),
        ("written", map(str, paths)),
    ):
        for line in lines:
            out.print(f"{title}: {line}", markup=False, soft_wrap=True)
    source = str(table) if data else "TABLE"
    recipe = str(folder / "recipe.toml")
    typer.echo(shlex.join(["voronym", "anonymize", source, "-o", "RELEASE", "--recipe", recipe]))


def _hierarchy(file: Path, output: Path | None, json: bool) -> None:
    from voronym.generalize.hierarchy import Hierarchy

    tree = Hierarchy.read(file)
    if output is not None:
        raise InputError("voronym reads hierarchies of ARX directly, without conversion: leave out --output")
    if json:
        common.emit({"values": len(tree.values), "height": tree.height})
        return
    common.print_lines(
        f"{file}: {len(tree.values):,} values, {tree.height} levels above them. It is used as it is: "
        f"--publish COLUMN=hierarchy --hierarchy COLUMN={file}"
    )
