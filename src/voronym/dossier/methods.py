"""What of the figures of methods without groups everybody may know.

Every figure is taken by name, so that a new one stays inside until somebody lets it out. Allowed: counts and
shares over the whole released table, the promise, and the rules that analysts correct with, in which rare
categories stand together. Kept inside: everything about single groups of the originals (their sizes, the
search for epsilon, epsilon itself where it was chosen from the data), how far the originals could be linked,
and hierarchies or matrices of distances, because they name values that may be nobody's now.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from voronym.core.rate import Rate
from voronym.dossier.masks import Changed, Channel, Look, Matrix, Noise, Rule, Shape, Sizes, Stirred
from voronym.methods.differential import FIGURES as PRIVATE
from voronym.table.schema import Schema

_CONDITION = 1e4  # solving magnifies errors by up to this; beyond it a correction says nothing

_LIMITS = ("max_distortion", "max_risk", "max_t", "max_delta")

Figures = Mapping[str, Any]


def channel_of(figures: Figures, options: Figures) -> Channel | None:
    """Take the public figures of the method channel."""
    if not figures.get("parts"):
        return None
    seen = figures.get("measured")
    return Channel(
        figures["risk"],
        _finite(figures["information"]),
        figures["distortion"],
        tuple(_rule(part) for part in figures["parts"]),
        {name: float(options[name]) for name in _LIMITS if name in options},
        None
        if not seen
        else Look(
            tuple(seen["keys"]),
            tuple(seen["about"]),
            seen["excess"],
            (seen["interval"][0], seen["interval"][1]),
            seen["confidence"],
            seen["looks"],
        ),
        budget=figures.get("budget", {}).get("mu"),
        guess=figures.get("budget", {}).get("guess"),
        invariant=bool(options.get("invariant", False)),
    )


def _rule(part: Figures) -> Rule:
    return Rule(
        tuple(part["columns"]),
        part["kind"],
        part["planned_distortion"],
        part["distortion"],
        part["risk"],
        _finite(part["information"]),
        part["gap"],
        part["note"],
        matrix_of(part["matrix"]) if part.get("matrix") else None,
        tuple(
            Noise(tuple(row["columns"]), row["kept"], row["noise_sd"], row["lost"])
            for row in part.get("noise", ())
        ),
    )


def matrix_of(matrix: Figures) -> Matrix:
    """Take a published matrix, and find out whether it can be undone."""
    rows = np.array(matrix["rows"])
    undo, off = "never", 0.0
    if _firm(rows):
        undo = "all"
    elif matrix["together"] and _firm(rows[:-1]):
        undo = "without last"
        weights = np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=None)[0]  # whose records they pass for
        off = float(matrix["share"] * np.abs(weights).max())
    return Matrix(
        tuple(tuple(letter) for letter in matrix["letters"]),
        tuple(tuple(map(float, row)) for row in matrix["rows"]),
        int(matrix["together"]),
        undo,
        off,
    )


def _firm(rows: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Say whether shares before can be computed from those after, without a large error."""
    singular = np.linalg.svd(rows, compute_uv=False)
    return bool(singular[-1] * _CONDITION > singular[0])


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def stirred_of(figures: Figures, options: Figures, schema: Schema) -> Stirred | None:
    """Take the public figures of the method records."""
    if "clusters_after" not in figures:
        return None
    flat, mixed, left = handled(options, schema)
    n, shape = int(figures["records"]), figures.get("divergence")
    return Stirred(
        figures["m"],
        Sizes(**figures["clusters_after"]),
        figures["outliers"],
        figures["blend"],
        tuple(_changed(name, item, n) for name, item in figures["columns"].items()),
        flat,
        mixed,
        left,
        Shape(shape["measure"], shape["bound"], shape["largest"], shape["mean"]) if shape else None,
        rate_of(figures["linkage"]["after"]) if "linkage" in figures else None,
        **_beyond(figures),
    )


