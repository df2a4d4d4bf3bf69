"""Import a project of ARX: take over its choices, and its table if it holds one."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voronym.arx import Imported, import_project
from voronym.arx.translate import copy_data, file_names, text_of_tree
from voronym.errors import VoronymError, worded
from voronym.web import intake
from voronym.web.answers import beside, desk_of
from voronym.web.attempts import Waiting
from voronym.web.desk import Desk
from voronym.web.settings import Settings

TABLE = "data.csv"


async def upload(request: Request) -> Response:
    """Receive a project of ARX (the request's body); open its table, or wait for one."""
    desk = desk_of(request)
    try:
        folder = desk.place()
        try:
            place = await _taken(request, desk, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except VoronymError as error:
        return beside(error, "arx")
    return JSONResponse({"go": place})


async def _taken(request: Request, desk: Desk, folder: Path) -> str:
    file = folder / "project.deid"
    await intake.receive(request.stream(), file, desk.limits.sent)
    made = await asyncio.to_thread(import_project, file)
    names = file_names(made.by_tree)
    plain = replace(made, by_tree={})  # hierarchies are read from files of the table
    chosen = Settings.of_recipe(plain.recipe({name: _ancestors_by_value(made, name) for name in made.trees}))
    further = [f"t-closeness={t},taxonomy={names[name]},column={name}" for name, t in made.by_tree.items()]
    waiting = Waiting(
        chosen.having(models=[*chosen.models, *further]),
        made.reading,
        {names[name]: text_of_tree(made.trees[name]) for name in made.by_tree},
        {"taken": list(made.taken), "left": [worded(text, "page") for text in made.left]},
    )
    if not made.project.has_data:
        desk.waiting = waiting
        shutil.rmtree(folder)
        return "/"
    await asyncio.to_thread(copy_data, file, folder / TABLE)
    file.unlink()
    reading = {"delimiter": made.project.delimiter}
    table = await desk.add(folder / TABLE, TABLE, folder, desk.limits, reading, waiting=waiting)
    return f"/t/{table.id}/read"


def _ancestors_by_value(made: Imported, name: str) -> dict[str, list[str]]:
    """Return a hierarchy in the form of choices: each value with its ancestors, nearest first."""
    return {row[0]: list(row[1:]) for row in made.trees[name].paths.values()}
