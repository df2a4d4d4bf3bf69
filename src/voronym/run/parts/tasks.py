"""The tasks of all stages, from files to a release in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.core import numerics
from voronym.errors import InputError, SchemaError, VoronymError
from voronym.methods.grouped import enforcement
from voronym.problem import Problem
from voronym.result import Grouped
from voronym.run import checks
from voronym.run.memory import make_release
from voronym.run.parts import spill, statistics
from voronym.run.parts.coding import Coding, Known
from voronym.run.parts.cuts import Tree, grow
from voronym.run.parts.database import export, is_database
from voronym.run.parts.grouping import (
    SEARCHES,
    WIDTH,
    Groups,
    Whole,
    begin,
    demanding,
    improve,
    judges,
    obey,
    stretch,
    visits,
)
from voronym.run.parts.job import LOOK, SAMPLE, Job, stage
from voronym.run.parts.source import Part, load
from voronym.run.parts.texts import Written, written
from voronym.space import Euclidean
from voronym.table.conform import as_codes
from voronym.table.read import read
from voronym.table.schema import Schema, no_role
from voronym.table.source import source_of
from voronym.table.table import Table
from voronym.table.values import Values

Ints = NDArray[np.int64]
GROUP = "voronym: group"
"""The column of a group's number in the work folder."""


# -- before the work ---------------------------------------------------------------------------------------


@stage("convert")
def convert(job: Job, number: int) -> tuple[list[str], Written | None]:
    """Read a text file, or a query, and keep it as Parquet, without identifiers.

    Return its columns, and how a text file is written.
    """
    name = job.names[number]
    if is_database(Path(job.files[number])):
        with spill.whole(job.path("text", number, "parquet")) as temporary:
            columns = export(
                Path(job.files[number]),
                job.reading.get("query"),
                lambda columns: _kept_names(job, columns),
                temporary,
                job.work / "text-spare",
            )
        return columns, None
    try:
        frame = read(job.files[number], **job.reading)
        columns = frame.columns
        source = source_of(frame)
        kept = _kept_names(job, columns)
        made = {one: frame[one] for one in columns if one in kept}
        for one, kind in (job.request.columns.kinds or {}).items():
            if kind == "nominal" and one in made:
                codes = as_codes(Values(nw.from_native(made[one], series_only=True)), source)
                made[one] = made[one] if codes is None else codes.to_native()
        with spill.whole(job.path("text", number, "parquet")) as temporary:
            pl.DataFrame(made).write_parquet(temporary, row_group_size=100_000)
    except VoronymError as error:
        raise _about(error, name) from None
    return columns, written(source, frame, kept)


def _kept_names(job: Job, columns: Sequence[str]) -> set[str]:
    """Return the columns that are no identifiers; say which have no role."""
    if job.everything:
        return set(columns)
    if job.fixed is not None:
        return {column.name for column in job.fixed.schema if column.role != "identifier"}
    roles = job.request.columns
    kept = {*roles.keys, *roles.confidential, *roles.other}
    named = kept | {*roles.identifiers, roles.person, roles.household}
    strange = [name for name in columns if name not in named]
    if strange and not roles.drop_undeclared:
        raise SchemaError(no_role(strange, len(columns)))
    return kept


@stage("look")
def look(job: Job, number: int) -> dict[str, Any]:
    """Look at some rows of many parts: kinds of columns, doubts; return the recipe and the warnings."""
    del number
    frame = _some(job)
    try:
        table = _table(job, frame)
    except VoronymError as error:
        raise _blamed(job, error) from None
    recipe = job.request.recipe(table) if job.fixed is None else job.fixed
    if recipe.schema.units:
        raise InputError(
            "rows of one person or household may lie in any file, and data sets of many files are grouped "
            "row by row: make one row of each person first, or anonymize a single table"
        )
    if recipe.time_limit is not None:
        raise InputError("a time limit would make the release depend on the machine: leave it out")
    demanding(recipe.required, recipe.schema.confidential)
    doubts = checks.before(table, recipe)
    return {"recipe": recipe, "notes": [str(one) for one in doubts], "looked_at": len(frame)}


def _table(job: Job, frame: pl.DataFrame) -> Table:
    return job.request.table(frame) if job.fixed is None else Table.of(frame, job.fixed.schema)


