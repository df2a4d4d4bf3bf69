"""The operator's page: the state of the service, in figures that reveal no person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from voronym.errors import GuaranteeError
from voronym.report.bars import bars
from voronym.report.curves import Series, chart
from voronym.report.write import Table, plural
from voronym_location.errors import BadRequest, Busy, TooMany
from voronym_location.pages import chart as maps
from voronym_location.pages.citizen import write_metres
from voronym_location.pages.desk import Desk, sentence
from voronym_location.statements import clock_text


@dataclass(frozen=True)
class Part:
    """A section: its figures as a table, and a drawing or None."""

    title: str
    table: Table
    lead: str = ""
    figure: Markup | None = None


def routes(desk: Desk) -> APIRouter:
    """Return the operator's routes."""
    router = APIRouter(include_in_schema=False)

    service = desk.service

    @router.get("/operator")
    def figures(request: Request) -> Response:
        return _page(desk, request)

    def add(name: str, act: Callable[[str], Any], done: str) -> None:
        @desk.post(router, f"/operator/{name}")
        def answer(request: Request, form: Mapping[str, str]) -> Response:
            del form
            try:
                act(desk.token(request))
            except (BadRequest, Busy, TooMany, GuaranteeError) as error:
                return _page(desk, request, wrong=sentence(error), status=getattr(error, "status", 409))
            return _page(desk, request, message=done)

    add("preview", service.preview_epoch, "This is the next epoch as it would be with the people of now.")
    add("publish", service.publish_preview, "The epoch is in force.")
    add("discard", service.discard_preview, "The draft is gone. Nothing of it was published.")
    add("pause", service.pause_epochs, "No epoch is made automatically from now on.")
    add("resume", lambda token: service.pause_epochs(token, on=False), "Epochs are made on schedule again.")
    return router


def _page(desk: Desk, request: Request, *, message: str = "", wrong: str = "", status: int = 200) -> Response:
    token = desk.token(request)
    result = desk.service.operator_figures(token)
    state = desk.service.desk_state(token)
    acts = [{"at": desk.time(act["at"]), "action": act["action"]} for act in state["acts"]]
    return desk.page(
        request, "operator.html", here="operator", status=status, account=desk.service.whoami(token),
        notice=message, wrong=wrong, paused=state["paused"], acts=acts,
        schedule=_schedule(desk, result, state), preview=_preview(desk, token, result, state["preview"]),
        **_figures_view(desk, result),
    )  # fmt: skip


