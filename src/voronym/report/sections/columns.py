"""Sizes of groups, distributions of keys, and statistics before and after."""

from __future__ import annotations

from voronym.dossier import Dossier
from voronym.dossier.counts import Distribution
from voronym.evaluate.columns import ColumnChange, Correlation
from voronym.evaluate.risk import Risk
from voronym.evaluate.utility import Utility
from voronym.report import bars
from voronym.report.bars import Range, ranges
from voronym.report.language import phrase, term
from voronym.report.section import Data, section
from voronym.report.squares import MOST_SQUARES, triangles
from voronym.report.svg import moment
from voronym.report.write import Table, bin_names, decimal, duration, share

MOST_PAIRS = 8
MOST_ROWS = 40


@section("sizes", "Sizes of groups", needs=("public.risk",), place=40)
def sizes(d: Dossier, risk: Risk) -> Data | None:
    """Show the number of groups of each size."""
    if d.public.story != "groups":
        return None
    smallest, largest, counted = min(risk.histogram), max(risk.histogram), d.public.counted
    drawn = bars.sizes(
        risk.histogram,
        counted=counted,
        limit=d.public.k,
        words=f"k = {d.public.k}",
        title="Sizes of groups",
    )
    rows = [
        (
            size_bin.label,
            size_bin.groups(risk.histogram),
            share(size_bin.records(risk.histogram) / risk.records),
        )
        for size_bin in bars.size_bins(risk.histogram)
        if size_bin.groups(risk.histogram)
    ]
    table = Table.of((f"{counted} in the group", "groups", f"share of {counted}"), rows)
    return {"figure": drawn, "table": table, "smallest": smallest, "largest": largest, "counted": counted}


@section("distributions", "Distribution of each key", needs=("public.distributions",), place=70, shape="grid")
def distributions(d: Dossier, released: tuple[Distribution, ...]) -> Data:
    """Show each key's distribution, against the original if available."""
    if d.inside is None:
        return {"blocks": [_distribution(item) for item in released], "compared": False}
    blocks = [_distribution(distribution) for distribution in d.inside.distributions]
    return {"title": "Distributions before and after", "blocks": blocks, "compared": True}


def _distribution(distribution: Distribution) -> Data:
    alone = distribution.before is None
    title = f"{distribution.column}: distribution {'released' if alone else 'before and after'}"
    names = bin_names(distribution)
    if distribution.names is not None:
        drawn = bars.bars(names, distribution.after, distribution.before, title=title)
    else:
        drawn = bars.histogram(
            distribution.edges or (0.0, 1.0),
            distribution.after,
            distribution.before,
            title=title,
            names=names,
            dates=distribution.dates,
        )
    rows: list[tuple[object, ...]] = [
        (name, new) if distribution.before is None else (name, distribution.before[i], new)
        for i, (name, new) in enumerate(zip(names, distribution.after, strict=True))
    ]
    if distribution.missing_after or distribution.missing_before:
        rows.append(
            (
                term("(missing)"),
                *(() if alone else (distribution.missing_before,)),
                distribution.missing_after,
            )
        )
    head = (distribution.kind, "records") if alone else (distribution.kind, "before", "after")
    return {"found": distribution, "figure": drawn, "table": Table.of(head, rows)}


@section("statistics", "Statistics before and after", needs=("inside.utility",), place=72)
def statistics(_: Dossier, utility: Utility) -> Data | None:
    """Show how correlations, means and spreads changed."""
    pairs = _pairs(utility.correlation)
    keys = [_moved(change) for change in utility.columns if change.role == "key"]
    if not pairs and not keys:
        return None
    head = ("key", "mean before", "after", "sd before", "after", "distance", "categories lost")
    shown = pairs[:MOST_PAIRS]
    title = "Correlations before and after"
    squares = utility.correlation is not None and len(utility.correlation.names) <= MOST_SQUARES
    if utility.correlation is not None and squares:
        result = utility.correlation
        drawn, shown = triangles(result.names, result.before, result.after, title=title), pairs
    else:
        drawn = ranges([Range(*pair) for pair in shown], limits=(-1.0, 1.0), title=title)
    rows = [(label, *(f"{v:+.2f}".replace("-", "−") for v in both)) for label, *both in pairs[:MOST_ROWS]]
    return {
        "found": utility,
        "pairs": len(pairs),
        "shown": len(shown),
        "squares": squares,
        "figure": drawn,
        "correlations": Table.of(("pair", "before", "after"), rows),
        "means": Table.of(head, keys) if keys else None,
    }


@section(
    "alike",
    "Can a model tell them apart",
    needs=("inside.utility.pmse",),
    place=61,
    shape="text",
    special=True,
)
def alike(_: Dossier, result: object) -> Data:
    """Describe how well a logistic model separates original from released records."""
    return {"found": result}


def _pairs(correlation: Correlation | None) -> list[tuple[str, float, float]]:
    """Return the pairs of columns with their correlations, the largest change first."""
    if correlation is None:
        return []
    pairs = []
    for i, item in enumerate(correlation.names):
        for j, other in enumerate(correlation.names[:i]):
            old, new = correlation.before[i][j], correlation.after[i][j]
            if old is not None and new is not None:
                pairs.append((phrase("{first} and {second}", first=other, second=item), old, new))
    return sorted(pairs, key=lambda pair: -abs(pair[2] - pair[1]))


def _moved(change: ColumnChange) -> tuple[str, ...]:
    """Return a column's mean, spread and distance before and after, as written."""
    if change.kind == "datetime" and change.mean_before is not None and change.mean_after is not None:
        fine = max(change.sd_before or 0.0, change.sd_after or 0.0) < 86400
        pattern = "%Y-%m-%d %H:%M:%S" if fine else "%Y-%m-%d"
        means = [f"{moment(value):{pattern}}" for value in (change.mean_before, change.mean_after)]
        spreads = [duration(value) for value in (change.sd_before, change.sd_after)]
    else:
        means = [decimal(change.mean_before), decimal(change.mean_after)]
        spreads = [decimal(change.sd_before), decimal(change.sd_after)]
    lost = (
        "–"
        if change.categories_lost is None
        else phrase(
            "{some} of {all}", some=f"{change.categories_lost:,}", all=f"{change.categories_before:,}"
        )
    )
    return (change.name, *means, *spreads, decimal(change.distance, 2), lost)
