"""An independent count of a written release: nothing of voronym, only the standard library."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter
from pathlib import Path


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read a text table, whatever its delimiter and its encoding are."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252")
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    return list(csv.DictReader(text.splitlines(), delimiter=delimiter))


def smallest(rows: list[dict[str, str]], keys: list[str], person: list[str] | None = None) -> int:
    """Return the least number of rows, or of different people, that share all keys."""
    if person is None:
        return min(Counter(tuple(row[key] for key in keys) for row in rows).values())
    heads: dict[tuple[str, ...], set[str]] = {}
    for row, who in zip(rows, person, strict=True):
        heads.setdefault(tuple(row[key] for key in keys), set()).add(who)
    return min(map(len, heads.values()))


def mean_risk(rows: list[dict[str, str]], keys: list[str]) -> float:
    """Return the mean of one over the number of rows that share the keys."""
    sizes = Counter(tuple(row[key] for key in keys) for row in rows)
    return sum(1.0 / sizes[tuple(row[key] for key in keys)] for row in rows) / len(rows)


def too_old(cells: list[str], most: int) -> int:
    """Count ages above a limit."""
    return sum(
        bool(re.fullmatch(r"[\d.,]+", cell)) and float(cell.replace(",", ".")) > most for cell in cells
    )


def bad_zips(cells: list[str], people: dict[str, int], least: int) -> int:
    """Count codes with more than three digits, or three of a small place."""
    bad = 0
    for cell in filter(None, cells):
        output = cell.rstrip("*")
        if len(output) > 3 or (len(output) == 3 and output != "000" and people.get(output, 0) <= least):
            bad += 1
    return bad


def fine_dates(cells: list[str]) -> int:
    """Count cells that tell more than years."""
    return sum(not _whole_years(cell) for cell in filter(None, cells))


def _whole_years(cell: str) -> bool:
    if re.fullmatch(r"(1[89]|20)\d\d", cell):
        return True
    results = [_day(item) for item in re.findall(r"\d{4}-\d\d-\d\d|\d\d[./]\d\d[./]\d{4}", cell)]
    first = [day for day in results if (day.month, day.day) == (1, 1)]
    last = [day for day in results if (day.month, day.day) == (12, 31)]
    if cell.endswith("or less"):
        return len(results) == 1 and len(last) == 1
    if cell.endswith("or more"):
        return len(results) == 1 and len(first) == 1
    if cell.startswith("<"):
        return len(results) == 1 and len(first) == 1
    return len(results) == 2 and len(first) + len(last) == 2 and bool(first) and results[0] != results[1]


def _day(text: str) -> dt.date:
    if text[4] == "-":
        return dt.date.fromisoformat(text)
    day, month, year = map(int, re.split(r"[./]", text))
    return dt.date(year, month, day)
