"""A citizen's own pages: the point that providers see, all stored data, and leaving."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voronym_location.globe import metres
from voronym_location.pages import chart
from voronym_location.pages.desk import SESSION, Desk, sentence
from voronym_location.statements import Statement


def routes(desk: Desk) -> APIRouter:
    """Return the routes of a signed-in person; each answers only for that person."""
    router = APIRouter(include_in_schema=False)
    service, cookies = desk.service, desk.cookies

    @router.get("/me")
    def me(request: Request) -> Response:
        token = desk.token(request)
        account = service.whoami(token)
        return desk.page(request, "me.html", here="me", account=account, **_seen(desk, token))

    @desk.post(router, "/statement")
    def statement(request: Request, form: Mapping[str, str]) -> Response:
        del form
        result = service.statement(desk.token(request))
        if not isinstance(result, Statement):
            return desk.to("/me")
        return _download(result.plain(), "voronym-statement.json")

    @desk.post(router, "/export")
    def export(request: Request, form: Mapping[str, str]) -> Response:
        del form
        return _download(service.export(desk.token(request)), "voronym-my-data.json")

    @router.get("/leave")
    def ask(request: Request) -> Response:
        return desk.page(request, "leave.html", account=service.whoami(desk.token(request)), wrong="")

    @desk.post(router, "/leave")
    def leave(request: Request, form: Mapping[str, str]) -> Response:
        token = desk.token(request)
        account = service.whoami(token)
        if form.get("do") == "cancel":
            service.cancel(token)
            return desk.to("/me")
        if form.get("sure", "").strip().lower() != "delete":
            wrong = "Nothing was deleted: type the word delete into the field first."
            return desk.page(request, "leave.html", account=account, status=400, wrong=wrong)
        service.delete(token)
        answer = desk.page(
            request,
            "problem.html",
            heading="All of it is deleted",
            text="Your account, your home and your point were deleted. Farewell.",
            back="/",
            back_words="To the first page",
        )
        cookies.drop(request, answer, SESSION)
        return answer

    return router


def _seen(desk: Desk, token: str) -> dict[str, Any]:
    """Return the data of the page about a person's own point."""
    home, result = desk.service.home(token), desk.service.statement(token)
    known: dict[str, Any] = {"home": home, "served": isinstance(result, Statement), "k": desk.k}
    if home is None:
        return known
    place = (home["latitude"], home["longitude"])
    outline = desk.outline(token)
    if isinstance(result, Statement):
        seen = (result.latitude, result.longitude)
        off = write_metres(metres(place, seen))
        known |= {
            "k": result.k,
            "off": off,
            "moving": result.moving,
            "seen": (f"{seen[0]:.6f}", f"{seen[1]:.6f}"),
            "attributes": result.attributes,
            "pseudonym": result.pseudonym,
            "until": desk.time(result.expires),
            "over": datetime.fromisoformat(result.expires).timestamp() <= desk.service.clock(),
            "picture": chart.draw(
                outline,
                chart.around([place, seen], outline),
                home=place,
                seen=seen,
                title="Your home, and the point that providers see",
                desc=f"A pin marks your home, a ring the point that providers see, {off} away.",
            ),
        }
        return known
    return known | {
        "why": sentence(result.reason if result is not None else "the next epoch will use your home"),
        "due": desk.time(result.until) if result is not None and result.until else "",
        "picture": chart.draw(
            outline,
            chart.around([place], outline),
            home=place,
            title="Your home",
            desc="A pin marks your home. There is no point for providers yet.",
        ),
    }


def write_metres(far: float) -> str:
    r"""Format a distance in metres or kilometres, rounded.

    Examples
    --------
    >>> write_metres(142.3), write_metres(1840.0)
    ('142\xa0m', '1.8\xa0km')
    """
    return f"{far:.0f}\u00a0m" if far < 1000 else f"{far / 1000:.1f}\u00a0km"


def _download(data: Mapping[str, Any], name: str) -> Response:
    """Answer with a file to download."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=headers)
