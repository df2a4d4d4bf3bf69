"""Our intruders beside anonymeter's public evaluators, on the same releases.

anonymeter asks for an older NumPy than ours, so it runs in a Python of its own: install it into another
virtual environment and name its interpreter, ``ANONYMETER_PYTHON=/there/bin/python``. Without it the table
shows ours alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.base import Benchmark, Case, Row

KEYS = ["age", "sex", "zip", "admitted", "weight"]
CONFIDENTIAL = ["diagnosis", "days", "cost"]
RELEASES = ("keys as they are", "mdav, k = 5", "mdav, k = 20", "other people")


class Attacks(Benchmark):
    """A thousand patients, and a thousand more who are not in the table as the control."""

    name = "attacks"
    title = "excess over the control, in percent: anonymeter's evaluators and ours on the same releases"
    columns = {  # noqa: RUF012 - a constant of the class
        "release": "release",
        "question": "question",
        "theirs": "anonymeter",
        "theirs_right": "(right)",
        "ours": "ours",
        "ours_right": "(right)",
        "by": "by",
        "seconds": "seconds, all ours",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return the releases."""
        for release in RELEASES[1:2] if quick else RELEASES:
            yield {"release": release, "n": 900 if quick else 3_000}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Attack one release with both."""
        import polars as pl

        import voronym as vr

        warnings.simplefilter("ignore")
        people = vr.datasets.hospital(case["n"], seed=0).select(KEYS + CONFIDENTIAL).drop_nulls()
        people = people.with_columns(pl.col("admitted").dt.epoch("d"))  # anonymeter compares no dates
        third = len(people) // 3
        inside, outside, others = people[:third], people[third : 2 * third], people[2 * third :]
        released = publish(case["release"], inside, others[:third])
        started = time.perf_counter()
        found = vr.attack(
            released["table"], keys=KEYS, confidential=CONFIDENTIAL, original=inside, control=outside,
            aligned=released["order"],
        )  # fmt: skip
        seconds = time.perf_counter() - started
        theirs = beside(inside, released["table"], outside)
        ours = {one.attack: (one.success, one.excess, one.details.get("column")) for one in found.outcomes}
        return {"theirs": theirs, "ours": ours, "seconds": seconds}

    def rows(self, results: list[Row]) -> list[Row]:
        """Put the answers to the same question side by side."""
        out = []
        for one in results:
            for question, names in QUESTIONS.items():
                theirs = best(
                    (v["right"] - (v["control"] or 0.0), v["right"])
                    for k, v in one["theirs"].items()
                    if k.startswith(question) and "right" in v
                )
                ours = best(
                    (excess, right, name) for name, (right, excess, _) in one["ours"].items() if name in names
                )
                row = {"release": one["release"], "question": question, "seconds": one["seconds"]}
                if theirs is not None:
                    row |= {"theirs": 100 * theirs[0], "theirs_right": 100 * theirs[1]}
                if ours is not None:
                    row |= {"ours": 100 * ours[0], "ours_right": 100 * ours[1], "by": ours[2]}
                out.append(row)
        return out


QUESTIONS = {
    "singling-out": ("singling-out",),
    "linkability": ("linkage", "linkage-assignment", "linkage-columns"),
    "inference": ("learned-guess", "group-guess"),
}


def best(found: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """Return the answer with the largest excess."""
    return max(found, default=None)


def publish(how: str, inside: Any, others: Any) -> dict[str, Any]:
    """Publish a table in one of several ways, and say which original each row came from."""
    import numpy as np

    import voronym as vr

    order = np.random.default_rng(0).permutation(len(inside))
    if how == "keys as they are":
        return {"table": inside[order.tolist()], "order": order}
    if how == "other people":
        return {"table": others, "order": order}
    k = int(how.rpartition(" ")[2])
    release = vr.anonymize(inside, keys=KEYS, confidential=CONFIDENTIAL, method="mdav", k=k)
    return {"table": release.table, "order": np.asarray(release._evidence.order)}


def beside(inside: Any, released: Any, outside: Any) -> dict[str, Any]:
    """Run anonymeter on the same tables, where there is a Python that has it."""
    python = os.environ.get("ANONYMETER_PYTHON")
    if python is None and importlib.util.find_spec("anonymeter") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        job: dict[str, Any] = {"keys": KEYS, "confidential": CONFIDENTIAL}
        for name, table in (("ori", inside), ("syn", released), ("control", outside)):
            job[name] = str(Path(folder) / f"{name}.csv")
            table.write_csv(job[name])
        side = Path(__file__).with_name("anonymeter_side.py")
        done = subprocess.run(
            [python or sys.executable, str(side), json.dumps(job)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
