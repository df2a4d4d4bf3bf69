"""The pages of the location service: a citizen's and an operator's. Thin clothes over `Service`.

``guards``    headers, cookies, and forms that only our own pages can send
``desk``      who asks, and how we answer
``entrance``  sign up, verify, sign in, sign out
``placing``   the page on which a home is placed, ``chart`` its map
``citizen``   what providers see, one's data, the way out
``operator``  figures without small counts
``view``      templates and the files that pages load

No page needs a script; ``static/place.js`` makes the pin follow the pointer and the arrow keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from voronym.errors import VoronymError
from voronym.location.errors import ServiceError
from voronym.location.pages import citizen, entrance, guards, operator, placing
from voronym.location.pages.desk import Desk
from voronym.location.pages.view import static

if TYPE_CHECKING:
    from voronym.location.service import Service

__all__ = ["include"]

MACHINES = ("/v1", "/healthz", "/metrics")
"""Paths that are not for browsers."""


def include(app: FastAPI, service: Service, *, secure: bool = False) -> None:
    """Put the pages on an application, beside the API.

    Parameters
    ----------
    app : FastAPI
    service : Service
    secure : bool
        Whether browsers reach the pages over TLS even where this process does not see that.
    """
    desk = Desk.of(service, secure=secure)
    for room in (entrance, placing, citizen, operator):
        app.include_router(room.routes(desk))

    @app.get("/static/{name}", include_in_schema=False)
    def file(name: str) -> Response:
        found = static(name)
        if found is None:
            return Response(status_code=404)
        body, kind = found
        return Response(body, media_type=kind, headers={"cache-control": "no-cache"})

    spoken = app.exception_handlers.get(VoronymError)

    async def refused(request: Request, error: Exception) -> Response:
        if spoken is not None and request.url.path.startswith(MACHINES):
            return cast("Response", await spoken(request, error))  # type: ignore[misc]
        return await run_in_threadpool(desk.problem, request, error)

    app.add_exception_handler(ServiceError, refused)
    app.add_exception_handler(guards.Foreign, refused)
    app.add_middleware(guards.Headers, secure=secure)
