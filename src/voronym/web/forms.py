"""Convert form fields to settings and back. Columns are identified by position: names may be anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voronym.core.grammar import levels as order_of
from voronym.core.grammar import name_of, pair
from voronym.core.options import read_value
from voronym.request.command import ROLES
from voronym.request.wording import DECLARED
from voronym.web.levels import text_of, tree_of
from voronym.web.settings import Settings, number

TEXTS = ("delimiter", "encoding", "decimal", "thousands", "date_format", "sheet", "query")
ALLOWED = {"near": "allow_near_unique", "loss": "allow_loss", "join": "allow_unit_columns"}
PLAIN = {"p-sensitive": "2", "t-closeness": "0.3"}
"""Models with their own fields on the page, and the first values of these fields."""
OF_COLUMN = ("publish", "importance", "widths", "bounds", "metrics", "hierarchies")
"""Choices by column that have a field at each column."""
FURTHER = (
    "blocks", "options", "space", "enforce", "ends", "publish_weights", "sampling_fraction", "population",
    "facts", "headroom", "dissolved", "waiting", "changed", "keep_groups", "strangers", "leaf", "rounds",
    "drop_undeclared",
)  # fmt: skip
"""Choices without their own place: their fields are generated from their declarations."""
Fields = Mapping[str, str]


def reading_of(fields: Fields) -> dict[str, Any]:
    """Return the reading options of a file from a form."""
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


# -- columns ---------------------------------------------------------------------------------------------


def columns_of(fields: Fields, before: Settings, columns: Sequence[Mapping[str, Any]]) -> Settings:
    """Return settings with the roles and kinds of a form."""
    names = [column["name"] for column in columns]
    kinds, orders = {}, {}
    roles: dict[str, list[str]] = {role: [] for role in ROLES}
    allowed: dict[str, list[str]] = {what: [] for what in ALLOWED}
    for i, name in enumerate(names):
        role = fields.get(f"role-{i}", "")
        if role in ROLES:
            roles[role].append(name)
        if fields.get(f"kind-{i}"):
            kinds[name] = fields[f"kind-{i}"]
        levels = order_of(fields.get(f"order-{i}", ""))
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
        **{ALLOWED[what]: given for what, given in allowed.items()},
        **_by_column(fields, before, names),
    )


def _by_column(fields: Fields, before: Settings, names: Sequence[str]) -> dict[str, Any]:
    """Return the choices with a field per column; those without fields in the form stay."""
    out = {}
    for choice in OF_COLUMN:
        given = {name: fields[f"{choice}-{i}"] for i, name in enumerate(names) if f"{choice}-{i}" in fields}
        if given:
            rest = {name: value for name, value in before.get(choice).items() if name not in given}
            typed = {
                name: _typed(choice, text, before.get(choice).get(name))
                for name, text in given.items()
                if text.strip()
            }
            out[choice] = {**rest, **typed}
    return out


def _typed(choice: str, text: str, old: Any) -> Any:
    if choice == "hierarchies":  # untouched fields stay, with any characters
        return old if old is not None and text == text_of(old) else tree_of(text)
    return number(text) if choice in ("importance", "widths") else text.strip()


def _named(place: str, names: Sequence[str]) -> str | None:
    return names[int(place)] if place.isdecimal() and len(place) < 9 and int(place) < len(names) else None


def _place(name: str | None, names: Sequence[str]) -> str:
    return str(names.index(name)) if name in names else ""


def column_fields(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Return the fields that the form for columns shows of settings: `columns_of` gives them back."""
    roles = settings.roles
    units = {what: _place(settings.get(what), names) for what in ("person", "household")}
    places = settings.locations[0] if settings.locations else (None, None)
    out = {
        **units,
        "latitude": _place(places[0], names),
        "longitude": _place(places[1], names),
        "pseudonyms": "1" if settings.pseudonyms else "",
    }
    for i, name in enumerate(names):
        out[f"role-{i}"] = roles.get(name, "")
        out[f"kind-{i}"] = str(settings.kinds.get(name, ""))
        out[f"order-{i}"] = " < ".join(map(str, settings.orders.get(name, ())))
        for what, choice in ALLOWED.items():
            out[f"{what}-{i}"] = "1" if name in settings.get(choice) else ""
        for choice in OF_COLUMN:
            value = settings.get(choice).get(name, "")
            if choice == "hierarchies":
                out[f"{choice}-{i}"] = text_of(value)
                continue
            ends = isinstance(value, (list, tuple))
            out[f"{choice}-{i}"] = (
                ("..".join if _bare(value) else "|".join)(map(str, value)) if ends else str(value)
            )
    return out


