"""The work in a leaf: choose records to leave out, group, improve, publish.

Publishing uses the same code as a table in memory, with totals of the whole data set
(`voronym.table.totals`). So people, strata, weights, models and all ways of publishing work in a leaf, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym._cuda.device import choose
from voronym.core import numerics
from voronym.core.context import Context
from voronym.errors import GuaranteeError, hint
from voronym.evaluate.moved import KeyChange, key_changes
from voronym.keyspaces import Coordinates
from voronym.methods.grouped import Kept
from voronym.methods.leaving import leave_out, prices, who_compares
from voronym.problem import Problem
from voronym.request.recipe import Recipe
from voronym.result import Grouped, Masked
from voronym.run.memory import mask_by
from voronym.run.parts import spill
from voronym.run.parts.coding import HOME, PERSON, Coding
from voronym.run.parts.grouping import SEARCHES, WIDTH, Groups, begin, improve, stretch, visits
from voronym.run.parts.job import Job, stage
from voronym.run.parts.learn import Cuts, Stratum, judged_counts, strata_of
from voronym.space import Euclidean
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
GROUP = "voronym: group"
"""The column of a group's number in the work folder."""


def travels(recipe: Recipe) -> bool:
    """Whether groups move between leaves: for rows of equal weight, with a search in coordinates."""
    plain = recipe.space == "euclidean" and recipe.weights is None and not recipe.strata
    return plain and recipe.method in SEARCHES and recipe.schema.person is None


def leaf_rows(job: Job, turn: int, number: int) -> tuple[pl.DataFrame, Ints | None]:
    """Read the records of some leaves, and their groups."""
    first, last, tasks = job.recall(f"ranges-{turn}")[number]
    if turn == 0 and job.decided("left"):
        frames = spill.gather([job.path("kept", number)], 0, 1)
        return pl.concat(frames), None
    frames = spill.gather(job.paths(f"round@{turn}", tasks), first, last)
    if turn == 0:
        return pl.concat(frames), None
    labels, at = [], 0
    for frame in frames:
        group = frame[GROUP].to_numpy()
        here = np.cumsum(np.diff(group, prepend=group[:1]) != 0) + at
        labels.append(here)
        at = int(here[-1]) + 1
    return pl.concat(frames).drop(GROUP), np.concatenate(labels).astype(np.int64)


def context(job: Job, *seed: int, share: float = 1.0) -> Context:
    """Return the context of a task in a leaf: its device, and its share of a time limit."""
    ctx = job.context(*seed, device=choose(job.recipe.device))
    limit = job.recipe.time_limit
    return ctx if limit is None else ctx.limited(limit * share)


