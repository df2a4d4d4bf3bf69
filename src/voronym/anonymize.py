"""From a table to a release: the one straight line."""

from __future__ import annotations

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
from voronym.microaggregate.auto import solve
from voronym.microaggregate.front import check_k, check_options, check_seed, one_cell_note, partition
from voronym.microaggregate.loss import information_loss
from voronym.partition import Partition
from voronym.privacy import Judge, Model
from voronym.privacy.confidential import ConfidentialModel
from voronym.privacy.enforce import enforce as enforce_models
from voronym.privacy.enforce import refuse_impossible
from voronym.progress import Progress, Step, silent
from voronym.recipe import Recipe
from voronym.release import Cost, Evidence, Release, published_loss
from voronym.space import Euclidean
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
    models: Sequence[Model | str] = (),
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
        The partitioning method ("auto"), its options, the seconds granted to it, and its seed (0).
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
        recipe = Recipe(
            schema=schema,
            k=_enough(5 if k is None else k, len(frame)),
            method="auto" if method is None else method,
            options=dict(options or {}),
            models=tuple(str(model) for model in models),
            enforce="auto" if enforce is None else enforce,
            seed=0 if seed is None else seed,
            time_limit=time_limit,
        )
    elif _said(keys, confidential, identifiers, other, drop_undeclared, kinds, orders, locations) or _said(
        k, method, options, models, enforce, time_limit, seed
    ):
        raise InputError(
            "a recipe states columns, k, method, models and seed: give it alone, or write another"
        )
    schema = recipe.schema
    _same_columns(frame, schema)
    k = _enough(recipe.least, len(frame))  # a model that does not exist is said before the work, not after
    frame = conform(frame, schema)
    doubts = (*check_kinds(frame, schema), *check_other(frame, schema))
    notes: list[Warning] = [UserWarning(note) for note in doubts]

    tell(Step("encode", 0.0))
    codec = Codec.fit(frame, schema)
    X = codec.encode(frame)
    clock.lap("encode")
    demands = _demands(recipe, frame)
    if (single := one_cell_note(len(X), k)) is not None:
        notes.append(single)
    part, bound = _cells(X, k, recipe, tell)
    clock.lap("partition")
    part, costs = _obey(X, k, part, demands, recipe, tell)
    if demands:
        clock.lap("enforce")
    tell(Step("decode", 0.0))
    # Decode the m centroids once, then gather: a mean recomputed per row could differ in its last bits.
    centroids = part.centroids(X)
    published = codec.decode(centroids, part.labels)
    order = np.random.default_rng().permutation(part.n)  # never from the seed: recipes travel
    rounded = published_loss(X, codec.encode(published)[part.labels])
    released = _assemble(frame, published, part.labels, order, schema)
    clock.lap("decode")
    tell(Step("measure", 0.0))
    evidence = Evidence(frame, X, part, centroids, codec, order, rounded, bound, clock.seconds, costs)
    texts = [str(note) for note in notes]
    release = Release(released, recipe, evidence=evidence, notes=texts)
    clock.lap("measure")
    tell(Step("measure", 1.0))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return release


def _cells(
    X: NDArray[np.float64], k: int, recipe: Recipe, progress: Progress
) -> tuple[Partition, Bound | None]:
    """Partition the records, and say what was proven about the loss on the way."""
    chosen = registry.get(recipe.method)
    extra: dict[str, Any] = dict(recipe.options)
    if "time_limit" in chosen.options:
        extra["time_limit"] = recipe.time_limit
    check_options(chosen, extra)
    if recipe.method == "auto" and len(X) >= 2 * k:  # the same work, with what it proved
        return solve(X, k, space=Euclidean(), rng=check_seed(recipe.seed), progress=progress, **extra)
    return partition(X, k, method=recipe.method, seed=recipe.seed, progress=progress, **extra), None


def _demands(recipe: Recipe, frame: nw.DataFrame[Any]) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return the models that cells must obey beyond k, with a judge for each confidential column.

    What no partition can obey is refused here, before the work.
    """
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
    frame: nw.DataFrame[Any],
    published: nw.DataFrame[Any],
    labels: NDArray[np.int64],
    order: NDArray[np.int64],
    schema: Schema,
) -> nw.DataFrame[Any]:
    """Put the released columns together in the original's order of columns and a new order of rows."""
    kept = [name for name in frame.columns if schema[name].role != "identifier"]
    parts = [published[labels[order]]]
    rest = [name for name in kept if name not in schema.keys]
    if rest:
        parts.append(frame.select(rest)[order])
    return tidy(nw.concat([nw.maybe_reset_index(part) for part in parts], how="horizontal").select(kept))


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
