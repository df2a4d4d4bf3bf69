"""Shared parts of all answers: the desk, the table and run of an address, size limits, errors."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse

from voronym.errors import InputError, VoronymError
from voronym.web import intake, screens
from voronym.web.attempts import Run
from voronym.web.desk import Desk, Table

FORM, FIELDS = 4 << 20, 40_000
"""Limits of a form: bytes, and number of fields."""


class NotThere(Exception):  # noqa: N818 - a page that is not there
    """Raised if a table, run or file does not exist."""


def desk_of(request: Request) -> Desk:
    """Return the desk."""
    desk: Desk = request.app.state.desk
    return desk


def table_of(request: Request) -> Table:
    """Return the table in the address."""
    table = desk_of(request).tables.get(request.path_params["table"])
    if table is None:
        raise NotThere
    return table


def run_of(request: Request) -> tuple[Table, Run]:
    """Return the run in the address, with its table."""
    table, number = table_of(request), request.path_params["run"]
    if not 1 <= number <= len(table.runs):
        raise NotThere
    return table, table.runs[number - 1]


async def body_of(request: Request, limit: int) -> bytes:
    """Read the body of a request under a limit."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            raise InputError(f"the form has more than {limit >> 10:,} kB, more than any form of this page")
    return bytes(body)


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form; for a repeated field, keep the last value."""
    try:
        text = (await body_of(request, FORM)).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS, errors="strict"))
    except (UnicodeDecodeError, ValueError) as error:
        if isinstance(error, VoronymError):
            raise
        raise InputError("the form could not be read; load the page again") from None


async def uploaded(
    request: Request, reading: Mapping[str, Any] | None = None, *, judging: bool = False
) -> Table:
    """Store an uploaded file on the desk; remove it if the upload fails."""
    desk = desk_of(request)
    label = intake.label_of(request.query_params.get("name", ""))
    intake.check_suffix(label)
    folder = desk.place()
    try:
        await intake.receive(request.stream(), folder / label, desk.limits.sent)
    except BaseException:
        folder.rmdir()
        raise
    return await desk.add(folder / label, label, folder, desk.limits, reading, judging=judging)


def beside(error: VoronymError, field: str) -> JSONResponse:
    """Answer with an error message and the field that it belongs to."""
    return JSONResponse({"error": error.worded("page"), "field": field}, 422)


def go(place: str) -> RedirectResponse:
    """Redirect the browser."""
    return RedirectResponse(place, 303)


async def refused(_: Request, error: Exception) -> HTMLResponse:
    """Answer with the sentence of a refusal that belongs to no field."""
    sentence = error.worded("page") if isinstance(error, VoronymError) else str(error)
    return screens.show("wrong.html", 422, sentence=sentence, title="That did not work")


async def missing(request: Request, _: Exception) -> HTMLResponse:
    """Answer that the page does not exist."""
    note = desk_of(request).note or "It may have been forgotten, or voronym was restarted."
    return screens.show("wrong.html", 404, sentence=f"There is no such page. {note}", title="Not here")


async def defect(_: Request, error: Exception) -> HTMLResponse:
    """Answer that an internal error occurred; show only its type and place, not its text."""
    if os.environ.get("VORONYM_DEBUG"):
        traceback.print_exception(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    sentence = (
        f"This is a defect of voronym, not of your table: {type(error).__name__} in "
        f"{Path(where.filename).name}, line {where.lineno}."
    )
    return screens.show("wrong.html", 500, sentence=sentence, title="Our mistake")
