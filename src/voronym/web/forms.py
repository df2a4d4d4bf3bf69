"""From the fields of forms to settings. Columns are told by their place: their names may be anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from voronym.web.settings import ROLES, Settings, number

TEXTS = ("delimiter", "encoding", "decimal", "thousands", "date_format", "sheet")
RECIPE = "as in the recipe"
"""What a field says that a recipe set to more than it can show."""
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


def rules_of(fields: Fields, before: Settings, method: str) -> dict[str, Any]:
    """Return the options of a form: what groups publish, strata, weights and records that may be left out.

    A recipe may say more than the form has fields for; that stays as long as the method does.
    """
    options = dict(before.options) if method == before.method else {}
    if "rules" not in fields:  # a form without these fields
        return options
    way = fields.get("publish", "")
    if way != RECIPE:
        options.pop("publish", None)
        options |= {"publish": {"*": way}} if way else {}
    stratum, weights = (
        _named(fields.get("strata", ""), before.keys),
        _named(fields.get("weights", ""), kept(before)),
    )
    if fields.get("strata") != RECIPE:
        options.pop("strata", None)
        options |= {} if stratum is None else {"strata": [stratum]}
    if fields.get("weights") != RECIPE:
        options.pop("weights", None)
        options |= {} if weights is None else {"weights": weights}
    options.pop("suppress", None)
    left = fields.get("suppress", "").strip()
    return options | ({"suppress": left if left.endswith("%") else number(left)} if left else {})


def kept(settings: Settings) -> list[str]:
    """Return the columns that a release keeps as they are: one of them may be the weights."""
    return [*settings.of("other"), *settings.of("confidential")]


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
        options=rules_of(fields, before, method),
        steps=[line.strip() for line in fields.get("steps", "").splitlines() if line.strip()],
        time_limit=number(fields.get("time_limit", "")),
        seed=number(fields.get("seed", "")),
        device=fields.get("device", before.device) or None,
        intruder=fields.get("intruder") if models and fields.get("intruder") == "method" else None,
    )
