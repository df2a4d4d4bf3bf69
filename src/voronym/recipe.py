"""The recipe of a release: everything needed to make it again from the same data."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from markupsafe import Markup

from voronym._cuda.device import DEVICES
from voronym.core.atomic import placed
from voronym.core.display import chip, html_facts
from voronym.core.options import other_word
from voronym.core.validate import check_seconds, checked
from voronym.errors import InputError, WriteError
from voronym.keyspaces import DEFAULT_SPACE, KEY_SPACES
from voronym.method import METHODS
from voronym.methods.grouped import options_of
from voronym.privacy import KAnonymity, Model, parse_model
from voronym.steps import ColumnStep, parse_step
from voronym.table.dialect import Reading
from voronym.table.schema import Schema

FORMAT = 1
_ENTRIES = (
    "k", "method", "options", "seed", "time_limit", "space", "versions", "reading", "allow", "device",
    "engine", "steps",
)  # fmt: skip
_KNOWN = {"format", "models", "schema", *_ENTRIES}


def current_versions() -> dict[str, str]:
    """Return the versions that can change a result: ours, Python's and the numerical libraries'."""
    packages = ("voronym", "numpy", "scipy", "numba")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


@dataclass(frozen=True)
class Recipe:
    """Schema, method, models, seed and versions of a release, as a file people can read and keep.

    Guarantee: the same recipe and the same data give the same release, up to the order of its rows. That
    order is drawn afresh each time and never from the seed, because recipes travel; so is what steps draw at
    random, and then releases differ.

    A recipe names every column and the levels that were declared for ordinal ones, also levels that no
    released record has. Look through it before you publish it.

    Parameters
    ----------
    schema : Schema
        Role and kind of every column.
    k : int, optional
        Least number of records that share a combination of keys. None asks for nothing, which only methods
        that mask record by record allow.
    method : str
        The partitioning method, a name from `voronym.algorithms`; or "channel" or "records".
    options : mapping
        Options of the method; for one that makes groups also ``enforce``, and in a mixed space ``metrics``
        and ``weights`` of the keys.
    models : tuple of str
        Further privacy models, written ``name=value``.
    seed : int, optional
        Seed of the method's random choices. Methods that mask record by record have none by default: whoever
        knows the seed can take the noise off again, and recipes travel.
    time_limit : float, optional
        Seconds granted to the method, where it takes a limit.
    versions : mapping
        Versions of the software that made the release.
    space : str
        "euclidean": the keys become numbers, whatever they are. "mixed": every key has a metric of its own.
        "ranges": groups publish ranges, and are made so that these are narrow.
    reading : mapping
        How the file was read, as far as somebody said it: see `voronym.table.Reading`.
    allow : mapping
        What would be refused and is meant, by key: ``{"near-unique": ["zip"], "loss": ["town"]}``.
    device : {"cpu", "cuda", "auto"}
        Where the method ran. Searches draw other random numbers on a GPU, so it is part of the recipe.
    steps : tuple of str
        What is done to columns one by one, before groups are made or after, such as ``"top age=90"``; see
        `voronym.steps`.
    engine : mapping
        Of a data set of many files: who did the work (``name``), and the plan, which alone matters for the
        result (``leaf``, ``rounds``). See `voronym.anonymize_files`; a single table has no use for it.

    Examples
    --------
    >>> import polars as pl
    >>> schema = Schema.build(pl.DataFrame({"age": [31, 32]}), keys=["age"])
    >>> recipe = Recipe(schema, k=2)
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    schema: Schema
    k: int | None = 5
    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    seed: int | None = 0
    time_limit: float | None = None
    versions: Mapping[str, str] = field(default_factory=current_versions)
    space: str = DEFAULT_SPACE
    reading: Mapping[str, Any] = field(default_factory=dict)
    allow: Mapping[str, Sequence[str]] = field(default_factory=dict)
    device: str = "cpu"
    engine: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what a hand-written file may get wrong, and make NumPy's numbers plain."""
        if not isinstance(self.method, str):
            raise InputError("method must be the name of a method")
        for name in ("k", "seed"):
            if getattr(self, name) is not None or self.makes_groups:
                object.__setattr__(self, name, _whole(name, getattr(self, name)))
        if self.seed is not None and self.seed < 0:
            raise InputError(f"seed must be 0 or more, not {self.seed}")
        KEY_SPACES[self.space]  # says which there are, where this is none
        if self.device not in DEVICES:
            raise InputError(f"device must be one of {', '.join(map(repr, DEVICES))}, not {self.device!r}")
        if self.space != DEFAULT_SPACE and not self.makes_groups:
            raise InputError(f"method {self.method!r} makes no groups: leave out the space")
        if self.space != DEFAULT_SPACE and self.method in METHODS and not METHODS[self.method].groups:
            raise InputError(f"method {self.method!r} compares no records: leave out the space")
        if self.time_limit is not None:
            check_seconds(self.time_limit)
        listed = isinstance(self.models, (list, tuple))
        if not listed or not all(isinstance(model, str) for model in self.models):
            raise InputError('models must be a list of texts such as "k-anonymity=5"')
        object.__setattr__(self, "models", tuple(self.models))
        if not isinstance(self.steps, (list, tuple)) or not all(isinstance(one, str) for one in self.steps):
            raise InputError('steps must be a list of texts such as "top age=90"')
        object.__setattr__(self, "steps", tuple(str(parse_step(one)) for one in self.steps))
        for one in self.column_steps:
            one.check_columns(self.schema)
        object.__setattr__(self, "reading", Reading.of(self.reading).declared())
        for name in ("options", "versions", "allow", "engine"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise InputError(f"{name} must be a table of names and values")
            object.__setattr__(self, name, {key: _plain(name, key, value) for key, value in given.items()})

    @cached_property
    def required(self) -> tuple[Model, ...]:
        """The privacy models that a release must hold: k-anonymity, and those named in the recipe."""
        named = tuple(parse_model(model) for model in self.models)
        return named if self.k is None else (KAnonymity(self.k), *named)

    @cached_property
    def column_steps(self) -> tuple[ColumnStep, ...]:
        """The steps, in their order."""
        options = self.options if isinstance(self.options, Mapping) else {}
        return tuple(parse_step(one).informed(options) for one in self.steps)

    @property
    def strata(self) -> tuple[str, ...]:
        """Keys whose values groups do not cross."""
        return tuple(self.options.get("strata", ()))

    @property
    def makes_groups(self) -> bool:
        """Whether the method divides the records into groups, instead of masking record by record."""
        return self.method not in METHODS or METHODS[self.method].keeps_k

    @property
    def required_k(self) -> int:
        """The largest k that is asked for, by ``k`` or by a model; 1 asks for nothing."""
        asked = [model.k for model in self.required if isinstance(model, KAnonymity)]
        return max((k for k in asked if k is not None), default=1)

    def __repr__(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self._facts() if value is not None)
        return f"Recipe({said}, {self.schema!r})"

    def __str__(self) -> str:
        return tomli_w.dumps(self.to_dict())  # what no file can hold is shown by its name

    def _repr_html_(self) -> str:
        models = Markup(" ").join(chip(model, "green") for model in self.required) or "none"
        facts = {**dict(self._facts()), "promises": models}
        file = Markup("<details><summary>as a file</summary><pre>{}</pre></details>").format(str(self))
        return f"{html_facts(facts.items())}{self.schema._repr_html_()}{file}"

    def _facts(self) -> list[tuple[str, object]]:
        """Return what is asked for, in the words of a reader; None for what is not."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return [
            ("method", self.method),
            ("promises", ", ".join(map(str, self.required)) or None),
            ("options", options or None),
            ("steps", "; ".join(self.steps) or None),
            ("space", None if self.space == DEFAULT_SPACE else self.space),
            (
                "allowed",
                ", ".join(f"{what} of {', '.join(names)}" for what, names in self.allow.items()) or None,
            ),
            ("device", None if self.device == "cpu" else self.device),
            ("seed", self.seed),
            ("time limit", None if self.time_limit is None else f"{self.time_limit:g} s"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, dicts, strings and numbers; metrics that are objects by their names."""
        out: dict[str, Any] = {"format": FORMAT, "method": self.method}
        for name in ("k", "seed", "time_limit"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        out["models"] = list(self.models)
        if self.steps:
            out["steps"] = list(self.steps)
        if self.space != DEFAULT_SPACE:
            out["space"] = self.space
        if self.allow:
            out["allow"] = dict(self.allow)
        if self.device != "cpu":
            out["device"] = self.device
        if self.engine:
            out["engine"] = dict(self.engine)
        out["options"] = dict(self.options)
        if self._objects:
            named = {name: f"{type(metric).__name__} object" for name, metric in self._objects.items()}
            out["options"]["metrics"] = {**self.options["metrics"], **named}
        if self.reading:
            out["reading"] = dict(self.reading)
        out["versions"] = dict(self.versions)
        out["schema"] = self.schema.to_dict()
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Build a recipe from what `to_dict` gives; unknown entries are refused, not ignored."""
        if not isinstance(data, Mapping):
            raise InputError("a recipe is a table of entries: k, method, schema and so on")
        unknown = sorted(set(data) - _KNOWN)
        if unknown:
            raise InputError(f"the recipe has entries that this version does not know: {', '.join(unknown)}")
        if data.get("format", FORMAT) != FORMAT:
            raise InputError(f"the recipe has format {data['format']}, this version reads format {FORMAT}")
        if "schema" not in data:
            raise InputError("the recipe has no [schema]: it must state the role of every column")
        kept = {name: data[name] for name in _ENTRIES if name in data}
        if data.get("method") in METHODS and not METHODS[data["method"]].keeps_k:
            kept = {"k": None, "seed": None} | kept
        made = cls(schema=Schema.from_dict(data["schema"]), models=data.get("models", ()), **kept)
        if made.method in METHODS:
            known = options_of(made.method, made.space)
            unknown = sorted(set(made.options) - set(known))
            if unknown:
                raise InputError(
                    f"method {made.method!r} has no option {', '.join(map(repr, unknown))}; it has: "
                    f"{', '.join(known) or 'none'}{other_word(unknown, known)}"
                )
        return made

    @property
    def _objects(self) -> dict[str, Any]:
        """Metrics that are objects or functions: they work, and no file can hold them."""
        metrics = self.options.get("metrics")
        given = metrics if isinstance(metrics, Mapping) else {}
        plain = (str, list, Mapping)
        return {name: metric for name, metric in given.items() if not isinstance(metric, plain)}

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
        """Write the recipe, as JSON where the name ends in ``.json``, else as TOML."""
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
        """Read a recipe that `save` wrote, or that a person did."""
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


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number, not {value!r}")
    return int(value)


def _plain(table: str, name: object, value: object) -> object:
    """Return a value that a text file can hold, and that comes back equal."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(name, str) and isinstance(value, (list, tuple)):
        return [_plain(table, name, item) for item in value]
    if isinstance(name, str) and isinstance(value, Mapping):
        inner = "metrics" if name == "metrics" else table
        return {key: _plain(inner, key, item) for key, item in value.items()}
    if table == "metrics" and isinstance(name, str) and not isinstance(value, type):
        return value  # a metric or a function: usable, though no file can hold it
    if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
        raise InputError(
            f"{table} takes names with numbers, texts, true or false, or lists of them; {name!r} is none of "
            "these"
        )
    return value
