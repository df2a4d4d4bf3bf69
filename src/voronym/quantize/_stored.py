"""Quantizers as files: one JSON object, described in `voronym.quantize.quantizer.Quantizer`."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym import space as spaces
from voronym.core.formats import check_format, program_version
from voronym.errors import InputError, ReadError, WriteError
from voronym.space import Space

FORMAT = "voronym-quantizer"
VERSION = 1
LEVELS = "voronym-quantizer-levels"
KEYS = ("format", "version", "space", "centroids", "costs")


def save(path: Path, centroids: NDArray[np.float64], costs: NDArray[np.float64], space: Space) -> None:
    """Write a quantizer."""
    _write(path, FORMAT, {"centroids": centroids.tolist(), "costs": costs.tolist()}, space)


def save_levels(path: Path, content: dict[str, Any], space: Space) -> None:
    """Write a quantizer of several levels."""
    _write(path, LEVELS, content, space)


def _write(path: Path, form: str, numbers: dict[str, Any], space: Space) -> None:
    """Write the file under a temporary name in the same folder, then rename it."""
    if space.name not in spaces.SPACES or type(space) is not spaces.SPACES[space.name]:
        raise InputError(
            f"a quantizer over the space {space.name!r} cannot be saved; "
            f"there are: {', '.join(spaces.SPACES)}"
        )
    named = {"name": space.name, **space.parameters()}
    content = {
        "format": form, "version": VERSION, "voronym": program_version(), "space": named, **numbers
    }  # fmt: skip
    text = json.dumps(content, allow_nan=False, indent=1) + "\n"
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        raise WriteError(f"the quantizer could not be written to {path}: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def load(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64], Space]:
    """Return centroids, costs and space of a file; raise if it is no quantizer."""
    content = _read(path, FORMAT)
    _check_keys(path, content, KEYS)
    centroids, costs = _numbers(path, content)
    return centroids, costs, _space(path, content["space"], centroids)


def load_levels(path: Path) -> tuple[dict[str, Any], Space]:
    """Return centroids and costs of all levels of a file, and their space; raise if it has none."""
    content = _read(path, LEVELS)
    _check_keys(path, content, (*KEYS, "below"))
    space = _space(path, content["space"], _numbers(path, content)[0])
    return _below(path, {key: content[key] for key in ("centroids", "costs", "below")}, space), space


def has_levels(path: Path) -> bool:
    """Whether a file declares a quantizer of several levels."""
    return bool(_read(path, FORMAT, LEVELS)["format"] == LEVELS)


def _below(path: Path, content: Any, space: Space) -> dict[str, Any]:
    """Return a level and those below it, with arrays for their numbers."""
    if not isinstance(content, dict):
        raise InputError(f"{path} is no quantizer: what is below a cell must be an object")
    _check_keys(path, content, ("centroids", "costs", *(("below",) if "below" in content else ())))
    centroids, costs = _numbers(path, content)
    _check_fit(path, centroids, space)
    result: dict[str, Any] = {"centroids": centroids, "costs": costs}
    if "below" in content:
        if not isinstance(content["below"], list):
            raise InputError(f"{path} is no quantizer: what is below must be a list")
        result["below"] = [_below(path, item, space) for item in content["below"]]
    return result


def _read(path: Path, *forms: str) -> dict[str, Any]:
    """Return the object in a file; raise unless it has one of these formats and this version."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark before the text
    except OSError as error:
        raise ReadError(f"no quantizer can be read from {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(f"{path} is no quantizer: it is not text") from None
    try:
        content = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except _TwiceError as twice:
        raise InputError(f"{path} is no quantizer: the key {twice} is there twice") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no quantizer: it is not JSON, or has NaN or infinity") from None
    form = content.get("format") if isinstance(content, dict) else None
    if form not in forms:
        other = {FORMAT: "Quantizer", LEVELS: "quantize.LevelQuantizer"}.get(
            form if isinstance(form, str) else ""
        )
        hint = f"; load it as {other}" if other else ""
        raise InputError(f"{path} is no quantizer: its format is not {forms[0]!r}{hint}")
    check_format(f"the quantizer {path.name!r}", content.get("version"), VERSION)
    return {name: value for name, value in content.items() if name != "voronym"}


def _check_keys(path: Path, content: dict[str, Any], keys: tuple[str, ...]) -> None:
    if set(content) != set(keys):
        odd = sorted(set(content) ^ set(keys))
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        result = ", ".join(f"{key!r:.40}" for key in odd[:5])
        raise InputError(f"{path} is no quantizer: keys are missing or unknown: {result}{more}")


def _numbers(path: Path, content: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    centroids = _array(path, "centroids", content["centroids"], 2)
    costs = _array(path, "costs", content["costs"], 1)
    if len(centroids) != len(costs):
        raise InputError(f"{path} is no quantizer: {len(centroids)} centroids, {len(costs)} costs")
    return centroids, costs


def _check_fit(path: Path, centroids: NDArray[np.float64], space: Space) -> None:
    try:
        with np.errstate(all="ignore"):
            space.cost(centroids, centroids[:1])
    except InputError as error:
        raise InputError(f"{path} is no quantizer: its centroids do not fit its space: {error}") from error


class _TwiceError(ValueError):
    """A key that an object has twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if a key occurs twice."""
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise _TwiceError(f"{key!r:.40}")
        content[key] = value
    return content


def _refuse(name: str) -> float:
    raise ValueError(name)


def _array(path: Path, what: str, values: Any, dimensions: int) -> NDArray[np.float64]:
    rows = values if dimensions == 2 else [values]
    if not (isinstance(rows, list) and rows and all(isinstance(row, list) and row for row in rows)):
        raise InputError(f"{path} is no quantizer: {what} must be a list{' of lists' * (dimensions == 2)}")
    if any(len(row) != len(rows[0]) for row in rows):
        raise InputError(f"{path} is no quantizer: the rows of {what} differ in length")
    if any(type(value) not in (int, float) for row in rows for value in row):
        raise InputError(f"{path} is no quantizer: {what} must be numbers")
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        array = np.array([np.inf])
    if not np.isfinite(array).all():
        raise InputError(f"{path} is no quantizer: {what} must be finite")
    return array


def _space(path: Path, described: Any, centroids: NDArray[np.float64]) -> Space:
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        raise InputError(f"{path} is no quantizer: its space has no name")
    name = described["name"]
    if name not in spaces.SPACES:
        raise InputError(
            f"{path} is over a space that is not known here, {name!r:.40}; "
            f"there are: {', '.join(spaces.SPACES)}"
        )
    parameters = {key: value for key, value in described.items() if key != "name"}
    if "matrix" in parameters:
        parameters["matrix"] = _array(path, "the matrix of its space", parameters["matrix"], 2)
    try:
        space: Space = spaces.SPACES[name](**parameters)
        space.cost(np.eye(1, centroids.shape[1]), np.eye(1, centroids.shape[1]))
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"{path} is no quantizer: the parameters of its space do not fit") from error
    _check_fit(path, centroids, space)
    return space
