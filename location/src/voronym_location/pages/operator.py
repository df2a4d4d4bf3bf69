"""The operator's page: how the service does, in figures that point at nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from voronym.report.bars import bars
from voronym.report.curves import Series, chart
from voronym.report.write import Table, plural
from voronym_location.pages.citizen import write_metres, write_time
from voronym_location.pages.desk import Desk


@dataclass(frozen=True)
class Part:
    """A section: a drawing where there is one, and its figures as a table."""

    title: str
    table: Table
    lead: str = ""
    figure: Markup | None = None


def routes(desk: Desk) -> APIRouter:
    """Return the operator's routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/operator")
    def figures(request: Request) -> Response:
        token = desk.token(request)
        result = desk.service.operator_figures(token)
        return desk.page(
            request, "operator.html", here="operator", account=desk.service.whoami(token), **_told(result)
        )

    return router


def _told(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of the figures; a count that was withheld stays so."""
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
            f"nobody shares their history with fewer than {k}, counted before epoch {last['epoch']} was told",
            True,
        ),
    ]
    served = _count(last["served"], least)
    return {
        "heading": f"About {served} people have a point" if last["served"] else "Nobody has a point yet",
        "least": k,
        "facts": facts,
        "until": write_time(last["expires"]),
        "invariants": invariants,
        "tables": [*_distances(last), _epochs(epochs, least)],
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


def _epochs(epochs: Sequence[Mapping[str, Any]], least: str) -> Part:
    rows = [
        (
            str(epoch["epoch"]),
            *(_count(epoch[name], least) for name in ("people", "served", "waiting", "told")),
            write_metres(epoch["rms"]),
            write_time(epoch["published"]),
        )
        for epoch in epochs
    ]
    head = ("epoch", "people", "with a point", "waiting", "told anew", "from home", "published")
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
