"""Gather statistics of all parts, cut them into leaves, and send rows there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.errors import SchemaError, VoronymError
from voronym.run.parts import spill
from voronym.run.parts.afar import exists
from voronym.run.parts.coding import PERSON, Coding, closed
from voronym.run.parts.cuts import Tree, grow
from voronym.run.parts.job import SAMPLE, Job, stage
from voronym.run.parts.pieces import about, read_piece
from voronym.table import summaries
from voronym.table.summaries import LevelCounts
from voronym.table.table import Table
from voronym.table.units import first_of_each
from voronym.table.values import Values

Ints = NDArray[np.int64]
Stratum = tuple[Any, ...]


@stage("scan")
def scan(job: Job, number: int) -> dict[str, int]:
    """Gather statistics of a piece, and keep a sample of its keys."""
    piece = read_piece(job, number)
    table, schema, choices = piece.table, job.schema, job.recipe
    if table.n == 0:
        return {"rows": 0}
    try:
        known = summaries.summarize(table, schema, ())
        counted = judged_counts(table, job)
    except VoronymError as error:
        raise about(error, job.dataset.parts[min(number, len(job.dataset.parts) - 1)].name) from None
    if choices.weights is not None and choices.publish_weights == "auto":
        known[choices.weights] = LevelCounts.of(table[choices.weights])
    many = min(table.n, int(np.ceil(SAMPLE * table.n / max(job.dataset.rows, SAMPLE))))
    rows = np.sort(job.context(1, number).rng.choice(table.n, many, replace=False))
    sample = table.frame.to_native().select(list(schema.keys))[rows]
    strata = dict(zip(*_counted(strata_of(table.frame.to_native(), choices.strata)), strict=True))
    spill.keep(job.path("scan", number, "json"), (known, counted, sample, strata))
    return {"rows": table.n}


def judged_counts(table: Table, job: Job) -> dict[Stratum, dict[str, LevelCounts]]:
    """Count the values of judged columns by stratum; for people, count each distinct value once."""
    names = job.judged
    if not names:
        return {}
    labels = strata_of(table.frame.to_native(), job.recipe.strata)
    out: dict[Stratum, dict[str, LevelCounts]] = {}
    for stratum in dict.fromkeys(labels):
        rows = np.array([at for at, label in enumerate(labels) if label == stratum], np.int64)
        here = table if len(rows) == table.n else table.rows(rows)
        out[stratum] = {name: _counts(here, name) for name in names}
    return out


def _counts(table: Table, name: str) -> LevelCounts:
    values = table[name]
    if table.persons is None:
        return LevelCounts.of(values)
    once = first_of_each(table.persons, values.codes)
    native = table.frame.to_native()[name][once]
    return LevelCounts.of(Values(nw.from_native(native, series_only=True)))


def strata_of(frame: pl.DataFrame, strata: tuple[str, ...]) -> list[Stratum]:
    """Return the stratum of each row; one and the same without strata."""
    if not strata:
        return [()] * len(frame)
    return frame.select(list(strata)).rows()


def _counted(labels: list[Stratum]) -> tuple[list[Stratum], list[int]]:
    counts: dict[Stratum, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return list(counts), list(counts.values())


@dataclass(frozen=True)
class Cuts:
    """The leaf of each record: a tree for each stratum.

    Parameters
    ----------
    strata : tuple
        The values of each stratum.
    trees : tuple of Tree
        One for each.
    """

    strata: tuple[Stratum, ...]
    trees: tuple[Tree, ...]

    @property
    def leaves(self) -> int:
        """Number of leaves; neighbouring leaves have neighbouring numbers."""
        return sum(tree.leaves for tree in self.trees)

    def route(self, X: NDArray[np.float64], labels: list[Stratum] | None, turn: int) -> Ints:
        """Return the leaf of each record; ``turn`` is the number of the first record in the data set."""
        if len(self.trees) == 1:
            return self.trees[0].route(X, turn=turn)
        assert labels is not None  # noqa: S101 - there are strata
        place = {stratum: at for at, stratum in enumerate(self.strata)}
        of = np.array([place[label] for label in labels], np.int64)
        out = np.empty(len(X), np.int64)
        first = 0
        for at, tree in enumerate(self.trees):
            rows = np.flatnonzero(of == at)
            if len(rows):
                out[rows] = first + tree.route(np.ascontiguousarray(X[rows]), turn=turn)
            first += tree.leaves
        return out


@stage("cut")
def cut(job: Job, number: int) -> dict[str, Any]:
    """Merge the statistics in the order of the pieces, and cut a sample into leaves, once per round."""
    del number
    data, recipe, schema = job.dataset, job.recipe, job.schema
    merged: dict[str, Any] = {}
    counted: dict[Stratum, dict[str, LevelCounts]] = {}
    strata: dict[Stratum, int] = {}
    samples = []
    for piece in range(job.pieces):
        path = job.path("scan", piece, "json")
        if not exists(path):
            continue
        known, counts, sample, here = spill.recall(path)
        name = data.parts[min(piece, len(data.parts) - 1)].name
        merged = summaries.merge(merged, known, name, schema)
        merge_counts(counted, counts)
        for stratum, many in here.items():
            strata[stratum] = strata.get(stratum, 0) + many
        samples.append(sample)
    weighed = merged.pop(recipe.weights, None) if recipe.weights else None
    rows = sum(strata.values())
    judged = whole_counts(counted)
    for name, summary in judged.items():
        summary.check(name, schema)
    job.decide("summaries", {"schema": schema, "summaries": {**merged, **judged}, "rows": rows})
    strata_counts = {stratum: arrays_of(counts, judged) for stratum, counts in counted.items()}
    job.decide("judged", {"judged": judged, "strata": strata_counts, "rows": rows})
    if weighed is not None:
        least = min(weighed.counts.values(), default=0)
        job.decide("weights", "mean" if least < recipe.required_k else "own")
    coding: Coding = job.coding
    packed = [coding.pack(Table.of(part, schema, only=list(schema.keys)), {}) for part in samples]
    X = coding.encode(pl.concat(packed)) * coding.scale
    labels = [label for part in samples for label in strata_of(part, recipe.strata)]
    rngs = [None, *(job.context(2, turn).rng for turn in range(1, job.rounds))]
    job.decide("cuts", [_grown(X, labels, strata, job, rng, coding.kinds) for rng in rngs])
    return {"sampled": len(X), "coordinates": coding.width}


def _grown(
    X: NDArray[np.float64],
    labels: list[Stratum],
    strata: Mapping[Stratum, int],
    job: Job,
    rng: np.random.Generator | None,
    kinds: list[Ints],
) -> Cuts:
    """Cut the sample of each stratum into as many leaves as its records fill."""
    if X.shape[1] == 0:
        raise SchemaError("no key can be compared as a number or a category: one leaf must hold all records")
    names = sorted(strata, key=str)
    place: dict[Stratum, list[int]] = {stratum: [] for stratum in names}
    for row, label in enumerate(labels):
        place[label].append(row)
    trees = [
        grow(np.ascontiguousarray(X[place[stratum]]), -(-strata[stratum] // job.leaf), rng, kinds)
        for stratum in names
    ]
    return Cuts(tuple(names), tuple(trees))


def merge_counts(
    into: dict[Stratum, dict[str, LevelCounts]], other: Mapping[Stratum, Mapping[str, LevelCounts]]
) -> None:
    """Add counts from elsewhere."""
    for stratum, counts in other.items():
        if stratum not in into:
            into[stratum] = dict(counts)
            continue
        for name, summary in counts.items():
            into[stratum][name].merge(summary)


def whole_counts(counted: Mapping[Stratum, Mapping[str, LevelCounts]]) -> dict[str, LevelCounts]:
    """Return the counts of all strata together."""
    out: dict[str, LevelCounts] = {}
    for counts in counted.values():
        for name, summary in counts.items():
            if name not in out:
                out[name] = LevelCounts(summary.dtype)
            out[name].merge(summary)
    return out


def arrays_of(counts: Mapping[str, LevelCounts], judged: Mapping[str, LevelCounts]) -> dict[str, Ints]:
    """Return the counts of a stratum in the order of all levels; missing values last."""
    out = {}
    for name, summary in judged.items():
        many = [counts[name].counts.get(value, 0) for value in summary.ordered]
        out[name] = np.array([*many, counts[name].missing], np.int64)
    return out


@stage("spread")
def spread(job: Job, number: int) -> Ints:
    """Send the rows of a piece to the leaves of the first cut; return the number for each leaf."""
    coding: Coding = job.coding
    cuts: Cuts = job.recall("cuts")[0]
    piece = read_piece(job, number)
    packed = coding.pack(piece.table, piece.units)
    X = coding.encode(packed) * coding.scale
    labels = strata_of(piece.table.frame.to_native(), job.recipe.strata) if job.recipe.strata else None
    turn = number * 1_000_003 if job.decided("pieces") else sum(p.rows for p in job.dataset.parts[:number])
    to = _of_people(X, piece.units, cuts, labels, turn)
    return spill.spill(job.path("round@0", number), packed, to, cuts.leaves)


def _of_people(
    X: NDArray[np.float64],
    units: Mapping[str, pl.Series],
    cuts: Cuts,
    labels: list[Stratum] | None,
    turn: int,
) -> Ints:
    """Return the leaf of each row; all rows of a person go to the leaf of their mean."""
    if PERSON not in units or not len(X):
        return cuts.route(X, labels, turn)
    person = closed(units[PERSON])
    many = np.bincount(person)
    means = np.stack([np.bincount(person, column) for column in X.T], axis=1) / many[:, None]
    chosen = None if labels is None else _most_frequent(person, labels)
    return cuts.route(np.ascontiguousarray(means), chosen, turn)[person]


def _most_frequent(person: Ints, labels: list[Stratum]) -> list[Stratum]:
    """Return the stratum that most rows of each person are in."""
    names = list(dict.fromkeys(labels))
    place = {name: at for at, name in enumerate(names)}
    code = np.array([place[label] for label in labels], np.int64)
    pairs, often = np.unique(person * len(names) + code, return_counts=True)
    order = np.lexsort((pairs % len(names), -often, pairs // len(names)))
    first = np.unique(pairs[order] // len(names), return_index=True)[1]
    return [names[at] for at in (pairs[order][first] % len(names)).tolist()]
