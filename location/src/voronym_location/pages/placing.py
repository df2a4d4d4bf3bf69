"""The page for placing a home: by address, by coordinates, or by a pin on the map; works without scripts.

A place is sent only in the body of a form, never in an address line, because address lines are logged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from voronym_location.errors import BadRequest
from voronym_location.pages import chart
from voronym_location.pages.chart import Outline, View
from voronym_location.pages.desk import Desk, sentence

STEPS = {name: name.capitalize() for name in ("north", "south", "west", "east", "closer", "farther")}
"""The buttons under the map."""
WAYS = {"north": (0.0, -1.0), "south": (0.0, 1.0), "west": (-1.0, 0.0), "east": (1.0, 0.0)}
ZOOMS = {"closer": 0.5, "farther": 2.0}
STEP = 1 / 16
"""Step of a button that moves the pin, as a share of the view."""
NEAR = 500.0
"""Width of the view in metres after a place was chosen."""
PAIR = re.compile(r"\s*(-?\d{1,2}(?:\.\d{1,15})?)°?\s*[,;\s]\s*(-?\d{1,3}(?:\.\d{1,15})?)°?\s*")


def routes(desk: Desk) -> APIRouter:
    """Return the routes of the page for placing a home."""
    router = APIRouter(include_in_schema=False)
    service = desk.service

    @router.get("/home")
    def ask(request: Request) -> Response:
        token = desk.token(request)
        home, outline = service.home(token), desk.outline(token)
        if home is None:
            return _page(desk, request, outline, outline.whole, chosen=False)
        return _page(desk, request, outline, View(home["latitude"], home["longitude"], 2 * NEAR))

    @desk.post(router, "/home")
    def place(request: Request, form: Mapping[str, str]) -> Response:
        token = desk.token(request)
        service.whoami(token)
        outline = desk.outline(token)
        view = _state(form, outline)
        wanted, chosen = form.get("do", ""), form.get("chosen") == "1"
        text = form.get("text", "").strip()
        facts = {name: form.get(f"attribute-{name}", "") for name in service.attributes.names}
        try:
            if wanted == "use" and not chosen:  # a default pin is not a home
                raise BadRequest("put the pin on your house first: type the address, or click the map")
            if wanted == "use":
                service.submit_home(token, view.latitude, view.longitude, facts)
                return desk.to("/me")
            if wanted == "find":
                result = coordinates(text) or service.find_address(token, text)
                outcome = "The pin is there. Is it your house? Move it if it is not."
                return _page(desk, request, outline, View(*result, NEAR), text=text, message=outcome)
        except BadRequest as error:
            close = service.suggest_addresses(token, text) if wanted == "find" else []
            return _page(
                desk, request, outline, view, chosen=chosen, text=text, wrong=sentence(error), close=close,
                facts=facts, status=400,
            )  # fmt: skip
        after = _moved(form, view, outline, wanted)
        clicked = wanted not in STEPS and after != view
        return _page(desk, request, outline, after, chosen=chosen or clicked)

    return router


def coordinates(text: str) -> tuple[float, float] | None:
    """Read a latitude and a longitude, if a text has both.

    Examples
    --------
    >>> coordinates("48.1372, 11.5756"), coordinates("Station Road 12")
    ((48.1372, 11.5756), None)
    """
    match = PAIR.fullmatch(text)
    if match is None:
        return None
    latitude, longitude = float(match[1]), float(match[2])
    if abs(latitude) > 90 or abs(longitude) > 180:
        raise BadRequest("a latitude is between -90 and 90 degrees, a longitude between -180 and 180")
    return latitude, longitude


def _state(form: Mapping[str, str], outline: Outline) -> View:
    """Read the pin's place and the view; a missing or broken form shows the whole town."""
    whole = outline.whole
    result = []
    for name, most, instead in (
        ("latitude", 90.0, whole.latitude),
        ("longitude", 180.0, whole.longitude),
        ("span", math.inf, whole.span),
    ):
        try:
            value = float(form.get(name, ""))
        except ValueError:
            value = math.nan
        result.append(value if math.isfinite(value) and abs(value) <= most else instead)
    return View(*result).kept()


def _moved(form: Mapping[str, str], view: View, outline: Outline, wanted: str) -> View:
    """Return the view after a button, or after a click on the map of a browser without scripts."""
    if wanted in ZOOMS:
        return replace(view, span=view.span * ZOOMS[wanted]).kept()
    if wanted in WAYS:
        x, y = outline.at(view.place)
        east, south = WAYS[wanted]
        place = outline.back((x + east * view.span * STEP, y + south * view.span * STEP))
        return View(*place, view.span)
    for name, pixels in (("wide", chart.WIDE), ("narrow", chart.NARROW)):
        x_text, y_text = form.get(f"{name}.x", ""), form.get(f"{name}.y", "")
        if x_text.isdecimal() and y_text.isdecimal() and int(x_text) <= pixels and int(y_text) <= pixels:
            return View(*view.clicked(outline, int(x_text), int(y_text), pixels), view.span)
    return view


def _page(
    desk: Desk,
    request: Request,
    outline: Outline,
    view: View,
    *,
    chosen: bool = True,
    text: str = "",
    message: str = "",
    wrong: str = "",
    close: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
    status: int = 200,
) -> Response:
    token = desk.token(request)
    account, known = desk.service.whoami(token), desk.service.home(token)
    before = (known or {}).get("attributes", {}) if facts is None else facts
    shown = f"{view.latitude:.5f}, {view.longitude:.5f}" if chosen else "not put yet"
    picture = chart.draw(
        outline, view, home=view.place, put=chosen, title="Map of the town",
        desc=f"The pin is at {shown}." if chosen else "There is no pin yet.",
    )  # fmt: skip
    return desk.page(
        request,
        "home.html",
        here="home",
        account=account,
        status=status,
        moving=known is not None,
        attributes=[
            item | {"value": before.get(item["name"], "")} for item in desk.service.attributes.plain()
        ],
        latitude=f"{view.latitude:.6f}",
        longitude=f"{view.longitude:.6f}",
        span=f"{view.span:.0f}",
        shown=shown,
        chosen=chosen,
        close=close,
        middle=outline.middle,
        metres=chart.METRES,
        east=chart.METRES * math.cos(math.radians(outline.middle[0])),
        picture=picture,
        steps=STEPS.items(),
        example=f"Station Road 12, or {outline.middle[0]:.4f}, {outline.middle[1]:.4f}",
        text=text,
        notice=message,
        wrong=wrong,
    )
