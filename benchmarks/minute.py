"""The first minute: what `auto` loses and proves by default, and what it lost when it minimised means.

Both in one process, one after the other: published loss, and processor seconds. ``means`` is the search by
the means of groups, as it was before what is published was minimised, and the bound by neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter, process_time
from typing import Any, ClassVar

from benchmarks.base import Benchmark, Case, Row
from voronym import datasets
from voronym.certify import prove
from voronym.core.context import Context
from voronym.methods import grouped
from voronym.problem import Problem
from voronym.run.door import anonymize
from voronym.space.points import Points

PATIENTS = ("age", "sex", "zip", "nationality", "admitted", "weight")
ADULT = ("age", "workclass", "education-num", "marital-status", "race", "sex", "hours-per-week")


def table_of(data: str) -> Any:
    """Return a table of keys alone."""
    if data.startswith("patients"):
        return datasets.hospital(1000).select(PATIENTS[: int(data[-1])])
    if data == "adult":
        return datasets.adult().sample(3000, seed=1).select(ADULT)
    return getattr(datasets, data)()


class Minute(Benchmark):
    """`auto` without a time limit on small tables."""

    name = "minute"
    title = "auto by default: published loss, percent, and the gap that is shown"
    columns: ClassVar[dict[str, str]] = {
        "data": "data",
        "k": "k",
        "means": "by means",
        "means_gap": "gap, %",
        "means_seconds": "processor s",
        "published": "by what is published",
        "gap": "gap, %",
        "seconds": "processor s",
        "proof_seconds": "proof, processor s",
        "proof_wall": "proof, s",
        "less": "less loss, %",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return tables and k."""
        names = ["patients4", "patients6"]
        if not quick and datasets.available():
            names += ["adult", "census", "tarragona", "eia"]
        for data in names:
            for k in (5,) if quick else (3, 5, 10):
                yield {"data": data, "k": k}

    @staticmethod
    def measure(*, data: str, k: int) -> Row:
        """Run both ways, after one that compiles."""
        table = table_of(data)
        keys = list(table.columns)
        anonymize(table.head(100), keys=keys, k=k).gap  # noqa: B018
        usual = grouped.PUBLISHED_BY
        try:
            grouped.PUBLISHED_BY = ()
            begun = process_time()
            before = anonymize(table, keys=keys, k=k)
            means_seconds = process_time() - begun
        finally:
            grouped.PUBLISHED_BY = usual
        made = before._evidence.grouped  # type: ignore[union-attr]
        points = Points(made.records.space, made.records.X)  # type: ignore[union-attr]
        weak = prove(Problem(points, k), Context(), kind="neighbours")
        begun = process_time()
        after = anonymize(table, keys=keys, k=k)
        seconds = process_time() - begun
        begun, wall = process_time(), perf_counter()
        gap = after.gap
        old, new = before.information_loss or 0.0, after.information_loss or 0.0
        return {
            "means": old,
            "means_gap": weak.gap(points.cost(made.partition)),  # type: ignore[union-attr]
            "means_seconds": means_seconds,
            "published": new,
            "gap": gap,
            "seconds": seconds,
            "proof_seconds": process_time() - begun,
            "proof_wall": perf_counter() - wall,
            "less": 100.0 * (1.0 - new / old) if old else 0.0,
        }
