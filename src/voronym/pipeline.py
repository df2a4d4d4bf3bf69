"""From a table to a release: the one straight line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from voronym import cautions
from voronym._cuda.device import choose
from voronym.arguments import checked
from voronym.clock import now
from voronym.context import Context, Progress
from voronym.errors import GuaranteeError, InputError
from voronym.evidence import Evidence
from voronym.facts import ALLOW, ColumnFacts
from voronym.history.booking import Booking
from voronym.history.following import follow
from voronym.history.ledger import Ledger
from voronym.history.people import naming_columns
from voronym.keys import DEFAULT_SPACE
from voronym.masked import Grouped, Masked
from voronym.methods.grouped import Kept, mask_by_groups
from voronym.methods.leaving import stay
from voronym.privacy import Model, listed_models
from voronym.problem import check_k
from voronym.ranges.publish import said_of
from voronym.recipe import Recipe
from voronym.registry import METHODS
from voronym.release import Release
from voronym.steps import ColumnStep
from voronym.steps import run as run_steps
from voronym.table import tidy
from voronym.table.read import load, read
from voronym.table.table import Table

EARLY = (
    "the search was finished early, on request: the release keeps its promises, with the best groups found "
    "by then; the recipe alone does not make it again"
)


@checked
def anonymize(
    data: Any,
    *,
    keys: Sequence[str] = (),
    confidential: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    other: Sequence[str] = (),
    k: int | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    space: str | None = None,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    time_limit: float | None = None,
    seed: int | None = None,
    device: str | None = None,
    recipe: Recipe | None = None,
    reading: Mapping[str, Any] | None = None,
    intruder: str | None = None,
    steps: ColumnStep | str | Sequence[ColumnStep | str] = (),
    ledger: str | Path | None = None,
    keep_groups: bool = False,
    publish: str | Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **columns: Unpack[ColumnFacts],
) -> Release:
    """Make a k-anonymous release of a table.

    Identifiers are dropped. The keys, which an intruder may know from elsewhere, are replaced by the centre
    of a group of at least k records, so that no combination of keys points to fewer than k of them.
    Confidential and other columns are kept as they are. The rows come out in a fresh random order.

    Parameters
    ----------
    data : dataframe, str or Path
        A pandas, Polars or PyArrow table, or a file that `voronym.read` reads.
    keys, confidential, identifiers, other : sequences of str
        The role of every column. An undeclared column is an error, not a guess.
    k : int
        Least number of records that share a combination of keys, 2 or more; 5 where nothing is said.
    method : str
        "auto" by default; `voronym.algorithms` lists those that make groups. Two methods make none, but mask
        record by record: "channel" (noise on the keys, see `voronym.channel`) and "records" (see
        `voronym.records`). They promise no k; one that you ask for is measured, and refused if it does not
        hold.
    options : mapping, optional
        Options of the method, such as ``{"max_risk": 0.1}`` for "channel". Methods that make groups also take
        ``enforce``: how groups are made to obey models ("merge", "swap", "confidential-first", or "auto",
        which keeps the least lossy).
    space : {"euclidean", "mixed", "ranges"}, optional
        How records are compared. By default keys become numbers, categories too. With "mixed" every key has
        a metric of its own, and a group publishes in each column the value with the least sum of distances:
        a real one, that somebody in the table has. Its options are ``metrics`` and ``weights``, by column.
        With "ranges" every key is published as a range, and groups are made so that these are narrow.
    models : Model, str, sequence or mapping of them
        Further guarantees, such as ``vr.TCloseness(0.2)``, ``"p-sensitive=3"`` or ``{"p-sensitive": 3}``.
        Groups are made to obey them; a model without a threshold is only measured. ``"k-anonymity=10"``
        raises k.
    time_limit : float, optional
        Seconds for the whole call, for methods that search.
    seed : int, optional
        Of the method's random choices, 0 by default. Methods that mask record by record draw a fresh one,
        because whoever knows it can take the noise off; a seed that you give is kept in the recipe.
    device : {"cpu", "cuda", "auto"}, optional
        Where groups are made: on the processor, which is the default, on a GPU (needs the extra ``gpu``), or
        on a GPU where there is one. Methods without a part for the GPU run on the processor.
    recipe : Recipe, optional
        Take all of the above from a recipe; then no other argument may be given.
    reading : mapping, optional
        How to read the file, where ``data`` is one, such as ``{"decimal": ","}``: what `voronym.read` takes.
    intruder : {"keys", "method"}, optional
        Whom groups that obey models are made against: who knows the keys, or who knows the method, too.
    steps : ColumnStep, str or sequence of them
        What is done to columns one by one, in this order, before groups are made or, where a step says so,
        after: ``["top age=90", "after round income=100"]``. See `voronym.steps`.
    ledger : str or Path, optional
        A file that remembers who was released with whom, a `voronym.history.Ledger`; made if there is none.
        The release is refused where, with those before it, fewer than k people share all groups of one of
        them. `Release.write` enters it. People are told apart by the column ``person``, or else by the
        identifiers.
    keep_groups : bool
        Build on the groups of the releases in the ledger: those that still have k people are kept, of all
        others new ones are formed. A few people may have to wait, and are not in the release.
    publish : str or mapping, optional
        What a group publishes of its keys, for all of them or by column ("*" stands for the others): "mean",
        the default; "median"; "interval", such as 30–39, of categories the list of those in the group; or
        "hierarchy", the lowest common ancestor.
    hierarchies : mapping, optional
        By column, its hierarchy: a file, or whatever `voronym.table.Hierarchy.of` takes.
    progress : callable, optional
        Called with a `voronym.Step` now and then. It may raise `voronym.Stop` to finish with
        the best so far, or anything else to end the work.
    **columns
        ``drop_undeclared``, ``kinds``, ``orders``, ``locations``, ``person``, ``household`` and
        ``pseudonyms``, as in `voronym.Schema.build`. ``allow_near_unique`` and ``allow_loss`` name keys of
        which you know that they publish what one person alone has, or that next to nothing is left of them;
        such keys are refused otherwise.

    Returns
    -------
    Release
        Whose table holds every required model; otherwise nothing is returned.

    Raises
    ------
    SchemaError
        A column is undeclared, unknown, in two roles or of a kind that cannot be a key.
    GuaranteeError
        A required guarantee cannot be met.
    Unfinished
        Somebody wished to finish before there was a release that keeps all promises.

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(200, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], confidential=["diagnosis"],
    ...                        drop_undeclared=True, k=5)
    >>> release.risk.k >= 5
    True
    """
    started = now()
    strange = sorted(set(columns) - set(ColumnFacts.__annotations__))
    if strange:
        raise TypeError(
            f"anonymize() got an unexpected keyword argument {strange[0]!r}; options of a method are given "
            "as options={...}"
        )
    facts: dict[str, Any] = dict(columns)
    allow = {name: facts.pop(word, ()) for word, name in ALLOW.items()}
    said: dict[str, Any] = {
        "k": k, "method": method, "options": options, "space": space, "models": models,
        "time_limit": time_limit, "seed": seed, "device": device, "steps": steps,
        "allow": {name: one for name, one in allow.items() if one},
    }  # fmt: skip
    roles: dict[str, Any] = {
        "keys": keys, "confidential": confidential, "identifiers": identifiers, "other": other, **facts,
    }  # fmt: skip
    if isinstance(data, (str, os.PathLike)):
        data = read(data, **{**({} if recipe is None else recipe.reading), **(reading or {})})
    elif reading:
        raise InputError(
            "reading says how to read a file, and the table is none: give the path, or use voronym.read"
        )
    if recipe is None:
        table = Table.build(data, **roles)
        more = {"keep_groups": keep_groups or None, "intruder": intruder, **said_of(publish, hierarchies)}
        said["options"] = {**(options or {}), **{name: one for name, one in more.items() if one is not None}}
        recipe = _recipe(table, **said)
        declared: Sequence[str] = [identifiers] if isinstance(identifiers, str) else identifiers
    else:
        stated = {**roles, **said, "keep_groups": keep_groups, "intruder": intruder}
        stated |= said_of(publish, hierarchies)
        if twice := [name for name, value in stated.items() if _given(value)]:
            raise InputError(
                "a recipe states columns, k, method, models, seed and whether groups are kept: give it "
                f"alone, without {', '.join(twice)}, or write another"
            )
        table = Table.of(data, recipe.schema)
        declared = recipe.schema.identifiers
    booking = _booking(ledger, data, recipe, declared)
    ctx = Context(
        seed=recipe.seed,
        time_limit=recipe.time_limit,
        progress=progress,
        started=started,
        device=choose(recipe.device),
    )
    release = make_release(table, recipe, ctx, booking)
    ctx.done()
    for note in release.warnings:
        warnings.warn(note, stacklevel=2)
    return release


def make_release(table: Table, recipe: Recipe, ctx: Context, booking: Booking | None = None) -> Release:
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
    """
    clock = _Clock(ctx.started)
    _check_k(recipe, table.n)
    original = table
    table, effects, told = run_steps(table, _steps(recipe, "before"), least=recipe.required_k)
    stirred = {name for one in recipe.column_steps if one.random for name in one.columns} - set(table.keys)
    doubts = tuple(
        one
        for one in cautions.before(table, recipe.allow)
        if one.name != "near-unique" or one.column not in stirred  # which are not kept as they are
    )
    clock.lap("reading")
    masking, kept, left = ctx.part(0.0, 0.9, stage="masking"), None, None
    if recipe.makes_groups and recipe.options.get("suppress"):
        choosing = ctx.part(0.0, 0.3, stage="choosing", time=0.3)
        how = {name: getattr(recipe, name) for name in ("method", "space")}
        left = stay(table, choosing, k=recipe.required_k, options=dict(recipe.options), **how)
        stays = np.flatnonzero(left.kept)
        table, original = table.rows(stays), original.rows(stays)
        masking = ctx.part(0.3, 0.9, stage="masking")
    if booking is not None and recipe.options.get("keep_groups"):
        how = {name: getattr(recipe, name) for name in ("method", "space", "options")}
        grouping = ctx.part(0.0, 0.7, stage="grouping")
        table, kept = follow(table, booking, grouping, k=recipe.required_k, models=recipe.required, **how)
        original = table  # some people wait; steps were refused
        masking = ctx.part(0.7, 0.9, stage="masking")
    masked = _mask(table, recipe, masking, kept)
    if left is not None:
        masked = replace(masked, steps=(left.said, *masked.steps))
    if later := _steps(recipe, "after"):
        done, more, warned = run_steps(
            table.like(masked.frame).typed(masked.schema), later, least=recipe.required_k, original=original
        )
        masked, effects, told = replace(masked, frame=done.frame), effects + more, told + warned
    clock.lap("masking")
    ctx.part(0.9, 1.0, stage="measuring").tell(0.0, whole=False)
    # Never from the seed, because recipes travel: who has the recipe must not be able to undo the order.
    order = np.random.default_rng().permutation(table.n)
    named = [name for name in masked.frame.columns if name not in table.columns]  # pseudonyms
    columns = [*named, *(name for name in table.columns if name in masked.frame.columns)]
    shuffled = table.like(masked.frame.select(columns)).rows(order)
    source = table.source
    if source is not None:
        source = source.released(original.frame, masked.frame, table.keys, order)
    # Without categories, indexes and memory of the original.
    released = shuffled.like(tidy(shuffled.frame), source).typed(masked.schema)
    made = table.like(masked.frame)
    coordinates, loss, losses = cautions.lost(original, made)
    if table.units is not None or recipe.space != DEFAULT_SPACE:
        losses = {}  # other costs were kept low than those of rows in coordinates
    doubts += cautions.after(table, made, masked, losses, recipe.allow)
    evidence = Evidence(original, coordinates, masked, order, loss, clock.seconds, effects)
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
        _check_history(booking, release, masked)
    return release


