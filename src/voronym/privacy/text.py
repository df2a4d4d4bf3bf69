"""The text forms of models: ``name=value,option=value``.

A value may be quoted, with inner quotes doubled: ``column="a,b"``. It is written with quotes if it would
otherwise be ambiguous.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from voronym.core.grammar import comma_parts, in_quotes, name_of, value_of, written_value
from voronym.errors import InputError
from voronym.privacy.base import Finding, Model, Needs, models
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.privacy.cells import Judge


def listed_models(given: object) -> list[Model | str]:
    """Return models as a list, from one model, several, or a mapping from names to requirements.

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
    """Split texts of several models at commas, but not at commas inside a model.

    A part begins a model if the name before its ``=`` is registered, or if it comes first. Any other part
    belongs to the model before it. Commas in quotes do not split.

    Examples
    --------
    >>> split_models(["k-anonymity=5,t-closeness=0.2,column=income", "p-sensitive=2"])
    ['k-anonymity=5', 't-closeness=0.2,column=income', 'p-sensitive=2']
    """
    known = models()
    out: list[str] = []
    for text in given:
        begun = False
        for part in comma_parts(text):
            if not begun or name_of(part) in known:
                if part.strip():
                    out.append(part)
                    begun = True
            else:
                out[-1] += "," + part
    return [model.strip() for model in out]


def read_options(name: str, text: str | None, options: Collection[str]) -> tuple[str | None, dict[str, str]]:
    """Split ``value,option=value,...`` into the value (or None) and the options.

    A part that does not begin with the name of an option belongs to the part before it, so values may
    contain commas, as column names do. A quoted value is taken literally.
    """
    value: str | None = None
    result: dict[str, str] = {}
    last: str | None = None
    at = 1
    for i, part in enumerate([] if text is None else comma_parts(text)):
        here, at = at, at + len(part) + 1
        head, equals, rest = part.partition("=")
        head = head.strip()
        if equals and head in options:
            if head in result:
                raise InputError(f"{name}={text}: {head} is given twice")
            result[head], last = rest, None if in_quotes(rest.strip()) else head
        elif last is not None:
            result[last] += "," + part
        elif equals or i > 0:
            raise InputError(
                f"{name}={text}: {part.strip()!r} is no option of {name}; there are: {', '.join(options)} "
                f"(character {here} behind {name}=)"
            )
        else:
            value = part.strip() or None
    return value, {key: value_of(kept.strip()) for key, kept in result.items()}


def write_options(name: str, value: str | None, **options: object) -> str:
    """Return the text that `read_options` reads; options that are None are omitted."""
    parts = [] if value is None else [value]
    texts = {key: str(kept).lower() if isinstance(kept, bool) else str(kept) for key, kept in options.items()}
    parts += [
        f"{key}={written_value(text, models())}" for key, text in texts.items() if options[key] is not None
    ]
    return f"{name}={','.join(parts)}" if parts else name


def number(name: str, symbol: str, given: Any, *, least: float = 0.0, above: bool = False) -> float | None:
    """Return a finite number of at least (or above) a limit; None stays None, other values are refused."""
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
    """Return a whole number of at least a limit; None stays None, other values are refused."""
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
    """Return the shortest text that reads back as the same number, without ``.0`` at the end."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


class TextModel:
    """A model as a frozen dataclass: its first field is the requirement, and its fields make its text.

    ``name=first,field=value,...``; fields at their default are left out. ``name`` is given by `register`.
    """

    name: ClassVar[str] = ""
    needs: ClassVar[Needs] = "groups"
    additive: ClassVar[bool] = False
    confidential: ClassVar[bool] = False
    column: str | None = None
    weights: str | None = None
    group_size: int | None = None
    merging: bool = False
    unasked: ClassVar[bool] = True
    strength: ClassVar[int] = 9

    def of_sizes(
        self,
        size: NDArray[np.int64],
        many: NDArray[np.int64],
        records: int,
        keys: Sequence[str],
        counted: str | None = None,
    ) -> Finding:
        """Refuse to measure by the sizes of groups alone."""
        raise NotImplementedError(f"{self.name} needs more than the sizes of groups")

    def judges(self, table: Table) -> tuple[Judge, ...]:  # noqa: ARG002 - of no table
        """Return no judges: groups are not changed for the model."""
        return ()

    def row_judges(self, table: Table) -> tuple[Judge, ...]:  # noqa: ARG002
        """Return no judges: groups are not changed for the model."""
        return ()

    @property
    def required(self) -> float | None:
        """The requirement on the table; None to measure only."""
        wanted = getattr(self, _fields(self)[0].name)
        return None if wanted is None else float(wanted)

    def options(self) -> dict[str, object]:
        """Return the fields after the first that differ from their default; the column comes last."""
        rest = sorted(_fields(self)[1:], key=lambda field: field.name == "column")
        given = {item.name: getattr(self, item.name) for item in rest}
        return {entry.name: given[entry.name] for entry in rest if given[entry.name] != entry.default}

    def __str__(self) -> str:
        wanted = self.required
        return write_options(self.name, None if wanted is None else short(wanted), **self.options())

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text after ``name=``, such as ``0.2`` or ``0.2,column=disease``."""
        value, options = read_options(cls.name, text, [field.name for field in _fields(cls)[1:]])
        return cls(value, **options)  # type: ignore[call-arg]

    def _set(self, **values: Any) -> None:
        """Set fields of a frozen model, while it is built."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _fields(model: Any) -> Any:
    return fields(model)
