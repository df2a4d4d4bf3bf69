"""Figures 1 to 4: moves between cells as cycles, each against the sums of squares of the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from voronym.core.context import Context
from voronym_papers.base import at
from voronym_papers.icsm import published
from voronym_papers.items import Floats, Item, Table
from voronym_papers.marks import Mark

DRAWS = 200
Cells = list[Floats]


def r1(cell: Floats, new: Floats, out: Floats) -> float:
    """Return the change of a cell's squares when ``new`` replaces ``out``: equation 3.

    The product in it belongs to both terms, and the last factor is (m - 1)/m; as printed, a bracket and a
    fraction are lost. Example 1 of the paper has them.
    """
    step, m = new - out, len(cell)
    return float(step @ (2 * (out - cell.mean(axis=0)) + step * (m - 1) / m))


def r2(cell: Floats, new: Floats) -> float:
    """Return the squares that a joining record adds: equation 5."""
    m = len(cell)
    return float(m / (m + 1) * np.square(new - cell.mean(axis=0)).sum())


def r3(cell: Floats, out: Floats) -> float:
    """Return the negative change of the squares when a record leaves: equation 6."""
    m = len(cell)
    return float(-m / (m - 1) * np.square(out - cell.mean(axis=0)).sum())


def squares(cells: Sequence[Floats]) -> float:
    """Return the sum of squares, counted from the records."""
    return float(sum(np.square(cell - cell.mean(axis=0)).sum() for cell in cells))


def figures_1_to_4(ctx: Context) -> Iterator[Item]:
    """Compare the weights of cycles with the changes by the moves, on cells drawn at random."""
    at(ctx, "figures 1 to 4", 0.0)
    example = r1(np.array([[5.0], [6.0], [7.0]]), np.array([3.0]), np.array([6.0]))
    yield Mark("Figure 1", "R1 of example 1", published.EXAMPLE_1, example, ".1f")
    off = np.array([_draw(np.random.default_rng(seed)) for seed in range(DRAWS)])
    for number, what in ((1, "an exchange"), (2, "a migration"), (4, "a chain")):
        yield Mark(
            f"Figure {number}", f"weight of {what} less its true change, at most", None,
            float(np.abs(off[:, number - 1]).max()), ".0e", alone=True,
        )  # fmt: skip
    yield Mark(
        "Figure 3", "weight of a cycle that meets a cell twice, less its true change", None,
        float(np.abs(off[:, 2]).mean()), ".2f", spread=float(np.abs(off[:, 2]).std()), alone=True,
    )  # fmt: skip
    yield Table(
        "Cycles and what they change",
        ("figure", "cycle", "greatest difference", "mean difference"),
        tuple(
            (f"Figure {number}", what, float(column.max()), float(column.mean()))
            for number, what, column in zip(
                (1, 2, 3, 4),
                ("exchange: R1 + R1", "migration: R2 + R3", "a cell twice", "chain: R1 + R2 + R3"),
                np.abs(off).T,
                strict=True,
            )
        ),
        f"Over {DRAWS} draws of three cells of four records. Weights of cycles that meet no cell twice are "
        "exact, as the paper says; where a cell is met twice, the second weight is that of a cell that is "
        "no longer there.",
        formats=("", "", ".2e", ".2e"),
    )


def _draw(rng: np.random.Generator) -> list[float]:
    """Return, for each of the four figures, a cycle's weight less the change of the squares."""
    a, b, c = (rng.normal(size=(4, 3)) + rng.normal(size=3) for _ in range(3))
    x, y = a[0], b[0]
    before = squares([a, b, c])
    swap = [np.vstack([a[1:], y]), np.vstack([b[1:], x]), c]
    shift = [a[1:], np.vstack([b, x]), c]
    twice = [np.vstack([a[2:], b[:2]]), np.vstack([b[2:], a[:2]]), c]
    chain = [a[1:], np.vstack([b[1:], x]), np.vstack([c, y])]
    weights = [
        r1(b, x, y) + r1(a, y, x),
        r2(b, x) + r3(a, x),
        r1(b, x, y) + r1(a, y, a[1]) + r1(b, a[1], b[1]) + r1(a, b[1], x),
        r1(b, x, y) + r2(c, y) + r3(a, x),
    ]
    return [
        weight - (squares(cells) - before)
        for weight, cells in zip(weights, (swap, shift, twice, chain), strict=True)
    ]
