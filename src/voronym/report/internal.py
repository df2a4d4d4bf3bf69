"""Sections for the data holder: they compare the release with the originals."""

from __future__ import annotations

from typing import Any

import numpy as np

from voronym.evaluate.attacks import record_linkage
from voronym.evaluate.risk import risk as measure_risk
from voronym.rate import Rate
from voronym.report import figures, public
from voronym.report.parts import Block, Section, Table, decimal, names, plural, share, svg
from voronym.report.plane import heaviest, principal_axes, sample_cells
from voronym.report.public import View
from voronym.report.svg import clean, moment, percent

MOST_POINTS = 2000
MOST_CELLS = 150
MOST_OVERLAPPING = 80  # cells of more than two keys overlap in the plane
MOST_BARS = 40
MOST_PAIRS = 8


def plane(evidence: Any) -> Section:
    """Show records, cells and centroids on the first two principal axes of the encoded keys."""
    X, part = evidence.X, evidence.partition
    flat = principal_axes(X)
    cells = sample_cells(part.labels, part.n_cells, MOST_POINTS)
    most = MOST_CELLS if len(evidence.codec.blocks) <= 2 else MOST_OVERLAPPING
    if len(cells) > most:
        cells = np.sort(np.random.default_rng(0).permutation(cells)[:most])
    place = np.full(part.n_cells, -1, dtype=np.int64)
    place[cells] = np.arange(len(cells))
    own = place[part.labels]
    shown = np.flatnonzero(own >= 0)
    shown = (
        shown
        if len(shown) <= MOST_POINTS
        else np.sort(np.random.default_rng(0).permutation(shown)[:MOST_POINTS])
    )
    middle = part.centroids(flat.points)[cells]
    flatland = X.shape[1] == 1
    if flatland:
        middle[:, 1] = 0.5
    drawing = figures.scatter_cells(
        flat.points[shown],
        own[shown],
        middle,
        part.sizes[cells],
        axes=flat.axes,
        most_hulls=0 if flatland else len(cells),
        title="Records and cells in the plane",
        desc=(
            f"{len(shown)} records in {len(cells)} cells on the first two principal axes of the encoded keys."
        ),
    )
    blocks = [(clean(b.name), b.start, b.stop) for b in getattr(evidence.codec, "blocks", ())]
    rows: list[tuple[object, ...]] = [
        ("records", part.n),
        ("records drawn", len(shown)),
        ("cells", part.n_cells),
        ("cells drawn", len(cells)),
    ]
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
        f"Each dot is a record, each {'colour' if flatland else 'tinted shape'} a cell, each ring the "
        + (
            "mean of its records; what is published is a combination of real values near it. "
            if getattr(evidence, "fates", None)  # cells of a mixed space
            else "centre that is published for all of its records. "
        )
        + f"{'Narrow cells' if flatland else 'Small shapes'} lose little."
    )
    return Section(
        "plane",
        "Records and cells in the plane",
        lead,
        (Block(figure=svg(drawing), table=Table.of(("figure", "value"), rows), note=note),),
    )


def loss_per_column(evidence: Any) -> list[tuple[str, float]]:
    """Return each key's loss in percent: 100 SSE / SST over its block of encoded coordinates."""
    X, part = evidence.X, evidence.partition
    gone = np.square(X - evidence.centroids[part.labels]).sum(axis=0)
    there = np.square(X - X.mean(axis=0)).sum(axis=0)
    out = []
    for block in evidence.codec.blocks:
        total = float(there[block.start : block.stop].sum())
        out.append(
            (block.name, 100 * float(gone[block.start : block.stop].sum()) / total if total > 0 else 0.0)
        )
    return out


def losses(evidence: Any, total: float | None, utility: Any = None) -> Section:
    """Show what each key lost."""
    rows = sorted(loss_per_column(evidence), key=lambda row: -row[1])
    shown = rows[:MOST_BARS]
    drawing = figures.loss_bars(
        [clean(n) for n, _ in shown],
        [v for _, v in shown],
        total=total,
        title="Information loss of each key",
        desc=(
            f"Loss in percent of the variance for {len(shown)} keys, largest first; the line marks the loss "
            "of all keys together."
        ),
    )
    published = dict(getattr(utility, "loss_by_key", None) or {})
    if published:
        table = Table.of(
            ("key", "loss", "as published"),
            [(name, percent(value), percent(published.get(name))) for name, value in rows],
        )
    else:
        table = Table.of(("key", "loss"), [(name, percent(value)) for name, value in rows])
    lead = (
        "The share of a key’s variance that is gone. At 0\u202f% every record kept its value; at 100\u202f% "
        "the records of a cell are no more alike than any others, and one average for all would do as well."
    )
    notes = [] if len(shown) == len(rows) else [f"The {len(shown)} largest of {plural(len(rows), 'key')}."]
    if published:
        notes.append(
            "“As published” counts the centre after it was rounded to a value that can occur, such as "
            "a category. A rounded centre can be farther off than the average of all, so this figure may "
            "exceed 100\u202f%."
        )
    note = " ".join(notes)
    return Section(
        "loss", "Information loss of each key", lead, (Block(figure=svg(drawing), table=table, note=note),)
    )