def _blamed(job: Job, error: VoronymError) -> VoronymError:
    """Return an error that names the file it comes from, where some files are wrong and others are not."""
    data, wrong = job.dataset, {}
    columns = [name for name, kind in data.types.items() if kind != pl.Null]
    looked = {part.path: part for part in reversed(data.parts)}
    for part in list(looked.values())[:64]:
        frame = load(part, columns, data.types, LOOK // 20)
        rest = (pl.lit(None).alias(name) for name in data.types if name not in columns)
        try:
            _table(job, frame.with_columns(rest).select(list(data.types)))
        except VoronymError:
            wrong[part.path] = part.name
    return _about(error, min(wrong.values())) if 0 < len(wrong) < len(looked) else error


def _some(job: Job) -> pl.DataFrame:
    """Read all of a small data set, or the first rows of parts that are evenly spaced."""
    parts: Sequence[Part] = job.dataset.parts
    rows = None
    if job.dataset.rows > LOOK:
        chosen = np.unique(np.linspace(0, len(parts) - 1, min(len(parts), 20)).astype(int))
        parts, rows = [parts[i] for i in chosen], LOOK // len(chosen)
    return _joined(job, parts, rows)


def _joined(job: Job, parts: Sequence[Part], rows: int | None = None) -> pl.DataFrame:
    """Read some parts as one table; of columns that text files had and that were not kept, only the name."""
    types = job.dataset.types
    absent = [name for name, kind in types.items() if kind == pl.Null]
    columns = [name for name in types if name not in absent]
    frame = pl.concat([load(part, columns, types, rows) for part in parts])
    return frame.with_columns(pl.lit(None).alias(name) for name in absent).select(list(types))


# -- one leaf for all --------------------------------------------------------------------------------------


@stage("whole")
def whole(job: Job, number: int) -> dict[str, Any]:
    """Make the release of a data set that fits one leaf, as in memory."""
    del number
    data, recipe = job.dataset, job.recipe
    frame = _joined(job, data.parts)
    ctx = job.context()
    ctx.rng = np.random.default_rng(recipe.seed)
    release = make_release(Table.of(frame, recipe.schema), recipe, ctx)
    if job.report:
        job.decide("dossier", release.dossier())
    table: pl.DataFrame = nw.from_native(release.table, eager_only=True).to_polars()
    files = int(job.recall("files"))
    to = np.random.default_rng().integers(files, size=len(table))
    spill.spill(job.path("published", 0), table, to, files)
    masked = None if release._evidence is None else release._evidence.masked
    groups = (
        masked.partition.n_cells if isinstance(masked, Grouped) and masked.partition is not None else None
    )
    return {
        "notes": list(release.warnings),
        "group_loss": release.group_loss,
        "information_loss": release.information_loss,
        "groups": groups,
        "rows": len(table),
    }


# -- pass 1, cuts, and the shuffle -------------------------------------------------------------------------


def _read(job: Job, part: Part) -> Table:
    """Read a part, brought to the schema."""
    recipe, data = job.recipe, job.dataset
    kept = [name for name in data.types if recipe.schema[name].role != "identifier"]
    try:
        return Table.of(load(part, kept, data.types), recipe.schema, only=kept)
    except VoronymError as error:
        raise _about(error, part.name) from None


def _about(error: VoronymError, name: str) -> VoronymError:
    """Return an error that names the file it is about."""
    text = str(error)
    return type(error)(text if repr(name) in text else f"{name!r}: {text}")


@stage("scan")
def scan(job: Job, number: int) -> dict[str, int]:
    """Learn what is to be known of a part, and keep a sample of its keys."""
    part, recipe, data = job.dataset.parts[number], job.recipe, job.dataset
    table = _read(job, part)
    models = demanding(recipe.required, recipe.schema.confidential)
    try:
        found = statistics.look(table, recipe.schema, recipe.schema.confidential if models else ())
    except VoronymError as error:
        raise _about(error, part.name) from None
    many = min(table.n, int(np.ceil(SAMPLE * table.n / max(data.rows, SAMPLE))))
    rows = job.context(1, number).rng.choice(table.n, many, replace=False)
    sample = table.frame.to_native().select(list(recipe.schema.keys))[np.sort(rows)]
    spill.keep(job.path("scan", number, "pickle"), (found, sample))
    return {"rows": table.n}


@stage("cut")
def cut(job: Job, number: int) -> dict[str, Any]:
    """Merge what is known, in the order of the parts, and cut a sample into leaves, once for each round."""
    del number
    data, recipe = job.dataset, job.recipe
    merged: dict[str, Any] = {}
    samples = []
    for part in data.parts:
        found, sample = spill.recall(job.path("scan", part.number, "pickle"))
        merged = statistics.merge(merged, found, part.name, recipe.schema)
        samples.append(sample)
    coding = Coding(recipe.schema, merged, data.rows)
    packed = [coding.pack(Table.of(one, recipe.schema, only=list(recipe.schema.keys))) for one in samples]
    X = coding.encode(pl.concat(packed))
    leaves = -(-data.rows // job.leaf)
    rngs = [None, *(job.context(2, turn).rng for turn in range(1, job.rounds))]
    job.decide("coding", coding)
    job.decide("trees", [grow(X, leaves, rng, coding.kinds) for rng in rngs])
    return {"sampled": len(X), "coordinates": coding.width, "variances": int(coding.width)}


@stage("spread")
def spread(job: Job, number: int) -> Ints:
    """Send the rows of a part to the leaves of the first cut; return how many each got."""
    part = job.dataset.parts[number]
    coding: Coding = job.recall("coding")
    tree: Tree = job.recall("trees")[0]
    try:
        packed = coding.pack(_read(job, part))
        to = tree.route(coding.encode(packed), turn=sum(one.rows for one in job.dataset.parts[:number]))
    except VoronymError as error:
        raise _about(error, part.name) from None
    return spill.spill(job.path("round@0", number), packed, to, tree.leaves)


# -- rounds ------------------------------------------------------------------------------------------------


@stage("round")
def one_round(job: Job, which: tuple[int, int]) -> dict[str, Any]:
    """Group or improve the records of some leaves, then send whole groups on, or publish them."""
    turn, number = which
    recipe = job.recipe
    coding: Coding = job.recall("coding")
    frames, labels = _leaf(job, turn, number)
    X = coding.encode(frames)
    problem = Problem(Euclidean().records(X), recipe.required_k)
    ctx = job.context(3, turn, number)
    options = recipe.method_options
    if labels is None:
        labels = begin(problem, recipe.method, options, ctx)
    if recipe.method in SEARCHES:
        groups = improve(
            problem,
            labels,
            ctx,
            sweeps=getattr(options, "sweeps", visits(problem.k, X.shape[1])),
            width=getattr(options, "candidates", WIDTH),
            ends=stretch(turn, job.rounds),
            kinds=coding.kinds,
        )
    else:
        groups = Groups.of(problem, labels)
    if turn + 1 == job.rounds:
        return _publish(job, number, frames, problem, groups, ctx)
    tree: Tree = job.recall("trees")[turn + 1]
    leaf = tree.route(groups.centres, turn=number)
    order = np.argsort(groups.labels, kind="stable")  # whole groups, one after the other
    sent = frames[order].with_columns(pl.Series(GROUP, groups.labels[order].astype(np.int32)))
    counts = spill.spill(job.path(f"round@{turn + 1}", number), sent, leaf[groups.labels[order]], tree.leaves)
    return {"rows": problem.n, "counts": counts, "error": groups.cost, "spread": float(_squares(X).sum())}


def _leaf(job: Job, turn: int, number: int) -> tuple[pl.DataFrame, Ints | None]:
    """Read the records of some leaves, and the groups that they are in."""
    first, last, tasks = job.recall(f"ranges-{turn}")[number]
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


def _squares(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squares of encoded keys, whose means over the data set are 0: a share of their spread."""
    return np.asarray(np.einsum("ij,ij->j", X, X), np.float64)


def _publish(
    job: Job, number: int, frame: pl.DataFrame, problem: Problem, groups: Groups, ctx: Any
) -> dict[str, Any]:
    """Make the groups obey models, decode their centres, and send the rows to files at random."""
    recipe = job.recipe
    coding: Coding = job.recall("coding")
    before = groups.cost
    asked = [
        judge
        for model in demanding(recipe.required, recipe.schema.confidential)
        if model.required is not None
        for judge in judges(model, confidential_of(recipe.schema, coding.confidential, frame))
    ]
    if asked:
        groups = Groups.of(problem, obey(problem, groups.labels, asked, ctx, enforcement(recipe)))
    keys = coding.decode(groups.centres, frame, groups.labels)
    shown = coding.encode(coding.repack(keys))
    lost, spreads = numerics.error(problem.points, shown, groups.labels), _squares(problem.points)
    rows = frame.with_columns(keys[groups.labels].get_columns())
    files = int(job.recall("files"))
    # Never from the seed, because recipes travel: who has the recipe must not be able to undo the order.
    to = np.random.default_rng().integers(files, size=len(rows))
    spill.spill(job.path("published", number), rows, to, files)
    return {
        "rows": problem.n,
        "groups": len(groups.centres),
        "error": groups.cost,
        "error_before": before,
        "spread": float(spreads.sum()),
        "lost": lost,
        "spreads": spreads,
        "published": {
            name: np.unique(known.code(_values(keys, name)).drop_nulls().to_numpy())
            for name, known in coding.levels.items()
        },
    }


def _values(frame: pl.DataFrame, name: str) -> Values:
    return Values(nw.from_native(frame[name], series_only=True))


def confidential_of(schema: Schema, all_known: Mapping[str, Known], frame: pl.DataFrame) -> dict[str, Whole]:
    """Return the confidential columns of some records before the whole distribution."""
    out = {}
    for name in schema.confidential:
        known, column = all_known[name], schema[name]
        codes = known.code(_values(frame, name)).fill_null(-1).to_numpy().astype(np.int64)
        out[name] = Whole.of(known, codes, column.kind, column.categories)
    return out
