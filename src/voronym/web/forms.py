"""From the fields of forms to settings. Columns are told by their place: their names may be anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voronym.request.command import ROLES
from voronym.web.settings import Settings, number

TEXTS = ("delimiter", "encoding", "decimal", "thousands", "date_format", "sheet")
RECIPE = "as in the recipe"
"""What a field says that a recipe set to more than it can show."""
Fields = Mapping[str, str]


def reading_of(fields: Fields) -> dict[str, Any]:
    """Return what was said about how to read a file."""
    result: dict[str, Any] = {name: fields[name] for name in TEXTS if fields.get(name)}
    codes = [code.strip() for code in fields.get("missing", "").split(",") if code.strip()]
    if codes:
        result["missing"] = codes
    if fields.get("header") in ("yes", "no"):
        result["header"] = fields["header"] == "yes"
    for name in ("skip_rows", "skip_footer"):
        if skipped := number(fields.get(name, "")):
            result[name] = skipped
    return result


def columns_of(fields: Fields, before: Settings, columns: Sequence[Mapping[str, Any]]) -> Settings:
    """Return settings with the roles and kinds of a form."""
    names = [column["name"] for column in columns]
    kinds, orders = {}, {}
    roles: dict[str, list[str]] = {role: [] for role in ROLES}
    allowed: dict[str, list[str]] = {"near": [], "loss": [], "join": []}
    for i, name in enumerate(names):
        role = fields.get(f"role-{i}", "")
        if role in ROLES:
            roles[role].append(name)
        if fields.get(f"kind-{i}"):
            kinds[name] = fields[f"kind-{i}"]
        levels = [level.strip() for level in fields.get(f"order-{i}", "").split("<") if level.strip()]
        if levels:
            orders[name] = levels
            kinds.pop(name, None)
        for what, given in allowed.items():
            if fields.get(f"{what}-{i}") and (role == "key") != (what == "join"):
                given.append(name)
    units = {what: _named(fields.get(what, ""), names) for what in ("person", "household")}
    for role, members in roles.items():
        roles[role] = [name for name in members if name not in units.values()]
    lat, lon = (_named(fields.get(what, ""), names) for what in ("latitude", "longitude"))
    places = [[lat, lon]] if lat is not None and lon is not None else []
    for place in places[0] if places else ():
        kinds.pop(str(place), None)
    return before.having(
        **{ROLES[role]: members for role, members in roles.items()},
        kinds=kinds,
        orders=orders,
        locations=places,
        **units,
        pseudonyms=(bool(fields.get("pseudonyms")) and any(units.values())) or None,
        allow_near_unique=allowed["near"],
        allow_loss=allowed["loss"],
        allow_unit_columns=allowed["join"],
    )


def _named(place: str, names: Sequence[str]) -> str | None:
    return names[int(place)] if place.isdecimal() and len(place) < 9 and int(place) < len(names) else None


def rules_of(fields: Fields, before: Settings) -> dict[str, Any]:
    """Return what a form says about publishing, strata, weights and records that may be left out.

    A recipe may say more than the form has fields for; that stays.
    """
    if "rules" not in fields:  # a form without these fields
        return {}
    out: dict[str, Any] = {}
    way = fields.get("publish", "")
    if way != RECIPE:
        out["publish"] = {"*": way} if way else None
    stratum, weights = (
        _named(fields.get("strata", ""), before.keys),
        _named(fields.get("weights", ""), kept(before)),
    )
    if fields.get("strata") != RECIPE:
        out["strata"] = None if stratum is None else [stratum]
    if fields.get("weights") != RECIPE:
        out["weights"] = weights
    left = fields.get("suppress", "").strip()
    return out | {"suppress": left if left.endswith("%") else number(left)}


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
    return before.having(
        **rules_of(fields, before),
        k=number(fields.get("k", "")),
        policy=fields.get("policy", before.choices.get("policy")) or None,
        models=models,
        method=method,
        options=before.options if method == before.method else None,
        metrics=before.metrics if method == before.method or before.space == "mixed" else None,
        steps=[line.strip() for line in fields.get("steps", "").splitlines() if line.strip()],
        time_limit=number(fields.get("time_limit", "")),
        seed=number(fields.get("seed", "")),
        device=fields.get("device", before.choices.get("device")),
        intruder=fields.get("intruder") if models and fields.get("intruder") == "method" else None,
    )
