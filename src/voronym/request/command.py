"""A recipe as a command line: reports and the page propose it, and it leaves nothing out.

Every word comes from the declaration of a choice (`voronym.request.choices`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from voronym.core.options import Declared
from voronym.request.choices import EVERY
from voronym.request.recipe import Recipe
from voronym.request.request import DECLARED
from voronym.table.proposal import DATES
from voronym.table.schema import Schema

LEDGER = "LEDGER"
"""What stands for a file whose name is not known, as INPUT and OUTPUT do."""
ROLES = {"key": "keys", "confidential": "confidential", "identifier": "identifiers", "other": "other"}
"""The choice that gives each role."""


def choices_of(schema: Schema) -> dict[str, Any]:
    """Return a schema as choices about columns; kinds that were inferred are left out."""
    units = schema.units.values()
    kept = [column for column in schema if column.role != "identifier"]
    roles = {
        choice: tuple(column.name for column in schema if column.role == role and column.name not in units)
        for role, choice in ROLES.items()
    }
    return {
        **roles,
        "kinds": {
            column.name: column.kind
            for column in kept
            if column.kind != "location"
            and column.categories is None
            and (column.declared or "codes" in column.note or column.note == DATES)
        },
        "orders": {
            column.name: list(column.categories) for column in kept if column.categories and column.declared
        },
        "locations": tuple(
            (column.name, column.partner) for column in kept if column.axis == "lat" and column.partner
        ),
        "person": schema.person,
        "household": schema.household,
        "pseudonyms": schema.pseudonyms,
    }


def words_of(given: Mapping[str, Any]) -> list[str]:
    """Return choices as words of a command line; those at their default are left out.

    Examples
    --------
    >>> words_of({"keys": ("age", "zip"), "importance": {"age": 2}, "publish": {"*": "median"}, "k": 5})
    ['--key', 'age,zip', '-k', '5', '--importance', 'age=2', '--publish', 'median']
    """
    return [
        word
        for name, declared in DECLARED.items()
        if name in given and given[name] not in (None, declared.default, (), [], {})
        for word in _words(declared, given[name])
    ]


def _words(declared: Declared, value: Any) -> list[str]:
    flag = declared.flag
    if declared.shape == "switch":
        return [flag]
    if declared.shape == "columns":
        plain = [name for name in value if "," not in name]
        listed = [",".join(plain)] if plain else []
        return [word for text in (*listed, *(odd for odd in value if "," in odd)) for word in (flag, text)]
    if declared.shape == "texts":
        return [word for text in value for word in (flag, str(text))]
    if declared.shape == "pairs":
        return [word for pair in value for word in (flag, ",".join(pair))]
    if declared.name == "options":
        return _option_words(value)
    if declared.name == "orders":
        return [word for name, levels in value.items() for word in (flag, f"{name}={'<'.join(levels)}")]
    if declared.shape == "by column":
        return [word for name, part in value.items() for word in (flag, _pair(name, part))]
    return [flag, value if isinstance(value, str) else json.dumps(value, default=str)]


def _pair(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if name == EVERY else f"{name}={text}"


def _option_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options of a method; columns by flags of their own, which may repeat."""
    words: list[str] = []
    for name, value in options.items():
        if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
            words += [word for text in value for word in ("--" + name.replace("_", "-"), text)]
        else:
            words += ["--option", _pair(name, value)]
    return words


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


def anonymize_words(
    recipe: Recipe, *, ledger: bool = False, protection: bool = True, without: Collection[str] = ()
) -> list[str]:
    """Return the command that makes a release by a recipe, with INPUT and OUTPUT for its files.

    Parameters
    ----------
    recipe : Recipe
        How the release was made.
    ledger : bool
        Whether it was made with a ledger, whose name is not known.
    protection : bool
        Whether k, method, models and all that goes with them are written; else only columns and steps.
    without : collection of str
        Choices to leave out.
    """
    kept = recipe.given if protection else {"steps": recipe.steps}
    given = {**choices_of(recipe.schema), **kept, **({"ledger": LEDGER} if ledger and protection else {})}
    if recipe.seed == 0 and recipe.makes_groups:
        given.pop("seed", None)  # the default; methods without groups draw one afresh
    given = {name: value for name, value in given.items() if name not in without}
    return ["voronym", "anonymize", "INPUT", "-o", "OUTPUT", *words_of(given), *reading_words(recipe.reading)]


def compare_words(recipe: Recipe) -> list[str]:
    """Return the command that compares methods on the table of a recipe, with INPUT for its file.

    It knows neither households nor steps, and looks at keys alone.
    """
    given = choices_of(recipe.schema)
    keys: Sequence[str] = given["keys"]
    about = {
        "keys": keys,
        "kinds": {name: kind for name, kind in given["kinds"].items() if name in keys},
        "orders": {name: levels for name, levels in given["orders"].items() if name in keys},
        "locations": [pair for pair in given["locations"] if pair[0] in keys],
        "person": given["person"],
        "seed": recipe.seed or None,
    }
    return ["voronym", "compare", "INPUT", *words_of(about), *reading_words(recipe.reading)]