def costs(given: Any) -> Section | None:
    """Show what each guarantee cost; nothing where k-anonymity is all there is."""
    if len(given) < 2:
        return None
    drawing = figures.loss_bars(
        [clean(cost.guarantee) for cost in given],
        [cost.loss for cost in given],
        total=None,
        title="Information loss with each further guarantee",
        desc=f"Loss in percent of the variance after each of {len(given)} guarantees, in the order given.",
    )
    rows = [
        (
            cost.guarantee,
            percent(cost.loss),
            "" if before is None else percent(cost.loss - before.loss),
            "" if cost.method == "none" else cost.method,
        )
        for before, cost in zip((None, *given), given, strict=False)
    ]
    table = Table.of(("guarantee", "loss with it", "it cost", "enforced by"), rows)
    lead = (
        "Each guarantee holds together with those above it. The cost of one is the loss that it added: the "
        "order matters, and another order may split the same total otherwise."
    )
    note = "The losses were found by search. A guarantee may cost less than is shown."
    return Section(
        "costs", "What each guarantee cost", lead, (Block(figure=svg(drawing), table=table, note=note),)
    )


def linkage(view: View, evidence: Any) -> Rate:
    """Let somebody who holds the original keys link them to the nearest released records."""
    owner = np.empty(len(evidence.order), np.int64)
    owner[evidence.order] = np.arange(len(owner))
    return record_linkage(evidence.X, evidence.codec.encode(view.table), truth=owner).rate


def risk(view: View, evidence: Any) -> Section:
    """Show the risk before and after, and how often an attacker who has the originals links them right."""
    linked = linkage(view, evidence)
    before = measure_risk(evidence.original, view.keys)
    rows: list[tuple[str, float | None, float | None, tuple[float, float] | None]] = [
        (label, 100 * old, 100 * new, None)
        for (label, old), (_, new) in zip(public.risk_rows(before), public.risk_rows(view.risk), strict=True)
    ]
    table_rows: list[tuple[object, ...]] = [
        (label, share(old), share(new))
        for (label, old), (_, new) in zip(public.risk_rows(before), public.risk_rows(view.risk), strict=True)
    ]
    label = "Original records linked to the right record"
    rows.append((label, None, 100 * linked.value, (100 * linked.low, 100 * linked.high)))
    table_rows.append((label, None, share(linked.value)))
    table_rows.append(
        (
            f"its {100 * linked.confidence:.0f} % interval",
            None,
            f"{share(linked.low)} to {share(linked.high)}",
        )
    )
    measured = (
        f"all {plural(linked.n, 'record')}"
        if linked.exact
        else f"{linked.n:,} of {plural(linked.population, 'record')}"
    )
    note = (
        "Linking: somebody who holds the original keys takes, for each, the nearest released record, "
        "and guesses among "
        f"those equally near. Measured on {measured}."
    )
    drawing = figures.dot_ranges(
        rows,
        title="Risk of re-identification before and after",
        desc="Risks in percent, grey before and blue after; the table has the figures.",
        unit=" %",
    )
    lead = (
        f"{plural(before.unique, 'original record')} of {before.records:,} had a combination of keys of "
        f"{'its' if before.unique == 1 else 'their'} own. Now "
        f"{'none has' if view.risk.unique == 0 else f'{view.risk.unique:,} have'}."
    )
    table = Table.of(("risk", "before", "after"), table_rows)
    return Section(
        "risk",
        "Risk of re-identification",
        lead,
        (Block(figure=svg(drawing), table=table, note=note, legend=True),),
    )


