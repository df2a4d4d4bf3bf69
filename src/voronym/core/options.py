"""Options: a dataclass whose fields carry their meaning and their checks.

The options of a method are such a class; the choices of a run are another (`voronym.request.choices`). The
command line, recipes, the page, the documentation and the checks read these fields, so every option is
described once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

from voronym.core.registry import meant, registry_of
from voronym.errors import InputError, hint

__all__ = ["Options", "by_column", "columns", "number", "one_of", "option", "whole"]

O = TypeVar("O", bound="Options")  # noqa: E741 - a type, not a number
Check = Callable[[str, Any], Any]
Shape = Literal["value", "switch", "texts", "columns", "by column", "pairs"]
"""Kinds of options: one value; true or false; repeated texts; columns; a value per column; pairs of columns.
"""


@dataclass(frozen=True)
class Options:
    """The options of a method; empty unless a subclass declares fields with `option`.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Mine(Options):
    ...     size: int = option(3, "how many", check=whole(1))
    >>> Mine.of("mine", {"size": 0})
    Traceback (most recent call last):
        ...
    voronym.errors.InputError: size must be a whole number, 1 or more, not 0
    """

    def __post_init__(self) -> None:
        """Check every value, and convert NumPy's numbers to plain ones."""
        for option in fields(self):
            check = option.metadata.get("check")
            value = getattr(self, option.name)
            if check is not None and value is not option.default:
                object.__setattr__(self, option.name, check(option.name, value))

    @classmethod
    def of(cls: type[O], method: str, given: Mapping[str, Any]) -> O:
        """Build the options of a method, refusing names that it does not have."""
        cls.refuse_unknown(method, given)
        return cls(**given)

    @classmethod
    def refuse_unknown(cls, method: str, given: Mapping[str, Any]) -> None:
        """Refuse names that are no option of the method, and list its options."""
        unknown = sorted(set(given) - set(cls.names()))
        if unknown:
            known = ", ".join(cls.names()) or "none"
            listed = ", ".join(map(repr, unknown))
            word = other_word(unknown, cls.names())
            raise InputError(f"method {method!r} has no option {listed}; it has: {known}{word}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the options."""
        return tuple(option.name for option in fields(cls))

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options with their defaults."""
        return {option.name: option.default for option in fields(cls)}

    @classmethod
    def declared(cls) -> dict[str, Declared]:
        """Return all that is declared about each option."""
        return {option.name: Declared.of(option) for option in fields(cls) if "text" in option.metadata}

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        values = {option.name: (getattr(self, option.name), option.default) for option in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    @classmethod
    def shapes(cls) -> dict[str, Shape]:
        """Return the shape of each option."""
        return {option.name: option.metadata.get("shape", "value") for option in fields(cls)}

    @classmethod
    def texts(cls) -> dict[str, str]:
        """Return the meaning of each option."""
        return {option.name: option.metadata.get("text", "") for option in fields(cls)}


def other_word(unknown: Sequence[str], known: Collection[str]) -> str:
    """Return a hint about importance if weights were given to columns."""
    if "weights" not in unknown or "importance" not in known:
        return ""
    return (
        f". The influence of a column is its importance ({hint('importance', {'age': 2})}); weights say "
        "how many people a record stands for, and only groups in the default space use them"
    )


@dataclass(frozen=True)
class Declared:
    """All that is declared about an option.

    Parameters
    ----------
    name : str
        The name in Python and in recipes.
    default : object
        The default value.
    text : str
        Its meaning: a sentence for help and documentation.
    check : callable, optional
        ``(name, value) -> value``, which refuses invalid values.
    shape : Shape
        Its form on a command line, and the kind of its field on the page.
    flag : str
        The flag of the command line.
    purpose : str
        The heading under which help lists it.
    value : str
        The placeholder for its value in help, such as COLUMNS.
    accepts : str
        The type that the Python function takes, if it is wider than that of the field.
    usual : str
        The default in words, if it differs from the field's.
    label : str
        The name of its field on the page; empty if the page has none.
    examples : tuple
        Values that the test of all pairs tries.
    """

    name: str
    default: Any
    text: str
    check: Check | None
    shape: Shape
    flag: str
    purpose: str
    value: str
    accepts: str
    usual: str
    label: str
    examples: tuple[Any, ...]

    @classmethod
    def of(cls, declared: Field[Any]) -> Declared:
        """Read the declaration of a field."""
        about = declared.metadata
        return cls(
            name=declared.name,
            default=declared.default,
            text=about["text"],
            check=about.get("check"),
            shape=about.get("shape", "value"),
            flag=about.get("flag") or "--" + declared.name.replace("_", "-"),
            purpose=about.get("purpose", ""),
            value=about.get("value", ""),
            accepts=about.get("accepts") or str(declared.type),
            usual=about.get("usual", ""),
            label=about.get("label", ""),
            examples=about.get("examples", ()),
        )


def option(
    default: Any, text: str, *, check: Check | None = None, shape: Shape = "value", **about: Any
) -> Any:
    """Declare an option.

    Parameters
    ----------
    default : object
        Its default value.
    text : str
        Its meaning, for the help of the command line and the documentation.
    check : callable, optional
        ``(name, value) -> value``, which refuses invalid values.
    shape : Shape
        Whether it is one value, a list of columns, or a value for each of some columns.
    **about
        Further declarations: see `Declared`.
    """
    return field(default=default, metadata={"text": text, "check": check, "shape": shape, **about})


def entry_of(noun: str, *more: str) -> Check:
    """Return a check for a name in a registry, or one of ``more``; see `voronym.core.registry.REGISTRIES`."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"{name} must be the name of a {noun}, not {value!r}")
        there = registry_of(noun)
        if value in more or value in there:  # an existing entry needs no search in rooms that are not loaded
            return value
        known = sorted((*more, *there))
        raise InputError(f"no {noun} is called {value!r}; there are: {', '.join(known)}{meant(value, known)}")

    return check


def whole(least: int) -> Check:
    """Return a check that accepts whole numbers."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
        return int(value)

    return check


def number(least: float = -inf, most: float = inf, *, above: float | None = None) -> Check:
    """Return a check for finite numbers from least to most, or above a limit."""

    def check(name: str, value: Any) -> float:
        fine = isinstance(value, Real) and not isinstance(value, bool) and isfinite(float(value))
        if fine and least <= value <= most and (above is None or value > above):
            return float(value)
        limits = f"above {above:g}" if above is not None else f"{least:g} or more"
        if isfinite(most):
            limits = f"above {above:g}, {most:g} at most" if above is not None else f"{least:g} to {most:g}"
        elif least == -inf and above is None:
            limits = "finite"
        raise InputError(f"{name} must be a number, {limits}, not {value!r}")

    return check


share: Check = number(0.0, 1.0)
"""A check for shares."""


def few(name: str, value: Any) -> float:
    """Check a share of the records below a half, as a number or a text such as ``1%``."""
    given = value[:-1] if isinstance(value, str) and value.endswith("%") else value
    try:
        share = -1.0 if isinstance(given, bool) else float(given) / (1.0 if given is value else 100.0)
    except (TypeError, ValueError):
        share = -1.0
    if not 0.0 <= share < 0.5:
        raise InputError(f"{name} must be a share of the records below a half, such as 1%, not {value!r}")
    return share


def one_of(*choices: str, case: bool = True) -> Check:
    """Return a check that accepts one of some words; without ``case``, capitals do not matter."""

    def check(name: str, value: Any) -> str:
        value = value if case or not isinstance(value, str) else value.lower()
        if not isinstance(value, str) or value not in choices:
            raise InputError(f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}")
        return str(value)

    return check


def yes_or_no(name: str, value: object) -> bool:
    """Check for true or false."""
    import numpy as np  # late: the command line is read before it is loaded

    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return bool(value)


def columns(name: str, value: Any) -> tuple[str, ...]:
    """Check a list of columns; a single text counts as one name."""
    given = (value,) if isinstance(value, str) else value
    listed = isinstance(given, Iterable) and not isinstance(given, (bytes, Mapping, Iterator))
    if not listed or not all(isinstance(column, (str, Integral)) for column in given):
        raise InputError(f"{name} must be a list of columns, not {value!r}")
    return tuple(str(column) for column in given)


def column(name: str, value: Any) -> str:
    """Check for the name of a column."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be the name of a column, not {value!r}")
    return value


def by_column(name: str, value: Any) -> dict[str, Any]:
    """Check for a mapping from columns."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping from columns, not {value!r}")
    return dict(value)


def read_value(text: str) -> Any:
    """Read an option from a command line: JSON if it looks like it, text otherwise."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
