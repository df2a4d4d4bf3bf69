"""Releases by differential privacy: public bounds, an insensitive grouping, noise, and what it comes to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.context import Context
from voronym.core.options import Options, by_column, entry_of, option
from voronym.dp import GROUPINGS, Budget, Cells, Records, caught, meet, odds
from voronym.dp.cells import Ints
from voronym.dp.domain import Bounds, Domain, Range, bounds_of
from voronym.dp.noise import library
from voronym.dp.presence import counted, resized
from voronym.errors import InputError, hint
from voronym.method import table_method
from voronym.methods.figures import Private, PrivateFigures, PublicBounds
from voronym.privacy import DifferentialPrivacy, parse_model
from voronym.privacy.differential import REPLACE
from voronym.request.choices import ReleaseChoices
from voronym.result import Masked
from voronym.table.hierarchy import Hierarchy
from voronym.table.table import Table

AUTO = "tree"
"""The grouping that lost least on most tables that were compared."""
KEPT_ALONE = (
    "Only the keys by themselves are private. Other columns stand beside them as they were: whoever "
    "recognises a row by these learns in which group the person is. scope=all covers them, too."
)


@dataclass(frozen=True)
class DifferentialOptions(Options):
    """Options of the method dp; ε and what it covers are those of the model dp."""

    grouping: str = option(
        "auto",
        "how groups are made that one person hardly changes: order, individual, tree; auto takes the tree",
        check=entry_of("insensitive grouping", "auto"),
    )
    bounds: Mapping[str, Any] | None = option(None, "public bounds by column", check=by_column)
    hierarchies: Mapping[str, Any] | None = option(
        None, "hierarchies, whose values are public", check=by_column
    )
    importance: Mapping[str, float] | None = option(
        None, "how much columns count where groups are cut; public numbers", check=by_column
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
    raise InputError(
        f"method 'dp' needs the model that says how much is promised, such as {hint('models', 'dp=1.0')}"
    )


def private_of(choices: ReleaseChoices) -> DifferentialPrivacy | None:
    """Return the promise of differential privacy, where one is asked for."""
    named = (parse_model(text) for text in choices.models)
    return next((model for model in named if isinstance(model, DifferentialPrivacy)), None)


def unit_of(table: Table) -> str:
    """Return what is protected, in the singular."""
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
            f"dp: a {unit} may have several rows, and the noise depends on how many: say the most that any "
            f"{unit} may have, such as {model},rows=5"
        )
    codes = table.units.household if unit == "household" else table.units.person
    many = np.bincount(np.asarray(codes))
    over = int((many > model.rows).sum())
    if over:
        units = "people" if unit == "person" else "households"
        raise InputError(
            f"dp: {over:,} {units if over > 1 else unit} have more than {model.rows} rows, the most that is "
            "allowed: allow more, or leave out some of their rows by a rule that does not look at others"
        )
    return model.rows


def cost_of(table: Table, model: DifferentialPrivacy) -> dict[str, float]:
    """Return what a release would cost each unit, before it is made."""
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
        What is promised.
    options : DifferentialOptions
        The grouping, the bounds and the hierarchies.
    k : int, optional
        The size of groups; by default what suits the number of rows and columns, and ε.
    medians : sequence of str
        Columns of which groups publish medians; categories have none.
    """
    library()
    bounds = public_bounds(table, model, options)
    rows = rows_of(table, model)
    epsilon = model.epsilon
    assert epsilon is not None  # noqa: S101 - a recipe refuses to be without
    budget = Budget(epsilon, model.delta, rows)
    records, outside = encode(table, bounds)
    lines = [bound.name for bound in bounds if isinstance(bound, Range)]
    places = tuple(lines.index(name) for name in medians if name in lines)
    records = replace(records, weights=column_weights(bounds, options), medians=places)
    ctx.tell(0.3, whole=True)
    grouping = AUTO if options.grouping == "auto" else options.grouping
    if places and grouping != "tree":
        raise InputError(
            f"grouping {grouping!r} publishes means, and no medians: leave out the medians, or "
            f"{hint('grouping')}"
        )
    cells, size, stayed = cells_of(records, model, budget, grouping, k)
    ctx.tell(0.8, whole=True)
    rng = np.random.default_rng()
    of = meet(cells.of, cells.counts, rng)
    beside = None
    if stayed is not None:
        fills = np.flatnonzero(stayed < 0)
        beside = stayed.copy()
        beside[fills] = np.resize(_first_rows(table), len(fills))
    frame = _published(table if beside is None else table.rows(beside), bounds, cells, of)
    facts = told(table, model, bounds, grouping, size, cells, rows)
    notes = tuple(
        f"{many:,} values of {item.name!r} were outside its bounds and count as the nearer bound"
        for item, many in zip(bounds, outside, strict=True)
        if many
    )
    public = (KEPT_ALONE,) if model.scope == "keys" and len(bounds) < len(frame.columns) else ()
    figures, log = PrivateFigures(facts), _log(facts)
    return Masked(frame, figures, (*notes, *public), log, public_notes=public, rows=beside)


