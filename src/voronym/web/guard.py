"""Who may ask, and what every answer says: the door of the page.

The server listens on 127.0.0.1 alone. A request must name one of its own addresses as its host, so that no
foreign name can be pointed at it; it must come from the page itself or from the address bar, never from
another site; and it must carry the cookie that the one-time token of the printed address was exchanged for.
"""

# promise: doc-guard
from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

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
HOURS = 8


class Guard:
    """An ASGI application around another: refuses what should not get in, and signs what goes out.

    Parameters
    ----------
    app : callable
        The page.
    port : int
        Where it listens.
    printed : callable, optional
        Called with a fresh address when the last one was used.
    first : callable, optional
        Says where whoever is let in goes first; the first screen without it.
    """

    def __init__(
        self,
        app: App,
        port: int,
        printed: Callable[[str], None] | None = None,
        first: Callable[[], str] = lambda: "/",
    ) -> None:
        self.app, self.port, self.printed, self.first = app, port, printed, first
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"voronym-{port}"
        self._token = secrets.token_urlsafe(32)
        self._visitors: set[str] = set()
        self.seen = monotonic()

    @property
    def address(self) -> str:
        """The address that lets somebody in, once."""
        return f"http://127.0.0.1:{self.port}/?token={self._token}"

    def lock(self) -> None:
        """Send everybody away; a fresh address is needed."""
        self._visitors.clear()
        self._renew()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        heads = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        token, opened = (asked.get(name, [""])[0] for name in ("token", "open"))
        entering = scope["path"] == "/" and scope["method"] == "GET" and bool(token)
        refusal = self._refusal(scope, heads, from_file=entering and bool(opened))
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if entering:
            await self._enter(token, send, from_file=bool(opened))
            return
        if not self._knows(heads.get("cookie", "")):
            await _answer(send, 403, LOCKED)
            return
        self.seen = monotonic()
        await self.app(scope, receive, _signing(send))

    def _refusal(self, scope: Scope, heads: dict[str, str], *, from_file: bool) -> tuple[int, str] | None:
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(hosts) != 1 or heads.get("host", "").lower() not in self.hosts:
            return 400, "This page answers to its own address alone."
        if scope["method"] not in (*SAFE, "POST"):
            return 405, "This page knows no such request."
        if from_file:  # to a browser that is another site; the token alone counts
            return None
        site = heads.get("sec-fetch-site")
        if site is not None and site not in (
            ("same-origin", "none") if scope["method"] in SAFE else ("same-origin",)
        ):
            return 403, "This page takes no requests from other sites."
        origin = heads.get("origin")
        ours = {f"http://{host}" for host in self.hosts}
        if origin is not None and origin not in ours:
            return 403, "This page takes no requests from other sites."
        if scope["method"] == "POST" and site is None and origin is None:
            return 403, "This page cannot tell where the request comes from."
        return None

    async def _enter(self, token: str, send: Send, *, from_file: bool) -> None:
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            await _answer(send, 403, LOCKED)
            return
        visitor = secrets.token_urlsafe(32)
        self._visitors.add(visitor)
        self._renew()
        cookie = f"{self.cookie}={visitor}; Path=/; HttpOnly; SameSite=Strict; Max-Age={HOURS * 3600}"
        if from_file:  # browsers keep the cookie back until the page itself asks for the next one
            onwards = f'<meta http-equiv=refresh content="0; url={escape(self.first(), quote=True)}">'
            await _answer(send, 200, "One moment …", {"set-cookie": cookie}, onwards)
        else:
            await _answer(send, 303, "", {"location": self.first(), "set-cookie": cookie})

    def _renew(self) -> None:
        self._token = secrets.token_urlsafe(32)
        if self.printed is not None:
            self.printed(self.address)

    def _knows(self, cookies: str) -> bool:
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie and any(
                hmac.compare_digest(value.encode(), known.encode()) for known in self._visitors
            ):
                return True
        return False


LOCKED = (
    "This page is locked. Open the address that voronym page printed last in the terminal; each opens it "
    "once. If voronym was started anew, what was on the old page is gone."
)


def _signing(send: Send) -> Send:
    """Return a sender that adds the headers of every answer; one that is there already stays."""

    async def signed(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *(item for item in more if item[0] not in there)]
        await send(message)

    return signed


async def _answer(
    send: Send, status: int, sentence: str, more: dict[str, str] | None = None, head: str = ""
) -> None:
    body = (
        f"<!DOCTYPE html><html lang=en>{head}<title>voronym</title><main><h1>{sentence}</h1></main>"
        if sentence
        else ""
    )
    heads = {**HEADERS, "content-type": "text/html; charset=utf-8", **(more or {})}
    raw = [(name.encode(), value.encode()) for name, value in heads.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body.encode()})