def _schedule(desk: Desk, result: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Return a sentence about the time of the next epoch."""
    period = desk.service.settings.period
    if not period:
        return "Epochs are made by hand here: there is no schedule."
    if state["paused"]:
        return "The schedule is paused. The epoch in force stays until its statements run out."
    if not result["epochs"]:
        return "The first epoch is made automatically, a period after the service was started."
    due = datetime.fromisoformat(result["epochs"][0]["published"]).timestamp() + period
    ending = "a draft that is kept then is replaced." if state["preview"] else "unless you pause it."
    return f"It is made automatically at {desk.time(clock_text(due))}; {ending}"


def _preview(
    desk: Desk, token: str, result: Mapping[str, Any], preview: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the operator's view of a draft, next to the epoch in force; None without a draft."""
    if preview is None:
        return None
    k, least = result["k"], f"under {result['k']}"
    after, before = preview["figures"], result["epochs"][0] if result["epochs"] else None
    rows = [
        (label, "–" if before is None else _count(before[name], least), _count(after[name], least))
        for name, label in (("people", "people"), ("served", "have a point"), ("waiting", "wait"),
                            ("told", "given a new point"))
    ]  # fmt: skip
    rows += [
        ("groups", "–" if before is None else str(before["groups"]), str(after["groups"])),
        ("k is tight in", "–", plural(preview["tight"], "group")),
        (
            "from home, rms",
            "–" if before is None else write_metres(before["rms"]),
            write_metres(after["rms"]),
        ),
    ]
    places = [((latitude, longitude), bool(tight)) for latitude, longitude, tight in preview["places"]]
    outline = desk.outline(token)
    view = maps.around([place for place, _ in places], outline) if places else outline.whole
    picture = maps.draw(
        outline, view, groups=places, title="Points of the next epoch",
        desc=f"{len(places)} points of groups; in {preview['tight']} of them k is tight.",
    )  # fmt: skip
    caption = f"Counts to the next {k}"
    return {
        "number": after["epoch"], "at": desk.time(clock_text(preview["at"])), "picture": picture,
        "table": Table.of(("figure", "in force", "draft"), rows, caption=caption),
    }  # fmt: skip


def _figures_view(desk: Desk, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the page's view of the figures; withheld counts stay withheld."""
    k, epochs = result["k"], list(result["epochs"])
    least = f"under {k}"
    if not epochs:
        return {
            "heading": "No epoch has been made yet", "least": k, "invariants": [], "tables": [], "until": "",
            "facts": [(_count(result["addresses"], least), "addresses in the directory", "")],
        }  # fmt: skip
    last = epochs[0]
    facts = [
        (_count(last["people"], least), "people", f"in epoch {last['epoch']}"),
        (_count(last["served"], least), "have a point", f"in {plural(result['groups'], 'group')}"),
        (_count(last["waiting"], least), "wait for neighbours", ""),
        (write_metres(last["rms"]) if last["served"] != 0 else "–", "from home", "root mean square"),
    ]
    invariants = [
        (
            f"every point is shared by {k} addresses or more, counted in the database just now",
            result["smallest_group_at_least_k"] is not False,
        ),
        (
            f"nobody shares their history with fewer than {k}, counted before epoch {last['epoch']} was "
            "published",
            True,
        ),
    ]
    served = _count(last["served"], least)
    return {
        "heading": f"About {served} people have a point" if last["served"] else "Nobody has a point yet",
        "least": k,
        "facts": facts,
        "until": desk.time(last["expires"]),
        "invariants": invariants,
        "tables": [*_distances(last), _epochs(desk, epochs, least)],
    }


def _distances(last: Mapping[str, Any]) -> list[Part]:
    parts = last.get("by_density", ())
    if not parts:
        return []
    rows = [(part["settled"], _count(part["people"], ""), write_metres(part["metres"])) for part in parts]
    figure = bars(
        [item["settled"] for item in parts],
        [entry["metres"] for entry in parts],
        title="Metres from home by density",
        desc="; ".join(f"{name} settled: {metres}" for name, _, metres in rows),
        write=write_metres,
    )
    table = Table.of(("settled", "people", "from home"), rows, caption="A quarter of the people each")
    result = "Where people live close together, the point that they share is nearer, as a rule."
    return [Part("Metres by density", table, result, figure)]


def _epochs(desk: Desk, epochs: Sequence[Mapping[str, Any]], least: str) -> Part:
    rows = [
        (
            str(epoch["epoch"]),
            *(_count(epoch[name], least) for name in ("people", "served", "waiting", "told")),
            write_metres(epoch["rms"]),
            desk.time(epoch["published"]),
        )
        for epoch in epochs
    ]
    head = ("epoch", "people", "with a point", "waiting", "new place", "from home", "published")
    figure = None
    if len(epochs) > 2:
        curves = [
            Series(name, [(item["epoch"], item[key]) for item in epochs if item[key] is not None])
            for name, key in (("people", "people"), ("with a point", "served"), ("waiting", "waiting"))
        ]
        figure = chart(
            [curve for curve in curves if curve.points],
            title="People over epochs",
            desc="Everybody, those with a point and those who wait, at each epoch.",
            x_name="epoch",
            y_name="people",
        )
    return Part(
        plural(len(epochs), "epoch").capitalize(), Table.of(head, rows, caption="The last epochs"), "", figure
    )


def _count(value: int | None, least: str) -> str:
    return least if value is None else f"{value:,}"
