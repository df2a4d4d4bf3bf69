"""Count again in the written files: rows with equal keys meet in a bucket, whichever file they are in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from voronym.privacy import Finding, Model
from voronym.privacy.k_anonymity import KAnonymity
from voronym.run.parts import spill
from voronym.run.parts.grouping import Whole, judges
from voronym.table.classes import equivalence_classes


def comparable(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return keys of which equal ones are equal in every file: one missing value, one zero, plain texts."""
    floats = [name for name in keys if frame[name].dtype.is_float()]
    texts = [name for name in keys if isinstance(frame[name].dtype, (pl.Categorical, pl.Enum))]
    return frame.with_columns(
        *(pl.col(name).fill_nan(None) + 0.0 for name in floats),
        *(pl.col(name).cast(pl.String) for name in texts),
    )


def sort(
    frame: pl.DataFrame, keys: list[str], columns: list[str], path: Path, buckets: int
) -> dict[str, Any]:
    """Send the rows of a written file to buckets by a hash of their keys."""
    held = comparable(frame.select(columns), keys)
    to = (held.select(keys).hash_rows(seed=1) % buckets).to_numpy().astype(np.int64)
    spill.spill(path, held, to, buckets)
    return {"rows": len(frame), "columns": frame.columns}


def sizes(answers: Sequence[dict[str, Any]]) -> Counter[int]:
    """Return how many classes there are of each size, over all buckets."""
    return sum((answer["sizes"] for answer in answers), Counter())


def nothing() -> dict[str, Any]:
    """Return the answer for a bucket without rows."""
    return {"rows": 0, "classes": 0, "k": None, "sizes": Counter(), "models": []}


def count(
    frame: pl.DataFrame,
    keys: list[str],
    models: Sequence[Model],
    columns: Mapping[str, Whole] | None,
    told: Sequence[str] = (),
) -> dict[str, Any]:
    """Count classes and measure models in a bucket; for columns in ``told``, classes of one value, too."""
    if columns is None:
        held = frame.group_by(keys).len()["len"].to_numpy().astype(np.int64)
        measured = []
    else:
        classes = equivalence_classes(nw.from_native(frame, eager_only=True), keys)
        held = classes.sizes
        measured = [_measured(model, columns, classes.labels, len(held)) for model in models]
    size, many = np.unique(held, return_counts=True)
    return {
        "rows": len(frame),
        "classes": len(held),
        "k": int(held.min()),
        "sizes": Counter(dict(zip(size.tolist(), many.tolist(), strict=True))),
        "models": measured,
        "alone": _alone(frame, keys, told) if told else {},
    }


def _alone(frame: pl.DataFrame, keys: list[str], told: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return for each column how many classes have one value, and how many rows these have."""
    unlike = [pl.col(name).n_unique().alias(f"voronym: {at}") for at, name in enumerate(told)]
    found = frame.group_by(keys).agg(pl.len().alias("voronym: rows"), *unlike)
    out = {}
    for at, name in enumerate(told):
        sizes = found["voronym: rows"].filter(found[f"voronym: {at}"] == 1)
        out[name] = (len(sizes), int(sizes.sum()))
    return out


def _measured(model: Model, columns: Mapping[str, Whole], labels: Any, cells: int) -> list[dict[str, Any]]:
    """Measure a model on the classes of a bucket: for each column the worst value, or the share of a sum."""
    out = []
    for judge in judges(model, columns):
        values = judge.values(labels, cells)
        good = np.ones(cells, bool) if judge.additive else np.asarray(judge.holds(values), bool)
        worst = (
            math.fsum(values) if judge.additive else float(values.max() if judge.at_most else values.min())
        )
        out.append({
            "column": judge.levels.column, "about": model.about(judge), "value": worst,  # type: ignore[attr-defined]
            "failing": int((~good).sum()), "additive": judge.additive, "at_most": judge.at_most,
            "strict": judge.strict, "required": judge.required,
        })  # fmt: skip
    return out


def findings(
    answers: Sequence[dict[str, Any]], models: Sequence[Model], required: Sequence[Model]
) -> tuple[Finding, ...]:
    """Put the answers of all buckets together: what each model found in the written files."""
    held = [one for one in answers if one["rows"]]
    k = min(one["k"] for one in held)
    classes, rows = sum(one["classes"] for one in held), sum(one["rows"] for one in held)
    detail: dict[str, object] = {"records": rows, "classes": classes, "k": k}
    out = []
    for model in required:
        if isinstance(model, KAnonymity):
            good = model.k is None or k >= model.k
            out.append(Finding(model.name, float(k), model.required, good, detail=detail))
        elif held[0]["models"]:
            at = list(models).index(model)
            out.append(_finding(model, [one["models"][at] for one in held], detail))
    return tuple(out)


def _finding(model: Model, found: Sequence[list[dict[str, Any]]], detail: dict[str, object]) -> Finding:
    totals, holds = [], True
    for columns in zip(*found, strict=True):
        first = columns[0]
        values = [one["value"] for one in columns]
        if first["additive"]:
            value = math.fsum(values)
            holds &= first["required"] is None or value <= first["required"] * (1 + 1e-9) + 1e-12
        else:
            value = max(values) if first["at_most"] else min(values)
            holds &= not any(one["failing"] for one in columns)
        totals.append((value, first))
    worst = max(totals, key=lambda one: one[0] if one[1]["at_most"] else -one[0])
    failing = sum(one["failing"] for columns in found for one in columns)
    about = {**detail, "column": worst[1]["column"], "classes_failing": failing}
    return Finding(
        model.name, worst[0], model.required, holds, (), about, worst[1]["about"], worst[1]["strict"]
    )
