"""From the fields of forms to settings. Columns are told by their place: their names may be anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from voronym.web.settings import ROLES, Settings, number

TEXTS = ("delimiter", "encoding", "decimal", "thousands", "date_format", "sheet")
Fields = Mapping[str, str]


def reading_of(fields: Fields) -> dict[str, Any]:
    """Return what was said about how to read a file."""
    said: dict[str, Any] = {name: fields[name] for name in TEXTS if fields.get(name)}
    codes = [code.strip() for code in fields.get("missing", "").split(",") if code.strip()]
    if codes:
        said["missing"] = codes
    if fields.get("header") in ("yes", "no"):
        said["header"] = fields["header"] == "yes"
    skipped = number(fields.get("skip_rows", ""))
    if skipped:
        said["skip_rows"] = skipped
    return said


def columns_of(fields: Fields, before: Settings, columns: Sequence[Mapping[str, Any]]) -> Settings:
    """Return settings with the roles and kinds of a form."""
    names = [column["name"] for column in columns]
    roles, kinds, orders = {}, {}, {}
    allowed: dict[str, list[str]] = {"near": [], "loss": []}
    for i, name in enumerate(names):
        role = fields.get(f"role-{i}", "")
        if role in ROLES:
            roles[name] = role
        if fields.get(f"kind-{i}"):
            kinds[name] = fields[f"kind-{i}"]
        levels = [level.strip() for level in fields.get(f"order-{i}", "").split("<") if level.strip()]
        if levels:
            orders[name] = levels
            kinds.pop(name, None)
        for what, given in allowed.items():
            if fields.get(f"{what}-{i}") and role == "key":
                given.append(name)
    units = {what: _named(fields.get(what, ""), names) for what in ("person", "household")}
    for unit in units.values():
        if unit is not None:
            roles[unit] = "identifier"
    lat, lon = (_named(fields.get(what, ""), names) for what in ("latitude", "longitude"))
    places = [[lat, lon]] if lat is not None and lon is not None else []
    for place in places[0] if places else ():
        kinds.pop(str(place), None)
    return replace(
        before,
        roles=roles,
        kinds=kinds,
        orders=orders,
        locations=places,
        person=units["person"],
        household=units["household"],
        pseudonyms=bool(fields.get("pseudonyms")) and any(units.values()),
        allow_near_unique=allowed["near"],
        allow_loss=allowed["loss"],
    )


def _named(place: str, names: Sequence[str]) -> str | None:
    return names[int(place)] if place.isdecimal() and len(place) < 9 and int(place) < len(names) else None


def protection_of(fields: Fields, before: Settings) -> Settings:
    """Return settings with the protection of a form."""
    models = [
        f"{name}={fields.get(f'{name}-value', '').strip()}"
        for name in ("p-sensitive", "t-closeness")
        if fields.get(name)
    ]
    models += [text.strip() for text in fields.get("models", "").split(";") if text.strip()]
    method = fields.get("method", "auto").strip() or "auto"
    return replace(
        before,
        k=number(fields.get("k", "")),
        models=models,
        method=method,
        options=before.options if method == before.method else {},
        time_limit=number(fields.get("time_limit", "")),
        seed=number(fields.get("seed", "")),
        intruder=fields.get("intruder") if models and fields.get("intruder") == "method" else None,
    )
