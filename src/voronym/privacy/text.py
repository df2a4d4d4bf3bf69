"""The text forms of models: ``name=value,option=value``."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Sequence
from typing import Any

from voronym.errors import InputError
from voronym.privacy.base import models


def split_models(given: Sequence[str]) -> list[str]:
    """Split texts of several models at commas, and leave the commas inside a model.

    A part begins a model when the name before its ``=`` is registered, or when nothing came before it. Any
    other part belongs to the model before it.

    Examples
    --------
    >>> split_models(["k-anonymity=5,t-closeness=0.2,column=income", "p-sensitive=2"])
    ['k-anonymity=5', 't-closeness=0.2,column=income', 'p-sensitive=2']
    """
    known = models()
    out: list[str] = []
    for text in given:
        begun = False
        for part in text.split(","):
            if not begun or part.partition("=")[0].strip() in known:
                if part.strip():
                    out.append(part.strip())
                    begun = True
            else:
                out[-1] += "," + part
    return out


def read_options(name: str, text: str | None, options: Collection[str]) -> tuple[str | None, dict[str, str]]:
    """Split ``value,option=value,...`` into the value, None where there is none, and the options.

    A part that does not begin with the name of an option belongs to the one before it, so that values may
    hold commas: names of columns do.
    """
    value: str | None = None
    found: dict[str, str] = {}
    last: str | None = None
    for i, part in enumerate([] if text is None else text.split(",")):
        head, equals, rest = part.partition("=")
        head = head.strip()
        if equals and head in options:
            if head in found:
                raise InputError(f"{name}={text}: {head} is given twice")
            found[head], last = rest, head
        elif last is not None:
            found[last] += "," + part
        elif equals or i > 0:
            raise InputError(
                f"{name}={text}: {part.strip()!r} is no option of {name}; there are: {', '.join(options)}"
            )
        else:
            value = part.strip() or None
    return value, {key: kept.strip() for key, kept in found.items()}


def write_options(name: str, value: str | None, **options: object) -> str:
    """Return the text that `read_options` reads; options that are None are left out."""
    parts = [] if value is None else [value]
    parts += [f"{key}={kept}" for key, kept in options.items() if kept is not None]
    return f"{name}={','.join(parts)}" if parts else name


def number(name: str, symbol: str, given: Any, *, least: float = 0.0, above: bool = False) -> float | None:
    """Return a finite number of at least (or above) a limit; None stays None, anything else is refused."""
    if given is None:
        return None
    try:
        value = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value) or value < least or (above and value == least):
        limit = f"above {least:g}" if above else f"of {least:g} or more"
        raise InputError(f"{name}: {symbol} must be a number {limit}, not {given!r}")
    return value


def whole(name: str, symbol: str, given: Any, *, least: int) -> int | None:
    """Return a whole number of at least a limit; None stays None, anything else is refused."""
    if given is None:
        return None
    try:
        if isinstance(given, str):
            value: int | None = int(given)
        else:
            value = None if isinstance(given, bool) else operator.index(given)
    except (TypeError, ValueError):
        value = None
    if value is None or value < least:
        raise InputError(f"{name}: {symbol} must be a whole number of {least} or more, not {given!r}")
    return value


def short(value: float) -> str:
    """Return the shortest text that reads back as the same number, without a trailing ``.0``."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
