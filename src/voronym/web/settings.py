"""The choices on the page as plain data, and the equivalent command line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from voronym.core.options import read_value
from voronym.errors import InputError, VoronymError
from voronym.policy.policy import shipped
from voronym.request.choices import ColumnChoices, ReleaseChoices
from voronym.request.command import ROLES, choices_of, reading_words, words_of
from voronym.request.recipe import Recipe
from voronym.request.wording import DECLARED
from voronym.steps import parse_step
from voronym.table.schema import Schema

KEPT = (*ColumnChoices.names(), *ReleaseChoices.names(), "strangers")
"""The choices that the page keeps: those with a field, and those from a recipe."""


@dataclass(frozen=True)
class Settings:
    """Choices about columns and release, in plain types that travel as JSON.

    Parameters
    ----------
    choices : mapping
        By name, as for `voronym.anonymize`; missing choices are at their defaults. A value that is no number
        is kept as typed: the check of the choice names the error.
    """

    choices: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """Return a choice, or its default; of choices by column, a mapping."""
        declared = DECLARED[name]
        usual = {} if declared.shape == "by column" else declared.default
        return self.choices.get(name, usual)

    def __getattr__(self, name: str) -> Any:
        if name not in DECLARED:
            raise AttributeError(name)
        return self.get(name)

    def having(self, **changed: Any) -> Settings:
        """Return settings with some choices changed; None or empty resets a choice."""
        made = {**self.choices, **changed}
        empty: tuple[Any, ...] = (None, "", (), [], {})
        return Settings(
            {name: value for name, value in made.items() if value not in empty and value is not False}
        )

    def of(self, role: str) -> list[str]:
        """Return the columns of a role; person and household columns are identifiers."""
        units = [self.get("person"), self.get("household")] if role == "identifier" else []
        return [*self.get(ROLES[role]), *(name for name in units if name)]

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        return {name: role for role in ROLES for name in self.of(role)}

    @property
    def keys(self) -> list[str]:
        """The columns that an intruder may know."""
        return self.of("key")

    def about_columns(self) -> dict[str, Any]:
        """Return the choices about columns, for `Request.table`."""
        return {name: value for name, value in self.choices.items() if name in ColumnChoices.names()}

    def plain(self) -> dict[str, Any]:
        """Return plain lists and dicts."""
        return {"choices": {name: _listed(value) for name, value in self.choices.items()}}

    @classmethod
    def of_plain(cls, given: Mapping[str, Any]) -> Settings:
        """Build settings from the result of `plain`."""
        return cls({name: value for name, value in given.get("choices", {}).items() if name in KEPT})

    @classmethod
    def of_schema(cls, schema: Schema) -> Settings:
        """Build settings from a schema, proposed or of a recipe; kinds that were inferred are left out."""
        return cls().having(**choices_of(schema))

    @classmethod
    def of_recipe(cls, recipe: Recipe, there: Collection[str] = ()) -> Settings:
        """Build settings from a recipe; refuse a recipe that names files outside ``there``."""
        settings = cls.of_schema(recipe.schema).having(**recipe.given)
        refuse_files(settings, there)
        return settings

    def command(
        self,
        source: str,
        reading: Mapping[str, Any],
        release: str = "release.csv",
        ledger: str | None = None,
    ) -> str:
        """Return the equivalent command line.

        Examples
        --------
        >>> chosen = Settings({"keys": ["age"], "identifiers": ["name"], "k": 3})
        >>> print(chosen.command("people.csv", {"decimal": ","}))
        voronym anonymize people.csv -o release.csv --key age --identifier name -k 3 --decimal ,
        """
        words = ["voronym", "anonymize", source, "-o", release, *words_of(self.choices)]
        words += [] if ledger is None else words_of({"ledger": ledger})
        return shlex.join([*words, *reading_words(reading)])


def _listed(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_listed(part) for part in value]
    return {name: _listed(part) for name, part in value.items()} if isinstance(value, Mapping) else value


def choices_in(text: bytes | str, name: str, there: Collection[str] = ()) -> tuple[Settings, dict[str, Any]]:
    """Return the choices of a recipe given as text, and its reading options."""
    try:
        plain = text.decode() if isinstance(text, bytes) else text
        made = Recipe.from_dict(json.loads(plain)) if name.endswith(".json") else Recipe.from_toml(plain)
        _ = made.required
        return Settings.of_recipe(made, there), dict(made.reading)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, TypeError):
        raise InputError("the file is no recipe: it is not TOML text that voronym wrote") from None


def named_files(settings: Settings) -> list[str]:
    """Return the files that choices name: policies, populations, hierarchies, tables that a policy needs."""
    policy, metrics, trees = (settings.get(name) for name in ("policy", "metrics", "hierarchies"))
    facts, population = settings.get("facts"), settings.get("population")
    out = [] if policy is None or str(policy) in shipped() else [str(policy)]
    out += [str(file) for file in facts.values()] if isinstance(facts, Mapping) else []
    out += [] if population is None else [str(population)]
    for metric in metrics.values() if isinstance(metrics, Mapping) else ():
        out += [str(metric).partition("=")[2]] if "=" in str(metric) else []
    out += [tree for tree in trees.values() if isinstance(tree, str)] if isinstance(trees, Mapping) else []
    for model in settings.get("models"):
        out += re.findall(r"(?:population|taxonomy)=([^,]*)", "".join(str(model).split()), re.I)
    return out + [file for step in settings.get("steps") if (file := _file_of(step))]


def refuse_files(settings: Settings, there: Collection[str] = ()) -> None:
    """Refuse choices that would open a file by name, unless the file was uploaded.

    Parameters
    ----------
    settings : Settings
        The choices.
    there : collection of str
        Names of the files that were given.
    """
    lacking = [file for file in dict.fromkeys(named_files(settings)) if file not in there]
    if lacking:
        raise InputError(
            f"{', '.join(map(repr, lacking))}: policies of your own, populations, hierarchies and tables "
            "that a policy needs are taken from files, and the page opens no files by their names. Give it "
            "under “Files that choices need” of the protection"
        )


def _file_of(text: str) -> str:
    """Return the hierarchy file that a step names; "" if it names none or is invalid."""
    try:
        return str(getattr(parse_step(text), "hierarchy", None) or "")
    except VoronymError:
        return ""


def number(text: str) -> Any:
    """Parse a number field: return None for an empty text, and the text itself if it is no number."""
    text = text.strip()
    try:
        value = None if not text else read_value(text)
    except (RecursionError, ValueError):  # a thousand brackets, or digits
        return text
    return text if isinstance(value, float) and not isfinite(value) else value


def labelled(sentence: str) -> str:
    """Return the error of a choice, with the label of its field in front if it has one."""
    name = sentence.partition(" must be")[0]
    label = DECLARED[name].label if name in DECLARED else ""
    return label + sentence.removeprefix(name) if label.startswith("“") else sentence
