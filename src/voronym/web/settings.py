"""What was chosen on the page: arguments for `voronym.anonymize`, and the command line that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from voronym.command import column_words, protection_words, reading_words, said_of_columns
from voronym.core.options import read_value
from voronym.errors import InputError, VoronymError
from voronym.keyspaces import DEFAULT_SPACE
from voronym.recipe import Recipe
from voronym.steps import parse_step
from voronym.table.schema import Schema

ROLES = ("identifier", "key", "confidential", "other")
PLURAL = {"key": "keys", "confidential": "confidential", "identifier": "identifiers", "other": "other"}


@dataclass(frozen=True)
class Settings:
    """Roles of columns and the protection asked for, in plain types that travel as JSON.

    Parameters
    ----------
    roles : mapping
        From each column to its role.
    kinds, orders, locations, person, household, pseudonyms, allow_near_unique, allow_loss
        As in `voronym.anonymize`.
    k, method, models, time_limit, seed, intruder, options, space, steps, device
        As in `voronym.anonymize`. What cannot be a number is kept as it was typed: the house says why.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    locations: Sequence[Sequence[str]] = ()
    person: str | None = None
    household: str | None = None
    pseudonyms: bool = False
    allow_near_unique: Sequence[str] = ()
    allow_loss: Sequence[str] = ()
    k: Any = 5
    method: str = "auto"
    models: Sequence[str] = ()
    time_limit: Any = None
    seed: Any = None
    intruder: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    space: str | None = None
    steps: Sequence[str] = ()
    device: str | None = None

    def of(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, one in self.roles.items() if one == role]

    @property
    def keys(self) -> list[str]:
        """The columns that an intruder may know."""
        return self.of("key")

    def about_columns(self) -> dict[str, Any]:
        """Return what is said about columns, for `Table.build`."""
        return {
            **{PLURAL[role]: self.of(role) for role in ROLES},
            "kinds": dict(self.kinds),
            "orders": {name: list(levels) for name, levels in self.orders.items()},
            "locations": [(pair[0], pair[1]) for pair in self.locations],
            "person": self.person,
            "household": self.household,
            "pseudonyms": self.pseudonyms,
        }

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `voronym.anonymize`."""
        return {
            **self.about_columns(),
            "allow_near_unique": list(self.allow_near_unique),
            "allow_loss": list(self.allow_loss),
            "k": self.k,
            "method": self.method,
            "models": list(self.models),
            "time_limit": self.time_limit,
            "seed": self.seed,
            "intruder": self.intruder,
            "options": dict(self.options),
            "space": self.space,
            "steps": list(self.steps),
            "device": self.device,
        }

    def plain(self) -> dict[str, Any]:
        """Return plain lists and dicts."""
        return asdict(self)

    @classmethod
    def of_plain(cls, given: Mapping[str, Any]) -> Settings:
        """Build settings from what `plain` gives."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known})

    @classmethod
    def of_schema(cls, schema: Schema, **more: Any) -> Settings:
        """Build settings from a schema, proposed or of a recipe; kinds that were found out are left out."""
        return cls(**said_of_columns(schema), **more)

    @classmethod
    def of_recipe(cls, recipe: Recipe) -> Settings:
        """Build settings from a recipe; one that names further files is refused."""
        refuse_files(recipe.options, recipe.models, recipe.steps)
        options = dict(recipe.options)
        intruder = options.pop("intruder", None)
        if options.pop("keep_groups", False):
            raise InputError(
                "the recipe builds on a ledger, which the page does not keep: use the command line"
            )
        return cls.of_schema(
            recipe.schema,
            allow_near_unique=list(recipe.allow.get("near-unique", ())),
            allow_loss=list(recipe.allow.get("loss", ())),
            k=recipe.k,
            method=recipe.method,
            models=list(recipe.models),
            time_limit=recipe.time_limit,
            seed=recipe.seed,
            intruder=intruder,
            options=options,
            space=None if recipe.space == DEFAULT_SPACE else recipe.space,
            steps=list(recipe.steps),
            device=None if recipe.device == "cpu" else recipe.device,
        )

    def command(self, source: str, reading: Mapping[str, Any], release: str = "release.csv") -> str:
        """Return the command line that does the same.

        Examples
        --------
        >>> chosen = Settings(roles={"name": "identifier", "age": "key"}, k=3)
        >>> print(chosen.command("people.csv", {"decimal": ","}))
        voronym anonymize people.csv -o release.csv --key age --identifier name -k 3 --decimal ,
        """
        columns = column_words(
            roles=self.roles,
            kinds=self.kinds,
            orders=self.orders,
            locations=self.locations,
            person=self.person,
            household=self.household,
            pseudonyms=self.pseudonyms,
        )
        protection = protection_words(
            k=self.k,
            method=self.method,
            options=self.options,
            models=self.models,
            steps=self.steps,
            allow={"near-unique": self.allow_near_unique, "loss": self.allow_loss},
            space=self.space,
            intruder=self.intruder,
            time_limit=self.time_limit,
            seed=self.seed,
            device=self.device,
        )
        words = ["voronym", "anonymize", source, "-o", release, *columns, *protection]
        return shlex.join([*words, *reading_words(reading)])


def refuse_files(options: Mapping[str, Any], models: Sequence[str], steps: Sequence[str] = ()) -> None:
    """Refuse what would have the page open a file by its name: hierarchies, and tables of a population."""
    metrics, trees = options.get("metrics"), options.get("hierarchies")
    named = [str(one) for one in metrics.values()] if isinstance(metrics, Mapping) else []
    given = [one for one in trees.values() if isinstance(one, str)] if isinstance(trees, Mapping) else []
    bare = ["".join(one.split()) for one in models]
    if options.get("population") is not None or any("population=" in one for one in bare):
        raise InputError(
            "a population is to be taken from a file, and the page opens no files by their names: use "
            "voronym anonymize"
        )
    given += [one for one in steps if _names_a_file(one)]
    if any("=" in one for one in named) or given or any("taxonomy=" in one for one in bare):
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
    """Read what was typed where a number is meant; empty is nothing, and what is none stays as it is."""
    text = text.strip()
    try:
        return None if not text else read_value(text)
    except (RecursionError, ValueError):  # a thousand brackets, or digits
        return text