def _bare(value: Sequence[Any]) -> bool:
    """Whether bounds are two ends, and not values."""
    return len(value) == 2 and not all(isinstance(part, str) for part in value)


# -- protection ------------------------------------------------------------------------------------------


def kept(settings: Settings) -> list[str]:
    """Return the columns that a release keeps unchanged; the weights can be one of them."""
    return [*settings.of("other"), *settings.of("confidential")]


def rules_of(fields: Fields, before: Settings, names: Sequence[str]) -> dict[str, Any]:
    """Return the form's choices about publishing, strata, weights and records to leave out."""
    if "rules" not in fields:  # a form without these fields
        return {}
    publish = {name: way for name, way in before.publish.items() if name != "*"}
    if way := fields.get("publish", ""):
        publish["*"] = way
    strata = [name for i, name in enumerate(names) if fields.get(f"stratum-{i}")]
    left = fields.get("suppress", "").strip()
    return {
        "publish": publish,
        "strata": strata,
        "weights": _named(fields.get("weights", ""), names),
        "suppress": left if left.endswith("%") else number(left),
    }


def protection_of(fields: Fields, before: Settings, names: Sequence[str]) -> Settings:
    """Return settings with the protection of a form; ``names`` are all columns of the table."""
    models = [f"{name}={fields.get(f'{name}-value', '').strip()}" for name in PLAIN if fields.get(name)]
    models += [text.strip() for text in fields.get("models", "").split(";") if text.strip()]
    method = fields.get("method", "auto").strip() or "auto"
    return before.having(
        **rules_of(fields, before, names),
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
    ).having(**further_of(fields))


def further_of(fields: Fields) -> dict[str, Any]:
    """Return the values of generated fields; a field that is missing in the form keeps its value."""
    return {name: _read(name, fields[f"further-{name}"]) for name in FURTHER if f"further-{name}" in fields}


def _read(name: str, text: str) -> Any:
    """Read the text of a field by the type of its choice; invalid text is kept as typed."""
    shape, lines = DECLARED[name].shape, [line.strip() for line in text.splitlines() if line.strip()]
    if shape == "texts":
        return lines
    if shape == "by column":
        return {key: _value(value or "") for key, value in map(pair, lines)}
    if shape == "switch":
        return bool(text) or None
    return text.strip() if text.strip().endswith("%") else number(text)


def _value(text: str) -> Any:
    try:
        return read_value(text.strip())
    except (RecursionError, ValueError):
        return text.strip()


def _written(name: str, value: Any) -> str:
    """Write a choice as its field shows it: `_read` gives it back."""
    shape = DECLARED[name].shape
    if value in (None, "", (), [], {}) or value == DECLARED[name].default:
        return ""
    if shape == "texts":
        return "\n".join(map(str, value))
    if shape == "by column":
        return "\n".join(f"{key}={part}" for key, part in value.items())
    return "1" if shape == "switch" else str(value)


def protection_fields(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Return the fields that the form for the protection shows: `protection_of` gives them back."""
    given = dict(pair(str(model)) for model in settings.models)
    rest = [str(model) for model in settings.models if name_of(str(model)) not in PLAIN]
    plain = {name: settings.get(name) for name in ("k", "time_limit", "seed")}
    out = {
        "rules": "1",
        "method": settings.method,
        "policy": settings.policy or "",
        "models": "; ".join(rest),
        "steps": "\n".join(map(str, settings.steps)),
        "device": settings.choices.get("device", ""),
        "intruder": settings.intruder,
        "publish": settings.publish.get("*", ""),
        "weights": _place(settings.weights, names),
        "suppress": str(settings.choices.get("suppress", "")),
        **{name: "" if value is None else str(value) for name, value in plain.items()},
    }
    for model, usual in PLAIN.items():
        out |= {model: "1" if model in given else "", f"{model}-value": given.get(model) or usual}
    out |= {f"stratum-{i}": "1" if name in settings.strata else "" for i, name in enumerate(names)}
    return out | {f"further-{name}": _written(name, settings.get(name)) for name in FURTHER}


def patched(
    changed: Fields, settings: Settings, columns: Sequence[Mapping[str, Any]], screen: str
) -> Settings:
    """Return the settings with some fields of a form changed; keep changes made in other windows."""
    names = [column["name"] for column in columns]
    if screen == "roles":
        return columns_of({**column_fields(settings, names), **changed}, settings, columns)
    shown = protection_fields(settings, names)
    if "method" in changed:  # options are of a method
        del shown["further-options"]
    return protection_of({**shown, **changed}, settings, names)
