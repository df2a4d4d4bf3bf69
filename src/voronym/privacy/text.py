"""The text forms of models: ``name=value,option=value``.

A value of an option may stand in quotes, with quotes inside it doubled: ``column="a,b"``. It is written so
where it could be taken for something else.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar, Self

from voronym.errors import InputError
from voronym.privacy.base import Model, models

_OPENS = re.compile(r'\s*(?:[^\s=",]+\s*=\s*){1,2}"')
"""A part whose value begins with a quote: ``option="`` or, at the head of a model, ``name=option="``."""
_QUOTED = re.compile(r'"((?:[^"]|"")*)"\s*(?=,|\Z)')


def _parts(text: str) -> list[str]:
    """Split at the commas that do not stand in quotes."""
    out, at = [], 0
    while at <= len(text):
        opens = _OPENS.match(text, at)
        if opens is None:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
        else:
            quoted = _QUOTED.match(text, opens.end() - 1)
            if quoted is None:
                raise InputError(
                    f"{text}: a quote is opened and not closed before the next comma or the end; "
                    'put the whole name in quotes, and write a quote in it twice: column="a ""b"""'
                )
            end = quoted.end()
        out.append(text[at:end])
        at = end + 1
    return out


def _quote(value: str) -> str:
    """Return a value in quotes where it would not be read back as it is."""
    begins_a_model = any(part.strip() in models() for part in value.split(",")[1:])
    if "=" in value or value.startswith('"') or value != value.strip() or begins_a_model:
        return '"' + value.replace('"', '""') + '"'
    return value


def _unquote(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return value if match is None else match[1].replace('""', '"')


def listed_models(given: object) -> list[Model | str]:
    """Return models as a list: one of them, several, or a mapping from names to what they require.

    Examples
    --------
    >>> listed_models({"t-closeness": 0.15, "p-sensitive": 3})
    ['t-closeness=0.15', 'p-sensitive=3']
    """
    if isinstance(given, (str, Model)):
        return [given]
    if isinstance(given, Mapping):
        pairs = list(given.items())
        if all(isinstance(name, str) and isinstance(value, (str, Real, type(None))) for name, value in pairs):
            return [name if value is None else f"{name}={value}" for name, value in pairs]
    elif isinstance(given, Sequence) and all(isinstance(item, (str, Model)) for item in given):
        return list(given)
    raise InputError(
        'models must be models such as vr.TCloseness(0.2), texts such as "t-closeness=0.2", or a mapping '
        'such as {"t-closeness": 0.2}'
    )


def split_models(given: Sequence[str]) -> list[str]:
    """Split texts of several models at commas, and leave the commas inside a model.

    A part begins a model when the name before its ``=`` is registered, or when nothing came before it. Any
    other part belongs to the model before it. Commas in quotes do not split.

    Examples
    --------
    >>> split_models(["k-anonymity=5,t-closeness=0.2,column=income", "p-sensitive=2"])
    ['k-anonymity=5', 't-closeness=0.2,column=income', 'p-sensitive=2']
    """
    known = models()
    out: list[str] = []
    for text in given:
        begun = False
        for part in _parts(text):
            if not begun or part.partition("=")[0].strip() in known:
                if part.strip():
                    out.append(part)
                    begun = True
            else:
                out[-1] += "," + part
    return [model.strip() for model in out]


def read_options(name: str, text: str | None, options: Collection[str]) -> tuple[str | None, dict[str, str]]:
    """Split ``value,option=value,...`` into the value, None where there is none, and the options.

    A part that does not begin with the name of an option belongs to the one before it, so that values may
    hold commas: names of columns do. A value in quotes is taken as it is.
    """
    value: str | None = None
    result: dict[str, str] = {}
    last: str | None = None
    for i, part in enumerate([] if text is None else _parts(text)):
        head, equals, rest = part.partition("=")
        head = head.strip()
        if equals and head in options:
            if head in result:
                raise InputError(f"{name}={text}: {head} is given twice")
            result[head], last = rest, None if _QUOTED.fullmatch(rest.strip()) else head
        elif last is not None:
            result[last] += "," + part
        elif equals or i > 0:
            raise InputError(
                f"{name}={text}: {part.strip()!r} is no option of {name}; there are: {', '.join(options)}"
            )
        else:
            value = part.strip() or None
    return value, {key: _unquote(kept.strip()) for key, kept in result.items()}


def write_options(name: str, value: str | None, **options: object) -> str:
    """Return the text that `read_options` reads; options that are None are left out."""
    parts = [] if value is None else [value]
    texts = {key: str(kept).lower() if isinstance(kept, bool) else str(kept) for key, kept in options.items()}
    parts += [f"{key}={_quote(text)}" for key, text in texts.items() if options[key] is not None]
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


class TextModel:
    """A model as a frozen dataclass: the first field is the requirement, and the text is made of its fields.

    ``name=first,field=value,...``; fields at their default are left out. ``name`` is given by `register`.
    """

    name: ClassVar[str] = ""
    strength: ClassVar[int] = 9
    """Where models are listed, the weaker promises come first."""
    merging: bool = False
    """Whether groups are merged until it holds; then there are ``judges``."""
    unasked: ClassVar[bool] = True
    """Whether the table alone is enough to measure, so that it is measured where nobody asked for it."""

    @property
    def required(self) -> float | None:
        """What is asked of the table; None to measure only."""
        wanted = getattr(self, _fields(self)[0].name)
        return None if wanted is None else float(wanted)

    def options(self) -> dict[str, object]:
        """Return the fields behind the first that differ from their default; the column comes last."""
        rest = sorted(_fields(self)[1:], key=lambda field: field.name == "column")
        given = {item.name: getattr(self, item.name) for item in rest}
        return {entry.name: given[entry.name] for entry in rest if given[entry.name] != entry.default}

    def __str__(self) -> str:
        wanted = self.required
        return write_options(self.name, None if wanted is None else short(wanted), **self.options())

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text behind ``name=``, such as ``0.2`` or ``0.2,column=disease``."""
        value, options = read_options(cls.name, text, [field.name for field in _fields(cls)[1:]])
        return cls(value, **options)  # type: ignore[call-arg]

    def _set(self, **values: Any) -> None:
        """Set fields of a frozen model, while it is built."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _fields(model: Any) -> Any:
    return fields(model)
