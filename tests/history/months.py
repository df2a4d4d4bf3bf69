"""Random histories of a table that is released every month, and an intruder who compares all files.

The intruder is plain Python: files are read with a csv reader, people are known by a tag that is in the
files. It keeps every file, knows everybody's keys and who was in which table, and looks at every pair and
every triple of files for a set of fewer than k people that these tell apart. Nothing of the library is used.
"""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

import voronym as vr

MONTHS = 10
LIMIT = 6_000_000
TAIL = f"top revenue={LIMIT} publish=mean"


class Town:
    """People who join, leave, come back, and are corrected."""

    def __init__(self, rng: np.random.Generator, n: int, *, corrected: bool) -> None:
        self.rng, self.people, self.here, self.away, self.corrected = rng, {}, [], [], corrected
        for _ in range(n):
            self.join()

    def join(self) -> None:
        rng, tag = self.rng, len(self.people)
        self.people[tag] = {
            "id": f"P{tag:04d}",
            "home": f"H{tag // 2:03d}",
            "age": int(rng.integers(18, 90)) // 8 * 8,
            "town": str(rng.choice(["n", "s"])),
            "turnover": round(float(rng.normal(4e6, 2e6)), 2),
            "weight": round(float(rng.uniform(1, 4e4)), 2),
            "revenue": round(float(rng.lognormal(15, 0.7)), 2),
            "ill": str(rng.choice(["flu", "hiv", "cold", "gout"])),
            "tag": tag,
        }
        self.here.append(tag)

    def month(self) -> None:
        """Let a month pass."""
        rng = self.rng
        for tag in rng.permutation(self.here)[: rng.integers(0, 5)].tolist():
            self.here.remove(tag)
            self.away.append(tag)
        for tag in rng.permutation(self.away)[: rng.integers(0, 3)].tolist():
            self.away.remove(tag)
            self.here.append(tag)
        for _ in range(rng.integers(0, 9)):
            self.join()
        many = rng.integers(0, 3) if self.corrected else 0
        for tag in rng.permutation(self.here)[:many].tolist():  # keys are corrected
            self.people[tag] = {**self.people[tag], "age": int(rng.integers(18, 90)) // 8 * 8,
                                "turnover": round(float(rng.normal(4e6, 2e6)), 2)}  # fmt: skip

    def correct(self) -> dict[int, str]:
        """Correct what is not a key; return how to undo it."""
        some = self.rng.permutation(self.here)[: self.rng.integers(1, 3)].tolist()
        old = {tag: self.people[tag]["ill"] for tag in some}
        for tag in some:
            self.people[tag] = {**self.people[tag], "ill": f"not {old[tag]}"}
        return old

    def table(self) -> pl.DataFrame:
        order = self.rng.permutation(self.here).tolist()
        return pl.DataFrame([self.people[tag] for tag in order])


