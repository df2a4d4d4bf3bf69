"""2011, section 5.3: the Census table, tables 1 and 2, figures 19 and 20."""

from __future__ import annotations

from collections.abc import Iterator

from voronym import datasets
from voronym.context import Context
from voronym.papers.base import at
from voronym.papers.items import Cell, Chart, Curve, Highlight, Item, Table
from voronym.papers.pcl import published, runs
from voronym.papers.pcl.runs import Run, change, mdav
from voronym.partitioners import standardize

METHODS = ("MDAV", "PCL, best of 5", "PCL, cooled", "PCL, variable", "anneal")


def tables_1_2(seconds: float, ctx: Context) -> Iterator[Item]:
    """Run MDAV, PCL from five starts, PCL with variable sizes, and annealing for so many seconds."""
    X = standardize(datasets.census().to_numpy())
    found: dict[str, dict[int, Run]] = {name: {} for name in METHODS}
    for number, k in enumerate(published.TABLE_1):
        at(ctx, f"tables 1 and 2: Census, k={k}", number / len(published.TABLE_1))
        start = mdav(X, k)
        best, tried = runs.best_of_five(X, start)
        time = sum(run.seconds for run in tried)
        found["MDAV"][k] = start
        found["PCL, best of 5"][k] = Run(best.partition, best.distortion, time)
        found["PCL, cooled"][k] = runs.cooled(X, start)
        found["PCL, variable"][k] = runs.method(X, k, "pcl-variable")
        found["anneal"][k] = runs.method(X, k, "anneal", time_limit=seconds)
    part = "2011, tables 1 and 2, figures 19 and 20: Census"
    known = tuple((float(k), row[1]) for k, row in published.TABLE_2.items())
    yield Chart(
        "Figure 19: distortion, SSE / SST",
        (
            *(
                Curve(name, tuple((float(k), run.distortion) for k, run in own.items()))
                for name, own in found.items()
            ),
            Curve("PCL, published", known, published=True),
        ),
        "k",
        "D",
        "1,080 records in 13 columns.",
        part,
        log="x",
        zero=False,
    )
    yield _losses(found, part, seconds)
    yield _times(found, part)
    first = min(published.TABLE_1)
    least = found["PCL, cooled"][first]
    yield Highlight(
        f"{least.distortion:.4f}",
        f"distortion of Census at k = {first}, by PCL",
        f"published {published.TABLE_2[first][1]:.4f}; MDAV {found['MDAV'][first].distortion:.4f}",
    )


def _losses(found: dict[str, dict[int, Run]], part: str, seconds: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, (mdav_known, _) in published.TABLE_1.items():
        start, best, cool, free, long = (found[name][k] for name in METHODS)
        _, known, gain, _, _ = published.TABLE_2[k]
        rows.append(
            (
                k, mdav_known, start.distortion, known, best.distortion, cool.distortion, gain,
                change(min(best, cool, key=lambda run: run.distortion), start),
                free.distortion, long.distortion, int(cool.partition.sizes.min()),
            )
        )  # fmt: skip
    return Table(
        "Tables 1 and 2: distortion",
        (
            "k", "MDAV, published", "ours", "PCL, published", "ours, 5 starts", "ours, cooled",
            "change %, published", "ours", "PCL, variable", "anneal", "smallest cell",
        ),
        tuple(rows),
        "Ours without prepartition. “Cooled” shakes the points ever less, from one start; the published "
        "figures are of a noisy variant, too. “PCL, variable” may choose sizes from k to 2k−1; anneal had "
        f"{seconds:g} s for each k. How much to shake was chosen by a few trials on this table.",
        part,
        ("", ".4f", ".4f", ".4f", ".4f", ".4f", ".1f", ".1f", ".4f", ".4f", ""),
    )  # fmt: skip


def _times(found: dict[str, dict[int, Run]], part: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for k, (_, milliseconds) in published.TABLE_1.items():
        time = published.TABLE_2[k][3]
        start, best, cool, free, _ = (found[name][k] for name in METHODS)
        ratio = told_seconds(time) / cool.seconds
        rows.append(
            (k, milliseconds, 1000 * start.seconds, time, best.seconds, cool.seconds, ratio, free.seconds)
        )
    return Table(
        "Tables 1 and 2, figure 20: time",
        (
            "k",
            "MDAV, ms, published",
            "ours",
            "PCL, m:s, published",
            "seconds, 5 starts",
            "cooled",
            "times faster",
            "variable",
        ),
        tuple(rows),
        "Published: one start, hierarchical for k = 5 and 10, in Matlab on another machine. How many times "
        "faster: ours cooled, from one start.",
        part,
        ("", ".4g", ".3g", "", ".2f", ".2f", ",.0f", ".2f"),
    )


def told_seconds(text: str) -> float:
    """Read minutes and seconds.

    Examples
    --------
    >>> told_seconds("16:15")
    975.0
    """
    minutes, seconds = text.split(":")
    return 60.0 * int(minutes) + int(seconds)
