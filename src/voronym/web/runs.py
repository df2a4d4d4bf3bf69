"""The screens of a run (at work, done, compared with others), and its files."""

from __future__ import annotations

from time import monotonic
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from voronym.web import ledger, screens
from voronym.web.answers import NotThere, desk_of, go, run_of

FILES = {
    "release": ("", "application/octet-stream"),
    "report": ("report.html", "text/html"),
    "public": ("report-public.html", "text/html"),
    "recipe": ("recipe.toml", "application/toml"),
}
REPORTS = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


async def run(request: Request) -> Response:
    """Show a run at work; a finished run has another page."""
    table, result = run_of(request)
    if result.state == "done":
        return go(f"/t/{table.id}/result/{result.number}")
    return screens.running(table, result, desk_of(request).ahead)


async def progress(request: Request) -> Response:
    """Show the progress of a run."""
    table, result = run_of(request)
    elapsed = monotonic() - result.started if result.state == "running" else result.seconds
    return screens.progress(table, result, desk_of(request).ahead, elapsed)


async def wish(request: Request) -> Response:
    """Finish a run with the best so far, or cancel it."""
    table, result = run_of(request)
    await table.wish(result, request.url.path.rsplit("/", 1)[1])
    return go(f"/t/{table.id}/run/{result.number}")


async def result(request: Request) -> Response:
    """Show a release."""
    table, outcome = run_of(request)
    if outcome.state != "done":
        return go(f"/t/{table.id}/run/{outcome.number}")
    done = [other for other in table.runs if other.state == "done" and other is not outcome]
    asked = request.query_params.get("with", "")
    other = next((o for o in done if str(o.number) == asked), None)
    if other is None and not asked:
        other = next((o for o in reversed(done) if o.number < outcome.number), None)
    command = table.command(outcome.settings, outcome.reading, outcome.book)
    return screens.result(table, outcome, other, command)


async def back(request: Request) -> Response:
    """Restore the choices of an earlier run."""
    table, result = run_of(request)
    if result.reading != table.reading:
        await table.open(dict(result.reading))
    table.journal.keep(result.settings, words=f"back to the settings of run {result.number}")
    return go(f"/t/{table.id}/protect")


async def download(request: Request) -> Response:
    """Send a file of a run, by name and never by path."""
    table, result = run_of(request)
    if result.state != "done" or request.path_params["file"] not in FILES:
        raise NotThere
    name, kind = FILES[request.path_params["file"]]
    if not name:
        await ledger.take(table, result)
    name = name or ("release.zip" if result.packed else f"release{table.suffix}")
    heads = {"content-security-policy": REPORTS}
    if kind != "text/html" or request.query_params.get("save"):
        heads["content-disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
    return FileResponse(result.folder / name, media_type=kind, headers=heads)
