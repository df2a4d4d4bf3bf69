"""`voronym methods`: the registry of methods."""

from __future__ import annotations

import shutil
from typing import Annotated, Any

import typer

from voronym.cli import common, complete
from voronym.cli.help import wrapped
from voronym.cli.verbs import verb

_HEADS = {
    "groups": "Methods that make groups of k or more records",
    "release": "Methods that publish coarser or missing values instead of centres",
    "table": "Methods that make no groups: they mask record by record, and promise no k",
}


@verb(
    "methods",
    purpose="Look up",
    examples=("voronym methods", "voronym methods mdav"),
    place=1,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("methods")(methods)


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A method; without it, all are listed.", autocompletion=complete.methods, show_default=False
        ),
    ] = None,
    json: common.Json = False,
) -> None:
    """List the methods, or describe one: its promise, its cost and its options."""
    import voronym  # noqa: F401 - importing registers the methods
    from voronym.cli.chosen import options_of
    from voronym.method import METHODS

    chosen = list(METHODS.values()) if name is None else [METHODS[name]]
    rows: list[dict[str, Any]] = [
        {
            "kind": method.makes,
            "name": method.name,
            "summary": method.summary,
            "guarantee": method.guarantee,
            "cost": method.cost,
            "reference": method.reference,
            "options": {name: str(method.options.defaults()[name]) for name in options_of(method.name)},
            "meaning": method.options.texts(),
            "shared": _shared() if method.groups else {},
        }
        for method in sorted(chosen, key=lambda item: (item.makes, item.name != "auto", item.name))
    ]
    wide = shutil.get_terminal_size().columns
    if json:
        common.emit(rows)
    elif name is None:
        typer.echo("\n".join(_listed(rows, wide)))
    else:
        typer.echo("\n".join(_about(rows[0], wide)))


def _shared() -> dict[str, str]:
    """Return the meaning of the choices that every grouping method takes."""
    from voronym.request.choices import METHOD, PUBLISHING, SURVEY, ReleaseChoices

    own = ("method", "options", "steps", "publish", "hierarchies")  # which everybody knows by then
    return {
        name: choice.text
        for name, choice in ReleaseChoices.declared().items()
        if choice.purpose in (METHOD, PUBLISHING, SURVEY) and name not in own
    }


def _listed(rows: list[dict[str, Any]], wide: int) -> list[str]:
    """Return a line or two for each method, the default method first."""
    out: list[str] = []
    kind, room = "", max(len(row["name"]) for row in rows) + 4
    for row in rows:
        if row["kind"] != kind:
            kind = row["kind"]
            out += [*([""] if out else []), *wrapped(_HEADS[kind], wide), ""]
        result = row["summary"] + (" The default." if row["name"] == "auto" else "")
        first, *more = wrapped(result, wide, " " * room, " " * room)
        out += [f"  {row['name']}{first[2 + len(row['name']) :]}", *more]
    return [*out, "", "voronym methods NAME says more about one, with its options."]


def _about(row: dict[str, Any], wide: int) -> list[str]:
    out = [row["name"], *wrapped(row["summary"], wide, "  ", "  "), ""]
    for what in ("guarantee", "cost", "reference"):
        out += wrapped(f"{what}: {row[what]}", wide, "  ", "      ")
    for name, default in row["options"].items():
        words = f"{common.flag(name)} {default}  {row['meaning'][name]}"
        out += ["", *wrapped(words, wide, "  ", "      ")]
    if row["shared"]:
        out += ["", *wrapped("Options of every method that makes groups", wide, "  ", "  ")]
    for name, meaning in row["shared"].items():
        out += ["", *wrapped(f"{common.flag(name)}  {meaning}", wide, "  ", "      ")]
    return out
