"""The headers of every HTTP answer, and whether a request comes from another site.

The page of the core and the pages of the location service share this guard. It knows no framework: it wraps
the sender of an ASGI application.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any

__all__ = ["HEADERS", "SAFE", "App", "Message", "Receive", "Scope", "Send", "foreign", "raw", "signed"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # with "no-referrer" browsers send no origin with forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
SAFE = ("GET", "HEAD")
"""HTTP methods that change nothing; typing an address sends GET."""


def raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI takes them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def signed(send: Send, headers: Mapping[str, str] = HEADERS, replaced: Collection[str] = ()) -> Send:
    """Return a sender that adds headers to every answer.

    Parameters
    ----------
    send : callable
        The sender of the application.
    headers : mapping
        Names in lower case, with their values.
    replaced : collection of str
        Headers that take the place of the application's own; any other that is there already stays.
    """

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            over = {name.encode("latin-1") for name in replaced}
            there = [item for item in message.get("headers", ()) if item[0].lower() not in over]
            names = {name.lower() for name, _ in there}
            message["headers"] = [*there, *(item for item in raw(headers) if item[0] not in names)]
        await send(message)

    return sender


def foreign(method: str, headers: Mapping[str, str], origins: Collection[str]) -> bool:
    """Whether a browser sent a request for another site.

    Parameters
    ----------
    method : str
        The method of the request.
    headers : mapping
        Its headers, by names in lower case.
    origins : collection of str
        Origins of ours: scheme, host and port.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    ours = ("same-origin", "none") if method in SAFE else ("same-origin",)
    return (site is not None and site not in ours) or (origin is not None and origin not in origins)
