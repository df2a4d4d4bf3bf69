"""The pages of the location service, for citizens and operators: a thin layer over `Service`.

``guards``    headers, cookies, and forms that only our own pages can send
``desk``      shared parts of all routes: the visitor, their form, the answer
``entrance``  sign up, verify, sign in, sign out
``placing``   the page for placing a home; ``chart`` draws its map
``citizen``   the point that providers see, all stored data, and leaving
``operator``  figures without small counts
``view``      templates and the files that pages load

All pages work without scripts; ``static/place.js`` lets the pin follow the pointer and the arrow keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from voronym.errors import VoronymError
from voronym_location.errors import ServiceError
from voronym_location.pages import citizen, entrance, guards, operator, placing
from voronym_location.pages.desk import Desk
from voronym_location.pages.view import static

if TYPE_CHECKING:
    from voronym_location.service import Service

__all__ = ["include"]

MACHINES = ("/v1", "/healthz", "/metrics")
"""Paths that are not for browsers."""


def include(app: FastAPI, service: Service, *, secure: bool = False) -> None:
    """Add the pages to an application, next to the API.

    Parameters
    ----------
    app : FastAPI
    service : Service
    secure : bool
        Whether browsers reach the pages over TLS, even if this process cannot see it.
    """
    desk = Desk.of(service, secure=secure)
    for room in (entrance, placing, citizen, operator):
        app.include_router(room.routes(desk))

    @app.get("/static/{name}", include_in_schema=False)
    def file(name: str) -> Response:
        result = static(name)
        if result is None:
            return Response(status_code=404)
        body, kind = result
        return Response(body, media_type=kind, headers={"cache-control": "no-cache"})

    handlers: dict[Any, Any] = dict(app.exception_handlers)

    def add(kind: type[Exception], spoken: Any, shown: Callable[[Request, Exception], Response]) -> None:
        """Answer machines in JSON, as before, and people with a page."""

        async def answer(request: Request, error: Exception) -> Response:
            result = await spoken(request, error)  # which logs defects
            if request.url.path.startswith(MACHINES):
                return cast("Response", result)
            return await run_in_threadpool(shown, request, error)

        app.add_exception_handler(kind, answer)

    add(ServiceError, handlers[VoronymError], desk.problem)
    add(guards.Foreign, handlers[VoronymError], desk.problem)
    add(HTTPException, handlers[HTTPException], lambda at, error: desk.missing(at, error.status_code))  # type: ignore[attr-defined]
    add(Exception, handlers[Exception], lambda at, _: desk.missing(at, 500))
    app.add_middleware(guards.Headers, secure=secure)