def _booking(ledger: str | Path | None, data: Any, recipe: Recipe, declared: Sequence[str]) -> Booking | None:
    """Ask the ledger about the people of a table."""
    if ledger is None:
        if recipe.options.get("keep_groups"):
            raise InputError("keep_groups needs the ledger that knows the earlier groups: give ledger, too")
        return None
    if recipe.options.get("suppress"):
        raise InputError("a ledger is about everybody in the table: leave out suppress, or the ledger")
    if recipe.steps and recipe.options.get("keep_groups"):
        raise InputError("groups that are kept publish what they published before: leave out the steps")
    if not recipe.makes_groups:
        raise InputError(
            f"method {recipe.method!r} makes no groups, and a ledger remembers groups: leave out one of them"
        )
    if recipe.schema.household is not None:
        raise InputError("a ledger remembers people, not households: leave out the ledger, or household")
    frame = load(data)
    if not Path(ledger).exists():  # a ledger is made for people who are known, not by a mistaken command
        naming_columns(recipe.schema, frame, declared)
    return Booking(Ledger.open(ledger), frame, recipe.schema, declared)


def _check_history(booking: Booking, release: Release, masked: Masked) -> None:
    """Check a release against all that were entered before; refuse it where people could be told apart."""
    assert isinstance(masked, Grouped)  # noqa: S101 - methods without groups were refused
    assert masked.partition is not None  # noqa: S101
    recipe, keys = release.recipe, list(release.schema.keys)
    about = {"keys": keys, "columns": list(masked.frame.columns), "method": recipe.method}
    booking.check(masked.partition, masked.frame.select(keys), k=recipe.required_k, about=about)
    release.warnings += booking.notes()
    release.booking = booking


