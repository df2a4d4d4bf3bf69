"""The public facts about a private release: figures, sentences, and the limits of the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voronym.dp import GROUPINGS, Budget, Cells, caught, odds
from voronym.dp.domain import Bounds
from voronym.methods.figures import Private, PublicBounds
from voronym.privacy import DifferentialPrivacy
from voronym.privacy.differential import REPLACE

KEPT_ALONE = (
    "Only the keys are private. Other columns are published unchanged next to them: anybody who recognises "
    "a row by these learns the person's group. scope=all covers them, too."
)


def sentences(
    facts: Private,
    model: DifferentialPrivacy,
    bounds: list[Bounds],
    outside: Sequence[int],
    columns: int,
) -> dict[str, tuple[str, ...]]:
    """Return the sentences about a private release: notes, public notes, and the log."""
    notes = tuple(
        f"{many:,} values of {item.name!r} were outside its bounds and count as the nearer bound"
        for item, many in zip(bounds, outside, strict=True)
        if many
    )
    public = (KEPT_ALONE,) if model.scope == "keys" and len(bounds) < columns else ()
    return {"notes": (*notes, *public), "log": _log(facts), "public_notes": public}


def public_figures(
    model: DifferentialPrivacy,
    bounds: list[Bounds],
    grouping: str,
    size: int,
    cells: Cells,
    *,
    unit: str,
    rows: int,
    records: int,
    columns: Sequence[str],
) -> Private:
    """Return the public facts about a private release; they depend on the data only through its noise.

    ``rows``: the largest number of rows of a unit. ``records`` and ``columns``: those of the table.
    """
    epsilon, delta = float(model.epsilon or 0.0), model.delta
    kept = [name for name in columns if name not in {item.name for item in bounds}]
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
        not_private=tuple(_not_private(records, model, unit, kept)),
    )


def in_strata(made: Sequence[Private], strata: Sequence[str]) -> Private:
    """Return the facts of a release whose strata were masked one by one.

    The stratum of a record is public and fixed, so the budget of each stratum is spent once. If a unit
    has rows in several strata, each stratum costs its share of the allowed rows.
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


def _not_private(records: int, model: DifferentialPrivacy, unit: str, kept: list[str]) -> list[str]:
    """Return the facts that the promise does not cover."""
    out = [
        "the names, kinds and order of the columns, their types (whole numbers, or decimals and their "
        "sign), and their declared bounds"
    ]
    if model.hides_presence:
        if unit != "row":
            out.append(f"that no {unit} has more than {model.rows} rows")
    elif unit == "row":
        out.append(f"the number of rows, {records:,}, and so that somebody is in the table at all")
    else:
        out.append(f"the number of rows, {records:,}, and how many of them each {unit} has")
    if kept:
        out.append(
            f"{', '.join(kept)}: published unchanged, row by row, next to the keys; anybody who recognises "
            "a row by them learns that person's published keys"
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
