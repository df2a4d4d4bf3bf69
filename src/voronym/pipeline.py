"""From a table to a release: the one straight line."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym import registry
from voronym.certify import Bound
from voronym.errors import GuaranteeError, InputError, SchemaError
from voronym.masking import masks
from voronym.partition import Partition
from voronym.partitioners.auto import solve
from voronym.partitioners.front import check_k, check_options, check_seed, one_cell_note, partition
from voronym.partitioners.loss import information_loss
from voronym.privacy import Judge, Model
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.enforce import enforce as enforce_models
from voronym.privacy.enforce import refuse_impossible
from voronym.progress import Progress, Step, silent
from voronym.recipe import Recipe
from voronym.records.cells import MixedKeys
from voronym.release import Cost, Evidence, Release, published_loss
from voronym.space import Euclidean, Space
from voronym.table import Kind, Schema, as_frame, check_kinds, check_other, conform, read, tidy
from voronym.table.codec import Codec


def anonymize(
    data: Any,
    *,
    keys: Sequence[str] = (),
    confidential: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    other: Sequence[str] = (),
    drop_undeclared: bool = False,
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    locations: Sequence[tuple[str, str]] = (),
    k: int | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    max_distortion: float | None = None,
    max_risk: float | None = None,
    space: str | None = None,
    metrics: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    models: Model | str | Sequence[Model | str] = (),
    enforce: str | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    recipe: Recipe | None = None,
    progress: Progress | None = None,
) -> Release:
    """Make a k-anonymous release of a table.

    Identifiers are dropped. The keys, which an intruder may know from elsewhere, are replaced by the centre
    of a cell of at least k records, so that no combination of keys points to fewer than k of them.
    Confidential and other columns are kept as they are. The rows come out in a fresh random order.

    Parameters
    ----------
    data : dataframe, str or Path
        A pandas, Polars or PyArrow table, or a file that `voronym.read` reads.
    keys, confidential, identifiers, other : sequences of str
        The role of every column. An undeclared column is an error, not a guess.
    drop_undeclared : bool
        Drop undeclared columns instead.
    kinds : mapping, optional
        Kind of a column where the type does not say it: ``{"zip": "nominal"}``.
    orders : mapping, optional
        Levels of ordinal columns, from low to high.
    locations : sequence of (latitude, longitude) pairs
        Pairs of key columns that are places on the globe.
    k : int
        Least number of records that share a combination of keys, 2 or more; 5 where nothing is said.
    method, options, time_limit, seed
        The partitioning method ("auto"), its options, the seconds granted to it, and its seed (0). Two
        methods make no cells, but mask record by record: "channel" (noise on the keys, see
        `voronym.channel`) and "records" (see `voronym.records`). They promise no k; one that you ask for is
        measured, and refused if it does not hold. They draw a fresh seed, because whoever knows it can take
        the noise off; a seed that you give is kept in the recipe.
    max_distortion, max_risk : float, optional
        For "channel": the largest share of the keys' variance to lose, or the most that the keys may tell
        about the confidential columns, in nats.
    space : {"euclidean", "mixed"}, optional
        How records are compared. By default keys become numbers, categories too. With "mixed" every key has
        a metric of its own, and a cell publishes in each column the value with the least sum of distances:
        a real one, that somebody in the table has. Methods: those with "mixed" in
        ``vr.algorithms()[name].spaces``.
    metrics, weights : mappings, optional
        By column, for "mixed" and for method "records": the metric, by name (``"nominal"``,
        ``"taxonomy=tree.csv"``) or as a hierarchy, where the kind should not decide; and how much a column
        counts, 1 by default.
    models : sequence of Model or str
        Further guarantees, such as ``vr.TCloseness(0.2)`` or ``"p-sensitive=3"``. Cells are made to obey
        them; a model without a threshold is only measured. ``"k-anonymity=10"`` raises k.
    enforce : {"auto", "merge", "swap", "confidential-first"}, optional
        How: see `voronym.privacy.enforce`. By default what loses least of those tried.
    recipe : Recipe, optional
        Take all of the above from a recipe; then no other argument may be given.
    progress : callable, optional
        Called with a `voronym.progress.Step` now and then.

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

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(200, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], confidential=["diagnosis"],
    ...                        drop_undeclared=True, k=5)
    >>> release.risk.k >= 5
    True
    """
    tell = silent if progress is None else progress
    clock = _Clock()
    frame = as_frame(read(data) if isinstance(data, (str, Path)) else data)
    if recipe is None:
        schema = Schema.build(
            frame,
            keys=keys,
            confidential=confidential,
            identifiers=identifiers,
            other=other,
            kinds=kinds,
            orders=orders,
            locations=locations,
            drop_undeclared=drop_undeclared,
        )
        method = "auto" if method is None else method
        chosen = dict(options or {})
        named = {
            "max_distortion": max_distortion,
            "max_risk": max_risk,
            "metrics": metrics,
            "weights": weights,
        }
        chosen |= {name: value for name, value in named.items() if value is not None and value != {}}
        if method not in masks():  # a mask promises no k and draws a seed of its own
            k, seed = _enough(5 if k is None else k, len(frame)), 0 if seed is None else seed
        recipe = Recipe(
            schema=schema,
            k=k,
            method=method,
            options=chosen,
            models=_texts(models),
            enforce="auto" if enforce is None else enforce,
            seed=seed,
            time_limit=time_limit,
            space="euclidean" if space is None else space,
        )
    elif _said(keys, confidential, identifiers, other, drop_undeclared, kinds, orders, locations) or _said(
        k,
        method,
        options,
        max_distortion,
        max_risk,
        models,
        enforce,
        time_limit,
        seed,
        space,
        metrics,
        weights,
    ):
        raise InputError(
            "a recipe states columns, k, method, models and seed: give it alone, or write another"
        )
    _same_columns(frame, recipe.schema)
    recipe.required()  # a model that does not exist is said before the work, not after
    frame = conform(frame, recipe.schema)
    doubts = (*check_kinds(frame, recipe.schema), *check_other(frame, recipe.schema))
    notes: list[Warning] = [UserWarning(note) for note in doubts]
    make = _mask if recipe.masks else _microaggregate
    released, evidence = make(frame, recipe, clock, tell, notes)
    tell(Step("measure", 0.0))
    release = Release(released, recipe, evidence=evidence, notes=[str(note) for note in notes])
    clock.lap("measure")
    tell(Step("measure", 1.0))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return release


def _microaggregate(
    frame: nw.DataFrame[Any], recipe: Recipe, clock: _Clock, tell: Progress, notes: list[Warning]
) -> tuple[nw.DataFrame[Any], Evidence]:
    """Divide the records into cells that obey every model, and publish the centre of each."""
    k = _enough(recipe.least, len(frame))
    tell(Step("encode", 0.0))
    codec = Codec.fit(frame, recipe.schema)
    X = codec.encode(frame)
    mixed = _mixed_keys(frame, recipe)
    if mixed is not None:
        notes.extend(UserWarning(note) for note in mixed.notes)
    clock.lap("encode")
    demands = _demands(recipe, frame)
    if (single := one_cell_note(len(X), k)) is not None:
        notes.append(single)
    part, bound = _cells(X, k, recipe, tell, mixed)
    clock.lap("partition")
    part, costs = _obey(X, k, part, demands, recipe, tell)
    if demands:
        clock.lap("enforce")
    tell(Step("decode", 0.0))
    # Decode the m centroids once, then gather: a mean recomputed per row could differ in its last bits.
    centroids = part.centroids(X)
    extra: dict[str, Any] = {}
    if mixed is None:
        published = codec.decode(centroids, part.labels)
    else:
        made = mixed.publish(part)
        published = made.frame
        extra = {"figures": made.figures, "steps": mixed.steps(made.figures), "fates": mixed.fates()}
    order = _fresh_order(part.n)
    rounded = published_loss(X, codec.encode(published)[part.labels])
    released = _assemble(frame, published[part.labels[order]], order, recipe.schema)
    clock.lap("decode")
    evidence = Evidence(
        frame, X, part, centroids, codec, order, rounded, bound, clock.seconds, costs, **extra
    )
    return released, evidence


def _mixed_keys(frame: nw.DataFrame[Any], recipe: Recipe) -> MixedKeys | None:
    """Return the keys with their metrics, where cells are to be made by them."""
    own = {name: recipe.options[name] for name in ("metrics", "weights") if name in recipe.options}
    if recipe.space != "mixed":
        if own:
            raise InputError(f"{' and '.join(own)} are for space='mixed' or method='records'")
        return None
    able = [name for name, one in registry.algorithms().items() if "mixed" in one.spaces]
    if registry.get(recipe.method).name not in able:
        raise InputError(
            f"method {recipe.method!r} makes no cells in a mixed space; these do: {', '.join(able)}"
        )
    wrong = [name for name, given in own.items() if not isinstance(given, Mapping)]
    if wrong:
        raise InputError(f"{' and '.join(wrong)} must be a mapping from columns")
    return MixedKeys.fit(frame, recipe.schema, rng=check_seed(recipe.seed), **own)


def _mask(
    frame: nw.DataFrame[Any], recipe: Recipe, clock: _Clock, tell: Progress, notes: list[Warning]
) -> tuple[nw.DataFrame[Any], Evidence]:
    """Mask the records one by one, by a method that makes no cells."""
    method = masks()[recipe.method]
    for name, idle in (("enforce", recipe.enforce != "auto"), ("time_limit", recipe.time_limit is not None)):
        if idle:
            raise InputError(
                f"method {recipe.method!r} makes no cells and has no use for {name}: leave it out"
            )
    _enough_or_one(recipe.least, len(frame))
    check_options(method, recipe.options)
    if recipe.seed is not None:
        notes.append(
            UserWarning(
                f"method {recipe.method!r} was given a seed, and the recipe holds it: whoever has the recipe "
                "can take the noise off the release. Keep the recipe to yourself, or give no seed"
            )
        )
    masked = method.function(frame, recipe.schema, seed=recipe.seed, progress=tell, **recipe.options)
    notes.extend(UserWarning(note) for note in masked.notes)
    clock.lap("mask")
    order = _fresh_order(len(frame))
    columns = [name for name in frame.columns if name in masked.frame.columns]
    released = tidy(nw.maybe_reset_index(masked.frame.select(columns)[order]))
    codec = X = rounded = None
    with contextlib.suppress(SchemaError, InputError):  # a key without coordinates, such as text
        codec = Codec.fit(frame, recipe.schema)
        X = codec.encode(frame)
        rounded = published_loss(X, codec.encode(masked.frame))
    clock.lap("compare")
    evidence = Evidence(frame, X, None, None, codec, order, rounded, seconds=clock.seconds, masked=masked)
    return released, evidence


def _fresh_order(n: int) -> NDArray[np.int64]:
    """Return a random order of rows; never from the seed, because recipes travel."""
    return np.random.default_rng().permutation(n)


def _cells(
    X: NDArray[np.float64], k: int, recipe: Recipe, progress: Progress, mixed: MixedKeys | None
) -> tuple[Partition, Bound | None]:
    """Partition the records, and say what was proven about the loss on the way."""
    chosen = registry.get(recipe.method)
    extra: dict[str, Any] = dict(recipe.options)
    space: Space = Euclidean()
    if mixed is not None:
        X, space = mixed.space.codes.astype(np.float64), mixed.space
        extra = {name: value for name, value in extra.items() if name not in ("metrics", "weights")}
    if "time_limit" in chosen.options:
        extra["time_limit"] = recipe.time_limit
    check_options(chosen, extra)
    if recipe.method == "auto" and len(X) >= 2 * k:  # the same work, with what it proved
        return solve(X, k, space=space, rng=check_seed(recipe.seed), progress=progress, **extra)
    found = partition(X, k, method=recipe.method, space=space, seed=recipe.seed, progress=progress, **extra)
    return found, None


def _demands(recipe: Recipe, frame: nw.DataFrame[Any]) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return the models that cells must obey beyond k, with a judge for each confidential column.

    What no partition can obey is refused here, before the work.
    """
    for model in recipe.required():
        column = getattr(model, "column", None)
        if column is not None and column not in recipe.schema.confidential:
            raise InputError(
                f"{model.name} is about confidential columns, and {column!r} is not declared as one; "
                f"these are: {', '.join(recipe.schema.confidential) or 'none'}"
            )
    demands: list[tuple[str, tuple[Judge, ...]]] = [
        (str(model), model.judges(frame, recipe.schema))
        for model in recipe.required()
        if model.required is not None and isinstance(model, ConfidentialModel)
    ]
    refuse_impossible([judge for _, judges in demands for judge in judges])
    return demands


