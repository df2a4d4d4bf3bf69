"""Attributes that are grouped together with homes, such as the year of birth; declared in the settings.

An attribute next to a point could let a provider tell people apart. Declared attributes are therefore grouped
with the homes, and published for the whole group like its point.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from voronym.core.registry import meant
from voronym.errors import InputError
from voronym_location.errors import BadRequest
from voronym_location.sealing import ROOM

__all__ = ["Attribute", "Attributes"]

KINDS = ("numeric", "ordinal", "nominal")
TAKEN = ("address", "latitude", "longitude", "email")
"""Columns of a directory, which no attribute may use as its name."""
MOST_VALUES = 64
"""Most values of a list: each is a coordinate."""
FRACTION = 24
"""Most characters of a number that is not whole: a sign, 17 digits, a point, an exponent."""


@dataclass(frozen=True)
class Attribute:
    """An attribute: its name, kind and allowed values.

    Parameters
    ----------
    name : str
        Its name in statements, and its column in a directory.
    kind : {"numeric", "ordinal", "nominal"}
        A number, a value of an ordered list, or one of a list without an order.
    values : tuple of str
        The list, lowest first if it is ordered.
    low, high : float
        The least and the greatest number.
    step : float
        Published numbers are multiples of it; in wide groups, of a power of two times it.
    importance : float
        Factor on its squared differences. With 1 it counts as much as the whole home.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float = 1.0
    importance: float = 1.0

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> Attribute:
        """Read the declaration of an attribute from the settings."""
        known = tuple(field.name for field in fields(cls) if field.name != "name")
        strange = sorted(set(given) - set(known))
        if strange:
            raise _wrong(name, f"has no setting {strange[0]!r}{meant(strange[0], known)}")
        if name in TAKEN or not name.isidentifier() or name != name.lower():
            raise _wrong(
                name, f"needs another name: small letters and digits, and none of {', '.join(TAKEN)}"
            )
        kind = given.get("kind")
        if kind not in KINDS:
            raise _wrong(name, f"needs a kind: one of {', '.join(KINDS)}")
        allowed = {"low", "high", "step"} if kind == "numeric" else {"values"}
        useless = sorted(set(given) - allowed - {"kind", "importance"})
        if useless:
            raise _wrong(name, f"is {kind}, and {useless[0]!r} is for other kinds: take it out")
        numbers = {item: given[item] for item in ("low", "high", "step", "importance") if item in given}
        if not all(_is_number(value) for value in numbers.values()):
            raise _wrong(name, "has a setting that must be a number and is none")
        made = cls(name, kind, _values(name, given.get("values", ())), **numbers)
        if kind == "numeric" and (made.low is None or made.high is None or not made.low < made.high):
            raise _wrong(name, "needs 'low' and 'high', the least and the greatest number")
        if kind != "numeric" and not made.values:
            raise _wrong(name, f"needs 'values', a list of 2 to {MOST_VALUES} different texts")
        if not (made.step > 0.0 and made.importance > 0.0):
            raise _wrong(name, "needs a 'step' and an 'importance' above 0")
        return made

    def read(self, value: object) -> float | str:
        """Return a value in stored form; raise if it is not allowed. The error does not repeat the value."""
        if self.kind != "numeric":
            if str(value).strip() not in self.values:
                raise BadRequest(f"{self.name} must be one of: {', '.join(self.values)}")
            return str(value).strip()
        try:
            number = math.nan if isinstance(value, bool) else float(str(value))
        except ValueError:
            number = math.nan
        if not (self.low is not None and self.high is not None and self.low <= number <= self.high):
            raise BadRequest(f"{self.name} must be a number from {self.low:g} to {self.high:g}")
        return int(number) if number.is_integer() else number

    @property
    def longest(self) -> str:
        """The value that takes most bytes as text, or a text of as many."""
        if self.kind != "numeric":
            return max(self.values, key=lambda value: len(json.dumps(value)))
        whole = (len(str(int(bound))) for bound in (self.low, self.high) if bound is not None)
        return "0" * max(FRACTION, *whole)


class Attributes(tuple[Attribute, ...]):
    """All attributes of a service, in the order of the settings.

    Examples
    --------
    >>> asked = Attributes.of({"sex": {"kind": "nominal", "values": ["f", "m"]}})
    >>> asked.write({"sex": "f"}), asked.row('{"sex": "f"}'), asked.row("")
    ('{"sex": "f"}', ('f',), None)
    """

    __slots__ = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Attributes:
        """Read the table ``[attributes]`` of the settings."""
        if not all(isinstance(table, Mapping) for table in given.values()):
            raise InputError("declare each attribute in a table of its own: [attributes.NAME]")
        made = cls(Attribute.of(name, table) for name, table in given.items())
        if made.longest > ROOM:
            raise InputError(
                f"the attributes of a person could take {made.longest} bytes, and a sealed home has room for "
                f"{ROOM}: give attributes or values shorter names"
            )
        return made

    @property
    def longest(self) -> int:
        """The most bytes that a person's values take as text."""
        return len(json.dumps({item.name: item.longest for item in self})) if self else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(attribute.name for attribute in self)

    def write(self, given: Mapping[str, Any] | None) -> str:
        """Return a person's values as JSON to store; raise unless each declared attribute has a valid one."""
        values = dict(given or {})
        strange = sorted(set(values) - set(self.names))
        if strange:
            asked = f"it asks for: {', '.join(self.names)}" if self else "it asks for none"
            raise BadRequest(f"the service does not use one of the sent attributes; {asked}")
        lacking = [name for name in self.names if values.get(name) in (None, "")]
        if lacking:
            raise BadRequest(
                f"send the attributes {', '.join(self.names)} with the home: {lacking[0]} is missing"
            )
        return json.dumps({item.name: item.read(values[item.name]) for item in self}) if self else ""

    def row(self, kept: str | None) -> tuple[float | str, ...] | None:
        """Return stored values in order; None if one is missing or no longer allowed by the settings."""
        values = json.loads(kept) if kept else {}
        try:
            return tuple(item.read(values[item.name]) for item in self)
        except (KeyError, BadRequest):
            return None

    def plain(self) -> list[dict[str, Any]]:
        """Return the declared attributes, for forms and clients."""
        return [
            {"name": item.name, "kind": item.kind}
            | (
                {"low": item.low, "high": item.high}
                if item.kind == "numeric"
                else {"values": list(item.values)}
            )
            for item in self
        ]


def _values(name: str, given: object) -> tuple[str, ...]:
    texts = tuple(given) if isinstance(given, list | tuple) else (None,)
    if texts and (
        not all(isinstance(text, str) and text.strip() == text != "" for text in texts)
        or not 2 <= len(set(texts)) == len(texts) <= MOST_VALUES
    ):
        raise _wrong(name, f"needs 'values', a list of 2 to {MOST_VALUES} different texts")
    return texts


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _wrong(name: str, why: str) -> InputError:
    return InputError(f"the attribute {name!r} {why}")
