"""Protection against foreign pages: headers, cookies, and forms that only our pages can send.

A request that changes something must carry the form's token, made from a cookie that no script and no other
site can read. It must not come from another origin. Answers are not cached, load nothing from other sites,
and cannot be framed. Cross-origin requests are never allowed: no answer has an ``Access-Control-Allow-``
header.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from voronym.errors import VoronymError
from voronym.web.headers import HEADERS, foreign, signed

MOST_BYTES = 16_384
"""Largest number of bytes of a form."""
MOST_FIELDS = 20
TRANSPORT = "max-age=31536000"
FIELD = "form_token"


class Foreign(VoronymError):  # noqa: N818 - an answer, not a failure
    """A request that the service's own pages would not send; the status tells how."""

    def __init__(self, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.status = status


class Headers:
    """Middleware that adds the headers to every answer."""

    def __init__(self, app: ASGIApp, *, secure: bool = False) -> None:
        self.app, self.secure = app, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        secure = self.secure or scope.get("scheme") == "https"
        headers = HEADERS | ({"strict-transport-security": TRANSPORT} if secure else {})
        await self.app(scope, receive, signed(send, headers, replaced=set(headers) - {"cache-control"}))


class Cookies:
    """The two cookies: the session's token, and the mark of a visit before signing in."""

    def __init__(self, *, secure: bool = False) -> None:
        self.always = secure

    def secure(self, request: Request) -> bool:
        """Whether the answer is sent over TLS."""
        return self.always or request.url.scheme == "https"

    def name(self, request: Request, which: str) -> str:
        """Return a cookie's name; the prefix makes browsers refuse cookies set by other subdomains."""
        return f"__Host-voronym-{which}" if self.secure(request) else f"voronym-{which}"

    def read(self, request: Request, which: str) -> str:
        """Return a cookie's value, or an empty text."""
        return request.cookies.get(self.name(request, which), "")

    def write(self, request: Request, response: Response, which: str, value: str) -> None:
        """Set a cookie that ends with the browser's session."""
        response.set_cookie(
            self.name(request, which),
            value,
            path="/",
            httponly=True,
            samesite="strict",
            secure=self.secure(request),
        )

    def drop(self, request: Request, response: Response, which: str) -> None:
        """Delete a cookie."""
        response.delete_cookie(
            self.name(request, which), path="/", httponly=True, samesite="strict", secure=self.secure(request)
        )


def visit() -> str:
    """Return a secret for a visitor."""
    return secrets.token_urlsafe(32)


def form_token(secret: str) -> str:
    """Return the token of a form: derived from a cookie, and not reversible."""
    return hmac.new(secret.encode(), b"voronym form", hashlib.sha256).hexdigest()


def check_origin(request: Request) -> None:
    """Refuse a request that a browser sent for another site."""
    host = request.headers.get("host", "")
    # Behind a proxy that speaks TLS the scheme is the proxy's, so the host alone counts.
    if foreign(request.method, request.headers, {f"{scheme}://{host}" for scheme in ("http", "https")}):
        raise Foreign("this form was sent from another site, so nothing was done")


def check_form(given: Mapping[str, str], secret: str) -> None:
    """Refuse a form that no page of the service in this browser sent."""
    wanted = form_token(secret) if secret else ""
    if not secret or not hmac.compare_digest(given.get(FIELD, "").encode(), wanted.encode()):
        raise Foreign("this form is out of date, so nothing was done: open the page again and repeat")


async def read_form(request: Request) -> dict[str, str]:
    """Read the fields of a short form; the last value of a repeated field counts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Foreign("this page takes forms only", 415)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise Foreign("this form is too long", 413)
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Foreign("this form cannot be read", 400) from None
    return {name: value.replace("\0", "") for name, value in pairs}