def _obey(
    X: NDArray[np.float64],
    k: int,
    part: Partition,
    demands: list[tuple[str, tuple[Judge, ...]]],
    recipe: Recipe,
    progress: Progress,
) -> tuple[Partition, tuple[Cost, ...]]:
    """Make the cells obey one model after the other, and say what each cost.

    Cells that obey more models are a solution for fewer, too: where the search was luckier with more, that
    is the cost of fewer.
    """
    found = [(f"k-anonymity={k}", part, "none")]
    judges: list[Judge] = []
    for name, own in demands:
        judges += own
        before = found[-1][1]
        # Cells that obeyed the models before may obey this one, too. If not, begin with k-anonymous ones.
        lucky = all(np.all(judge.holds(judge.values(before.labels, before.n_cells))) for judge in judges)
        result = enforce_models(
            X,
            before if lucky else part,
            k=k,
            judges=judges,
            method=recipe.enforce,
            progress=progress,
            seed=recipe.seed,
        )
        found.append((name, result.partition, result.method))
    costs: list[Cost] = []
    least = np.inf
    for name, cells, how in reversed(found):
        least = min(least, information_loss(X, cells))
        costs.append(Cost(name, float(least), how))
    return found[-1][1], tuple(reversed(costs))


def _assemble(
    frame: nw.DataFrame[Any], published: nw.DataFrame[Any], order: NDArray[np.int64], schema: Schema
) -> nw.DataFrame[Any]:
    """Put the released columns together in the original's order of columns; keys are in the new order."""
    kept = [name for name in frame.columns if schema[name].role != "identifier"]
    parts = [published]
    rest = [name for name in kept if name not in schema.keys]
    if rest:
        parts.append(frame.select(rest)[order])
    return tidy(nw.concat([nw.maybe_reset_index(part) for part in parts], how="horizontal").select(kept))


