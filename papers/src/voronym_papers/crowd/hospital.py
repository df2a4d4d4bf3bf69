"""Section 5: the paper's future work, large tables of very different columns."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from voronym import datasets
from voronym.core.context import Context
from voronym.records import Stirred, Taxonomy, anonymize_records
from voronym.table import Schema
from voronym_papers.base import at
from voronym_papers.items import Cell, Chart, Curve, Item, Table
from voronym_papers.marks import Mark

M = 4
KEYS = ("age", "sex", "nationality", "admitted", "diagnosis")


def sizes(counts: tuple[int, ...], ctx: Context) -> Iterator[Item]:
    """Blend and stir a made-up hospital of several sizes, and attack it before and after."""
    rows: list[tuple[Cell, ...]] = []
    points: list[tuple[float, float]] = []
    tree = Taxonomy(datasets.hospital_taxonomy())
    _mask(60, tree)  # compiles what is timed below
    for number, n in enumerate(counts):
        at(ctx, f"hospital: {n:,} patients", number / len(counts))
        before = perf_counter()
        made = _mask(n, tree)
        seconds = perf_counter() - before
        linked, other = made.measured.linkage, made.measured.alternative
        first, last = 100 * linked.before.value, 100 * linked.after.value
        lost = (None, None) if other is None else (other.loss, other.mdav)
        cells = None if made.after is None else int(made.after.partition.n_cells)
        pushed = None if made.moved is None else len(made.moved)
        rows.append((n, pushed, cells, first, last, *lost, seconds))
        points.append((float(n), seconds))
        yield Mark(
            "Section 5", f"found again of {n:,} (1/(m+1) at most)", None, last, ".1f", " %", alone=True
        )
    part = "Section 5: a hospital at three sizes"
    yield Table(
        "Blended and stirred",
        (
            "patients",
            "pushed back",
            "clusters",
            "found before, %",
            "after, %",
            "loss, %",
            "MDAV, %",
            "seconds",
        ),
        tuple(rows),
        f"m = {M}; made-up patients; numbers, dates, categories and diagnoses are keys. Found: by "
        "whoever knows the keys. Loss is of the keys' variance; MDAV with k = m + 1 loses less and promises "
        "more, but publishes means. The paper asks for such experiments, and has none.",
        part,
        (",", ",", ",", ".1f", ".1f", ".1f", ".1f", ".2f"),
    )
    yield Chart("Time", (Curve("blend and stir", tuple(points)),), "patients", "seconds", "", part, log="xy")


def _mask(n: int, tree: Taxonomy) -> Stirred:
    table = datasets.hospital(n, outliers=6, seed=1).drop("name", "patient_id")
    schema = Schema.build(table, keys=list(KEYS), confidential=["zip", "weight", "days", "cost"])
    return anonymize_records(table, schema, m=M, metrics={"diagnosis": tree}, seed=7)
