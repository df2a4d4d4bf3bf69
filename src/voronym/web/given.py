"""Receive the files that choices need: a policy, a population, or a table for a policy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from voronym.errors import InputError, VoronymError
from voronym.policy.policy import Policy, shipped
from voronym.web import intake
from voronym.web.answers import NotThere, beside, table_of
from voronym.web.settings import Settings

POLICY = 256 << 10
"""Largest number of bytes of a policy."""
WHAT = {"policy": "a policy (.toml)", "population": "a table of the whole population"}
"""The purposes of a file; a table that a policy needs has the policy's name for it."""


def purposes(chosen: Settings, folder: Path) -> dict[str, str]:
    """Return the purposes of a file, including the tables that policies need."""
    return {**WHAT, **{name: f"{name}, which the policy needs" for name in _facts(chosen, folder)}}


def policies(files: list[str], folder: Path) -> list[tuple[str, str]]:
    """Return name and title of all policies: uploaded and shipped ones."""
    own = [name for name in files if name.endswith(".toml")]
    given = [(name, f"{Policy.load(folder / name).title} ({name})") for name in own]
    return [*given, *((name, Policy.load(name).title) for name in shipped())]


def _facts(chosen: Settings, folder: Path) -> dict[str, str]:
    name = chosen.get("policy")
    try:
        given = None if name is None else Policy.load(name if name in shipped() else folder / str(name))
    except VoronymError:  # reported where the policy is chosen
        given = None
    return {} if given is None else dict(given.facts)


async def upload(request: Request) -> Response:
    """Receive a file that a choice needs (the request's body), and make the choice."""
    table = table_of(request)
    what = request.query_params.get("what", "")
    try:
        if what not in purposes(table.settings, table.given):
            raise InputError("choose the purpose of the file")
        path = _place(table.given, request.query_params.get("name", ""))
        if what == "policy":
            if path.suffix != ".toml":
                raise InputError(f"a policy is a file of TOML text, and {path.name!r} is none by its suffix")
            await intake.receive(request.stream(), path, POLICY)
        else:
            intake.check_suffix(path.name)
            await intake.receive(request.stream(), path, table.desk.limits.sent)
        try:
            await _check(table, what, path)
        except BaseException:
            path.unlink()
            raise
        changed: dict[str, Any] = {what: path.name}
        if what not in WHAT:
            changed = {"facts": {**table.settings.get("facts"), what: path.name}}
        table.journal.keep(table.settings.having(**changed), words=f"{what} from {path.name}")
    except VoronymError as error:
        return beside(error, "given")
    return JSONResponse({"go": f"/t/{table.id}/{'judge' if table.judging else 'protect#given'}"})


async def download(request: Request) -> Response:
    """Return a file that choices name: a file made from a project of ARX exists only here."""
    table, name = table_of(request), request.path_params["file"]
    if name not in table.files:
        raise NotThere
    heads = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return FileResponse(table.given / name, media_type="application/octet-stream", headers=heads)


async def _check(table: Any, what: str, path: Path) -> None:
    """Refuse a file that cannot be read, before a choice names it."""
    if what == "policy":
        Policy.load(path)
    else:
        limits = {"unpacked": table.desk.limits.unpacked, "columns": table.desk.limits.columns}
        await table.ask("look", path=str(path), limits=limits)


def _place(folder: Path, name: str) -> Path:
    """Return a path for an uploaded file: its name in safe characters, with a number if the name is taken."""
    label = re.sub(r"\s+", "_", intake.label_of(name))
    stem, dot, suffix = label.partition(".")
    number = 1
    while (folder / label).exists() or label in shipped():
        number += 1
        label = f"{stem}-{number}{dot}{suffix}"
    return folder / label
