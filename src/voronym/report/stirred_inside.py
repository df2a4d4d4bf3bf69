"""Sections about mixed records for the data holder: the clusters in the plane, their sizes, epsilon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.report import heat
from voronym.report.chart import Series, chart
from voronym.report.parts import Block, Section, Table, names, plural, share, svg
from voronym.report.plane import heaviest, principal_axes
from voronym.report.shift import Side, before_and_after, by_distance, shown_groups
from voronym.report.svg import clean, percent

MOST_POINTS = 1600
MOST_BY_DISTANCE = 500
MOST_GROUPS = 10
SHARE = 0.05  # the default of `voronym.records.clusters`
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def plane(release: Any) -> Section | None:
    """Show the same records before and after, coloured by cluster, the outliers ringed."""
    evidence = release._evidence
    made = evidence.masked
    if getattr(made, "after", None) is None or made.codes is None:
        return None
    part, moved = made.after.partition, np.asarray(made.moved)
    most = MOST_POINTS if evidence.X is not None else MOST_BY_DISTANCE
    clusters = shown_groups(part.labels, part.n_cells, MOST_GROUPS)
    rows = _sample(len(part.labels), moved, clusters, most)
    before, after, axes, note = _places(evidence, rows)
    place = np.full(len(part.labels), -1, np.int64)
    place[rows] = np.arange(len(rows))
    lonely = place[moved][place[moved] >= 0]
    coloured = len(np.unique(clusters[clusters >= 0]))
    drawing = before_and_after(
        before,
        after,
        clusters[rows],
        lonely,
        sides=(
            Side(
                "Before",
                f"Ringed: {plural(len(moved), 'record')} in clusters of at most {release.figures['m']}.",
            ),
            Side("After", "The same records as published. A line leads back to where an outlier stood."),
        ),
        axes=axes,
        title="Records and clusters in the plane",
    )
    table = Table.of(
        ("figure", "value"),
        [
            ("records", part.n),
            ("records drawn", len(rows)),
            ("clusters", part.n_cells),
            ("clusters in colour", coloured),
            ("outliers", len(moved)),
            ("outliers drawn", len(lonely)),
        ],
    )
    if coloured < part.n_cells:
        note = f"{coloured} of {part.n_cells} clusters are in colour, the largest and some at random. {note}"
    lead = (
        "Each dot is a record, each colour a cluster of records that are alike. The outliers join the "
        "crowd, "
        "then values change hands inside each cluster: the clusters stay where they are, and the people in "
        "them do not."
    )
    block = Block(figure=svg(drawing), table=table, note=note, whole=True)
    return Section("plane", "Clusters before and after, in the plane", lead, (block,))


def _sample(n: int, moved: Ints, clusters: Ints, most: int) -> Ints:
    """Choose rows to draw: outliers first, then those in colour, then others."""
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    rank = np.where(clusters[order] >= 0, 1, 2)
    rank[np.isin(order, moved)] = 0
    return np.sort(order[np.argsort(rank, kind="stable")][:most])


def _places(evidence: Any, rows: Ints) -> tuple[Floats, Floats, tuple[str, str], str]:
    """Return places before and after: on principal axes of the keys, or by distances where they have none."""
    made = evidence.masked
    if evidence.X is None:
        both = np.vstack([made.space.codes[rows], made.codes[rows]])
        places, axes = by_distance(made.space.cost(both, both))
        note = "Places follow the distances between records: near ones are alike."
        return places[: len(rows)], places[len(rows) :], axes, note
    flat = principal_axes(evidence.X)
    after = evidence.codec.encode(made.frame[rows.tolist()])
    blocks = [(clean(b.name), b.start, b.stop) for b in evidence.codec.blocks]
    leads = [
        f"{('first', 'second')[axis]} axis mostly {names(found)}"
        for axis in range(min(2, evidence.X.shape[1]))
        if (found := heaviest(flat, blocks, axis))
    ]
    note = f"The axes: {'; '.join(leads)}." if leads else ""
    if evidence.X.shape[1] > 2:
        note += " Clusters that overlap here lie apart in other directions."
    note += " Records beyond the frame stand at its border."
    after_places = flat.project(after)
    if evidence.X.shape[1] == 1:  # the second axis only spreads points out: the same for both
        after_places[:, 1] = flat.points[rows, 1]
    return flat.points[rows], after_places, flat.axes, note.strip()


def sizes(release: Any) -> Section | None:
    """Show the sizes of the clusters before and after, with the least that is allowed."""
    made = release._evidence.masked
    if getattr(made, "before", None) is None:
        return None
    old, new = (Counter(found.partition.sizes.tolist()) for found in (made.before, made.after))
    m = int(release.figures["m"])
    drawing = heat.size_pair(
        old,
        new,
        limit=m + 1,
        title="Sizes of clusters before and after",
        desc=f"{plural(sum(old.values()), 'cluster')} before, {sum(new.values()):,} after.",
    )
    rows = []
    for word in ("count", "smallest", "median", "largest"):
        a, b = (release.figures[f"clusters_{when}"][word] for when in ("before", "after"))
        rows.append(({"count": "clusters"}.get(word, f"{word} cluster"), f"{a:,g}", f"{b:,g}"))
    small = sum(count for size, count in old.items() if size <= m)
    rows.append((f"clusters of {m} or fewer", f"{small:,}", f"{sum(c for s, c in new.items() if s <= m):,}"))
    lead = (
        f"Members of a cluster of {m} or fewer are the outliers. Each joined the larger cluster that it is "
        "nearest "
        "to, and gave up only the values outside that cluster’s range."
    )
    table = Table.of(("clusters", "before", "after"), rows)
    return Section(
        "sizes", "Sizes of clusters", lead, (Block(figure=svg(drawing), table=table, legend=True),)
    )


def epsilon(release: Any) -> Section | None:
    """Show how epsilon was chosen, and what it is in each column."""
    figures = release.figures
    lead = "Two records of a cluster differ by at most ε in every key. "
    note = _most_apart(release)
    curve = figures.get("curve") or ()
    if not curve:
        return Section("epsilon", "How alike a cluster is", f"{lead}Here ε was given. {note}")
    most = float(release.recipe.options.get("share", SHARE))
    points = [(100 * one["pairs"], 100 * one["small_records"]) for one in curve]
    chosen = min((p for p in points if p[1] <= 100 * most), default=points[0])
    drawing = chart(
        [
            Series("outliers", points),
            Series(f"most: {percent(100 * most)}", [(points[-1][0], 100 * most), (100.0, 100 * most)], True),
            Series("chosen", [chosen], joined=False),
        ],
        title="How epsilon was chosen",
        desc=f"Share of outliers for {len(points)} values of epsilon; the chosen one is marked.",
        x_name="% of all pairs that are within ε in a key",
        y_name="outliers, % of the records",
    )
    lead += (
        f"It was tightened until more than {percent(100 * most)} of the records would be outliers: at the "
        "chosen "
        f"one, {percent(chosen[0], fine=True)} of all pairs are within ε in each key, and "
        f"{percent(chosen[1])} of the "
        "records are outliers."
    )
    tried = Table.of(
        ("pairs within ε", "clusters", "small clusters", "outliers"),
        [
            (
                percent(100 * one["pairs"], fine=True),
                one["clusters"],
                one["small_clusters"],
                share(one["small_records"]),
            )
            for one in curve
        ],
    )
    return Section(
        "epsilon", "How alike a cluster is", lead, (Block(figure=svg(drawing), table=tried, note=note),)
    )


def _most_apart(release: Any) -> str:
    """Say what epsilon is in each key."""
    space = release._evidence.masked.space
    far = {one.name: one.far for one in space.fields} if space is not None else {}
    limited, free = [], []
    for name, one in release.figures["columns"].items():
        if "epsilon" not in one:  # a confidential column, which makes no clusters
            continue
        if one["epsilon"] is None or one["epsilon"] >= far.get(name, np.inf):
            free.append(clean(name))
        else:
            limited.append(f"{clean(name)} {one['epsilon']:g} ({clean(one['metric'])})")
    said = [f"At most apart: {names(limited)}."] if limited else []
    return " ".join([*said, *([f"Not limited: {names(free)}."] if free else [])])


def repairs(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return rows about how the bound was reached, where they are known."""
    out = []
    if "repaired" in found:
        out.append(("clusters repaired by swaps, to hold it", f"{found['repaired']:,}"))
    if "put_back" in found:
        out.append(("columns put back in a cluster, to hold it", f"{found['put_back']:,}"))
    return out
