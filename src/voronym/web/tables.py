"""The first screen, and the screens of a table: reading, columns, protection.

A form answers with the next address, or with the form itself and an error next to the field.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from voronym.errors import InputError, VoronymError
from voronym.report.write import names
from voronym.web import intake, screens
from voronym.web.answers import NotThere, beside, body_of, desk_of, form_of, go, table_of, uploaded
from voronym.web.attempts import Waiting
from voronym.web.forms import columns_of, patched, protection_of, reading_of
from voronym.web.settings import Settings, choices_in

RECIPE = 256 << 10
"""Largest number of bytes of a recipe."""
FILES = 1_000
"""Largest number of files for one table."""
HERE = Path(__file__).parent


async def start(request: Request) -> Response:
    """Show the first screen."""
    return screens.start(desk_of(request))


async def style(_: Request) -> Response:
    """Serve the style of the report and of the page."""
    from voronym.report.html import style_sheet

    return Response(style_sheet() + (HERE / "static" / "page.css").read_text("utf-8"), media_type="text/css")


async def script(_: Request) -> Response:
    """Serve the script."""
    return Response((HERE / "static" / "page.js").read_text("utf-8"), media_type="text/javascript")


async def logo(_: Request) -> Response:
    """Serve the logo."""
    return Response((HERE / "static" / "logo.svg").read_text("utf-8"), media_type="image/svg+xml")


async def upload(request: Request) -> Response:
    """Receive a table as the body, and read it."""
    try:
        table = await uploaded(request, reading_of(request.query_params))
    except VoronymError as error:
        return beside(error, "file")
    return JSONResponse({"go": f"/t/{table.id}/read"})


async def part(request: Request) -> Response:
    """Receive one of several files that form a table; open the table after the last one."""
    desk, query = desk_of(request), request.query_params
    key, many = query.get("set", ""), query.get("of", "")
    try:
        if not many.isdecimal() or not 1 < int(many) <= FILES or not 8 <= len(key) <= 64:
            raise InputError(f"the files could not be sent: {FILES:,} at most can be one table")
        folder = desk.gathering.get(key) or desk.place()
        desk.gathering[key] = folder
        try:
            done = await _gathered(request, folder / "parts", int(many))
            if not done:
                return JSONResponse({"go": ""})
            del desk.gathering[key]
            table = await desk.add(folder / "parts", f"{done} files", folder, desk.limits, reading_of(query))
        except BaseException:
            desk.gathering.pop(key, None)
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except VoronymError as error:
        return beside(error, "file")
    return JSONResponse({"go": f"/t/{table.id}/read"})


async def _gathered(request: Request, folder: Path, many: int) -> int:
    """Accept a file into a folder; return the number of files once complete, else 0."""
    folder.mkdir(mode=0o700, exist_ok=True)
    label = intake.label_of(request.query_params.get("name", ""))
    intake.check_suffix(label)
    left = desk_of(request).limits.sent - sum(file.stat().st_size for file in folder.iterdir())
    number = len(list(folder.iterdir()))
    await intake.receive(request.stream(), folder / f"{number:04d}-{label}", max(left, 0))
    return number + 1 if number + 1 >= many else 0


async def demo(request: Request) -> Response:
    """Make up patients, and read them."""
    from voronym import datasets

    desk = desk_of(request)
    try:
        folder = desk.place()
    except VoronymError as error:
        return screens.start(desk, 422, {"demo": str(error)})
    path = folder / "patients.csv"
    datasets.hospital(1000, outliers=5, seed=0).write_csv(path)
    table = await desk.add(path, path.name, folder, desk.limits)
    return go(f"/t/{table.id}/read")


async def recipe(request: Request) -> Response:
    """Keep a recipe for the next table."""
    try:
        text, name = await body_of(request, RECIPE), request.query_params.get("name", "")
        desk_of(request).waiting = Waiting(*choices_in(text, name))
    except VoronymError as error:
        return beside(error, "recipe")
    return JSONResponse({"go": "/"})


# -- a table ---------------------------------------------------------------------------------------------


async def enter(request: Request) -> Response:
    """Redirect to the table's present step."""
    table = table_of(request)
    if table.judging:
        return go(f"/t/{table.id}/judge")
    last = table.runs[-1] if table.runs else None
    if last is None:
        return go(f"/t/{table.id}/read")
    return go(f"/t/{table.id}/{'result' if last.state == 'done' else 'run'}/{last.number}")


