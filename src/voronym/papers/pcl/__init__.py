"""Rebollo-Monedero and others, 2011 and 2013: probability-constrained Lloyd against MDAV.

``published``  what stands in the papers       ``runs``      a run with its distortion and time
``gaussian``   2013, figures 3 to 6            ``adult``     2013, figures 7 and 8
``ten``        2011, figures 9 and 10          ``plane``     2011, figures 11 to 18
``census``     2011, tables 1 and 2, figures 19 and 20
"""

from __future__ import annotations

from collections.abc import Iterator

from voronym.context import Context
from voronym.errors import ReadError
from voronym.papers.base import paper
from voronym.papers.items import Item
from voronym.papers.pcl import published


@paper(
    "pcl", reference=f"{published.FIRST}; {published.SECOND}", subject="Quantizers with cells of given sizes"
)
def items(full: bool, ctx: Context) -> Iterator[Item]:
    """Compute the figures of both papers; those on real data need the reference files."""
    from voronym import datasets
    from voronym.papers.pcl import (
        adult,
        census,
        gaussian,
        plane,
        runs,
        ten,
    )  # numba and solvers, when asked for

    if not datasets.available():
        raise ReadError(
            "the papers' data sets are not part of voronym: set VORONYM_DATA to the folder that holds "
            "census.csv and adult.csv, or to an address they can be fetched from"
        )
    runs.warm_up()
    yield from gaussian.figure_3(ctx)
    yield from gaussian.figure_4(gaussian.POINTS if full else gaussian.POINTS // 4, ctx)
    yield from gaussian.figure_5(gaussian.POINTS if full else gaussian.POINTS // 4, ctx)
    yield from gaussian.figure_6(tuple(range(30_000, 100_001, 5000 if full else 35_000)), ctx)
    yield from adult.figures_7_8(full, ctx)
    yield from ten.figures_9_10(200 if full else 30, ctx)
    yield from plane.figures_11_to_18(range(2, 11) if full else (2, 4, 7, 10), ctx)
    yield from census.tables_1_2(60.0 if full else 1.0, ctx)
