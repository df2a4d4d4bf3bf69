"""A complete recipe as a command line, proposed by reports and the page.

Every word comes from the declaration of a choice (`voronym.request.choices`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from voronym.request.recipe import Recipe
from voronym.request.wording import DECLARED, declaration, pair, words
from voronym.table.proposal import DATES
from voronym.table.schema import Schema

LEDGER = "LEDGER"
"""The placeholder for a file of unknown name, like INPUT and OUTPUT."""
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
    """Return choices as words of a command line; defaults are left out.

    Examples
    --------
    >>> words_of({"keys": ("age", "zip"), "importance": {"age": 2}, "publish": {"*": "median"}, "k": 5})
    ['--key', 'age,zip', '-k', '5', '--importance', 'age=2', '--publish', 'median']
    """
    return [
        word
        for name, declared in DECLARED.items()
        if name in given and given[name] not in (None, declared.default, (), [], {})
        for word in (_option_words(given[name]) if name == "options" else words(declared, given[name]))
    ]


def _option_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options of a method as arguments; an option with several columns repeats its flag."""
    out: list[str] = []
    for name, value in options.items():
        if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
            out += [word for text in value for word in (declaration(name).flag, text)]
        else:
            out += [DECLARED["options"].flag, pair(name, value)]
    return out


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """Return the reading options of a file as words of a command line."""
    out: list[str] = []
    for name, value in reading.items():
        if name == "header":
            out.append(declaration("header" if value else "no_header").flag)
        else:
            out.append(declaration(name).flag)
            out.append(",".join(value) if isinstance(value, (list, tuple)) else str(value))
    return out


def anonymize_words(
    recipe: Recipe, *, ledger: bool = False, protection: bool = True, without: Collection[str] = ()
) -> list[str]:
    """Return the command that makes a release by a recipe, with INPUT and OUTPUT for its files.

    Parameters
    ----------
    recipe : Recipe
        The recipe of the release.
    ledger : bool
        Whether it was made with a ledger, whose name is unknown.
    protection : bool
        Whether k, method, models and all that goes with them are written; else only columns and steps.
    without : collection of str
        Choices to leave out.
    """
    kept = recipe.given if protection else {"steps": recipe.steps}
    given = {**choices_of(recipe.schema), **kept, **({"ledger": LEDGER} if ledger and protection else {})}
    if recipe.seed == 0 and recipe.makes_groups and recipe.method != "local-suppression":
        given.pop("seed", None)  # the default; other methods draw one afresh
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
