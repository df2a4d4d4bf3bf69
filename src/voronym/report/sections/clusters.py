"""Blended and shuffled records: sizes of clusters, changes of values, similarity within clusters."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.masks import Changed, Clusters, Epsilon, Shape, Stirred
from voronym.report import bars
from voronym.report.bars import Range, ranges
from voronym.report.section import Data, section
from voronym.report.write import Table, decimal, fine, share

MOST_BARS = 40
MEASURES = {"kl": "Kullback–Leibler divergence, nats", "emd": "earth mover’s distance, 0 to 1"}
KINDS = (("moved into the crowd", "k1"), ("another value of its cluster", "a"), ("the same value", "b"))


@section("sizes:clusters", "Sizes of clusters", needs=("inside.clusters", "public.stirred"), place=40)
def sizes(_: Dossier, clusters: Clusters, made: Stirred) -> Data:
    """Show the sizes of the clusters before and after, with the least that is allowed."""
    m, old, new = made.m, clusters.before, clusters.after
    counts = (clusters.sizes_before, clusters.sizes_after)
    drawn = bars.sizes(
        clusters.sizes_after,
        clusters.sizes_before,
        limit=m + 1,
        words=f"{m + 1} or more",
        what="cluster",
        title="Sizes of clusters before and after",
    )
    rows = [
        ("clusters", old.count, new.count),
        ("smallest cluster", old.smallest, new.smallest),
        ("median cluster", f"{old.median:,g}", f"{new.median:,g}"),
        ("largest cluster", old.largest, new.largest),
        (
            f"clusters of {m} or fewer",
            *(sum(many for size, many in own.items() if size <= m) for own in counts),
        ),
    ]
    return {"figure": drawn, "table": Table.of(("clusters", "before", "after"), rows), "m": m}


@section("changed", "Values changed in each column", needs=("public.stirred.columns",), place=42)
def changed(_: Dossier, given: tuple[Changed, ...]) -> Data:
    """Show the shares of each column's values that moved, were shuffled, or stayed."""
    columns = given[:MOST_BARS]
    drawn = bars.stacked(
        [item.column for item in columns],
        [(entry.moved, entry.shuffled, entry.same) for entry in columns],
        KINDS,
        title="What became of the values of each column",
    )
    rows = [
        (column.column, *map(share, (column.moved, column.shuffled, column.same, column.total_variation)))
        for column in columns
    ]
    return {
        "figure": drawn,
        "table": Table.of(("column", "moved", "shuffled", "the same", "distribution moved"), rows),
    }


@section("epsilon", "How alike a cluster is", needs=("inside.clusters.epsilon",), place=44)
def epsilon(_: Dossier, result: Epsilon) -> Data:
    """Show how epsilon was chosen, and its value in each column."""
    limits = [f"{name} {value:g} ({metric})" for name, value, metric in result.limits]
    tried = [
        (keys, "equal values" if pairs == 0 else fine(100 * pairs), many, small, share(lonely), taken)
        for keys, pairs, many, small, lonely, taken in result.tried
    ]
    head = ("keys", "pairs within ε", "clusters", "small clusters", "outliers", "taken")
    return {"found": result, "limits": limits, "table": Table.of(head, tried) if tried else None}


@section("kept", "The shape of the clusters", needs=("public.stirred.shape",), place=46)
def kept(d: Dossier, shape: Shape) -> Data:
    """Show how far the shape of the clusters moved, against the bound."""
    drawn = ranges(
        [
            Range("Largest of all clusters", None, shape.largest),
            Range("Mean over the clusters", None, shape.mean),
        ],
        title="How far the distances to the centre moved",
        limits=(0.0, 1.15 * max(shape.bound, shape.largest) or 1.0),
        limit=(shape.bound, f"bound {decimal(shape.bound, 2)}"),
    )
    rows: list[tuple[str, object]] = [
        ("bound", shape.bound),
        ("reached, largest of all clusters", shape.largest),
        ("reached, mean", shape.mean),
    ]
    if d.inside is not None and d.inside.clusters is not None:
        rows.append(("clusters repaired by swaps, to hold it", d.inside.clusters.repaired))
        rows.append(("columns put back in a cluster, to hold it", d.inside.clusters.put_back))
    return {"figure": drawn, "table": Table.of((MEASURES.get(shape.measure, shape.measure), "value"), rows)}
