"""From groups to a masked table: make groups, make them obey the models, publish their centres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.certify import Bound
from voronym.core.context import Context
from voronym.core.options import Options
from voronym.errors import InputError
from voronym.generalize.publish import published_ranges
from voronym.keyspaces import DEFAULT_SPACE, Coordinates, Published
from voronym.method import METHODS, Method
from voronym.methods.auto import solve
from voronym.methods.crowd import Crowd
from voronym.methods.demands import demands_of, enforcement, obey
from voronym.methods.gather import gather
from voronym.methods.households import group_households
from voronym.methods.objective import published_points
from voronym.methods.sentences import against, unit_sentences, within
from voronym.methods.settled import equal_groups, groups_of, pure_groups, said_of
from voronym.methods.strata import check_strata, divide_strata
from voronym.methods.weights import publish_weights
from voronym.partition import Partition
from voronym.partitioners.front import one_group_note
from voronym.privacy import Judge, Model
from voronym.problem import Problem
from voronym.request.choices import ReleaseChoices
from voronym.result import Cost, Grouped, Stratum
from voronym.space.published import PublishedPoints
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.values import first_rows

PUBLISHED_BY = ("auto", "pairs")
"""Methods that minimise the loss as published; all others minimise the loss of means."""


@dataclass(frozen=True)
class Kept:
    """Given groups, and the published values that living groups repeat.

    Parameters
    ----------
    numbers : array of int, shape (n,)
        The group of each record.
    publish : callable, optional
        ``(frame, numbers) -> frame``: replaces the new published values of groups, one row each, by earlier
        ones.
    sentence : str
        A sentence about the work.
    frame : narwhals DataFrame, optional
        For methods that decide on published values: the keys of each row, for new groups.
    schema : Schema, optional
        The schema of the published table, if the method changes kinds.
    """

    numbers: NDArray[np.int64]
    publish: Callable[[nw.DataFrame[Any], NDArray[np.int64]], nw.DataFrame[Any]] | None
    sentence: str
    frame: nw.DataFrame[Any] | None = None
    schema: Schema | None = None


def mask_by_groups(
    table: Table,
    ctx: Context,
    *,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
    kept: Kept | None = None,
) -> Grouped:
    """Divide the records into groups that obey every model, and publish the centre of each.

    Parameters
    ----------
    table, ctx, choices, options, k, models, kept
        As for `voronym.methods.mask.mask`.
    """
    chosen, strata, way = METHODS[choices.method], choices.strata, enforcement(choices)
    if strata:
        check_strata(table, strata)
    demands = [] if strata else demands_of(table, models)
    crowd = Crowd.of(table, ctx, choices).at(k)
    crowd.check(k)
    problem = Problem(crowd.keys.records, k)
    shown = shown_by(chosen.name, crowd, choices, k) if kept is None else None
    notes = list(crowd.notes)
    if (single := one_group_note(problem.n, k)) is not None:
        notes.append(str(single))
    notes += _weightless(choices, chosen)
    obeyed = bool(demands)
    parts: tuple[Stratum, ...] = ()
    together = table.schema.pseudonyms and table.schema.household is not None
    grouping, obeying = ctx.part(0.05, 0.75, stage=crowd.stage), ctx.part(0.75, 0.95)
    bound, bare = None, None
    equal = crowd.table.classes.labels
    if strata and kept is None:
        if together:
            raise InputError("strata do not go with pseudonyms of households: leave out one of the two")
        obeyed = any(model.required is not None and model.merging for model in models)
        part, costs, parts = _within_strata(
            table, crowd, problem, shown, choices, options, models, equal, ctx
        )
    elif together:
        part, costs, bare = _together(crowd, problem, choices, options, demands, grouping)
    else:
        demands = [*crowd.demands(k), *demands]
        if kept is None:
            plainly = choices.space == DEFAULT_SPACE and choices.weights is None
            loss = crowd.published_loss if plainly else None
            goal = searched(problem, shown)
            part, bound = _groups(goal, chosen, options, grouping, demands, equal, way, loss)
        else:
            part = Partition(kept.numbers, k=k)
        part, costs = obey(problem, part, demands, way, obeying, crowd.loss)
    published = _published(crowd, part, kept, choices, k)
    rows = crowd.spread(part)
    plain = table.units is None
    frozen = kept is not None and kept.publish is not None  # then earlier keys stand for the originals
    as_is = pure_groups(part, equal)[part.labels] if plain and kept is None else None
    gathered = gather(table, published, rows, bare, as_is)
    frame, mean, weighed, result = publish_weights(table, gathered, choices, k)
    return Grouped(
        frame,
        figures=replace(published.figures, mean_weights=mean),
        notes=(*notes, *result),
        public_notes=tuple(notes),
        log=(
            *(() if kept is not None else said_of(part, equal, k, "records" if plain else "people")),
            *published.log,
            *weighed,
            *within(strata, parts),
            *unit_sentences(table, bare),
            *against(way, part, obeyed),
        ),
        # No bound is of people, or of keys that were published before.
        records=(crowd.keys.records if shown is None else shown) if plain and not frozen else None,
        partition=rows,
        centroids=published.centroids,
        group_loss=None if frozen else costs[-1].loss,
        bound=bound,
        costs=costs,
        published_as=published.published_as,
        schema=published.schema,
        strata=parts,
    )


def _lost(crowd: Crowd, choices: ReleaseChoices, k: int, part: Partition) -> float:
    """Return the loss of the rows in these groups as published, in percent of their variance."""
    return crowd.published_loss(part, _published(crowd, part, None, choices, k))


def _published(
    crowd: Crowd, part: Partition, kept: Kept | None, choices: ReleaseChoices, k: int
) -> Published:
    """Return the published values of the groups; living groups repeat their earlier values."""
    published = crowd.keys.publish(part)
    if published.schema is None:  # else the space publishes ranges itself
        published = published_ranges(crowd.table, crowd.keys, part, published, choices, k)
    elif centred := [name for name, way in (choices.publish or {}).items() if way in ("mean", "median")]:
        published = _centred(crowd, part, published, choices, centred, k)
    if kept is None or kept.publish is None:
        return published
    numbers = kept.numbers[first_rows(part.labels, part.n_cells)]
    frame = kept.publish(published.frame, numbers)
    return replace(published, frame=frame, log=(*published.log, kept.sentence))


def _centred(
    crowd: Crowd, part: Partition, published: Published, choices: ReleaseChoices, names: list[str], k: int
) -> Published:
    """Replace the ranges of some keys by the means or medians of groups."""
    table = crowd.table if crowd.rows is None else crowd.rows
    keys, rows = Coordinates.of(table), crowd.spread(part)
    alone = replace(choices, publish={name: choices.way(name) for name in names}, widths=None)
    own = published_ranges(table, keys, rows, keys.publish(rows), replace(alone, hierarchies=None), k)
    assert published.schema is not None  # noqa: S101 - of ranges
    columns = tuple(
        table.schema[column.name] if column.name in names else column for column in published.schema.columns
    )
    return replace(
        published,
        frame=published.frame.with_columns(**{name: own.frame[name] for name in names}),
        schema=replace(published.schema, columns=columns),
        published_as={
            **{name: way for name, way in published.published_as.items() if name not in names},
            **{name: way for name, way in own.published_as.items() if name in names},
        },
    )


def _groups(
    problem: Problem,
    method: Method,
    options: Options,
    ctx: Context,
    demands: Sequence[tuple[str, tuple[Judge, ...]]] = (),
    equal: NDArray[np.int64] | None = None,
    way: str = "",
    loss: Callable[[Partition], float] | None = None,
) -> tuple[Partition, Bound | None]:
    """Divide the records, and report the proven bound on the loss.

    ``equal``: classes of records with equal keys. Classes of at least k stay unchanged if that loses
    less. With models, they stay only if all classes obey them; against an intruder who knows the method
    they never do, because this choice would reveal something about confidential values.
    """
    (problem if method.weighted else problem.unweighted()).check_method(method)
    if demands and equal is not None and way != "blind":
        judges = [judge for _, own in demands for judge in own]
        if (settled := equal_groups(equal, problem.k, judges)) is not None:
            return settled, None
    ctx = ctx if method.timed else ctx.untimed()
    here = ctx.part(0.0, 1.0, time=0.5 if demands else None)  # models are enforced in the rest of the time

    if (
        demands and way != "blind" and problem.records.weights is None
    ):  # a method may look at them, such as pcl with diverse
        problem = Problem(problem.records, problem.k, [judge for _, own in demands for judge in own])

    def divide(some: Problem, part: Context) -> tuple[Partition, Bound | None]:
        if not method.weighted:  # it groups records that count alike; their centres are weighted all the same
            some = some.unweighted()
        if method.name == "auto":  # the same work, with its proof
            return solve(some, part)
        return method.partition(some, part, options), None

    if demands or equal is None:
        return divide(problem, here)
    return groups_of(problem, equal, here, divide, problem.cost if loss is None else loss)


def shown_by(method: str, crowd: Crowd, choices: ReleaseChoices, k: int) -> PublishedPoints | None:
    """Return the keys with the cost of their published values, if a method minimises it."""
    shown = published_points(crowd.table, crowd.keys, choices) if method in PUBLISHED_BY else None
    if shown is not None and not choices.importance:
        shown.truth = partial(_lost, crowd, choices, k)
    return shown


def searched(problem: Problem, shown: PublishedPoints | None) -> Problem:
    """Return the problem that a search minimises: the published values, if they are not means."""
    return problem if shown is None else Problem(shown, problem.k)


def group(problem: Problem, method: Method, options: Options, ctx: Context) -> Partition:
    """Divide records into groups of at least k; a single group below 2k records."""
    if problem.n < 2 * problem.k:
        return problem.one_group()
    half = ctx.part(0.0, 1.0, time=0.5)  # models are enforced in the rest of the time
    return _groups(problem, method, options, half)[0]


def publish_groups(crowd: Crowd, part: Partition, choices: ReleaseChoices, k: int) -> Published:
    """Return the published values of groups."""
    return _published(crowd, part, None, choices, k)


def _within_strata(
    table: Table,
    crowd: Crowd,
    problem: Problem,
    shown: PublishedPoints | None,
    choices: ReleaseChoices,
    options: Options,
    models: Sequence[Model],
    equal: NDArray[np.int64],
    ctx: Context,
) -> tuple[Partition, tuple[Cost, ...], tuple[Stratum, ...]]:
    """Group each stratum separately; the models hold within each."""

    def divide(some: Problem, who: NDArray[np.int64], here: Context) -> tuple[Partition, tuple[Cost, ...]]:
        rows = crowd.rows_of(who)
        here_only = table.rows(rows).within(crowd.table.frame[[int(who[0])]].select(choices.strata).rows()[0])
        asked = [*crowd.only(who).demands(problem.k), *demands_of(here_only, models)]
        grouping = here.part(0.0, 0.7, stage=crowd.stage)
        own, way = np.unique(equal[who], return_inverse=True)[1].reshape(-1), enforcement(choices)
        goal = searched(some, None if shown is None else shown.subset(who))
        part, _ = _groups(goal, METHODS[choices.method], options, grouping, asked, own, way)
        return obey(some, part, asked, way, here.part(0.7, 1.0))

    return divide_strata(crowd.table, problem, choices.strata, ctx.part(0.05, 0.95), divide)


def _together(
    crowd: Crowd,
    problem: Problem,
    choices: ReleaseChoices,
    options: Options,
    demands: Sequence[tuple[str, tuple[Judge, ...]]],
    ctx: Context,
) -> tuple[Partition, tuple[Cost, ...], NDArray[np.int64]]:
    """Group households as units, and households of rare sizes member by member; return the latter, too."""
    if demands:
        named = ", ".join(name for name, _ in demands)
        raise InputError(
            f"{named} cannot be kept together with the pseudonyms of households, whose members stay in the "
            "groups of their household: leave out one of the two"
        )
    units = crowd.table.units
    assert units is not None  # noqa: S101 - for the type checker
    assert units.household is not None  # noqa: S101
    method = METHODS[choices.method]
    labels, rest = group_households(problem, units.household, method, options, ctx.part(0.0, 0.8, time=0.8))
    alone = np.flatnonzero(labels < 0)
    if len(alone):
        few = crowd.only(alone)
        some = problem.subset(alone)
        asked = few.demands(problem.k)
        part, _ = _groups(some, method, options, ctx.part(0.8, 0.9, time=0.5), asked)
        part, _ = obey(some, part, asked, choices.enforce, ctx.part(0.9, 1.0))
        labels[alone] = labels.max() + 1 + part.labels
    part = Partition(labels, k=problem.k)
    return part, (Cost(f"k-anonymity={problem.k} of households", crowd.loss(part)),), rest


def _weightless(choices: ReleaseChoices, method: Method) -> list[str]:
    """Warn if groups are made as if all records had equal weights."""
    if choices.weights is None:
        return []
    if choices.space != DEFAULT_SPACE:
        return [f"in the space {choices.space!r} all records count alike; the weights are only published"]
    if not method.weighted:
        return [f"method {method.name!r} groups records as if all counted alike; centres are weighted means"]
    return []
