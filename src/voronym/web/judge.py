"""Judge a release of voronym or of another tool, with or without its original table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voronym.errors import VoronymError
from voronym.request.wording import DECLARED, declaration, words
from voronym.web import intake, screens
from voronym.web.answers import beside, form_of, go, table_of, uploaded
from voronym.web.desk import Table
from voronym.web.given import WHAT, policies

ROLES = ("key", "confidential")


async def upload(request: Request) -> Response:
    """Receive a release as the body, and read it."""
    try:
        table = await uploaded(request, judging=True)
    except VoronymError as error:
        return beside(error, "judge")
    return JSONResponse({"go": f"/t/{table.id}/judge"})


async def original(request: Request) -> Response:
    """Receive the original table of a release, and replace an earlier one."""
    table = table_of(request)
    try:
        label = intake.label_of(request.query_params.get("name", ""))
        intake.check_suffix(label)
        folder = table.folder / "original"
        folder.mkdir(mode=0o700, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        table.original = None
        await intake.receive(request.stream(), folder / label, table.desk.limits.sent)
        table.original = folder / label
    except VoronymError as error:
        return beside(error, "original")
    return JSONResponse({"go": f"/t/{table.id}/judge"})


async def judge(request: Request) -> Response:
    """Show the form for judging a release, or attack it."""
    table = table_of(request)
    chosen = table.judged.get("roles") or {
        name: role for name, role in table.settings.roles.items() if role in ROLES
    }
    if request.method == "GET":
        return _show(table, chosen)
    fields = await form_of(request)
    chosen = {
        name: fields[f"role-{i}"] for i, name in enumerate(table.names) if fields.get(f"role-{i}") in ROLES
    }
    keys, secret = ([name for name, role in chosen.items() if role == which] for which in ROLES)
    given = {"path": str(table.path), "keys": keys, "confidential": secret}
    limits = {"unpacked": table.desk.limits.unpacked, "columns": table.desk.limits.columns}
    original_path = None if table.original is None else str(table.original)
    table.journal.keep(table.settings.having(policy=fields.get("policy")))
    files = {name: table.settings.get(name) for name in ("policy", "population")}
    try:
        answer = await table.ask("judge", **given, **files, original=original_path, limits=limits)
    except VoronymError as error:
        return _show(table, chosen, 422, {"judge": error.worded("page")})
    table.judged = {**answer, "roles": chosen, "command": _command(table, keys, secret)}
    return go(f"/t/{table.id}/judge")


def _show(
    table: Table, chosen: dict[str, str], status: int = 200, errors: dict[str, str] | None = None
) -> Response:
    return screens.show(
        "judge.html", status, table=table, about=table.about, chosen=chosen, errors=errors or {},
        policies=policies(table.files, table.given), policy=table.settings.get("policy"), purposes=WHAT,
        judged=table.judged if "sentence" in table.judged else None,
    )  # fmt: skip


def _command(table: Table, keys: list[str], secret: list[str]) -> str:
    given: dict[str, Any] = {"keys": keys, "confidential": secret}
    if table.original:
        given["original"] = Path(table.original).name
    typed = [word for name, value in given.items() for word in words(declaration(name), value)]
    attacked = shlex.join(["voronym", "attack", table.label, *typed])
    more = {name: table.settings.get(name) for name in ("policy", "population")}
    if more["policy"] is None:
        return attacked
    typed += [word for name, value in more.items() if value for word in words(DECLARED[name], value)]
    return f"{attacked}\n{shlex.join(['voronym', 'check', table.label, *typed])}"