def squares(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of squares of each encoded key; the keys have mean 0 over the data set."""
    return np.asarray(np.einsum("ij,ij->j", X, X), np.float64)


# -- leaving records out -----------------------------------------------------------------------------------


@stage("score")
def score(job: Job, number: int) -> dict[Stratum, Any]:
    """Return the highest prices (distances from other records) of a leaf's records, by stratum."""
    recipe = job.recipe
    packed, _ = leaf_rows(job, 0, number)
    table = job.coding.table(packed, None)
    table.totals = job.totals
    ctx = context(job, 5, number)
    problem, crowd, _ = who_compares(table, ctx, recipe, max(recipe.required_k, 2))
    price = prices(problem, ctx)
    labels = strata_of(crowd.table.frame.to_native(), recipe.strata)
    out: dict[Stratum, Any] = {}
    for stratum in dict.fromkeys(labels):
        own = price[[label == stratum for label in labels]]
        most = min(len(own), max(1, int(np.ceil(2.0 * recipe.suppress * len(own))) + 16))
        out[stratum] = (len(own), np.sort(np.partition(own, len(own) - most)[len(own) - most :]))
    return out


@stage("leave")
def leave(job: Job, number: int) -> dict[str, Any]:
    """Leave out the costliest records of a leaf, within its share of the budget."""
    recipe = job.recipe
    packed, _ = leaf_rows(job, 0, number)
    table = job.coding.table(packed, None)
    table.totals = job.totals
    ctx = context(job, 6, number, share=0.1)
    k = max(recipe.required_k, 2)
    problem, crowd, _ = who_compares(table, ctx, recipe, k)
    budget: dict[Stratum, float] = job.recall("budget")
    labels = strata_of(crowd.table.frame.to_native(), recipe.strata)
    names = list(dict.fromkeys(labels))
    of = np.array([names.index(label) for label in labels], np.int64)
    price = prices(problem, ctx)
    most = [
        min(int((price[of == at] >= budget[stratum]).sum()), max(0, int((of == at).sum()) - k))
        for at, stratum in enumerate(names)
    ]
    left = leave_out(problem, recipe.suppress, ctx, of, most=most)
    rows = np.flatnonzero(left.kept if crowd.of_row is None else left.kept[crowd.of_row])
    gone = np.setdiff1d(np.arange(table.n), rows)
    kept = packed[rows]
    spill.spill(job.path("kept", number), kept, np.zeros(len(kept), np.int64), 1)
    judged = judged_counts(job.coding.table(kept, None), job) if len(kept) else {}
    return {"rows": len(kept), "left": int((~left.kept).sum()), "of": len(left.kept), "counts": judged,
            "gone": len(gone)}  # fmt: skip


# -- grouping and publishing -------------------------------------------------------------------------------


@stage("round")
def group_leaf(job: Job, which: tuple[int, int]) -> dict[str, Any]:
    """Group or improve the records of some leaves, then send whole groups on, or publish them."""
    turn, number = which
    recipe = job.recipe
    coding: Coding = job.coding
    packed, labels = leaf_rows(job, turn, number)
    share = len(packed) / max(job.rows, 1)
    ctx = context(job, 3, turn, number, share=0.8 * share * job.workers / job.rounds)
    X = coding.encode(packed)
    if not travels(recipe):
        return publish(job, number, packed, X, None, ctx)
    problem = Problem(Euclidean().records(X * coding.scale), recipe.required_k)
    options = recipe.method_options
    if labels is None:
        labels = begin(problem, recipe.method, options, ctx)
    groups = improve(
        problem,
        labels,
        ctx,
        sweeps=getattr(options, "sweeps", visits(problem.k, X.shape[1])),
        width=getattr(options, "candidates", WIDTH),
        ends=stretch(turn, job.rounds),
        kinds=coding.kinds,
    )
    if turn + 1 == job.rounds:
        return publish(job, number, packed, X, groups, ctx)
    cuts: Cuts = job.recall("cuts")[turn + 1]
    leaf = cuts.route(groups.centres, None, number)
    order = np.argsort(groups.labels, kind="stable")  # whole groups, one after the other
    sent = packed[order].with_columns(pl.Series(GROUP, groups.labels[order].astype(np.int32)))
    counts = spill.spill(job.path(f"round@{turn + 1}", number), sent, leaf[groups.labels[order]], cuts.leaves)
    return {"rows": problem.n, "counts": counts, "error": groups.cost, "spread": float(squares(X).sum())}


@dataclass(frozen=True)
class Shape:
    """The form of the released rows, as the first published leaf knows it."""

    schema: Schema | None
    columns: tuple[str, ...]


def publish(
    job: Job, number: int, packed: pl.DataFrame, X: NDArray[np.float64], groups: Groups | None, ctx: Context
) -> dict[str, Any]:
    """Mask the records of a leaf like a table in memory, and send the rows to random files."""
    recipe, coding = job.choices, job.coding
    table = coding.table(packed, job.totals)
    coordinates = Coordinates.given(table, X)
    given = None if groups is None else Kept(groups.labels, None, "")
    try:
        masked = mask_by(recipe, table, ctx, given)
    except GuaranteeError as error:
        raise GuaranteeError(
            f"a leaf of {table.n:,} neighbouring records cannot keep the promise ({error}). Larger leaves "
            f"resemble the whole table more: raise {hint('leaf')}, or ask for less"
        ) from None
    made: pl.DataFrame = masked.frame.to_native()
    send(job, number, made, packed)
    figures = _figures(job, table, coordinates, masked, X, groups)
    return {"rows": len(made), "heads": _heads(packed), **figures}


def send(job: Job, number: int, rows: pl.DataFrame, packed: pl.DataFrame) -> None:
    """Send published rows to files at random, with the units behind them for the count."""
    units = [packed[name] for name in (PERSON, HOME) if name in packed.columns]
    files = int(job.recall("files"))
    # Never from the seed: recipes are passed on, and their readers must not be able to undo the order.
    to = np.random.default_rng().integers(files, size=len(rows))
    spill.spill(job.path("published", number), rows.with_columns(units), to, files)


def _heads(packed: pl.DataFrame) -> int:
    """Return the number of people; of rows if these are people."""
    return packed[PERSON].n_unique() if PERSON in packed.columns else len(packed)


def _figures(
    job: Job,
    table: Table,
    coordinates: Coordinates,
    masked: Masked,
    X: NDArray[np.float64],
    groups: Groups | None,
) -> dict[str, Any]:
    """Return the figures of a leaf: sums that add up over all leaves."""
    spreads = squares(X)
    out: dict[str, Any] = {
        "spread": float(spreads.sum()),
        "spreads": spreads,
        "notes": list(masked.notes),
        "public_notes": list(masked.public_notes),
        "log": list(masked.log),
        "shape": Shape(masked.schema, tuple(masked.frame.columns)),
        "figures": masked.figures.of_leaf,
        "counts": judged_counts(table.like(masked.frame), job) if job.judged else {},
    }
    if not isinstance(masked, Grouped) or masked.partition is None:
        return {**out, "groups": None, "error": 0.0}
    out["changes"] = _changes(job, table, masked)
    part = masked.partition
    means = coordinates.records.centroids(part)
    out |= {
        "groups": part.n_cells,
        "error": float(numerics.error(X, means, part.labels).sum()),
        "error_before": None if groups is None else groups.cost,
    }
    if masked.schema is not None:
        return out  # ranges have no variance
    # All records of a group publish the same keys: the first one of each stands for them.
    first = first_rows(part.labels, part.n_cells)
    shown = table.rows(first).like(masked.frame[first.tolist()].select(list(table.keys)), units=None)
    bare = Table(shown.frame, table.schema, totals=job.totals)
    out["lost"] = numerics.error(X, job.coding.codec.encode(bare), part.labels)
    out["published"] = {
        name: np.unique(known.lookup(bare[name])[known.lookup(bare[name]) >= 0])
        for name, known in job.coding.levels.items()
    }
    return out


def _changes(job: Job, table: Table, masked: Masked) -> list[KeyChange]:
    """Return the changes of the keys of a leaf, except keys that steps change."""
    touched = {name for step in job.recipe.column_steps for name in step.columns}
    result = key_changes(table.frame, masked.frame, table.schema, np.arange(table.n), job.recipe.trees)
    return [item for item in result if item.key not in touched]


__all__ = ["GROUP", "Shape", "group_leaf", "leave", "publish", "score", "send", "travels"]
