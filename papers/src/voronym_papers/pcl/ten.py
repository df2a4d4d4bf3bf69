"""2011, section 5.1: ten points, figures 9 and 10."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voronym.certify import lower_bound
from voronym.core.context import Context
from voronym_papers.base import at
from voronym_papers.items import Cell, Floats, Item, Picture, Table
from voronym_papers.marks import Mark
from voronym_papers.pcl import published
from voronym_papers.pcl.runs import Run, best_of_five, change, mdav, panel, signed

SQUARE = (0.0, 0.0, 1.0, 1.0)


def figures_9_10(draws: int, ctx: Context) -> Iterator[Item]:
    """Draw ten points at random, many times; show the case whose gain is nearest to the published one."""
    part = "2011, figures 9 and 10: ten points"
    rows: list[tuple[Cell, ...]] = []
    for k, (before, after, known) in published.FIGURES_9_10.items():
        figure = f"figure {9 if k == 2 else 10}"
        result, optimal = draw_and_solve(k, draws, figure, ctx)
        gains = np.array([change(best, start) for _, start, best in result])
        near = int(np.abs(gains - known).argmin())
        spread = float(gains.mean()), float(gains.min()), float(gains.max())
        rows.append((k, before, after, known, *spread, f"{100 * optimal / draws:.0f} %"))
        shown = figure.capitalize()
        deviation = float(gains.std(ddof=1))
        what = "gain of exact PCL, mean of our draws"
        yield Mark(shown, what, None, spread[0], ".1f", " %", spread=deviation, alone=True)
        for what, value in (
            ("gain of the draw nearest to the example", float(gains[near])),
            ("best gain of the draws", spread[1]),
        ):
            yield Mark(shown, what, None, value, ".1f", " %", alone=True)
        share = 100 * optimal / draws
        yield Mark(shown, "draws in which PCL is optimal", None, share, ".0f", " %", alone=True)
        X, start, best = result[near]
        words = f"D = {best.distortion:.4f} ({signed(change(best, start))}); published −{-known:.0f} %"
        yield Picture(
            f"{figure.capitalize()}: k = {k}",
            (
                panel("MDAV", X, start, SQUARE, f"D = {start.distortion:.4f}", edges=True),
                panel("PCL", X, best, SQUARE, words),
            ),
            SQUARE,
            part=part,
        )
    yield Table(
        f"{draws} draws of ten points in the unit square, best of five starts",
        (
            "k", "D, MDAV, published", "D, PCL, published", "change %, published", "ours, mean", "best",
            "worst", "optimal",
        ),
        tuple(rows),
        "The coordinates of the paper's points are not printed, so ours are others. The pictures show the "
        "draw whose gain is nearest to the published one. The last column counts the draws in which PCL "
        "found the best of all partitions.",
        part,
        ("", ".4f", ".4f", ".0f", ".1f", ".1f", ".1f", ""),
    )  # fmt: skip


def draw_and_solve(
    k: int, draws: int, figure: str, ctx: Context
) -> tuple[list[tuple[Floats, Run, Run]], int]:
    """Return the points, MDAV's groups and the best of PCL for each draw, and how often it is optimal."""
    result, optimal = [], 0
    for seed in range(draws):
        if seed % 10 == 0:
            at(ctx, figure, seed / draws)
        X = np.random.default_rng([k, seed]).random((10, 2))
        start = mdav(X, k)
        best, _ = best_of_five(X, start)
        result.append((X, start, best))
        optimal += best.partition.sse(X) <= lower_bound(X, k, kind="exact").sse * (1 + 1e-6)
    return result, optimal
