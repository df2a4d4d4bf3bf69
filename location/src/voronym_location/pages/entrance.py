"""Entering and leaving: sign up, verify, sign in, sign out.

The pages do not reveal whether an address has an account: sign-up and verification answer the same to
everybody, and a wrong password reads like an unknown address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voronym_location.errors import BadRequest, Refused, TooMany
from voronym_location.pages.desk import SESSION, VISIT, Desk, sentence
from voronym_location.passwords import LEAST

WRONG_CODE = "That code does not fit, or it has run out. Check it, or sign up again for a new one."
WRONG_PASSWORD = "The address and the password do not fit together."  # noqa: S105 - a sentence
WRONG_FACTOR = (
    "Address, password and code do not fit together. A code is good for half a minute, and once: wait for "
    "the next one if yours was used."
)
HINT = f"At least {LEAST} characters; a few words that you remember are best."


def routes(desk: Desk) -> APIRouter:
    """Return the routes of the entrance."""
    router = APIRouter(include_in_schema=False)
    _accounts(router, desk)
    _sessions(router, desk)
    return router


def _accounts(router: APIRouter, desk: Desk) -> None:
    service = desk.service

    @router.get("/")
    def welcome(request: Request) -> Response:
        return desk.page(request, "welcome.html", account=desk.visitor(request), k=desk.k)

    @router.get("/about")
    def about(request: Request) -> Response:
        given = service.settings
        return desk.page(
            request, "about.html", here="about", account=desk.visitor(request), contact=given.contact,
            terms=given.terms, backups=given.backups, days=f"{given.token_days:g}", k=desk.k,
            period=_hours(given.period),
        )  # fmt: skip

    @router.get("/sign-up")
    def ask_sign_up(request: Request) -> Response:
        return desk.page(request, "sign_up.html", here="sign-up", wrong="", email="")

    @desk.post(router, "/sign-up", counted=True)
    def sign_up(request: Request, form: Mapping[str, str]) -> Response:
        email = form.get("email", "")
        try:
            service.sign_up(email)
        except BadRequest as error:
            wrong = sentence(error)
            return desk.page(request, "sign_up.html", here="sign-up", status=400, wrong=wrong, email=email)
        return desk.page(request, "verify.html", wrong="", email=email, password_hint=HINT)

    @router.get("/verify")
    def ask_code(request: Request) -> Response:
        return desk.page(request, "verify.html", wrong="", email="", password_hint=HINT)

    @desk.post(router, "/verify", counted=True)
    def verify(request: Request, form: Mapping[str, str]) -> Response:
        email, wrong = form.get("email", ""), WRONG_CODE
        try:
            if service.verify(email, form.get("code", "").strip(), form.get("password", "")):
                try:  # the reader of the mail just chose the password: sign in at once
                    session = service.sign_in(email, form.get("password", ""))
                except (Refused, TooMany):
                    session = None  # an operator shows a second factor, too
                if session is not None:
                    answer = desk.to("/me")
                    desk.cookies.write(request, answer, SESSION, session.token)
                    desk.cookies.drop(request, answer, VISIT)
                    return answer
                result = "Your address is verified. Sign in now."
                return desk.page(
                    request, "sign_in.html", here="sign-in", wrong="", notice=result, email=email
                )
        except BadRequest as error:
            wrong = sentence(error)
        return desk.page(request, "verify.html", status=400, wrong=wrong, email=email, password_hint=HINT)


def _hours(seconds: float) -> str:
    """Return words for the interval between epochs.

    Examples
    --------
    >>> _hours(86400.0), _hours(3600.0), _hours(0.0)
    ('every 24 hours', 'every hour', 'when the operator asks for it')
    """
    if not seconds:
        return "when the operator asks for it"
    hours = seconds / 3600
    return "every hour" if hours == 1 else f"every {hours:.3g} hours"


def _sessions(router: APIRouter, desk: Desk) -> None:
    service, cookies = desk.service, desk.cookies

    @router.get("/sign-in")
    def ask_sign_in(request: Request) -> Response:
        return desk.page(request, "sign_in.html", here="sign-in", wrong="", notice="", email="")

    @desk.post(router, "/sign-in", counted=True)
    def sign_in(request: Request, form: Mapping[str, str]) -> Response:
        email = form.get("email", "")
        try:
            session = service.sign_in(email, form.get("password", ""), form.get("code", "").strip())
        except (BadRequest, Refused, TooMany) as error:
            # One sentence and one status, whatever was wrong.
            slow = isinstance(error, TooMany)
            again: dict[str, Any] = {
                "wrong": sentence(error) if slow else WRONG_FACTOR if form.get("code") else WRONG_PASSWORD,
                "notice": "",
                "email": email,
            }
            return desk.page(request, "sign_in.html", here="sign-in", status=429 if slow else 401, **again)
        answer = desk.to("/operator" if session.account.operator else "/me")
        cookies.write(request, answer, SESSION, session.token)
        cookies.drop(request, answer, VISIT)
        return answer

    @desk.post(router, "/sign-out")
    def sign_out(request: Request, form: Mapping[str, str]) -> Response:
        del form
        service.sign_out(desk.token(request))
        answer = desk.to("/")
        cookies.drop(request, answer, SESSION)
        return answer