def _beyond(figures: Figures) -> dict[str, Any]:
    """Take what an intruder finds who knows more than the keys, and what MDAV would lose."""
    known, other = figures.get("linkage", {}).get("beyond"), figures.get("alternative")
    return {
        "beyond": None if known is None else rate_of(known),
        "telling": () if known is None else tuple(known["columns"]),
        "together": tuple(tuple(block) for block in figures.get("together", ())),
        "mdav": None if other is None else other["mdav"],
    }


def _changed(name: str, figures: Figures, n: int) -> Changed:
    same = int(figures["unchanged"])
    moved = min(int(figures.get("blended", 0)), n - same)
    return Changed(
        name, figures["metric"], moved / n, (n - same - moved) / n, same / n, figures["total_variation"]
    )


def handled(options: Figures, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the keys that were flattened, shuffled, and left alone."""
    flat = _with_partner(options.get("flatten", ()), schema)
    asked = options.get("shuffle", "keys")
    keys = schema.keys
    mixed = {key for key in keys if key not in flat} if asked == "keys" else _with_partner(asked, schema)
    left = [key for key in keys if key not in flat and key not in mixed]
    return tuple(k for k in keys if k in flat), tuple(k for k in keys if k in mixed), tuple(left)


def _with_partner(given: Collection[str], schema: Schema) -> set[str]:
    partners = {schema[name].partner for name in given if name in schema.names}
    return {*given, *(name for name in partners if name is not None)}


def rate_of(plain: Figures) -> Rate:
    """Return a rate from its plain form."""
    names = ("value", "low", "high", "n", "population", "confidence", "ceiling")
    return Rate(**{name: plain[name] for name in names if name in plain})


def published_as(method: str, figures: Figures, options: Figures, schema: Schema) -> dict[str, str]:
    """Say what a method without groups did to each column that it touched."""
    if method == "channel":
        words = {"noise": "noise added, rounded and clipped to its range", "pram": "redrawn by a matrix"}
        parts: Sequence[Figures] = figures.get("parts", ())
        return {name: words.get(part["kind"], "masked") for part in parts for name in part["columns"]}
    if method == "dp":
        private: Figures = figures.get(PRIVATE, {})
        return {item["column"]: "a noisy centre of its group" for item in private.get("bounds", ())}
    if method != "records":
        return dict.fromkeys(schema.keys, "masked")
    flat, mixed, left = handled(options, schema)
    out = dict.fromkeys(flat, "blended; then the same for the whole cluster")
    out |= dict.fromkeys(mixed, "blended; then shuffled inside each cluster")
    out |= dict.fromkeys(left, "blended; not shuffled")
    asked = options.get("shuffle", "keys")
    for name in schema.confidential:
        if name in options.get("flatten", ()):
            out[name] = "the same for the whole cluster"
        elif asked != "keys" and name in asked:
            out[name] = "shuffled inside each cluster, by itself"
    return out


def public_choices(entries: Figures) -> dict[str, Any]:
    """Return the entries of a recipe for everybody: metrics by their names, files without their folders.

    Examples
    --------
    >>> public_choices({"k": 4, "metrics": {"diagnosis": {"flu": ["*"]}, "zip": "taxonomy=/home/me/zip.csv"}})
    {'k': 4, 'metrics': {'zip': 'taxonomy=zip.csv'}}
    """
    out = dict(entries)
    if isinstance(out.get("population"), str):
        out["population"] = PurePath(out["population"]).name
    if isinstance(out.get("metrics"), Mapping):
        out["metrics"] = {
            name: _without_folder(choice)
            for name, choice in out["metrics"].items()
            if isinstance(choice, str)
        }
    if isinstance(out.get("hierarchies"), Mapping):  # one that is written out may name values of nobody
        out["hierarchies"] = {
            name: PurePath(tree).name
            for name, tree in out["hierarchies"].items()
            if isinstance(tree, str) and not tree.lstrip().startswith("{")
        }
    return out


def _without_folder(choice: str) -> str:
    name, given, text = choice.partition("=")
    return f"{name}={PurePath(text).name}" if given and name == "taxonomy" else choice
