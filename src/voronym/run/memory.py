"""From a table and a recipe to a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.clock import now
from voronym.core.context import Context
from voronym.errors import GuaranteeError
from voronym.evidence import Evidence
from voronym.history.booking import Booking
from voronym.history.following import follow
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS
from voronym.methods.grouped import Kept
from voronym.methods.leaving import Known, stay
from voronym.methods.mask import mask
from voronym.methods.weights import averaged
from voronym.policy.case import Facts
from voronym.policy.checklist import Added
from voronym.policy.judge import judge_release
from voronym.policy.policy import Policy
from voronym.problem import check_k
from voronym.release import Release
from voronym.request.recipe import Recipe
from voronym.result import Grouped, Masked
from voronym.run import checks
from voronym.steps import ColumnStep
from voronym.steps import run as run_steps
from voronym.table import tidy
from voronym.table.doubts import Doubt
from voronym.table.table import Table
from voronym.table.units import Units

EARLY = (
    "the search was finished early, on request: the release keeps its promises, with the best groups found "
    "by then; the recipe alone does not make it again"
)


def make_release(
    table: Table,
    recipe: Recipe,
    ctx: Context,
    booking: Booking | None = None,
    added: Sequence[Added] = (),
) -> Release:
    """Mask a table by a recipe, measure what came out, and build the release.

    What `anonymize` does with its arguments. Whoever holds the context may wish, from another thread, to
    finish with the best so far or to cancel.

    Parameters
    ----------
    table : Table
        The records.
    recipe : Recipe
        What to do.
    ctx : Context
        Made with the seed and the time limit of the recipe.
    booking : Booking, optional
        What a ledger knows of the people of the table: the release is checked against it, and entered when
        it is written.
    added : sequence of Added
        What a policy chose, because nobody else did: its checklist tells it.
    """
    clock = _Clock(ctx.started)
    _check_k(recipe, table.n)
    original, given = table, table.n
    stayed: NDArray[np.int64] | None = None
    table, effects, told = run_steps(table, _steps(recipe, "before"), least=recipe.required_k)
    doubts = _doubts(table, recipe)
    clock.lap("reading")
    masking, kept, left = ctx.part(0.0, 0.9, stage="masking"), None, None
    if recipe.suppress and recipe.method != "lattice":  # which suppresses by itself
        choosing = ctx.part(0.0, 0.3, stage="choosing", time=0.3)
        known = None if booking is None else Known(*booking.fates())
        left = stay(table, choosing, k=max(recipe.required_k, 2), choices=recipe, known=known)
        table, original, stayed = table.rows(left.rows), original.rows(left.rows), left.rows
        if booking is not None:
            booking.leave(left.rows)
        masking = ctx.part(0.3, 0.9, stage="masking")
    if booking is not None and recipe.keep_groups:
        grouping = ctx.part(0.0, 0.7, stage="grouping")
        table, rows, kept = follow(
            table,
            booking,
            grouping,
            choices=recipe,
            options=recipe.method_options,
            k=recipe.required_k,
            models=recipe.required,
        )
        original = original.rows(rows)  # some people wait
        stayed = rows if stayed is None else stayed[rows]
        masking = ctx.part(0.7, 0.9, stage="masking")
    masked = _mask(table, recipe, masking, kept)
    if left is not None:
        masked = replace(masked, log=(left.said, *masked.log))
    grouped_frame = masked.frame
    if later := _steps(recipe, "after"):
        done, more, warned = run_steps(
            table.like(masked.frame).typed(masked.schema), later, least=recipe.required_k, original=original
        )
        schema = masked.schema if done.schema == table.schema else done.schema
        masked = replace(masked, frame=done.frame, schema=schema)
        effects, told = effects + more, told + warned
    clock.lap("masking")
    ctx.part(0.9, 1.0, stage="measuring").tell(0.0, whole=False)
    # Never from the seed, because recipes travel: who has the recipe must not be able to undo the order.
    order = np.random.default_rng().permutation(table.n)
    released = _shuffled(table, original, masked, order)
    made = table.like(masked.frame)
    coordinates, loss, losses = checks.lost(original, made)
    if table.units is not None or recipe.space != DEFAULT_SPACE:
        losses = {}  # other costs were kept low than those of rows in coordinates
    doubts += checks.after(table, made, masked, losses, recipe)
    evidence = Evidence(original, coordinates, masked, order, loss, clock.seconds, effects, stayed)
    early = (EARLY,) if ctx.finishing else ()
    release = Release(
        released,
        recipe,
        evidence=evidence,
        notes=(*early, *map(str, doubts), *told, *masked.notes, *ctx.notes),
        public_notes=(*(str(one) for one in doubts if one.public), *masked.public_notes),
    )
    clock.lap("measuring")
    if booking is not None:
        _check_history(booking, release, masked, grouped_frame, table.units)
    if recipe.policy is not None:
        policy = Policy.load(recipe.policy)
        release.checklist = judge_release(
            release,
            policy,
            Facts.of(policy, recipe.facts),
            added,
            rows=given,
            ledger=booking is not None,
            context=ctx.part(0.95, 1.0, stage="judging"),
        )
    return release


def _doubts(table: Table, recipe: Recipe) -> tuple[Doubt, ...]:
    """Return what is worth a warning about a table, less that about columns that are stirred."""
    stirred = {name for one in recipe.column_steps if one.random for name in one.columns} - set(table.keys)
    if METHODS[recipe.method].groups and (heavy := averaged(table, recipe, recipe.required_k)):
        stirred.add(heavy)
    return tuple(
        one
        for one in checks.before(table, recipe)
        if one.name not in ("near-unique", "tells")
        or one.column not in stirred  # which are not kept as they are
    )


def _shuffled(table: Table, original: Table, masked: Masked, order: NDArray[np.int64]) -> Table:
    """Return what is released: the masked rows in another order, without memory of the originals."""
    named = [name for name in masked.frame.columns if name not in table.columns]  # pseudonyms
    columns = [*named, *(name for name in table.columns if name in masked.frame.columns)]
    shuffled = table.like(masked.frame.select(columns)).rows(order)
    source = table.source
    if source is not None:
        source = source.released(original.frame, masked.frame, table.keys, order)
    return shuffled.like(tidy(shuffled.frame), source).typed(masked.schema)


def _check_history(
    booking: Booking, release: Release, masked: Masked, frame: nw.DataFrame[Any], units: Units | None
) -> None:
    """Check a release against all that were entered before; refuse it where people could be told apart.

    ``frame`` is what the groups published before the steps that come after: these are done again each time.
    """
    assert isinstance(masked, Grouped)  # noqa: S101 - methods without groups were refused
    assert masked.partition is not None  # noqa: S101
    recipe, keys = release.recipe, list(release.schema.keys)
    about = {
        "keys": keys,
        "columns": list(masked.frame.columns),
        "method": recipe.method,
        "steps": list(recipe.steps),
    }
    homes = None if units is None else units.household
    booking.check(masked.partition, frame.select(keys), k=recipe.required_k, about=about, homes=homes)
    release.warnings += booking.notes()
    release.booking = booking


def _mask(table: Table, recipe: Recipe, ctx: Context, kept: Kept | None = None) -> Masked:
    """Mask a table by the method of the recipe, whatever kind it is."""
    masked = mask(
        table,
        ctx,
        choices=with_trees(recipe),
        options=recipe.method_options,
        k=recipe.required_k,
        models=recipe.required,
        kept=kept,
    )
    if recipe.time_limit is not None and not METHODS[recipe.method].timed:
        note = f"method {recipe.method!r} ends by itself, and the time limit was not needed"
        masked = replace(masked, notes=(*masked.notes, note))
    if recipe.seed is None or recipe.makes_groups:
        return masked
    note = (
        f"method {recipe.method!r} was given a seed, and the recipe holds it: whoever has the recipe "
        "can take the noise off the release. Keep the recipe to yourself, or give no seed"
    )
    return replace(masked, notes=(note, *masked.notes))


def _steps(recipe: Recipe, when: str) -> list[ColumnStep]:
    """Return the steps that are done before groups are made, or after."""
    return [one for one in recipe.column_steps if one.when == when]


def with_trees(recipe: Recipe) -> Recipe:
    """Return the recipe with the hierarchies that groups use: as the steps before left them."""
    trees: dict[str, Any] = dict(recipe.hierarchies or {})
    for step in _steps(recipe, "before"):
        left = step.left_of(trees)
        used = {name for name in left if left[name] != trees[name]}
        if METHODS[recipe.method].groups and recipe.space == DEFAULT_SPACE:
            used = {name for name in used if recipe.way(name) == "hierarchy"}  # else the step had it
            left = {name: tree for name, tree in left.items() if name not in step.columns or name in used}
        trees = left
    return recipe if trees == (recipe.hierarchies or {}) else replace(recipe, hierarchies=trees or None)


def _check_k(recipe: Recipe, n: int) -> None:
    """Check k; too few records for it is a guarantee that cannot be met. 1 asks for nothing."""
    if recipe.k is not None:
        check_k(recipe.k, max(n, recipe.k))  # what is too much for n is said below, of all models
    k = recipe.required_k
    if k == 1 and not recipe.makes_groups:
        return
    if k > n > 0:
        raise GuaranteeError(
            f"k={k} cannot be reached with {n} records: there are fewer records than that in all"
        )
    check_k(k, n)


class _Clock:
    """Seconds per stage."""

    def __init__(self, started: float) -> None:
        self.seconds: dict[str, float] = {}
        self._last = started

    def lap(self, stage: str) -> None:
        at = now()
        self.seconds[stage] = at - self._last
        self._last = at
