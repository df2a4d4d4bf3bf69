"""`voronym location backup`, `restore`, `rotate-key`, `rotate-homes`, `forget` and others: maintenance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voronym.errors import InputError

Config = Annotated[
    Path | None,
    typer.Option("--config", envvar="VORONYM_LOCATION_CONFIG", help="File with the settings (TOML)."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="Folder of database, key and mailbox. Default: from the settings."),
]
NEXT = "forget again the people who left since, then run an epoch"


def register(parent: typer.Typer) -> None:
    """Add the verbs to `voronym location`."""
    for verb in (backup, restore, after_restore, rotate_key, rotate_homes, forget):
        parent.command()(verb)


def backup(
    file: Annotated[Path, typer.Argument(help="The copy to write; it must not exist yet.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Copy the SQLite database while the service runs, and check the copy."""
    from voronym_location.cli.serving import existing

    with existing(config, folder) as service:
        service.store.backup(file)
    typer.echo(f"written: {file}", err=True)


def restore(
    file: Annotated[Path, typer.Argument(help="The backup.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Restore a backup of a SQLite database, and end all groups; the next epoch forms new ones."""
    from voronym_location.cli.serving import _settings
    from voronym_location.service import Service
    from voronym_location.store import Store
    from voronym_location.store.locks import RUNNING, hold

    settings = _settings(config, folder=folder)
    store = Store(settings.url)
    if store.file is not None and not store.file.parent.is_dir():  # a mistyped folder gets no homes
        raise InputError(f"there is no folder {str(store.file.parent)!r}: check --folder, or make it first")
    with hold(store, "serving", RUNNING):
        store.restore(file)
    with Service(settings) as service:
        ended = service.begin_again()
    typer.echo(f"restored; {ended:,} groups ended: {NEXT}", err=True)


def after_restore(config: Config = None, folder: Folder = None) -> None:
    """End all groups after a database was restored from a backup; the next epoch forms new ones."""
    from voronym_location.cli.serving import existing

    with existing(config, folder) as service:
        ended = service.begin_again()
    typer.echo(f"{ended:,} groups ended: {NEXT}", err=True)


def rotate_key(config: Config = None, folder: Folder = None) -> None:
    """Sign statements with a new key; publish the old one as retired. Stop the service first."""
    from voronym_location.cli.serving import existing

    with existing(config, folder) as service:
        number = service.rotate_key()
    typer.echo(f"statements are signed with the key {number} from now on", err=True)


def rotate_homes(
    config: Config = None,
    folder: Folder = None,
    plain: Annotated[bool, typer.Option("--plain", help="Open all homes instead of sealing them.")] = False,
) -> None:
    """Seal all homes with a fresh key in the file that the setting home_key names. End the service before."""
    from voronym_location.cli.serving import _settings, existing, refuse_missing
    from voronym_location.sealing import Seal

    settings = _settings(config, folder=folder)
    refuse_missing(settings)  # before a key is made
    if settings.home_keys is not None and not settings.home_keys.exists() and not plain:
        Seal().renewed().write(settings.home_keys)
    with existing(config, folder) as service:
        done = service.rotate_homes(plain=plain)
    typer.echo(f"{done:,} homes {'opened' if plain else 'sealed'}", err=True)


def forget(
    email: Annotated[str, typer.Argument(help="The e-mail address of the person.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Delete a person on written request: account, home, point and pseudonym."""
    from voronym_location.cli.serving import existing

    with existing(config, folder) as service:
        done = service.forget(email)
    if not done:
        raise InputError("no account has this e-mail address; check its spelling")
    typer.echo("all that was stored is deleted", err=True)