def cells_of(
    records: Records, model: DifferentialPrivacy, budget: Budget, grouping: str, k: int | None
) -> tuple[Cells, int, Ints | None]:
    """Return the cells of a release, the size that groups have about, and the record behind each row.

    The last is None where all records are published, one row for each; -1 is a row that stands for nobody.
    """
    chosen, stayed, spent = GROUPINGS[grouping], None, {}
    rows = budget.rows
    if model.hides_presence:
        many, share = counted(records.n, budget)
        records, stayed = resized(records, many)
        spent["number of rows"] = share
        budget = budget.after(share)
    # k counts units, and a group of k times the most rows of a unit has k of them; a row that stands for
    # nobody is counted as one of somebody's
    most = rows + (stayed is not None and rows > 1)
    width = records.d + records.e
    size = k * most if k is not None else chosen.size(records.n, width, budget.epsilon / rows)
    cells = chosen.function(records, max(min(size, records.n), 1), budget)
    return replace(cells, spent=spent | cells.spent), size, stayed


def public_width(bounds: Sequence[Any]) -> float:
    """Return the width of published ranges where none is given: a round number, about a tenth of the bounds.

    Examples
    --------
    >>> public_width((0, 120)), public_width((0.0, 3.0))
    (10, 0.2)
    """
    rough = (float(bounds[1]) - float(bounds[0])) / 10.0
    power = 10.0 ** math.floor(math.log10(rough))
    width = max(step for step in (1.0, 2.0, 5.0) if step * power <= rough * (1.0 + 1e-9)) * power
    return int(width) if width >= 1.0 else width


def column_weights(bounds: list[Bounds], options: DifferentialOptions) -> tuple[float, ...]:
    """Return how much columns count, in the order of records: ordered ones, then categories."""
    given = options.importance
    if not given:
        return ()
    ordered = [bound.name for bound in bounds if isinstance(bound, Range)]
    nominal = [bound.name for bound in bounds if isinstance(bound, Domain)]
    weights = tuple(float(given.get(name, 1.0)) for name in (*ordered, *nominal))
    if not any(weights):
        raise InputError("importance must be above 0 for one column at least")
    return weights


def _first_rows(table: Table) -> Ints:
    """Return a row of each unit."""
    if table.units is None:
        return np.arange(table.n)
    codes = table.units.household if unit_of(table) == "household" else table.units.person
    return np.unique(np.asarray(codes), return_index=True)[1].astype(np.int64)


def public_bounds(table: Table, model: DifferentialPrivacy, options: DifferentialOptions) -> list[Bounds]:
    """Return the public bounds of all columns that get noise."""
    trees = {name: tuple(Hierarchy.of(tree).paths) for name, tree in (options.hierarchies or {}).items()}
    return bounds_of(table, private_columns(table, model), options.bounds or {}, trees)


def encode(table: Table, bounds: list[Bounds]) -> tuple[Records, list[int]]:
    """Return the records in their public bounds, and how many values of each column were outside."""
    made = [bound.encode(table) for bound in bounds]
    ordered = [values for item, (values, _) in zip(bounds, made, strict=True) if isinstance(item, Range)]
    nominal = [values for entry, (values, _) in zip(bounds, made, strict=True) if isinstance(entry, Domain)]
    sizes = tuple(len(element.values) for element in bounds if isinstance(element, Domain))
    return (
        Records(
            np.stack(ordered, axis=1) if ordered else np.empty((table.n, 0)),
            np.stack(nominal, axis=1).astype(np.int64) if nominal else np.empty((table.n, 0), np.int64),
            sizes,
        ),
        [outside for _, outside in made],
    )


