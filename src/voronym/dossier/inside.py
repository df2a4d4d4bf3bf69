"""A release compared with its originals, for the data holder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.channel.figures import ChannelFigures
from voronym.core import numerics
from voronym.core.context import Context
from voronym.core.rate import Rate
from voronym.dossier import methods, places, planes, rows
from voronym.dossier.clusters import clusters_of
from voronym.dossier.other_k import OtherK, other_k
from voronym.dossier.parts import GroupMap, Inside, Loss, ShiftMap, Told
from voronym.dossier.population import in_population
from voronym.dossier.public import GROUPS, columns_of, distributions_of, fates_of, limits_wanted, story_of
from voronym.dossier.revealed import told_of
from voronym.errors import SchemaError
from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.disclosed import disclosed
from voronym.evaluate.encode import encode
from voronym.evaluate.matching import matcher
from voronym.evaluate.pair import Pair, make_pair
from voronym.evaluate.regression import regressions
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.utility import Utility, compare
from voronym.evaluate.weighted import weighted_changes
from voronym.keyspaces import weights_of
from voronym.methods.differential import DifferentialOptions
from voronym.methods.membership import membership
from voronym.partition import Partition
from voronym.release import Release
from voronym.release.evidence import Evidence
from voronym.table.classes import Classes
from voronym.table.schema import Schema
from voronym.table.table import Table

Floats = NDArray[np.float64]
SMALL = 400
"""Below this number of records, 1 % of half of them is less than one person."""


def inside_of(release: Release, evidence: Evidence, ctx: Context) -> Inside:
    """Compare a release with its originals."""
    schema, table = release.schema, release.unnamed
    ctx.tell(0.0, whole=True)
    Y = None if evidence.X is None or evidence.codec is None else evidence.codec.encode(table)
    points = (
        None if evidence.X is None or evidence.codec is None or Y is None else (evidence.X, Y, evidence.codec)
    )
    pair = make_pair(
        evidence.original, table.frame, release.recipe.schema, release.recipe.trees, conformed=True
    )
    moved = compare(
        pair,
        evidence.order,
        ctx.part(0.0, 0.3, stage="measuring"),
        points,
    )
    alike = release.recipe.private is None  # else rows of a person are published one by one
    attacked = _linkage(evidence, Y, pair, table.classes, ctx.part(0.3, 0.5, stage="attacking"), alike=alike)
    result = _revealed(release, evidence, table, Y, ctx.part(0.5, 0.7, stage="measuring"))
    return Inside(
        recipe=release.recipe.to_dict(),
        columns=columns_of(schema, {**_published_as(release, evidence), **fates_of(release)}, release.recipe),
        warnings=tuple(release.warnings),
        figures=release.figures,
        seconds=dict(evidence.seconds),
        risk=_before(evidence, schema),
        linkage=attacked,
        losses=_losses(evidence, moved),
        costs=release.costs,
        **_weighted(release, evidence, table),
        strata=() if evidence.grouped is None else evidence.grouped.strata,
        effects=release.effects,
        changes=release.changes,
        exposed=release.exposed,
        utility=moved,
        told=result,
        distributions=distributions_of(
            schema, table.frame, evidence.original, ctx.part(0.7, 0.8, stage="measuring")
        ),
        plane=_plane(evidence),
        clusters=clusters_of(release, evidence),
        disclosed=disclosed(table, evidence.table) if story_of(release.recipe) == GROUPS else (),
        penalty=release.penalty,
        other_k=_other_k(release, evidence, ctx.part(0.9, 1.0, stage="measuring")),
        unfolded=_unfolded(release, evidence, table, Y),
        samples=rows.samples(evidence.original, table, evidence.order),
        places=places.compared(table.frame, evidence.original, schema, evidence.order),
        population=in_population(release.recipe, evidence, table, ctx.part(0.8, 0.9, stage="measuring")),
        ledger=release.booking is not None,
        membership=_membership(release, evidence),
        checklist=release.checklist,
    )


def _membership(release: Release, evidence: Evidence) -> float | None:
    """Return how many members an attack finds, if the release is differentially private."""
    recipe = release.recipe
    if recipe.private is None or recipe.strata or evidence.table.n < SMALL:  # it is tried on whole tables
        return None
    options = recipe.method_options
    assert isinstance(options, DifferentialOptions)  # noqa: S101 - those of the method
    return membership(evidence.table, recipe.private, options, recipe.k)


def _before(evidence: Evidence, schema: Schema) -> Risk:
    """Count how exposed the original records are by the keys of the release."""
    table = evidence.table
    counted = table.classes if set(table.keys) == set(schema.keys) else None
    return risk(table.frame, schema.keys, units=table.units, classes=counted)


def _weighted(release: Release, evidence: Evidence, table: Table) -> dict[str, Any]:
    """Compare weighted figures and regressions, if the records have weights."""
    name = release.recipe.weights
    if name is None or name not in evidence.table.columns:
        return {}
    after = table.rows(np.argsort(evidence.order))
    both = weights_of(evidence.table, name), weights_of(after, name)
    if both[0] is None or both[1] is None:
        return {}
    rest = [column for column in evidence.table.columns if column != name]
    weights = (both[0], both[1])
    return {
        "weighted": weighted_changes(evidence.table.select(rest), after, weights),
        "regressions": regressions(evidence.table, after, weights, name),
    }


def _other_k(release: Release, evidence: Evidence, ctx: Context) -> OtherK | None:
    """Estimate the loss at other k, if groups are made from coordinates."""
    grouped, loss = evidence.grouped, release.information_loss
    if grouped is None or grouped.records is None or grouped.records.points is None or loss is None:
        return None
    return other_k(grouped.records, release.recipe.required_k, loss, ctx)


def _unfolded(release: Release, evidence: Evidence, table: Table, Y: Floats | None) -> rows.Unfolded | None:
    if story_of(release.recipe) != GROUPS or release.risk.k < 2:
        return None
    if Y is None or evidence.X is None:
        far = np.zeros(table.n)
    else:
        far = numerics.apart(Y, evidence.X, np.asarray(evidence.order))
    return rows.unfolded(evidence.original, table, evidence.order, far)


def _published_as(release: Release, evidence: Evidence) -> Mapping[str, str]:
    """Describe how each key was encoded and published."""
    if story_of(release.recipe) != GROUPS:
        return methods.published_as(
            release.recipe.method, release.figures, release.recipe.options or {}, release.schema
        )
    if evidence.published_as:
        return evidence.published_as
    codec = evidence.codec
    out: dict[str, str] = {}
    for block, sentence in [] if codec is None else zip(codec.blocks, codec.describe(), strict=True):
        out.update(dict.fromkeys(block.columns, sentence.removeprefix(f"{block.name}: ")))
    return out


def _linkage(
    evidence: Evidence, Y: Floats | None, pair: Pair, classes: Classes, ctx: Context, *, alike: bool
) -> Rate | None:
    """Link the original keys to the nearest released records, as their holder could.

    Records that publish ranges or codes with stars are linked where these hold the keys. ``alike`` says
    whether all rows of a person publish the same keys.
    """
    owner = np.empty(len(evidence.order), np.int64)
    owner[evidence.order] = np.arange(len(owner))
    if evidence.X is None or Y is None:
        if evidence.table.persons is not None or not pair.sets:
            return None
        try:
            before, after, codec, _ = encode(pair)
        except SchemaError:
            return None
        match = matcher(pair, (before, after, codec))
        return record_linkage(before, after, truth=owner, matcher=match, ctx=ctx).rate
    if evidence.table.persons is not None and alike:
        return _people_linkage(evidence.X, Y, evidence.table.persons, np.asarray(evidence.order), ctx)
    return record_linkage(evidence.X, Y, truth=owner, classes=classes, ctx=ctx).rate


def _people_linkage(
    X: Floats, Y: Floats, persons: NDArray[np.int64], order: NDArray[np.int64], ctx: Context
) -> Rate:
    """Link everybody, by the mean of their original rows, to released people."""
    alone = Partition(persons)
    after = np.empty(alone.n_cells, np.int64)
    after[alone.labels[order]] = np.arange(len(order))  # all rows of a person are published alike
    whom = np.arange(alone.n_cells)
    return record_linkage(alone.centroids(X), Y[after], truth=whom, ctx=ctx).rate


def _losses(evidence: Evidence, moved: Utility) -> tuple[Loss, ...]:
    """Return each key's loss in percent, the largest first: as published, and of its group's mean."""
    X, part, codec, means = evidence.X, evidence.partition, evidence.codec, evidence.centroids
    by_group: dict[str, float] = {}
    if (
        X is not None
        and part is not None
        and codec is not None
        and means is not None
        and not evidence.published_as
    ):
        gone, there = numerics.error(X, means, part.labels), numerics.spread(X)
        for block in codec.blocks:
            total = float(there[block.start : block.stop].sum())
            lost = float(gone[block.start : block.stop].sum())
            by_group[block.name] = 100 * lost / total if total > 0 else 0.0
    result = [Loss(name, value, by_group.get(name)) for name, value in moved.loss_by_key.items()]
    return tuple(sorted(result, key=lambda item: -item.published))


def _revealed(
    release: Release, evidence: Evidence, table: Table, Y: Floats | None, ctx: Context
) -> Told | None:
    X, order, schema = evidence.X, np.asarray(evidence.order), release.schema
    if X is None or Y is None or len(order) != len(X) or not np.ptp(X, axis=0).any():
        return None
    labels = np.empty(len(X), np.int64)
    labels[order] = table.classes.labels
    result = getattr(evidence.masked, "after", None)
    options = release.recipe.options or {}
    by_cluster = False
    if result is not None and not methods.handled(options, schema)[2]:
        by_cluster, labels = True, result.partition.labels  # with all keys stirred, no combination leads on
    rules = release.figures.of(ChannelFigures) if len(schema.confidential) == 1 else None
    loss = 100 * float(numerics.error(Y, X, order).sum() / numerics.spread(X).sum())
    return told_of(
        evidence.table,
        X,
        labels,
        loss,
        ctx,
        clusters=by_cluster,
        limits=limits_wanted(release.recipe),
        stated=None if rules is None else rules.risk,
    )


def _plane(evidence: Evidence) -> GroupMap | ShiftMap | None:
    X, codec, part = evidence.X, evidence.codec, evidence.partition
    if part is not None and X is not None and codec is not None:
        return planes.group_map(X, part, codec, exact=not evidence.published_as)
    made = evidence.masked
    after = None if X is None or codec is None else codec.encode(made.frame)
    result, space, codes = (getattr(made, name, None) for name in ("after", "space", "codes"))
    if result is None or space is None or codes is None:
        return planes.shift_map(len(evidence.order), before=X, after=after, codec=codec)

    def costs(rows: NDArray[np.int64]) -> Floats:
        both = np.vstack([space.codes[rows], codes[rows]])
        return np.asarray(space.cost(both, both))

    return planes.shift_map(
        len(codes),
        before=X,
        after=after,
        codec=codec,
        costs=costs,
        part=result.partition,
        moved=np.asarray(made.moved),  # type: ignore[attr-defined]
    )
