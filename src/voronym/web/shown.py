"""The result screen of a release: words and pictures of the report, rows, one group, figures."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.dossier import Dossier
from voronym.release import Release
from voronym.report.html import pieces
from voronym.table.write import WriteReceipt

ROWS, MEMBERS, WIDE = 6, 12, 32
PICTURES = (
    "policy",
    "plane",
    "loss",
    "costs",
    "next",
    "ladder",
    "risk",
    "risk:linkage",
    "risk:stirred",
    "population",
    "rules",
    "distributions",
)
"""Sections of the internal report shown on the screen; the report has all of them."""


def release_view(
    release: Release, dossier: Dossier, receipt: WriteReceipt | None, original: pl.DataFrame
) -> dict[str, Any]:
    """Return the view of a release in plain types; markup comes from the report's templates."""
    words = pieces(dossier, only=PICTURES)
    return {
        "verdict": str(words.verdict),
        "worst": "" if dossier.ladder is None else dossier.ladder.worded("page"),
        "presence": "" if dossier.ladder is None else dossier.ladder.presence_sentence,
        "support": str(words.support),
        "facts": str(words.facts),
        "pictures": [
            {"anchor": part.anchor, "title": part.title, "shape": part.shape, "body": str(part.body)}
            for part in words.parts
        ],
        "warnings": list(release.warnings),
        "figures": _figures(release, dossier, receipt),
        "losses": []
        if dossier.inside is None
        else [[loss.key, loss.published] for loss in dossier.inside.losses],
        **rows_of(release, original),
    }


def _figures(release: Release, dossier: Dossier, receipt: WriteReceipt | None) -> dict[str, Any]:
    public, inside, folder = dossier.public, dossier.inside, release.folder
    rung = None if dossier.ladder is None else dossier.ladder.worst
    return {
        "method": release.recipe.method,
        "k": release.recipe.required_k,
        "counted": public.counted,
        "smallest": public.risk.k,
        "groups": public.risk.n_classes,
        "records": release.rows,
        "loss": public.information_loss,
        "gap": public.gap,
        "closeness": public.closeness,
        "risk": 100 * public.risk.prosecutor_max,
        "linked": None if inside is None or inside.linkage is None else 100 * inside.linkage.value,
        "attack": "" if rung is None or rung.outcome is None else rung.outcome.attack,
        "attacked": None if rung is None or rung.outcome is None else 100 * rung.outcome.success,
        "certain": {}
        if inside is None
        else {element.column: 100 * element.share for element in inside.disclosed},
        "models": [str(finding) for finding in release.findings],
        "k_counted": release.k if receipt is None else receipt.k_counted,
        "guarded": folder.guarded_cells if folder is not None else receipt.guarded_cells if receipt else 0,
        "seconds": sum(inside.seconds.values()) if inside is not None else None,
    }


def rows_of(release: Release, original: pl.DataFrame) -> dict[str, Any]:
    """Return some rows before and after, and one group with all its members."""
    evidence = release._evidence
    if evidence is None or len(evidence.order) != len(original):
        return {"columns": [], "before": [], "after": [], "group": None}
    schema, keys, table = release.schema, list(release.schema.keys), release._held
    kept = [name for name in original.columns if name in table.columns]
    roles = [[name, schema[name].role if name in schema else "identifier"] for name in original.columns]
    roles.sort(key=lambda entry: ("key", "confidential", "other", "identifier").index(entry[1]))
    columns = [name for name, _ in roles]
    own = np.argsort(evidence.order)  # where each original row is in the release
    first = list(range(min(ROWS, len(original))))
    after = nw.from_native(table.frame.to_native(), eager_only=True)[[int(own[row]) for row in first]]
    labels = table.classes.labels
    chosen = _typical(table.classes.sizes)
    members = np.flatnonzero(labels == chosen)
    shown = members[:MEMBERS]
    confidential = [name for name in schema.confidential if name in kept]
    published = table.frame[[int(members[0])]]
    return {
        "columns": roles,
        "before": [_texts(row) for row in original.head(len(first)).select(columns).rows()],
        "after": _placed(after, columns),
        "group": {
            "keys": keys,
            "confidential": confidential,
            "size": len(members),
            "members": [
                _texts(original.select([*keys, *confidential]).row(int(evidence.order[row]))) for row in shown
            ],
            "published": _placed(published, keys)[0],
        },
    }


def _typical(sizes: Any) -> int:
    """Return the first group of the most frequent size, as a typical example."""
    values, counts = np.unique(sizes, return_counts=True)
    return int(np.flatnonzero(sizes == values[np.argmax(counts)])[0])


def _placed(frame: nw.DataFrame[Any], columns: list[str]) -> list[list[str | None]]:
    """Return rows of a released frame in the original's columns; None for a dropped column."""
    there = [name for name in columns if name in frame.columns]
    return [
        [dict(zip(there, row, strict=True)).get(name) for name in columns]
        for row in ([_text(value) for value in item] for item in frame.select(there).rows())
    ]


def _texts(row: tuple[Any, ...]) -> list[str]:
    return [_text(value) for value in row]


def _text(value: object) -> str:
    result = "–" if value is None else str(value)
    return result if len(result) <= WIDE else result[: WIDE - 1] + "…"