def _mask(table: Table, recipe: Recipe, ctx: Context, kept: Kept | None = None) -> Masked:
    """Mask a table by the method of the recipe, whatever kind it is."""
    if recipe.method in METHODS and METHODS[recipe.method].makes == "release":
        return _mask_as_released(table, recipe, ctx)
    if recipe.makes_groups:
        return mask_by_groups(
            table,
            ctx,
            method=recipe.method,
            k=recipe.required_k,
            space=recipe.space,
            models=recipe.required,
            options=dict(recipe.options),
            kept=kept,
        )
    method = METHODS[recipe.method]
    if table.units is not None:
        raise InputError(
            f"method {method.name!r} masks row by row and knows neither people nor households: what it hides "
            "in one row of a person the others tell. Take a method that makes groups"
        )
    if recipe.time_limit is not None:
        raise InputError(
            f"method {method.name!r} makes no groups and has no use for time_limit: leave it out"
        )
    masked: Masked = method.run(table, ctx, method.options.of(method.name, recipe.options))
    if recipe.seed is None:
        return masked
    note = (
        f"method {recipe.method!r} was given a seed, and the recipe holds it: whoever has the recipe "
        "can take the noise off the release. Keep the recipe to yourself, or give no seed"
    )
    return replace(masked, notes=(note, *masked.notes))


