"""From a table and a recipe to a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.chance import SEEDED
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.errors import GuaranteeError, worded
from voronym.evaluate.moved import key_changes
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS
from voronym.methods.differential import cost_of
from voronym.methods.figures import PrivateFigures
from voronym.methods.grouped import Kept
from voronym.methods.mask import mask
from voronym.partition import Partition
from voronym.problem import check_k
from voronym.release import Release
from voronym.release.evidence import Evidence
from voronym.request.checks import EVERY
from voronym.request.public_steps import stepped_bounds
from voronym.request.recipe import Recipe
from voronym.result import Grouped, Masked
from voronym.run import checks
from voronym.steps import ColumnStep, Exposed
from voronym.steps import run as run_steps
from voronym.table import tidy
from voronym.table.classes import equivalence_classes
from voronym.table.frame import Frame
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.history.booking import Booking
    from voronym.policy.checklist import Added

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
    *,
    trial: bool = False,
) -> Release:
    """Mask a table by a recipe, measure the result, and build the release.

    `anonymize` calls this function. From another thread, the owner of the context can ask to finish with
    the best so far, or cancel.

    Parameters
    ----------
    table : Table
        The records.
    recipe : Recipe
        The recipe.
    ctx : Context
        Made with the seed and the time limit of the recipe.
    booking : Booking, optional
        The ledger's knowledge of the people: the release is checked against it, and entered when it is
        written.
    added : sequence of Added
        Choices that a policy added; the checklist lists them.
    trial : bool
        Whether nothing will be published: then a policy that demands a ledger asks a person for it.
    """
    clock = _Clock(ctx.started)
    _check_k(recipe, table.n)
    if booking is not None and recipe.private is not None:
        from voronym.history.epsilon import check_spending  # most releases have no ledger

        check_spending(booking.ledger, booking.entries, booking.rows, cost_of(table, recipe.private))
    original, given = table, table.n
    stayed: NDArray[np.int64] | None = None
    if booking is not None:
        booking.begin(recipe)
        booking.read_truths(table.frame)
    watch = None if booking is None else booking.watch
    table, effects, result = run_steps(table, _steps(recipe, "before"), least=recipe.required_k, watch=watch)
    if booking is not None:
        booking.read_values(table.frame, booking.lasting(table))
    doubts = checks.of_recipe(table, recipe)
    clock.lap("reading")
    masking, kept, left = ctx.part(0.0, 0.9, stage="masking"), None, None
    if recipe.suppress and recipe.method != "lattice":  # which suppresses by itself
        from voronym.methods.leaving import Known, stay

        choosing = ctx.part(0.0, 0.3, stage="choosing", time=0.3)
        known = None if booking is None else Known(*booking.fates())
        left = stay(table, choosing, k=max(recipe.required_k, 2), choices=recipe, known=known)
        table, original, stayed = table.rows(left.rows), original.rows(left.rows), left.rows
        if booking is not None:
            booking.leave(left.rows)
        masking = ctx.part(0.3, 0.9, stage="masking")
    if booking is not None and recipe.keep_groups:
        from voronym.history.following import follow

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
    masked, booked = _mask(table, recipe, masking, kept), table
    if masked.rows is not None:  # the number of rows is private
        table, original = table.rows(masked.rows), original.rows(masked.rows)
        stayed = masked.rows if stayed is None else stayed[masked.rows]
    while booking is not None and kept is None and recipe.makes_groups:
        assert isinstance(masked, Grouped)  # noqa: S101 - the method makes groups
        assert masked.partition is not None  # noqa: S101
        homes = None if table.units is None else table.units.household
        late = booking.who_waits(masked.partition, k=recipe.required_k, share=recipe.waiting, homes=homes)
        if not len(late):
            break
        rows = np.delete(np.arange(table.n), late)
        booking.postpone(rows)
        table, original = table.rows(rows), original.rows(rows)
        stayed = rows if stayed is None else stayed[rows]
        masked = _mask(table, recipe, masking)
    if booking is not None:
        masked = replace(masked, log=(booking.sentence, *masked.log))
    masked = replace(masked, log=(*masked.log, *_truth(recipe, table.keys)))
    if left is not None:
        masked = replace(masked, log=(left.sentence, *masked.log))
    grouped_frame = masked.frame
    if later := _steps(recipe, "after"):
        done, more, warned = run_steps(
            table.like(masked.frame).typed(masked.schema),
            later,
            least=recipe.required_k,
            original=original,
            watch=watch,
            grouped=table,
        )
        schema = masked.schema if done.schema == table.schema else done.schema
        masked = replace(masked, frame=done.frame, schema=schema)
        effects, result = effects + more, result + warned
    clock.lap("masking")
    ctx.part(0.9, 1.0, stage="measuring").tell(0.0, whole=False)
    # Never from the seed: recipes are passed on, and their readers must not be able to undo the order.
    order = np.random.default_rng().permutation(table.n)
    released = _shuffled(table, original, masked, order)
    made = table.like(masked.frame)
    coordinates, loss, losses = checks.lost(original, made)
    if table.units is not None or recipe.space != DEFAULT_SPACE:
        losses = {}  # the search minimised another cost than that of rows in coordinates
    doubts += checks.after(table, made, masked, losses, recipe)
    changes = key_changes(original.frame, masked.frame, original.schema, np.arange(table.n), recipe.trees)
    exposed = [Exposed.of(item, table.keys, recipe.required_k) for item in (original, released)]
    groups = isinstance(masked, Grouped) and masked.partition is not None
    evidence = Evidence(
        original,
        coordinates,
        replace(masked, frame=masked.frame.head(0)) if groups else masked,  # `released` has these rows
        order,
        loss,
        clock.seconds,
        effects,
        stayed,
        changes,
        (exposed[0], exposed[1]),
    )
    early = (EARLY,) if ctx.finishing else ()
    seeded = (SEEDED,) if recipe.seed is not None and not recipe.makes_groups else ()
    release = Release(
        released,
        recipe,
        evidence=evidence,
        notes=(*early, *seeded, *map(str, doubts), *result, *masked.notes, *ctx.notes),
        public_notes=(*(str(doubt) for doubt in doubts if doubt.public), *masked.public_notes),
    )
    clock.lap("measuring")
    if booking is not None:
        _check_history(booking, release, masked, grouped_frame, table if masked.rows is None else booked)
    if recipe.policy is not None:
        from voronym.policy.case import Facts  # with the attacks, which take a while to load
        from voronym.policy.judge import judge_release
        from voronym.policy.policy import Policy

        policy = Policy.load(recipe.policy)
        release.checklist = judge_release(
            release,
            policy,
            Facts.of(policy, recipe.facts),
            added,
            rows=given,
            ledger=None if trial else booking is not None,
            context=ctx.part(0.95, 1.0, stage="judging"),
        )
    return release


def _shuffled(table: Table, original: Table, masked: Masked, order: NDArray[np.int64]) -> Table:
    """Return the released table: the masked rows in another order, in fresh memory."""
    named = [name for name in masked.frame.columns if name not in table.columns]  # pseudonyms
    columns = [*named, *(name for name in table.columns if name in masked.frame.columns)]
    shuffled = table.like(masked.frame.select(columns)).rows(order)
    source = table.source
    if source is not None:
        source = source.released(original.frame, masked.frame, table.keys, order)
        figures = masked.figures.of(PrivateFigures)
        if figures is not None:  # not even the number of digits may come from the data
            source = source.neutral([item.column for item in figures.private.bounds])
    return shuffled.like(tidy(shuffled.frame), source).typed(masked.schema)


def _check_history(booking: Booking, release: Release, masked: Masked, frame: Frame, table: Table) -> None:
    """Compare a release with all earlier entries of the ledger; refuse it if it would single people out.

    ``frame``: the published groups before later steps, which are drawn again each time.
    """
    from voronym.history.following import facts_of
    from voronym.history.notes import notes

    recipe, keys = release.recipe, list(release.schema.keys)
    mean = masked.figures.mean_weights
    about: dict[str, Any] = {
        **facts_of(recipe, table.schema),
        "columns": list(masked.frame.columns),
        "method": recipe.method,
        "steps": list(recipe.steps),
        "plain": masked.schema is None,
        "drawn": sorted(booking.drawn),
    }
    part = _books_of(recipe, masked, frame, about, table.n)
    homes = None if table.units is None else table.units.household
    true = not METHODS[recipe.method].groups and mean is None and not (recipe.publish or {})
    shown = frame.select([*keys, *([mean] if mean else [])])
    booking.check(part, shown, k=recipe.required_k, about=about, homes=homes, computed=not true)
    noisy: tuple[str, ...] = (
        (noise_note(booking, recipe.method),) if not recipe.makes_groups and recipe.private is None else ()
    )
    noisy += again_drawn(booking)
    heard = (*noisy, *notes(booking, chosen="dissolved" in recipe.given))
    release.warnings = (*map(worded, heard), *release.warnings)
    release.booking = booking


def noise_note(booking: Booking, method: str) -> str:
    """Describe the ledger's knowledge of a release without groups, and its people's earlier noise."""
    earlier = [entry for entry in booking.entries if entry.about.get("method") == method]
    known = [np.isin(booking.rows, entry.people) for entry in earlier]
    again = int(np.logical_or.reduce(known).sum()) if known else 0
    sentence = (
        f"method {method!r} makes no groups: the ledger remembers who is in this release, and does not count "
        "it against the groups of others"
    )
    if not again:
        return sentence
    return (
        f"{sentence}. {again:,} rows are of people who were released by {method!r} before: noise that is "
        "drawn afresh for the same values can be averaged away"
    )


def again_drawn(booking: Booking) -> tuple[str, ...]:
    """Warn if random steps draw again for people who were drawn in an earlier release."""
    drawn = booking.drawn
    earlier = [entry for entry in booking.entries if drawn & set(entry.about.get("drawn", ()))]
    again = [np.isin(booking.rows, entry.people) for entry in earlier]
    rows = int(np.logical_or.reduce(again).sum()) if again else 0
    if not rows:
        return ()
    return (
        f"{rows:,} rows are of people for whom an earlier release drew {', '.join(sorted(drawn))} at "
        f"random: the mean of all {len(earlier) + 1} releases is nearer to the truth than any of them. "
        "Publish the column less often, or by rounding",
    )


def _books_of(recipe: Recipe, masked: Masked, frame: Frame, about: dict[str, Any], rows: int) -> Partition:
    """Return the groups in a ledger; add the price of a private release to its record."""
    if recipe.private is None and not recipe.makes_groups:
        return Partition(np.zeros(rows, np.int64))  # no group is recorded, and none is counted
    if recipe.private is None:
        assert isinstance(masked, Grouped)  # noqa: S101 - the method makes groups
        assert masked.partition is not None  # noqa: S101
        return masked.partition
    from voronym.history.epsilon import PRIVATE

    figures = masked.figures.of(PrivateFigures)
    assert figures is not None  # noqa: S101 - the method is private
    spent = ("epsilon", "delta", "rho", "relation", "unit", "scope")
    about[PRIVATE] = {name: getattr(figures.private, name) for name in spent}
    # A wholly private table reveals nobody's group; next to unchanged columns, keys do.
    alone = recipe.private.scope == "all" or recipe.private.hides_presence
    keys = list(recipe.schema.keys)
    return Partition(np.zeros(rows, np.int64) if alone else equivalence_classes(frame, keys).labels)


def mask_by(recipe: Recipe, table: Table, ctx: Context, kept: Kept | None) -> Masked:
    """Mask a table by the method of a recipe."""
    return mask(
        table,
        ctx,
        choices=with_trees(recipe),
        options=recipe.method_options,
        k=recipe.required_k,
        models=recipe.required,
        kept=kept,
    )


def _mask(table: Table, recipe: Recipe, ctx: Context, kept: Kept | None = None) -> Masked:
    """Mask a table by the method of a recipe; add a note if the time limit had no effect."""
    masked = mask_by(recipe, table, ctx, kept)
    if recipe.time_limit is not None and not METHODS[recipe.method].timed:
        note = f"method {recipe.method!r} always runs to its end, so the time limit was not needed"
        masked = replace(masked, notes=(*masked.notes, note))
    return masked


def _truth(recipe: Recipe, keys: Sequence[str]) -> tuple[str, ...]:
    """Describe whether published keys are true, if the method only blanks some."""
    if recipe.method != "local-suppression":
        return ()
    asked = {*(recipe.publish or {}), *(recipe.hierarchies or {})}
    centres = [name for name in keys if {name, EVERY} & asked]
    drawn = [
        name for name in keys if any(item.random and name in item.columns for item in recipe.column_steps)
    ]
    untrue = [f"{name}, which a step drew at random" for name in drawn]
    untrue += [f"{name}, which groups publish in another way" for name in centres if name not in drawn]
    if untrue:
        return (f"The published keys are true except for: {'; '.join(untrue)}.",)
    coarse = any(set(column_step.columns) & set(keys) for column_step in recipe.column_steps)
    how = ", though coarser where a step made them so" if coarse else ""
    return (f"All published keys are true{how}.",)


def _steps(recipe: Recipe, when: str) -> list[ColumnStep]:
    """Return the steps that are applied before grouping, or after."""
    return [column_step for column_step in recipe.column_steps if column_step.when == when]


def with_trees(recipe: Recipe) -> Recipe:
    """Return the recipe with the hierarchies and bounds for grouping, as changed by the steps before it."""
    trees: dict[str, Any] = dict(recipe.hierarchies or {})
    for step in _steps(recipe, "before"):
        left = step.left_of(trees)
        used = {name for name in left if left[name] != trees[name]}
        if METHODS[recipe.method].groups and recipe.space == DEFAULT_SPACE:
            used = {name for name in used if recipe.way(name) == "hierarchy"}  # else the step had it
            left = {name: tree for name, tree in left.items() if name not in step.columns or name in used}
        trees = left
    bounds = None if recipe.private is None else stepped_bounds(recipe)
    if trees == (recipe.hierarchies or {}) and bounds == recipe.bounds:
        return recipe
    return replace(recipe, hierarchies=trees or None, bounds=bounds)


def _check_k(recipe: Recipe, n: int) -> None:
    """Refuse a k larger than the number of records; k = 1 requires nothing."""
    if recipe.k is not None:
        check_k(recipe.k, max(n, recipe.k))  # a k above n is refused below, for all models
    k = recipe.required_k
    if k == 1 and not recipe.makes_groups:
        return
    if k > n > 0:
        raise GuaranteeError(
            f"k={k} cannot be reached with {n} records: there are fewer records than that in all"
        )
    check_k(k, n)


class _Clock:
    """Measures the seconds of each stage."""

    def __init__(self, started: float) -> None:
        self.seconds: dict[str, float] = {}
        self._last = started

    def lap(self, stage: str) -> None:
        at = now()
        self.seconds[stage] = at - self._last
        self._last = at
