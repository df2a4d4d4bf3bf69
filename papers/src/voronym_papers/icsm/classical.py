"""Figure 5: the classical methods on Tarragona and Census."""

from __future__ import annotations

from collections.abc import Iterator

from voronym.core.context import Context
from voronym.partitioners import information_loss, microaggregate
from voronym_papers.base import at
from voronym_papers.icsm import published
from voronym_papers.icsm.tables import load
from voronym_papers.items import Cell, Chart, Curve, Item, Table
from voronym_papers.marks import Mark

NAMES = ("tarragona", "census")


def figure_5(sizes: tuple[int, ...], ctx: Context) -> Iterator[Item]:
    """Run ICSM and nine other methods, and count the cases in which ICSM loses least."""
    losses: dict[tuple[str, str, int], float] = {}
    for number, method in enumerate(published.FIGURE_5):
        at(ctx, f"figure 5: {method}", number / len(published.FIGURE_5))
        for name in NAMES:
            X = load(name)
            for k in sizes:
                losses[method, name, k] = information_loss(X, microaggregate(X, k, method=method))
    part = "Figure 5: ten methods, information loss"
    for name in NAMES:
        wins = sum(
            losses["icsm", name, k] == min(losses[method, name, k] for method in published.FIGURE_5)
            for k in sizes
        )
        yield Mark(
            "Figure 5", f"cases that ICSM wins, {name}, share", 1.0, wins / len(sizes), ".2f",
            better="more", why="Another of the ten methods loses less in one of the cases.",
        )  # fmt: skip
        yield Chart(
            name.capitalize(),
            tuple(
                Curve(method, tuple((float(k), losses[method, name, k]) for k in sizes))
                for method in published.FIGURE_5
            ),
            "k",
            "information loss, %",
            part=part,
        )
    rows: list[tuple[Cell, ...]] = [
        (method, *(losses[method, name, k] for name in NAMES for k in sizes)) for method in published.FIGURE_5
    ]
    yield Table(
        "Figures",
        ("method", *(f"{name} {k}" for name in NAMES for k in sizes)),
        tuple(rows),
        "The paper draws the figure without numbers, from the papers of the methods' authors. What those "
        "print is compared on the page about the classical methods.",
        part,
    )