def _mask_as_released(table: Table, recipe: Recipe, ctx: Context) -> Masked:
    """Mask a table by a method that makes groups and says itself what they publish."""
    method = METHODS[recipe.method]
    if table.units is not None:
        raise InputError(
            f"method {method.name!r} counts rows and knows neither people nor households: take a method that "
            "makes groups, such as 'auto'"
        )
    if recipe.time_limit is not None:
        raise InputError(f"method {method.name!r} ends by itself and has no use for time_limit: leave it out")
    options = method.options.of(method.name, recipe.options)
    masked: Masked = method.function(table, ctx, options, k=recipe.required_k, models=recipe.required)
    return masked


def _recipe(
    table: Table,
    *,
    k: int | None,
    method: str | None,
    options: Mapping[str, Any] | None,
    models: object,
    time_limit: float | None,
    seed: int | None,
    space: str | None,
    allow: Mapping[str, Sequence[str]],
    device: str | None,
    steps: ColumnStep | str | Sequence[ColumnStep | str] = (),
) -> Recipe:
    """Write down what was asked for."""
    method = "auto" if method is None else method
    if not isinstance(method, str):
        raise InputError(f"method must be the name of a method, not {method!r}")
    if method not in METHODS or METHODS[method].keeps_k:  # others promise no k and draw a seed of their own
        k, seed = 5 if k is None else k, 0 if seed is None else seed
    return Recipe(
        schema=table.schema,
        k=k,
        method=method,
        options={} if options is None else options,
        models=tuple(map(str, listed_models(models))),
        seed=seed,
        time_limit=time_limit,
        device=choose("cpu" if device is None else device),
        space=DEFAULT_SPACE if space is None else space,
        reading={} if table.source is None else table.source.reading.declared(),
        allow=allow,
        steps=tuple(map(str, [steps] if isinstance(steps, (str, ColumnStep)) else steps)),
    )


def _steps(recipe: Recipe, when: str) -> list[ColumnStep]:
    """Return the steps that are done before groups are made, or after."""
    return [one for one in recipe.column_steps if one.when == when]


def _given(argument: Any) -> bool:
    """Say whether an argument was given; a zero counts."""
    return argument is not None and argument is not False and argument not in ((), [], {})


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
