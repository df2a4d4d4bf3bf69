"""What was chosen on the page: declared choices as plain data, and the command line that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
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
"""The choices that the page keeps, whether it has a field for them or a recipe gave them."""


@dataclass(frozen=True)
class Settings:
    """Choices about columns and release, in plain types that travel as JSON.

    Parameters
    ----------
    choices : mapping
        By name, as `voronym.anonymize` takes them; what is not there is at its default. What cannot be a
        number is kept as it was typed: the check of the choice says why.
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
        """Return settings with some choices changed; None, and what is empty, takes a choice back."""
        made = {**self.choices, **changed}
        return Settings({name: value for name, value in made.items() if value not in (None, "", (), [], {})})

    def of(self, role: str) -> list[str]:
        """Return the columns of a role; those that tell people and households apart are identifiers."""
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
        """Return what is said about columns, for `Request.table`."""
        return {name: value for name, value in self.choices.items() if name in ColumnChoices.names()}

    def plain(self) -> dict[str, Any]:
        """Return plain lists and dicts."""
        return {"choices": {name: _listed(value) for name, value in self.choices.items()}}

    @classmethod
    def of_plain(cls, given: Mapping[str, Any]) -> Settings:
        """Build settings from what `plain` gives."""
        return cls({name: value for name, value in given.get("choices", {}).items() if name in KEPT})

    @classmethod
    def of_schema(cls, schema: Schema) -> Settings:
        """Build settings from a schema, proposed or of a recipe; kinds that were inferred are left out."""
        return cls().having(**choices_of(schema))

    @classmethod
    def of_recipe(cls, recipe: Recipe) -> Settings:
        """Build settings from a recipe; one that names further files is refused."""
        settings = cls.of_schema(recipe.schema).having(**recipe.given)
        refuse_files(settings)
        return settings

    def command(
        self,
        source: str,
        reading: Mapping[str, Any],
        release: str = "release.csv",
        ledger: str | None = None,
    ) -> str:
        """Return the command line that does the same.

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


def refuse_files(settings: Settings) -> None:
    """Refuse what would have the page open a file by its name: hierarchies, populations, own policies."""
    policy = settings.get("policy")
    if settings.get("facts") or (policy is not None and str(policy) not in shipped()):
        raise InputError(
            "a policy of your own, and tables that a policy needs, are to be taken from files, and the page "
            "opens no files by their names: use voronym anonymize"
        )
    metrics, trees = settings.get("metrics"), settings.get("hierarchies")
    named = [str(metric) for metric in metrics.values()] if isinstance(metrics, Mapping) else []
    given = [tree for tree in trees.values() if isinstance(tree, str)] if isinstance(trees, Mapping) else []
    bare = ["".join(str(model).split()) for model in settings.get("models")]
    if settings.get("population") is not None or any("population=" in model for model in bare):
        raise InputError(
            "a population is to be taken from a file, and the page opens no files by their names: use "
            "voronym anonymize"
        )
    given += [step for step in settings.get("steps") if _names_a_file(step)]
    if any("=" in metric for metric in named) or given or any("taxonomy=" in model for model in bare):
        raise InputError(
            "a hierarchy is to be taken from a file, and the page opens no files by their names: use voronym "
            "anonymize"
        )


def _names_a_file(text: str) -> bool:
    """Say whether a step takes something from a file; what is no step is said elsewhere, and opens none."""
    try:
        return bool(getattr(parse_step(text), "hierarchy", None))
    except VoronymError:
        return False


def number(text: str) -> Any:
    """Read a number field: an empty text is None, and what is no number is returned as it was typed."""
    text = text.strip()
    try:
        return None if not text else read_value(text)
    except (RecursionError, ValueError):  # a thousand brackets, or digits
        return text
