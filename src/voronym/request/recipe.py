"""The recipe of a release: everything needed to make it again from the same data."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from markupsafe import Markup

from voronym.core.atomic import placed
from voronym.core.display import chip, html_facts
from voronym.core.options import Options
from voronym.core.validate import checked
from voronym.errors import InputError, WriteError
from voronym.method import METHODS
from voronym.methods.blocks import NAME as BLOCKS
from voronym.methods.blocks import Block
from voronym.privacy import DifferentialPrivacy, KAnonymity, Model, parse_model
from voronym.privacy.differential import private_among
from voronym.request.choices import ReleaseChoices
from voronym.request.upgrade import FORMAT, upgraded
from voronym.steps import ColumnStep, Recode, parse_step
from voronym.table.dialect import Reading
from voronym.table.schema import Schema


def current_versions() -> dict[str, str]:
    """Return the versions that can change a result: of voronym, Python and the numerical libraries."""
    packages = ("voronym", "numpy", "scipy", "numba")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


@dataclass(frozen=True)
class Recipe(ReleaseChoices):
    """Schema, method, models, seed and versions of a release, as a file that people can read and keep.

    Guarantee: the same recipe and the same data give the same release, up to the order of its rows. The
    order is drawn again each time, never from the seed, because recipes are passed on. Random steps are
    also drawn again, so their releases differ.

    A recipe names every column and all declared levels of ordinal columns, even levels without a released
    record. Read it before you publish it.

    Parameters
    ----------
    schema : Schema
        Role and kind of every column.
    reading : mapping
        The declared reading options of the file: see `voronym.table.Reading`.
    versions : mapping
        Versions of the software that made the release.
    **choices
        Choices of the release: see `voronym.anonymize`.

    Examples
    --------
    >>> import polars as pl
    >>> schema = Schema.build(pl.DataFrame({"age": [31, 32]}), keys=["age"])
    >>> recipe = Recipe(schema, k=2)
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    schema: Schema
    reading: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    versions: Mapping[str, str] = field(default_factory=current_versions, kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice, fill in defaults that depend on the method, and convert NumPy values."""
        super().__post_init__()
        if not isinstance(self.schema, Schema):
            raise InputError(f"schema must be a Schema, not {type(self.schema).__name__}")
        if self.private is not None and self.method == "auto":
            self._set("method", "dp")
        if self.blocks and self.private is None:
            self._settle_blocks()
        if self.makes_groups:  # methods that mask record by record promise no k, and draw a seed afresh
            self._set("k", 5 if self.k is None else self.k)
            if self.method != "local-suppression":  # which draws part of its choice from the system
                self._set("seed", 0 if self.seed is None else self.seed)
        self._set("steps", tuple(str(parse_step(text)) for text in self.steps))
        for step in self.column_steps:
            step.check_columns(self.schema)
        self._set("reading", Reading.of(self.reading).declared())
        for name in ("options", "metrics", "hierarchies", "versions"):
            given = getattr(self, name)
            if not isinstance(given, (Mapping, type(None))):
                raise InputError(f"{name} must be a table of names and values")
            if given is not None:
                self._set(name, {key: _file_value(name, key, value) for key, value in given.items()} or None)
        from voronym.request.rules import check_recipe  # rules read recipes

        check_recipe(self)

    def _settle_blocks(self) -> None:
        """Complete the parts of the keys: remove strata, and put keys without a part into a last part.

        The recipe's method and options apply to the last part.
        """
        parts = [Block.parse(text) for text in self.blocks]
        if self.strata:
            masked = [(part, [name for name in part.columns if name not in self.strata]) for part in parts]
            parts = [replace(part, columns=tuple(names)) for part, names in masked if names]
        named = {*self.strata, *(name for part in parts for name in part.columns)}
        rest = tuple(name for name in self.schema.keys if name not in named)
        if rest and self.method != BLOCKS:  # else this was done before
            parts.append(Block.parse(str(Block(rest, self.method, self.options or {}))))
            self._set("options", None)
        if rest or self.method == "auto":
            self._set("method", BLOCKS)
        self._set("blocks", tuple(map(str, parts)))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that mask keys: the recipe's, or one for each part of the keys."""
        parts = tuple(Block.parse(text).method for text in self.blocks)
        return parts or (self.method,)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def _named(self) -> tuple[Model, ...]:
        """The privacy models that are named in the recipe."""
        return tuple(parse_model(model) for model in self.models)

    @property
    def required(self) -> tuple[Model, ...]:
        """The privacy models counted in a release: k-anonymity, and those named in the recipe."""
        named = tuple(model for model in self._named if model.needs != "method")
        return named if self.k is None else (KAnonymity(self.k), *named)

    @property
    def private(self) -> DifferentialPrivacy | None:
        """The required differential privacy; None without it. It holds by the way a release is made."""
        return private_among(self._named)

    @property
    def promises(self) -> tuple[Model, ...]:
        """All that a release promises."""
        return self.required if self.private is None else (*self.required, self.private)

    @cached_property
    def column_steps(self) -> tuple[ColumnStep, ...]:
        """The steps, in their order."""
        steps = (parse_step(text).informed(self.hierarchies or {}) for text in self.steps)
        return tuple(steps if self.private is None else (step.in_public() for step in steps))

    @property
    def trees(self) -> dict[str, Any]:
        """By column, the meaning of names in a release: hierarchies, and values that a step joined."""
        out: dict[str, Any] = {}
        for step in self.column_steps:
            if isinstance(step, Recode):
                given = step.hierarchy or dict.fromkeys(step.values, (step.to,))
                out |= dict.fromkeys(step.columns, given) if given else {}
        return out | dict(self.hierarchies or {})

    @cached_property
    def method_options(self) -> Options:
        """The checked options of the method, completed by choices of the run."""
        known, own = METHODS[self.method].options, dict(self.options or {})
        twice = [name for name in own if name in ReleaseChoices.names()]
        if twice:
            raise InputError(
                f"{twice[0]} is no option of a method, but a choice of every run: give it separately, as "
                f"{ReleaseChoices.declared()[twice[0]].flag}, {twice[0]}=... in Python, or a separate "
                f"entry in a recipe"
            )
        shared = {name: value for name, value in self.given.items() if name in known.names()}
        return known.of(self.method, own | shared)

    @property
    def makes_groups(self) -> bool:
        """Whether the method divides the records into groups, instead of masking record by record."""
        return self.method not in METHODS or METHODS[self.method].keeps_k

    @property
    def required_k(self) -> int:
        """The largest k required by ``k`` or by a model; 1 if neither requires one."""
        return max((model.group_size or 1 for model in self.required), default=1)

    @property
    def judged_whole(self) -> bool:
        """Whether a model judges the table as a whole instead of group by group."""
        return any(model.needs == "whole" for model in self.required)

    def __repr__(self) -> str:
        result = ", ".join(f"{name} {value}" for name, value in self._facts() if value is not None)
        return f"Recipe({result}, {self.schema!r})"

    def __str__(self) -> str:
        return tomli_w.dumps(self.to_dict())  # values that no file can hold are shown by their names

    def _repr_html_(self) -> str:
        models = Markup(" ").join(chip(model, "green") for model in self.promises) or "none"
        facts = {**dict(self._facts()), "promises": models}
        file = Markup("<details><summary>as a file</summary><pre>{}</pre></details>").format(str(self))
        return f"{html_facts(facts.items())}{self.schema._repr_html_()}{file}"

    def _facts(self) -> list[tuple[str, object]]:
        """Return names and values for display; None for choices that were not made."""
        usual = ("method", "models", "k", "steps", "seed")
        others = {name: value for name, value in self.given.items() if name not in (*usual, "options")}
        options = ", ".join(f"{name}={value!r}" for name, value in (self.options or {}).items())
        return [
            ("method", self.method),
            ("promises", ", ".join(map(str, self.promises)) or None),
            ("options", options or None),
            ("steps", "; ".join(self.steps) or None),
            *((name.replace("_", " "), _shown(value)) for name, value in others.items()),
            ("seed", self.seed),
        ]

    @property
    def given(self) -> dict[str, Any]:
        """The choices that differ from their defaults."""
        names = ReleaseChoices.names()
        return {name: value for name, value in super().given.items() if name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, dicts, strings and numbers; metric objects become their names."""
        out: dict[str, Any] = {"format": FORMAT, "method": self.method, **self.given}
        if self._objects:
            objects = {name: f"{type(metric).__name__} object" for name, metric in self._objects.items()}
            out["metrics"] = {**out["metrics"], **objects}
        out = {name: _listed(value) for name, value in out.items()}
        if self.reading:
            out["reading"] = dict(self.reading)
        out["versions"] = dict(self.versions)
        out["schema"] = self.schema.to_dict()
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Build a recipe from the result of `to_dict`; unknown entries are refused."""
        if not isinstance(data, Mapping):
            raise InputError("a recipe is a table of entries: k, method, schema and so on")
        entries = upgraded(data)
        known = {"schema", "reading", "versions", *ReleaseChoices.names()}
        unknown = sorted(set(entries) - known)
        if unknown:
            raise InputError(f"the recipe has entries that this version does not know: {', '.join(unknown)}")
        if "schema" not in entries:
            raise InputError("the recipe has no [schema]: it must state the role of every column")
        made = cls(Schema.from_dict(entries.pop("schema")), **entries)
        made.method_options  # noqa: B018 - says which options the method does not have
        return made

    @property
    def _objects(self) -> dict[str, Any]:
        """Metrics that are objects or functions: they work, but no file can hold them."""
        given = (self.metrics or {}).items()
        return {name: metric for name, metric in given if not isinstance(metric, (str, list, Mapping))}

    def _check_writable(self) -> None:
        for name, metric in self._objects.items():
            raise InputError(
                f"the metric of {name!r} is an object ({type(metric).__name__}), which a file cannot hold: "
                f"for a recipe to keep, name the metric, such as {{{name!r}: 'taxonomy=tree.csv'}} for a "
                "hierarchy in a file"
            )

    def to_toml(self) -> str:
        """Return the recipe as TOML text."""
        self._check_writable()
        return tomli_w.dumps(self.to_dict())

    @classmethod
    @checked
    def from_toml(cls, text: str) -> Recipe:
        """Read a recipe from TOML text."""
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"the recipe is not valid TOML: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write the recipe, as JSON if the name ends in ``.json``, else as TOML."""
        path = Path(path)
        self._check_writable()
        text = json.dumps(self.to_dict(), indent=2) if path.suffix == ".json" else self.to_toml()
        try:
            with placed(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        except OSError as error:
            raise WriteError(f"cannot write the recipe {path}: {error.strerror}") from None

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe that `save` or a person wrote."""
        path = Path(path)
        if path.is_char_device():  # some of them never end
            raise InputError(f"cannot read the recipe {path}: it is a device, not a file")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"cannot read the recipe {path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}"
            ) from None
        if path.suffix != ".json":
            return cls.from_toml(text)
        try:
            return cls.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise InputError(f"the recipe {path} is not valid JSON: {error}") from None


def _shown(value: Any) -> str:
    """Return a value of a choice in the words of a reader."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _listed(value: Any) -> Any:
    """Return tuples as lists, as in files."""
    if isinstance(value, tuple):
        return [_listed(part) for part in value]
    return {name: _listed(part) for name, part in value.items()} if isinstance(value, Mapping) else value


def _file_value(table: str, name: object, value: object) -> object:
    """Return a value in a form that a text file can hold and that reads back equal."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(name, str) and isinstance(value, (list, tuple)):
        return [_file_value(table, name, item) for item in value]
    if isinstance(name, str) and isinstance(value, Mapping):
        return {key: _file_value(table, key, item) for key, item in value.items()}
    if table == "metrics" and isinstance(name, str) and not isinstance(value, type):
        return value  # a metric or a function: usable, though no file can hold it
    if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
        raise InputError(
            f"{table} takes names with numbers, texts, true or false, or lists of them; {name!r} is none of "
            "these"
        )
    return value
