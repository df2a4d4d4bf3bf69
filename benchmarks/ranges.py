"""Ranges on Adult: searches for the certainty penalty against Mondrian and the best uniform coding."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

from benchmarks.base import Benchmark, Case, Row


class AdultRanges(Benchmark):
    """Adult with eight columns and hierarchies; what is published, measured on the texts."""

    name = "ranges"
    title = "Adult, eight keys with hierarchies: certainty penalty of what is published"
    columns = {  # noqa: RUF012 - a constant of the class
        "n": "records",
        "k": "k",
        "method": "method",
        "certainty": "certainty penalty %",
        "entropy": "entropy %",
        "classes": "classes",
        "seconds": "seconds",
        "memory": "peak MB",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return every road for each k; uniform coding with nothing, and with 5 %, suppressed."""
        for k in (5,) if quick else (5, 10, 50):
            for method, more in (
                ("mondrian", {}),
                ("cuts", {}),
                ("exchange", {"time_limit": 10 if quick else 240}),
                ("anneal", {"time_limit": 10 if quick else 240}),
                ("lattice", {"suppress": 0.0}),
                ("lattice", {"suppress": 0.05}),
                ("lattice", {"suppress": 0.02, "columns": 9}),
            ):
                yield {"n": 3_000 if quick else 48_842, "k": k, "method": method} | more

    @staticmethod
    def measure(**case: Any) -> Row:
        """Make a release and hold it against the originals."""
        import resource

        import voronym as vr
        from benchmarks.adult_trees import COLUMNS, trees

        adult = vr.datasets.adult().head(case["n"])
        columns = COLUMNS[: case.get("columns", 8)]
        uniform = case["method"] == "lattice"
        given: dict[str, Any] = {"keys": list(columns), "drop_undeclared": True, "method": case["method"]}
        given["hierarchies"] = {
            name: tree for name, tree in trees(adult, columns).items() if uniform or name != "age"
        }
        if uniform:
            given["suppress"] = case["suppress"]
        else:
            given |= {"space": "ranges", "time_limit": case.get("time_limit")}
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = vr.anonymize(adult, k=case["k"], **given)
        seconds = time.perf_counter() - begun
        found = release.penalty
        return {
            "certainty": found.certainty,
            "entropy": found.entropy,
            "classes": release.risk.n_classes,
            "seconds": seconds,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
