"""Sections for the data holder: they compare the release with the originals."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.evaluate.risk import risk as measure_risk
from voronym.report import figures, public
from voronym.report.figures import percent
from voronym.report.parts import Block, Section, Table, names, plural, share, svg
from voronym.report.plane import heaviest, principal_axes, sample_cells
from voronym.report.public import View
from voronym.report.svg import clean

MOST_POINTS = 2000
MOST_CELLS = 240
MOST_BARS = 40


def plane(evidence: Any) -> Section:
    """Show records, cells and centroids on the first two principal axes of the encoded keys."""
    X, part = evidence.X, evidence.partition
    flat = principal_axes(X)
    cells = sample_cells(part.labels, part.n_cells, MOST_POINTS)
    if len(cells) > MOST_CELLS:
        cells = np.sort(np.random.default_rng(0).permutation(cells)[:MOST_CELLS])
    place = np.full(part.n_cells, -1, dtype=np.int64)
    place[cells] = np.arange(len(cells))
    own = place[part.labels]
    shown = np.flatnonzero(own >= 0)
    shown = shown if len(shown) <= MOST_POINTS else np.sort(np.random.default_rng(0).permutation(shown)[:MOST_POINTS])
    middle = np.array([flat.points[part.labels == c].mean(axis=0) for c in cells])
    drawing = figures.scatter_cells(
        flat.points[shown],
        own[shown],
        middle,
        part.sizes[cells],
        axes=flat.axes,
        title="Records and cells in the plane",
        desc=f"{len(shown)} records in {len(cells)} cells on the first two principal axes of the encoded keys.",
    )
    blocks = [(clean(b.name), b.start, b.stop) for b in getattr(evidence.codec, "blocks", ())]
    rows: list[tuple[object, ...]] = [("records", part.n), ("drawn", len(shown)), ("cells", part.n_cells), ("drawn", len(cells))]
    for axis in range(min(2, X.shape[1])):
        title = ("first", "second")[axis] + " axis: share of variance"
        rows.append((title, percent(100 * flat.shares[axis])))
    all_of = len(cells) == part.n_cells and len(shown) == part.n
    note = "All records are drawn." if all_of else "Whole cells were drawn at random, with a fixed seed."
    leads = [
        f"{('first', 'second')[axis]} axis mostly {names(found)}"
        for axis in range(min(2, X.shape[1]))
        if (found := heaviest(flat, blocks, axis))
    ]
    if leads and X.shape[1] > 1:
        note += f" The axes: {'; '.join(leads)}."
    if X.shape[1] > 2:
        note += " Cells that overlap here lie apart in the other directions."
    lead = (
        "Each dot is a record, each tinted shape a cell, each ring the centre that is published for all of its records. "
        "Small shapes lose little."
    )
    return Section("plane", "Records and cells in the plane", lead, (Block(figure=svg(drawing), table=Table.of(("figure", "value"), rows), note=note),))


def loss_per_column(evidence: Any) -> list[tuple[str, float]]:
    """Return each key's loss in percent: 100 SSE / SST over its block of encoded coordinates."""
    X, part = evidence.X, evidence.partition
    gone = np.square(X - evidence.centroids[part.labels]).sum(axis=0)
    there = np.square(X - X.mean(axis=0)).sum(axis=0)
    out = []
    for block in evidence.codec.blocks:
        total = float(there[block.start : block.stop].sum())
        out.append((block.name, 100 * float(gone[block.start : block.stop].sum()) / total if total > 0 else 0.0))
    return out


def losses(evidence: Any, total: float | None) -> Section:
    """Show what each key lost."""
    rows = sorted(loss_per_column(evidence), key=lambda row: -row[1])
    shown = rows[:MOST_BARS]
    drawing = figures.loss_bars(
        [clean(n) for n, _ in shown],
        [v for _, v in shown],
        total=total,
        title="Information loss of each key",
        desc=f"Loss in percent of the variance for {len(shown)} keys, largest first; the line marks the loss of all keys together.",
    )
    table = Table.of(("key", "loss"), [(name, percent(value)) for name, value in rows])
    lead = "The share of a key’s variance that is gone. 0 % means as before, 100 % that only its average is left."
    note = "" if len(shown) == len(rows) else f"The {len(shown)} largest of {plural(len(rows), 'key')}."
    return Section("loss", "Information loss of each key", lead, (Block(figure=svg(drawing), table=table, note=note),))


def risk(view: View, evidence: Any, linkage: Any = None) -> Section:
    """Show the risk before and after, and how often an attacker who has the originals links them right."""
    before = measure_risk(evidence.original, view.keys)
    rows: list[tuple[str, float | None, float | None, tuple[float, float] | None]] = [
        (label, 100 * old, 100 * new, None)
        for (label, old), (_, new) in zip(public.risk_rows(before), public.risk_rows(view.risk), strict=True)
    ]
    table_rows: list[tuple[object, ...]] = [
        (label, share(old), share(new))
        for (label, old), (_, new) in zip(public.risk_rows(before), public.risk_rows(view.risk), strict=True)
    ]
    note = ""
    if linkage is not None:
        label = "Original records linked to the right record"
        rows.append((label, None, 100 * linkage.value, (100 * linkage.low, 100 * linkage.high)))
        spread = f"{share(linkage.value)} ({share(linkage.low)} to {share(linkage.high)})"
        table_rows.append((label, None, spread))
        note = (
            "Linking: somebody who holds the original keys takes, for each, the nearest released record. "
            f"Measured on {plural(int(linkage.n), 'record')}; the range is the 95 % confidence interval."
        )
    drawing = figures.dot_ranges(
        rows,
        title="Risk of re-identification before and after",
        desc="Risks in percent, grey before and blue after; the table has the figures.",
        unit=" %",
    )
    lead = (
        f"{plural(before.unique, 'original record')} of {before.records:,} had a combination of keys of "
        f"{'its' if before.unique == 1 else 'their'} own. Now {'none has' if view.risk.unique == 0 else f'{view.risk.unique:,} have'}."
    )
    table = Table.of(("risk", "before", "after"), table_rows)
    return Section("risk", "Risk of re-identification", lead, (Block(figure=svg(drawing), table=table, note=note, legend=True),))


def distributions(view: View, original: nw.DataFrame[Any]) -> Section:
    """Show each key before and after."""
    return public.distributions(view, original)


def steps(evidence: Any) -> tuple[str, ...]:
    """Say how each key was encoded and how long the stages took."""
    describe = getattr(evidence.codec, "describe", None)
    out = [clean(sentence) for sentence in describe()] if callable(describe) else []
    if evidence.seconds:
        spent = ", ".join(f"{clean(stage)} {seconds:.2f} s" for stage, seconds in evidence.seconds.items())
        out.append(f"Time: {spent}.")
    return tuple(out)
