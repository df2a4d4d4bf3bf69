"""Section 5 on a real table: Adult, with columns of numbers and of names."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from voronym import datasets
from voronym.core.context import Context
from voronym.records import anonymize_records
from voronym.table import Schema
from voronym_papers.base import at
from voronym_papers.items import Cell, Item, Table
from voronym_papers.marks import Mark

KEYS = ("age", "sex", "race", "marital-status", "hours-per-week")
KEPT = ("education-num", "income")
M = 4


def real_table(counts: tuple[int, ...], ctx: Context) -> Iterator[Item]:
    """Blend and stir people of the Adult table, and attack them before and after."""
    whole = datasets.adult().select(*KEYS, *KEPT)
    order = np.random.default_rng(0).permutation(len(whole))
    rows: list[tuple[Cell, ...]] = []
    for number, n in enumerate(counts):
        at(ctx, f"Adult: {n:,} people", number / len(counts))
        table = whole[order[:n]]
        schema = Schema.build(table, keys=list(KEYS), confidential=list(KEPT))
        before = perf_counter()
        made = anonymize_records(table, schema, m=M, despite_loss=True, seed=7)
        linked, other = made.measured.linkage, made.measured.alternative
        first, last = 100 * linked.before.value, 100 * linked.after.value
        lost = (None, None) if other is None else (other.loss, other.mdav)
        pushed = None if made.moved is None else len(made.moved)
        rows.append((n, pushed, first, last, *lost, perf_counter() - before))
        what = f"found again of {n:,} people of Adult (1/(m+1) at most)"
        yield Mark("Section 5", what, None, last, ".1f", " %", alone=True)
    yield Table(
        "A real table of mixed columns: Adult",
        ("people", "pushed back", "found before, %", "after, %", "loss, %", "MDAV, %", "seconds"),
        tuple(rows),
        f"m = {M}; keys are {', '.join(KEYS)}. Found: by whoever knows the keys.",
        "Section 5: a real table",
        (",", ",", ".1f", ".1f", ".1f", ".1f", ".2f"),
    )