def statistics(utility: Any, *, words: str | None = None) -> Section | None:
    """Show how correlations, means and spreads changed; ``words`` is what to expect of another method."""
    if utility is None:
        return None
    blocks = [
        block
        for block in (_correlations(utility.correlation), _columns(utility.columns))
        if block is not None
    ]
    if not blocks:
        return None
    lead = words or (
        "Centres keep a number’s mean, up to rounding and missing values. Spreads shrink, because what "
        "varies inside a cell "
        "is gone, and correlations change with them."
    )
    if utility.pmse is not None:
        lead += (
            " The pMSE, by which a logistic model tells original from released records, is "
            f"{decimal(utility.pmse.ratio, 2)} times what two samples of one population would give; "
            "about 1 or less means alike."
        )
    foot = " ".join(clean(note) for note in utility.notes)
    return Section("statistics", "Statistics before and after", lead, tuple(blocks), foot=foot)


def _correlations(found: Any) -> Block | None:
    if found is None:
        return None
    pairs = []
    for i, one in enumerate(found.names):
        for j in range(i):
            old, new = found.before[i][j], found.after[i][j]
            if old is not None and new is not None:
                pairs.append((f"{clean(found.names[j])} and {clean(one)}", old, new))
    if not pairs:
        return None
    pairs.sort(key=lambda pair: -abs(pair[2] - pair[1]))
    shown = pairs[:MOST_PAIRS]
    drawing = figures.dot_ranges(
        [(label, old, new, None) for label, old, new in shown],
        limits=(-1.0, 1.0),
        title="Correlations before and after",
        desc=f"The {len(shown)} pairs of columns whose correlation changed most; grey before, blue after.",
    )
    rows = [(label, f"{old:+.2f}", f"{new:+.2f}") for label, old, new in pairs[:MOST_BARS]]
    note = (
        f"Pearson correlation. Mean absolute change over {plural(len(pairs), 'pair')}: "
        f"{decimal(found.mean_change, 2)}."
    )
    if len(shown) < len(pairs):
        note += f" The {len(shown)} largest changes are drawn."
    table = Table.of(
        ("pair", "before", "after"),
        [tuple(v.replace("-", "−") if n else v for n, v in enumerate(r)) for r in rows],
    )
    return Block("Correlations", svg(drawing), table, note, legend=True)


def _duration(seconds: float) -> str:
    """Write a length of time in days, hours, minutes or seconds."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{decimal(seconds / length)} {unit}"
    return f"{decimal(seconds)} s"


def _columns(changes: Any) -> Block | None:
    """Tabulate means, spreads and distances of the released columns."""
    rows = []
    for change in changes:
        if change.role != "key":
            continue
        if change.kind == "datetime" and change.mean_before is not None and change.mean_after is not None:
            fine = max(change.sd_before or 0.0, change.sd_after or 0.0) < 86400
            pattern = "%Y-%m-%d %H:%M:%S" if fine else "%Y-%m-%d"
            means = [f"{moment(value):{pattern}}" for value in (change.mean_before, change.mean_after)]
            spreads = [_duration(value) for value in (change.sd_before, change.sd_after)]
        else:
            means = [decimal(change.mean_before), decimal(change.mean_after)]
            spreads = [decimal(change.sd_before), decimal(change.sd_after)]
        lost = (
            "–"
            if change.categories_lost is None
            else f"{change.categories_lost:,} of {change.categories_before:,}"
        )
        rows.append((change.name, *means, *spreads, decimal(change.distance, 2), lost))
    if not rows:
        return None
    head = ("key", "mean before", "after", "sd before", "after", "distance", "categories lost")
    return Block("Means, spreads and distances", table=Table.of(head, rows), note=_DISTANCE)


_DISTANCE = (
    "Distance: for numbers and dates the Wasserstein distance in standard deviations; for categories "
    "the total variation, "
    "from 0 (the same) to 1."
)


def fates(evidence: Any) -> dict[str, str]:
    """Say of each key how it was encoded and published."""
    if getattr(evidence, "fates", None):
        return dict(evidence.fates)
    out = {}
    for block, sentence in zip(evidence.codec.blocks, evidence.codec.describe(), strict=True):
        words = clean(sentence).removeprefix(f"{clean(block.name)}: ")
        out.update(dict.fromkeys(block.columns, words))
    return out


def steps(evidence: Any) -> tuple[str, ...]:
    """Say how long the stages took."""
    spent = ", ".join(f"{clean(stage)} {seconds:.2f} s" for stage, seconds in evidence.seconds.items())
    return (f"Time spent: {spent}.",) if spent else ()
