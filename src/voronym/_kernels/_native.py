"""Call loops as the machine code that came with the package, without Numba.

Arguments are flattened as Numba passes them (`_build` makes the way in): an array is nothing, nothing, its
size, size of an item, address, shape and strides; a tuple is its items. Which kinds of arguments have machine
code is listed in `signatures.txt`; for any other, and if there is none or it is of another source, Numba
compiles as ever. `VORONYM_KERNELS=compile` does that always; `record` lists what was called.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import struct
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOM = __name__.rpartition(".")[0]
FOLDER = CODE = Path(__file__).parent
"""The folder of the sources, and the folder of the machine code."""
NAMES = ("native.so", "native.json")

CONVENTION = "slots of eight bytes, 1"
"""Version of the calling convention: change it with `flatten`, `_Code` or the entry function."""

Key = list[Any]

_SCALARS: dict[type, tuple[str, str]] = {
    int: ("i8", "q"),
    bool: ("b1", "q"),
    float: ("f8", "d"),
    np.float64: ("f8", "d"),
    np.bool_: ("b1", "q"),
    **{
        np.dtype(name).type: (name, "q" if name[0] == "i" else "Q")
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
    },
}
"""For each kind of number, its name and its format in a slot."""


class _UnknownError(TypeError):
    """An argument of a kind that only Numba knows."""


def flatten(args: Any, key: Key, slots: list[Any]) -> None:
    """Append the types of the arguments to ``key`` and the values to pass to ``slots``."""
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            interface = value.__array_interface__
            address, readonly = interface["data"]
            shape = interface["shape"]
            layout = "C" if interface["strides"] is None else "F" if value.flags.f_contiguous else "A"
            key += (interface["typestr"], len(shape), layout, readonly)
            slots += (0, 0, value.size, value.itemsize, address, *shape, *value.strides)
        elif kind in _SCALARS:
            key.append(_SCALARS[kind][0])
            slots.append(bool(value) if kind is np.bool_ else value)
        elif issubclass(kind, tuple):
            key += (kind, len(value))
            flatten(value, key, slots)
        elif value is None:
            key.append(None)
            slots.append(0)
        else:
            raise _UnknownError(kind)


def written(key: Key) -> str:
    """Write a key as text, as in a line of the list."""
    return " ".join(
        f"{part.__module__}:{part.__qualname__}" if isinstance(part, type) else str(part) for part in key
    )


def parsed(line: str) -> Key:
    """Parse the text that `written` produced."""
    return [_part(word) for word in line.split()]


def _part(word: str) -> Any:
    if word.isdigit():
        return int(word)
    if word in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[word]
    if ":" in word:
        module, name = word.split(":")
        return getattr(import_module(module), name)
    return word


def stamp() -> str:
    """Return a digest of the sources of all loops: machine code with another digest is not called."""
    digest = hashlib.blake2b(CONVENTION.encode(), digest_size=16)
    for file in sorted(FOLDER.glob("[!_]*.py")):
        if file.name == "warm.py":  # it has no loops
            continue
        digest.update(file.name.encode())
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


@cache
def _library() -> tuple[Any, dict[str, Any]]:
    """Return the shipped machine code and its index; nothing if there is none."""
    if os.environ.get("VORONYM_KERNELS") == "compile":
        return None, {}
    try:
        listed = json.loads((CODE / NAMES[1]).read_text(encoding="utf-8"))
        if listed["stamp"] != stamp() or not set(listed["features"]) <= features():
            return None, {}
        return ctypes.CDLL(str(CODE / NAMES[0])), listed["loops"]
    except (OSError, ValueError, KeyError):
        return None, {}


def features() -> set[str]:
    """Return the processor's features that machine code may rely on."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__ as known
    except ImportError:  # before NumPy 2
        from numpy.core._multiarray_umath import __cpu_features__ as known  # type: ignore[no-redef]
    return {name for name, there in known.items() if there}


class _Code:
    """One loop for one kind of arguments."""

    def __init__(self, name: str, form: str, returns: Any) -> None:
        self._call = _library()[0][name]
        self._call.argtypes, self._call.restype = (ctypes.c_char_p, ctypes.c_void_p), ctypes.c_int32
        self._pack = struct.Struct(form).pack
        self._returns = returns
        self._form = _form(returns)
        self._size = struct.calcsize(self._form)

    def __call__(self, slots: list[Any]) -> Any:
        out = ctypes.create_string_buffer(self._size) if self._size else None
        if self._call(self._pack(*slots), out):
            raise ZeroDivisionError("a loop was ended by a division by zero")
        if out is None:
            return None
        return _shaped(self._returns, iter(struct.unpack(self._form, out.raw)))


def _form(returns: Any) -> str:
    if isinstance(returns, list):
        return "".join(_form(part) for part in returns)
    return {None: "", "f8": "d", "u8": "Q"}.get(returns, "q")


def _shaped(returns: Any, values: Any) -> Any:
    if isinstance(returns, list):
        return tuple(_shaped(part, values) for part in returns)
    return bool(next(values)) if returns == "b1" else next(values)


def _compiled(loop: Any, args: tuple[Any, ...]) -> Any:
    return loop.dispatcher(*args)


def codes(function: Callable[..., Any]) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return the callable for a loop and its arguments."""
    name = f"{function.__module__.removeprefix(ROOM + '.')}.{function.__qualname__}"
    if not function.__module__.startswith(ROOM + "."):
        return _compiled
    call = _caller(_library()[1].get(name, {}))
    return _recorded(name, call) if os.environ.get("VORONYM_KERNELS") == "record" else call


def _caller(listed: dict[str, Any]) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return the machine code of a loop if it exists for these arguments, and Numba's otherwise."""
    if not listed:
        return _compiled
    known = {tuple(parsed(line)): _Code(*way) for line, way in listed.items()}

    def call(loop: Any, args: tuple[Any, ...]) -> Any:
        key: Key = []
        slots: list[Any] = []
        try:
            flatten(args, key, slots)
            code = known.get(tuple(key))
        except _UnknownError:
            code = None
        return loop.dispatcher(*args) if code is None else code(slots)

    return call


def _recorded(
    name: str, call: Callable[[Any, tuple[Any, ...]], Any]
) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return a callable that runs a loop and records its types in the file named by `VORONYM_RECORD`."""
    seen: set[str] = set()

    def record(loop: Any, args: tuple[Any, ...]) -> Any:
        key: Key = []
        with contextlib.suppress(_UnknownError):
            flatten(args, key, [])
            line = f"{name} {written(key)}\n"
            if line not in seen:
                seen.add(line)
                with Path(os.environ["VORONYM_RECORD"]).open("a", encoding="utf-8") as file:
                    file.write(line)
        return call(loop, args)

    return record
