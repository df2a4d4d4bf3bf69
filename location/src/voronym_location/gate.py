"""Checks on every request: limits on size and attempts, headers, a log line and a count."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from ipaddress import IPv4Address, ip_address, ip_network

from starlette.exceptions import HTTPException

from voronym.web.headers import HEADERS, App, Message, Receive, Scope, Send, signed
from voronym_location.metrics import Metrics

__all__ = ["Attempts", "Gate"]

log = logging.getLogger("voronym_location")

ANSWERS = {name: HEADERS[name] for name in ("cache-control", "x-content-type-options")} | {
    "referrer-policy": "no-referrer"
}
LARGE = "the request is larger than this service reads"
UPLOAD = "/v1/operator/directory"


class Attempts:
    """Counts attempts of a network address within a minute, in memory only.

    Parameters
    ----------
    most : int
        Number of attempts that pass; 0 means no limit.
    """

    def __init__(self, most: int) -> None:
        self._most, self._minute, self._seen = most, 0, Counter[str]()

    def passes(self, address: str, at: float | None = None) -> bool:
        """Count an attempt, and return whether it may pass."""
        minute = int((time.monotonic() if at is None else at) // 60)
        if minute != self._minute:
            self._minute, self._seen = minute, Counter()
        asker = _network(address)
        self._seen[asker] += 1
        return not self._most or self._seen[asker] <= self._most


def _network(address: str) -> str:
    """Return the network of a client: an IPv4 address, or an IPv6 network of 2^64."""
    try:
        result = ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(result, IPv4Address):
        return str(result)
    return str(result.ipv4_mapped or ip_network((int(result) >> 64 << 64, 64)))


class Gate:
    """An ASGI middleware.

    Parameters
    ----------
    app : ASGI application
        The application behind the gate.
    body, upload : int
        Bytes that are read of a request, and of a directory.
    metrics : Metrics
        Counts the answers.
    """

    def __init__(self, app: App, *, body: int, upload: int, metrics: Metrics) -> None:
        self._app, self._body, self._upload, self._metrics = app, body, upload, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        limit = self._upload if scope["path"] == UPLOAD else self._body
        read, answer = 0, signed(send, ANSWERS)

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise HTTPException(413, LARGE)
            return message

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await answer(message)

        try:
            refusal = _refusal(scope, limit)
            if refusal is not None:
                await _say(noted, *refusal)
            else:
                await self._app(scope, counted, noted)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.saw(method, route, status, seconds)
        if status >= 500 or log.isEnabledFor(logging.DEBUG):
            level = logging.ERROR if status >= 500 else logging.DEBUG
            what = {"route": route, "method": method, "status": status, "ms": round(1000 * seconds, 1)}
            log.log(level, "request", extra=what)


METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")


def _refusal(scope: Scope, limit: int) -> tuple[int, str] | None:
    """Return why a request is refused by its headers alone."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > limit):
            return 413, LARGE
        if name == b"content-encoding" and value.lower() != b"identity":
            return 415, "send the request as it is, not compressed"
    return None


async def _say(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
