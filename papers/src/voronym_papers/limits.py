"""Upper bounds for all methods: published gains over MDAV as shares of the proven maximum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voronym.certify import lower_bound
from voronym.core.context import Context
from voronym.partitioners import information_loss, microaggregate
from voronym_papers.base import at
from voronym_papers.items import Cell, Floats, Item, Table
from voronym_papers.marks import Mark

SECONDS = 45.0
"""Time limit in seconds for one bound."""


def limits(
    exhibit: str, cases: Sequence[tuple[str, Floats, int, float, str]], seconds: float, ctx: Context
) -> Iterator[Item]:
    """Prove a lower bound on the loss of any groups of k, and compare a published loss with it.

    ``cases`` have a name, the records, k, the published loss in percent of the total, and its method. The
    possible gain lies between that of our best groups and the proven limit; so does the share of it that
    a method realises.
    """
    rows: list[tuple[Cell, ...]] = []
    for number, (case, X, k, published, method) in enumerate(cases):
        at(ctx, f"limits: {case}", number / len(cases))
        mdav = information_loss(X, microaggregate(X, k, method="mdav"))
        best = microaggregate(X, k, method="anneal", time_limit=seconds / 4, seed=0)
        bound = lower_bound(X, k, time_limit=seconds, partition=best)
        least = bound.information_loss
        ours = min(information_loss(X, best), information_loss(X, bound.partition or best))
        most = 100 * (1 - least / mdav)
        share = 100 * (mdav - published) / (mdav - least)
        yield Mark(
            exhibit, f"gain over MDAV that nothing exceeds, {case}", None, most, ".1f", " %", alone=True
        )
        what = f"share of it that {method} as published realises, at least, {case}"
        yield Mark(exhibit, what, None, share, ".0f", " %", alone=True)
        what = f"share of it that our best search realises, at least, {case}"
        yield Mark(exhibit, what, None, 100 * (mdav - ours) / (mdav - least), ".0f", " %", alone=True)
        rows.append((case, mdav, published, ours, least, most, share))
    yield Table(
        f"{exhibit}: how much of the possible gain each method realises",
        ("case", "MDAV", "published", "ours", "proven least", "gain at most %", "published, share %"),
        tuple(rows),
        "Losses in percent of the total. No groups of k or more lose less than the proven least; ours is a "
        "search by annealing, and the groups that the proof found.",
        formats=("", ".3f", ".3f", ".3f", ".3f", ".1f", ".0f"),
    )
