"""The contract of a privacy model, as a check that anybody may run: `voronym.testing.check_model`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from voronym.errors import InputError
from voronym.privacy.base import Finding, Model, parse_model
from voronym.privacy.cells import Judge
from voronym.privacy.level import Ints
from voronym.table.schema import Column, Schema
from voronym.table.table import Table


def check_model(model: Model, *, at: Callable[[float], Model] | None = None) -> None:
    """Check a privacy model against the contract.

    Its text builds it again; findings are JSON and hold no value of the table; the order of rows changes
    nothing, and the table is left unchanged. Missing confidential values do not stop it. If the model can be
    enforced (it has ``judges``): a single cell is measured like all cells, merging two cells that hold gives
    a cell that holds, and the finding agrees with the judges.

    Parameters
    ----------
    model : Model
        Applied to columns of numbers and of labels.
    at : callable, optional
        Builds the model with a given requirement. Then a table must hold at exactly its measured value,
        unless the definition is strict.

    Examples
    --------
    >>> from voronym.privacy import TCloseness
    >>> check_model(TCloseness(0.2), at=TCloseness)
    """
    if parse_model(str(model)) != model:
        raise AssertionError(f"{model}: the text does not build the same model again")
    rng = np.random.default_rng(11)
    for n in (1, 6, 40):
        for share in (0.0, 0.3):
            _check_table(model, at, _people(rng, n, share))


def _people(rng: np.random.Generator, n: int, missing: float) -> pl.DataFrame:
    """Return a table whose values are recognisable in a text."""
    gone = (rng.random(n) < missing).tolist()
    pay = (7_000_001 + rng.integers(0, 9, n)).tolist()
    return pl.DataFrame(
        {
            "key": [f"secret-key-{i}" for i in rng.integers(0, 1 + n // 6, n)],
            "number": [None if g else v for g, v in zip(gone, pay, strict=True)],
            "label": [f"secret-label-{i}" for i in rng.integers(0, 3, n)],
        }
    )


def _check_table(model: Model, at: Callable[[float], Model] | None, table: pl.DataFrame) -> None:
    columns = (Column("key", "key", "nominal"), Column("number", "confidential", "numeric"))
    schema = Schema((*columns, Column("label", "confidential", "nominal")))
    before = table.clone()
    records = Table.of(table, schema)
    result = model.measure(records)
    where = f"{model} on {len(table)} records"
    text = json.dumps(result.to_dict(), allow_nan=False) + str(result) + repr(result)
    if "secret-" in text or "7000" in text:
        raise AssertionError(f"{where}: the finding shows a value of the table")
    if not table.equals(before):
        raise AssertionError(f"{where}: the table was changed")
    if model.required is None and not result.holds:
        raise AssertionError(f"{where}: nothing is required, but the finding does not hold")
    turned = model.measure(Table.of(table.reverse(), schema))
    if (turned.value, turned.holds) != (result.value, result.holds):
        raise AssertionError(f"{where}: the order of the rows changes the finding")
    if model.merging:  # the others are no matter of single groups, and have no judges
        _check_judges(model.judges(records), result, records.classes.labels, where)
    if at is not None and np.isfinite(result.value):
        try:
            exact = at(result.value).measure(records)
        except InputError:  # the model has no such requirement, for example 1 distinct value
            return
        if exact.holds == exact.strict:
            raise AssertionError(f"{where}: a requirement of exactly {result.value:g} is judged wrongly")


def _check_judges(judges: Sequence[Judge], finding: Finding, classes: Ints, where: str) -> None:
    verdicts = []
    for judge in judges:
        values = judge.values(classes, int(classes.max()) + 1)
        verdicts.append(bool(np.all(judge.holds(values))))
        if verdicts[-1] and np.any(np.asarray(judge.severity(values)) > 0):
            raise AssertionError(f"{where}: a cell of a table that holds has a severity")
        _check_cells(judge, classes, where)
        _check_cells(judge, np.arange(len(classes)) // 2, where)  # small cells: some hold, some do not
    if all(verdicts) != finding.holds:
        raise AssertionError(f"{where}: the finding contradicts its judges")


def _check_cells(judge: Judge, labels: Ints, where: str) -> None:
    cells = int(labels.max()) + 1
    values = judge.values(labels, cells)
    if values.shape != (cells,) or np.any(np.isnan(values)):
        raise AssertionError(f"{where}: {cells} cells have values of shape {values.shape}, or none")
    alone = [judge.value(judge.levels.codes[labels == cell]) for cell in range(cells)]
    if not np.allclose(alone, values, rtol=1e-12, atol=1e-12):
        raise AssertionError(f"{where}: one cell alone is measured differently")
    for other in range(1, cells):
        merged = judge.values(np.where(labels == other, 0, labels), cells)
        if judge.additive:
            good = merged.sum() <= values.sum() + 1e-12
        else:
            good = bool(judge.holds(float(merged[0]))) or not np.all(judge.holds(values[[0, other]]))
        if not good:
            raise AssertionError(f"{where}: merging two cells made it worse")