def _published(
    table: Table, bounds: list[Bounds], cells: Cells, of: np.ndarray[Any, np.dtype[np.int64]]
) -> nw.DataFrame[Any]:
    """Return the table with what its cells publish."""
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


def told(
    table: Table,
    model: DifferentialPrivacy,
    bounds: list[Bounds],
    grouping: str,
    size: int,
    cells: Cells,
    rows: int,
) -> Private:
    """Return what everybody may know about such a release: nothing here depends on the data but its noise."""
    epsilon, delta, unit = float(model.epsilon or 0.0), model.delta, unit_of(table)
    kept = [name for name in table.columns if name not in {item.name for item in bounds}]
    budget = Budget(epsilon, delta, rows)
    return Private(
        epsilon=epsilon,
        delta=delta,
        rho=budget.rho,
        scope=model.scope,
        relation=model.neighbours,
        unit=unit,
        rows=rows,
        grouping=grouping,
        sensitivity=GROUPINGS[grouping].sensitivity,
        size=size,
        noise="discrete Laplace" if budget.pure else "discrete Gaussian",
        choice="permute-and-flip" if budget.pure else "the exponential mechanism",
        spent={name: share * (rows if budget.pure else rows**2) for name, share in cells.spent.items()},
        cells={name: value for name, value in cells.facts.items() if isinstance(value, (int, list))},
        bounds=tuple(PublicBounds(bound.name, bound.says, bound.origin) for bound in bounds),
        odds=odds(epsilon),
        caught=caught(epsilon, delta),
        not_private=tuple(_not_private(table, model, unit, kept)),
    )


def in_strata(made: Sequence[Private], strata: Sequence[str]) -> Private:
    """Return the facts of a release whose strata were masked one by one.

    A record is in one stratum, which is public and stays; so what is spent in each is spent once. Of a unit
    with rows in several, each stratum costs the share that its rows are of all that are allowed.
    """
    cells = [facts.cells for facts in made]
    return replace(
        made[0],
        cells={name: sum(cell[name] for cell in cells) for name, value in cells[0].items()
               if isinstance(value, int) and all(name in cell for cell in cells)},
        size=min(facts.size for facts in made),
        not_private=(
            f"{', '.join(strata)}: the stratum of every row, and the number of rows of each stratum",
            *(line for line in made[0].not_private if not line.startswith("the number of rows")),
        ),
    )  # fmt: skip


def _not_private(table: Table, model: DifferentialPrivacy, unit: str, kept: list[str]) -> list[str]:
    """Return what the promise does not cover."""
    out = ["the names, kinds and order of the columns, and their declared bounds"]
    if model.hides_presence:
        if unit != "row":
            out.append(f"that no {unit} has more than {model.rows} rows")
    elif unit == "row":
        out.append(f"the number of rows, {table.n:,}, and so that somebody is in the table at all")
    else:
        out.append(f"the number of rows, {table.n:,}, and how many of them each {unit} has")
    if kept:
        out.append(
            f"{', '.join(kept)}: published as they were, row by row, beside the keys; who recognises a row "
            "by them learns which published keys are that person's"
        )
    out.append("that a release was made, when, and by which choices")
    return out


def _log(facts: Private) -> tuple[str, ...]:
    promise = f"ε = {facts.epsilon:g}" + (f", δ = {facts.delta:g}" if facts.delta else "")
    what = "the keys" if facts.scope == "keys" else "all columns"
    spent = ", ".join(f"{name} {share:.3g}" for name, share in facts.spent.items())
    values = "its values" if facts.unit == "row" else "the values of its rows"
    between = (
        f"by replacing {values}"
        if facts.relation == REPLACE
        else f"by adding or removing it, or by replacing {values}"
    )
    return (
        f"Differential privacy of {what} for each {facts.unit}: {promise}, neighbours {between}.",
        *(() if facts.relation == REPLACE else ("The number of published rows is a noisy count.",)),
        f"Groups of about {facts.size:,} by '{facts.grouping}', {facts.cells.get('groups', 0):,} in "
        f"all; {facts.noise} noise by OpenDP.",
        f"The {'ε' if not facts.delta else 'ρ'} went to: {spent}.",
    )
