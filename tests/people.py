"""Visits and households, and a checker of both that shares no code with the library: csv, sets, counters."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict


def write_rows(path, rows):
    """Write a list of dicts as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


def visits(people=60, seed=0, drift=False):
    """Make up patients with one to twelve visits each; with ``drift`` their age changes on the way."""
    rng = random.Random(seed)
    rows = []
    for patient in range(people):
        age, sex, town = rng.randrange(18, 90), rng.choice("mf"), rng.choice(["Reus", "Valls", "Falset"])
        for visit in range(rng.choice([1, 1, 2, 3, 5, 8, 12])):
            ill = rng.choice(["flu", "cold", "asthma", "hiv"])
            mark = f"{patient}-{visit}"  # unique: whose a released row is, is read off it
            grown = age + visit if drift else age
            rows.append(
                {"patient": f"q{patient}", "age": grown, "sex": sex, "town": town, "ill": ill, "mark": mark}
            )
    rng.shuffle(rows)
    return rows


def households(homes=80, seed=0, sizes=(1, 1, 2, 2, 3, 4, 4, 5, 7)):
    """Make up households: two towns, parents and children, one row a member."""
    rng = random.Random(seed)
    rows = []
    for home in range(homes):
        town, size = rng.choice(["Reus", "Valls"]), rng.choice(sizes)
        for member in range(size):
            age = rng.randrange(25, 80) if member < 2 else rng.randrange(0, 20)
            row = {"hid": f"h{home}", "age": age, "sex": rng.choice("mf"), "town": town, "hhsize": size}
            rows.append({**row, "ill": rng.choice(["flu", "cold", "hiv"]), "mark": f"{home}-{member}"})
    rng.shuffle(rows)
    return rows


def read_rows(path):
    """Read a CSV as a list of dicts of texts."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def owner(row):
    """Return whose row this is, from the mark that was kept."""
    return row["mark"].split("-")[0]


def least_heads(rows, keys):
    """Return the least number of different owners behind a combination of keys."""
    behind = defaultdict(set)
    for row in rows:
        behind[tuple(row[key] for key in keys)].add(owner(row))
    return min(map(len, behind.values()))


def groups_of_owners(rows, keys):
    """Return, for each owner, the set of combinations in which they appear."""
    seen = defaultdict(set)
    for row in rows:
        seen[owner(row)].add(tuple(row[key] for key in keys))
    return seen


def least_pattern(rows, keys, name):
    """Return the least number of households that share a whole pattern of members, by published pseudonym."""
    members = defaultdict(list)
    for row in rows:
        if row[name]:
            members[row[name]].append(tuple(row[key] for key in keys))
    patterns = Counter(tuple(sorted(pattern)) for pattern in members.values())
    return min(patterns.values())


def least_diversity(rows, keys, column):
    """Return the least number of values behind a combination; 1 where every owner there has the same one."""
    behind = defaultdict(lambda: defaultdict(set))
    for row in rows:
        behind[tuple(row[key] for key in keys)][owner(row)].add(row[column])
    least = 10**9
    for people in behind.values():
        every = set.intersection(*people.values())
        least = min(least, 1 if every else len(set.union(*people.values())))
    return least


def greatest_distance(rows, keys, column):
    """Return the greatest total variation of a class's values from the table's, each (owner, value) once."""
    pairs = {(tuple(row[key] for key in keys), owner(row), row[column]) for row in rows}
    total = Counter(value for _, _, value in pairs)
    n = sum(total.values())
    classes = defaultdict(Counter)
    for combination, _, value in pairs:
        classes[combination][value] += 1
    return max(
        sum(abs(count[v] / sum(count.values()) - total[v] / n) for v in total) / 2
        for count in classes.values()
    )
