"""From a table to a release: the one straight line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from voronym._cuda.device import choose
from voronym.core.clock import now
from voronym.core.context import Context, ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.facts import ALLOW, OTHER_WORDS, ColumnFacts
from voronym.history.booking import Booking
from voronym.history.ledger import Ledger
from voronym.history.people import naming_columns
from voronym.keyspaces import DEFAULT_SPACE
from voronym.making import make_release
from voronym.method import METHODS
from voronym.privacy import Model, listed_models
from voronym.ranges.publish import said_of
from voronym.recipe import Recipe
from voronym.release import Release
from voronym.steps import ColumnStep
from voronym.table.read import load, read
from voronym.table.table import Table


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
    progress: ProgressCallback | None = None,
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
        Called with a `voronym.Progress` now and then. It may raise `voronym.FinishEarly` to finish with
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
        meant = OTHER_WORDS.get(strange[0])
        raise TypeError(
            f"anonymize() got an unexpected keyword argument {strange[0]!r}; "
            + (f"it is called {meant!r} here" if meant else "options of a method are given as options={...}")
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


def _booking(ledger: str | Path | None, data: Any, recipe: Recipe, declared: Sequence[str]) -> Booking | None:
    """Ask the ledger about the people of a table."""
    if ledger is None:
        if recipe.options.get("keep_groups"):
            raise InputError("keep_groups needs the ledger that knows the earlier groups: give ledger, too")
        return None
    if recipe.options.get("suppress") and recipe.options.get("keep_groups"):
        raise InputError(
            "with groups that are kept, who is like nobody else waits for others: say how many may wait "
            "(--waiting 0.05) and leave out suppress, or leave out keep_groups"
        )
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


def _given(argument: Any) -> bool:
    """Say whether an argument was given; a zero counts."""
    return argument is not None and argument is not False and argument not in ((), [], {})
