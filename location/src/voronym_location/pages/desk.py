"""Shared parts of all routes: the visitor, their form, and the page or redirect that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import anyio
import anyio.to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from voronym_location.accounts import Account
from voronym_location.errors import Forbidden, Refused, ServiceError, TooMany, Unavailable
from voronym_location.gate import Attempts
from voronym_location.pages import guards
from voronym_location.pages.chart import NOWHERE, Outline
from voronym_location.pages.view import fill

if TYPE_CHECKING:
    from voronym_location.service import Service

Handler = Callable[[Request, Mapping[str, str]], Response]
SESSION, VISIT = "session", "visit"
MISSING = "There is no such page", "The address may be mistyped, or the page was one of an earlier version."
OURS = "Our mistake", "This is a defect of the service; nothing was changed. Try again later."


@dataclass
class Desk:
    """The entry of requests: the service behind it, and the cookies of its visitors."""

    service: Service
    cookies: guards.Cookies
    attempts: Attempts
    few: anyio.CapacityLimiter
    """Limit on concurrent sign-ups and sign-ins: hashing passwords must not delay everybody else."""
    drawn: tuple[Any, Outline] | None = None
    """The last outline of the town, with its source data."""

    @classmethod
    def of(cls, service: Service, *, secure: bool = False) -> Desk:
        """Return the desk of a service."""
        attempts = Attempts(service.settings.attempts)
        return cls(service, guards.Cookies(secure=secure), attempts, anyio.CapacityLimiter(2))

    def time(self, text: str) -> str:
        """Write a moment in the time zone of the service."""
        return write_time(text, self.service.settings.zone)

    @property
    def k(self) -> int:
        """The smallest number of people who share a point."""
        return self.service.settings.k

    def visitor(self, request: Request) -> Account | None:
        """Return the signed-in person; None for a visitor."""
        try:
            return self.service.whoami(self.token(request)) if self.token(request) else None
        except Refused:
            return None

    def outline(self, token: str) -> Outline:
        """Return the public outline of the town; without a directory, a wide empty square."""
        given = self.service.outline(token)
        if given is None:
            return NOWHERE
        kept = self.drawn
        if kept is None or kept[0] is not given:  # a large town has many corners
            self.drawn = kept = given, Outline.of(given)
        return kept[1]

    def token(self, request: Request) -> str:
        """Return the session's token, empty without a session."""
        return self.cookies.read(request, SESSION)

    def secret(self, request: Request) -> str:
        """Return the secret of this visitor's forms, empty without a cookie."""
        return self.token(request) or self.cookies.read(request, VISIT)

    def post(self, router: APIRouter, path: str, *, counted: bool = False) -> Callable[[Handler], Handler]:
        """Return a decorator for the handler of a form; the handler runs in a thread.

        Parameters
        ----------
        router : APIRouter
        path : str
        counted : bool
            Whether it can be used to guess: then few at a time, and few a minute from an address.
        """

        def add(handler: Handler) -> Handler:
            async def answer(request: Request) -> Response:
                if counted and not self.attempts.passes(request.client.host if request.client else ""):
                    raise TooMany("too many attempts from this network address: wait a minute", 60)
                form = await self.form(request)
                limiter = self.few if counted else None
                return await anyio.to_thread.run_sync(handler, request, form, limiter=limiter)

            router.add_api_route(path, answer, methods=["POST"], response_model=None)
            return handler

        return add

    async def form(self, request: Request) -> Mapping[str, str]:
        """Read a form from our own pages; refuse forms from other sites."""
        guards.check_origin(request)
        given = await guards.read_form(request)
        guards.check_form(given, self.secret(request))
        return given

    def page(
        self,
        request: Request,
        template: str,
        *,
        here: str = "",
        status: int = 200,
        account: Account | None = None,
        **data: Any,
    ) -> Response:
        """Answer with a page; give a visitor without a cookie one for the forms."""
        secret = self.secret(request)
        fresh = "" if secret else guards.visit()
        text = fill(
            template,
            secret or fresh,
            here=here,
            signed_in=account is not None,
            is_operator=account is not None and account.operator,
            runs=self.service.settings.operator,
            **data,
        )
        answer = HTMLResponse(text, status_code=status)
        if fresh:
            self.cookies.write(request, answer, VISIT, fresh)
        return answer

    def to(self, where: str) -> Response:
        """Redirect the browser to another page of the service."""
        return RedirectResponse(where, status_code=303)

    def known(self, request: Request) -> Account | None:
        """Return the signed-in person, for the menu of a page that must not fail."""
        try:
            return self.visitor(request)
        except ServiceError:
            return None

    def missing(self, request: Request, status: int) -> Response:
        """Answer with a page for a missing page or an internal error."""
        heading, text = MISSING if status in (404, 405) else OURS
        account = self.known(request) if status < 500 else None  # a broken database is not queried again
        back = {"back": "/", "back_words": "To the first page"}
        return self.page(
            request, "problem.html", status=status, account=account, heading=heading, text=text, **back
        )

    def problem(self, request: Request, error: Exception) -> Response:
        """Answer with a page about a refusal; expired sessions are redirected to sign-in."""
        if isinstance(error, Refused):
            answer = self.to("/sign-in")
            self.cookies.drop(request, answer, SESSION)
            return answer
        heading = (
            "Not for you"
            if isinstance(error, Forbidden)
            else "Slowly"
            if isinstance(error, TooMany)
            else "Not done"
        )
        made = self.page(
            request,
            "problem.html",
            status=getattr(error, "status", 400),
            heading=heading,
            text=sentence(error),
            # Where the database is away, asking it again would double the wait.
            account=None if isinstance(error, Unavailable) else self.known(request),
            back="/",
            back_words="To the first page",
        )
        if isinstance(error, TooMany):
            made.headers["retry-after"] = str(max(1, round(error.wait)))
        return made


def write_time(text: str, zone: str = "UTC") -> str:
    """Format a moment of a statement for people.

    Examples
    --------
    >>> write_time("2026-03-01T08:05:00Z"), write_time("2026-07-01T08:05:00Z", "Europe/Madrid")
    ('1 March 2026, 08:05 UTC', '1 July 2026, 10:05 CEST')
    """
    at = datetime.fromisoformat(text).astimezone(ZoneInfo(zone))
    return f"{at.day} {at:%B %Y}, {at:%H:%M} {at:%Z}"


def sentence(result: object) -> str:
    """Return an error's text as a sentence."""
    text = str(result)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