class Intruder:
    """Keeps all files, and what is true of the people in them at the time."""

    def __init__(self, keys: list[str], k: int, *, homes: bool, full: bool, changes: bool) -> None:
        self.keys, self.k, self.homes, self.full, self.changes = keys, k, homes, full, changes
        self.groups: list[dict[int, tuple[str, ...]]] = []  # the class of everybody in each file
        self.members: list[dict[tuple[str, ...], set[int]]] = []
        self.rows: list[dict[int, dict[str, str]]] = []
        self.truth: list[dict[int, dict]] = []
        self.first: dict[int, int] = {}
        self.begun: list[dict[int, int]] = []
        self.sets = self.sums = 0

    def read(self, path: Path, truth: dict[int, dict]) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(row["tag"]): row for row in csv.DictReader(file)}
        groups = {tag: tuple(row[key] for key in self.keys) for tag, row in rows.items()}
        members = defaultdict(set)
        for tag, group in groups.items():
            members[group].add(tag)
        begun = {}
        for tag, group in groups.items():
            begun[tag] = len(self.groups)
            if (
                self.groups
                and self.groups[-1].get(tag) == group
                and members[group] <= self.members[-1][group]
            ):
                begun[tag] = self.begun[-1][tag]  # the class goes on, with fewer people
        self.rows.append(rows)
        self.groups.append(groups)
        self.members.append(dict(members))
        self.begun.append(begun)
        self.truth.append({tag: truth[tag] for tag in truth})

    def heads(self, tags: set[int]) -> int:
        return len({self.truth[-1][tag]["home"] for tag in tags}) if self.homes else len(tags)

    def told_apart(self) -> list[str]:
        """Return the sets of 1 to k - 1 people of the last file that it and one or two others tell apart."""
        now, out = len(self.groups) - 1, []
        for count in (0, 1, 2):
            for others in itertools.combinations(range(now), count):
                sets = defaultdict(set)
                for tag, group in self.groups[now].items():
                    sets[(group, *(self.seen(tag, at) for at in others))].add(tag)
                self.sets += len(sets)
                out += [f"{tags} by {others}, {now}" for tags in sets.values() if self.heads(tags) < self.k]
        return out

    def seen(self, tag: int, at: int) -> tuple:
        """What is seen of a person of the last file in another one."""
        if tag not in self.groups[at]:
            return ("absent",)
        seen = ["there"]
        if self.full or at >= self.begun[-1][tag]:
            seen.append(self.groups[at][tag])
        if self.changes:
            seen.append(self.rows[at][tag]["ill"] == self.rows[-1][tag]["ill"])
        return tuple(seen)

    def computed(self, column: str) -> list[str]:
        """Return sums of fewer than k people that differences of published means tell, in any pair of files.

        Classes of two files that have people in common, directly or by others, belong together. What their
        sums differ by is what those have who are in one of the two alone.
        """
        now, out = len(self.groups) - 1, []
        for at in range(now):
            for old, new in self.together(at, now):
                alone = old ^ new
                if not 0 < len(alone) < self.k:
                    continue
                output = self.total(column, at, old) - self.total(column, now, new)
                true = self.true(column, at, old - new) - self.true(column, now, new - old)
                self.sums += 1
                if abs(output - true) < 0.02 * (len(old) + len(new)):
                    out.append(f"{column} of {alone}: {output:.2f} by {at}, {now}")
        return out

    def together(self, at: int, now: int) -> list[tuple[set[int], set[int]]]:
        left = [set(tags) for tags in self.members[at].values()]
        right = [set(tags) for tags in self.members[now].values()]
        pairs = [(old, new) for old in left for new in right if old & new]
        out = list(pairs)
        merged: list[tuple[set[int], set[int]]] = []
        for old, new in pairs:
            for other in [item for item in merged if item[0] & old or item[1] & new]:
                merged.remove(other)
                old, new = old | other[0], new | other[1]
            merged.append((old, new))
        return out + merged

    def total(self, column: str, at: int, tags: set[int]) -> float:
        return sum(float(self.rows[at][tag][column]) for tag in tags)

    def true(self, column: str, at: int, tags: set[int]) -> float:
        """What people have; keys that were corrected are those of the first file that they are in."""
        first = {tag: next(n for n, file in enumerate(self.rows) if tag in file) for tag in tags}
        return sum(self.truth[first[tag] if column != "weight" else at][tag][column] for tag in tags)

    def tails(self) -> list[str]:
        """Return sums of fewer than k people that the means of two tails tell."""
        now, out = len(self.groups) - 1, []
        tails = [{tag for tag, single in truth.items() if single["revenue"] > LIMIT} for truth in self.truth]
        means = [max(float(row["revenue"]) for row in rows.values()) for rows in self.rows]
        for at in range(now):
            alone = tails[at] ^ tails[now]
            if 0 < len(alone) < self.k:
                output = means[at] * len(tails[at]) - means[now] * len(tails[now])
                true = sum(self.truth[at][t]["revenue"] for t in tails[at] - tails[now])
                true -= sum(self.truth[now][t]["revenue"] for t in tails[now] - tails[at])
                self.sums += 1
                if abs(output - true) < 0.02 * (len(tails[at]) + len(tails[now])):
                    out.append(f"revenue of {alone} by {at}, {now}")
        return out


WAYS = ("rejoin", "retire", "rejoin local-suppression", "lattice", "local-suppression", "mdav")


KEPT = ("rejoin lattice", "retire lattice", "rejoin parts", "retire parts")
"""Kept groups of other methods, which have histories of their own."""


