"""Files that workers exchange in the work folder: JSON and Arrow, never code.

Another user may have put a file into a folder. So nothing that could run is read: only plain values, arrays,
columns, and instances of the classes that `stored` names, whose fields are set without calling anything.
"""

# promise: doc-store
from __future__ import annotations

import base64
import datetime as dt
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
import polars as pl

from voronym.core.formats import program_version
from voronym.errors import ReadError, hint
from voronym.run.parts import afar

T = TypeVar("T", bound=type)
CLASSES: dict[str, type] = {}
FORMAT = 1
"""Version of the file format; a run resumes only files of its own version."""

_TAG = "voronym"
"""The entry that names the type of a JSON object."""


class OtherVersionError(ReadError):
    """A work folder of another version."""


def stored(*classes: type) -> None:
    """Allow instances of classes to be kept: their fields, or all that they hold."""
    for cls in classes:
        CLASSES[_name(cls)] = cls


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def classes_of(cls: type) -> set[type]:
    """Return a dataclass and all that its fields name, however deep."""
    out: set[type] = set()
    waiting: list[Any] = [cls]
    while waiting:
        kind = waiting.pop()
        if is_dataclass(kind) and isinstance(kind, type) and kind not in out:
            out.add(kind)
            waiting += get_type_hints(kind).values()
        waiting += get_args(kind)
    return out


def dump(value: Any) -> bytes:
    """Return a value as JSON."""
    about = {"format": FORMAT, "voronym": program_version(), "of": _json_value(value)}
    return json.dumps(about, allow_nan=True).encode()


def load(data: bytes) -> Any:
    """Return the value that `dump` wrote."""
    try:
        about = json.loads(data)
        number = about.get("format")
        if number == FORMAT:
            return _value(about["of"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReadError(
            f"a file in the work folder changed after it was written ({type(error).__name__}): begin the "
            f"run again, without {hint('resume')}"
        ) from None
    maker = "0.1.0" if number is None else about.get("voronym")
    raise OtherVersionError(
        f"the work folder was left by another voronym ({maker!s:.20}): go on with that version, or begin the "
        f"run again, without {hint('resume')}"
    )


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        parts = [_json_value(part) for part in value]
        return parts if isinstance(value, list) else {_TAG: "tuple", "of": parts}
    if type(value) is dict and all(isinstance(key, str) for key in value) and _TAG not in value:
        return {key: _json_value(part) for key, part in value.items()}
    for name, (kind, write, _) in _KINDS.items():
        if isinstance(value, kind):
            return {_TAG: name, "of": write(value)}
    if CLASSES.get(_name(type(value))) is type(value):
        return {_TAG: "object", "class": _name(type(value)), "of": _json_value(dict(_state(value)))}
    raise TypeError(f"{type(value).__name__} is not kept in a work folder")


def _state(value: Any) -> Mapping[str, Any]:
    if not is_dataclass(value):
        return dict(vars(value))
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(part) for part in plain]
    if not isinstance(plain, dict):
        return plain
    if _TAG not in plain:
        return {key: _value(part) for key, part in plain.items()}
    kind = plain[_TAG]
    if kind == "tuple":
        return tuple(_value(part) for part in plain["of"])
    if kind == "object":
        cls: Any = CLASSES[plain["class"]]
        made = cls.__new__(cls)
        for name, part in _value(plain["of"]).items():
            object.__setattr__(made, name, part)
        return made
    return _KINDS[kind][2](plain["of"])


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _array(value: Any) -> str:
    out = io.BytesIO()
    np.save(out, value, allow_pickle=False)
    return _text(out.getvalue())


def _read_array(text: str) -> Any:
    return np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)


def _frame(value: pl.DataFrame) -> str:
    out = io.BytesIO()
    value.write_ipc(out)
    return _text(out.getvalue())


def _read_frame(text: str) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(base64.b64decode(text)))


def _dtype(kind: Any) -> str:
    return _frame(pl.DataFrame({"": pl.Series([], dtype=kind)}))


def _pairs(value: Mapping[Any, Any]) -> list[Any]:
    return [[_json_value(key), _json_value(part)] for key, part in value.items()]


def _series(value: pl.Series) -> Any:
    return [value.name, _frame(value.alias("").to_frame())]


Kind = tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]
_KINDS: dict[str, Kind] = {
    "array": (np.ndarray, _array, _read_array),
    "number": (np.generic, lambda value: _array(np.asarray(value)), lambda text: _read_array(text)[()]),
    "frame": (pl.DataFrame, _frame, _read_frame),
    "series": (pl.Series, _series, lambda pair: _read_frame(pair[1]).to_series().alias(pair[0])),
    "dtype": ((pl.DataType, type(pl.Int64)), _dtype, lambda text: _read_frame(text).to_series().dtype),
    "fraction": (Fraction, lambda value: [str(value.numerator), str(value.denominator)],
                 lambda pair: Fraction(int(pair[0]), int(pair[1]))),
    "decimal": (Decimal, str, Decimal),
    "counter": (Counter, _pairs, lambda rows: Counter({_value(key): _value(part) for key, part in rows})),
    "mapping": (Mapping, _pairs, lambda rows: {_value(key): _value(part) for key, part in rows}),
    "path": (Path, str, Path),
    "address": (afar.Afar, str, afar.path_of),
    "datetime": (dt.datetime, lambda value: value.isoformat(), dt.datetime.fromisoformat),
    "date": (dt.date, lambda value: value.isoformat(), dt.date.fromisoformat),
    "time": (dt.time, lambda value: value.isoformat(), dt.time.fromisoformat),
    "duration": (dt.timedelta, lambda value: [value.days, value.seconds, value.microseconds],
                 lambda parts: dt.timedelta(*parts)),
    "bytes": (bytes, _text, base64.b64decode),
    "set": ((set, frozenset), lambda value: [_json_value(part) for part in sorted(value, key=str)],
            lambda parts: frozenset(_value(part) for part in parts)),
    "whole": (int, lambda value: str(int(value)), int),
}  # fmt: skip
