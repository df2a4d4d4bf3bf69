"""Releases by differential privacy: public bounds, an insensitive grouping, noise, and their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.context import Context
from voronym.core.options import Options, by_column, entry_of, option
from voronym.dp import GROUPINGS, BoundedRecords, Budget, Cells, meet
from voronym.dp.cells import Ints, Population, Question
from voronym.dp.domain import Bounds, Domain, Range, bounds_of
from voronym.dp.noise import library
from voronym.dp.presence import counted, resized
from voronym.errors import InputError, hint
from voronym.generalize.hierarchy import Hierarchy
from voronym.method import table_method
from voronym.methods.figures import PrivateFigures
from voronym.methods.private_facts import public_figures, sentences
from voronym.privacy import DifferentialPrivacy, parse_model
from voronym.privacy.differential import private_among
from voronym.request.choices import ReleaseChoices
from voronym.result import Masked
from voronym.table.table import Table

AUTO = "tree"
"""The grouping that lost least on most tables that were compared."""


@dataclass(frozen=True)
class DifferentialOptions(Options):
    """Options of the method dp; ε and its scope belong to the model dp."""

    grouping: str = option(
        "auto",
        "the way to make groups that one person hardly changes: order, individual, tree; auto takes the tree",
        check=entry_of("insensitive grouping", "auto"),
    )
    bounds: Mapping[str, Any] | None = option(None, "public bounds by column", check=by_column)
    hierarchies: Mapping[str, Any] | None = option(
        None, "hierarchies, whose values are public", check=by_column
    )
    importance: Mapping[str, float] | None = option(
        None, "the weight of each column when groups are cut; public numbers", check=by_column
    )


@table_method(
    "dp",
    guarantee="ε-differential privacy of the published keys, or of all columns: model dp",
    cost="O(n d log n), and one draw for each group and column",
    reference="Soria-Comas, Domingo-Ferrer, Sánchez, Martínez, Enhancing data utility in differential "
    "privacy via microaggregation-based k-anonymity",
    options=DifferentialOptions,
    needs="dp",
)
def dp(table: Table, ctx: Context, options: DifferentialOptions) -> Masked:
    """Publish noisy centres of groups that one person hardly changes."""
    del table, ctx, options
    raise InputError(f"method 'dp' needs a model with its ε, such as {hint('models', 'dp=1.0')}")


def private_of(choices: ReleaseChoices) -> DifferentialPrivacy | None:
    """Return the requested differential privacy; None without it."""
    return private_among(map(parse_model, choices.models))


def unit_of(table: Table) -> str:
    """Return the protected unit, in the singular."""
    if table.units is None:
        return "row"
    return "household" if table.units.household is not None else "person"


def rows_of(table: Table, model: DifferentialPrivacy) -> int:
    """Return the most rows of a unit; refuse units with more than are allowed."""
    unit = unit_of(table)
    if table.units is None:
        return model.rows or 1
    if model.rows is None:
        raise InputError(
            f"dp: a {unit} may have several rows, and the noise depends on their number: state the largest "
            f"number of rows of a {unit}, such as {model},rows=5"
        )
    refuse_over(units_over(table, model.rows), unit, model.rows)
    return model.rows


def units_over(table: Table, rows: int) -> int:
    """Return the number of units with more rows than allowed."""
    assert table.units is not None  # noqa: S101 - for the type checker
    codes = table.units.household if unit_of(table) == "household" else table.units.person
    return int((np.bincount(np.asarray(codes)) > rows).sum())


def refuse_over(over: int, unit: str, rows: int) -> None:
    """Refuse units with more rows than are allowed."""
    if over:
        units = "people" if unit == "person" else "households"
        raise InputError(
            f"dp: {over:,} {units if over > 1 else unit} have more than {rows} rows, the most that is "
            "allowed: allow more, or leave out some of their rows by a rule that does not look at others"
        )


def cost_of(table: Table, model: DifferentialPrivacy) -> dict[str, float]:
    """Return the cost of a release for each unit, before it is made."""
    rows = rows_of(table, model)
    budget = Budget(float(model.epsilon or 0.0), model.delta, rows)
    return {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho, "rows": rows}


def private_columns(table: Table, model: DifferentialPrivacy) -> list[str]:
    """Return the columns that get noise."""
    kept = [name for name in table.columns if table.schema[name].role != "identifier"]
    return [name for name in kept if model.scope == "all" or name in table.keys]


def mask_private(
    table: Table,
    ctx: Context,
    *,
    model: DifferentialPrivacy,
    options: DifferentialOptions,
    k: int | None,
    medians: Sequence[str] = (),
) -> Masked:
    """Mask a table by differential privacy.

    Parameters
    ----------
    table : Table
        The records.
    ctx : Context
        Hears how far the work is. Its generator decides nothing that is published: noise is OpenDP's.
    model : DifferentialPrivacy
        The promise.
    options : DifferentialOptions
        The grouping, the bounds and the hierarchies.
    k : int, optional
        The size of groups; by default it follows from the number of rows and columns, and ε.
    medians : sequence of str
        Columns that publish medians of groups; categories cannot.
    """
    library()
    bounds = public_bounds(table, model, options)
    rows = rows_of(table, model)
    records, outside = encode(table, bounds)
    weights, places = column_weights(bounds, options), median_places(bounds, options, medians)
    records = replace(records, weights=weights, medians=places)
    ctx.tell(0.3, whole=True)
    cells, size, stayed = cells_of(records, model, budget_of(model, rows), grouping_of(options), k)
    ctx.tell(0.8, whole=True)
    assert not isinstance(cells.of, Question)  # noqa: S101 - records are here
    of = meet(cells.of, cells.counts, np.random.default_rng())
    beside = None
    if stayed is not None:
        fills = np.flatnonzero(stayed < 0)
        beside = stayed.copy()
        beside[fills] = np.resize(first_rows(table), len(fills))
    frame = published(table if beside is None else table.rows(beside), bounds, cells, of)
    facts = public_figures(
        model,
        bounds,
        grouping_of(options),
        size,
        cells,
        unit=unit_of(table),
        rows=rows,
        records=table.n,
        columns=table.columns,
    )
    texts = sentences(facts, model, bounds, outside, len(frame.columns))
    return Masked(
        frame,
        PrivateFigures(facts),
        texts["notes"],
        texts["log"],
        public_notes=texts["public_notes"],
        rows=beside,
    )


def grouping_of(options: DifferentialOptions) -> str:
    """Return the name of the grouping."""
    return AUTO if options.grouping == "auto" else options.grouping


def budget_of(model: DifferentialPrivacy, rows: int) -> Budget:
    """Return the budget of a release, by the most rows that a unit may have."""
    epsilon = model.epsilon
    assert epsilon is not None  # noqa: S101 - a recipe refuses to be without
    return Budget(epsilon, model.delta, rows)


def median_places(
    bounds: list[Bounds], options: DifferentialOptions, medians: Sequence[str]
) -> tuple[int, ...]:
    """Return the indices of columns with medians among the ordered ones; refuse groupings without medians."""
    lines = [bound.name for bound in bounds if isinstance(bound, Range)]
    places = tuple(lines.index(name) for name in medians if name in lines)
    if places and grouping_of(options) != "tree":
        raise InputError(
            f"grouping {grouping_of(options)!r} publishes means, and no medians: leave out the medians, or "
            f"{hint('grouping')}"
        )
    return places


def cells_of(
    records: Population, model: DifferentialPrivacy, budget: Budget, grouping: str, k: int | None
) -> tuple[Cells, int, Ints | None]:
    """Return the cells of a release, the approximate group size, and the record behind each row.

    The last is None if all records are published, one row each; -1 marks a row without a record.
    """
    shown = shown_records(records, model, budget)
    cells, size = cells_in(shown, grouping, k)
    return cells, size, shown.stayed


@dataclass(frozen=True)
class Shown:
    """The records of a release, and the budget left for them.

    Parameters
    ----------
    records : Population
        All records, or a noisy number of them.
    budget : Budget
        The remaining budget.
    stayed : array of int, optional
        The record behind each row, -1 for nobody; None if all records are published, or are
        elsewhere.
    spent : mapping
        The cost of the count.
    """

    records: Population
    budget: Budget
    stayed: Ints | None = None
    spent: Mapping[str, float] | None = None


def shown_records(records: Population, model: DifferentialPrivacy, budget: Budget) -> Shown:
    """Return all records, or a noisy number of them if the number is private."""
    if not model.hides_presence:
        return Shown(records, budget)
    many, share = counted(records.n, budget)
    sized, stayed = resized(records, many)
    return Shown(sized, budget.after(share), stayed, {"number of rows": share})


def cells_in(shown: Shown, grouping: str, k: int | None) -> tuple[Cells, int]:
    """Return the cells of records, and the approximate size of groups."""
    chosen, records, rows = GROUPINGS[grouping], shown.records, shown.budget.rows
    # k counts units, and a group of k times the most rows of a unit has k of them; a row that stands for
    # rows without a unit are not counted for another one
    most = rows + (shown.spent is not None and rows > 1)
    width = records.d + records.e
    size = k * most if k is not None else chosen.size(records.n, width, shown.budget.epsilon / rows)
    cells = chosen.function(records, max(min(size, records.n), 1), shown.budget)
    return replace(cells, spent={**(shown.spent or {}), **cells.spent}), size


def column_weights(bounds: list[Bounds], options: DifferentialOptions) -> tuple[float, ...]:
    """Return the weights of columns in the order of records: ordered columns, then categories."""
    given = options.importance
    if not given:
        return ()
    ordered = [bound.name for bound in bounds if isinstance(bound, Range)]
    nominal = [bound.name for bound in bounds if isinstance(bound, Domain)]
    weights = tuple(float(given.get(name, 1.0)) for name in (*ordered, *nominal))
    if not any(weights):
        raise InputError("importance must be above 0 for one column at least")
    return weights


def first_rows(table: Table) -> Ints:
    """Return a row of each unit."""
    if table.units is None:
        return np.arange(table.n)
    codes = table.units.household if unit_of(table) == "household" else table.units.person
    return np.unique(np.asarray(codes), return_index=True)[1].astype(np.int64)


def public_bounds(table: Table, model: DifferentialPrivacy, options: DifferentialOptions) -> list[Bounds]:
    """Return the public bounds of all columns that get noise."""
    trees = {name: tuple(Hierarchy.of(tree).paths) for name, tree in (options.hierarchies or {}).items()}
    return bounds_of(table, private_columns(table, model), options.bounds or {}, trees)


def encode(table: Table, bounds: list[Bounds]) -> tuple[BoundedRecords, list[int]]:
    """Return the records within public bounds, and the number of values outside them, by column."""
    made = [bound.encode(table) for bound in bounds]
    ordered = [values for item, (values, _) in zip(bounds, made, strict=True) if isinstance(item, Range)]
    nominal = [values for entry, (values, _) in zip(bounds, made, strict=True) if isinstance(entry, Domain)]
    sizes = tuple(len(element.values) for element in bounds if isinstance(element, Domain))
    return (
        BoundedRecords(
            np.stack(ordered, axis=1) if ordered else np.empty((table.n, 0)),
            np.stack(nominal, axis=1).astype(np.int64) if nominal else np.empty((table.n, 0), np.int64),
            sizes,
        ),
        [outside for _, outside in made],
    )


def published(
    table: Table, bounds: list[Bounds], cells: Cells, of: np.ndarray[Any, np.dtype[np.int64]]
) -> nw.DataFrame[Any]:
    """Return the table with the published values of its cells."""
    new: dict[str, nw.Series[Any]] = {}
    place = {Range: 0, Domain: 0}
    for bound in bounds:
        column = place[type(bound)]
        place[type(bound)] += 1
        if isinstance(bound, Range):
            shown = bound.decode(table, cells.ordered[:, column])
        else:
            shown = bound.decode(table, cells.nominal[:, column])
        new[bound.name] = nw.maybe_reset_index(shown[of.tolist()])
    names = [name for name in table.columns if name in table.schema]
    return nw.maybe_reset_index(table.frame.select(names).with_columns(**new))
