"""Choose the public figures of methods without groups.

Figures are taken by name, so a new figure stays internal until someone adds it here. Public: counts and
shares over the whole released table, the promise, and the rules that analysts need to correct results, with
rare categories combined. Internal: all figures about single groups of the originals (sizes, the search for
epsilon, an epsilon chosen from the data), the linkage of originals, and hierarchies or distance matrices,
because they may name values that nobody has any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from voronym.channel.figures import ChannelFigures, PublishedMatrix, RuleFigures
from voronym.core.figures import Figures
from voronym.core.grammar import pair
from voronym.dossier.masks import Changed, Channel, Look, Matrix, Noise, Rule, Shape, Stirred
from voronym.methods.figures import PrivateFigures
from voronym.records.figures import ColumnFigures, KeyFigures, RecordsFigures
from voronym.table.schema import Schema

_CONDITION = 1e4  # solving magnifies errors by up to this; above it a correction is useless

_LIMITS = ("max_distortion", "max_risk", "max_t", "max_delta")

Chosen = Mapping[str, Any]
"""Options of a method, by name."""


def channel_of(figures: Figures, options: Chosen) -> Channel | None:
    """Return the public figures of the method channel; None for others."""
    made = figures.of(ChannelFigures)
    if made is None:
        return None
    seen = made.measured
    return Channel(
        made.risk,
        _finite(made.information),
        made.distortion,
        tuple(_rule(part) for part in made.parts),
        {name: float(options[name]) for name in _LIMITS if name in options},
        Look(
            seen.keys,
            seen.about,
            seen.excess,
            (seen.estimate.low, seen.estimate.high),
            seen.confidence,
            seen.looks,
        ),
        budget=made.budget.mu,
        guess=made.budget.guess,
        invariant=bool(options.get("invariant", False)),
    )


def _rule(part: RuleFigures) -> Rule:
    return Rule(
        part.columns,
        part.kind,
        part.planned_distortion,
        part.distortion,
        part.risk,
        _finite(part.information),
        part.gap,
        part.note,
        None if part.matrix is None else matrix_of(part.matrix),
        tuple(Noise(row.columns, row.kept, row.noise_sd, row.lost) for row in part.noise or ()),
    )


def matrix_of(matrix: PublishedMatrix) -> Matrix:
    """Take a published matrix, and determine whether it can be undone."""
    rows = np.array(matrix.rows)
    undo, off = "never", 0.0
    if _firm(rows):
        undo = "all"
    elif matrix.together and _firm(rows[:-1]):
        undo = "without last"
        weights = np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=None)[0]  # whose records they pass for
        off = float(matrix.share * np.abs(weights).max())
    return Matrix(matrix.letters, matrix.rows, matrix.together, undo, off)


def _firm(rows: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Return whether shares before can be computed from those after without a large error."""
    singular = np.linalg.svd(rows, compute_uv=False)
    return bool(singular[-1] * _CONDITION > singular[0])


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def stirred_of(figures: Figures, options: Chosen, schema: Schema) -> Stirred | None:
    """Return the public figures of the method records; None for others."""
    made = figures.of(RecordsFigures)
    if made is None:
        return None
    shape, known = made.divergence, made.linkage.beyond
    return Stirred(
        made.m,
        made.clusters_after,
        made.outliers,
        made.blend,
        tuple(_changed(name, item, made.records) for name, item in made.columns.items()),
        *handled(options, schema),
        Shape(shape.measure, shape.bound, shape.largest, shape.mean),
        made.linkage.after,
        beyond=None if known is None else known.rate,
        telling=() if known is None else known.columns,
        together=made.together,
        mdav=None if made.alternative is None else made.alternative.mdav,
    )


def _changed(name: str, figures: ColumnFigures, n: int) -> Changed:
    same = figures.unchanged
    moved = min(figures.blended, n - same) if isinstance(figures, KeyFigures) else 0
    return Changed(name, figures.metric, moved / n, (n - same - moved) / n, same / n, figures.total_variation)


def handled(options: Chosen, schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
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


def published_as(method: str, figures: Figures, options: Chosen, schema: Schema) -> dict[str, str]:
    """Describe, for each changed column, the masking by a method without groups."""
    if (rules := figures.of(ChannelFigures)) is not None:
        words = {"noise": "noise added, rounded and clipped to its range", "pram": "redrawn by a matrix"}
        return {name: words.get(part.kind, "masked") for part in rules.parts for name in part.columns}
    if (promise := figures.of(PrivateFigures)) is not None:
        return {item.column: "a noisy centre of its group" for item in promise.private.bounds}
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


def public_choices(entries: Chosen) -> dict[str, Any]:
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
    if isinstance(out.get("hierarchies"), Mapping):  # a written hierarchy may name values that nobody has
        out["hierarchies"] = {
            name: PurePath(tree).name
            for name, tree in out["hierarchies"].items()
            if isinstance(tree, str) and not tree.lstrip().startswith("{")
        }
    return out


def _without_folder(choice: str) -> str:
    name, text = pair(choice)
    return f"{name}={PurePath(text).name}" if text is not None and name == "taxonomy" else choice