def _texts(models: Model | str | Sequence[Model | str]) -> tuple[str, ...]:
    """Return models as texts; a single one may be given without a list."""
    listed = [models] if isinstance(models, (str, Model)) else models
    return tuple(str(model) for model in listed)


def _same_columns(frame: nw.DataFrame[Any], schema: Schema) -> None:
    """Refuse a table that is not the one the schema describes."""
    kept = {name for name in schema.names if name not in schema.identifiers}
    lost, new = sorted(kept - set(frame.columns)), sorted(set(frame.columns) - set(schema.names))
    if lost:
        raise SchemaError(f"the recipe names columns that the table does not have: {', '.join(lost)}")
    if new:
        raise SchemaError(f"the table has columns to which the recipe gives no role: {', '.join(new)}")


def _said(*arguments: Any) -> bool:
    """Say whether any argument was given; a zero counts."""
    return any(
        argument is not None and argument is not False and argument not in ((), [], {})
        for argument in arguments
    )


def _enough_or_one(k: int, n: int) -> int:
    """Check k where one was asked for; 1 asks for nothing."""
    return k if k == 1 else _enough(k, n)


def _enough(k: int, n: int) -> int:
    """Check k; too few records for it is a guarantee that cannot be met."""
    if isinstance(k, Integral) and k > n > 0:
        raise GuaranteeError(
            f"k={k} cannot be reached with {n} records: there are fewer records than that in all"
        )
    return check_k(k, n)


class _Clock:
    """Seconds per stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now
