"""Time and memory of blending and stirring mixed records, and what an attack gets afterwards."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable
from typing import Any

from benchmarks.base import Benchmark, Case, Row

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight", "diagnosis", "days"]


class Records(Benchmark):
    """The hospital with planted outliers, eight mixed keys, from the table to the measured result."""

    name = "records"
    title = "mixed records: the hospital with planted outliers, eight mixed keys, m = 4"
    columns = {  # noqa: RUF012 - a constant of the class
        "n": "records",
        "blend": "blend",
        "seconds": "seconds (CPU)",
        "wall": "seconds (wall)",
        "peak_mb": "peak MB",
        "clusters": "clusters",
        "outliers": "outliers",
        "planted": "planted found",
        "linkage_before": "linkage before %",
        "linkage_after": "after %",
        "variation": "largest TV",
        "divergence": "largest KL",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return growing tables; at the last size all three ways to blend."""
        sizes = [1_000, 5_000] if quick else [1_000, 3_000, 10_000, 30_000, 100_000]
        for n in sizes:
            yield {"n": n, "blend": "element"}
        for blend in ("centroid", "noise"):
            yield {"n": sizes[-1] if quick else 30_000, "blend": blend}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Time one table after a small one that compiles the kernels."""
        import numpy as np

        from voronym import datasets
        from voronym.records import Taxonomy, anonymize_records
        from voronym.table import Schema

        metrics = {"diagnosis": Taxonomy(datasets.hospital_taxonomy())}

        def run(n: int, planted: int) -> Any:
            table = datasets.hospital(n, outliers=planted, seed=1).select(*KEYS, "cost")
            schema = Schema.build(table, keys=KEYS, confidential=["cost"])
            start, clock = time.process_time(), time.perf_counter()
            made = anonymize_records(table, schema, m=4, blend=case["blend"], metrics=metrics, seed=0)
            return made, time.process_time() - start, time.perf_counter() - clock

        run(1_500, 3)
        made, seconds, wall = run(case["n"], 20)
        rows = datasets.hospital_outliers(case["n"], outliers=20, seed=1)
        figures = made.figures
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
            1024 if sys.platform != "darwin" else 1024**2
        )
        return {
            "seconds": seconds,
            "wall": wall,
            "peak_mb": peak,
            "clusters": figures.clusters_after.count,
            "outliers": figures.outliers,
            "planted": f"{int(np.isin(rows, made.moved).sum())}/20",
            "linkage_before": 100 * figures.linkage.before.value,
            "linkage_after": 100 * figures.linkage.after.value,
            "variation": max(column.total_variation for column in figures.columns.values()),
            "divergence": figures.divergence.largest,
        }
