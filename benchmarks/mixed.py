"""Cells of mixed records: keys turned into numbers against keys with metrics of their own, on Adult."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

from benchmarks.base import Benchmark, Case, Row

KEYS = ["age", "education", "marital-status", "race", "sex", "hours-per-week"]
CATEGORIES = ["education", "marital-status", "race", "sex"]


class MixedCells(Benchmark):
    """Adult with two numbers, an ordinal and three nominal keys, from the table to what is published."""

    name = "mixed"
    title = "Adult, six mixed keys: cells by numbers against cells by mixed distances"
    columns = {  # noqa: RUF012 - a constant of the class
        "n": "records",
        "k": "k",
        "space": "space",
        "method": "method",
        "published": "published loss %",
        "mixed": "mixed loss %",
        "kept": "categories kept %",
        "numbers": "numbers kept %",
        "cells": "cells",
        "seconds": "seconds (CPU)",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return both roads, on a sample and on all of it."""
        for n in (1_000,) if quick else (5_000, 48_842):
            for k in (5,) if quick else (5, 10):
                for space, method in (
                    ("euclidean", "mdav"),
                    ("euclidean", "exchange"),
                    ("mixed", "mdav"),
                    ("mixed", "vmdav"),
                    ("mixed", "exchange"),
                    ("mixed", "anneal"),
                ):
                    case = {"n": n, "k": k, "space": space, "method": method}
                    yield case | ({"sweeps": 300} if method == "anneal" and n > 10_000 else {})

    @staticmethod
    def measure(**case: Any) -> Row:
        """Make a release, after a small one that compiles the kernels, and hold it against the originals."""
        import numpy as np

        import voronym as vr
        from voronym.records.cells import MixedKeys
        from voronym.table import as_frame

        adult = vr.datasets.adult()
        order = adult.unique("education").sort("education-num")["education"].to_list()
        table = adult.select(*KEYS, "income")

        def run(rows: Any) -> Any:
            options = {"sweeps": case["sweeps"]} if "sweeps" in case else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                release = vr.anonymize(
                    rows, keys=KEYS, confidential=["income"], orders={"education": order}, k=case["k"],
                    method=case["method"], options=options, space=case["space"],
                )  # fmt: skip
                return release, time.process_time() - start

        run(table.head(200))
        rows = table.sample(case["n"], seed=1, shuffle=True)
        release, seconds = run(rows)
        before = rows.select(KEYS)[release._evidence.order.tolist()]
        after = release.table.select(KEYS)
        # What is published may be a number that the column does not have: measured by values, not by levels.
        space = MixedKeys.fit(as_frame(rows), release.schema).space
        whole = space.centroid(space.codes)[None, :]
        cost = 0.0
        for k, name in enumerate(KEYS):
            a, b = before[name].to_list(), after[name].to_list()
            if name in CATEGORIES[1:]:
                off = np.array([x != y for x, y in zip(a, b, strict=True)], float)
            elif name == "education":
                off = np.array(
                    [abs(order.index(x) - order.index(y)) for x, y in zip(a, b, strict=True)], float
                )
            else:
                off = np.abs(np.array(a, float) - np.array(b, float))
            cost += float(space.maps[k](off).sum())
        same = {name: float((before[name] == after[name]).mean()) for name in KEYS}  # type: ignore[arg-type]
        return {
            "published": release.information_loss,
            "mixed": 100.0 * cost / float(space.cost(space.codes, whole).sum()),
            "kept": 100.0 * float(np.mean([same[name] for name in CATEGORIES])),
            "numbers": 100.0 * float(np.mean([same[name] for name in KEYS if name not in CATEGORIES])),
            "cells": release.risk.n_classes,
            "k_counted": release.risk.k,
            "seconds": seconds,
        }
