"""`voronym location serve`, `epoch`, `import`, `operator` and `migrate`: run and maintain a service."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.cli import common, signals
from voronym.errors import InputError
from voronym_location.cli import keeping
from voronym_location.cli.keeping import Config, Folder

if TYPE_CHECKING:
    from voronym_location.service import Service
    from voronym_location.settings import ServiceSettings


def register(parent: typer.Typer) -> None:
    """Add the verbs to `voronym location`."""
    for verb in (serve, epoch, operator, migrate):
        parent.command()(verb)
    parent.command("import")(import_directory)
    keeping.register(parent)


def serve(
    config: Config = None,
    folder: Folder = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on.")] = None,
) -> None:
    """Run the service: API, pages, and epochs on schedule."""
    settings = _settings(config, folder=folder, host=host, port=port)
    from voronym_location.serving import check_port
    from voronym_location.serving import serve as run

    check_port(settings)
    _say_if_new(settings)
    typer.echo(f"listening on http://{settings.host}:{settings.port} (Ctrl-C ends it)", err=True)
    with contextlib.suppress(signals.Stopped, KeyboardInterrupt):
        run(settings)
    typer.echo("the service has ended; all that was acknowledged is stored", err=True)


def epoch(
    config: Config = None,
    folder: Folder = None,
    look: Annotated[
        bool, typer.Option("--look", help="Keep it as a draft that nobody sees, and describe it.")
    ] = False,
    publish: Annotated[bool, typer.Option("--publish", help="Put the draft in force.")] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Discard the draft.")] = False,
    json: common.Json = False,
) -> None:
    """Make the next epoch and put it in force; if k cannot be kept, exit with code 3 and change nothing."""
    from voronym.core.context import Context

    if look + publish + discard > 1:
        raise InputError("--look, --publish and --discard are three acts: choose one")

    file = _missing(_settings(config, folder=folder))
    if file is not None:  # a mistyped folder would become an empty service
        raise InputError(
            f"there is no service in {str(file.parent)!r}: check --folder, or begin with "
            "voronym location import"
        )
    with _service(config, folder) as service, common.ticker(not json) as progress:
        ctx = Context(seed=0, progress=progress)
        if discard:
            done = service.discard_preview()
            typer.echo("the draft is gone" if done else "there was no draft", err=True)
            return
        if look:
            draft = service.preview_epoch(ctx=ctx)["figures"]
            figures = {"seconds": 0.0} | draft
        else:
            figures = {"seconds": 0.0} | (service.publish_preview() if publish else service.run_epoch(ctx))
        ctx.done()
    if json:
        common.emit(figures)
        return
    if look:
        counts = ", ".join(
            f"{words} {'under k' if figures[name] is None else figures[name]}"
            for name, words in (("people", "people"), ("served", "served"), ("told", "given a new place"))
        )
        typer.echo(
            f"epoch {figures['epoch']} is a draft, counts to the next k: {counts}, rms {figures['rms']:.0f} m"
            f"{_apart(figures)}",
            err=True,
        )
        return
    typer.echo(
        f"epoch {figures['epoch']} is in force: {figures['people']:,} people, {figures['served']:,} served, "
        f"{figures['waiting']:,} wait, {figures['groups']:,} groups, rms {figures['rms']:.0f} m"
        f"{_apart(figures)}, {figures['seconds']:.1f} s",
        err=True,
    )


def _apart(figures: dict[str, Any]) -> str:
    """Return words about the distance between published and true attributes."""
    return "".join(f", {name} off by {value:g}" for name, value in figures.get("attributes", {}).items())


def import_directory(
    file: Annotated[
        Path,
        typer.Argument(help="CSV with address, latitude, longitude and, if wanted, email and attributes."),
    ],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Import a directory of addresses, and people for rows with an e-mail address."""
    from voronym_location.attributes import Attributes
    from voronym_location.directory import read_rows

    settings = _settings(config, folder=folder)
    read_as = settings.rows, Attributes.of(settings.attributes)
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for _ in read_rows(
                lines, *read_as
            ):  # a file with a mistake changes nothing, and makes no service
                pass
        with _service(config, folder) as service, file.open(encoding="utf-8-sig", newline="") as lines:
            done = service.import_directory(read_rows(lines, *read_as))
    except OSError as error:
        raise InputError(f"cannot read the directory {file.name!r}: {error.strerror}") from None
    typer.echo(f"{done['rows']:,} rows, {done['people']:,} new people", err=True)


def operator(
    email: Annotated[str, typer.Argument(help="The operator's e-mail address.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Create an operator, or give one a new password and second factor. Asks for the password."""
    from urllib.parse import quote

    try:
        password = typer.prompt("password", hide_input=True, confirmation_prompt=True)
    except typer.Abort:
        raise InputError("no password was given, and nothing was changed: type it at a terminal") from None
    with _service(config, folder) as service:
        secret = service.add_operator(email, password)
        label = quote(f"{service.settings.name}:{email}")
    typer.echo(f"second factor, for an authenticator app: otpauth://totp/{label}?secret={secret}")


def migrate(config: Config = None, folder: Folder = None) -> None:
    """Create or upgrade the tables, with the rights of the database's owner."""
    _service(config, folder).close()
    typer.echo("the tables are up to date", err=True)


def _settings(config: Path | None, **given: Any) -> ServiceSettings:
    from voronym_location.settings import ServiceSettings

    return ServiceSettings.load(config, **given)


def _service(config: Path | None, folder: Path | None) -> Service:
    settings = _settings(config, folder=folder)
    from voronym_location.service import Service

    _say_if_new(settings)
    return Service(settings)


def existing(config: Path | None, folder: Path | None) -> Service:
    """Open an existing service; do not create one."""
    settings = _settings(config, folder=folder)
    refuse_missing(settings)
    from voronym_location.service import Service

    return Service(settings)


def refuse_missing(settings: ServiceSettings) -> None:
    """Refuse a folder without a service; a mistyped folder stays unchanged."""
    file = _missing(settings)
    if file is not None:
        raise InputError(f"there is no service in {str(file.parent)!r}: check --folder or --config")


def _missing(settings: ServiceSettings) -> Path | None:
    """Return the path of the database file if it does not exist yet; otherwise None."""
    from voronym_location.store import Store

    store = Store(settings.url)
    store.close()
    return None if store.file is None or store.file.exists() else store.file


def _say_if_new(settings: ServiceSettings) -> None:
    """Announce a new service: a mistyped folder looks like a service that lost everybody."""
    file = _missing(settings)
    if file is not None:
        typer.echo(f"a new, empty service is made in {str(file.parent)!r}", err=True)
