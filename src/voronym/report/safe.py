"""What of a mask's figures and options everybody may know.

Allowed: counts and shares over the whole released table, the promise, and the rules that analysts correct
with, in which rare categories stand together. Kept inside: everything about single groups of the originals
(their sizes, the search for epsilon, epsilon itself where it was chosen from the data), how far the originals
could be linked, and hierarchies or matrices of distances, because they name values that may be nobody's now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

_RECORDS = ("m", "records", "clusters_after", "small_clusters", "outliers", "blend")
_COLUMN = ("metric", "blended", "unchanged", "total_variation")
_CHANNEL = ("distortion", "risk", "information", "measured")
_PART = (
    "columns",
    "kind",
    "planned_distortion",
    "distortion",
    "risk",
    "information",
    "gap",
    "note",
    "matrix",
    "noise",
)


def public_figures(method: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a mask that everybody may know; of one that is not known here, none.

    Examples
    --------
    >>> public_figures("records", {"m": 4, "curve": [{"pairs": 1.0}], "clusters_before": {"smallest": 1}})
    {'m': 4}
    """
    filters: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
        "records": _records,
        "channel": _channel,
    }
    return filters[method](figures) if method in filters and figures else {}


def _take(figures: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: figures[name] for name in names if name in figures}


def _records(figures: Mapping[str, Any]) -> dict[str, Any]:
    out = _take(figures, _RECORDS)
    if "columns" in figures:
        out["columns"] = {name: _take(column, _COLUMN) for name, column in figures["columns"].items()}
    if "divergence" in figures:
        out["divergence"] = _take(figures["divergence"], ("measure", "bound", "largest", "mean"))
    if "linkage" in figures:
        out["linkage"] = _take(figures["linkage"], ("after",))
    return out


def _channel(figures: Mapping[str, Any]) -> dict[str, Any]:
    out = _take(figures, _CHANNEL)
    out["parts"] = [_take(part, _PART) for part in figures.get("parts", ())]
    return out


def public_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's options for everybody: metrics by their names, files without their folders.

    Examples
    --------
    >>> public_options({"m": 4, "metrics": {"diagnosis": {"flu": ["*"]}, "zip": "taxonomy=/home/me/zip.csv"}})
    {'m': 4, 'metrics': {'zip': 'taxonomy=zip.csv'}}
    """
    out = dict(options)
    if isinstance(out.get("metrics"), Mapping):
        out["metrics"] = {
            name: _without_folder(choice)
            for name, choice in out["metrics"].items()
            if isinstance(choice, str)
        }
    return out


def _without_folder(choice: str) -> str:
    name, given, text = choice.partition("=")
    return f"{name}={PurePath(text).name}" if given and name == "taxonomy" else choice