async def read(request: Request) -> Response:
    """Show how the file was read, or read it in another way."""
    table = table_of(request)
    if request.method == "GET":
        return screens.read(table)
    fields = await form_of(request)
    reading = reading_of(fields)
    if reading == table.reading:
        return go(f"/t/{table.id}/{'roles' if fields.get('next') else 'read'}")
    try:
        await table.open(reading)
    except VoronymError as error:
        return screens.read(table, 422, {"reading": str(error)}, reading)
    return go(f"/t/{table.id}/{'roles' if fields.get('next') else 'read'}")


async def roles(request: Request) -> Response:
    """Show the columns; or store their roles."""
    table = table_of(request)
    if request.method == "GET":
        return screens.roles(table)
    fields = await form_of(request)
    if not fields.get("kept"):  # else every change was taken when it was made
        table.journal.keep(columns_of(fields, table.settings, table.about["columns"]))
    try:
        result = await table.ask("check", settings=table.settings.plain())
    except VoronymError as error:
        result = {"errors": {"columns": str(error)}}
    if "columns" in result["errors"]:
        return screens.roles(table, 422, result["errors"])
    return go(f"/t/{table.id}/protect")


async def keep(request: Request) -> Response:
    """Accept a change of some fields; changes of another window stay."""
    table = table_of(request)
    fields = await form_of(request)
    screen, source = fields.pop("screen", ""), fields.pop("source", "")
    if screen not in ("roles", "protect"):
        raise InputError("the form could not be read; load the page again")
    table.journal.keep(patched(fields, table.settings, table.about["columns"], screen), source)
    return JSONResponse({"version": table.journal.version})


async def state(request: Request) -> Response:
    """Return the version of the present choices, for windows that poll."""
    return JSONResponse({"version": table_of(request).journal.version})


async def command(request: Request) -> Response:
    """Return the command line for the present choices."""
    table = table_of(request)
    return PlainTextResponse(table.command(table.settings, table.reading, table.book))


async def turn(request: Request) -> Response:
    """Undo the last change, or redo it."""
    table = table_of(request)
    table.journal.move(-1 if request.url.path.endswith("/undo") else 1)
    back = (await form_of(request)).get("screen", "")
    return go(f"/t/{table.id}/{back if back in ('roles', 'protect', 'bench') else 'bench'}")


async def pin(request: Request) -> Response:
    """Keep the present choices as an alternative; or choose or release an alternative."""
    table, fields = table_of(request), await form_of(request)
    letter = fields.get("letter", "")
    if not letter:
        table.journal.pin()
    elif letter in table.journal.pins:
        table.journal.keep(table.journal.pins[letter].settings, words=f"alternative {letter}")
        if fields.get("release"):
            return await _released(request)
    return go(f"/t/{table.id}/bench")


async def pinned(request: Request) -> Response:
    """Send the recipe of an alternative."""
    table = table_of(request)
    entry = table.journal.pins.get(request.path_params["letter"])
    if entry is None:
        raise NotThere
    text = await table.ask("recipe", settings=entry.settings.plain())
    heads = {"content-disposition": 'attachment; filename="recipe.toml"'}
    return PlainTextResponse(text, media_type="application/toml", headers=heads)


async def bench(request: Request) -> Response:
    """Show columns, table, risk and loss side by side."""
    return screens.bench(table_of(request))


async def history(request: Request) -> Response:
    """Show the history of choices with their results."""
    return screens.history(table_of(request), request.query_params.get("screen", "bench"))


