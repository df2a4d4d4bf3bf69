"""A hospital of 5,000 people, released every month for 30 months: kept groups against a ledger that refuses.

Run ``python benchmarks/monthly.py [people] [months] [headroom]``; with a headroom, people of groups that fall
below k retire, otherwise they rejoin. Printed for 1 % and 5 % change a month: the least
number of people who share a history, counted from the written files by code of its own; the least share of
people who are published; the loss against a fresh release of the same month; and what the ledger does
without ``keep_groups``.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

import voronym as vr

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]
K = 5


def classes(path: Path) -> dict[tuple[str, ...], set[str]]:
    """Return the people (by a tag that only the benchmark understands) of every combination of keys."""
    found = defaultdict(set)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[tuple(row[key] for key in KEYS)].add(row["tag"])
    return found


class Intruder:
    """Keeps all files, knows everybody in them, and intersects the classes of each person.

    A person's history goes on while their class publishes the same and only loses people; else it begins.
    """

    def __init__(self) -> None:
        self.before: dict[tuple[str, ...], set[str]] = {}
        self.alike: dict[str, frozenset[str]] = {}

    def read(self, path: Path) -> tuple[int, int]:
        """Return the size of the smallest class in a file, and of the smallest history."""
        now = classes(path)
        alike = {}
        for key, people in now.items():
            goes_on = key in self.before and people <= self.before[key]
            for person in people:
                alike[person] = frozenset(self.alike[person] & people) if goes_on else frozenset(people)
        self.before, self.alike = now, alike
        return min(map(len, now.values())), min(map(len, alike.values()))


def run(people: int, months: int, headroom: int, change: float, folder: Path) -> None:
    """Release month after month, and print what an intruder and a reader get."""
    rng, moving = np.random.default_rng(0), int(change * people)
    everybody = vr.datasets.hospital(people + months * moving, seed=3)
    everybody = everybody.with_columns(tag=pl.Series([f"t{i}" for i in range(len(everybody))]))
    roles = {"keys": KEYS, "identifiers": ["patient_id"], "other": ["tag"], "drop_undeclared": True, "k": K,
             "kinds": {"zip": "nominal"}}  # fmt: skip
    policy = {"headroom": headroom, "dissolved": "retire"} if headroom else {"dissolved": "rejoin"}
    ledger, intruder, here, fresh = folder / "ledger", Intruder(), np.arange(people), people
    sizes, shares, ratios = [], [], []
    started = time.perf_counter()
    for month in range(months):
        if month:
            gone = rng.choice(len(here), moving, replace=False)
            here = np.concatenate([np.delete(here, gone), np.arange(fresh, fresh + moving)])
            fresh += moving
        table = everybody[here.tolist()]
        if month == 1:
            try:
                vr.anonymize(table, ledger=ledger, **roles)
                print("the ledger refused nothing")
            except vr.GuaranteeError as error:
                print("without keep_groups:", str(error)[:220])
        release = vr.anonymize(table, ledger=ledger, keep_groups=True, **policy, **roles)
        path = folder / f"{month}.csv"
        rows = release.write(path).rows
        sizes.append(intruder.read(path))
        shares.append(rows / len(table))
        if month % 7 == 1 or month == months - 1:
            ratios.append(release.information_loss / vr.anonymize(table, **roles).information_loss)
        print(f"month {month}: {rows} people, smallest {sizes[-1]}, loss {release.information_loss:.2f} %, "
              f"{release.booking.figures}", flush=True)  # fmt: skip
    print(
        f"change {100 * change:g} % a month: smallest class {min(a for a, _ in sizes)}, smallest history "
        f"{min(b for _, b in sizes)}, least share published {min(shares):.3f}, loss against a fresh release "
        f"{max(ratios):.2f} at most; {time.perf_counter() - started:.0f} s", flush=True,
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    numbers = [int(word) for word in sys.argv[1:]]
    for change in (0.01, 0.05):
        with tempfile.TemporaryDirectory() as folder:
            run(*(numbers + [5000, 30, 0][len(numbers) :]), change, Path(folder))
