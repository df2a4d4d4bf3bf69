"""Checks of choices: convert a value to a recipe's form, or refuse it with a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from voronym.core.options import by_column, number, one_of, read_value
from voronym.core.registry import registry_of
from voronym.errors import InputError

EVERY = "*"
"""The key that stands for all other columns."""


def texts(example: str) -> Callable[[str, Any], tuple[str, ...]]:
    """Return a check that accepts one text, several texts, or a mapping from names to values."""

    def check(name: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, Mapping):
            return tuple(name if part is None else f"{name}={part}" for name, part in value.items())
        given = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        out = tuple(given)
        if any(part is None or isinstance(part, (bytes, bool, int, float, Mapping)) for part in out):
            raise InputError(f"{name} must be a text such as {example!r}, or a list of them, not {value!r}")
        return tuple(map(str, out))

    return check


def by_option(name: str, value: Any) -> dict[str, Any]:
    """Check for the options of a method."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping from names of options to values, not {value!r}")
    return dict(value)


def by_name(check: Callable[[str, Any], Any]) -> Callable[[str, Any], dict[str, Any]]:
    """Return a check that applies ``check`` to every value of a mapping from columns."""

    def checked(name: str, value: Any) -> dict[str, Any]:
        return {key: check(f"{name} of {key!r}", part) for key, part in by_column(name, value).items()}

    return checked


def ways(name: str, value: Any) -> dict[str, str]:
    """Check the ways to publish keys: a word for all, or a word per column; "*" means all other columns."""
    given = {EVERY: value} if isinstance(value, str) else by_column(name, value)
    known = one_of(*registry_of("way to publish"))
    return {key: known(name if key == EVERY else f"{name} of {key!r}", way) for key, way in given.items()}


def trees(name: str, value: Any) -> dict[str, Any]:
    """Check hierarchies by column; objects become values that a recipe can hold."""
    given = by_column(name, value)
    return {
        key: tree if isinstance(tree, (str, list, tuple, dict)) else str(tree) for key, tree in given.items()
    }


def path(name: str, value: object) -> str:
    """Check for a file or a folder."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{name} must be a path, not {value!r}")
    return str(value)


def file(name: str, value: Any) -> str:
    """Check that a file exists."""
    if not isinstance(value, (str, os.PathLike)) or not Path(value).is_file():
        raise InputError(f"{name} must be a file with a table of the whole population; there is no {value!r}")
    return str(value)


def fraction(name: str, value: Any) -> float:
    """Check for a share above 0, as a number or in percent."""
    given = value
    if isinstance(value, str) and value.endswith("%"):
        try:
            given = float(value[:-1]) / 100
        except ValueError:
            given = value
    return float(number(above=0.0, most=1.0)(name, given))


def weights_column(name: str, value: Any) -> str:
    """Check for the column of weights."""
    if not isinstance(value, str) or "=" in value:
        raise InputError(
            f"{name} is the column that says how many people each record stands for, not {value!r}; for keys "
            "that count more take importance (--importance age=2)"
        )
    return value


def bounds(name: str, value: Any) -> dict[str, Any]:
    """Check public bounds per column: two ends, as 0..120 or (0, 120), or all values, as F|M or a list."""
    return {key: _bounds(f"{name} of {key!r}", part) for key, part in by_column(name, value).items()}


def _bounds(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        ends = value.split("..")
        given: list[Any] = [read_value(end.strip()) for end in ends] if len(ends) == 2 else value.split("|")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        given = list(value)
    else:
        raise InputError(
            f"{name} must be two ends, such as 0..120, or all values, such as F|M, not {value!r}"
        )
    given = [part.item() if hasattr(part, "item") else part for part in given]
    given = [part.isoformat() if hasattr(part, "isoformat") else part for part in given]
    if not given or not all(isinstance(part, (str, int, float)) and part != "" for part in given):
        raise InputError(
            f"{name} must be two ends, such as 0..120, or all values, such as F|M, not {value!r}"
        )
    return given


def places(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Check for pairs of columns."""
    listed = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    pairs = list(value) if listed else [value]
    if any(isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2 for pair in pairs):
        raise InputError(f"{name} takes pairs of columns, latitude and longitude, not {value!r}")
    return tuple((str(lat), str(lon)) for lat, lon in pairs)


def seconds(name: str, value: Any) -> float:
    """Check for a number of seconds."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0.0:
        raise InputError(f"{name} must be a number of seconds, 0 or more, not {value!r}")
    return float(value)
