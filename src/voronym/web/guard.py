"""The guard of the page: accept a request only from the page itself, and set the headers of every answer.

The server listens on 127.0.0.1 only. A request must name one of the server's addresses as its host, so no
foreign name can point to it. It must come from the page or from the address bar, never from another site. And
it must carry the cookie that was given in exchange for the one-time token of the printed address.
"""

# promise: doc-guard
from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from html import escape
from time import monotonic
from urllib.parse import parse_qs

from voronym.web.headers import HEADERS, SAFE, App, Receive, Scope, Send, foreign, raw, signed

HOURS = 8


class Guard:
    """An ASGI application around another: refuses foreign requests, and adds headers to answers.

    Parameters
    ----------
    app : callable
        The page.
    port : int
        Port of the server.
    printed : callable, optional
        Called with a fresh address when the last one was used.
    first : callable, optional
        Returns the first page of an admitted visitor; the first screen without it.
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
        """The address with the one-time token; it admits one browser."""
        return f"http://127.0.0.1:{self.port}/?token={self._token}"

    def lock(self) -> None:
        """Lock out all browsers; a new address is needed."""
        self._visitors.clear()
        self._renew()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a request, or answer why not."""
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
        await self.app(scope, receive, signed(send))

    def _refusal(self, scope: Scope, heads: dict[str, str], *, from_file: bool) -> tuple[int, str] | None:
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(hosts) != 1 or heads.get("host", "").lower() not in self.hosts:
            return 400, "This page answers to its own address alone."
        if scope["method"] not in (*SAFE, "POST"):
            return 405, "This page knows no such request."
        if from_file:  # for a browser this is another site; only the token counts
            return None
        if foreign(scope["method"], heads, {f"http://{host}" for host in self.hosts}):
            return 403, "This page takes no requests from other sites."
        if scope["method"] == "POST" and not {"sec-fetch-site", "origin"} & set(heads):
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
    "once. If voronym was restarted, the old page is gone."
)


async def _answer(
    send: Send, status: int, sentence: str, more: dict[str, str] | None = None, head: str = ""
) -> None:
    body = (
        f"<!DOCTYPE html><html lang=en>{head}<title>voronym</title><main><h1>{sentence}</h1></main>"
        if sentence
        else ""
    )
    heads = {**HEADERS, "content-type": "text/html; charset=utf-8", **(more or {})}
    await send({"type": "http.response.start", "status": status, "headers": raw(heads)})
    await send({"type": "http.response.body", "body": body.encode()})