async def alone(request: Request) -> Response:
    """Count unique records while roles are chosen."""
    table = table_of(request)
    fields = await form_of(request)
    chosen = columns_of(fields, table.settings, table.about["columns"]) if fields else table.settings
    try:
        result = await table.ask("alone", settings=chosen.plain())
    except VoronymError as error:
        return JSONResponse({"set": {"alone": error.worded("page")}}, 422)
    parts = table.about["parts"]
    some = " of a sample" if parts and parts["rows"] < table.about["rows"] else ""
    sentence = f"{result['alone']:,} of {result['records']:,} {result['counted']}{some} stand alone"
    sentence += " by these keys: nobody else has their combination." if result["alone"] else " by these keys."
    texts = {"alone": sentence, "several": screens.several(table, chosen)}
    texts |= {"keys-here": names(chosen.keys, 6), "keys-known": names(chosen.keys, 3)}
    for i, column in enumerate(table.about["columns"]):
        texts[f"more-{i}"] = _singled(result["more"].get(column["name"]))
        texts[f"levels-{i}"] = result["levels"].get(column["name"], "")
    return JSONResponse({"set": texts})


def _singled(counts: dict[str, Any] | None) -> str:
    """Return how many people a key singles out: alone, and together with the most revealing other key."""
    if counts is None:
        return ""
    parts = [f"by itself it singles out {counts['own']:,}"]
    if counts["with"]:
        parts.append(f"together with {counts['with']}, {counts['pair']:,}")
    if counts["more"]:
        parts.append(f"without it, {counts['more']:,} fewer would stand alone")
    return "; ".join(parts)


async def protect(request: Request) -> Response:
    """Show the protection; or store it, and run."""
    table = table_of(request)
    if request.method == "GET":
        return screens.protect(table)
    fields = await form_of(request)
    ticket = fields.get("ticket", "")
    if ticket and ticket in table.tickets:  # sent twice
        return go(f"/t/{table.id}/run/{table.tickets[ticket].number}")
    if not fields.get("kept"):
        table.journal.keep(protection_of(fields, table.settings, table.names))
    return await _released(request, ticket)


async def _released(request: Request, ticket: str = "") -> Response:
    """Run with the present choices, if they are valid."""
    table, desk = table_of(request), desk_of(request)
    try:
        result = await table.ask("check", settings=table.settings.plain(), ledger=table.book is not None)
        errors = result["errors"]
        if not errors and ticket in table.tickets:
            return go(f"/t/{table.id}/run/{table.tickets[ticket].number}")
        made = None if errors else desk.enqueue(table)
    except VoronymError as error:
        return screens.protect(table, 422, {"run": str(error)})
    if made is None:
        return (
            screens.roles(table, 422, errors) if "columns" in errors else screens.protect(table, 422, errors)
        )
    if ticket:
        table.tickets[ticket] = made
    return go(f"/t/{table.id}/run/{made.number}")


async def sketch(request: Request) -> Response:
    """Show the picture of risk and loss when it changes; a POST asks for the whole table."""
    table = table_of(request)
    result = await table.draw(everything=request.method == "POST")
    await result.after(request.query_params.get("seen", ""))
    return screens.sketch(result, table)


async def own_recipe(request: Request) -> Response:
    """Load roles and protection of a table from a recipe."""
    table = table_of(request)
    try:
        text, name = await body_of(request, RECIPE), request.query_params.get("name", "")
        given = {"text": text.decode("utf-8", "replace"), "name": name}
        made = await table.ask("choices", **given)  # there, where the files are that it names
        if made["reading"] != table.reading:
            await table.open(made["reading"])
        table.journal.keep(Settings.of_plain(made["settings"]), words="taken from a recipe")
    except VoronymError as error:
        return beside(error, "recipe")
    return JSONResponse({"go": f"/t/{table.id}/roles"})


async def forget(request: Request) -> Response:
    """Ask whether to forget a table; or remove it with all its results."""
    if request.method == "GET":
        return screens.forget(table_of(request))
    await desk_of(request).forget(table_of(request))
    return go("/")
