"""The forms for the ledger of earlier releases."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voronym.errors import InputError, VoronymError
from voronym.web import intake
from voronym.web.answers import form_of, go, table_of
from voronym.web.attempts import Run
from voronym.web.book import NEW, Book
from voronym.web.desk import Table

LARGE = 256 * intake.MEGA


async def upload(request: Request) -> Response:
    """Receive the ledger of earlier releases (the request's body), and replace an earlier one."""
    table = table_of(request)
    try:
        label = intake.label_of(request.query_params.get("name", ""))
        folder = table.folder / "ledger"
        folder.mkdir(mode=0o700, exist_ok=True)
        taken = folder / f"taken-{len(list(folder.iterdir()))}"
        await intake.receive(request.stream(), taken, LARGE)
        entries = await table.ask("ledger", path=str(taken))
        await table.remember(Book(label, str(taken), entries))
    except VoronymError as error:
        return JSONResponse({"error": error.worded("page"), "field": "ledger"}, 422)
    return JSONResponse({"go": f"/t/{table.id}/protect#ledger"})


async def change(request: Request) -> Response:
    """Start a new ledger, or stop using one."""
    table = table_of(request)
    begun = (await form_of(request)).get("what") == "new"
    await table.remember(Book() if begun else None)
    return go(f"/t/{table.id}/protect#ledger")


async def take(table: Table, run: Run) -> None:
    """Record that a release was downloaded: later releases are also checked against it.

    If two releases were made with the same state of the ledger, only one can be downloaded, because
    neither was checked against the other.
    """
    book = run.book
    if book is None or run in table.taken:
        return
    if any(other.book is book for other in table.taken):
        raise InputError(
            "another release was downloaded since this one was made, and this one was not checked against "
            "it: two releases about the same people can tell them apart. Make it again"
        )
    table.taken.append(run)
    if table.book is book:
        path = str(run.folder / NEW)
        await table.remember(Book(book.label, path, await table.ask("ledger", path=path)))
