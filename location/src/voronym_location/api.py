"""The routes of the API, under ``/v1``: a thin layer over `voronym_location.service.Service`.

Reading a statement is the most common request. Hashing passwords runs in separate threads, so that many
sign-ups delay only each other.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field, model_validator

from voronym_location.accounts import UNKNOWN
from voronym_location.directory import read_rows
from voronym_location.errors import BadRequest, Refused, TooMany, Unavailable
from voronym_location.gate import Attempts
from voronym_location.service import Service
from voronym_location.statements import clock_text

__all__ = ["make_routes"]

Answer = TypeVar("Answer")
HASHING = 2
"""Number of passwords hashed at a time."""
SENT = "if the address is right, a code is on its way"


class Address(BaseModel):
    """An e-mail address."""

    email: str = Field(max_length=254, examples=["ada@example.org"])


class Credentials(Address):
    """An address and a password."""

    password: str = Field(max_length=200, examples=["correct horse battery"])


class SignIn(Credentials):
    """An address, a password, and an operator's second factor."""

    code: str = Field("", max_length=10, description="Six digits; operators only.")


class Code(Credentials):
    """An address, the code mailed to it, and the new password."""

    code: str = Field(max_length=20, examples=["01234567"])


class Home(BaseModel):
    """A home: coordinates, or an address of the directory."""

    latitude: float | None = Field(None, ge=-90, le=90, allow_inf_nan=False, examples=[48.137])
    longitude: float | None = Field(None, ge=-180, le=180, allow_inf_nan=False, examples=[11.575])
    address: str | None = Field(None, max_length=300)
    attributes: dict[str, float | str] | None = Field(None, examples=[{"born": 1980}])

    @model_validator(mode="after")
    def _one(self) -> Home:
        if (self.address is None) == (self.latitude is None or self.longitude is None):
            raise ValueError("send latitude and longitude, or an address")
        return self


class Said(BaseModel):
    """A sentence as an answer."""

    message: str


_bearer = HTTPBearer(auto_error=False, description="The token that signing in gave.")


