"""Mask a table by a method of any kind.

Methods that make groups go through `voronym.methods.grouped`. Methods that publish values of the table, or
perturb it record by record, do not know strata, people, or intruders who know the method. This module handles
these for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import GuaranteeError, InputError, hint
from voronym.generalize.publish import published_ranges, ranged_schema
from voronym.generalize.rows import in_widths, joined_schema
from voronym.keyspaces import Coordinates
from voronym.method import METHODS
from voronym.methods.demands import demands_of, enforcement
from voronym.methods.differential import DifferentialOptions, mask_private, private_of, rows_of
from voronym.methods.figures import PrivateFigures
from voronym.methods.gather import with_pseudonyms
from voronym.methods.grouped import Kept, mask_by_groups
from voronym.methods.private_facts import in_strata
from voronym.methods.sentences import against, within
from voronym.methods.strata import check_strata, strata_of
from voronym.methods.weights import publish_weights
from voronym.partition import Partition
from voronym.privacy import Model
from voronym.privacy.enforce.blind import SURE, chance, grid
from voronym.privacy.enforce.rules import Requirements
from voronym.request.checks import EVERY
from voronym.request.choices import ReleaseChoices
from voronym.result import Grouped, Masked, Stratum
from voronym.table.table import Table
from voronym.table.units import first_of_each
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
BY_KEYS = (
    "No model looks at confidential values: the groups are made by keys alone, and an intruder who knows the "
    "method learns no more from them."
)


def mask(
    table: Table,
    ctx: Context,
    *,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
    kept: Kept | None = None,
) -> Masked:
    """Mask a table.

    Parameters
    ----------
    table : Table
        The records.
    ctx : Context
        Deadline, generator and progress of the whole work.
    choices : ReleaseChoices
        Choices of the recipe.
    options : Options
        Options of the method.
    k : int
        The smallest size of a group; 1 without a requirement.
    models : sequence of Model
        Models that the release must satisfy.
    kept : Kept, optional
        Groups that are given: then none are made.
    """
    masked = _mask(table, ctx, choices=choices, options=options, k=k, models=models, kept=kept)
    if choices.intruder == "method" and METHODS[choices.method].keeps_k and not demands_of(table, models):
        return replace(masked, log=(*masked.log, BY_KEYS))
    return masked


def _mask(
    table: Table,
    ctx: Context,
    *,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
    kept: Kept | None,
) -> Masked:
    method = METHODS[choices.method]
    # Some options are choices of the run, which the steps before changed.
    shared = {name: getattr(choices, name) for name in ("bounds", "hierarchies") if name in options.names()}
    options = replace(options, **shared) if shared else options
    given: dict[str, Any] = {"choices": choices, "options": options, "k": k, "models": models}
    if method.groups:
        return mask_by_groups(table, ctx, kept=kept, **given)
    if kept is not None:
        return _kept(table, kept)
    masked = _by_strata(table, ctx, **given) if choices.strata else _whole(table, ctx, **given)
    return in_widths(table, masked, choices) if method.makes == "table" else masked


def _whole(
    table: Table, ctx: Context, *, choices: ReleaseChoices, options: Options, k: int, models: Sequence[Model]
) -> Masked:
    """Mask a table, or a stratum, by a method that does not divide records into groups."""
    if isinstance(options, DifferentialOptions):
        return _private(table, ctx, choices, options, k)
    if METHODS[choices.method].makes == "table":
        return _perturbed(table, ctx, choices, options)
    if enforcement(choices) == "blind" and demands_of(table, models):
        return _blind(table, ctx, choices, options, k, models)
    return _released(table, ctx, choices, options, k, models)


def _private(
    table: Table, ctx: Context, choices: ReleaseChoices, options: DifferentialOptions, k: int
) -> Masked:
    """Mask a table, or a stratum, by differential privacy; weights are not covered by it."""
    model = private_of(choices)
    assert model is not None  # noqa: S101 - the method was refused without
    middle = [name for name in table.columns if choices.way(name) == "median"] if choices.publish else []
    masked = mask_private(table, ctx, model=model, options=options, k=k if k > 1 else None, medians=middle)
    if choices.weights is None or model.scope == "all":
        return masked
    frame, mean, log, notes = publish_weights(table, masked.frame, choices, max(k, 1))
    return replace(
        masked,
        frame=frame,
        figures=replace(masked.figures, mean_weights=mean),
        notes=(*masked.notes, *notes),
        log=(*masked.log, *log),
    )


def _kept(table: Table, kept: Kept) -> Grouped:
    """Publish kept groups with their earlier values, and new groups with the values of the method."""
    frame, publish = kept.frame, kept.publish
    assert frame is not None  # noqa: S101 - the method published something
    assert publish is not None  # noqa: S101 - groups are kept
    of_row = Partition(kept.numbers if table.persons is None else kept.numbers[table.persons])
    first = first_rows(of_row.labels, of_row.n_cells)
    numbers = kept.numbers if table.persons is None else kept.numbers[table.persons]
    shown = publish(frame[first.tolist()], numbers[first])
    keys = {name: nw.maybe_reset_index(shown[name][of_row.labels]) for name in table.keys}
    names = [name for name in table.columns if name in table.schema]
    ranged = [name for name, column in keys.items() if column.dtype != table.frame[name].dtype]
    schema = kept.schema or (ranged_schema(table.schema, ranged) if ranged else None)
    return Grouped(
        with_pseudonyms(table, table.frame.select(names).with_columns(**keys)),
        log=(kept.sentence,),
        partition=of_row,
        schema=schema,
    )


# -- methods that publish values of the table -------------------------------------------------------------


def _released(
    table: Table, ctx: Context, choices: ReleaseChoices, options: Options, k: int, models: Sequence[Model]
) -> Grouped:
    """Mask a table by a method that makes groups and decides on their published values."""
    function = METHODS[choices.method].function
    made: Grouped = function(table, ctx, options, choices=choices, k=k, models=models)
    made = _in_other_ways(table, made, choices, k)
    frame, mean, log, notes = publish_weights(table, made.frame, choices, k)
    frame = with_pseudonyms(table, frame)
    return replace(
        made,
        frame=frame,
        figures=replace(made.figures, mean_weights=mean),
        notes=(*made.notes, *notes),
        log=(*made.log, *log),
    )


def _in_other_ways(table: Table, made: Grouped, choices: ReleaseChoices, k: int) -> Grouped:
    """Return the published values of groups, with means, medians or ranges in keys that request them.

    In place of a gap of local suppression, a group can publish its range: all its records get the same
    one, so that at least k still look alike.
    """
    if choices.space == "ranges" and choices.method != "lattice":  # whose levels are ranges
        lines = [name for name in table.keys if table.schema[name].kind not in ("nominal", "text")]
        choices = replace(choices, publish={**dict.fromkeys(lines, "interval"), **(choices.publish or {})})
    given = {*(choices.publish or {}), *((choices.hierarchies or {}) if choices.method != "lattice" else {})}
    asked = [name for name in table.keys if {name, EVERY} & given]
    if not asked:
        return made
    part = made.partition
    assert part is not None  # noqa: S101 - these methods make groups
    keys = Coordinates.of(table)
    trees = {name: tree for name, tree in (choices.hierarchies or {}).items() if name in asked}
    published = published_ranges(
        table, keys, part, keys.publish(part), replace(choices, hierarchies=trees or None), k
    )
    new = {name: published.frame[name][part.labels] for name in asked}
    frame = made.frame.with_columns(**{name: nw.maybe_reset_index(column) for name, column in new.items()})
    ways = {name: published.published_as[name] for name in asked if name in published.published_as}
    return replace(
        made,
        frame=frame,
        published_as={**made.published_as, **ways},
        schema=joined_schema(made.schema, published, asked, table.schema),
    )


def _blind(
    table: Table, ctx: Context, choices: ReleaseChoices, options: Options, k: int, models: Sequence[Model]
) -> Grouped:
    """Make groups by keys alone, of a size chosen before confidential values are read.

    The size is the first of a grid at which nearly all tables with the same values in random order pass.
    If the table itself does not pass, nothing is released. So an intruder who knows the method learns
    only the counts in the groups.
    """
    judges = [judge for _, own in demands_of(table, models) for judge in own]
    asked = Requirements(judges)
    sizes = grid(k, table.n)
    for number, size in enumerate(sizes):
        here = ctx.part(number / len(sizes), (number + 1) / len(sizes))
        made = _released(table, here, choices, options, size, ())
        masked = table.like(made.frame).typed(made.schema)
        if chance(_of_people(masked.classes.labels, table), asked) < SURE:
            continue
        failing = [str(model) for model in models if not model.measure(masked).holds]
        if failing:
            break
        part = made.partition
        assert part is not None  # noqa: S101 - these methods make groups
        return replace(made, log=(*made.log, *against("blind", part, True)))
    raise GuaranteeError(
        f"groups of method {choices.method!r}, made by keys alone, do not keep "
        f"{', '.join(str(model) for model in models if model.required is not None)}, and no others may be "
        "made: an intruder who knows the method would learn why. Ask for a larger k or for less, or choose "
        f"{hint('intruder', 'keys')}"
    )


def _of_people(labels: NDArray[np.int64], table: Table) -> Partition:
    """Return the classes of rows as classes of people, if people have several rows."""
    if table.persons is None:
        return Partition(labels)
    of_person = np.zeros(int(table.persons.max()) + 1, np.int64)
    of_person[table.persons] = labels  # all rows of a person are published alike
    return Partition(of_person)


# -- methods that mask record by record -------------------------------------------------------------------


def _perturbed(table: Table, ctx: Context, choices: ReleaseChoices, options: Options) -> Masked:
    """Mask a table record by record; equal records of a person or household are masked alike."""
    method = METHODS[choices.method]
    if table.units is None:
        masked: Masked = method.run(table, ctx, options)
        if choices.weights is None:
            return masked
        frame, _, _, notes = publish_weights(table, masked.frame, replace(choices, publish_weights="own"), 1)
        return replace(masked, frame=frame, notes=(*masked.notes, *notes))
    unit = table.units.household if table.units.household is not None else table.units.person
    assert unit is not None  # noqa: S101 - one of the two is declared
    classes = table.classes
    first = first_of_each(unit, classes.labels)
    some = table.rows(first).like(table.rows(first).frame)
    alone = Table(some.frame, some.schema, some.labels, source=some.source)
    drawn: Masked = method.run(alone, ctx, options)
    changed = [name for name in table.columns if name not in table.keys and name in drawn.frame.columns
               and drawn.frame[name].to_list() != alone.frame[name].to_list()]  # fmt: skip
    if changed:
        raise InputError(
            f"method {method.name!r} would change {', '.join(map(repr, changed))}, which differs from row to "
            "row of a person: let it change keys alone, or leave out person and household"
        )
    pair = unit * np.int64(len(classes.sizes)) + classes.labels
    at = np.searchsorted(np.sort(pair[first]), pair)
    source = np.argsort(pair[first], kind="stable")[at]
    keys = {name: nw.maybe_reset_index(drawn.frame[name][source]) for name in table.keys}
    log = (
        f"{len(first):,} different records of {table.units.counted} were masked; equal records of the same "
        "one got the same values.",
        *drawn.log,
    )
    return Masked(
        with_pseudonyms(table, table.frame.with_columns(**keys)),
        drawn.figures,
        drawn.notes,
        log,
        public_notes=drawn.public_notes,
        schema=drawn.schema,
    )


# -- strata -----------------------------------------------------------------------------------------------


def _by_strata(
    table: Table, ctx: Context, *, choices: ReleaseChoices, options: Options, k: int, models: Sequence[Model]
) -> Masked:
    """Mask each stratum separately; the columns of the strata are published unchanged."""
    strata = choices.strata
    check_strata(table, strata)
    kinds = {column.name: column for column in table.schema.columns}
    bare = replace(
        table.schema,
        columns=tuple(
            replace(column, role="other") if column.name in strata else column
            for column in table.schema.columns
        ),
    )
    if not bare.keys:
        raise InputError("strata: every key is a stratum, and nothing is left to mask: leave out one of them")
    alone = replace(choices, strata=())
    private = private_of(choices)
    if private is not None:
        rows_of(table, private)  # the rows of a unit count in all strata together
    of, label = strata_of(
        table, strata, 1 if METHODS[choices.method].makes == "table" and private is None else k
    )
    made: list[Masked] = []
    parts: list[Stratum] = []
    order: list[Ints] = []
    labels = np.zeros(table.n, np.int64)
    groups = 0
    for number in range(int(of.max()) + 1):
        rows = np.flatnonzero(of == number)
        some = table.rows(rows)
        part_of = Table(some.frame, bare, some.labels, source=some.source, units=some.units)
        here = ctx.part(sum(map(len, order)) / table.n, (sum(map(len, order)) + len(rows)) / table.n)
        masked = _whole(part_of, here, choices=alone, options=options, k=k, models=models)
        made.append(masked)
        order.append(rows)
        if isinstance(masked, Grouped) and masked.partition is not None:
            labels[rows] = masked.partition.labels + groups
            groups += masked.partition.n_cells
            smallest = int(masked.partition.sizes.min())
            parts.append(
                Stratum(
                    label[number], len(rows), masked.partition.n_cells, smallest, masked.group_loss or 0.0
                )
            )
    place = np.argsort(np.concatenate(order), kind="stable")
    frame = nw.maybe_reset_index(nw.concat([masked.frame for masked in made])[place.tolist()])
    schema = made[0].schema
    if schema is not None:
        schema = replace(
            schema,
            columns=tuple(
                replace(column, role=kinds[column.name].role) if column.name in strata else column
                for column in schema.columns
            ),
        )
    shared: dict[str, Any] = {
        "notes": tuple(dict.fromkeys(note for masked in made for note in masked.notes)),
        "public_notes": tuple(dict.fromkeys(note for masked in made for note in masked.public_notes)),
        "log": (
            *(within(strata, parts) or (f"Each of {len(made)} strata was masked separately.",)),
            *(sentence for sentence in made[0].log if all(sentence in masked.log for masked in made)),
        ),
        "schema": schema,
    }
    if private is not None:
        kept = [facts for masked in made if (facts := masked.figures.of(PrivateFigures)) is not None]
        return Masked(frame, PrivateFigures(in_strata([facts.private for facts in kept], strata)), **shared)
    if not groups:
        return Masked(frame, **shared)
    return Grouped(
        frame,
        partition=Partition(labels),
        published_as={name: way for masked in made if isinstance(masked, Grouped)
                      for name, way in masked.published_as.items()},
        strata=tuple(parts),
        **shared,
    )  # fmt: skip
