"""The service as an ASGI application."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from voronym.errors import InputError, VoronymError
from voronym_location.api import add_health, make_routes
from voronym_location.errors import ServiceError, TooMany
from voronym_location.gate import Gate
from voronym_location.homes import STANDING
from voronym_location.metrics import Metrics
from voronym_location.service import Service
from voronym_location.settings import ServiceSettings
from voronym_location.store.quick import Quick

__all__ = ["create_app"]

log = logging.getLogger("voronym_location")

ABOUT = """A trusted party that knows where people live, and tells each one place that at least k people
share, with their whole history. The place, under a pseudonym, stands in for the home with any provider; this
service is not in the way of queries."""


def create_app(settings: ServiceSettings, service: Service | None = None) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    settings : ServiceSettings
        Settings of the service.
    service : Service, optional
        One that is open already; the opener closes it.
    """
    own = service is None
    running = Service(settings) if service is None else service

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await app.state.quick.warm()
        try:
            yield
        finally:
            await app.state.quick.close()
            if own:
                running.close()

    app = FastAPI(
        title="Location anonymizer", description=ABOUT, version="1", lifespan=lifespan,
        docs_url=None, redoc_url=None, openapi_url="/v1/openapi.json",
    )  # fmt: skip
    app.state.service, app.state.quick = running, Quick(running.store, STANDING)
    _errors(app)
    metrics = Metrics()
    health = APIRouter()
    add_health(health, running, metrics)
    app.include_router(make_routes(running))
    app.include_router(health)
    if importlib.util.find_spec("voronym_location.pages") is not None:
        pages: Any = importlib.import_module("voronym_location.pages")
        pages.include(app, running)
    app.add_middleware(Gate, body=settings.body, upload=settings.upload, metrics=metrics)
    return app


def _errors(app: FastAPI) -> None:
    """Answer every error with a sentence that repeats nothing from the request."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return _say(422, "; ".join(dict.fromkeys(map(_sentence, error.errors()))))

    @app.exception_handler(HTTPException)
    async def _plain(_: Request, error: HTTPException) -> JSONResponse:
        return _say(error.status_code, str(error.detail))

    @app.exception_handler(VoronymError)
    async def _known(_: Request, error: VoronymError) -> JSONResponse:
        if isinstance(error, ServiceError):
            headers = {"retry-after": str(int(error.wait) + 1)} if isinstance(error, TooMany) else None
            return _say(error.status, str(error), headers)
        return _say(400 if isinstance(error, InputError) else 500, str(error))

    @app.exception_handler(Exception)
    async def _unknown(_: Request, error: Exception) -> JSONResponse:
        log.error("defect", exc_info=error)
        return _say(500, "this is a defect of the service; nothing was changed")


def _sentence(error: dict[str, Any]) -> str:
    """Return a sentence about a wrong field, in our own names only: a sent name may be private."""
    known = [str(part) for part in error.get("loc", ()) if part in FIELDS]
    limits = {name: value for name, value in (error.get("ctx") or {}).items() if name in LIMITS}
    words = ", ".join(f"{LIMITS[name]} {value}" for name, value in limits.items())
    what = KINDS.get(str(error.get("type")), words or "it cannot be used")
    return f"{known[-1] if known else 'the request'}: {what}"


FIELDS = ("email", "password", "code", "latitude", "longitude", "address")
LIMITS = {"ge": "at least", "le": "at most", "max_length": "at most this many characters:"}
KINDS = {
    "missing": "it is missing",
    "json_invalid": "it is no JSON",
    "string_type": "it must be text",
    "float_type": "it must be a number",
    "float_parsing": "it must be a number",
    "finite_number": "it must be a finite number",
    "value_error": "send latitude and longitude, or an address",
}


def _say(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status, headers)