async def _token(shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    if shown is None or not shown.credentials:
        raise Refused(UNKNOWN)
    return shown.credentials


Token = Annotated[str, Depends(_token)]


def make_routes(service: Service) -> APIRouter:
    """Return the routes of a service."""
    router = APIRouter(prefix="/v1")
    _statement(router, service)  # the first that is compared with the path of a request
    _accounts(router, service)
    _people(router, service)
    _operators(router, service)
    return router


def _statement(router: APIRouter, service: Service) -> None:
    @router.get("/statement", tags=["statement"], openapi_extra={"security": [{"HTTPBearer": []}]})
    async def statement(request: Request) -> Response:
        """Return the statement of the account; ``status`` is served, waiting or none.

        ``signed`` is a JSON text; ``signature`` (Ed25519, Base64) signs its UTF-8 bytes. Both are
        equal for the whole group. Keep them: a provider can check them without this service.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refused(UNKNOWN)
        answer = await service.statement_soon(token, request.app.state.quick)
        result = {"status": "none"} if answer is None else answer.plain()
        return Response(json.dumps(result, ensure_ascii=False), media_type="application/json")


def _accounts(router: APIRouter, service: Service) -> None:
    attempts, hashing = Attempts(service.settings.attempts), anyio.CapacityLimiter(HASHING)

    async def apart(request: Request, work: Callable[..., Answer], *given: Any) -> Answer:
        if not attempts.passes(request.client.host if request.client else ""):
            raise TooMany("too many attempts from this network address: wait a minute", 60)
        if hashing.statistics().tasks_waiting > 50:
            raise TooMany("too many people sign up or in just now: wait a little", 10)
        return await anyio.to_thread.run_sync(work, *given, limiter=hashing)

    @router.post("/sign-up", status_code=202, tags=["account"])
    async def sign_up(request: Request, given: Address) -> Said:
        """Begin an account, or ask for a new password: a code is mailed. The answer is always the same."""
        await apart(request, service.sign_up, given.email)
        return Said(message=SENT)

    @router.post("/verify", tags=["account"])
    async def verify(request: Request, given: Code) -> Said:
        """Finish a sign-up by the code, and choose the password."""
        if not await apart(request, service.verify, given.email, given.code, given.password):
            raise BadRequest("that code is wrong, or too old: sign up again for a new one")
        return Said(message="welcome: you can sign in")

    @router.post("/sign-in", tags=["account"])
    async def sign_in(request: Request, given: SignIn) -> dict[str, str]:
        """Get a token for an address and a password."""
        session = await apart(request, service.sign_in, given.email, given.password, given.code)
        return {"token": session.token, "expires": clock_text(session.expires)}

    @router.post("/sign-out", tags=["account"])
    def sign_out(token: Token) -> Said:
        """End the session of a token."""
        service.sign_out(token)
        return Said(message="you are signed out")

    @router.get("/me", tags=["account"])
    def me(token: Token) -> dict[str, Any]:
        """Return the signed-in account."""
        who = service.whoami(token)
        return {"email": who.email, "operator": who.operator}

    @router.get("/me/export", tags=["account"])
    def export(token: Token) -> dict[str, Any]:
        """Return all that is stored about oneself."""
        return service.export(token)

    @router.delete("/me", tags=["account"])
    def forget(token: Token) -> Said:
        """Delete the account and all that is stored about it."""
        service.delete(token)
        return Said(message="all that was stored about you is deleted")


def _people(router: APIRouter, service: Service) -> None:
    @router.put("/home", tags=["home"])
    def put_home(token: Token, given: Home) -> Said:
        """Record a home, or a new one; the next epoch uses it."""
        if given.address is not None:
            service.submit_address(token, given.address, given.attributes)
        else:
            service.submit_home(token, given.latitude, given.longitude, given.attributes)  # type: ignore[arg-type]
        return Said(message="recorded: the next epoch will use it")

    @router.get("/home", tags=["home"])
    def get_home(token: Token) -> dict[str, Any]:
        """Return the recorded home; empty without one."""
        return service.home(token) or {}

    @router.delete("/home", tags=["home"])
    def cancel(token: Token) -> Said:
        """Leave the service: the home is deleted now, and the next epoch does not count the person."""
        service.cancel(token)
        return Said(message="your home is deleted; you leave with the next epoch")

    @router.get("/attributes", tags=["home"])
    def attributes(token: Token) -> list[dict[str, Any]]:
        """Return the attributes to send with a home; empty if the service uses none."""
        service.whoami(token)
        return service.attributes.plain()

    @router.get("/keys", tags=["statement"])
    async def keys() -> dict[str, Any]:
        """Return the public key for checking statements (Ed25519, 32 bytes in Base64).

        ``retired`` lists earlier keys whose statements have not expired.
        """
        now = service.clock()
        retired = [
            {**key, "until": clock_text(key["until"])} for key in service.key.retired if key["until"] > now
        ]
        return {"id": service.key.id, "algorithm": "Ed25519", "key": service.key.public, "retired": retired}

    @router.get("/outline", tags=["home"])
    def outline(token: Token) -> dict[str, Any]:
        """Return bounds and inhabited squares of the town, from the directory."""
        return service.outline(token) or {}


def _operators(router: APIRouter, service: Service) -> None:
    @router.get("/operator/figures", tags=["operator"])
    def figures(token: Token) -> dict[str, Any]:
        """Return aggregates of the epochs; counts below k are withheld."""
        return service.operator_figures(token)

    @router.post(
        "/operator/directory", tags=["operator"],
        openapi_extra={"requestBody": {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    )  # fmt: skip
    async def import_directory(token: Token, request: Request) -> dict[str, int]:
        """Import a directory: CSV with the columns address, latitude, longitude and optionally email."""
        await anyio.to_thread.run_sync(service.require_operator, token)
        body = await request.body()
        return await anyio.to_thread.run_sync(_import, service, token, body)


def _import(service: Service, token: str, body: bytes) -> dict[str, int]:
    """Import a directory; read all rows before writing any, so that an error changes nothing."""
    lines = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8-sig", newline="")
    rows = read_rows(lines, service.settings.rows, service.attributes)
    return service.import_directory(list(rows), token)


def add_health(router: APIRouter, service: Service, metrics: Any) -> None:
    """Add the routes for machines: ``/healthz`` and ``/metrics``."""

    @router.get("/healthz", tags=["machine"])
    def healthz() -> dict[str, Any]:
        """Return whether the database answers, and the epoch in force."""
        last = service.in_force()
        return {"status": "ok", "epoch": None if last is None else last["epoch"]}

    @router.get("/metrics", tags=["machine"], include_in_schema=False)
    def read_metrics(request: Request) -> Response:
        wanted, shown = service.settings.metrics_token, request.headers.get("authorization", "")
        local = request.client is not None and request.client.host in ("127.0.0.1", "::1")
        if not (shown == f"Bearer {wanted}" if wanted else local):
            raise Refused("metrics need the metrics token, or a request from this machine")
        try:
            result = metrics.text(service.public_figures(), True)
        except Unavailable:
            result = metrics.text(None, False)
        return Response(result, media_type="text/plain; version=0.0.4")
