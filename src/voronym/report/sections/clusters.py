"""Blended and shuffled records: sizes of clusters, what became of the values, how alike a cluster is."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.report import bars
from voronym.report.bars import Range, ranges
from voronym.report.curves import Series, chart
from voronym.report.section import Data, section
from voronym.report.svg import percent
from voronym.report.write import Table, decimal, fine, plural, share, svg

MOST_BARS = 40
MEASURES = {"kl": "Kullback–Leibler divergence, nats", "emd": "earth mover’s distance, 0 to 1"}
KINDS = (("moved into the crowd", "k1"), ("another value of its cluster", "a"), ("the same value", "b"))


@section(
    "sizes:clusters",
    "Sizes of clusters",
    needs=("inside.clusters", "public.stirred"),
    audience="internal",
    place=40,
)
def sizes(d: Dossier) -> Data | None:
    """Show the sizes of the clusters before and after, with the least that is allowed."""
    found, made = d.inside.clusters if d.inside else None, d.public.stirred
    if found is None or made is None:
        return None
    m, old, new = made.m, found.before, found.after
    drawn = bars.sizes(
        found.sizes_after,
        found.sizes_before,
        limit=m + 1,
        words=f"{m + 1} or more",
        what="cluster",
        title="Sizes of clusters before and after",
        desc=f"{plural(old.count, 'cluster')} before, {new.count:,} after.",
    )
    small = [
        sum(many for size, many in own.items() if size <= m)
        for own in (found.sizes_before, found.sizes_after)
    ]
    rows = [
        ("clusters", old.count, new.count),
        ("smallest cluster", old.smallest, new.smallest),
        ("median cluster", f"{old.median:,g}", f"{new.median:,g}"),
        ("largest cluster", old.largest, new.largest),
        (f"clusters of {m} or fewer", *small),
    ]
    return {"figure": svg(drawn), "table": Table.of(("clusters", "before", "after"), rows), "m": m}


@section("changed", "Values changed in each column", needs=("public.stirred.columns",), place=42)
def changed(d: Dossier) -> Data | None:
    """Show what share of each column's values moved, was shuffled, or stayed."""
    columns = d.public.stirred.columns[:MOST_BARS] if d.public.stirred else ()
    drawn = bars.stacked(
        [one.column for one in columns],
        [(one.moved, one.shuffled, one.same) for one in columns],
        KINDS,
        title="What became of the values of each column",
        desc=f"Shares of the values of {len(columns)} columns that were moved, shuffled, or stayed.",
    )
    table = Table.of(
        ("column", "moved", "shuffled", "the same", "distribution moved"),
        [
            (one.column, *map(share, (one.moved, one.shuffled, one.same, one.total_variation)))
            for one in columns
        ],
    )
    return {"figure": svg(drawn), "table": table}


@section("epsilon", "How alike a cluster is", needs=("inside.clusters",), audience="internal", place=44)
def epsilon(d: Dossier) -> Data | None:
    """Show how epsilon was chosen, and what it is in each column."""
    if d.inside is None or d.inside.clusters is None:
        return None
    found = d.inside.clusters.epsilon
    limits = [f"{name} {value:g} ({metric})" for name, value, metric in found.limits]
    data: dict[str, object] = {"found": found, "limits": limits, "figure": None}
    if not found.tried:
        return data
    points = [(100 * pairs, 100 * lonely) for pairs, _, _, lonely in found.tried]
    most = 100 * found.share
    chosen = min((p for p in points if p[1] <= most), default=points[0])
    drawn = chart(
        [
            Series("outliers", points),
            Series(f"most: {percent(most)}", [(points[-1][0], most), (100.0, most)], published=True),
            Series("chosen", [chosen], joined=False),
        ],
        title="How epsilon was chosen",
        desc=f"Share of outliers for {len(points)} values of epsilon; the chosen one is marked.",
        x_name="% of all pairs that are within ε in a key",
        y_name="outliers, % of the records",
    )
    tried = [(fine(100 * pairs), many, small, share(lonely)) for pairs, many, small, lonely in found.tried]
    table = Table.of(("pairs within ε", "clusters", "small clusters", "outliers"), tried)
    return {**data, "figure": svg(drawn), "table": table, "chosen": chosen}


@section("kept", "The shape of the clusters", needs=("public.stirred.shape",), place=46)
def kept(d: Dossier) -> Data | None:
    """Show how far the shape of the clusters moved, against the bound."""
    found = d.public.stirred.shape if d.public.stirred else None
    if found is None:
        return None
    drawn = ranges(
        [
            Range("Largest of all clusters", None, found.largest),
            Range("Mean over the clusters", None, found.mean),
        ],
        title="How far the distances to the centre moved",
        desc="Divergence of the distances to the centre, largest and mean; the line is the bound.",
        limits=(0.0, 1.15 * max(found.bound, found.largest) or 1.0),
        limit=(found.bound, f"bound {decimal(found.bound, 2)}"),
    )
    rows: list[tuple[str, object]] = [
        ("bound", found.bound),
        ("reached, largest of all clusters", found.largest),
        ("reached, mean", found.mean),
    ]
    if d.inside is not None and d.inside.clusters is not None:
        rows.append(("clusters repaired by swaps, to hold it", d.inside.clusters.repaired))
        rows.append(("columns put back in a cluster, to hold it", d.inside.clusters.put_back))
    return {
        "figure": svg(drawn),
        "table": Table.of((MEASURES.get(found.measure, found.measure), "value"), rows),
    }
