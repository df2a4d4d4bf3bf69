"""The routes of the page."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from voronym.errors import VoronymError
from voronym.web import answers, given, judge, ledger, projects, runs, tables
from voronym.web.desk import Desk


def build(desk: Desk) -> Starlette:
    """Return the page for a desk."""
    routes = [
        Route("/", tables.start),
        Route("/style.css", tables.style),
        Route("/page.js", tables.script),
        Route("/logo.svg", tables.logo),
        Route("/tables", tables.upload, methods=["POST"]),
        Route("/parts", tables.part, methods=["POST"]),
        Route("/demo", tables.demo, methods=["POST"]),
        Route("/judge", judge.upload, methods=["POST"]),
        Route("/t/{table}/judge", judge.judge, methods=["GET", "POST"]),
        Route("/t/{table}/original", judge.original, methods=["POST"]),
        Route("/recipe", tables.recipe, methods=["POST"]),
        Route("/arx", projects.upload, methods=["POST"]),
        Route("/t/{table}", tables.enter),
        Route("/t/{table}/read", tables.read, methods=["GET", "POST"]),
        Route("/t/{table}/roles", tables.roles, methods=["GET", "POST"]),
        Route("/t/{table}/alone", tables.alone, methods=["POST"]),
        Route("/t/{table}/protect", tables.protect, methods=["GET", "POST"]),
        Route("/t/{table}/sketch", tables.sketch, methods=["GET", "POST"]),
        Route("/t/{table}/recipe", tables.own_recipe, methods=["POST"]),
        Route("/t/{table}/given", given.upload, methods=["POST"]),
        Route("/t/{table}/given/{file}", given.download),
        Route("/t/{table}/ledger", ledger.upload, methods=["POST"]),
        Route("/t/{table}/ledger/change", ledger.change, methods=["POST"]),
        Route("/t/{table}/keep", tables.keep, methods=["POST"]),
        Route("/t/{table}/state", tables.state),
        Route("/t/{table}/command", tables.command),
        Route("/t/{table}/history", tables.history),
        Route("/t/{table}/undo", tables.turn, methods=["POST"]),
        Route("/t/{table}/redo", tables.turn, methods=["POST"], name="redo"),
        Route("/t/{table}/pin", tables.pin, methods=["POST"]),
        Route("/t/{table}/pin/{letter}/recipe", tables.pinned),
        Route("/t/{table}/bench", tables.bench),
        Route("/t/{table}/forget", tables.forget, methods=["GET", "POST"]),
        Route("/t/{table}/run/{run:int}", runs.run),
        Route("/t/{table}/run/{run:int}/progress", runs.progress),
        Route("/t/{table}/run/{run:int}/finish", runs.wish, methods=["POST"], name="finish"),
        Route("/t/{table}/run/{run:int}/cancel", runs.wish, methods=["POST"], name="cancel"),
        Route("/t/{table}/result/{run:int}", runs.result),
        Route("/t/{table}/result/{run:int}/back", runs.back, methods=["POST"]),
        Route("/t/{table}/result/{run:int}/{file}", runs.download),
    ]
    handlers: dict[Any, Any] = {
        VoronymError: answers.refused,
        answers.NotThere: answers.missing,
        404: answers.missing,
        405: answers.missing,
    }
    app = Starlette(routes=routes, exception_handlers={**handlers, Exception: answers.defect})
    app.state.desk = desk
    return app
