"""Check the arguments of public functions: refuse values of a wrong type with a sentence.

`checked` reads the annotations of a function and refuses values that fit none of the types. The function
itself checks values further.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from voronym.errors import InputError

__all__ = ["check_seconds", "check_seed", "checked"]

F = TypeVar("F", bound=Callable[..., Any])
Test = Callable[[Any], bool]


def _array(value: Any) -> bool:
    """Whether a value is an array of numbers, or can become one."""
    if value is None or isinstance(value, (str, bytes, Mapping, set)) or callable(value):
        return False
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError):  # rows of different lengths
        return False


def _names(value: Any) -> bool:
    """Whether a value is a name, or a list of names or column numbers, such as an index of pandas."""
    listed = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, Iterator))
    return isinstance(value, str) or (listed and all(isinstance(item, (str, Integral)) for item in value))


SORTS: dict[str, tuple[Test, str]] = {
    "None": (lambda value: value is None, "None"),
    "bool": (lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    "int": (lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    "float": (lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    "str": (lambda value: isinstance(value, str), "a text"),
    "Path": (lambda value: isinstance(value, os.PathLike), "a path"),
    "os.PathLike[str]": (lambda value: isinstance(value, os.PathLike), "a path"),
    "np.random.Generator": (lambda value: isinstance(value, np.random.Generator), "a NumPy generator"),
    "Sequence[str]": (_names, "a list of names"),
    "Sequence[float]": (_array, "a list of numbers"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a mapping"),
    "Sequence": (lambda value: isinstance(value, (Sequence, np.ndarray)), "a list"),
    "Iterable": (lambda value: isinstance(value, Iterable) and not isinstance(value, str), "a list"),
    "tuple": (lambda value: isinstance(value, Sequence) and not isinstance(value, str), "a list"),
    "Callable": (callable, "a function"),
    "ProgressCallback": (callable, "a function that takes a Progress"),
    "ArrayLike": (_array, "an array of numbers"),
    "Array": (_array, "an array of numbers"),
    "NDArray": (_array, "an array of numbers"),
}
"""For each annotation: the check of a value, and the name of the type in messages."""

CLASSES = (
    "Partition",
    "Schema",
    "GaussianSource",
    "Quantizer",
    "Space",
    "Recipe",
    "Context",
    "Table",
    "Mixed",
)
"""Classes of voronym in annotations; an object passes if one of its base classes has the name."""


def checked(function: F, *, texts: bool = False) -> F:
    """Refuse arguments that fit none of a function's annotations; for a class, of its ``__init__``.

    Parameters
    ----------
    function : function or class
        Its annotations are texts, as under ``from __future__ import annotations``.
    texts : bool
        Whether numbers may come as texts, which the caller reads.

    Examples
    --------
    >>> @checked
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("two")
    Traceback (most recent call last):
        ...
    voronym.errors.InputError: number must be a number, not a text
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__, texts=texts)  # type: ignore[misc]
        return function
    signature = inspect.signature(function)
    tests = {
        name: result
        for name, parameter in signature.parameters.items()
        if isinstance(parameter.annotation, str)
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and (result := _tests(parameter.annotation)) is not None
    }

    @functools.wraps(function)
    def wrapped(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named).arguments
        except TypeError:
            return function(*given, **named)  # Python's own sentence about names and numbers of arguments
        for name, sorts in tests.items():
            if name in bound and not (texts and isinstance(bound[name], str)):
                _check(name, bound[name], sorts, signature.parameters[name].default)
        return function(*given, **named)

    return wrapped  # type: ignore[return-value]


def _tests(annotation: str) -> list[tuple[Test, str]] | None:
    """Return a test for each alternative of an annotation; None if a test is unknown for one of them."""
    out = []
    for part in _alternatives(annotation):
        result = SORTS.get(part) or SORTS.get(part.partition("[")[0])
        if result is None and part in CLASSES:
            result = (functools.partial(_is, part), f"a {part}")
        if result is None:
            return None
        out.append(result)
    return out


def _is(name: str, value: object) -> bool:
    return any(base.__name__ == name for base in type(value).__mro__)


def _alternatives(annotation: str) -> list[str]:
    """Split at the bars outside of brackets."""
    parts, depth = [""], 0
    for sign in annotation:
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _check(name: str, value: Any, sorts: list[tuple[Test, str]], default: object) -> None:
    if value is default or any(test(value) for test, _ in sorts):
        return
    words = list(dict.fromkeys(word for _, word in sorts if word != "None" or len(sorts) == 1))
    raise InputError(f"{name} must be {' or '.join(words)}, not {_kind(value)}")


def _kind(value: object) -> str:
    """Describe the type of a value without quoting the value, because it may be private."""
    for word, sort in (
        ("None", type(None)), ("a text", str), ("True or False", bool), ("a number with a point", float),
        ("a number", Real), ("a list", list), ("a mapping", Mapping),
    ):  # fmt: skip
        if isinstance(value, sort):
            return word
    return f"an object of type {type(value).__name__}"


def check_seed(seed: object) -> np.random.Generator:
    """Return a generator from a seed; raise if it is no seed."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"a seed is a whole number, 0 or more, not {seed!r}")
    return np.random.default_rng(int(seed))


def check_seconds(seconds: object) -> float:
    """Return a time limit in seconds; raise if the value is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0.0 <= float(seconds) < math.inf:
        raise InputError(
            f"time_limit must be a number of seconds that is not negative, not {seconds!r}; leave it out "
            "for a run without a limit"
        )
    return float(seconds)