def history(seed: int, folder: Path, ways: tuple[str, ...] = WAYS) -> dict[str, int]:
    """Live through ten months; return how much was published and compared; raise for people told apart."""
    rng = np.random.default_rng(seed)
    way = ways[seed % len(ways)]
    k = int(rng.integers(3, 6))
    homes = rng.random() < 0.25 and way not in KEPT[:2]
    coarse = "suppression" in way or "lattice" in way or way in KEPT
    keys = ["age", "town"] if coarse else ["age", "turnover"]
    asked = {"keys": keys, "confidential": ["ill"], "other": ["tag"], "drop_undeclared": True, "k": k,
             "ledger": folder / f"{seed}.ledger", "waiting": 0.2}  # fmt: skip
    asked |= {"person": "id", "household": "home"} if homes else {"identifiers": ["id"]}
    kept = way.startswith(("rejoin", "retire"))
    if kept:
        asked |= {"keep_groups": True, "dissolved": way.split()[0], "headroom": int(rng.integers(0, 3))}
    if way.endswith("parts"):
        asked |= {"blocks": ["town: local-suppression"], "method": "mdav"}
    elif way in ("lattice", "mdav", *KEPT):
        asked["method"] = way.split()[-1]
    elif coarse:
        asked["method"] = "local-suppression"
    else:
        asked["method"] = "mdav"
    weighted = way in ("rejoin", "retire") and rng.random() < 0.4
    if weighted:
        asked |= {"weights": "weight", "publish_weights": "mean", "other": ["tag", "weight"]}
    strata = not coarse and rng.random() < 0.4
    if strata:
        asked |= {"keys": [*keys, "town"], "strata": ["town"]}
    tails = rng.random() < 0.4
    if tails:
        asked |= {"steps": [TAIL], "other": [*asked["other"], "revenue"]}
    publish = rng.random() < 0.5
    if publish:
        asked["changed"] = "publish"
    # One corrected key is enough for a release without kept groups to be refused: not in all histories.
    town = Town(rng, int(rng.integers(70, 130)), corrected=kept or rng.random() < 0.3)
    shown = [*asked["keys"]]
    intruder = Intruder(shown, k, homes=homes, full=not way.startswith("rejoin"), changes=not publish)
    output = {
        "published": 0,
        "rows": 0,
        "people": 0,
        "refused": 0,
        "changes refused": 0,
        "spellings": 0,
        "keys refused": 0,
    }
    for month in range(MONTHS):
        if month:
            town.month()
        undo = town.correct() if month and rng.random() < 0.3 else {}
        table = town.table()
        if month and rng.random() < 0.2:
            output["spellings"] += 1
            _respelled(table, rng, asked)
        if month and kept and rng.random() < 0.2:
            output["keys refused"] += 1
            try:
                vr.anonymize(
                    table, **{**asked, "keys": [*asked["keys"], "revenue"] if not tails else ["age"]}
                )
            except (vr.InputError, vr.GuaranteeError):
                pass
            else:
                raise AssertionError("other keys were released")
        path = folder / f"{seed}-{month}.csv"
        try:
            vr.anonymize(table, **asked).write(path)
        except vr.GuaranteeError as error:
            if "changed='publish'" not in str(error):
                output["refused"] += 1
                continue
            output["changes refused"] += 1
            for tag, ill in undo.items():
                town.people[tag] = {**town.people[tag], "ill": ill}
            try:
                vr.anonymize(town.table(), **asked).write(path)
            except vr.GuaranteeError:
                output["refused"] += 1
                continue
        intruder.read(path, {tag: town.people[tag] for tag in town.here})
        result = intruder.told_apart()
        if "turnover" in keys:
            result += intruder.computed("turnover")
        if weighted:
            result += intruder.computed("weight")
        if tails:
            result += intruder.tails()
        assert not result, f"history {seed} ({way}, k={k}), month {month}: {result[:3]}"
        output["published"] += 1
        output["rows"] += len(intruder.rows[-1])
        output["people"] += len(town.here)
    return {**output, "sets": intruder.sets, "sums": intruder.sums}


def _respelled(table: pl.DataFrame, rng: np.random.Generator, asked: dict) -> None:
    """Have some, or all, names spelled otherwise: it is refused, or said."""
    share = float(rng.choice([0.2, 1.0]))
    other = pl.when(pl.Series(rng.random(len(table)) < share)).then(pl.col("id").str.to_lowercase())
    changed = table.with_columns(id=other.otherwise("id"))
    try:
        release = vr.anonymize(changed, **asked)
    except (vr.InputError, vr.GuaranteeError):
        return
    assert any("another spelling" in note for note in release.warnings)
