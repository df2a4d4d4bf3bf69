"""`voronym page`: anonymize a table on a local web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voronym.cli.verbs import verb


@verb(
    "page",
    purpose="First steps",
    examples=("voronym page", "voronym page patients.csv"),
    place=3,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("page")(page)


def page(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A table to open at once, read where it is: a file, a folder, or a pattern in quotes.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the address in a browser.")
    ] = True,
    memory: Annotated[
        int,
        typer.Option(
            "--memory",
            rich_help_panel="Options",
            help="Megabytes for the work on one table; 0 for half of the machine's memory.",
        ),
    ] = 0,
    upload: Annotated[int, typer.Option("--upload", help="Largest upload, in megabytes.")] = 512,
) -> None:
    """Open a page on this computer: choose a file, see the risks, make the release."""
    from voronym.errors import InputError, MissingExtraError, ReadError
    from voronym.run.source import has_parts

    try:
        from voronym.web.intake import MEGA, Limits
        from voronym.web.process import Refused
        from voronym.web.serve import serve
    except ImportError as error:
        if error.name and error.name.startswith("voronym"):
            raise
        raise MissingExtraError("the page needs Starlette and uvicorn: pip install 'voronym[page]'") from None
    if not 0 <= port < 65536 or memory < 0 or upload < 1:
        raise InputError("--port takes 0 to 65535, --memory and --upload whole numbers of megabytes")
    if source is not None and not source.is_file() and not has_parts(source):
        raise ReadError(f"there is no file {source.name!r} in that folder; check the path")
    limits = Limits(sent=upload * MEGA, unpacked=upload * MEGA * 3 // 2)
    try:
        serve(
            source,
            port=port,
            memory=memory or _half(),
            limits=limits,
            printed=_Printed(),
            browse=_browse if browser else None,
        )
    except Refused as error:
        if "“" not in str(error):
            raise
        raise ReadError(
            f"{error}. These are fields of the page: start voronym page without the file, and choose it there"
        ) from None


class _Printed:
    """Prints addresses."""

    def __init__(self) -> None:
        self._first = True

    def __call__(self, address: str) -> None:
        if self._first:
            typer.echo(f"The page, for one browser:\n  {address}\nCtrl-C ends it, and wipes what is on it.")
        else:
            typer.echo(f"To open it in another browser:\n  {address}")
        self._first = False


def _browse(address: str) -> None:
    """Open a browser."""
    import webbrowser

    webbrowser.open(address)


def _half() -> int:
    """Return half of this computer's memory in megabytes, at least 2,048."""
    import os

    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    except (ValueError, OSError, AttributeError):  # another system
        there = 0
    return max(2_048, there // 2)
