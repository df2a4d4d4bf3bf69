"""Plain, JSON-able types: no arrays, no infinities, no objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

KEY, ABSENT = "key", "absent"
"""Metadata of a field: its name in JSON, and whether a None is omitted."""


def plain(value: Any, *, without: tuple[str, ...] = ()) -> Any:
    """Return a value as plain types; dataclasses become mappings, infinite and NaN become None.

    Parameters
    ----------
    value : object
        Anything made of dataclasses, mappings, sequences, arrays, numbers and texts. If an object has a
        method ``to_dict``, it is called.
    without : tuple of str
        Fields of dataclasses to leave out.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.inf]), 2: (np.int64(3), "x")})
    {'a': [1.0, None], '2': [3, 'x']}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return _entries(value, without)
    if isinstance(value, Mapping):
        return {str(name): plain(item, without=without) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, without=without) for item in value]
    return str(value)


class Plain:
    """A dataclass whose fields can be written as plain, JSON-able types."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain, JSON-able types."""
        return _entries(self)


def _entries(value: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass by their names in JSON."""
    return {
        field.metadata.get(KEY, field.name): plain(getattr(value, field.name), without=without)
        for field in fields(value)
        if field.name not in without
        and not (field.metadata.get(ABSENT) and getattr(value, field.name) is None)
    }
