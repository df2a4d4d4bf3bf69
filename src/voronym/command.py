"""The command line that does what a recipe says: reports and the page propose it, and it leaves nothing out.

How a table is read and what its columns are stands in every command; what only makes a release, in `voronym
anonymize` alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS
from voronym.recipe import Recipe
from voronym.table.infer import DATES
from voronym.table.schema import Schema

LEDGER = "LEDGER"
"""What stands for a file whose name is not known, as INPUT and OUTPUT do."""
ROLES = ("key", "confidential", "identifier", "other")
_FLAGS = {"publish": "publish", "hierarchies": "hierarchy"}
"""Options with a flag of their own, which takes a column each."""
_SAID = ("intruder", "keep_groups")


def said_of_columns(schema: Schema) -> dict[str, Any]:
    """Return what was said about columns, roles first; kinds that were found out are left out."""
    said = [one for one in schema if one.role != "identifier"]
    return {
        "roles": {one.name: one.role for one in schema},
        "kinds": {
            one.name: one.kind
            for one in said
            if one.kind != "location"
            and one.categories is None
            and (one.declared or "codes" in one.note or one.note == DATES)
        },
        "orders": {one.name: list(one.categories) for one in said if one.categories and one.declared},
        "locations": [[one.name, one.partner] for one in said if one.axis == "lat" and one.partner],
        "person": schema.person,
        "household": schema.household,
        "pseudonyms": schema.pseudonyms,
    }


def column_words(
    *,
    roles: Mapping[str, str],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[str]],
    locations: Sequence[Sequence[str]],
    person: str | None,
    household: str | None,
    pseudonyms: bool,
) -> list[str]:
    """Return what is said about columns as words of a command line."""
    words: list[str] = []
    units = {"person": person, "household": household}
    for role in ROLES:
        names = [name for name, one in roles.items() if one == role and name not in units.values()]
        plain = [name for name in names if "," not in name]
        words += [f"--{role}", ",".join(plain)] if plain else []
        words += [word for odd in names if "," in odd for word in (f"--{role}", odd)]
    words += [word for what, name in units.items() if name for word in (f"--{what}", name)]
    words += ["--pseudonyms"] if pseudonyms else []
    words += [word for name, kind in kinds.items() for word in ("--kind", f"{name}={kind}")]
    words += [word for name, own in orders.items() for word in ("--order", f"{name}={'<'.join(own)}")]
    return words + [word for lat, lon in locations for word in ("--location", f"{lat},{lon}")]


def protection_words(
    *,
    k: Any,
    method: str,
    options: Mapping[str, Any],
    models: Sequence[str],
    steps: Sequence[str],
    allow: Mapping[str, Sequence[str]],
    **rest: Any,
) -> list[str]:
    """Return the protection as words of a command line; what is None was not said."""
    words = [word for what, own in allow.items() for name in own for word in (f"--allow-{what}", name)]
    words += [] if k is None else ["-k", str(k)]
    words += [] if method == "auto" else ["--method", method]
    words += option_words(options)
    for flag, texts in (("model", models), ("step", steps)):
        words += [word for text in texts for word in (f"--{flag}", text)]
    for name, value in rest.items():
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    return words


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options of a method as words of a command line.

    Examples
    --------
    >>> option_words({"suppress": "1%", "importance": {"age": 2, "zip": 3}, "publish": {"*": "median"}})
    ['--option', 'suppress=1%', '--importance', 'age=2', '--importance', 'zip=3', '--publish', 'median']
    """
    words: list[str] = []
    for name, value in options.items():
        texts = _texts(value)
        if name in _FLAGS:
            words += [word for one in texts for word in (f"--{_FLAGS[name]}", one.removeprefix("*="))]
        elif len(texts) == 1:
            words += ["--option", f"{name}={texts[0]}"]
        else:  # --option takes a name once
            words += [word for one in texts for word in ("--" + name.replace("_", "-"), one)]
    return words


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={_text(one)}" for name, one in value.items()]
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
        return list(value)
    return [_text(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """Return how a file is read as words of a command line."""
    words: list[str] = []
    for name, value in reading.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        else:
            words.append("--" + name.replace("_", "-"))
            words.append(",".join(value) if isinstance(value, (list, tuple)) else str(value))
    return words


def anonymize_words(recipe: Recipe, *, ledger: bool = False, protection: bool = True) -> list[str]:
    """Return the command that makes a release by a recipe, with INPUT and OUTPUT for its files.

    Parameters
    ----------
    recipe : Recipe
        How the release was made.
    ledger : bool
        Whether it was made with a ledger, whose name is not known.
    protection : bool
        Whether k, method, models and all that goes with them are said; else only what is about columns.
    """
    words = ["voronym", "anonymize", "INPUT", "-o", "OUTPUT", *column_words(**said_of_columns(recipe.schema))]
    options = {name: value for name, value in recipe.options.items() if name not in _SAID}
    drawn = recipe.method in METHODS and not METHODS[recipe.method].keeps_k  # these have no seed by default
    usual = protection_words(
        k=recipe.k,
        method=recipe.method,
        options=options,
        models=recipe.models,
        steps=recipe.steps,
        allow=recipe.allow,
        space=None if recipe.space == DEFAULT_SPACE else recipe.space,
        intruder=recipe.options.get("intruder"),
        time_limit=recipe.time_limit,
        seed=recipe.seed if recipe.seed or drawn else None,
        device=None if recipe.device == "cpu" else recipe.device,
        engine=recipe.engine.get("name") if recipe.engine.get("name") != "local" else None,
    )
    bare = [word for text in recipe.steps for word in ("--step", text)]
    words += usual if protection else bare
    words += ["--keep-groups"] if protection and recipe.options.get("keep_groups") else []
    words += ["--ledger", LEDGER] if ledger and protection else []
    return [*words, *reading_words(recipe.reading)]


def compare_words(recipe: Recipe) -> list[str]:
    """Return the command that compares methods on the table of a recipe, with INPUT for its file.

    It knows neither households nor steps, and looks at keys alone.
    """
    said = said_of_columns(recipe.schema)
    keys = {name: "key" for name, role in said["roles"].items() if role == "key"}
    about = {
        "roles": keys,
        "kinds": {name: kind for name, kind in said["kinds"].items() if name in keys},
        "orders": {name: own for name, own in said["orders"].items() if name in keys},
        "locations": [pair for pair in said["locations"] if pair[0] in keys],
        "person": said["person"],
        "household": None,
        "pseudonyms": False,
    }
    words = ["voronym", "compare", "INPUT", *column_words(**about)]
    words += ["--seed", str(recipe.seed)] if recipe.seed else []
    return [*words, *reading_words(recipe.reading)]
