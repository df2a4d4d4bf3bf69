"""Options of a method: a dataclass whose fields say what they mean and what they may be.

The command line, recipes, the documentation and the checks are made from these fields; nothing about an
option is written twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

from voronym.errors import InputError

__all__ = ["Options", "by_column", "columns", "number", "one_of", "option", "whole"]

O = TypeVar("O", bound="Options")  # noqa: E741 - a type, not a number
Check = Callable[[str, Any], Any]
Shape = Literal["value", "columns", "by column"]


@dataclass(frozen=True)
class Options:
    """The options of a method: none, unless a subclass has fields made by `option`.

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
        """Check every value, and make NumPy's numbers plain."""
        for one in fields(self):
            check = one.metadata.get("check")
            value = getattr(self, one.name)
            if check is not None and value is not one.default:
                object.__setattr__(self, one.name, check(one.name, value))

    @classmethod
    def of(cls: type[O], method: str, given: Mapping[str, Any]) -> O:
        """Build the options of a method, refusing names that it does not have."""
        cls.refuse_unknown(method, given)
        return cls(**given)

    @classmethod
    def refuse_unknown(cls, method: str, given: Mapping[str, Any]) -> None:
        """Refuse names that are no option of the method, and say which there are."""
        unknown = sorted(set(given) - set(cls.names()))
        if unknown:
            known = ", ".join(cls.names()) or "none"
            said = ", ".join(map(repr, unknown))
            word = other_word(unknown, cls.names())
            raise InputError(f"method {method!r} has no option {said}; it has: {known}{word}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the options."""
        return tuple(one.name for one in fields(cls))

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options with their defaults."""
        return {one.name: one.default for one in fields(cls)}

    @classmethod
    def shapes(cls) -> dict[str, Shape]:
        """Return the shape of each option."""
        return {one.name: one.metadata.get("shape", "value") for one in fields(cls)}

    @classmethod
    def texts(cls) -> dict[str, str]:
        """Return what each option means."""
        return {one.name: one.metadata.get("text", "") for one in fields(cls)}


def other_word(unknown: Sequence[str], known: Collection[str]) -> str:
    """Return what was meant by weights, where they are those of columns."""
    if "weights" not in unknown or "importance" not in known:
        return ""
    return (
        ". Here how much a column counts is importance (--importance age=2); weights are how many people a "
        "record stands for, which groups in the default space heed"
    )


def option(default: Any, text: str, *, check: Check | None = None, shape: Shape = "value") -> Any:
    """Declare an option.

    Parameters
    ----------
    default : object
        Its value where nothing is said.
    text : str
        What it means, for the command line's help and the documentation.
    check : callable, optional
        ``(name, value) -> value``, which refuses what it cannot be.
    shape : {"value", "columns", "by column"}
        Whether it is one value, a list of columns, or a value for each of some columns.
    """
    return field(default=default, metadata={"text": text, "check": check, "shape": shape})


def whole(least: int) -> Check:
    """Return a check for whole numbers."""

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
    """Check for a share of the records below a half; a text such as ``1%`` is one, too."""
    given = value[:-1] if isinstance(value, str) and value.endswith("%") else value
    try:
        found = -1.0 if isinstance(given, bool) else float(given) / (1.0 if given is value else 100.0)
    except (TypeError, ValueError):
        found = -1.0
    if not 0.0 <= found < 0.5:
        raise InputError(f"{name} must be a share of the records below a half, such as 1%, not {value!r}")
    return found


def one_of(*choices: str) -> Check:
    """Return a check for one of some words."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InputError(f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}")
        return str(value)

    return check


def yes_or_no(name: str, value: Any) -> bool:
    """Check for true or false."""
    import numpy as np  # late: the command line is read before it is loaded

    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return bool(value)


def columns(name: str, value: Any) -> tuple[str, ...]:
    """Check for a list of columns."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"{name} must be a list of columns, not {value!r}")
    return tuple(str(one) for one in value)


def by_column(name: str, value: Any) -> dict[str, Any]:
    """Check for a mapping from columns."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping from columns, not {value!r}")
    return dict(value)


def read_value(text: str) -> Any:
    """Read an option from a command line: JSON where it looks like it, else text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
